#include "webhook/api/rest/cursor.h"

#include <charconv>
#include <cstdint>
#include <optional>
#include <set>

#include "webhook/wire/base64.h"
#include "webhook/wire/digest.h"

namespace truce {
namespace {

constexpr std::size_t kSealBytes = 32;
constexpr std::size_t kCursorBytesMax = 8192;

std::string WithLengths(const std::vector<std::string>& texts) {
  std::string out;
  for (const std::string& text : texts) {
    // With lengths no text can pass for the begin of the next, whatever it holds.
    out.append(std::to_string(text.size())).append(":").append(text);
  }
  return out;
}

std::vector<std::string> Parted(std::string_view text) {
  std::vector<std::string> out;
  while (!text.empty()) {
    std::size_t size = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), size);
    const auto head = static_cast<std::size_t>(end - text.data()) + 1;
    if (code != std::errc() || head > text.size() || size > text.size() - head) break;
    out.emplace_back(text.substr(head, size));
    text.remove_prefix(head + size);
  }
  return out;
}

// The question that a cursor goes on with.
std::string QuestionOf(const RestCall& call) {
  std::set<std::string> parameters;
  for (const auto& [name, value] : call.request.query) {
    const bool is_how = name == "cursor" || name == "limit" || name == "output" || name == "format";
    if (!is_how) parameters.insert(WithLengths({name, value}));
  }
  return call.request.path + WithLengths({parameters.begin(), parameters.end()});
}

Error Refused() {
  return {ErrorCode::kInvalidArgument,
          "the cursor is not one of this list, or too old; begin again without it"};
}

}  // namespace

CursorKey::CursorKey() : key_(RandomBytes(kSealBytes)) {}

std::string CursorSeal::Seal(const RestCall& call, const std::vector<std::string>& place) const {
  const std::string joined = WithLengths(place);
  const Digest seal = HmacSha256(key_.Get(), WithLengths({QuestionOf(call), joined}));
  return EncodeBase64Url(std::string(seal.begin(), seal.end()) + joined);
}

Result<std::optional<std::vector<std::string>>> CursorSeal::Open(const RestCall& call,
                                                                 std::size_t texts) const {
  const auto cursor = call.request.Query("cursor");
  if (!cursor) return std::optional<std::vector<std::string>>();
  if (cursor->size() > kCursorBytesMax) return Refused();
  const auto bytes = DecodeBase64Url(std::string(*cursor));
  if (!bytes || bytes->size() < kSealBytes) return Refused();
  const std::string joined = bytes->substr(kSealBytes);
  Digest given{};
  for (std::size_t i = 0; i < kSealBytes; ++i) given[i] = static_cast<std::uint8_t>((*bytes)[i]);
  const Digest seal = HmacSha256(key_.Get(), WithLengths({QuestionOf(call), joined}));
  std::vector<std::string> place = Parted(joined);
  if (!SameDigest(seal, given) || place.size() != texts) return Refused();
  return std::optional(std::move(place));
}

}  // namespace truce
