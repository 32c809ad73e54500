// ApiAccess: names the caller, and answers whether it may.
#ifndef TRUCE_WEBHOOK_API_AUTH_API_ACCESS_H_
#define TRUCE_WEBHOOK_API_AUTH_API_ACCESS_H_

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "registry/base/guarded.h"
#include "registry/base/result.h"
#include "webhook/api/auth/reviews.h"
#include "webhook/api/auth/static_tokens.h"
#include "webhook/api/problem.h"
#include "webhook/http/http.h"

namespace truce {

// The configuration of callers: a value, replaced as a whole.
struct AccessRules {
  StaticTokens tokens;
  std::map<std::string, ApiRole> clients;  // names of client certificates
  bool anonymous_read = false;             // callers who show nothing are viewers
  // Names of the client certificates of proxies that sign people in, and the fields, lower-case,
  // that hold the signed-in user. Without names no proxy is believed.
  std::set<std::string> proxies;
  std::string user_field;
  std::string groups_field;  // groups, joined by commas
};

// Limits for one user named by a proxy.
inline constexpr std::size_t kProxiedNameBytesMax = 256;
inline constexpr std::size_t kProxiedGroupsMax = 200;

// Thread-safe. Fails closed: a caller who cannot be identified now gets 503 and is never let in.
class ApiAccess final {
 public:
  // The reviewers may be null (no cluster): then tokens are static ones only. They must outlive it.
  ApiAccess(TokenReviewer* tokens, AccessReviewer* access) : tokens_(tokens), access_(access) {}

  // From the next request on.
  void SetRules(std::shared_ptr<const AccessRules> rules) { rules_.Replace(std::move(rules)); }

  // The sender of `request`, by the first proof that it shows: the operator socket, a bearer token
  // (static, else Kubernetes'), a client certificate, nothing. A token that is no good never counts
  // as nothing. Where a proxy keeps Authorization to itself, as the API server's service proxy
  // does, X-Truce-Authorization holds the token: it is proved like any, and no other field names
  // the caller. A caller named by a proxy, with a client certificate of AccessRules::proxies, is
  // the user of Kubernetes with that name and those groups, and only reads, because a browser could
  // be led to send changes. Anybody else who sends such a field, and no token, is refused.
  // Problems: kUnauthenticated, kUnavailable, kTooManyRequests. Blocks at most until the request's
  // deadline.
  std::variant<Caller, Problem> Authenticate(const HttpRequest& request);

  // Whether `caller` may do it: by its role, or by the API server's word, to which a
  // right in all namespaces includes each one. Errors: those of AccessReviewer.
  Result<bool> Allows(const Caller& caller, const Permission& permission, Deadline deadline);

  // Whether `caller` speaks for namespace `ns`, so that it may hear what the party of it may: a
  // service account of it, or one who may create `checks` in it. Errors: as Allows.
  Result<bool> SpeaksFor(const Caller& caller, std::string_view ns, Deadline deadline);

 private:
  // Of a proxy, or of who writes as one; nothing: of anybody else.
  static std::optional<std::variant<Caller, Problem>> ByProxy(const HttpRequest& request,
                                                              const AccessRules& rules);
  std::variant<Caller, Problem> ByToken(std::string_view field, const HttpRequest& request,
                                        const AccessRules& rules);

  TokenReviewer* tokens_;
  AccessReviewer* access_;
  InForce<AccessRules> rules_{std::make_shared<const AccessRules>()};
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_API_AUTH_API_ACCESS_H_
