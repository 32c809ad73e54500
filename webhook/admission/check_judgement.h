// CheckJudgement: what stands against one OwnershipCheck, from the parsed request to findings in
// words. No HTTP, no store: facts are handed in.
#ifndef TRUCE_WEBHOOK_ADMISSION_CHECK_JUDGEMENT_H_
#define TRUCE_WEBHOOK_ADMISSION_CHECK_JUDGEMENT_H_

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "policies/finding.h"
#include "registry/base/clock.h"
#include "registry/base/result.h"
#include "registry/ownership/facts.h"
#include "webhook/admission/judge.h"

namespace truce {

// Its manifests are judged each as its own admission would be, its declarations and values together
// as what the party of its namespace declares; then all of it is compared with itself. A value once
// made. External synchronization.
class CheckJudgement final {
 public:
  // `check` is about an OwnershipCheck, and must outlive the judgement as `policy` must.
  // Errors: kInvalidArgument: it cannot be read: "spec.declarations[0].type: …".
  static Result<CheckJudgement> Prepare(const AdmissionRequest& check,
                                        const AdmissionPolicy& policy, Timestamp now);

  // Decides on `facts`. Pure; may be called again on other facts.
  void Decide(const Facts& facts, const IdSource& ids);

  // Of the last Decide.
  bool allowed() const { return allowed_; }
  // All rules and modes; where it is not allowed at least one is in mode enforce.
  const std::vector<Finding>& findings() const { return findings_; }
  // Not empty: as Judgement::unlisted.
  std::string unlisted() const;

  // Namespaces of its manifests, but for the check's own: the asker must speak for each. Known
  // before Decide.
  std::set<std::string> other_namespaces() const;

  // What it declares; known before Decide.
  std::size_t declared() const;

 private:
  CheckJudgement() = default;
  void CompareWithItself();
  void CompareOne(std::size_t part, std::size_t resource);

  // Where a key was declared first: which judgement, and which object of it.
  struct Place {
    std::size_t part = 0;
    std::size_t item = 0;
  };

  std::vector<Judgement> parts_;  // the first is about declarations and values
  std::map<KeyText, Place> first_;
  std::vector<Finding> findings_;
  bool allowed_ = true;
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_ADMISSION_CHECK_JUDGEMENT_H_
