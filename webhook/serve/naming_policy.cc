// NamingPolicy: the naming convention and the modes of the rules about names, as an object.
#include <algorithm>
#include <array>

#include "webhook/config/keys.h"
#include "webhook/config/structured.h"
#include "webhook/serve/policy_objects.h"

namespace truce {
namespace {

constexpr std::array<std::string_view, 2> kRules = {"naming-convention", "aws-name"};

bool IsAboutNames(std::string_view rule) {
  return std::find(kRules.begin(), kRules.end(), rule) != kRules.end();
}

}  // namespace

Result<void> AddNamingPolicy(const OwnObject& object, Config& config) {
  const std::string place = object.Label();
  const NodeReader reader(place);
  TRUCE_RETURN_IF_ERROR(
      reader.RequireMapping(object.spec, "spec", {"naming", "rules", "exemptions"}));
  if (const YamlNode* naming = object.spec.Find("naming"); naming != nullptr) {
    if (config.naming.given) {
      const auto first = config.naming.places.find("naming");
      const std::string other =
          first == config.naming.places.end() ? "the configuration" : first->second;
      return reader.Fail(*naming, "naming",
                         "stands in " + other + " already; only one can give the convention");
    }
    TRUCE_RETURN_IF_ERROR(ReadNaming(*naming, place, config));
  }
  const std::size_t modes = config.rule_modes.size();
  if (const YamlNode* rules = object.spec.Find("rules"); rules != nullptr) {
    TRUCE_RETURN_IF_ERROR(ReadRules(*rules, place, config));
  }
  for (std::size_t i = modes; i < config.rule_modes.size(); ++i) {
    const std::string& rule = config.rule_modes[i].rule;
    if (IsAboutNames(rule)) continue;
    return reader.Fail(object.spec, "rules." + rule,
                       "is not a rule about names; here are naming-convention and aws-name, the "
                       "others are set in the configuration");
  }
  const std::size_t exemptions = config.exemptions.size();
  if (const YamlNode* list = object.spec.Find("exemptions"); list != nullptr) {
    TRUCE_RETURN_IF_ERROR(ReadExemptions(*list, place, config));
  }
  for (std::size_t i = exemptions; i < config.exemptions.size(); ++i) {
    if (IsAboutNames(config.exemptions[i].rule)) continue;
    return reader.Fail(object.spec, ItemPath("exemptions", i - exemptions) + ".rule",
                       "must be naming-convention or aws-name");
  }
  return {};
}

}  // namespace truce
