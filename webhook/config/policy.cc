#include "webhook/config/policy.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "policies/quotas.h"
#include "registry/catalogue/explain.h"
#include "webhook/config/load.h"

namespace truce {
namespace {

// "LOCATION: WHAT".
Error Refused(std::string_view location, std::string_view what) {
  return Error{ErrorCode::kInvalidArgument, std::string(location).append(": ").append(what)};
}

// Rules about values that have a name go to `values`.
Result<MappingRules> RulesOf(const Config& config, const Catalogue& catalogue,
                             std::map<std::string, MappingRule>& values) {
  std::vector<MappingRule> rules;
  for (const ConfigMapping& mapping : config.mappings) {
    // Alone first, so that the message can say where the faulty rule stands.
    const Result<MappingRules> alone = MappingRules::Create({mapping.rule}, catalogue);
    if (!alone.ok()) return Refused(mapping.location, alone.error().message);
    if (mapping.name.empty()) {
      rules.push_back(mapping.rule);
    } else {
      values.emplace(mapping.name, mapping.rule);
    }
  }
  return MappingRules::Create(std::move(rules), catalogue);
}

Result<void> CheckType(const std::string& type, std::string_view location,
                       const Catalogue& catalogue) {
  if (type.empty() || catalogue.FindType(type) != nullptr) return {};
  return Refused(location, NoType(type, catalogue));
}

Result<void> CheckEntries(Rule rule, std::span<const ModeEntry> entries,
                          const Catalogue& catalogue) {
  for (auto entry = entries.begin(); entry != entries.end(); ++entry) {
    TRUCE_RETURN_IF_ERROR(CheckType(entry->scope.type, entry->location, catalogue));
    const auto same = std::find_if(entries.begin(), entry, [&](const ModeEntry& other) {
      return other.scope == entry->scope && other.from == entry->from &&
             other.until == entry->until;
    });
    if (same == entry) continue;
    return Refused(entry->location,
                   "rules." + std::string(Name(rule)) +
                       ": clashes with the mode for the same objects and time at " +
                       same->location + "; remove one of the two");
  }
  return {};
}

// An exemption that goes by labels or a service which nothing binds would never hold: better said
// than left aside in silence.
bool CanHold(const RuleScope& scope, const Config& config) {
  if (scope.service.empty() && scope.selector.empty()) return true;
  if (scope.ns.find_first_not_of('*') != std::string::npos) return true;
  return std::any_of(config.services.begin(), config.services.end(), [&](const auto& bound) {
    return scope.service.empty() || bound.second == scope.service;
  });
}

Result<ModeRules> ModesOf(const Config& config, const Catalogue& catalogue) {
  ModeRules modes = config.modes;
  modes.global = config.mode;
  modes.unsure = config.unsure_types;
  for (const auto& [type, mode] : modes.types) {
    TRUCE_RETURN_IF_ERROR(CheckType(type, "typeModes", catalogue));
  }
  for (const auto& [type, action] : modes.unsure_types) {
    TRUCE_RETURN_IF_ERROR(CheckType(type, "unsureTypeActions", catalogue));
  }
  for (std::size_t i = 0; i < kRuleCount; ++i) {
    TRUCE_RETURN_IF_ERROR(CheckEntries(static_cast<Rule>(i), modes.rules[i], catalogue));
  }
  for (const Exemption& item : modes.exemptions) {
    TRUCE_RETURN_IF_ERROR(CheckType(item.scope.type, item.location, catalogue));
    if (CanHold(item.scope, config)) continue;
    return Refused(item.location,
                   "the exemption would never hold, because anyone may write labels; add a "
                   "namespace, or bind the service to its namespaces in parties");
  }
  return modes;
}

// Configuration makes rule status-names nowhere laxer than the type: names that tenants may write
// must not deny.
bool RefusesStatuses(const ModeRules& modes) {
  const auto& entries = modes.rules[static_cast<std::size_t>(Rule::kStatusNames)];
  return std::all_of(entries.begin(), entries.end(),
                     [](const ModeEntry& entry) { return entry.mode == Mode::kEnforce; }) &&
         std::none_of(modes.exemptions.begin(), modes.exemptions.end(),
                      [](const Exemption& each) { return each.rule == Rule::kStatusNames; });
}

// Where the value at `path` of the naming convention stands, or what is around it.
std::string LocationOf(const ConfigNaming& naming, std::string_view path) {
  for (std::string_view at = path; !at.empty();
       at = at.substr(0, at.rfind('.') == std::string_view::npos ? 0 : at.rfind('.'))) {
    const auto found = naming.locations.find(at);
    if (found != naming.locations.end()) return found->second;
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

// Compiles everything about names; `modes` says whether the convention is on, `aws` has the rules
// of AWS. Errors: kInvalidArgument, "file:line: path: what is wrong; how to mend it".
Result<std::shared_ptr<const NamePolicy>> NamesFrom(const Config& config,
                                                    const Catalogue& catalogue,
                                                    const ModeRules& modes,
                                                    std::shared_ptr<const AwsNames> aws) {
  auto names = std::make_shared<NamePolicy>();
  names->aws = std::move(aws);
  const bool mentioned = !modes.rules[static_cast<std::size_t>(Rule::kNamingConvention)].empty();
  if (config.naming.given && !mentioned) {
    return Refused(LocationOf(config.naming, "naming"),
                   "naming: has no effect while the rule is off; begin with "
                   "rules: {naming-convention: {mode: audit}}");
  }
  if (IsNamingOn(modes) || config.naming.given) {
    Result<NamingConvention> convention =
        NamingConvention::Compile(config.naming.spec, catalogue, names->aws);
    if (!convention.ok()) {
      const std::string& what = convention.error().message;
      return Refused(LocationOf(config.naming, what.substr(0, what.find(": "))), what);
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

PartyRules PartiesOf(const Config& config) {
  PartyRules rules;
  for (const auto& [ns, service] : config.services) {
    rules.services.emplace(config.cluster_id + "/" + ns, service);
  }
  return rules;
}

}  // namespace

Result<std::shared_ptr<const Catalogue>> CatalogueOf(const Config& config) {
  if (config.types.empty()) return std::make_shared<const Catalogue>(Catalogue::BuiltIn());
  Result<std::string> text = ReadConfigFile(config.types);
  if (!text.ok()) return std::move(text).error().Within("types");
  TRUCE_ASSIGN_OR_RETURN(Catalogue catalogue,
                         Catalogue::BuiltIn().WithOverrides(text.value(), config.types));
  return std::make_shared<const Catalogue>(std::move(catalogue));
}

Result<NamedCatalogue> WithNames(std::shared_ptr<const Catalogue> catalogue) {
  TRUCE_ASSIGN_OR_RETURN(AwsNames names, AwsNames::Compile(*catalogue, BuiltInAwsNames()));
  return NamedCatalogue{std::move(catalogue), std::make_shared<const AwsNames>(std::move(names))};
}

Result<std::shared_ptr<const AdmissionPolicy>> PolicyFrom(
    const Config& config, const std::shared_ptr<const Catalogue>& catalogue) {
  TRUCE_ASSIGN_OR_RETURN(const NamedCatalogue types, WithNames(catalogue));
  return PolicyFrom(config, types);
}

Result<std::shared_ptr<const AdmissionPolicy>> PolicyFrom(const Config& config,
                                                          const NamedCatalogue& types) {
  const std::shared_ptr<const Catalogue>& catalogue = types.catalogue;
  auto policy = std::make_shared<AdmissionPolicy>();
  policy->catalogue = catalogue;
  policy->identity.cluster = config.cluster_id;
  policy->identity.catalogue = catalogue.get();
  TRUCE_ASSIGN_OR_RETURN(policy->identity.mappings, RulesOf(config, *catalogue, policy->values));
  policy->identity.accounts = config.accounts;
  policy->identity.name_spaces = config.outside_endpoints;
  policy->identity.service_labels = config.service_labels;
  policy->identity.contact_annotation = config.contact_annotation;
  policy->parties = PartiesOf(config);
  TRUCE_ASSIGN_OR_RETURN(policy->modes, ModesOf(config, *catalogue));
  TRUCE_ASSIGN_OR_RETURN(policy->names, NamesFrom(config, *catalogue, policy->modes, types.names));
  policy->account_parties = config.account_parties;
  if (!config.quotas.empty()) {
    TRUCE_ASSIGN_OR_RETURN(Quotas quotas, Quotas::Compile(config.quotas, *catalogue,
                                                          policy->parties, config.cluster_id));
    policy->quotas = std::make_shared<const Quotas>(std::move(quotas));
  }
  policy->providers = config.providers;
  policy->restorers = config.restorers;
  policy->status_entry = config.status_guard;
  policy->parties.statuses_guarded = config.status_guard && RefusesStatuses(policy->modes);
  policy->parties.unbound_claimable = config.unbound_composites == UnboundComposites::kClaimable;
  policy->composite_controllers = config.composite_controllers;
  policy->composite_denial_code = static_cast<int>(config.composite_denial_code);
  policy->disclosure = config.disclosure;
  // Without a watch nothing proves reservations: a limit would close a namespace for good.
  if (!config.no_cluster) {
    policy->limits.old = static_cast<std::size_t>(config.reservation_cap);
    // A young reservation is old in a minute.
    policy->limits.young =
        static_cast<std::size_t>(std::max(config.reservation_burst, config.reservation_cap));
  }
  policy->public_url = config.public_url;
  return std::shared_ptr<const AdmissionPolicy>(std::move(policy));
}

}  // namespace truce
