#include "webhook/admission/routes.h"

#include <algorithm>
#include <charconv>
#include <chrono>

#include "registry/base/file.h"
#include "registry/base/text.h"

namespace truce {
namespace {

constexpr std::chrono::milliseconds kReplyMargin{100};  // for the way back through TLS and queues
constexpr std::chrono::seconds kTimeoutDefault{10};     // of the API server
constexpr std::string_view kFileBlanks = " \t\r\n";     // around what a file holds
constexpr std::chrono::seconds kTimeoutMax{30};         // an API server allows no more
// Bodies up to this size share their thread's reader; larger ones get one of their own, so that no
// thread keeps the buffers of the largest body it ever saw.
constexpr std::size_t kSharedReaderBytesMax = 64 * 1024;

// Takes the same time whether and wherever they differ; only the length of `given` shows.
bool SameSecret(std::string_view given, std::string_view secret) {
  unsigned difference = given.size() == secret.size() ? 0 : 1;
  for (std::size_t i = 0; i < given.size(); ++i) {
    const auto a = static_cast<unsigned char>(given[i]);
    const auto b = static_cast<unsigned char>(secret.empty() ? '\0' : secret[i % secret.size()]);
    difference |= static_cast<unsigned>(a ^ b);
  }
  return difference == 0 && !secret.empty();
}

bool HasBearer(const HttpRequest& request, std::string_view token) {
  constexpr std::string_view kScheme = "bearer ";
  const std::string_view field = request.Header("authorization");
  if (field.size() < kScheme.size()) return false;
  const bool scheme = EqualsIgnoringCase(field.substr(0, kScheme.size()), kScheme);
  return scheme && SameSecret(field.substr(kScheme.size()), token);
}

// The secret of `endpoint`, or the one before it while that is good.
bool FitsPath(const AdmissionAccess& access, Endpoint endpoint, std::string_view given) {
  if (access.secrets && SameSecret(given, Of(*access.secrets, endpoint))) {
    if (access.former != nullptr) access.former->End();
    return true;
  }
  return access.former != nullptr && access.former->AreGood(std::chrono::steady_clock::now()) &&
         SameSecret(given, Of(access.former->secrets(), endpoint));
}

// The seconds of `timeout=5s`; nothing when it is not of that form.
std::optional<std::chrono::seconds> TimeoutOf(const HttpRequest& request) {
  std::string_view text = request.Query("timeout").value_or(std::string_view());
  if (!text.ends_with('s')) return std::nullopt;
  text.remove_suffix(1);
  int seconds = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (code != std::errc() || end != text.data() + text.size() || seconds < 1) return std::nullopt;
  return std::min(std::chrono::seconds(seconds), kTimeoutMax);
}

// Answers itself a caller that may not ask.
std::optional<HttpResponse> Refusal(const AdmissionAccess& access, HttpRequest& request,
                                    Endpoint endpoint, std::string_view path_secret) {
  switch (CheckAccess(access, request, endpoint, path_secret)) {
    case AccessVerdict::kGranted: request.caller_proven = true; return std::nullopt;
    case AccessVerdict::kUnauthorized: {
      HttpResponse response = PlainText(401, "a bearer token is needed");
      response.headers.emplace_back("WWW-Authenticate", "Bearer");
      return response;
    }
    case AccessVerdict::kForbidden: break;
  }
  return PlainText(403, "forbidden");
}

RefusedCallers::Cause CauseOf(const AdmissionAccess& access, const HttpRequest& request,
                              const HttpResponse& refusal) {
  if (refusal.status == 401) return RefusedCallers::kBearer;
  const bool lacks_certificate = access.client_certificate && !request.client_name;
  return lacks_certificate ? RefusedCallers::kCertificate : RefusedCallers::kPath;
}

Result<std::string> SecretIn(std::string_view content, const std::string& file,
                             std::string_view advice) {
  const std::string_view secret = Trimmed(content, kFileBlanks);
  if (IsPathSecret(secret)) return std::string(secret);
  return Error{ErrorCode::kInvalidArgument,
               "\"" + file + "\" does not hold 32 hex digits; " + std::string(advice)};
}

HttpResponse ResponseOf(const AdmissionAnswer& answer) {
  switch (answer.verdict) {
    case Verdict::kAllowed:
    case Verdict::kDenied: return {.content_type = "application/json", .body = WriteReview(answer)};
    case Verdict::kBadRequest: return PlainText(400, answer.message);
    case Verdict::kUnknown: break;
  }
  HttpResponse response = PlainText(503, answer.message);
  response.headers.emplace_back("Retry-After", "1");
  return response;
}

}  // namespace

void FormerSecrets::EndSoon(Deadline now) {
  Deadline never = Deadline::max();
  until_.compare_exchange_strong(never, now + kFormerSecretsLive, std::memory_order_relaxed);
}

AccessVerdict CheckAccess(const AdmissionAccess& access, const HttpRequest& request,
                          Endpoint endpoint, std::string_view path_secret) {
  const bool plain_serves =
      access.loopback || access.client_certificate || access.bearer.has_value();
  const bool path_fits =
      path_secret.empty() ? plain_serves : FitsPath(access, endpoint, path_secret);
  if (!path_fits) return AccessVerdict::kForbidden;
  if (access.client_certificate && !request.client_name) return AccessVerdict::kForbidden;
  if (access.bearer && !HasBearer(request, *access.bearer)) return AccessVerdict::kUnauthorized;
  return AccessVerdict::kGranted;
}

Result<std::string> ReadToken(const std::string& file) {
  constexpr std::size_t kTokenBytesMin = 16;
  constexpr std::size_t kTokenBytesMax = 4096;
  TRUCE_ASSIGN_OR_RETURN(const std::string content, ReadSmallFile(file));
  const std::string_view token = Trimmed(content, kFileBlanks);
  if (token.size() < kTokenBytesMin || token.size() > kTokenBytesMax || !IsAllVisible(token)) {
    return Error{ErrorCode::kInvalidArgument,
                 "\"" + file + "\" does not hold one token of 16 to 4096 printable characters"};
  }
  return std::string(token);
}

Result<std::string> ReadSecret(const std::string& file) {
  Result<std::string> content = ReadSmallFile(file);
  if (!content.ok() && content.error().code == ErrorCode::kNotFound) {
    return Error{ErrorCode::kNotFound,
                 "\"" + file + "\" does not exist; write what `openssl rand -hex 16` prints to it"};
  }
  if (!content.ok()) return content;
  return SecretIn(content.value(), file, "write what `openssl rand -hex 16` prints to it");
}

Result<std::string> ReadOrMakeSecret(const std::string& file) {
  Result<std::string> content = ReadSmallFile(file);
  if (!content.ok() && content.error().code != ErrorCode::kNotFound) return content;
  if (content.ok()) return SecretIn(content.value(), file, "remove it to have a new one made");
  TRUCE_ASSIGN_OR_RETURN(const std::string secret, NewPathSecret());
  constexpr mode_t kOwnerOnly = 0600;
  TRUCE_RETURN_IF_ERROR(ReplaceFile(file, secret + "\n", kOwnerOnly));
  return secret;
}

Deadline BudgetOf(const HttpRequest& request) {
  const std::chrono::milliseconds timeout = TimeoutOf(request).value_or(kTimeoutDefault);
  const std::chrono::milliseconds rounding =
      std::min<std::chrono::milliseconds>(std::chrono::seconds(1), timeout / 2);
  const Deadline begin =
      request.arrival == Deadline{} ? std::chrono::steady_clock::now() : request.arrival;
  const Deadline budget = begin + timeout - rounding - kReplyMargin;
  return request.deadline == Deadline{} ? budget : std::min(budget, request.deadline);
}

std::optional<HttpResponse> AnswerReview(AdmissionService& service, Endpoint endpoint,
                                         HttpRequest& request, const HttpDefer& defer) {
  const Deadline begun = std::chrono::steady_clock::now();
  const AnswerLater later = [&defer](Deadline deadline, Answering at_deadline, AnswerWait wait) {
    const HttpResume resume = defer(
        deadline, [answer = std::move(at_deadline)] { return ResponseOf(answer()); },
        wait == AnswerWait::kNothing ? WhenHungUp::kForget : WhenHungUp::kAnswer);
    return [resume](Answering answer) {
      resume([answer = std::move(answer)] { return ResponseOf(answer()); });
    };
  };
  const auto answer_with = [&](ReviewReader& reader) -> std::optional<HttpResponse> {
    const Result<AdmissionRequest> review = reader.Read(request.body);
    const auto answer = service.Answer({endpoint, review, begun, BudgetOf(request)}, later);
    if (!answer) return std::nullopt;
    return ResponseOf(*answer);
  };
  static thread_local ReviewReader shared;
  if (request.body.size() <= kSharedReaderBytesMax) return answer_with(shared);
  ReviewReader own;
  return answer_with(own);
}

std::vector<HttpRoute> AdmissionRoutes(AdmissionService& service,
                                       const InForce<AdmissionAccess>& access,
                                       RefusedCallers* refused) {
  std::vector<HttpRoute> routes;
  for (const Endpoint endpoint : kEndpoints) {
    HttpRoute route;
    route.method = "POST";
    route.media_type = "application/json";
    route.path = PathOf(endpoint);
    route.handler = [&service, &access, refused, endpoint,
                     path_size = route.path.size()](HttpRequest& request) {
      std::string_view secret = std::string_view(request.path).substr(path_size);
      if (secret.starts_with('/')) secret.remove_prefix(1);
      const auto allowed = access.Current();
      auto refusal = Refusal(*allowed, request, endpoint, secret);
      if (refusal && refused != nullptr) ++refused->counts[CauseOf(*allowed, request, *refusal)];
      return refusal ? std::move(refusal) : AnswerReview(service, endpoint, request, request.defer);
    };
    routes.push_back(route);
    route.path += "/";
    route.match = RouteMatch::kPrefix;
    routes.push_back(std::move(route));
  }
  return routes;
}

}  // namespace truce
