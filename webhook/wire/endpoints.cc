#include "webhook/wire/endpoints.h"

#include <sys/random.h>

#include <span>

#include "registry/base/name_table.h"
#include "registry/base/text.h"
#include "webhook/wire/digest.h"

namespace truce {
namespace {

constexpr NameTable<Endpoint::kCompositions> kEndpointPaths("/validate", "/validate-deletion",
                                                            "/validate-status", "/validate-check",
                                                            "/validate-policy",
                                                            "/validate-composition");

constexpr NameTable<Endpoint::kCompositions> kEndpointNames("declarations", "deletions", "status",
                                                            "checks", "policies", "compositions");

constexpr std::size_t kSecretDigits = 32;
using SecretBytes = std::array<std::uint8_t, kSecretDigits / 2>;

}  // namespace

const std::string_view kUpdateCondition =
    "request.operation != 'UPDATE'"
    " || has(object.spec) != has(oldObject.spec)"
    " || (has(object.spec) && object.spec != oldObject.spec)"
    " || (has(object.metadata.annotations) ? object.metadata.annotations : {})"
    " != (has(oldObject.metadata.annotations) ? oldObject.metadata.annotations : {})"
    " || (has(object.metadata.labels) ? object.metadata.labels : {})"
    " != (has(oldObject.metadata.labels) ? oldObject.metadata.labels : {})"
    " || (has(object.metadata.ownerReferences) ? object.metadata.ownerReferences : [])"
    " != (has(oldObject.metadata.ownerReferences) ? oldObject.metadata.ownerReferences : [])";

const std::string_view kFinalizersCondition =
    "has(object.metadata.deletionTimestamp)"
    " && (has(object.metadata.finalizers) ? object.metadata.finalizers : [])"
    " != (has(oldObject.metadata.finalizers) ? oldObject.metadata.finalizers : [])";

std::string OtherUpdatesCondition() { return "!(" + std::string(kUpdateCondition) + ")"; }

std::string_view Name(Endpoint endpoint) { return kEndpointNames.Of(endpoint); }

std::string_view PathOf(Endpoint endpoint) { return kEndpointPaths.Of(endpoint); }

EndpointTexts SecretsOf(std::string_view root) {
  EndpointTexts out;
  for (const Endpoint endpoint : kEndpoints) {
    const std::string text = std::string(root) + "/" + std::string(Name(endpoint));
    const Digest digest = Sha256(text);
    out[static_cast<std::size_t>(endpoint)] = HexOf(std::span(digest).first<kSecretDigits / 2>());
  }
  return out;
}

EndpointTexts PathsOf(std::string_view root) {
  EndpointTexts out = root.empty() ? EndpointTexts() : SecretsOf(root);
  for (const Endpoint endpoint : kEndpoints) {
    std::string& text = out[static_cast<std::size_t>(endpoint)];
    text = std::string(PathOf(endpoint)) + (root.empty() ? "" : "/") + text;
  }
  return out;
}

bool IsPathSecret(std::string_view text) {
  return text.size() == kSecretDigits &&
         text.find_first_not_of(kHexDigits) == std::string_view::npos;
}

Result<std::string> NewPathSecret() {
  SecretBytes bytes{};
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    return Error{ErrorCode::kUnavailable, "the system gives no random numbers"};
  }
  return HexOf(bytes);
}

}  // namespace truce
