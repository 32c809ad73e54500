// CheckJudgement: the findings about everything that one OwnershipCheck asks about.
#ifndef TRUCE_POLICIES_CHECK_JUDGEMENT_H_
#define TRUCE_POLICIES_CHECK_JUDGEMENT_H_

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "policies/declared_twice.h"
#include "policies/finding.h"
#include "policies/judge.h"
#include "registry/base/clock.h"

namespace truce {

class Facts;

// Its manifests are judged each as its own admission would be, its declarations and values together
// as declarations of the party of its namespace; then all of it is compared with itself. A value
// once made. External synchronization.
class CheckJudgement final {
 public:
  // `parts` are questions: the first is about its declarations and values, the others about its
  // manifests. `policy` must outlive the judgement.
  CheckJudgement(std::vector<ReviewCase> parts, const AdmissionPolicy& policy, Timestamp now);

  // Judges all parts on `facts`. Pure; may be called again on other facts.
  void Judge(const Facts& facts, const IdSource& ids);

  // Of the last Judge.
  bool allowed() const { return allowed_; }
  // All rules and modes; where it is not allowed at least one is in mode enforce.
  const std::vector<Finding>& findings() const { return findings_; }
  // Not empty: as Judgement::unlisted.
  std::string unlisted() const;

  // Namespaces of its manifests, but for the check's own: the asker must speak for each. Known
  // before Judge.
  std::set<std::string> other_namespaces() const;

  // The number of its declarations; known before Judge.
  std::size_t declared() const;

 private:
  void CompareWithItself();
  void CompareOne(std::size_t part, std::size_t resource);

  std::vector<Judgement> parts_;  // the first is about declarations and values
  DeclaredTwice twice_;
  std::vector<Finding> findings_;
  bool allowed_ = true;
};

}  // namespace truce

#endif  // TRUCE_POLICIES_CHECK_JUDGEMENT_H_
