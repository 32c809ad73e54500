// Digests and comparisons that tell nothing by their timing.
#ifndef TRUCE_WEBHOOK_WIRE_DIGEST_H_
#define TRUCE_WEBHOOK_WIRE_DIGEST_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace truce {

using Digest = std::array<std::uint8_t, 32>;

// SHA-256 of `text`.
Digest Sha256(std::string_view text);
// The ETag (RFC 9110, section 8.8.3) of the text `text`.
std::string EntityTagOf(std::string_view text);
// HMAC-SHA-256 of `text` under `key`.
Digest HmacSha256(std::string_view key, std::string_view text);
// Takes the same time wherever they differ.
bool SameDigest(const Digest& a, const Digest& b);

// The bytes of 64 hex digits in either case; the inverse is HexOf.
std::optional<Digest> DigestFromHex(std::string_view hex);

// `count` random bytes from the system.
std::string RandomBytes(std::size_t count);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_WIRE_DIGEST_H_
