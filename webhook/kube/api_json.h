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

// A `Status` (meta/v1): the form of errors.
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
  // An APIGroupDiscoveryList (apidiscovery.k8s.io/v2): each kind in the version that its group
  // prefers. Groups with a stale version are failed ones.
  Result<Discovery> Kinds(std::string_view text);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

inline constexpr std::size_t kJsonPadding = 64;

}  // namespace truce

#endif  // TRUCE_WEBHOOK_KUBE_API_JSON_H_
