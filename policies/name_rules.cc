#include "policies/name_rules.h"

#include <algorithm>
#include <array>
#include <utility>

#include "registry/identity/evidence.h"

namespace truce {
namespace {

constexpr std::array<std::string_view, 2> kPlaces = {"forProvider", "initProvider"};

// Names that both versions have were judged when they came.
bool IsAdded(const NameCase& c, const DeclaredResource& resource, const AwsNameRule& rule) {
  if (c.old_object == nullptr) return true;
  const std::string_view name = NameOf(resource, rule);
  return std::none_of(c.old_object->resources.begin(), c.old_object->resources.end(),
                      [&](const DeclaredResource& old) {
                        return old.identity.type == resource.identity.type &&
                               NameOf(old, rule) == name && old.intent != Intent::kObserves;
                      });
}

bool IsAccountNumber(std::string_view text) {
  return text.size() == 12 &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

AppliedMode ModeOf(const NameCase& c, Rule rule, const DeclaredResource& resource,
                   std::string_view name) {
  AppliedMode applied = Apply(*c.modes, SubjectOf(c, rule, resource, name), c.now);
  applied.mode = std::min(applied.mode, c.at_most);
  applied.at_most = std::min(applied.at_most, c.at_most);
  return applied;
}

void Keep(Finding finding, const AppliedMode& applied, std::vector<Finding>& out) {
  finding.at_most = std::min(finding.mode, applied.at_most);
  finding.mode = std::min(finding.mode, applied.mode);
  if (finding.mode == Mode::kOff) return;
  if (applied.expired != nullptr) NoteExpiry(*applied.expired, finding);
  out.push_back(std::move(finding));
}

bool IsFree(const NameCase& c, const DeclaredResource& resource, const std::string& name) {
  return name.empty() || !c.is_free || c.is_free(resource, name);
}

std::vector<Finding> JudgeName(const NameCase& c, const DeclaredResource& resource,
                               const AwsNameRule& rule, const Wording& wording) {
  std::vector<Finding> out;
  const NameFacts facts = FactsOf(c, resource, NameOf(resource, rule));
  // Modes cost more than rules: they are asked only about a fault.
  std::optional<NamingFault> departure;
  AppliedMode naming;
  if (c.policy->convention) departure = c.policy->convention->FaultOf(facts);
  if (departure) naming = ModeOf(c, Rule::kNamingConvention, resource, facts.name);
  if (departure && !IsFree(c, resource, departure->suggestion)) departure->suggestion.clear();
  const std::optional<AwsNameFault> fault = rule.FaultOf(facts.name, facts.fifo);
  if (fault) {
    const AppliedMode applied = ModeOf(c, Rule::kAwsName, resource, facts.name);
    // One better name for both rules: one that conforms, where the convention applies.
    const bool conforming = departure && naming.mode != Mode::kOff;
    std::string better = conforming ? departure->suggestion : rule.Near(facts.name, facts.fifo);
    if (!PassesNameRules(c, resource, better) || !IsFree(c, resource, better)) better.clear();
    Finding finding = AwsNameRefused(resource, {facts.name, *fault, better}, wording);
    if (applied.mode != Mode::kOff) Keep(std::move(finding), applied, out);
  }
  if (departure && naming.mode != Mode::kOff) {
    Keep(NameOutOfConvention(resource, facts.name, *departure, wording), naming, out);
  }
  return out;
}

// The value of a boolean field of the managed resource.
std::optional<bool> FieldOf(Value object, std::string_view field) {
  const Value spec = object.Child("spec");
  for (const std::string_view place : kPlaces) {
    const Value value = spec.Child(place).Child(field);
    if (!value.empty()) return value.is_true();
  }
  return false;
}

}  // namespace

NameEvidence ReadEvidence(Value object, const ObjectFacts& facts, const NamePolicy& policy,
                          const IdentityRules& rules) {
  NameEvidence out;
  if (!policy.label_keys.empty()) {
    const Value labels = object.Child("metadata").Child("labels");
    for (const std::string& key : policy.label_keys) {
      const Value value = labels.Child(key);
      if (value.is_string()) out.labels.emplace_back(key, value.text());
    }
  }
  if (policy.convention) out.service_from = ServiceSourceOf(object, facts, rules);
  if (facts.managed && policy.convention) {
    const Value name = object.Child("spec").Child("providerConfigRef").Child("name");
    out.provider_config = name.is_string() ? name.text() : "default";
  }
  if (facts.managed && !facts.resources.empty()) {
    const AwsNameRule* rule = policy.aws->Find(facts.resources.front().identity.type);
    if (rule != nullptr && !rule->fifo_field().empty()) {
      out.fifo = FieldOf(object, rule->fifo_field());
    }
  }
  return out;
}

std::vector<Finding> NameFindings(const NameCase& c, const Wording& wording) {
  std::vector<Finding> out;
  for (const DeclaredResource& resource : c.object->resources) {
    if (resource.intent == Intent::kObserves) continue;
    const AwsNameRule* rule = c.policy->aws->Find(resource.identity.type);
    if (rule == nullptr || NameOf(resource, *rule).empty() || !IsAdded(c, resource, *rule)) {
      continue;
    }
    for (Finding& each : JudgeName(c, resource, *rule, wording)) out.push_back(std::move(each));
  }
  return out;
}

bool PassesNameRules(const NameCase& c, const DeclaredResource& resource, std::string_view name) {
  const AwsNameRule* rule = c.policy->aws->Find(resource.identity.type);
  if (rule == nullptr || name.empty()) return true;
  const NameFacts facts = FactsOf(c, resource, name);
  if (rule->FaultOf(facts.name, facts.fifo).has_value()) return false;
  return !c.policy->convention || !c.policy->convention->FaultOf(facts).has_value() ||
         ModeOf(c, Rule::kNamingConvention, resource, name).mode == Mode::kOff;
}

ModeSubject SubjectOf(const NameCase& c, Rule rule, const DeclaredResource& resource,
                      std::string_view name) {
  const AwsNameRule* aws = c.policy->aws->Find(resource.identity.type);
  const bool by_name = rule == Rule::kAwsName && aws != nullptr;
  return {.rule = rule,
          .type = resource.identity.type,
          .sure = by_name ? aws->researched() : resource.sure,
          .resource_name = name,
          .object = &c.object->slot,
          .root = c.root,
          .service = DeclaredService(*c.object),
          .bound_service = c.bound_service,
          .labels = c.evidence->labels};
}

NameFacts FactsOf(const NameCase& c, const DeclaredResource& resource, std::string_view name) {
  NameFacts facts;
  facts.type = resource.identity.type;
  facts.name = name;
  facts.service = DeclaredService(*c.object);
  facts.service_from = c.evidence->service_from;
  facts.ns = c.root != nullptr && !c.root->ns.empty() ? c.root->ns : c.object->slot.ns;
  facts.provider_config = c.evidence->provider_config;
  facts.region = resource.identity.region;
  if (IsAccountNumber(resource.identity.account)) facts.account = resource.identity.account;
  facts.labels = c.evidence->labels;
  if (!resource.mapped) facts.fifo = c.evidence->fifo;
  return facts;
}

std::string_view NameOf(const DeclaredResource& resource, const AwsNameRule& rule) {
  for (const auto& [part, value] : resource.identity.parts) {
    if (part == rule.part()) return value;
  }
  // A mapping gives the parts of the key only; what is written beside it ("spelling") is the name.
  return resource.mapped ? std::string_view(resource.name) : std::string_view();
}

std::string_view DeclaredService(const ObjectFacts& object) {
  const Slot& slot = object.slot;
  const std::string_view service = object.service;
  if (slot.ns.empty()) return service == slot.name ? std::string_view() : service;
  const bool own = service.size() == slot.ns.size() + 1 + slot.name.size() &&
                   service.starts_with(slot.ns) && service[slot.ns.size()] == '/' &&
                   service.ends_with(slot.name);
  return own ? std::string_view() : service;
}

}  // namespace truce
