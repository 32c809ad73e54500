#include "registry/identity/characters.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "registry/base/hex.h"
#include "registry/base/utf8.h"

namespace truce {
namespace {

constexpr std::uint32_t kInvalid = 0xFFFFFFFF;
constexpr std::string_view kCut = "...";

struct Range {
  std::uint32_t first;
  std::uint32_t last;
  std::string_view name;
};

// Characters that a reader cannot see or that change how others are seen: Unicode's
// Default_Ignorable, Bidi_Control and White_Space properties (less the space itself), controls and
// noncharacters.
constexpr std::array kUnseen = {
    Range{0x0009, 0x0009, "tab"},
    Range{0x000A, 0x000A, "line feed"},
    Range{0x000D, 0x000D, "carriage return"},
    Range{0x0000, 0x001F, "control character"},
    Range{0x007F, 0x009F, "control character"},
    Range{0x00A0, 0x00A0, "no-break space"},
    Range{0x00AD, 0x00AD, "soft hyphen"},
    Range{0x034F, 0x034F, "combining grapheme joiner"},
    Range{0x061C, 0x061C, "arabic letter mark"},
    Range{0x115F, 0x1160, "invisible letter"},
    Range{0x1680, 0x1680, "blank"},
    Range{0x17B4, 0x17B5, "invisible letter"},
    Range{0x180B, 0x180F, "invisible mark"},
    Range{0x2000, 0x200A, "blank"},
    Range{0x200B, 0x200B, "zero width space"},
    Range{0x200C, 0x200C, "zero width non-joiner"},
    Range{0x200D, 0x200D, "zero width joiner"},
    Range{0x200E, 0x200F, "direction mark"},
    Range{0x2028, 0x2029, "line separator"},
    Range{0x202A, 0x202E, "direction override"},
    Range{0x202F, 0x202F, "narrow no-break space"},
    Range{0x205F, 0x205F, "blank"},
    Range{0x2060, 0x2060, "word joiner"},
    Range{0x2061, 0x2065, "invisible operator"},
    Range{0x2066, 0x2069, "direction isolate"},
    Range{0x206A, 0x206F, "invisible mark"},
    Range{0x2800, 0x2800, "blank"},
    Range{0x3000, 0x3000, "blank"},
    Range{0x3164, 0x3164, "invisible letter"},
    Range{0xFDD0, 0xFDEF, "noncharacter"},
    Range{0xFE00, 0xFE0F, "variation selector"},
    Range{0xFEFF, 0xFEFF, "byte order mark"},
    Range{0xFFA0, 0xFFA0, "invisible letter"},
    Range{0xFFF0, 0xFFFB, "invisible mark"},
    Range{0x1BCA0, 0x1BCA3, "invisible mark"},
    Range{0x1D173, 0x1D17A, "invisible mark"},
    Range{0xE0000, 0xE0FFF, "tag or variation selector"},
};

std::string_view UnseenName(std::uint32_t code_point) {
  if ((code_point & 0xFFFEU) == 0xFFFEU) return "noncharacter";
  for (const Range& range : kUnseen) {
    if (code_point >= range.first && code_point <= range.last) return range.name;
  }
  return {};
}

// The code point at the front of `text`, which it takes; kInvalid and one byte when it is not
// UTF-8.
std::uint32_t TakeCodePoint(std::string_view& text) {
  const Utf8Character first = FirstCharacter(text);
  text.remove_prefix(std::max<std::size_t>(first.length, 1));
  return first.length == 0 ? kInvalid : first.code;
}

std::string Contains(std::uint32_t code_point, std::string_view what) {
  return std::string("contains U+")
      .append(UpperHexOf(code_point, 4))
      .append(" (")
      .append(what)
      .append(")");
}

bool PlainAscii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c < 0x7F; });
}

}  // namespace

std::optional<std::string> WhyBad(std::string_view text, Alphabet alphabet) {
  if (text.size() > kPartBytesMax) {
    return "is longer than " + std::to_string(kPartBytesMax) + " bytes";
  }
  if (PlainAscii(text)) return std::nullopt;
  while (!text.empty()) {
    const std::uint32_t code_point = TakeCodePoint(text);
    if (code_point == kInvalid) return "is not valid UTF-8";
    if (const std::string_view name = UnseenName(code_point); !name.empty()) {
      return Contains(code_point, name);
    }
    if (alphabet == Alphabet::kAscii && code_point >= 0x80) {
      return Contains(code_point, "not ASCII, which AWS requires here");
    }
  }
  return std::nullopt;
}

std::string Printable(std::string_view text) {
  std::string shown;
  while (!text.empty()) {
    std::string_view before = text;
    const std::uint32_t code_point = TakeCodePoint(text);
    std::string piece;
    if (code_point == kInvalid) {
      piece = "\\x{" + UpperHexOf(static_cast<std::uint8_t>(before.front()), 2) + "}";
    } else if (code_point >= 0x20 && code_point < 0x7F) {
      piece = static_cast<char>(code_point);
    } else {
      piece = "\\u{" + UpperHexOf(code_point, 4) + "}";
    }
    if (shown.size() + piece.size() > kShownBytesMax - kCut.size()) return shown.append(kCut);
    shown += piece;
  }
  return shown;
}

bool Presentable(std::string_view text) {
  return !text.empty() && text.size() <= kShownBytesMax &&
         (PlainAscii(text) || !WhyBad(text, Alphabet::kUnicode).has_value());
}

bool MatchesAsciiOnly(std::string_view regex) {
  if (regex.empty()) return false;
  bool in_class = false;
  for (std::size_t i = 0; i < regex.size(); ++i) {
    const char c = regex[i];
    if (static_cast<unsigned char>(c) >= 0x80) return false;
    if (c == '\\') {
      ++i;
      // \p \P \x name Unicode; \D \S \W \B \C and \N are "anything but".
      if (i < regex.size() &&
          std::string_view("pPxDSWCN").find(regex[i]) != std::string_view::npos) {
        return false;
      }
    } else if (in_class) {
      if (c == ']') in_class = false;
    } else if (c == '[') {
      in_class = true;
      if (regex.substr(i + 1).starts_with('^')) return false;
    } else if (c == '.') {
      return false;
    }
  }
  return true;
}

}  // namespace truce
