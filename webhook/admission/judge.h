// Judgement: one review under one policy, from the parsed request to findings in words. No HTTP, no
// store: facts are handed in.
#ifndef TRUCE_WEBHOOK_ADMISSION_JUDGE_H_
#define TRUCE_WEBHOOK_ADMISSION_JUDGE_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "policies/finding.h"
#include "policies/name_rules.h"
#include "policies/policy.h"
#include "registry/base/clock.h"
#include "registry/base/result.h"
#include "registry/ownership/facts.h"
#include "registry/ownership/ledger.h"
#include "registry/ownership/review.h"
#include "webhook/admission/codec.h"

namespace truce {

// The status of a denial in the review's answer.
inline constexpr int kDeniedCode = 403;

// A value once made. External synchronization.
class Judgement final {
 public:
  // `policy` must outlive the judgement; `request` is not kept.
  // Errors: kInvalidArgument: an object of a known kind without name or uid.
  static Result<Judgement> Prepare(const AdmissionRequest& request, const AdmissionPolicy& policy,
                                   Timestamp now);

  // As Prepare, for one who asks before anything is created. `request` is about an OwnershipCheck,
  // which acts for the party of its namespace: what the party owns it may declare, and where it is
  // a recorded second manager already it is only warned; or about a manifest, whose own object may
  // exist as a recorded second manager. What is on record keeps its name and its attachments.
  // Decide then never changes anything.
  // Errors: kInvalidArgument: as Prepare, or an OwnershipCheck that cannot be read.
  static Result<Judgement> PrepareQuestion(const AdmissionRequest& request,
                                           const AdmissionPolicy& policy, Timestamp now);

  // False: nothing of the registry bears on the request; it is allowed.
  bool concerns_registry() const { return concerns_registry_; }
  // False: when the registry cannot be read the request is allowed. A deletion waits for it only
  // where the rule deletion-protection is configured, not for what somebody marked (I10).
  bool must_be_known() const;
  const ReviewRequest& request() const { return request_; }

  // Decides on `facts`. Pure; may be called again on other facts.
  Decision Decide(const Facts& facts, const IdSource& ids);

  // What `decision` (of the last Decide) found, all rules and modes.
  std::vector<Finding> FindingsOf(const Decision& decision) const;

  // Not empty: the decision rests on a key being free, but a kind that can declare this type was
  // not listed yet: the verdict is unknown, and nothing may be written.
  const std::string& unlisted() const { return unlisted_; }

  // 403, or for composite controllers the configured code.
  int DenialCode() const;

  // The reason of an override that lowered a mode; empty when none did.
  std::string_view override_reason() const { return override_reason_; }

 private:
  // Who wants to know.
  enum class Asker : std::uint8_t { kAdmission, kManifest, kCheck };

  Judgement(Asker asker, const AdmissionPolicy& policy, Timestamp now)
      : policy_(&policy), now_(now), asker_(asker) {}

  static Result<Judgement> PrepareFor(Asker asker, const AdmissionRequest& request,
                                      const AdmissionPolicy& policy, Timestamp now);
  Result<void> Read(const AdmissionRequest& request);
  void SettleQuestion(const Facts& facts, Decision& decision) const;
  void SettleNames(const Facts& facts);
  bool IsOnRecord(const KeyText& key, const PartyId& party, const Facts& facts) const;
  void SetModes(const Slot* root);
  Mode ModeOf(ModeSubject subject);
  void SortBadNames();
  Decision DecideOwnership(const Facts& facts, const IdSource& ids);
  Wording WordingFor(const Slot& root) const;
  // With `facts` names that somebody has are not proposed.
  void JudgeNames(const Slot& root, const Facts* facts);
  NameCase NamesOf(const Slot& root) const;
  void SuggestNames(const Facts& facts, const Decision& decision);
  void JudgeAttachments(const Facts& facts, const Decision& decision);
  void JudgeObservers(const Facts& facts, const Decision& decision);
  void JudgeAccounts(const Facts& facts, const Decision& decision);
  void JudgeDeletion(const Facts& facts, const IdSource& ids, Decision& decision);
  // Keeps `finding` in the mode that `subject` asks for.
  void Keep(Finding finding, const ModeSubject& subject);
  void PrepareDeletion(const AdmissionRequest& request);
  void RefuseByRules(Decision& decision) const;
  void CheckListed(const Decision& decision, const Facts& facts);

  const AdmissionPolicy* policy_;
  Timestamp now_;
  Asker asker_;
  ReviewRequest request_;
  std::vector<std::pair<BadName, Mode>> tolerated_;  // bad names under a mode that does not deny
  std::string_view override_reason_;
  std::string unlisted_;                         // a type; see unlisted()
  std::vector<DeclaredResource> perhaps_taken_;  // free as far as the registry knows
  // Names and attachments: what the rules read of the object, and what they found below the root
  // that `names_root_` is.
  NameEvidence evidence_;
  Slot names_root_;
  std::map<KeyText, std::string> other_names_;  // free ones, by the key that is taken
  std::vector<Finding> name_findings_;
  std::vector<Finding> agreement_findings_;  // attachments, observers, deletions, accounts
  bool concerns_registry_ = false;
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_ADMISSION_JUDGE_H_
