#include "webhook/serve/policy_objects.h"

#include <array>

namespace truce {

std::span<const PolicyKind> PolicyKinds() {
  static const std::array kKinds = {
      PolicyKind{{"truce.dev", "v1alpha1", "NamingPolicy", "namingpolicies", false},
                 &AddNamingPolicy},
      PolicyKind{{"truce.dev", "v1alpha1", "DeclarationMapping", "declarationmappings", false},
                 &AddDeclarationMapping},
  };
  return kKinds;
}

}  // namespace truce
