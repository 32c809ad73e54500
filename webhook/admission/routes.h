// The admission listener: access to it by path and credentials, and the form of a review and its
// answer in HTTP.
#ifndef TRUCE_WEBHOOK_ADMISSION_ROUTES_H_
#define TRUCE_WEBHOOK_ADMISSION_ROUTES_H_

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "registry/base/clock.h"
#include "registry/base/guarded.h"
#include "registry/base/result.h"
#include "webhook/admission/service.h"
#include "webhook/http/http.h"
#include "webhook/wire/endpoints.h"

namespace truce {

// The longest that secrets are still accepted after others were registered in their place.
inline constexpr std::chrono::seconds kFormerSecretsLive{60};

// Secrets that others have taken the place of. Thread-safe.
class FormerSecrets final {
 public:
  explicit FormerSecrets(EndpointTexts secrets) : secrets_(std::move(secrets)) {}

  // The others are registered since `now`: these end kFormerSecretsLive later. Idempotent: the
  // first call counts.
  void EndSoon(Deadline now);
  // A review with one of the others came: these end.
  void End() { until_.store(Deadline::min(), std::memory_order_relaxed); }

  bool AreGood(Deadline now) const { return now < until_.load(std::memory_order_relaxed); }
  const EndpointTexts& secrets() const { return secrets_; }

 private:
  const EndpointTexts secrets_;
  std::atomic<Deadline> until_{Deadline::max()};
};

// How callers of the admission listener are known. At least one must hold; the strictest that is
// configured counts: a client certificate and a bearer token are both needed when both are
// configured.
struct AdmissionAccess {
  bool loopback = false;            // the listener's address is a loopback address
  bool client_certificate = false;  // a client CA is configured: a verified, allowed name is needed
  std::optional<std::string> bearer;           // token of the Authorization field
  std::optional<std::string> secret = {};      // the root of the endpoints' secrets: 32 hex digits
  std::optional<EndpointTexts> secrets = {};   // SecretsOf(secret)
  std::shared_ptr<FormerSecrets> former = {};  // before `secrets`; null: none
};

enum class AccessVerdict { kGranted, kForbidden, kUnauthorized };

// `path_secret`: the text behind the path of `endpoint` and a slash; empty for the plain path.
// Secrets are compared in constant time. With client certificate or bearer, or on loopback, the
// plain path serves and the secret's path too; otherwise only the secret's path: everything else is
// kForbidden, alike for a wrong and for a missing secret.
// A secret that fits ends the one before it.
AccessVerdict CheckAccess(const AdmissionAccess& access, const HttpRequest& request,
                          Endpoint endpoint, std::string_view path_secret);

// Reads a token file: its content without surrounding white space, 16 to 4096 printable bytes.
// Errors: kNotFound, kUnavailable (unreadable), kInvalidArgument (too short, too long, odd bytes).
Result<std::string> ReadToken(const std::string& file);

// Reads the installation secret that somebody made. Errors: kNotFound, kInvalidArgument (not 32 hex
// digits), kUnavailable (unreadable); each says how one is made.
Result<std::string> ReadSecret(const std::string& file);

// Reads the installation secret, or makes one at first start (mode 0600, written whole or not at
// all). Errors: kInvalidArgument (not 32 hex digits), kUnavailable (unreadable, not writable).
Result<std::string> ReadOrMakeSecret(const std::string& file);

// By when the answer must have left: the API server sends its remaining time rounded up to whole
// seconds as `?timeout=5s`, so n seconds mean n − 1 (one: a half), less a margin for the way back.
// Without a usable value 10 s are assumed, the API server's default. Never later than
// `request.deadline`, when set.
Deadline BudgetOf(const HttpRequest& request);

// Answers the review that is the body of `request`, which came to `endpoint`: allowed and denied
// are 200 with an AdmissionReview, unknown is 503 with `Retry-After: 1`, a body that is no review
// 400. Nothing: the answer comes by `deferral`, at BudgetOf the request at the latest.
std::optional<HttpResponse> AnswerReview(AdmissionService& service, Endpoint endpoint,
                                         HttpRequest& request, const HttpDefer& defer);

// The routes of the admission listener: POST to each of kEndpoints' paths, and each with
// /<its secret>. Refused callers get 403, or 401 when a bearer token is asked for. `service` and
// `access`, which is never null, must outlive the routes.
// `refused` counts callers who may not; null: nobody does.
std::vector<HttpRoute> AdmissionRoutes(AdmissionService& service,
                                       const InForce<AdmissionAccess>& access,
                                       RefusedCallers* refused = nullptr);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_ADMISSION_ROUTES_H_
