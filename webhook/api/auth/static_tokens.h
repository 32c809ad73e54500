// Tokens from a file, kept as their digests.
#ifndef TRUCE_WEBHOOK_API_AUTH_STATIC_TOKENS_H_
#define TRUCE_WEBHOOK_API_AUTH_STATIC_TOKENS_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "registry/base/result.h"
#include "webhook/api/auth/caller.h"
#include "webhook/wire/digest.h"

namespace truce {

inline constexpr std::size_t kStaticTokensMax = 1000;

// The name and role behind a token.
struct StaticToken {
  Digest digest{};  // SHA-256 of the token
  ApiRole role = ApiRole::kNone;
  std::string name;
};

// A value: immutable once read, shared as snapshots.
class StaticTokens final {
 public:
  // Reads `text`: a token a line, "<SHA-256 of the token, 64 hex digits> <role> <name>"; empty
  // lines and lines beginning with '#' count for nothing. A name may have several lines, so
  // that an old and a new token are both valid while one replaces the other.
  // Errors: kInvalidArgument ("FILE:LINE: what is wrong"), never with the digest.
  static Result<StaticTokens> Parse(std::string_view text, const std::string& file);

  // The one that `token` is. Compares with all of them, whichever fits.
  std::optional<StaticToken> Find(std::string_view token) const;

  std::size_t size() const { return tokens_.size(); }

 private:
  std::vector<StaticToken> tokens_;
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_API_AUTH_STATIC_TOKENS_H_
