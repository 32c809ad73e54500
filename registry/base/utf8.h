// UTF-8 (RFC 3629): no overlong form, no surrogate, nothing above U+10FFFF.
#ifndef TRUCE_REGISTRY_BASE_UTF8_H_
#define TRUCE_REGISTRY_BASE_UTF8_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace truce {

struct Utf8Character {
  std::size_t length = 0;  // 1 to 4 bytes; 0: the bytes are no character
  std::uint32_t code = 0;
};

// The character at the begin of `text`; none when `text` is empty.
constexpr Utf8Character FirstCharacter(std::string_view text) {
  if (text.empty()) return {};
  const auto at = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const std::uint32_t lead = at(0);
  if (lead < 0x80) return {1, lead};
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < length) return {};
  std::uint32_t code = lead & (0x7FU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((at(i) & 0xC0U) != 0x80U) return {};
    code = code << 6U | (at(i) & 0x3FU);
  }
  constexpr std::array<std::uint32_t, 5> kSmallest = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  if (code < kSmallest[length] || code > 0x10FFFF || surrogate) return {};
  return {length, code};
}

// Whether all of `text` is UTF-8.
bool IsUtf8(std::string_view text);

// How many characters stand in `text`, which is UTF-8: the room that they take in a table.
std::size_t CharacterCount(std::string_view text);

}  // namespace truce

#endif  // TRUCE_REGISTRY_BASE_UTF8_H_
