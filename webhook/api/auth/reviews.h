// Ports to who knows users: is this token good, may this user do that. Fakes in tests, the API
// server in clusters (cluster_reviews.h), with a memory in between (cached_reviews.h).
#ifndef TRUCE_WEBHOOK_API_AUTH_REVIEWS_H_
#define TRUCE_WEBHOOK_API_AUTH_REVIEWS_H_

#include <optional>
#include <string>
#include <string_view>

#include "registry/base/clock.h"
#include "registry/base/result.h"
#include "webhook/api/auth/caller.h"

namespace truce {

// The audience of callers' tokens.
inline constexpr std::string_view kApiAudience = "truce";
// Truce's own group in Kubernetes' access rules.
inline constexpr std::string_view kApiGroup = "truce.dev";

// Thread-safe.
class TokenReviewer {
 public:
  virtual ~TokenReviewer() = default;
  // The user whose token it is; nothing when the token is not good, or not for kApiAudience.
  // `source`: the address that shows it, as HttpRequest::remote_address.
  // Errors: kUnavailable, kDeadlineExceeded: nobody can tell now; kResourceExhausted: too many ask.
  // Blocks at most until `deadline`.
  virtual Result<std::optional<KubernetesUser>> FindUser(const std::string& token,
                                                         const std::string& source,
                                                         Deadline deadline) = 0;
};

// Thread-safe.
class AccessReviewer {
 public:
  virtual ~AccessReviewer() = default;
  // Whether `user` may do it. Errors and blocking as TokenReviewer.
  virtual Result<bool> Allowed(const KubernetesUser& user, const Permission& permission,
                               Deadline deadline) = 0;
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_API_AUTH_REVIEWS_H_
