// Judgement: deletions.
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "policies/sharing_rules.h"
#include "registry/ownership/sharing.h"
#include "registry/ownership/sight.h"
#include "webhook/admission/judge.h"

namespace truce {

// Only the rule deletion-protection has a say, and none about an object that goes already (I10).
void Judgement::PrepareDeletion(const AdmissionRequest& request) {
  const GroupKind kind{std::string(request.kind.group), std::string(request.kind.kind)};
  request_.operation = Operation::kDelete;
  request_.uid.text = request.uid;
  request_.requester.user = request.user;
  request_.object = Identify(request.old_object, kind, policy_->identity);
  request_.parties = &policy_->parties;
  concerns_registry_ = !request_.object.terminating && !request_.object.uid.empty();
}

bool Judgement::must_be_known() const {
  return request_.operation != Operation::kDelete || IsDeletionJudged(*policy_);
}

// What the end of the object, and of what is composed below it, would delete.
void Judgement::JudgeDeletion(const Facts& facts, const IdSource& ids, Decision& decision) {
  constexpr std::size_t kShownMax = 20;
  // A mark is enforced always; anything else only where configuration says so.
  const bool any_marks = !facts.AgreementsAfter(AgreementKind::kProtection, {}, 1).empty();
  if (!any_marks && !IsDeletionJudged(*policy_)) return;
  const Ledger ledger(facts, now_, ids, policy_->parties);
  if (const auto known = facts.ObjectByUid(request_.object.uid)) decision.root = known->root;
  decision.party = PartyOf(decision.root);
  std::set<KeyText> keys;
  for (const Row& row : RowsBelow(request_.object.uid, request_.object.slot, ledger)) {
    if (row.intent == Intent::kDeletes && !row.terminating) keys.insert(row.id.key);
  }
  for (const KeyText& key : keys) {
    const std::optional<Owner> owner = facts.OwnerOf(key);
    if (!owner || agreement_findings_.size() == kShownMax) continue;
    const std::vector<Agreement> agreements = facts.AgreementsOf(key);
    const std::vector<Row> rows = facts.RowsOfKey(key);
    const bool marked = ProtectionIn(agreements) != nullptr;
    auto finding = DeletionProtection({.owner = &*owner,
                                       .agreements = agreements,
                                       .rows = rows,
                                       .parties = &policy_->parties,
                                       .now = now_},
                                      WordingFor(decision.root));
    if (!finding) continue;
    const std::string& ns = decision.root.ns.empty() ? request_.object.slot.ns : decision.root.ns;
    Keep(*std::move(finding), {.rule = Rule::kDeletionProtection,
                               .type = owner->identity.type,
                               .resource_name = owner->name,
                               .object = &request_.object.slot,
                               .root = &decision.root,
                               .service = owner->service,
                               .bound_service = BoundService(*policy_, ns),
                               .marked = marked});
  }
}

}  // namespace truce
