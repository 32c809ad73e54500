#include "webhook/api/rest/cursor.h"

#include <charconv>
#include <cstdint>
#include <optional>

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

Error Refused() {
  return {ErrorCode::kInvalidArgument,
          "the cursor is not one of this list, or too old; begin again without it"};
}

}  // namespace

CursorKey::CursorKey() : key_(RandomBytes(kSealBytes)) {}

std::string CursorSeal::Seal(std::string_view question,
                             const std::vector<std::string>& place) const {
  const std::string joined = WithLengths(place);
  const Digest seal = HmacSha256(key_.Get(), WithLengths({std::string(question), joined}));
  return EncodeBase64Url(std::string(seal.begin(), seal.end()) + joined);
}

Result<std::vector<std::string>> CursorSeal::Open(std::string_view question,
                                                  std::string_view cursor) const {
  if (cursor.size() > kCursorBytesMax) return Refused();
  const auto bytes = DecodeBase64Url(std::string(cursor));
  if (!bytes || bytes->size() < kSealBytes) return Refused();
  const std::string joined = bytes->substr(kSealBytes);
  Digest given{};
  for (std::size_t i = 0; i < kSealBytes; ++i) given[i] = static_cast<std::uint8_t>((*bytes)[i]);
  const Digest seal = HmacSha256(key_.Get(), WithLengths({std::string(question), joined}));
  if (!SameDigest(seal, given)) return Refused();
  return Parted(joined);
}

}  // namespace truce
