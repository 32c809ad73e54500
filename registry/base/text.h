// Pure text that belongs to no format: characters of ASCII whatever the locale, case, words as
// messages show them, hexadecimal digits, percent-encoding, UTF-8.
#ifndef TRUCE_REGISTRY_BASE_TEXT_H_
#define TRUCE_REGISTRY_BASE_TEXT_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace truce {

constexpr bool IsUpper(char c) { return c >= 'A' && c <= 'Z'; }
constexpr bool IsLower(char c) { return c >= 'a' && c <= 'z'; }
constexpr bool IsDigit(char c) { return c >= '0' && c <= '9'; }
constexpr bool IsAlnum(char c) { return IsLower(c) || IsUpper(c) || IsDigit(c); }
constexpr bool IsLowerOrDigit(char c) { return IsLower(c) || IsDigit(c); }
// The characters of Kubernetes' names (DNS), which also begin and end with a letter or digit.
constexpr bool IsDnsCharacter(char c) { return IsLowerOrDigit(c) || c == '-' || c == '.'; }
constexpr bool AllDigits(std::string_view text) {
  return std::all_of(text.begin(), text.end(), IsDigit);
}
constexpr char Upper(char c) { return IsLower(c) ? static_cast<char>(c - 'a' + 'A') : c; }
constexpr char Lower(char c) { return IsUpper(c) ? static_cast<char>(c - 'A' + 'a') : c; }

// A control character of ASCII: below the space, or DEL.
constexpr bool IsControl(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }
constexpr bool HasControl(std::string_view text) {
  return std::any_of(text.begin(), text.end(), IsControl);
}
// Characters of ASCII that are seen: neither spaces nor control characters.
constexpr bool IsVisible(char c) { return c > ' ' && c < 0x7f; }
constexpr bool IsAllVisible(std::string_view text) {
  return std::all_of(text.begin(), text.end(), IsVisible);
}

// `text` without what it has of `blanks` at both ends.
constexpr std::string_view Trimmed(std::string_view text, std::string_view blanks = " \t") {
  text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
  return text.substr(0, text.find_last_not_of(blanks) + 1);
}

// The text before the next `end`; `rest` moves behind it, and becomes empty where there is none.
constexpr std::string_view TakeUntil(std::string_view& rest, char end) {
  const std::string_view taken = rest.substr(0, rest.find(end));
  rest.remove_prefix(std::min(taken.size() + 1, rest.size()));
  return taken;
}

// `text` with its letters of ASCII in lower case.
std::string LowerOf(std::string_view text);

// Whether both are the same but for the case of letters of ASCII.
constexpr bool EqualsIgnoringCase(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return Lower(x) == Lower(y); });
}

// "a, b, c": `texts`, with `separator` between each two.
template <typename Texts>
std::string Joined(const Texts& texts, std::string_view separator = ", ") {
  std::string list;
  bool is_first = true;
  for (const std::string_view text : texts) {
    if (!is_first) list.append(separator);
    is_first = false;
    list.append(text);
  }
  return list;
}

// `text` between quotation marks, unchanged: for text that is known to be one printable line.
std::string InQuotes(std::string_view text);

// "Bucket.s3.aws.upbound.io"; the kind alone when the group is the core one, "".
std::string KindForPeople(std::string_view kind, std::string_view group);

// Hexadecimal digits.

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

// Percent-encoding (RFC 3986, section 2.1). The caller says which bytes stay as they are.

using ByteSet = std::array<bool, 256>;

// Letters and digits of ASCII, and `marks`.
constexpr ByteSet AlnumAnd(std::string_view marks) {
  ByteSet set{};
  for (std::size_t c = 0; c < 128; ++c) set[c] = IsAlnum(static_cast<char>(c));
  for (const char c : marks) set[static_cast<unsigned char>(c)] = true;
  return set;
}

// The bytes of `set` at the begin; `rest` moves behind them.
constexpr std::string_view TakeBytes(const ByteSet& set, std::string_view& rest) {
  std::size_t length = 0;
  while (length < rest.size() && set[static_cast<unsigned char>(rest[length])]) ++length;
  const std::string_view taken = rest.substr(0, length);
  rest.remove_prefix(length);
  return taken;
}

// Appends `text`, its bytes outside `kPlain` as "%2F" and its like. Keys of every review are spelt
// so, hence a set that the compiler knows.
template <const ByteSet& kPlain>
void AppendPercentEncoded(std::string_view text, std::string& out) {
  while (true) {
    out.append(TakeBytes(kPlain, text));
    if (text.empty()) return;
    out.push_back('%');
    AppendUpperHex(static_cast<unsigned char>(text.front()), out);
    text.remove_prefix(1);
  }
}

// `text` as a part of any URI: only characters that RFC 3986 calls unreserved stay as they are.
std::string UriEncoded(std::string_view text);

// UTF-8 (RFC 3629): no overlong form, no surrogate, nothing above U+10FFFF.

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

// True when `text` holds `part` somewhere, whatever the case of letters of ASCII.
bool HoldsIgnoringCase(std::string_view text, std::string_view part);

// True when `text` as a whole matches `pattern`, in which '*' is any run of characters. Time grows
// with the product of both lengths at most.
bool MatchesGlob(std::string_view text, std::string_view pattern);

// Whether all of `text` is UTF-8.
bool IsUtf8(std::string_view text);

// How many characters `text` has, which is UTF-8: the room that they take in a table.
std::size_t CharacterCount(std::string_view text);

}  // namespace truce

#endif  // TRUCE_REGISTRY_BASE_TEXT_H_
