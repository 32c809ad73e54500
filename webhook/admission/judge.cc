#include "webhook/admission/judge.h"

#include <algorithm>
#include <set>
#include <utility>

#include "policies/foreign_attachment.h"
#include "policies/rules.h"
#include "policies/sharing_rules.h"
#include "registry/ownership/grant.h"
#include "registry/ownership/names.h"
#include "registry/ownership/resolve.h"
#include "registry/ownership/sharing.h"
#include "registry/ownership/sight.h"
#include "webhook/admission/ownership_check.h"

namespace truce {
namespace {

constexpr std::string_view kManifestUid = "truce-check";  // no manifest has one

Operation OperationOf(ReviewOperation operation) {
  switch (operation) {
    case ReviewOperation::kCreate: return Operation::kCreate;
    case ReviewOperation::kUpdate: return Operation::kUpdate;
    case ReviewOperation::kDelete:
    case ReviewOperation::kConnect: break;
  }
  return Operation::kDelete;
}

// Objects of kinds that declare nothing count when they are part of a lineage: composites between a
// claim and its resources.
bool IsPartOfLineage(const ObjectFacts& object, bool composite_controller) {
  const LineageFields& lineage = object.lineage;
  return lineage.claim || lineage.composite || !lineage.resources.empty() ||
         (composite_controller && lineage.controller);
}

// Partial declarations that the old version did not have already.
std::vector<const DeclaredResource*> NewPartial(const ReviewRequest& request) {
  std::vector<const DeclaredResource*> out;
  for (const DeclaredResource& resource : request.object.resources) {
    if (!resource.partial) continue;
    if (request.old_object) {
      const auto& old = request.old_object->resources;
      if (std::find(old.begin(), old.end(), resource) != old.end()) continue;
    }
    out.push_back(&resource);
  }
  return out;
}

// No denial for what would only do harm: an object that is going (I10), a registry that may be
// behind.
Mode StrictestMode(const ReviewRequest& request, const AdmissionPolicy& policy) {
  if (request.object.terminating) return Mode::kAudit;
  return policy.recovering ? Mode::kWarn : Mode::kEnforce;
}

// The name that a provider binds late belongs to a cloud resource that exists: refusing it would
// leak that.
bool MayBindLate(const ReviewRequest& request) {
  return request.requester.provider && request.operation == Operation::kUpdate;
}

// The owner of the resource into which an attachment writes, by any of that one's names.
std::optional<Owner> ParentOwner(const DeclaredResource& resource, const TypeSpec& type,
                                 const Catalogue& catalogue, const Facts& facts) {
  for (const std::string* account : {&resource.identity.account, &resource.further_account}) {
    if (account == &resource.further_account && account->empty()) break;
    ResourceIdentity identity = resource.identity;
    identity.account = *account;
    const std::optional<KeyText> parent = ParentKeyOf(identity, type, catalogue);
    auto owner = parent ? OwnerByName(*parent, facts) : std::nullopt;
    if (owner) return owner;
  }
  return std::nullopt;
}

// The object wrote into `parent` before.
bool WritesInto(const std::optional<ObjectFacts>& object, const KeyText& parent,
                const Catalogue& catalogue) {
  if (!object) return false;
  const auto writes = [&](const DeclaredResource& resource) {
    const TypeSpec* type = catalogue.FindType(resource.identity.type);
    return resource.intent != Intent::kObserves && type != nullptr &&
           ParentKeyOf(resource.identity, *type, catalogue) == parent;
  };
  return std::any_of(object->resources.begin(), object->resources.end(), writes);
}

}  // namespace

Result<Judgement> Judgement::Prepare(const AdmissionRequest& request, const AdmissionPolicy& policy,
                                     Timestamp now) {
  return PrepareFor(Asker::kAdmission, request, policy, now);
}

Result<Judgement> Judgement::PrepareQuestion(const AdmissionRequest& request,
                                             const AdmissionPolicy& policy, Timestamp now) {
  const GroupKind& check = OwnershipCheckKind();
  const bool is_check = request.kind.group == check.group && request.kind.kind == check.kind;
  return PrepareFor(is_check ? Asker::kCheck : Asker::kManifest, request, policy, now);
}

Result<Judgement> Judgement::PrepareFor(Asker asker, const AdmissionRequest& request,
                                        const AdmissionPolicy& policy, Timestamp now) {
  Result<Judgement> out(Judgement(asker, policy, now));  // filled in place: it is large
  if (const Result<void> read = out.value().Read(request); !read.ok()) out = read.error();
  return out;
}

Result<void> Judgement::Read(const AdmissionRequest& request) {
  const AdmissionPolicy& policy = *policy_;
  // A deletion ends no row before it is seen, and no rule of ownership denies it (I10).
  if (request.operation == ReviewOperation::kDelete) {
    PrepareDeletion(request);
    return {};
  }
  ReviewRequest& review = request_;
  const GroupKind kind{std::string(request.kind.group), std::string(request.kind.kind)};
  review.operation = OperationOf(request.operation);
  review.uid.text = request.uid;
  review.requester.user = request.user;
  review.requester.composite_controller = MatchesAny(request.user, policy.composite_controllers);
  review.requester.provider = MatchesAny(request.user, policy.providers);
  review.requester.restorer = MatchesAny(request.user, policy.restorers);
  if (asker_ == Asker::kCheck) {
    TRUCE_ASSIGN_OR_RETURN(review.object, ReadOwnershipCheck(request.object, policy));
  } else {
    const bool is_manifest = asker_ == Asker::kManifest;
    review.object = Identify(request.object, kind, policy.identity,
                             is_manifest ? request.ns : std::string_view());
    if (is_manifest) {
      // Whoever writes a manifest can claim any parent.
      review.object.lineage.controller.reset();
      if (review.object.uid.empty()) review.object.uid.text = kManifestUid;
    }
  }
  if (request.operation == ReviewOperation::kUpdate) {
    review.old_object = Identify(request.old_object, kind, policy.identity);
  }
  concerns_registry_ = review.object.known_kind ||
                       IsPartOfLineage(review.object, review.requester.composite_controller);
  if (!concerns_registry_) return {};
  if (review.object.uid.empty()) {
    return Error{ErrorCode::kInvalidArgument, "request.object.metadata.uid is missing"};
  }
  if (review.object.slot.name.empty()) {
    return Error{ErrorCode::kInvalidArgument, "request.object.metadata.name is missing"};
  }
  review.parties = &policy.parties;
  review.watched = policy.watched;
  review.status_guarded = policy.status_guarded;
  // In every mode: they keep the registry itself from being filled.
  if (asker_ == Asker::kAdmission && !policy.unwatched.contains(kind)) {
    review.limits = policy.limits;
    review.unwatched = &policy.unwatched;
  }
  if (policy.names != nullptr) {
    evidence_ = ReadEvidence(request.object, review.object, *policy.names, policy.identity);
  }
  SetModes(nullptr);
  SortBadNames();
  if (policy.names != nullptr) JudgeNames(review.object.slot, nullptr);
  return {};
}

Mode Judgement::ModeOf(ModeSubject subject) {
  subject.object = &request_.object.slot;
  const std::string& own = request_.object.slot.ns;
  const bool rooted = subject.root != nullptr && !subject.root->ns.empty();
  subject.service = DeclaredService(request_.object);
  subject.bound_service = BoundService(*policy_, rooted ? subject.root->ns : own);
  subject.labels = evidence_.labels;
  const Mode mode = std::min(ModeFor(policy_->modes, subject, now_),
                             policy_->recovering ? Mode::kWarn : Mode::kEnforce);
  if (mode == Mode::kAudit && override_reason_.empty()) {
    const Override* found = OverrideFor(policy_->modes, subject, now_);
    if (found != nullptr) override_reason_ = found->reason;
  }
  return mode;
}

void Judgement::SetModes(const Slot* root) {
  request_.modes.clear();
  for (const DeclaredResource& resource : request_.object.resources) {
    request_.modes.push_back(ModeOf({.rule = Rule::kDuplicateOwnership,
                                     .type = resource.identity.type,
                                     .sure = resource.sure,
                                     .resource_name = resource.name,
                                     .root = root}));
  }
}

// Bad names that are not to be refused are taken out of the request, in both versions, and kept for
// findings. A terminating object is let go with whatever name it has (I10).
void Judgement::SortBadNames() {
  std::vector<BadName> refused;
  const std::vector<BadName> before =
      request_.old_object ? request_.old_object->bad_names : std::vector<BadName>();
  for (BadName& bad : request_.object.bad_names) {
    const bool is_new = std::find(before.begin(), before.end(), bad) == before.end();
    Mode mode = ModeOf({.rule = Rule::kResourceName, .type = bad.type, .resource_name = bad.shown});
    if (request_.object.terminating) mode = std::min(mode, Mode::kAudit);
    if (mode == Mode::kEnforce && is_new) {
      refused.push_back(std::move(bad));
    } else if (mode != Mode::kOff && is_new) {
      tolerated_.emplace_back(std::move(bad), mode);
    }
  }
  request_.object.bad_names = std::move(refused);
  if (request_.old_object) request_.old_object->bad_names.clear();
}

NameCase Judgement::NamesOf(const Slot& root) const {
  const std::string& ns = root.ns.empty() ? request_.object.slot.ns : root.ns;
  return {
      .policy = policy_->names.get(),
      .modes = &policy_->modes,
      .object = &request_.object,
      .old_object = request_.old_object ? &*request_.old_object : nullptr,
      .evidence = &evidence_,
      .root = &root,
      .bound_service = BoundService(*policy_, ns),
      .at_most = std::min(StrictestMode(request_, *policy_),
                          MayBindLate(request_) ? Mode::kWarn : Mode::kEnforce),
      .now = now_,
  };
}

// Reads the parents' owners from the same state of the store that decides about the keys.
void Judgement::JudgeAttachments(const Facts& facts, const Decision& decision) {
  const Catalogue& catalogue = *policy_->catalogue;
  for (const DeclaredResource& resource : request_.object.resources) {
    if (resource.intent == Intent::kObserves) continue;
    const TypeSpec* type = catalogue.FindType(resource.identity.type);
    if (type == nullptr || !type->attachment) continue;
    const std::optional<KeyText> parent = ParentKeyOf(resource.identity, *type, catalogue);
    const std::optional<Owner> holder = ParentOwner(resource, *type, catalogue, facts);
    const PartyId party = PartyOf(decision.root);
    // Agreements are read only where they can matter.
    if (!holder || holder->root == decision.root ||
        OneParty(holder->party, party, policy_->parties))
      continue;
    const std::vector<Agreement> agreements = facts.AgreementsOf(holder->key);
    const UseFacts attachment{.use = &resource,
                              .holder = &*holder,
                              .party = party,
                              .parties = &policy_->parties,
                              .agreements = agreements,
                              .existed = WritesInto(request_.old_object, *parent, catalogue) ||
                                         IsOnRecord(resource.key, party, facts),
                              .now = now_};
    std::optional<Finding> finding = ForeignAttachment(attachment, WordingFor(decision.root));
    if (!finding) continue;
    const std::string& ns = decision.root.ns.empty() ? request_.object.slot.ns : decision.root.ns;
    const ModeSubject subject{.rule = Rule::kForeignAttachment,
                              .type = resource.identity.type,
                              .sure = resource.sure,
                              .resource_name = holder->name,
                              .object = &request_.object.slot,
                              .root = &decision.root,
                              .service = DeclaredService(request_.object),
                              .bound_service = BoundService(*policy_, ns),
                              .labels = evidence_.labels};
    Keep(*std::move(finding), subject);
  }
}

void Judgement::Keep(Finding finding, const ModeSubject& subject) {
  const AppliedMode applied = Apply(policy_->modes, subject, now_);
  const Mode strictest = StrictestMode(request_, *policy_);
  finding.at_most = std::min({finding.mode, applied.at_most, strictest});
  finding.mode = std::min({finding.mode, applied.mode, strictest});
  if (applied.expired != nullptr) NoteExpiry(*applied.expired, finding);
  if (finding.mode != Mode::kOff) agreement_findings_.push_back(std::move(finding));
}

void Judgement::JudgeObservers(const Facts& facts, const Decision& decision) {
  const auto rule = static_cast<std::size_t>(Rule::kObserverWithoutShare);
  if (policy_->modes.rules[rule].empty()) return;
  const PartyId party = PartyOf(decision.root);
  for (const DeclaredResource& resource : request_.object.resources) {
    if (resource.intent != Intent::kObserves || resource.key.empty()) continue;
    const std::optional<Owner> holder = OwnerByNames(resource, facts);
    if (!holder || holder->root == decision.root ||
        OneParty(holder->party, party, policy_->parties))
      continue;
    const std::vector<Agreement> agreements = facts.AgreementsOf(holder->key);
    const UseFacts use{
        .use = &resource,
        .holder = &*holder,
        .party = party,
        .parties = &policy_->parties,
        .agreements = agreements,
        .existed = request_.old_object && Declares(*request_.old_object, resource.key) != nullptr,
        .now = now_};
    auto finding = ObserverWithoutShare(use, WordingFor(decision.root));
    if (!finding) continue;
    const std::string& ns = decision.root.ns.empty() ? request_.object.slot.ns : decision.root.ns;
    Keep(*std::move(finding), {.rule = Rule::kObserverWithoutShare,
                               .type = resource.identity.type,
                               .sure = resource.sure,
                               .resource_name = holder->name,
                               .object = &request_.object.slot,
                               .root = &decision.root,
                               .service = DeclaredService(request_.object),
                               .bound_service = BoundService(*policy_, ns),
                               .labels = evidence_.labels});
  }
}

// Only of what the request adds. What a provider names late exists, what a restorer brings back was
// admitted, and what a question is about may be on record: none is refused.
void Judgement::JudgeAccounts(const Facts& facts, const Decision& decision) {
  if (policy_->account_parties.empty()) return;
  const PartyId party = PartyOf(decision.root);
  for (const std::size_t place : decision.added) {
    const DeclaredResource& resource = request_.object.resources[place];
    auto finding = AccountOfOthers(resource, policy_->account_parties, WordingFor(decision.root));
    if (!finding) continue;
    const bool existed = MayBindLate(request_) || request_.requester.restorer ||
                         IsOnRecord(resource.key, party, facts);
    if (existed) finding->mode = Mode::kWarn;
    Keep(*std::move(finding), {.rule = Rule::kAccountParty,
                               .type = resource.identity.type,
                               .resource_name = resource.name,
                               .object = &request_.object.slot,
                               .root = &decision.root,
                               .service = DeclaredService(request_.object),
                               .bound_service = BoundService(*policy_, decision.root.ns),
                               .labels = evidence_.labels});
  }
}

// All rules speak at once; one that refuses is enough that nothing is written.
void Judgement::RefuseByRules(Decision& decision) const {
  const auto refuses = [](const Finding& finding) { return finding.mode == Mode::kEnforce; };
  const bool refused = std::any_of(name_findings_.begin(), name_findings_.end(), refuses) ||
                       std::any_of(agreement_findings_.begin(), agreement_findings_.end(), refuses);
  if (!refused) return;
  decision.allowed = false;
  decision.changes = {};
}

Wording Judgement::WordingFor(const Slot& root) const {
  return {.disclosure = policy_->disclosure,
          .public_url = policy_->public_url,
          .catalogue = policy_->identity.catalogue,
          .object = &request_.object,
          .root = &root};
}

Decision Judgement::Decide(const Facts& facts, const IdSource& ids) {
  agreement_findings_.clear();
  if (request_.operation == Operation::kDelete) {
    Decision deletion;
    deletion.root = request_.object.slot;
    JudgeDeletion(facts, ids, deletion);
    RefuseByRules(deletion);
    return deletion;
  }
  Decision decision = DecideOwnership(facts, ids);
  if (asker_ != Asker::kAdmission) SettleQuestion(facts, decision);
  const bool asks = asker_ != Asker::kAdmission;
  const bool is_other = asks || decision.root != names_root_ || !name_findings_.empty();
  if (policy_->names != nullptr && is_other) JudgeNames(decision.root, &facts);
  if (asks) SettleNames(facts);
  JudgeAttachments(facts, decision);
  JudgeObservers(facts, decision);
  JudgeAccounts(facts, decision);
  RefuseByRules(decision);
  SuggestNames(facts, decision);
  return decision;
}

// The registry has it on record as a manager of `key`: of a check the party, of a manifest its own
// object.
bool Judgement::IsOnRecord(const KeyText& key, const PartyId& party, const Facts& facts) const {
  if (asker_ == Asker::kAdmission || key.empty()) return false;
  const auto further = facts.FurtherName(key);
  const std::vector<Row> rows = facts.RowsOfKey(further ? further->key : key);
  return std::any_of(rows.begin(), rows.end(), [&](const Row& row) {
    if (!Manages(row)) return false;
    const Slot& own = request_.object.slot;
    if (asker_ == Asker::kManifest) return row.slot == own || row.root == own;
    return OneParty(PartyOf(row.root), party, policy_->parties);
  });
}

// Only what is new is refused; what the party of a check owns is its own.
void Judgement::SettleQuestion(const Facts& facts, Decision& decision) const {
  decision.changes = {};
  decision.prove.clear();
  // Whoever writes a manifest may say that it belongs to anybody's chain. Who asked was asked for
  // its own namespace: what its party may hear beyond that is not for this ear (I8).
  if (asker_ == Asker::kManifest && decision.root.ns != request_.object.slot.ns) {
    for (std::vector<Clash>* list : {&decision.denied, &decision.conflicts, &decision.elsewhere}) {
      for (Clash& clash : *list) {
        clash.same_party = false;
        const bool is_akin =
            clash.reason == ClashReason::kSibling || clash.reason == ClashReason::kTransferring;
        if (is_akin) clash.reason = ClashReason::kOwned;
      }
    }
  }
  const PartyId party = PartyOf(request_.object.slot);
  const auto is_own = [&](const Clash& clash) {
    return asker_ == Asker::kCheck && OneParty(clash.holder.party, party, policy_->parties);
  };
  std::vector<Clash> denied;
  for (Clash& clash : decision.denied) {
    if (is_own(clash)) continue;
    if (IsOnRecord(clash.holder.key, party, facts)) {
      clash.mode = Mode::kWarn;
      decision.conflicts.push_back(std::move(clash));
    } else {
      denied.push_back(std::move(clash));
    }
  }
  decision.denied = std::move(denied);
  for (std::vector<Clash>* list : {&decision.conflicts, &decision.elsewhere}) {
    list->erase(std::remove_if(list->begin(), list->end(), is_own), list->end());
  }
  decision.allowed = decision.denied.empty() && decision.bad_names.empty() &&
                     decision.limit == ReservationLimit::kNone;
}

Decision Judgement::DecideOwnership(const Facts& facts, const IdSource& ids) {
  if (request_.old_object) {
    ResolveHeld(*policy_->catalogue, facts, request_.object, *request_.old_object);
  }
  ResolveReferences(*policy_->catalogue, facts, request_.object);
  AwaitNames(policy_->identity.moving, request_.object);
  Decision decision = Review(request_, facts, now_, ids);
  CheckListed(decision, facts);
  // An override or a mode can name the root, or its namespace, which only the lineage tells.
  const ModeRules& modes = policy_->modes;
  const bool by_rule = !modes.exemptions.empty() ||
                       !modes.rules[static_cast<std::size_t>(Rule::kDuplicateOwnership)].empty();
  const bool may_change = decision.root != request_.object.slot &&
                          (by_rule || (!decision.allowed && !modes.overrides.empty()));
  if (!may_change) return decision;
  const std::vector<Mode> before = request_.modes;
  SetModes(&decision.root);
  return request_.modes == before ? decision : Review(request_, facts, now_, ids);
}

// A key without owner is free only where every kind that can declare it was listed.
void Judgement::CheckListed(const Decision& decision, const Facts& facts) {
  unlisted_.clear();
  perhaps_taken_.clear();
  if (policy_->unlisted.empty() || !decision.allowed) return;
  for (const std::size_t place : decision.added) {
    const DeclaredResource& resource = request_.object.resources[place];
    if (resource.key.empty() || resource.intent == Intent::kObserves) continue;
    const auto found = policy_->unlisted.find(resource.identity.type);
    if (found == policy_->unlisted.end() || OwnerByNames(resource, facts)) continue;
    if (!found->second) {
      unlisted_ = resource.identity.type;
      return;
    }
    perhaps_taken_.push_back(resource);
  }
}

std::vector<Finding> Judgement::FindingsOf(const Decision& decision) const {
  std::vector<Finding> out;
  const Wording wording = WordingFor(decision.root);
  const auto refusal_of = [&](const Clash& clash) {
    Wording with_name = wording;
    const auto name = other_names_.find(clash.resource.key);
    if (name != other_names_.end()) with_name.other_name = name->second;
    return DuplicateOwnership(clash, with_name);
  };
  const auto doubt_of = [&](const Clash& clash) {
    if (policy_->doubt_of == nullptr) return std::string();
    const Owner& holder = clash.holder;
    std::string doubt = policy_->doubt_of(holder.leaf ? *holder.leaf : holder.root);
    // It names the holder (I8).
    const bool names = DisclosureOf(clash, policy_->disclosure) == Disclosure::kFull;
    return doubt.empty() || names ? doubt : "whether it still exists is being looked at";
  };
  for (const Clash& clash : decision.denied) {
    out.push_back(refusal_of(clash));
    const std::string doubt = doubt_of(clash);
    if (!doubt.empty()) out.back().remedy += " About the owner: " + doubt + ".";
  }
  out.insert(out.end(), agreement_findings_.begin(), agreement_findings_.end());
  out.insert(out.end(), name_findings_.begin(), name_findings_.end());
  for (const Clash& clash : decision.conflicts) {
    out.push_back(refusal_of(clash));
    const ModeSubject subject{.type = clash.resource.identity.type,
                              .sure = clash.resource.sure,
                              .resource_name = clash.resource.name,
                              .object = &request_.object.slot};
    out.back().at_most = Apply(policy_->modes, subject, now_).at_most;
    if (!clash.late) continue;
    // Allowed although enforced, because the resource exists already: its declarant must know.
    out.back().mode = Mode::kWarn;
    out.back().at_most = Mode::kWarn;
  }
  for (const BadName& bad : decision.bad_names) {
    out.push_back(BadResourceName(bad, Mode::kEnforce, wording));
  }
  for (const auto& [bad, mode] : tolerated_) out.push_back(BadResourceName(bad, mode, wording));
  if (decision.limit != ReservationLimit::kNone) {
    out.push_back(
        ReservationCapReached({decision.limit, request_.limits, request_.requester.user}, wording));
  }
  const auto warn_at_most = [&](Finding finding, const DeclaredResource& resource) {
    const ModeSubject subject{.type = resource.identity.type,
                              .sure = false,
                              .resource_name = resource.name,
                              .object = &request_.object.slot,
                              .root = &decision.root};
    finding.mode = std::min(Mode::kWarn, ModeFor(policy_->modes, subject, now_));
    if (finding.mode != Mode::kOff) out.push_back(std::move(finding));
  };
  for (const Clash& clash : decision.elsewhere) {
    warn_at_most(PerhapsElsewhere(clash, wording), clash.resource);
  }
  for (const DeclaredResource& resource : perhaps_taken_) {
    warn_at_most(PerhapsTaken(resource, wording), resource);
  }
  if (decision.allowed) {
    for (const DeclaredResource* resource : NewPartial(request_)) {
      warn_at_most(UnclearDeclaration(*resource, wording), *resource);
    }
    const ObjectFacts& object = request_.object;
    const bool told_before =
        request_.old_object && request_.old_object->name_finding == object.name_finding;
    if (!object.name_finding.empty() && !object.resources.empty() && !told_before) {
      warn_at_most(UnclearName(object, wording), object.resources.front());
    }
  }
  for (Finding& finding : out) MakePrintable(finding);
  return out;
}

int Judgement::DenialCode() const {
  return request_.requester.composite_controller ? policy_->composite_denial_code : kDeniedCode;
}

}  // namespace truce
