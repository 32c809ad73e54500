#include "webhook/admission/access.h"

#include <algorithm>
#include <chrono>

#include "certs/file.h"
#include "registry/base/text.h"

namespace truce {
namespace {

// Takes the same time whether and wherever they differ; only the length of `given` can be told.
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

std::string_view Trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const auto begin = text.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
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
  const std::string_view token = Trimmed(content);
  const bool printable =
      std::all_of(token.begin(), token.end(), [](char c) { return c > ' ' && c <= '~'; });
  if (token.size() < kTokenBytesMin || token.size() > kTokenBytesMax || !printable) {
    return Error{ErrorCode::kInvalidArgument,
                 "\"" + file + "\" does not hold one token of 16 to 4096 printable characters"};
  }
  return std::string(token);
}

Result<std::string> ReadOrMakeSecret(const std::string& file) {
  Result<std::string> content = ReadSmallFile(file);
  if (!content.ok() && content.error().code != ErrorCode::kNotFound) return content;
  if (!content.ok()) {
    TRUCE_ASSIGN_OR_RETURN(const std::string secret, NewPathSecret());
    constexpr mode_t kOwnerOnly = 0600;
    TRUCE_RETURN_IF_ERROR(ReplaceFile(file, secret + "\n", kOwnerOnly));
    return secret;
  }
  const std::string_view secret = Trimmed(content.value());
  if (!IsPathSecret(secret)) {
    return Error{ErrorCode::kInvalidArgument,
                 "\"" + file + "\" does not hold 32 hex digits; remove it to have a new one made"};
  }
  return std::string(secret);
}

}  // namespace truce
