#include "webhook/kube/cluster_api.h"

#include "registry/base/name_table.h"
#include "registry/base/text.h"

namespace truce {
namespace {

constexpr NameTable<ApiErrorKind::kMalformed> kApiErrorKinds(
    "unauthorized", "forbidden", "no_such_type", "no_such_object", "conflict", "already_exists",
    "expired", "invalid", "throttled", "server", "unreachable", "timeout", "malformed");

void AppendSegment(std::string& path, std::string_view segment) {
  path += '/';
  path += EncodeSegment(segment);
}

}  // namespace

std::string_view Name(ApiErrorKind kind) { return kApiErrorKinds.Of(kind); }

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
