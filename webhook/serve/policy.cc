#include "webhook/serve/policy.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "webhook/serve/rule_policy.h"

namespace truce {
namespace {

UnsureAction ActionOf(UnsureTypes value) {
  return value == UnsureTypes::kDeny ? UnsureAction::kDeny : UnsureAction::kWarn;
}

Disclosure DisclosureOf(ConfigDisclosure value) {
  switch (value) {
    case ConfigDisclosure::kFull: return Disclosure::kFull;
    case ConfigDisclosure::kService: return Disclosure::kService;
    case ConfigDisclosure::kTaken: return Disclosure::kTaken;
  }
  return Disclosure::kTaken;
}

Result<PartSource> SourceOf(const MappedValue& value, FieldPath::Root root) {
  PartSource source;
  if (value.is_constant) {
    source.constant = value.text;
    return source;
  }
  TRUCE_ASSIGN_OR_RETURN(source.path, FieldPath::Parse(value.text, root));
  return source;
}

Result<std::optional<PartSource>> SourceOf(const std::optional<MappedValue>& value,
                                           FieldPath::Root root) {
  if (!value.has_value()) return std::optional<PartSource>();
  TRUCE_ASSIGN_OR_RETURN(PartSource source, SourceOf(*value, root));
  return std::optional<PartSource>(std::move(source));
}

Result<MappingRule> RuleOf(const ConfigMapping& mapping) {
  const auto root = mapping.kind.empty() ? FieldPath::Root::kValues : FieldPath::Root::kObject;
  MappingRule rule;
  rule.kind = {mapping.group, mapping.kind};
  rule.namespaces = mapping.namespaces;
  if (mapping.service.has_value()) {
    TRUCE_ASSIGN_OR_RETURN(rule.service, FieldPath::Parse(*mapping.service, root));
  }
  for (const MappedDeclaration& declaration : mapping.declares) {
    MappedResource resource;
    resource.type = declaration.type;
    for (const auto& [part, value] : declaration.parts) {
      TRUCE_ASSIGN_OR_RETURN(PartSource source, SourceOf(value, root));
      resource.parts.emplace(part, std::move(source));
    }
    TRUCE_ASSIGN_OR_RETURN(resource.region, SourceOf(declaration.region, root));
    TRUCE_ASSIGN_OR_RETURN(resource.account, SourceOf(declaration.account, root));
    resource.intent = IntentFromName(declaration.intent).value_or(Intent::kDeletes);
    rule.declares.push_back(std::move(resource));
  }
  return rule;
}

// Rules about values that have a name go to `values`.
Result<MappingRules> RulesOf(const Config& config, const Catalogue& catalogue,
                             std::map<std::string, MappingRule>& values) {
  std::vector<MappingRule> rules;
  for (const ConfigMapping& mapping : config.mappings) {
    Result<MappingRule> rule = RuleOf(mapping);
    if (!rule.ok()) return Refused(mapping.place, rule.error().message);
    // Alone first, so that the message can say where the faulty rule stands.
    const Result<MappingRules> alone = MappingRules::Create({rule.value()}, catalogue);
    if (!alone.ok()) return Refused(mapping.place, alone.error().message);
    if (!mapping.name.empty()) {
      values.emplace(mapping.name, std::move(rule).value());
      continue;
    }
    rules.push_back(std::move(rule).value());
  }
  return MappingRules::Create(std::move(rules), catalogue);
}

std::map<ProviderConfigName, std::string> AccountsOf(const Config& config) {
  static constexpr std::array<std::string_view, 3> kGroups = {"aws.upbound.io", "aws.m.upbound.io",
                                                              "aws.crossplane.io"};
  std::map<ProviderConfigName, std::string> accounts;
  for (const ConfigProvider& provider : config.provider_configs) {
    for (const std::string_view group : kGroups) {
      if (!provider.group.empty() && provider.group != group) continue;
      accounts.emplace(
          ProviderConfigName{std::string(group), provider.kind, provider.ns, provider.name},
          provider.account);
    }
    if (provider.group.empty()) continue;
    accounts.emplace(ProviderConfigName{provider.group, provider.kind, provider.ns, provider.name},
                     provider.account);
  }
  return accounts;
}

Result<ModeRules> ModesOf(const Config& config, const Catalogue& catalogue) {
  ModeRules modes;
  modes.global = ModeOf(config.mode);
  modes.unsure = ActionOf(config.unsure_types);
  for (const auto& [type, mode] : config.type_modes) {
    if (catalogue.FindType(type) == nullptr) {
      return Refused("typeModes", "no type '" + type + "'; `truce types` lists all");
    }
    modes.types.emplace(type, ModeOf(mode));
  }
  for (const auto& [type, action] : config.unsure_type_actions) {
    if (catalogue.FindType(type) == nullptr) {
      return Refused("unsureTypeActions", "no type '" + type + "'; `truce types` lists all");
    }
    modes.unsure_types.emplace(type, ActionOf(action));
  }
  for (const ConfigOverride& item : config.overrides) {
    modes.overrides.push_back(
        {item.name, item.object, item.ns, item.group, item.until, item.reason});
  }
  TRUCE_RETURN_IF_ERROR(AddRuleModes(config, catalogue, modes));
  TRUCE_RETURN_IF_ERROR(AddExemptions(config, catalogue, modes));
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

Result<PartyRules> PartiesOf(const Config& config) {
  PartyRules rules;
  for (const ConfigParty& party : config.parties) {
    if (!party.users.empty()) {
      return Refused("parties", "binding users ('" + party.service +
                                    "') is not supported by this version; bind namespaces");
    }
    for (const std::string& name : party.namespaces) {
      rules.services.emplace(config.cluster_id + "/" + name, party.service);
    }
  }
  return rules;
}

}  // namespace

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
  policy->identity.accounts = AccountsOf(config);
  policy->identity.service_labels = config.service_labels;
  policy->identity.contact_annotation = config.contact_annotation;
  TRUCE_ASSIGN_OR_RETURN(policy->parties, PartiesOf(config));
  TRUCE_ASSIGN_OR_RETURN(policy->modes, ModesOf(config, *catalogue));
  TRUCE_ASSIGN_OR_RETURN(policy->names, NamesFrom(config, *catalogue, policy->modes, types.names));
  for (const auto& [account, namespaces] : config.account_parties) {
    policy->account_parties[account].insert(namespaces.begin(), namespaces.end());
  }
  policy->providers = config.providers;
  policy->restorers = config.restorers;
  policy->status_entry = config.status_guard;
  policy->status_guarded = config.status_guard && RefusesStatuses(policy->modes);
  policy->parties.unbound_claimable = config.unbound_composites == UnboundComposites::kClaimable;
  policy->composite_controllers = config.composite_controllers;
  policy->composite_denial_code = static_cast<int>(config.composite_denial_code);
  policy->disclosure = DisclosureOf(config.disclosure);
  // Without a watch nothing proves reservations: a limit would close a namespace for good.
  if (!config.no_cluster) {
    policy->limits.old = static_cast<std::size_t>(config.reservation_cap);
    // What is young now is old in a minute.
    policy->limits.young =
        static_cast<std::size_t>(std::max(config.reservation_burst, config.reservation_cap));
  }
  policy->public_url = config.public_url;
  return std::shared_ptr<const AdmissionPolicy>(std::move(policy));
}

}  // namespace truce
