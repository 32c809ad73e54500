#include "registry/base/text.h"

#include <algorithm>

namespace truce {

std::string LowerOf(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = Lower(c);
  return lower;
}

std::string InQuotes(std::string_view text) {
  std::string quoted;
  quoted.reserve(text.size() + 2);
  return quoted.append("\"").append(text).append("\"");
}

std::string KindForPeople(std::string_view kind, std::string_view group) {
  std::string out(kind);
  if (!group.empty()) out.append(".").append(group);
  return out;
}

std::string HexOf(std::span<const std::uint8_t> bytes) {
  std::string digits;
  digits.reserve(2 * bytes.size());
  for (const std::uint8_t byte : bytes) AppendHex(byte, digits);
  return digits;
}

std::string HexOf(std::uint64_t number) {
  std::string digits(2 * sizeof(number), '0');
  for (auto at = digits.rbegin(); number != 0; ++at, number >>= 4U) *at = kHexDigits[number & 15U];
  return digits;
}

std::string UpperHexOf(std::uint32_t number, std::size_t digits_min) {
  std::string digits;
  for (; number != 0 || digits.size() < digits_min; number >>= 4U) {
    digits.insert(digits.begin(), kUpperHexDigits[number & 15U]);
  }
  return digits;
}

bool HoldsIgnoringCase(std::string_view text, std::string_view part) {
  return std::search(text.begin(), text.end(), part.begin(), part.end(),
                     [](char x, char y) { return Lower(x) == Lower(y); }) != text.end() ||
         part.empty();
}

bool MatchesGlob(std::string_view text, std::string_view pattern) {
  // On a mismatch the last star takes one character more.
  std::size_t t = 0;
  std::size_t p = 0;
  std::size_t star = std::string_view::npos;
  std::size_t taken = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      taken = t;
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++taken;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

bool IsUtf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = FirstCharacter(text).length;
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::size_t CharacterCount(std::string_view text) {
  // Continuation bytes begin no character.
  const auto begins = [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; };
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), begins));
}

std::string UriEncoded(std::string_view text) {
  static constexpr ByteSet kUnreserved = AlnumAnd("-._~");
  std::string encoded;
  encoded.reserve(text.size());
  AppendPercentEncoded<kUnreserved>(text, encoded);
  return encoded;
}

}  // namespace truce
