// What a server that follows a cluster tells of it: conflicts, findings, coverage, the baseline,
// recovery mode and the brake. JSON over HTTP; for the operator socket and the API.
//
//   GET  /api/v1/conflicts[?limit=100][&cursor=…]
//          → 200 {"items": [conflict, …], "nextCursor"?}   at most 1000 at once, by key
//   GET  /api/v1/conflicts?output=text|wide → 200 {"count", "text"}       all of them, for people
//   GET  /api/v1/findings[?rule=tag-war]    → 200 {"items": [finding, …]}
//   GET  /api/v1/coverage                   → 200 {"kinds", "protectedKinds", "gaps": [gap, …]}
//   GET  /api/v1/coverage?output=text|wide  → 200 {"count", "text"}       wide: every gap
//   GET  /api/v1/baseline                   → 200 {"cluster", "complete", "at", "seconds", "kinds",
//          "objects", "ownerships": {"held", "reserved", "orphaned", "imported"},
//          "conflicts": [conflict, …], "problems": [{"kind", "problem"}, …]}
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
//              [{"root": object, "service", "contact", "incumbent", "since", "objects": [{"object",
//              "uid", "intent", "seen", "terminating", "managed", "since"}]}], "effect", "steps":
//              [text, …], "war": {"since", "last", "writes", "writesPerMinute"} or null}
//   finding:  {"rule", "mode", "subject", "key", "resource", "cause", "evidence", "remedy",
//              "objects": [object, …], "since", "firstSeen", "lastSeen"}
//   gap:      {"reason", "subject", "objects", "why", "remedy"}
//   recovery: {"active", "reason", "since", "resynced"}
//
// Errors are problems (problem.h): 400 malformed, 404 no cluster is followed, 409 as above, 503.
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
#include "webhook/findings/conflicts.h"
#include "webhook/findings/coverage.h"
#include "webhook/findings/findings_book.h"
#include "webhook/findings/name_census.h"
#include "webhook/findings/report_baseline.h"
#include "webhook/findings/tag_war.h"
#include "webhook/http/http.h"

namespace truce {

struct RecoveryView {
  bool active = false;
  std::string reason;
  Timestamp since{};
  bool resynced = false;  // a full resync is done: it may be finished
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

// What the handlers stand on. All are thread-safe and answer within ten seconds. A function that is
// not set makes its routes answer 404: no cluster is followed.
struct ClusterPorts {
  std::function<Result<ConflictPage>(const KeyText& after, std::size_t limit)> conflicts;
  std::function<std::vector<TagWar>()> wars;
  std::function<std::vector<LiveFinding>()> findings;
  std::function<Result<CoverageReport>()> coverage;
  std::function<Result<BaselineReport>()> baseline;
  // Lists the cluster: answers within half a minute. The baseline holds it too, where it is set.
  std::function<Result<NameReport>()> names;
  std::function<Result<RecoveryView>()> recovery;
  std::function<Result<RecoveryView>(const std::string& reason)> start_recovery;
  // Errors: kConflict: not in recovery mode, or no full resync is done yet and not `force`.
  std::function<Result<RecoveryView>(bool force)> finish_recovery;
  std::function<Result<BrakeView>()> brake;
  // Nothing: all kinds. Errors: kNotFound: no such kind is followed.
  std::function<Result<std::uint64_t>(const std::optional<GroupKind>&, const std::string& reason)>
      release_brake;
};

// Who may call them is the caller's business.
std::vector<HttpRoute> ClusterRoutes(ClusterPorts ports);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_API_CLUSTER_ROUTES_H_
