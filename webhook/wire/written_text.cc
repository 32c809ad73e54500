#include "webhook/wire/written_text.h"

#include <array>
#include <bit>
#include <cstdint>
#include <optional>

#include "registry/base/text.h"
#include "webhook/wire/text_marks.h"

namespace truce {
namespace {

constexpr std::uint64_t kLast = std::uint64_t{1} << 63U;

// The bytes behind backslashes that are not behind one themselves. `first`: so does the first.
std::uint64_t EscapedBytes(std::uint64_t backslashes, bool first) {
  std::uint64_t escaped = first ? 1 : 0;
  std::uint64_t begins = backslashes & ~escaped;
  if ((begins & begins << 1U) == 0) return escaped | begins << 1U;
  while (begins != 0) {
    const std::uint64_t behind = (begins & -begins) << 1U;
    escaped |= behind;
    begins &= (begins - 1) & ~behind;
  }
  return escaped;
}

// The number of bytes before the first that is neither printable ASCII nor a part of an escaped
// quotation mark or backslash.
std::size_t UsualRun(const char* text) {
  bool first = false;
  for (std::size_t run = 0;; run += kMarked) {
    const Marks marks = MarksOf(text + run);
    const std::uint64_t escaped = EscapedBytes(marks.backslashes, first);
    // Of another escape its backslash.
    const std::uint64_t other = escaped & ~(marks.quotes | marks.backslashes);
    if ((other & 1U) != 0) return run - 1;
    const std::uint64_t stops = (marks.quotes & ~escaped) | marks.odd | other >> 1U;
    if (stops != 0) return run + static_cast<std::size_t>(std::countr_zero(stops));
    first = (marks.backslashes & ~escaped & kLast) != 0;
  }
}

// The character that an escape of one character means; nothing: it is none.
std::optional<char> Escaped(char mark) {
  switch (mark) {
    case '"':
    case '\\':
    case '/': return mark;
    case 'b': return '\b';
    case 'f': return '\f';
    case 'n': return '\n';
    case 'r': return '\r';
    case 't': return '\t';
    default: return std::nullopt;
  }
}

// The code unit of \u and four hexadecimal digits at the begin of `text`.
std::optional<std::uint32_t> CodeUnit(std::string_view text) {
  constexpr std::size_t kSize = 6;
  if (text.size() < kSize || !text.starts_with("\\u")) return std::nullopt;
  std::uint32_t unit = 0;
  for (const char c : text.substr(2, kSize - 2)) {
    const bool is_digit = c >= '0' && c <= '9';
    const char lower = static_cast<char>(c | ' ');
    if (!is_digit && (lower < 'a' || lower > 'f')) return std::nullopt;
    unit = unit << 4U | static_cast<std::uint32_t>(is_digit ? c - '0' : lower - 'a' + 10);
  }
  return unit;
}

struct Escape {
  std::size_t size = 0;  // 0: there is none
  std::uint32_t code = 0;
};

// The one at the begin of `text`.
Escape FirstEscape(std::string_view text) {
  constexpr std::size_t kUnitBytes = 6;
  constexpr std::uint32_t kHigh = 0xD800;
  constexpr std::uint32_t kLow = 0xDC00;
  constexpr std::uint32_t kSurrogates = 0x400;  // of each half
  if (text.size() < 2) return {};
  if (const auto c = Escaped(text[1])) return {2, static_cast<unsigned char>(*c)};
  const auto unit = CodeUnit(text);
  if (!unit) return {};
  if (*unit < kHigh || *unit >= kLow + kSurrogates) return {kUnitBytes, *unit};
  const auto low = CodeUnit(text.substr(kUnitBytes));
  if (*unit >= kLow || !low || *low < kLow || *low >= kLow + kSurrogates) return {};
  return {2 * kUnitBytes, 0x10000 + ((*unit - kHigh) << 10U | (*low - kLow))};
}

void AppendUtf8(std::uint32_t code, std::string& out) {
  const auto add = [&out](std::uint32_t byte) { out += static_cast<char>(byte); };
  const auto follow = [&](std::uint32_t shift) { add(0x80U | (code >> shift & 0x3FU)); };
  if (code < 0x80) return add(code);
  if (code < 0x800) {
    add(0xC0U | code >> 6U);
    return follow(0);
  }
  if (code < 0x10000) {
    add(0xE0U | code >> 12U);
  } else {
    add(0xF0U | code >> 18U);
    follow(12);
  }
  follow(6);
  follow(0);
}

}  // namespace

std::size_t WrittenSize(std::string_view text) {
  for (std::size_t at = 0;;) {
    at += UsualRun(text.data() + at);
    if (at >= text.size()) return kNoText;
    if (text[at] == '"') return at;
    const std::string_view rest = text.substr(at);
    if (text[at] == '\\') {
      const Escape escape = FirstEscape(rest);
      if (escape.size == 0) return kNoText;
      at += escape.size;
      continue;
    }
    const Utf8Character character = FirstCharacter(rest);
    if (character.length == 0 || character.code < ' ') return kNoText;
    at += character.length;
  }
}

void ReadWritten(std::string_view written, std::string& said) {
  said.clear();
  said.reserve(written.size());
  while (!written.empty()) {
    const std::string_view plain = written.substr(0, written.find('\\'));
    said += plain;
    written.remove_prefix(plain.size());
    if (written.empty()) return;
    const Escape escape = FirstEscape(written);
    AppendUtf8(escape.code, said);
    written.remove_prefix(escape.size);
  }
}

}  // namespace truce
