// Routes of a server that follows a cluster: conflicts, coverage, the baseline, recovery mode and
// the brake; findings are rest_findings. JSON over HTTP, for the operator socket and
// callers of the API; and the trial (review_books.h). Shapes: schema/openapi.yaml.
//
// Of several servers the one that watches the cluster informs the others. If none has watched for a
// minute, conflicts, coverage, baseline and brake have "asOf", the time of their data, and texts
// say so.
//
// Errors are problems (problem.h): 400 malformed, 404 no cluster is followed, 409 as above, 503
// also of orders that no server that watches the cluster took within some seconds.
#ifndef TRUCE_WEBHOOK_API_CLUSTER_ROUTES_H_
#define TRUCE_WEBHOOK_API_CLUSTER_ROUTES_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "registry/base/clock.h"
#include "registry/base/result.h"
#include "registry/identity/values.h"
#include "webhook/findings/coverage.h"
#include "webhook/findings/findings_book.h"
#include "webhook/findings/name_census.h"
#include "webhook/http/http.h"
#include "webhook/watch/controls.h"
#include "webhook/wire/json_writer.h"

namespace truce {

class MuteBook;
class RestApi;
class TrialBook;
class UseLog;
struct BaselineReport;
struct ConflictPage;
struct Suspension;
struct TagWar;

// Port: the findings of the detectors. Thread-safe; answers within ten seconds, names in half a
// minute.
class ClusterReports {
 public:
  virtual ~ClusterReports() = default;
  virtual std::vector<TagWar> Wars() const = 0;
  virtual std::vector<LiveFinding> Findings() const = 0;
  virtual MuteBook& Mutes() = 0;
  virtual CoverageReport Coverage() const = 0;
  virtual Result<BaselineReport> Baseline() const = 0;  // without names
  virtual Result<NameReport> Names() = 0;               // lists the cluster
  // The time of wars, findings, coverage and baseline, if it is longer ago than kReportsFresh,
  // because no server has watched the cluster since; the epoch: none ever did. Nothing: now.
  virtual std::optional<Timestamp> AsOf() const { return std::nullopt; }
};
inline constexpr std::chrono::seconds kReportsFresh{60};

// The handlers' dependencies.
struct ClusterPorts {
  // The registry's conflicts by key, behind `after`; at most `limit`. Within ten seconds.
  std::function<Result<ConflictPage>(const KeyText& after, std::size_t limit)> conflicts;
  // Null: no cluster is followed; their routes answer 404.
  ClusterReports* reports = nullptr;
  WatchControls* controls = nullptr;
  std::function<std::vector<Suspension>()> suspensions = nullptr;  // null: nothing can
};

// A read needs get on ownerships in all namespaces and is in the audit log (UseLog); recovery and
// brake are started, ended and released by who may update recovery or brake. The operator may do
// all, and what he reads is not in the log. Lists of the cluster are made for one caller at a time:
// 429 meanwhile, but for the operator. Everything that is handed over must outlive the routes.
std::vector<HttpRoute> ClusterRoutes(const RestApi& rest, ClusterPorts ports,
                                     const TrialBook& trials, UseLog& uses);

// The member "findings": a list of those about any of `keys`, at most 100.
void WriteFindingsOf(std::vector<LiveFinding> findings, const std::vector<KeyText>& keys,
                     JsonWriter& json);
// The age of an answer, as ClusterReports::AsOf says it, where it is old; else nothing. As field
// "asOf" of an object that is open, and as a line before a text for people.
void WriteAsOf(const std::optional<Timestamp>& as_of, JsonWriter& json);
std::string WithAsOf(const std::optional<Timestamp>& as_of, std::string text);

std::string CoverageJson(const CoverageReport& report, const std::vector<Suspension>& suspended,
                         const std::optional<Timestamp>& as_of);
std::string BaselineJson(const BaselineReport& report, const std::optional<Timestamp>& as_of);
std::string NamesJson(const NameReport& report);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_API_CLUSTER_ROUTES_H_
