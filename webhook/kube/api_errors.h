// Which ApiError an answer is.
#ifndef TRUCE_WEBHOOK_KUBE_API_ERRORS_H_
#define TRUCE_WEBHOOK_KUBE_API_ERRORS_H_

#include <string>
#include <string_view>

#include "webhook/kube/api_json.h"
#include "webhook/kube/cluster_api.h"
#include "webhook/kube/response_reader.h"

namespace truce {

// The object of a request: tells a missing object from a missing type.
struct AskedFor {
  std::string_view group;
  std::string_view plural;
  std::string_view name;  // empty: no single object
  bool is_write = false;
};

// The most of a server's text that a message shows.
inline constexpr std::size_t kMessageBytesMax = 512;

// The error of an answer with a status other than 2xx. `body` must be followed by kJsonPadding
// readable bytes.
ApiError ErrorOfReply(const ResponseHead& head, std::string_view body, const AskedFor& asked);

// The error of an ERROR event in a watch stream. A version that is too old or, after etcd was
// restored, too new is kExpired.
ApiError ErrorOfStatus(const ApiStatus& status);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_KUBE_API_ERRORS_H_
