// DeclarationMapping: one mapping rule as an object.
#include "webhook/config/keys.h"
#include "webhook/serve/policy_objects.h"

namespace truce {

Result<void> AddDeclarationMapping(const OwnObject& object, Config& config) {
  return ReadMappingObject(object.spec, object.Label(), object.name, config);
}

}  // namespace truce
