#include "webhook/publish/policy_objects.h"

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "webhook/config/keys.h"
#include "webhook/wire/node_reader.h"

namespace truce {
namespace {

bool IsAboutNames(Rule rule) { return rule == Rule::kNamingConvention || rule == Rule::kAwsName; }

// `spec` has the keys naming, rules and exemptions, as the configuration file does. Only one
// NamingPolicy, or the file, may give `naming`; rules are naming-convention and aws-name.
Result<void> AddNamingPolicy(const OwnObject& object, Config& config) {
  const std::string location = object.Label();
  const NodeReader reader(location);
  TRUCE_RETURN_IF_ERROR(
      reader.RequireMapping(object.spec, "spec", {"naming", "rules", "exemptions"}));
  if (const YamlNode* naming = object.spec.Find("naming"); naming != nullptr) {
    if (config.naming.given) {
      const auto first = config.naming.locations.find("naming");
      const std::string other =
          first == config.naming.locations.end() ? "the configuration" : first->second;
      return reader.Fail(*naming, "naming",
                         "stands in " + other + " already; only one can give the convention");
    }
    TRUCE_RETURN_IF_ERROR(ReadNaming(*naming, location, config));
  }
  if (const YamlNode* rules = object.spec.Find("rules"); rules != nullptr) {
    TRUCE_RETURN_IF_ERROR(ReadRules(*rules, location, config));
    for (const YamlKey& key : rules->keys) {
      if (IsAboutNames(RuleFromName(key.text).value())) continue;
      return reader.Fail(object.spec, "rules." + key.text,
                         "is not a rule about names; here are naming-convention and aws-name, the "
                         "others are set in the configuration");
    }
  }
  std::vector<Exemption>& exemptions = config.modes.exemptions;
  const std::size_t before = exemptions.size();
  if (const YamlNode* list = object.spec.Find("exemptions"); list != nullptr) {
    TRUCE_RETURN_IF_ERROR(ReadExemptions(*list, location, config));
  }
  for (std::size_t i = before; i < exemptions.size(); ++i) {
    if (exemptions[i].rule && IsAboutNames(*exemptions[i].rule)) continue;
    return reader.Fail(object.spec, ItemPath("exemptions", i - before) + ".rule",
                       "must be naming-convention or aws-name");
  }
  return {};
}

// `spec` is one item of the configuration's `mappings`. A rule with chartValues is known by the
// object's name, of which there can be many; a kind is mapped once, here or in the configuration.
Result<void> AddDeclarationMapping(const OwnObject& object, Config& config) {
  return ReadMappingObject(object.spec, object.Label(), object.name, config);
}

}  // namespace

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
