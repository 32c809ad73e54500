// The JSON of the Kubernetes API, as far as the client looks into it. Objects pass through as text.
#ifndef TRUCE_WEBHOOK_KUBE_API_JSON_H_
#define TRUCE_WEBHOOK_KUBE_API_JSON_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "registry/base/result.h"
#include "webhook/kube/cluster_api.h"

namespace truce {

// A `Status` (meta/v1), as errors are told.
struct ApiStatus {
  int code = 0;
  std::string reason;   // "NotFound", "AlreadyExists", "Expired", …
  std::string message;  // as it was sent
  struct Details {
    std::string name;
    std::string group;
    std::string kind;  // the plural
    int retry_after_seconds = 0;
    bool version_too_large = false;  // a cause "ResourceVersionTooLarge"
  };
  Details details;
};

// One group of discovery, or one version of it when read group by group.
struct DiscoveredGroup {
  std::string name;
  struct Version {
    std::string name;
    std::vector<DiscoveredKind> kinds;
    bool stale = false;  // an aggregated server that did not answer
  };
  std::vector<Version> versions;  // preferred first
};

// What GET /api or /apis answered.
struct DiscoveryAnswer {
  bool aggregated = false;  // else the versions have no kinds yet
  std::vector<DiscoveredGroup> groups;
};

// One line of a watch.
using WatchLine = std::variant<WatchEvent, ApiStatus>;

// Keeps its buffers. `text` must be followed by kJsonPadding readable bytes (whatever they hold).
// Errors: kInvalidArgument, one line that says what is not as the API promises.
// External synchronization.
class ApiJsonReader final {
 public:
  ApiJsonReader();
  ~ApiJsonReader();
  ApiJsonReader(const ApiJsonReader&) = delete;
  ApiJsonReader& operator=(const ApiJsonReader&) = delete;

  // A list of any kind: its version, continue token and each item as it was sent.
  Result<ListPage> List(std::string_view text);
  // Whether `text` is one JSON object, and a `stored` one with metadata.resourceVersion.
  Result<void> CheckObject(std::string_view text, bool stored);
  Result<WatchLine> Watch(std::string_view text);
  // Nothing when `text` is no Status.
  std::optional<ApiStatus> Status(std::string_view text);
  // APIGroupDiscoveryList, APIGroupList or APIVersions.
  Result<DiscoveryAnswer> Groups(std::string_view text);
  // An APIResourceList of that group and version.
  Result<std::vector<DiscoveredKind>> Resources(std::string_view text, std::string_view group,
                                                std::string_view version);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

inline constexpr std::size_t kJsonPadding = 64;

}  // namespace truce

#endif  // TRUCE_WEBHOOK_KUBE_API_JSON_H_
