// The place in a document of the name that declares a resource.
#ifndef TRUCE_WEBHOOK_CHECK_LOCATIONS_H_
#define TRUCE_WEBHOOK_CHECK_LOCATIONS_H_

#include <cstddef>
#include <string_view>

#include "registry/catalogue/catalogue.h"
#include "webhook/wire/yaml.h"

namespace truce {

// The value at `path` ("metadata.name" as two steps); null when there is none.
const YamlNode* FindNode(const YamlNode& root, std::initializer_list<std::string_view> path);

// The place of a Kubernetes object's name: the one from which the catalogue takes the name of
// `entry`'s kind, else (claims, composites: `entry` is null) the value that reads `name`. Never
// null: `object` itself when it is nowhere.
const YamlNode* FindName(const YamlNode& object, const KindEntry* entry, std::string_view name);

// The scalar number `nth` (from 0) of `root` that reads `text`, in order of the document; the last
// one when there are fewer; null when there is none.
const YamlNode* FindText(const YamlNode& root, std::string_view text, std::size_t nth);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_CHECK_LOCATIONS_H_
