#include "webhook/wire/endpoints.h"

#include <openssl/evp.h>
#include <sys/random.h>

#include <span>

#include "registry/base/assert.h"
#include "registry/base/text.h"

namespace truce {
namespace {

constexpr std::size_t kSecretDigits = 32;
using SecretBytes = std::array<std::uint8_t, kSecretDigits / 2>;

}  // namespace

std::string_view Name(Endpoint endpoint) {
  switch (endpoint) {
    case Endpoint::kDeclarations: return "declarations";
    case Endpoint::kDeletions: return "deletions";
    case Endpoint::kStatus: return "status";
    case Endpoint::kChecks: return "checks";
    case Endpoint::kPolicies: return "policies";
    case Endpoint::kCompositions: return "compositions";
  }
  return {};
}

std::string_view PathOf(Endpoint endpoint) {
  switch (endpoint) {
    case Endpoint::kDeclarations: return "/validate";
    case Endpoint::kDeletions: return "/validate-deletion";
    case Endpoint::kStatus: return "/validate-status";
    case Endpoint::kChecks: return "/validate-check";
    case Endpoint::kPolicies: return "/validate-policy";
    case Endpoint::kCompositions: return "/validate-composition";
  }
  return {};
}

EndpointTexts SecretsOf(std::string_view root) {
  EndpointTexts out;
  for (const Endpoint endpoint : kEndpoints) {
    const std::string text = std::string(root) + "/" + std::string(Name(endpoint));
    std::array<std::uint8_t, 32> digest{};
    unsigned int size = 0;
    const int done =
        EVP_Digest(text.data(), text.size(), digest.data(), &size, EVP_sha256(), nullptr);
    TRUCE_ASSERT(done == 1 && size == digest.size());
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
