// The items of POST /checks, as JSON text.
#ifndef TRUCE_WEBHOOK_CHECK_QUESTION_H_
#define TRUCE_WEBHOOK_CHECK_QUESTION_H_

#include <string>
#include <vector>

#include "registry/identity/identity.h"
#include "webhook/wire/yaml.h"

namespace truce {

// A manifest, with what the registry reads of it: identity, labels, annotations, spec.
std::string RequestItem(const YamlNode& object, const Slot& slot);

// An OwnershipCheck of that namespace and name.
std::string CheckItem(const Slot& slot, const std::string& spec);
// Its spec about declarations that are known: those of `declared` that have a key. `source`: of a
// plan or a template; the registry's imports from it are its own.
std::string SpecOfDeclared(const std::string& service,
                           const std::vector<DeclaredResource>& declared,
                           const std::string& source = {});
// Its spec about values that a rule of the registry reads: `mapping`, empty for the registry's own.
std::string SpecOfValues(const YamlNode& values, const std::string& service,
                         const std::string& mapping);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_CHECK_QUESTION_H_
