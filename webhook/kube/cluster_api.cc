#include "webhook/kube/cluster_api.h"

#include "registry/base/text.h"

namespace truce {
namespace {

void AppendSegment(std::string& path, std::string_view segment) {
  path += '/';
  path += EncodeSegment(segment);
}

}  // namespace

std::string_view Name(ApiErrorKind kind) {
  switch (kind) {
    case ApiErrorKind::kUnauthorized: return "unauthorized";
    case ApiErrorKind::kForbidden: return "forbidden";
    case ApiErrorKind::kNoSuchType: return "no_such_type";
    case ApiErrorKind::kNoSuchObject: return "no_such_object";
    case ApiErrorKind::kConflict: return "conflict";
    case ApiErrorKind::kAlreadyExists: return "already_exists";
    case ApiErrorKind::kExpired: return "expired";
    case ApiErrorKind::kInvalid: return "invalid";
    case ApiErrorKind::kThrottled: return "throttled";
    case ApiErrorKind::kServer: return "server";
    case ApiErrorKind::kUnreachable: return "unreachable";
    case ApiErrorKind::kTimeout: return "timeout";
    case ApiErrorKind::kMalformed: return "malformed";
  }
  return "malformed";
}

std::string EncodeSegment(std::string_view text) {
  std::string encoded = UriEncoded(text);
  // Segments that a path would lose: the server must see them as names, and refuse them.
  if (encoded == ".") return "%2E";
  if (encoded == "..") return "%2E%2E";
  return encoded;
}

const ServedKind& WebhookConfigurationKind() {
  static const ServedKind kKind{"admissionregistration.k8s.io", "v1",
                                "ValidatingWebhookConfiguration", "validatingwebhookconfigurations",
                                false};
  return kKind;
}

std::string PathOf(const ServedKind& kind, std::string_view ns, std::string_view name) {
  std::string path = kind.group.empty() ? "/api" : "/apis";
  if (!kind.group.empty()) AppendSegment(path, kind.group);
  AppendSegment(path, kind.version);
  if (kind.namespaced && !ns.empty()) {
    path += "/namespaces";
    AppendSegment(path, ns);
  }
  AppendSegment(path, kind.plural);
  if (!name.empty()) AppendSegment(path, name);
  return path;
}

}  // namespace truce
