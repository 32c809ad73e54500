// Routes of a server that follows a cluster: conflicts, coverage, the baseline, recovery mode and
// the brake; findings are rest_findings. JSON over HTTP, for the operator socket and
// callers of the API; and the trial (review_books.h).
//
//   GET  /api/v1/conflicts[?limit=100][&cursor=…]
//          → 200 {"items": [conflict, …], "nextCursor"?}   at most 1000 at once, by key
//   GET  /api/v1/conflicts?output=text|wide → 200 {"count", "text"}       all of them, for people
//   GET  /api/v1/coverage                   → 200 {"failurePolicy", "failingSince"?, "kinds",
//          "protectedKinds", "gaps": [gap, …], "suspended": [{"cause", "what", "why", "remedy"},
//          …]}   suspended: what suspends refusals now
//   GET  /api/v1/coverage?output=text|wide  → 200 {"count", "text"}       wide: every gap
//   GET  /api/v1/baseline                   → 200 {"cluster", "complete", "at", "seconds", "kinds",
//          "objects", "ownerships": {"held", "reserved", "orphaned", "imported"},
//          "conflicts": [conflict, …], "findings": {"critical", "warning", "info", "muted"},
//          "problems": [{"kind", "problem"}, …], "quotas"?: as GET /api/v1/quotas}
//   GET  /api/v1/baseline?output=text|junit|markdown → 200 {"count", "text"}  count: conflicts
//          and "names", as the next
//   GET  /api/v1/names                      → 200 {"at", "convention", "conforming", "exempt",
//          "violating", "items": [{"service", "type", "conforming", "exempt", "violating"}, …],
//          "violations": [{"service", "type", "name", "suggested", "rule", "mode", "object"}, …],
//          "uses": [{"rule", "mode", "object", "cause", "remedy"}, …]  of others' resources,
//          "problems": [{"kind", "problem"}, …]}   lists the cluster; at most 1000 of each
//   GET  /api/v1/names?output=text          → 200 {"count", "text"}       count: violations
//   GET  /api/v1/recovery                   → 200 recovery
//   POST /api/v1/recovery/start   {"reason"}           → 200 recovery
//   POST /api/v1/recovery/finish  {"force": false}     → 200 recovery; 409 while no full resync is
//                                                        done, or not in recovery mode
//   GET  /api/v1/brake                      → 200 {"nominated", "heldBack", "frozen":
//          [{"kind", "reason"}, …], "waiting": [{"kind", "objects", "since"}, …]}
//   POST /api/v1/brake/release    {"kind": "Bucket.s3.aws.upbound.io"?, "reason"}
//                                           → 200 {"released": 12}  objects that may now be
//                                           released,
//                                             each after it was looked at once more
//
//   conflict: {"resource": resource as in resource_json.h, "name": "S3 bucket \"x\"", "sides":
//              [{"root": object, "service", "contact", "incumbent", "record", "since", "objects":
//              [{"object", "uid", "intent", "seen", "terminating", "managed", "since"}]}],
//              "effect", "steps": [text, …], "war": {"since", "last", "writes", "writesPerMinute"}
//              or null}
//   gap:      {"reason", "subject", "objects", "why", "remedy"}
//   recovery: {"active", "reason", "since", "resynced", "waiting": [{"kind", "why"}, …]}
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

namespace truce {

class MuteBook;
class RestApi;
class TrialBook;
class UseLog;
struct BaselineReport;
struct ConflictPage;
struct Suspension;
struct TagWar;

struct RecoveryView {
  bool active = false;
  std::string reason;
  Timestamp since{};
  bool resynced = false;  // a full resync is done: it may be finished
  struct Wait {
    std::string kind;  // "Bucket.s3.aws.upbound.io"
    std::string why;   // one line

    bool operator==(const Wait&) const = default;
  };
  std::vector<Wait> waits;  // until then: the kinds that it waits for
};

// Whose word it is, for the audit log, and why.
struct OperatorWord {
  std::string actor;
  std::string reason = {};
};

struct BrakeView {
  struct Frozen {
    std::string kind;  // "Bucket.s3.aws.upbound.io"
    std::string reason;
  };
  struct Waiting {
    std::string kind;
    std::uint64_t objects = 0;
    Timestamp since{};
  };
  std::uint64_t nominated = 0;  // objects missing from lists, to be looked at
  std::uint64_t held_back = 0;  // of them those that the brake holds
  std::vector<Frozen> frozen;
  std::vector<Waiting> waiting;
};

// Port: what the detectors found. Thread-safe; answers within ten seconds, names in half a minute.
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

// Port: recovery mode and the brake. Thread-safe; answers within ten seconds.
class WatchControls {
 public:
  virtual ~WatchControls() = default;
  virtual Result<RecoveryView> Recovery() const = 0;
  virtual Result<RecoveryView> StartRecovery(const OperatorWord& word) = 0;
  // Reviews at this server follow it on return.
  // Errors: kConflict: not in recovery mode, or no full resync is done yet and not `force`.
  virtual Result<RecoveryView> EndRecovery(bool force, const OperatorWord& word) = 0;
  virtual Result<BrakeView> Brake() = 0;
  // Of nothing: of all kinds. Returns how many objects are released. Errors: kNotFound: no such
  // kind is followed.
  virtual Result<std::uint64_t> ReleaseBrake(const std::optional<GroupKind>& kind,
                                             const OperatorWord& word) = 0;
};

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

}  // namespace truce

#endif  // TRUCE_WEBHOOK_API_CLUSTER_ROUTES_H_
