// NameCensus: the rules about names, applied to existing objects: per service and type how many
// names conform, are exempt, violate; and a better name for each that violates. Nothing is refused
// to existing objects: this is how far a team has come with its convention. SurveyNames takes it of
// a cluster, and judges what that uses of others' resources.
#ifndef TRUCE_WEBHOOK_FINDINGS_NAME_CENSUS_H_
#define TRUCE_WEBHOOK_FINDINGS_NAME_CENSUS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "policies/policy.h"
#include "registry/base/clock.h"
#include "registry/base/document.h"
#include "webhook/kube/cluster_api.h"
#include "webhook/watch/kinds.h"

namespace truce {

class Store;

// Violations listed at most; all are counted.
inline constexpr std::size_t kNameViolationsMax = 1000;

// A kind whose objects were not all looked at.
struct NameProblem {
  std::string kind;     // "Bucket.s3.aws.upbound.io"
  std::string problem;  // one line

  bool operator==(const NameProblem&) const = default;
};

struct NameCounts {
  std::uint64_t conforming = 0;
  std::uint64_t exempt = 0;
  std::uint64_t violating = 0;

  bool operator==(const NameCounts&) const = default;
};

struct NameViolation {
  std::string service;  // as the object says, else the owning one; empty: not known
  std::string type;     // "s3/Bucket"
  std::string object;   // for people: Bucket files
  std::string name;
  std::string rule;
  std::string mode;    // of the rule for this object
  std::string better;  // a name that conforms, or its form with <parts> that are not known

  bool operator==(const NameViolation&) const = default;
};

// A fault of an existing object by the rules about other owners' resources: an attachment that
// writes into another's resource, an observer without a share.
struct UseFault {
  std::string rule;
  std::string mode;    // of the rule for this object
  std::string object;  // for people: BucketPolicy files
  std::string cause;
  std::string remedy;

  bool operator==(const UseFault&) const = default;
};

struct NameReport {
  Timestamp at{};
  std::map<std::pair<std::string, std::string>, NameCounts> counts;  // by service and type
  std::vector<NameViolation> violations;                             // by service, type and name
  std::uint64_t violating = 0;
  std::uint64_t conforming = 0;
  std::uint64_t exempt = 0;
  bool convention = false;            // the naming convention is on, for some at least
  std::vector<NameProblem> problems;  // what is not in the numbers
  std::vector<UseFault> uses;         // of others' resources, by object; at most as many
};

// External synchronization.
class NameCensus final {
 public:
  enum class State : std::uint8_t { kConforming, kExempt, kViolating };
  struct Judged {
    State state = State::kConforming;
    NameViolation violation;  // of kViolating; its type is always set
  };

  // `store` must outlive it; null, or without an answer by `deadline`: it knows nothing.
  NameCensus(std::shared_ptr<const AdmissionPolicy> policy, Timestamp now,
             const Store* store = nullptr, Deadline deadline = {});

  // Counts the names that `object`, a whole one of `kind`, declares. A resource that several
  // objects declare (a claim and what it is composed of) counts once.
  void Add(Value object, const GroupKind& kind);
  void AddProblem(NameProblem problem) { report_.problems.push_back(std::move(problem)); }

  void AddUse(UseFault fault);

  NameReport Take();

 private:
  // Top of the object's lineage; nothing: not known.
  std::optional<Slot> RootOf(const Uid& uid) const;
  // The service that owns what has the name; empty: not known.
  std::string ServiceOf(const KeyText& name) const;
  void AddBadNames(const RuleCase& c, const std::string& service);
  void Count(const std::string& service, Judged judged);

  const std::shared_ptr<const AdmissionPolicy> policy_;
  const Timestamp now_;
  const Store* const store_;
  const Deadline deadline_;
  std::set<KeyText> seen_;
  NameReport report_;
};

// References must outlive the call.
struct NameSurvey {
  ClusterApi& api;
  const Store& store;
  std::shared_ptr<const AdmissionPolicy> policy;  // never null
  std::vector<FollowedKind> kinds;                // to be listed
  Timestamp now{};
};

// Lists the kinds a page at a time, roots first, so that a resource counts for the service of the
// claim that asks for it. Nothing is kept between pages but counts, keys and listed violations.
// A kind that could not be listed before `deadline` is a problem in the report; so is a registry
// that does not answer. Blocks at most until `deadline` and the time of one page's judgement.
NameReport SurveyNames(const NameSurvey& survey, Deadline deadline);

// "71 of 80 names conform, 4 are exempt, 5 violate a rule (88 %)."
std::string NameSummary(const NameReport& report);
// How many of `counts` need no change, in percent, rounded down; 100 for none.
std::uint64_t PercentDone(const NameCounts& counts);
// Names alone.
std::string NameReportText(const NameReport& report);
// Resources that attachments and observers use without the owner's word; empty when there are none.
std::string UseFaultsText(const NameReport& report);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_FINDINGS_NAME_CENSUS_H_
