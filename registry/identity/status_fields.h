// The fields of a status that names of resources are read from (names observed by a provider).
#ifndef TRUCE_REGISTRY_IDENTITY_STATUS_FIELDS_H_
#define TRUCE_REGISTRY_IDENTITY_STATUS_FIELDS_H_

#include <string_view>

#include "registry/catalogue/catalogue.h"
#include "registry/identity/document.h"

namespace truce {

// The path of a field, such as "status.atProvider.arn", that Identify reads names from and in which
// `object` and `old_object`, two versions of one object of kind `kind`, differ; empty: they agree
// in all such fields. A field that comes or goes differs too. Whatever Identify begins to read
// names from belongs into this function.
std::string_view ChangedNameField(Value object, Value old_object, const KindEntry& kind);

}  // namespace truce

#endif  // TRUCE_REGISTRY_IDENTITY_STATUS_FIELDS_H_
