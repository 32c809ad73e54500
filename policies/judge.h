// Judgement: one review under one policy, to a verdict and findings in words. No HTTP, no JSON, no
// store: facts are handed in.
#ifndef TRUCE_POLICIES_JUDGE_H_
#define TRUCE_POLICIES_JUDGE_H_

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "policies/finding.h"
#include "policies/lifecycle/restore_rules.h"
#include "policies/policy.h"
#include "policies/question.h"
#include "policies/quotas.h"
#include "policies/rule_case.h"
#include "registry/base/clock.h"
#include "registry/base/document.h"
#include "registry/base/result.h"
#include "registry/ownership/review_request.h"
#include "registry/ownership/terms.h"

namespace truce {

class Facts;
struct Clash;
struct Decision;

// One review to be judged, in the form that its reader gives.
struct ReviewCase {
  ReviewRequest request;  // the asker and its declarations; the judgement adds the policy
  NameEvidence evidence;
  std::optional<Question> question;  // nothing: an admission
  // UPDATE: the fields that the object writes into AWS (spec.forProvider, spec.initProvider)
  // change.
  bool rewrites = false;
  // The object's name in its composition (annotation crossplane.io/composition-resource-name), if a
  // composite controller creates it.
  std::string composed_as = {};
};

// The requester `user`, by the patterns of the configuration.
Requester RequesterOf(std::string_view user, const AdmissionPolicy& policy);

// False: nothing of the registry bears on the request; it is allowed.
bool ConcernsRegistry(const ReviewRequest& request);

// Adds what the rules need beside the registry's facts, read from `object`, which `review`
// declares; nothing where it does not concern the registry. Errors: kInvalidArgument: no uid, no
// name.
Result<void> Complete(Value object, const AdmissionPolicy& policy, ReviewCase& review);

// A value once made. External synchronization.
class Judgement final {
 public:
  // `policy` must outlive the judgement. `review` concerns the registry, and names its object.
  Judgement(ReviewCase&& review, const AdmissionPolicy& policy, Timestamp now);

  // False: when the registry cannot be read the request is allowed. A deletion waits for it only
  // where a rule about it is configured, not for what somebody marked (I10).
  bool must_be_known() const;
  const ReviewRequest& request() const { return review_.request; }
  const ReviewCase& review() const { return review_; }

  // A question: the questions before it in the same check (null: none), which must outlive the
  // judgement; the second adds its own ownerships, of the last Judge, to `check`.
  void AskAfter(const AskedOwnerships* before);
  void AddAskedTo(AskedOwnerships& check) const;

  // The registry's decision on `facts`, and whether all rules accept it: if one rule refuses,
  // nothing is written. Pure; may be called again on other facts, with the ids that it
  // drew then.
  Decision Judge(const Facts& facts, const IdSource& fresh);

  // The keys that Judge will probably look up to propose a free name in place of a refused one: for
  // stores that load facts beforehand.
  std::vector<KeyText> KeysToPropose() const;

  // Objects without which a rule cannot refuse (of the last Judge): to be looked at once, then
  // judged again. Empty once that was done.
  const std::vector<Slot>& to_look_at() const { return to_look_at_; }
  void SetLive(LiveObjects live) { live_ = std::move(live); }

  // All findings behind `decision` (of the last Judge), of all rules and modes.
  std::vector<Finding> FindingsOf(const Decision& decision) const;

  // Not empty: the decision rests on a key being free, but a kind that can declare this type was
  // not listed yet: the verdict is unknown, and nothing may be written.
  const std::string& unlisted() const { return unlisted_; }

  // The reason of an override that lowered a mode; empty when none did.
  std::string_view override_reason() const { return override_reason_; }

 private:
  RuleCase CaseOf(const Slot& root, const Facts* facts, const Decision* decision) const;
  Mode ModeOf(const RuleCase& c, Rule rule, const ModeTopic& topic);
  void SetModes(const Slot& root);
  void SortBadNames();
  Decision AskRegistry(const Facts& facts, const IdSource& ids);
  void CheckListed(const Decision& decision, const Facts& facts);
  void SuggestNames(const RuleCase& c);
  bool IsExplained(const Clash& clash) const;
  Finding OwnershipIn(const Clash& clash, Wording wording) const;
  void AddConflicts(const RuleCase& c, std::vector<Finding>& out) const;
  void AddUncertain(const RuleCase& c, std::vector<Finding>& out) const;

  const AdmissionPolicy* policy_;
  Timestamp now_;
  ReviewCase review_;
  bool names_pass_ = false;                          // while the object is its own root
  std::vector<std::pair<BadName, Mode>> tolerated_;  // bad names under a mode that does not deny
  std::string_view override_reason_;
  DecisionIds ids_;
  // Of the last Judge.
  std::vector<Finding> findings_;                // of the rules that judge by themselves
  std::map<KeyText, std::string> other_names_;   // free ones, by the key that is taken
  std::string unlisted_;                         // a type; see unlisted()
  std::vector<DeclaredResource> perhaps_taken_;  // free as far as the registry knows
  std::vector<AskedOwnership> asked_;            // only where there are quotas
  std::vector<Slot> to_look_at_;
  std::optional<LiveObjects> live_;  // as SetLive said
};

// One change of a status, in the form that its reader gives.
struct StatusCase {
  Slot object;
  Requester requester;
  std::string field;  // that names are read from, and that changes; empty: none does
};

// The findings of the rules about statuses, all modes. Pure; the registry has no say.
std::vector<Finding> JudgeStatus(const StatusCase& status, const AdmissionPolicy& policy,
                                 Timestamp now);

// One update of a composite that only gives other names to what is refused under any.
struct RerollCase {
  Slot composite;
  Slot root;
  Requester requester;
  RefusedAgain again;
};

// The findings of the rules about such updates, all modes. Pure.
std::vector<Finding> JudgeReroll(const RerollCase& reroll, const AdmissionPolicy& policy,
                                 Timestamp now);

// The findings of the rules about the creation of `object`, all modes, whatever it declares. Pure;
// costs nothing while no kind is found sick.
std::vector<Finding> JudgeCreation(const Slot& object, const Requester& requester,
                                   const AdmissionPolicy& policy, Timestamp now);

}  // namespace truce

#endif  // TRUCE_POLICIES_JUDGE_H_
