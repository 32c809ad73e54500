#include "policies/name_rules.h"

#include <algorithm>
#include <array>
#include <utility>

#include "policies/policy.h"
#include "policies/question.h"
#include "policies/rule_case.h"
#include "policies/sharing_rules.h"
#include "registry/identity/evidence.h"
#include "registry/ownership/facts.h"
#include "registry/ownership/names.h"
#include "registry/ownership/review.h"
#include "registry/ownership/rows.h"

namespace truce {
namespace {

// Names that both versions have were judged when they came.
bool IsAdded(const RuleCase& c, const DeclaredResource& resource, const AwsNameRule& rule) {
  if (c.old_object == nullptr) return true;
  const std::string_view name = NameOf(resource, rule);
  return std::none_of(c.old_object->resources.begin(), c.old_object->resources.end(),
                      [&](const DeclaredResource& old) {
                        return old.identity.type == resource.identity.type &&
                               NameOf(old, rule) == name && old.intent != Intent::kObserves;
                      });
}

AppliedMode ModeOf(const RuleCase& c, Rule rule, const DeclaredResource& resource,
                   std::string_view name) {
  return ModeIn(c, rule, TopicOf(c, rule, resource, name));
}

// Whether the review takes over what had another owner: by his word, or with the chain that it
// joins.
bool TakesOver(const RuleCase& c, const KeyText& name) {
  if (c.decision == nullptr || c.facts == nullptr) return false;
  const std::optional<Owner> before = OwnerByName(name, *c.facts);
  return before && std::ranges::any_of(c.decision->changes.put_owners, [&](const Owner& after) {
           return after.id == before->id && !IsOfOthers(after, c);
         });
}

// Whether the name is not new to the party or the chain, under an account that the declaration
// itself tells.
bool IsHeldName(const RuleCase& c, const DeclaredResource& resource) {
  if (IsHeld(c, resource.key()) || TakesOver(c, resource.key())) return true;
  const std::string shape = ShapeOf(resource.key());
  return !shape.empty() && std::ranges::any_of(resource.names, [&](const DeclaredName& name) {
    return !name.observed && ShapeOf(name.text) == shape && IsHeld(c, name.text);
  });
}

// A review may come again whose answer never left: its own reservation is no earlier holder.
bool HasReserved(const RuleCase& c) {
  const std::vector<Row> rows = c.facts->RowsOfUid(c.object->uid);
  return std::ranges::any_of(rows,
                             [](const Row& row) { return row.id.state == RowState::kReserved; });
}

struct FaultyName {
  Finding finding;
  const AppliedMode& applied;
};

// A resource that exists keeps its name: an admission does not ask for it again, a question is
// warned.
void KeepName(const RuleCase& c, const DeclaredResource& resource, FaultyName faulty,
              std::vector<Finding>& out) {
  Finding& finding = faulty.finding;
  const bool held = IsHeldName(c, resource);
  if (held && c.question == nullptr && !HasReserved(c)) return;
  if (held || BringsWhatExists(c)) finding.mode = std::min(finding.mode, Mode::kWarn);
  const std::size_t before = out.size();
  Keep(c, std::move(finding), faulty.applied, out);
  if (out.size() == before || out.back().mode != Mode::kEnforce) return;
  if (IsOnRecord(c, out.back().key)) out.back().mode = Mode::kWarn;
}

void JudgeName(const RuleCase& c, const DeclaredResource& resource, const AwsNameRule& rule,
               std::vector<Finding>& out) {
  const NamePolicy& names = *c.policy->names;
  const NameFacts facts = FactsOf(c, resource, NameOf(resource, rule));
  // Modes cost more than rules: they are asked only about a fault.
  std::optional<NamingFault> departure;
  AppliedMode naming;
  if (names.convention) departure = names.convention->FaultOf(facts);
  if (departure) naming = ModeOf(c, Rule::kNamingConvention, resource, facts.name);
  // Words of a name that was made up would be others at the next try.
  const bool made_up = facts.name == c.object->slot.name && HasMadeUpName(*c.object);
  if (departure && (made_up || !IsFree(c, resource, departure->suggestion))) {
    departure->suggestion.clear();
  }
  if (departure && made_up) departure->pattern.clear();
  const std::optional<AwsNameFault> fault = rule.FaultOf(facts.name, facts.fifo);
  if (fault) {
    const AppliedMode applied = ModeOf(c, Rule::kAwsName, resource, facts.name);
    // One better name for both rules: one that conforms, where the convention applies.
    const bool conforming = departure && naming.mode != Mode::kOff;
    std::string better = conforming ? departure->suggestion : rule.Near(facts.name, facts.fifo);
    const bool is_good = PassesNameRules(c, resource, better) && IsFree(c, resource, better);
    if (made_up || !is_good) better.clear();
    KeepName(c, resource,
             {AwsNameRefused(resource, {facts.name, *fault, better}, WordingOf(c)), applied}, out);
  }
  if (departure && naming.mode != Mode::kOff) {
    KeepName(c, resource,
             {NameOutOfConvention(resource, facts.name, *departure, WordingOf(c)), naming}, out);
  }
}

// The value of a boolean field of the managed resource.
std::optional<bool> FieldOf(Value object, const FlavourSpec& flavour, std::string_view field) {
  const Value spec = object.Child("spec");
  for (const std::string_view section : flavour.sections) {
    const Value value = (section.empty() ? spec : spec.Child(section)).Child(field);
    // ACK writes it as a text.
    if (!value.empty()) return value.text() == "true";
  }
  return false;
}

}  // namespace

NameEvidence ReadEvidence(Value object, const ObjectFacts& facts, const AdmissionPolicy& policy) {
  NameEvidence out;
  if (policy.names == nullptr) return out;
  const NamePolicy& names = *policy.names;
  if (!names.label_keys.empty()) {
    const Value labels = object.Child("metadata").Child("labels");
    for (const std::string& key : names.label_keys) {
      const Value value = labels.Child(key);
      if (value.is_string()) out.labels.emplace_back(key, value.text());
    }
  }
  if (names.convention) out.service_from = ServiceSourceOf(object, facts, policy.identity);
  const bool is_ack = FlavourFor(facts.slot.group).flavour == Flavour::kAck;
  if (facts.managed && names.convention && !is_ack) {
    const Value name = object.Child("spec").Child("providerConfigRef").Child("name");
    out.provider_config = name.is_string() ? name.text() : "default";
  }
  if (facts.managed && !facts.resources.empty()) {
    const AwsNameRule* rule = names.aws->Find(facts.resources.front().identity.type);
    if (rule != nullptr && !rule->fifo_field().empty()) {
      out.fifo = FieldOf(object, FlavourFor(facts.slot.group), rule->fifo_field());
    }
  }
  return out;
}

std::vector<Finding> JudgeNames(const RuleCase& c) {
  std::vector<Finding> out;
  if (c.policy->names == nullptr || c.names_pass) return out;
  for (const DeclaredResource& resource : c.object->resources) {
    if (resource.intent == Intent::kObserves) continue;
    const AwsNameRule* rule = c.policy->names->aws->Find(resource.identity.type);
    if (rule == nullptr || NameOf(resource, *rule).empty() || !IsAdded(c, resource, *rule)) {
      continue;
    }
    JudgeName(c, resource, *rule, out);
  }
  return out;
}

bool PassesNameRules(const RuleCase& c, const DeclaredResource& resource, std::string_view name) {
  const NamePolicy& names = *c.policy->names;
  const AwsNameRule* rule = names.aws->Find(resource.identity.type);
  if (rule == nullptr || name.empty()) return true;
  const NameFacts facts = FactsOf(c, resource, name);
  if (rule->FaultOf(facts.name, facts.fifo).has_value()) return false;
  return !names.convention || !names.convention->FaultOf(facts).has_value() ||
         ModeOf(c, Rule::kNamingConvention, resource, name).mode == Mode::kOff;
}

std::vector<KeyText> KeysOfName(const RuleCase& c, const DeclaredResource& resource,
                                const std::string& name) {
  std::vector<KeyText> keys;
  const TypeSpec* type = c.policy->catalogue->FindType(resource.identity.type);
  if (type == nullptr) return keys;
  ResourceIdentity identity = resource.identity;
  const auto named = std::find_if(
      identity.parts.begin(), identity.parts.end(),
      [&](const auto& part) { return identity.parts.size() == 1 || part.second == resource.name; });
  if (named == identity.parts.end()) return keys;
  named->second = name;
  for (const std::string* account : {&resource.identity.account, &resource.further_account}) {
    if (account == &resource.further_account && account->empty()) break;
    identity.account = *account;
    std::optional<KeyText> key = KeyOf(identity, *type);
    if (!key) return {};
    keys.push_back(*std::move(key));
  }
  return keys;
}

bool IsFree(const RuleCase& c, const DeclaredResource& resource, const std::string& name) {
  if (name.empty() || c.facts == nullptr) return true;
  const std::vector<KeyText> keys = KeysOfName(c, resource, name);
  return !keys.empty() && std::none_of(keys.begin(), keys.end(),
                                       [&](const KeyText& key) { return c.facts->IsTaken(key); });
}

ModeTopic TopicOf(const RuleCase& c, Rule rule, const DeclaredResource& resource,
                  std::string_view name) {
  const AwsNameRule* aws =
      rule == Rule::kAwsName ? c.policy->names->aws->Find(resource.identity.type) : nullptr;
  return {.type = resource.identity.type,
          .name = name,
          .sure = aws == nullptr ? resource.sure : aws->researched()};
}

NameFacts FactsOf(const RuleCase& c, const DeclaredResource& resource, std::string_view name) {
  NameFacts facts;
  facts.type = resource.identity.type;
  facts.name = name;
  facts.service = DeclaredService(*c.object);
  facts.service_from = c.evidence->service_from;
  facts.ns = c.root->ns.empty() ? c.object->slot.ns : c.root->ns;
  facts.provider_config = c.evidence->provider_config;
  facts.region = resource.identity.region;
  if (IsAccount(resource.identity.account)) facts.account = resource.identity.account;
  facts.labels = c.evidence->labels;
  if (!resource.mapped) facts.fifo = c.evidence->fifo;
  return facts;
}

std::string_view NameOf(const DeclaredResource& resource, const AwsNameRule& rule) {
  for (const auto& [part, value] : resource.identity.parts) {
    if (part == rule.part()) return value;
  }
  // A mapping gives the parts of the key only; the text beside it ("spelling") is the name.
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
