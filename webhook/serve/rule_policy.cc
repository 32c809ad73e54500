#include "webhook/serve/rule_policy.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace truce {
namespace {

RuleScope ScopeOf(const ConfigScope& scope) {
  RuleScope out{scope.type, scope.ns, scope.kind, scope.object, scope.name, {}, scope.service};
  out.selector.assign(scope.selector.begin(), scope.selector.end());
  return out;
}

Result<void> CheckScope(const ConfigScope& scope, const std::string& place,
                        const Catalogue& catalogue) {
  if (scope.type.empty() || catalogue.FindType(scope.type) != nullptr) return {};
  return Refused(place, "no type '" + scope.type + "'; `truce types` lists all");
}

// An exemption that goes by labels or a service which nothing binds would never hold: better said
// than left aside in silence.
bool CanHold(const ConfigExemption& item, const Config& config) {
  const ConfigScope& scope = item.scope;
  if (scope.service.empty() && scope.selector.empty()) return true;
  if (scope.ns.find_first_not_of('*') != std::string::npos) return true;
  return std::any_of(config.parties.begin(), config.parties.end(), [&](const ConfigParty& party) {
    return !party.namespaces.empty() && (scope.service.empty() || party.service == scope.service);
  });
}

NamingSpec NamingOf(const ConfigNaming& naming) {
  NamingSpec spec;
  if (!naming.form.empty()) spec.form = naming.form;
  spec.forms = naming.forms;
  spec.types = naming.types;
  for (const auto& [type, length] : naming.max_lengths) {
    spec.max_lengths.emplace(type, static_cast<std::size_t>(length));
  }
  for (const auto& [name, given] : naming.variables) {
    NamingVariableSpec variable{given.values, given.pattern, {}, given.spelt};
    for (const ConfigNamingSource& from : given.from) {
      using Kind = NamingSource::Kind;
      if (from.declared) variable.sources.push_back({Kind::kDeclared, {}});
      if (!from.label.empty()) variable.sources.push_back({Kind::kLabel, from.label});
      if (!from.ns.empty()) variable.sources.push_back({Kind::kNamespace, from.ns});
      if (!from.provider_config.empty()) {
        variable.sources.push_back({Kind::kProviderConfig, from.provider_config});
      }
      if (!from.fixed.empty()) variable.sources.push_back({Kind::kFixed, from.fixed});
    }
    spec.variables.emplace(NamingVariableFromName(name).value_or(NamingVariable::kSuffix),
                           std::move(variable));
  }
  return spec;
}

// Where the value at `path` of the naming convention stands, or what is around it.
std::string PlaceOf(const ConfigNaming& naming, std::string_view path) {
  for (std::string_view at = path; !at.empty();
       at = at.substr(0, at.rfind('.') == std::string_view::npos ? 0 : at.rfind('.'))) {
    const auto found = naming.places.find(at);
    if (found != naming.places.end()) return found->second;
  }
  return "rules.naming-convention";
}

bool IsNamingOn(const ModeRules& modes) {
  const auto& entries = modes.rules[static_cast<std::size_t>(Rule::kNamingConvention)];
  return std::any_of(entries.begin(), entries.end(),
                     [](const ModeEntry& entry) { return entry.mode != Mode::kOff; });
}

void AddLabelKeys(const ModeRules& modes, std::vector<std::string>& keys) {
  const auto add = [&keys](const RuleScope& scope) {
    for (const auto& [key, value] : scope.selector) keys.push_back(key);
  };
  for (const auto& entries : modes.rules) {
    for (const ModeEntry& entry : entries) add(entry.scope);
  }
  for (const Exemption& exemption : modes.exemptions) add(exemption.scope);
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
}

}  // namespace

Mode ModeOf(ConfigMode mode) {
  switch (mode) {
    case ConfigMode::kOff: return Mode::kOff;
    case ConfigMode::kAudit: return Mode::kAudit;
    case ConfigMode::kWarn: return Mode::kWarn;
    case ConfigMode::kEnforce: return Mode::kEnforce;
  }
  return Mode::kEnforce;
}

Error Refused(std::string_view place, std::string_view what) {
  return Error{ErrorCode::kInvalidArgument, std::string(place).append(": ").append(what)};
}

Result<void> AddRuleModes(const Config& config, const Catalogue& catalogue, ModeRules& modes) {
  for (const ConfigRuleMode& item : config.rule_modes) {
    TRUCE_RETURN_IF_ERROR(CheckScope(item.scope, item.place, catalogue));
    const auto rule = RuleFromName(item.rule);
    if (!rule) return Refused(item.place, "no rule '" + item.rule + "'");
    std::vector<ModeEntry>& entries = modes.rules[static_cast<std::size_t>(*rule)];
    ModeEntry entry{ModeOf(item.mode), ScopeOf(item.scope), item.from, item.until, item.place};
    for (const ModeEntry& other : entries) {
      const bool same =
          other.scope == entry.scope && other.from == entry.from && other.until == entry.until;
      if (!same) continue;
      return Refused(item.place, "rules." + item.rule +
                                     ": clashes with the mode for the same objects and time at " +
                                     other.place + "; remove one of the two");
    }
    entries.push_back(std::move(entry));
  }
  return {};
}

Result<void> AddExemptions(const Config& config, const Catalogue& catalogue, ModeRules& modes) {
  for (const ConfigExemption& item : config.exemptions) {
    TRUCE_RETURN_IF_ERROR(CheckScope(item.scope, item.place, catalogue));
    if (!CanHold(item, config)) {
      return Refused(item.place,
                     "the exemption would never hold, because anyone may write labels; add a "
                     "namespace, or bind the service to its namespaces in parties");
    }
    modes.exemptions.push_back({item.rule.empty() ? std::nullopt : RuleFromName(item.rule),
                                ScopeOf(item.scope), item.until, item.reason, item.place});
  }
  return {};
}

Result<std::shared_ptr<const NamePolicy>> NamesFrom(const Config& config,
                                                    const Catalogue& catalogue,
                                                    const ModeRules& modes,
                                                    std::shared_ptr<const AwsNames> aws) {
  auto names = std::make_shared<NamePolicy>();
  names->aws = std::move(aws);
  const bool mentioned = !modes.rules[static_cast<std::size_t>(Rule::kNamingConvention)].empty();
  if (config.naming.given && !mentioned) {
    return Refused(PlaceOf(config.naming, "naming"),
                   "naming: has no effect while the rule is off; begin with "
                   "rules: {naming-convention: {mode: audit}}");
  }
  if (IsNamingOn(modes) || config.naming.given) {
    Result<NamingConvention> convention =
        NamingConvention::Compile(NamingOf(config.naming), catalogue, names->aws);
    if (!convention.ok()) {
      const std::string& what = convention.error().message;
      return Refused(PlaceOf(config.naming, what.substr(0, what.find(": "))), what);
    }
    if (IsNamingOn(modes)) {
      const auto keys = convention.value().label_keys();
      names->label_keys.assign(keys.begin(), keys.end());
      names->convention.emplace(std::move(convention).value());
    }
  }
  AddLabelKeys(modes, names->label_keys);
  return std::shared_ptr<const NamePolicy>(std::move(names));
}

}  // namespace truce
