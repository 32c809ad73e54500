#include "webhook/api/auth/static_tokens.h"

#include <algorithm>

#include "registry/base/text.h"

namespace truce {
namespace {

// The next word of `line`, which is left behind it.
std::string_view TakeWord(std::string_view& line) {
  const std::size_t begin = std::min(line.find_first_not_of(" \t"), line.size());
  const std::size_t end = std::min(line.find_first_of(" \t", begin), line.size());
  const std::string_view word = line.substr(begin, end - begin);
  line.remove_prefix(end);
  return word;
}

Result<StaticToken> ParseLine(std::string_view line) {
  const auto bad = [](std::string message) {
    return Error{ErrorCode::kInvalidArgument, std::move(message)};
  };
  StaticToken token;
  const auto digest = DigestFromHex(TakeWord(line));
  if (!digest) return bad("the line does not begin with the 64 hex digits of a SHA-256");
  token.digest = *digest;
  const std::string_view role = TakeWord(line);
  const auto known = ApiRoleFromName(role);
  if (!known) {
    return bad("'" + std::string(role) + "' is not a role; use one of viewer, auditor, admin");
  }
  token.role = *known;
  token.name = TakeWord(line);
  if (token.name.empty()) return bad("the name is missing behind the role");
  if (!TakeWord(line).empty()) return bad("the name must be one word");
  if (!IsAllVisible(token.name)) return bad("the name must be printable ASCII");
  return token;
}

}  // namespace

Result<StaticTokens> StaticTokens::Parse(std::string_view text, const std::string& file) {
  StaticTokens out;
  std::size_t number = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    ++number;
    if (line.ends_with('\r')) line.remove_suffix(1);
    std::string_view rest = line;
    const std::string_view first = TakeWord(rest);
    if (first.empty() || first.starts_with('#')) continue;
    Result<StaticToken> token = ParseLine(line);
    const std::string place = file + ":" + std::to_string(number);
    if (!token.ok()) return std::move(token).error().Within(place);
    if (out.tokens_.size() == kStaticTokensMax) {
      return Error{ErrorCode::kInvalidArgument, place + ": more than 1000 tokens"};
    }
    out.tokens_.push_back(std::move(token).value());
  }
  return out;
}

std::optional<StaticToken> StaticTokens::Find(std::string_view token) const {
  const Digest digest = Sha256(token);
  std::optional<StaticToken> found;
  for (const StaticToken& each : tokens_) {
    if (SameDigest(each.digest, digest)) found = each;
  }
  return found;
}

}  // namespace truce
