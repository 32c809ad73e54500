#include "webhook/kube/api_errors.h"

#include <algorithm>
#include <optional>

#include "registry/base/one_line.h"
#include "registry/base/text.h"

namespace truce {
namespace {

constexpr int kRetryAfterSecondsMax = 300;

// A 404 proves that an object is missing only when it names that object of that kind; of anything
// else nothing follows. (A write into a missing namespace names the namespace.)
ApiErrorKind KindOf404(const std::optional<ApiStatus>& status, const AskedFor& asked) {
  if (!status || status->details.name.empty()) return ApiErrorKind::kNoSuchType;
  const ApiStatus::Details& details = status->details;
  const bool is_same =
      details.name == asked.name && details.group == asked.group && details.kind == asked.plural;
  const bool is_namespace = asked.is_write && details.kind == "namespaces";
  return is_same || is_namespace ? ApiErrorKind::kNoSuchObject : ApiErrorKind::kNoSuchType;
}

ApiErrorKind KindOf(int code, const std::optional<ApiStatus>& status, const AskedFor& asked) {
  switch (code) {
    case 401: return ApiErrorKind::kUnauthorized;
    case 403: return ApiErrorKind::kForbidden;
    case 404: return KindOf404(status, asked);
    case 409:
      return status && status->reason == "AlreadyExists" ? ApiErrorKind::kAlreadyExists
                                                         : ApiErrorKind::kConflict;
    case 410: return ApiErrorKind::kExpired;
    case 429: return ApiErrorKind::kThrottled;
    default: break;
  }
  if (status && status->details.version_too_large) return ApiErrorKind::kExpired;
  return code >= 500 ? ApiErrorKind::kServer : ApiErrorKind::kInvalid;
}

}  // namespace

ApiError ErrorOfReply(const ResponseHead& head, std::string_view body, const AskedFor& asked) {
  ApiJsonReader json;
  std::optional<ApiStatus> status;
  if (head.content_type == "application/json") status = json.Status(body);
  ApiError error;
  error.status = head.status;
  error.kind = KindOf(head.status, status, asked);
  error.retry_after = head.retry_after;
  if (!error.retry_after && status && status->details.retry_after_seconds > 0) {
    error.retry_after =
        std::chrono::seconds(std::min(status->details.retry_after_seconds, kRetryAfterSecondsMax));
  }
  if (head.status >= 300 && head.status < 400) {
    error.message = "the server redirects to '" + Folded(head.location, kMessageBytesMax) +
                    "'; redirects are not followed";
  } else if (status && !status->message.empty()) {
    error.message = Folded(status->message, kMessageBytesMax);
  } else if (head.content_type == "text/plain" && !body.empty()) {
    error.message = Folded(body.substr(0, body.find('\n')), kMessageBytesMax);
  } else {
    error.message = "status " + std::to_string(head.status) + " with '" +
                    Folded(head.content_type, kMessageBytesMax) + "' instead of a Status";
  }
  return error;
}

ApiError ErrorOfStatus(const ApiStatus& status) {
  ApiError error;
  error.status = status.code;
  error.kind = KindOf(status.code, status, {});
  // An ERROR event without a code, or with one that is no error, comes from a server's fault.
  if (status.code < 400) error.kind = ApiErrorKind::kServer;
  if (status.reason == "Expired" || status.reason == "Gone") error.kind = ApiErrorKind::kExpired;
  if (status.details.retry_after_seconds > 0) {
    error.retry_after =
        std::chrono::seconds(std::min(status.details.retry_after_seconds, kRetryAfterSecondsMax));
  }
  error.message = Folded(status.message, kMessageBytesMax);
  return error;
}

}  // namespace truce
