// Requests of Truce to a Kubernetes API server: a port, kept by the real client (client/) and by
// the deterministic server of the tests.
#ifndef TRUCE_WEBHOOK_KUBE_CLUSTER_API_H_
#define TRUCE_WEBHOOK_KUBE_CLUSTER_API_H_

#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "registry/base/clock.h"
#include "registry/base/result.h"

namespace truce {

// Kinds of unwanted answers, by their consequence for the caller. 404 is two things: a type that is
// not served says nothing about objects.
enum class ApiErrorKind : std::uint8_t {
  kUnauthorized,   // 401, after the credentials were read again once
  kForbidden,      // 403
  kNoSuchType,     // 404 that names no object: the type is not served (CRD removed, not yet there)
  kNoSuchObject,   // 404 whose details name the object asked for
  kConflict,       // 409 on a write: read again
  kAlreadyExists,  // 409 on a create
  kExpired,        // 410, in the status or inside a 200 stream: list again
  kInvalid,        // any other 4xx, a redirect: asking again does not help
  kThrottled,      // 429
  kServer,         // 5xx
  kUnreachable,    // no connection, TLS failed, cut off
  kTimeout,        // no whole answer by the deadline
  kMalformed,      // an answer that is not what the API promises: HTML, cut JSON, too large
};
std::string_view Name(ApiErrorKind kind);  // "unauthorized", "no_such_type", …

struct [[nodiscard]] ApiError {
  ApiErrorKind kind = ApiErrorKind::kServer;
  int status = 0;       // HTTP status; 0: none was received
  std::string message;  // one line, without secrets: the server's own words where it gave any
  std::optional<std::chrono::milliseconds> retry_after;  // Retry-After, at most five minutes

  bool operator==(const ApiError&) const = default;
};

template <typename T>
using ApiResult = Result<T, ApiError>;

// One served kind, as discovery names it.
struct ServedKind {
  std::string group;    // "" = core
  std::string version;  // "v1beta2": the one we read
  std::string kind;     // "Bucket"
  std::string plural;   // "buckets"
  bool namespaced = false;

  auto operator<=>(const ServedKind&) const = default;
};

// ValidatingWebhookConfiguration of admissionregistration.k8s.io/v1.
const ServedKind& WebhookConfigurationKind();

// Request path of a kind, of one namespace's objects, of one object: no query. Names are
// percent-encoded.
std::string PathOf(const ServedKind& kind, std::string_view ns = {}, std::string_view name = {});

// `text` in the form of a path segment or a query value.
std::string EncodeSegment(std::string_view text);

struct DiscoveredKind {
  ServedKind kind;
  std::vector<std::string> verbs;  // "list", "watch", …

  bool operator==(const DiscoveredKind&) const = default;
};

struct Discovery {
  std::vector<DiscoveredKind> kinds;  // each in the version that its group prefers; sorted
  // Groups that discovery could not read (an aggregated API server that is down): their kinds are
  // unknown, not gone.
  std::vector<std::string> failed_groups;
};

// One page of a list.
struct ListPage {
  std::string resource_version;
  std::string next;                  // continue token; empty: the list is complete
  std::vector<std::string> objects;  // each one whole JSON object
};

// The objects of a kind that are listed or watched.
struct Selection {
  ServedKind kind;
  std::string ns;              // empty: all namespaces
  std::string field_selector;  // "reason=UpdatedExternalResource"; empty: all
  bool metadata_only = false;  // objects come as PartialObjectMetadata (CRDs are large)

  bool operator==(const Selection&) const = default;
};

struct ListQuery {
  Selection selection;
  std::size_t limit = 500;  // 0: none; only for what is small by its selector
  std::string next;         // token of the page before
  bool quorum = true;       // false: resourceVersion=0, from the server's watch cache
};

// One event of a watch stream.
struct WatchEvent {
  enum class Type : std::uint8_t { kAdded, kModified, kDeleted, kBookmark };
  Type type = Type::kAdded;
  std::string resource_version;  // metadata.resourceVersion of the object
  std::string object;            // whole JSON; empty for a bookmark
};

// Blocking calls. Thread-safe; each call blocks at most until its deadline. Retries nothing but the
// one repetition after 401; back-off is the caller's.
class ClusterApi {
 public:
  virtual ~ClusterApi() = default;

  // All served kinds, by aggregated discovery (apidiscovery.k8s.io/v2). kMalformed: the server is
  // older than Kubernetes 1.30.
  virtual ApiResult<Discovery> Discover(Deadline deadline) = 0;
  // A consistent (quorum) read of one object's JSON.
  virtual ApiResult<std::string> Get(const ServedKind& kind, std::string_view ns,
                                     std::string_view name, Deadline deadline) = 0;
  // One page. kExpired: the continue token is too old, begin again.
  virtual ApiResult<ListPage> List(const ListQuery& query, Deadline deadline) = 0;
  // Creates `object` (JSON); the created object comes back.
  virtual ApiResult<std::string> Create(const ServedKind& kind, std::string_view ns,
                                        std::string_view object, Deadline deadline) = 0;
  // JSON merge patch; `subresource` is "" or "status".
  struct PatchTarget {
    ServedKind kind;
    std::string ns;
    std::string name;
    std::string subresource;
  };
  virtual ApiResult<std::string> Patch(const PatchTarget& target, std::string_view patch,
                                       Deadline deadline) = 0;
  virtual ApiResult<std::string> Delete(const ServedKind& kind, std::string_view ns,
                                        std::string_view name, Deadline deadline) = 0;
};

// A running watch, as its starter named it; never used twice in one process.
using WatchId = std::uint64_t;

// Receives what streams bring. Called on the one thread that drives all streams; must not block for
// long. Per watch: any number of Events, then exactly one Ended, unless it was stopped.
class WatchHandler {
 public:
  virtual ~WatchHandler() = default;
  // In order of the stream. `false`: no more room now; nothing was taken, the stream is not read
  // until Resume() and the events are offered again.
  virtual bool Events(WatchId id, std::vector<WatchEvent>& events) = 0;
  // The stream ended: kExpired (list again); kTimeout (silent for longer than agreed: half-open);
  // anything else: watch again from the last version seen, after a back-off. No error: the server
  // closed it in order, as it does every few minutes.
  virtual void Ended(WatchId id, std::optional<ApiError> error) = 0;
};

struct WatchQuery {
  WatchId id = 0;
  Selection selection;
  std::string resource_version;       // events after it
  std::chrono::seconds timeout{300};  // timeoutSeconds asked of the server; jitter is the caller's
};

// Many watch streams, driven by one thread. Thread-safe; no call blocks on the network.
class WatchStreams {
 public:
  virtual ~WatchStreams() = default;
  virtual void Start(WatchQuery query) = 0;
  // No call of the handler for `id` begins after Stop returned. Waits for one that has begun,
  // unless it is called from within the handler: hold no lock that the handler takes.
  virtual void Stop(WatchId id) = 0;
  // The handler has room again.
  virtual void Resume() = 0;
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_KUBE_CLUSTER_API_H_
