// The report `truce baseline`: the declarations of a live cluster, the conflicts in it, and the
// kinds that could not be looked at. Nothing is refused to existing objects: this is what enforcing
// would have refused.
#ifndef TRUCE_WEBHOOK_FINDINGS_TEXTS_REPORT_BASELINE_H_
#define TRUCE_WEBHOOK_FINDINGS_TEXTS_REPORT_BASELINE_H_

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "registry/store/store.h"
#include "webhook/findings/conflicts.h"
#include "webhook/findings/detector.h"
#include "webhook/findings/name_census.h"
#include "webhook/findings/tag_war.h"
#include "webhook/findings/texts/report_quotas.h"

namespace truce {

// A kind that could not be looked at.
struct BaselineProblem {
  std::string kind;     // "Bucket.s3.aws.upbound.io"
  std::string problem;  // one line

  bool operator==(const BaselineProblem&) const = default;
};

struct BaselineReport {
  std::string cluster;
  bool complete = false;              // all kinds were attempted once since the start
  Timestamp at{};                     // of the report
  std::chrono::milliseconds took{0};  // from the start until it was complete; 0 while it is not
  std::uint64_t kinds = 0;            // followed
  std::uint64_t objects = 0;          // seen
  StoreCounts counts;
  std::vector<Conflict> conflicts;  // by key
  std::vector<TagWar> wars;
  std::vector<BaselineProblem> problems;
  std::map<Severity, std::uint64_t> findings;  // of the detectors, without what is muted
  std::uint64_t muted = 0;
  std::optional<NameReport> names;    // what the rules about names say; none: not asked
  std::optional<QuotaReport> quotas;  // how far they are used; none: there are none
};

std::string BaselineText(const BaselineReport& report);
// One failed case per conflict, and per name that violates a rule in mode enforce (a skipped one in
// the other modes); one error per kind that could not be looked at, one case for the rest.
std::string BaselineJunit(const BaselineReport& report);
std::string BaselineMarkdown(const BaselineReport& report);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_FINDINGS_TEXTS_REPORT_BASELINE_H_
