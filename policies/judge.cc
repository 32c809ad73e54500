#include "policies/judge.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "policies/sharing_rules.h"
#include "registry/ownership/facts.h"
#include "registry/ownership/grant.h"
#include "registry/ownership/names.h"
#include "registry/ownership/resolve.h"
#include "registry/ownership/review.h"
#include "registry/ownership/rows.h"

namespace truce {
namespace {

// Objects of kinds that declare nothing count when they are part of a lineage: composites between a
// claim and its resources.
bool IsPartOfLineage(const ReviewRequest& request) {
  const LineageFields& lineage = request.object.lineage;
  return lineage.claim || lineage.composite || !lineage.resources.empty() ||
         (request.requester.composite_controller && lineage.controller);
}

// A composite that names nothing any more: its former references are still judged.
bool DropsAll(const ReviewRequest& request) {
  return request.requester.composite_controller && request.old_object &&
         !request.old_object->lineage.resources.empty();
}

// Partial declarations that the old version did not have already.
std::vector<const DeclaredResource*> NewPartial(const RuleCase& c) {
  std::vector<const DeclaredResource*> out;
  for (const DeclaredResource& resource : c.object->resources) {
    if (!resource.partial) continue;
    if (c.old_object != nullptr) {
      const auto& old = c.old_object->resources;
      if (std::find(old.begin(), old.end(), resource) != old.end()) continue;
    }
    out.push_back(&resource);
  }
  return out;
}

// The registry has no say in a deletion (I10).
Decision Undecided(const ReviewRequest& request) {
  Decision out;
  out.root = request.object.slot;
  return out;
}

bool AnyRefuses(const std::vector<Finding>& findings) {
  return std::any_of(findings.begin(), findings.end(),
                     [](const Finding& finding) { return finding.mode == Mode::kEnforce; });
}

// Why the holder may be gone; empty: nothing says so.
std::string WhyUnresolved(const Clash& clash, const AdmissionPolicy& policy) {
  const Owner& holder = clash.holder;
  std::string reason = policy.unresolved_reason(holder.leaf ? *holder.leaf : holder.root);
  // It names the holder (I8).
  const bool names = DisclosureOf(clash, policy.disclosure) == Disclosure::kFull;
  return reason.empty() || names ? reason : "whether it still exists is being looked at";
}

// The service that the root declares where it is another object than the one under review; empty:
// none but its own name.
std::string ServiceOfRoot(const RuleCase& c) {
  if (*c.root == c.object->slot) return {};
  std::optional<Object> root = c.facts->ObjectBySlot(*c.root);
  if (!root || root->service == c.root->name) return {};
  return std::move(root->service);
}

// The top of the lineage as far as the object itself tells.
Slot ProbableRoot(const ObjectFacts& object) {
  const LineageFields& lineage = object.lineage;
  const std::optional<ObjectRef>& above = lineage.claim ? lineage.claim : lineage.controller;
  if (!above) return object.slot;
  return {object.slot.cluster, above->group, above->kind, above->ns, above->name};
}

// Adds what no mode makes more than a warning, because it is not sure.
void AddWarning(const RuleCase& c, Finding finding, const DeclaredResource& resource,
                std::vector<Finding>& out) {
  const ModeTopic topic{.type = resource.identity.type, .name = resource.name, .sure = false};
  finding.mode = std::min(Mode::kWarn, ModeIn(c, Rule::kDuplicateOwnership, topic).mode);
  if (finding.mode != Mode::kOff) out.push_back(std::move(finding));
}

// Whether a resource that is declared anew was reserved for the object before: by a review whose
// answer may never have left.
bool HasReservation(const Decision& decision, const Uid& uid, const Facts& facts) {
  if (decision.added.empty()) return false;
  const std::vector<Row> rows = facts.RowsOfUid(uid);
  return std::any_of(rows.begin(), rows.end(),
                     [](const Row& row) { return row.id.state == RowState::kReserved; });
}

}  // namespace

Requester RequesterOf(std::string_view user, const AdmissionPolicy& policy) {
  return {.user = std::string(user),
          .composite_controller = MatchesAny(user, policy.composite_controllers),
          .provider = MatchesAny(user, policy.providers),
          .restorer = MatchesAny(user, policy.restorers)};
}

bool ConcernsRegistry(const ReviewRequest& request) {
  // A deletion ends no row before it is seen, and no rule of ownership denies it: only what keeps
  // from deleting has a say, and not about an object that goes already (I10).
  if (request.operation == Operation::kDelete) {
    return !request.object.terminating && !request.object.uid.empty();
  }
  return request.object.known_kind || IsPartOfLineage(request) || DropsAll(request);
}

Result<void> Complete(Value object, const AdmissionPolicy& policy, ReviewCase& review) {
  const ObjectFacts& facts = review.request.object;
  if (!ConcernsRegistry(review.request)) return {};
  if (facts.uid.empty()) return InvalidArgument("request.object.metadata.uid is missing");
  if (facts.slot.name.empty()) return InvalidArgument("request.object.metadata.name is missing");
  review.evidence = ReadEvidence(object, facts, policy);
  return {};
}

Judgement::Judgement(ReviewCase&& review, const AdmissionPolicy& policy, Timestamp now)
    : policy_(&policy), now_(now), review_(std::move(review)) {
  ReviewRequest& request = review_.request;
  request.parties = &policy.parties;
  // Rules of ownership have no say in a deletion (I10).
  if (request.operation == Operation::kDelete) return;
  request.watched = policy.watched;
  const Slot& slot = request.object.slot;
  const bool is_seen =
      policy.unwatched.empty() || !policy.unwatched.contains(GroupKind{slot.group, slot.kind});
  // In every mode: they keep the registry itself from being filled.
  if (!review_.question && is_seen) {
    request.limits = policy.limits;
    request.unwatched = &policy.unwatched;
  }
  SetModes(slot);
  SortBadNames();
  // Beforehand, because nobody waits for it here as they do for a transaction.
  names_pass_ = JudgeNames(CaseOf(slot, nullptr, nullptr)).empty();
}

bool Judgement::must_be_known() const {
  const ReviewRequest& request = review_.request;
  return request.operation != Operation::kDelete ||
         WaitsForRegistry(Entry::kDeletions, CaseOf(request.object.slot, nullptr, nullptr));
}

RuleCase Judgement::CaseOf(const Slot& root, const Facts* facts, const Decision* decision) const {
  const ReviewRequest& request = review_.request;
  return {.policy = policy_,
          .object = &request.object,
          .old_object = request.old_object ? &*request.old_object : nullptr,
          .evidence = &review_.evidence,
          .root = &root,
          .requester = &request.requester,
          .now = now_,
          .facts = facts,
          .decision = decision,
          .question = review_.question ? &*review_.question : nullptr,
          .live = live_ ? &*live_ : nullptr,
          .composed_as = review_.composed_as,
          .rewrites = review_.rewrites,
          .names_pass = names_pass_ && root == request.object.slot};
}

Mode Judgement::ModeOf(const RuleCase& c, Rule rule, const ModeTopic& topic) {
  const AppliedMode applied = ModeIn(c, rule, topic);
  if (applied.overridden != nullptr && override_reason_.empty()) {
    override_reason_ = applied.overridden->reason;
  }
  // The registry may be behind the cluster: it warns of what it would refuse.
  return std::min(applied.mode, policy_->recovery.empty() ? Mode::kEnforce : Mode::kWarn);
}

void Judgement::SetModes(const Slot& root) {
  const RuleCase c = CaseOf(root, nullptr, nullptr);
  ReviewRequest& request = review_.request;
  request.modes.clear();
  for (const DeclaredResource& resource : request.object.resources) {
    request.modes.push_back(
        ModeOf(c, Rule::kDuplicateOwnership,
               {.type = resource.identity.type, .name = resource.name, .sure = resource.sure}));
  }
}

// Bad names that are not to be refused are taken out of the request, in both versions, and kept for
// findings. A terminating object is let go with whatever name it has (I10).
void Judgement::SortBadNames() {
  ReviewRequest& request = review_.request;
  const RuleCase c = CaseOf(request.object.slot, nullptr, nullptr);
  std::vector<BadName> refused;
  const std::vector<BadName> before =
      request.old_object ? request.old_object->bad_names : std::vector<BadName>();
  for (BadName& bad : request.object.bad_names) {
    const bool is_new = std::find(before.begin(), before.end(), bad) == before.end();
    Mode mode = ModeOf(c, Rule::kResourceName, {.type = bad.type, .name = bad.shown});
    if (request.object.terminating) mode = std::min(mode, Mode::kAudit);
    if (mode == Mode::kEnforce && is_new) {
      refused.push_back(std::move(bad));
    } else if (mode != Mode::kOff && is_new) {
      tolerated_.emplace_back(std::move(bad), mode);
    }
  }
  request.object.bad_names = std::move(refused);
  if (request.old_object) request.old_object->bad_names.clear();
}

void Judgement::AskAfter(const AskedOwnerships* before) {
  if (review_.question) review_.question->before = before;
}

void Judgement::AddAskedTo(AskedOwnerships& check) const {
  if (policy_->quotas != nullptr) check.Add(asked_, *policy_->quotas);
}

Decision Judgement::Judge(const Facts& facts, const IdSource& fresh) {
  const IdSource ids = ids_.Run(fresh);
  const bool deletes = review_.request.operation == Operation::kDelete;
  Decision decision = deletes ? Undecided(review_.request) : AskRegistry(facts, ids);
  const RuleCase c = CaseOf(decision.root, &facts, &decision);
  for (std::vector<Clash>* clashes : {&decision.denied, &decision.conflicts}) {
    for (Clash& clash : *clashes) clash.in_own = WritesIntoOwn(clash.resource, c);
  }
  if (review_.question) Settle(c, decision);
  const Entry entry = deletes ? Entry::kDeletions : Entry::kDeclarations;
  findings_ = JudgeByRules(entry, c);
  to_look_at_.clear();
  if (!live_) to_look_at_ = ToLookAt(entry, c);
  if (AnyRefuses(findings_)) {
    decision.allowed = false;
    decision.changes = {};
  }
  // A store that lost its connection may write these again: they say the same twice.
  decision.changes.repeatable =
      decision.allowed && !deletes &&
      (!decision.changes.empty() || HasReservation(decision, review_.request.object.uid, facts));
  asked_.clear();
  if (review_.question && decision.allowed && policy_->quotas != nullptr) asked_ = AskedBy(c);
  SuggestNames(c);
  return decision;
}

Decision Judgement::AskRegistry(const Facts& facts, const IdSource& ids) {
  ReviewRequest& request = review_.request;
  if (request.old_object) {
    ResolveHeld(*policy_->catalogue, facts, request.object, *request.old_object);
  }
  ResolveReferences(*policy_->catalogue, facts, request.object);
  FillPendingNames(policy_->identity.moving, request.object);
  Decision decision = Decide(request, facts, now_, ids);
  CheckListed(decision, facts);
  // An override or a mode can name the root, or its namespace, which only the lineage tells.
  const ModeRules& modes = policy_->modes;
  const bool by_rule = !modes.exemptions.empty() || IsConfigured(modes, Rule::kDuplicateOwnership);
  const bool may_change = decision.root != request.object.slot &&
                          (by_rule || (!decision.allowed && !modes.overrides.empty()));
  if (!may_change) return decision;
  const std::vector<Mode> before = request.modes;
  SetModes(decision.root);
  if (request.modes != before) decision = Decide(request, facts, now_, ids);
  return decision;
}

// A key without owner is free only where every kind that can declare it was listed.
void Judgement::CheckListed(const Decision& decision, const Facts& facts) {
  unlisted_.clear();
  perhaps_taken_.clear();
  const bool is_blind = policy_->is_blind();
  if ((policy_->unlisted.empty() && !is_blind) || !decision.allowed) return;
  for (const std::size_t index : decision.added) {
    const DeclaredResource& resource = review_.request.object.resources[index];
    if (resource.key().empty() || resource.intent == Intent::kObserves) continue;
    const auto found = policy_->unlisted.find(resource.identity.type);
    const bool is_listed = found == policy_->unlisted.end();
    if ((is_listed && !is_blind) || OwnerByNames(resource, facts)) continue;
    if (is_blind || !found->second) {
      unlisted_ = resource.identity.type;
      return;
    }
    perhaps_taken_.push_back(resource);
  }
}

std::vector<KeyText> Judgement::KeysToPropose() const {
  const ReviewRequest& request = review_.request;
  std::vector<KeyText> keys;
  if (request.operation == Operation::kDelete) return keys;
  const Slot root = ProbableRoot(request.object);
  const RuleCase c = CaseOf(root, nullptr, nullptr);
  const Wording wording = WordingOf(c);
  const auto add = [&](const DeclaredResource& resource, const std::string& name) {
    if (name.empty()) return;
    std::vector<KeyText> of_name = KeysOfName(c, resource, name);
    std::move(of_name.begin(), of_name.end(), std::back_inserter(keys));
  };
  const std::vector<Finding> about_names = JudgeNames(c);
  for (const DeclaredResource& resource : request.object.resources) {
    if (resource.key().empty() || resource.intent == Intent::kObserves) continue;
    if (request.old_object && Declares(*request.old_object, resource.key()) != nullptr) continue;
    for (const Finding& finding : about_names) {
      if (finding.key == resource.key()) add(resource, finding.suggestion);
    }
    add(resource, OtherName(resource, wording));
  }
  return keys;
}

// A denial proposes a name only where asking for it again would not be denied for its name.
void Judgement::SuggestNames(const RuleCase& c) {
  other_names_.clear();
  const Decision& decision = *c.decision;
  if (decision.denied.empty() && decision.conflicts.empty()) return;
  Wording wording = WordingOf(c);
  const std::string service = ServiceOfRoot(c);
  wording.service = service;
  const auto propose = [&](const Clash& clash) {
    const DeclaredResource& resource = clash.resource;
    const auto renamed = [&](const Finding& finding) {
      return finding.key == resource.key() && !finding.suggestion.empty();
    };
    // One name for all that is wrong with it.
    const auto found = std::find_if(findings_.begin(), findings_.end(), renamed);
    if (found != findings_.end()) return found->suggestion;
    std::string name = OtherName(resource, wording);
    if (name.empty()) return name;
    const bool is_good = IsFree(c, resource, name) &&
                         (policy_->names == nullptr || PassesNameRules(c, resource, name));
    return is_good ? name : std::string();
  };
  for (const std::vector<Clash>* clashes : {&decision.denied, &decision.conflicts}) {
    for (const Clash& clash : *clashes) other_names_[clash.resource.key()] = propose(clash);
  }
}

std::vector<Finding> Judgement::FindingsOf(const Decision& decision) const {
  std::vector<Finding> out;
  const RuleCase c = CaseOf(decision.root, nullptr, &decision);
  const Wording wording = WordingOf(c);
  for (const Clash& clash : decision.denied) {
    if (IsExplained(clash)) continue;
    out.push_back(OwnershipIn(clash, wording));
    const std::string reason = WhyUnresolved(clash, *policy_);
    if (!reason.empty()) out.back().remedy += " About the owner: " + reason + ".";
  }
  out.insert(out.end(), findings_.begin(), findings_.end());
  AddConflicts(c, out);
  for (const BadName& bad : decision.bad_names) {
    out.push_back(BadResourceName(bad, Mode::kEnforce, wording));
  }
  for (const auto& [bad, mode] : tolerated_) out.push_back(BadResourceName(bad, mode, wording));
  if (decision.limit != ReservationLimit::kNone) {
    const ReviewRequest& request = review_.request;
    out.push_back(
        ReservationCapReached({decision.limit, request.limits, request.requester.user}, wording));
  }
  AddUncertain(c, out);
  for (Finding& finding : out) MakePrintable(finding);
  return out;
}

// Another rule refuses the same, and says why.
bool Judgement::IsExplained(const Clash& clash) const {
  return std::any_of(findings_.begin(), findings_.end(), [&](const Finding& finding) {
    return SpecOf(finding.rule).explains && finding.mode == Mode::kEnforce &&
           finding.key == clash.resource.key();
  });
}

Finding Judgement::OwnershipIn(const Clash& clash, Wording wording) const {
  const auto name = other_names_.find(clash.resource.key());
  if (name != other_names_.end()) wording.other_name = name->second;
  return DuplicateOwnership(clash, wording);
}

void Judgement::AddConflicts(const RuleCase& c, std::vector<Finding>& out) const {
  for (const Clash& clash : c.decision->conflicts) {
    const DeclaredResource& resource = clash.resource;
    const ModeTopic topic{
        .type = resource.identity.type, .name = resource.name, .sure = resource.sure};
    Finding& finding = out.emplace_back(OwnershipIn(clash, WordingOf(c)));
    finding.at_most = ModeIn(c, Rule::kDuplicateOwnership, topic).at_most;
    if (!clash.late) continue;
    // Allowed although enforced, because the resource exists already: its declarant must know.
    finding.mode = Mode::kWarn;
    finding.at_most = Mode::kWarn;
  }
}

void Judgement::AddUncertain(const RuleCase& c, std::vector<Finding>& out) const {
  const Wording wording = WordingOf(c);
  for (const Clash& clash : c.decision->elsewhere) {
    AddWarning(c, PerhapsElsewhere(clash, wording), clash.resource, out);
  }
  for (const DeclaredResource& resource : perhaps_taken_) {
    AddWarning(c, PerhapsTaken(resource, wording), resource, out);
  }
  if (!c.decision->allowed) return;
  for (const DeclaredResource* resource : NewPartial(c)) {
    AddWarning(c, UnclearDeclaration(*resource, wording), *resource, out);
  }
  const ObjectFacts& object = *c.object;
  const bool is_reported =
      c.old_object != nullptr && c.old_object->name_finding == object.name_finding;
  if (!object.name_finding.empty() && !object.resources.empty() && !is_reported) {
    AddWarning(c, UnclearName(object, wording), object.resources.front(), out);
  }
}

namespace {

// By the rules of `entry`, about an object whose slot alone counts; it is its own root where `c`
// names no other.
std::vector<Finding> JudgeSlot(Entry entry, const Slot& slot, RuleCase c) {
  ObjectFacts object;
  object.slot = slot;
  c.object = &object;
  if (c.root == nullptr) c.root = &object.slot;
  std::vector<Finding> findings = JudgeByRules(entry, c);
  for (Finding& finding : findings) MakePrintable(finding);
  return findings;
}

}  // namespace

std::vector<Finding> JudgeStatus(const StatusCase& status, const AdmissionPolicy& policy,
                                 Timestamp now) {
  return JudgeSlot(Entry::kStatuses, status.object,
                   {.policy = &policy,
                    .requester = &status.requester,
                    .now = now,
                    .status_field = status.field});
}

std::vector<Finding> JudgeReroll(const RerollCase& reroll, const AdmissionPolicy& policy,
                                 Timestamp now) {
  return JudgeSlot(Entry::kRerolls, reroll.composite,
                   {.policy = &policy,
                    .root = &reroll.root,
                    .requester = &reroll.requester,
                    .now = now,
                    .again = &reroll.again});
}

std::vector<Finding> JudgeCreation(const Slot& object, const Requester& requester,
                                   const AdmissionPolicy& policy, Timestamp now) {
  if (policy.unseen.empty()) return {};
  return JudgeSlot(Entry::kCreations, object,
                   {.policy = &policy, .requester = &requester, .now = now});
}

}  // namespace truce
