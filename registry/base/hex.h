// Hexadecimal digits.
#ifndef TRUCE_REGISTRY_BASE_HEX_H_
#define TRUCE_REGISTRY_BASE_HEX_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "registry/base/text.h"

namespace truce {

inline constexpr std::string_view kHexDigits = "0123456789abcdef";
inline constexpr std::string_view kUpperHexDigits = "0123456789ABCDEF";

// 0 to 15 for a digit in either case; -1 for anything else.
constexpr int HexValue(char c) {
  if (IsDigit(c)) return c - '0';
  const char lower = Lower(c);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}
constexpr bool IsHexDigit(char c) { return HexValue(c) >= 0; }

// Appends the two digits of `byte`.
inline void AppendHex(unsigned char byte, std::string& out) {
  out += kHexDigits[byte >> 4U];
  out += kHexDigits[byte & 15U];
}
inline void AppendUpperHex(unsigned char byte, std::string& out) {
  out += kUpperHexDigits[byte >> 4U];
  out += kUpperHexDigits[byte & 15U];
}

// Two lower-case digits for each of `bytes`.
std::string HexOf(std::span<const std::uint8_t> bytes);
// 16 lower-case digits, the most significant first.
std::string HexOf(std::uint64_t number);
// As many upper-case digits as `number` needs, and no fewer than `digits_min`.
std::string UpperHexOf(std::uint32_t number, std::size_t digits_min);

}  // namespace truce

#endif  // TRUCE_REGISTRY_BASE_HEX_H_
