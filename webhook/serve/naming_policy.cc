// NamingPolicy: the naming convention and the modes of the rules about names, as an object.
#include "webhook/config/keys.h"
#include "webhook/config/structured.h"
#include "webhook/serve/policy_objects.h"

namespace truce {
namespace {

bool IsAboutNames(Rule rule) { return rule == Rule::kNamingConvention || rule == Rule::kAwsName; }

}  // namespace

Result<void> AddNamingPolicy(const OwnObject& object, Config& config) {
  const std::string place = object.Label();
  const NodeReader reader(place);
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
    TRUCE_RETURN_IF_ERROR(ReadNaming(*naming, place, config));
  }
  if (const YamlNode* rules = object.spec.Find("rules"); rules != nullptr) {
    TRUCE_RETURN_IF_ERROR(ReadRules(*rules, place, config));
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
    TRUCE_RETURN_IF_ERROR(ReadExemptions(*list, place, config));
  }
  for (std::size_t i = before; i < exemptions.size(); ++i) {
    if (exemptions[i].rule && IsAboutNames(*exemptions[i].rule)) continue;
    return reader.Fail(object.spec, ItemPath("exemptions", i - before) + ".rule",
                       "must be naming-convention or aws-name");
  }
  return {};
}

}  // namespace truce
