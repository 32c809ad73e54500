#include "registry/identity/values.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "registry/base/name_table.h"
#include "registry/base/text.h"

namespace truce {
namespace {

constexpr std::ptrdiff_t kSlotParts = 5;
constexpr std::ptrdiff_t kPlaceSeparators = 3;  // before the parts

constexpr ByteSet kPlain = AlnumAnd("._~/:@-");

// One text has one encoding: digits in lower case are none.
int CanonicalHexValue(char c) { return IsLower(c) ? -1 : HexValue(c); }

// Appends what `text` encodes to `out`. Every owner that is looked up is read so, hence no text
// that is made only to be moved.
bool Decode(std::string_view text, std::string& out) {
  constexpr std::size_t kEscapeBytes = 3;
  out.append(TakeBytes(kPlain, text));
  while (!text.empty()) {
    if (text.front() != '%' || text.size() < kEscapeBytes) return false;
    const int high = CanonicalHexValue(text[1]);
    const int low = CanonicalHexValue(text[2]);
    if (high < 0 || low < 0) return false;
    const auto value = static_cast<unsigned char>(high * 16 + low);
    // Else one slot or name had two texts, and two rows.
    if (kPlain[value]) return false;
    out.push_back(static_cast<char>(value));
    text.remove_prefix(kEscapeBytes);
    out.append(TakeBytes(kPlain, text));
  }
  return true;
}

bool DecodeAccount(std::string_view field, std::string& out) {
  if (field.starts_with('?')) {
    out.push_back('?');
    field.remove_prefix(1);
  }
  return Decode(field, out);
}

constexpr NameTable<Intent::kDeletes> kIntents("observes", "manages", "deletes");

}  // namespace

void AppendEncoded(std::string& out, std::string_view text) {
  AppendPercentEncoded<kPlain>(text, out);
}

void AppendAccount(std::string& out, std::string_view account) {
  if (account.starts_with('?')) {
    out.push_back('?');
    account.remove_prefix(1);
  }
  AppendEncoded(out, account);
}

std::string PlaceText(std::string_view type, std::string_view partition, std::string_view account,
                      std::string_view region) {
  std::string text;
  text.reserve(128);
  AppendEncoded(text, type);
  text.push_back('|');
  AppendEncoded(text, partition);
  text.push_back('|');
  AppendAccount(text, account);
  text.push_back('|');
  AppendEncoded(text, region);
  return text;
}

void AppendPart(std::string& out, std::string_view part, std::string_view value) {
  out.push_back('|');
  AppendEncoded(out, part);
  out.push_back('=');
  AppendEncoded(out, value);
}

std::string ToText(const Slot& slot) {
  std::string text;
  text.reserve(slot.cluster.size() + slot.group.size() + slot.kind.size() + slot.ns.size() +
               slot.name.size() + kSlotParts);
  text.append(slot.cluster).append(1, '/').append(slot.group).append(1, '/').append(slot.kind);
  text.append(1, '/').append(slot.ns).append(1, '/').append(slot.name);
  return text;
}

bool ReadSlot(std::string_view text, Slot& slot) {
  if (std::count(text.begin(), text.end(), '/') != kSlotParts - 1) return false;
  for (std::string* part : {&slot.cluster, &slot.group, &slot.kind, &slot.ns, &slot.name}) {
    *part = TakeUntil(text, '/');
  }
  return true;
}

std::optional<Slot> SlotFromText(std::string_view text) {
  std::optional<Slot> slot(std::in_place);
  if (!ReadSlot(text, *slot)) slot.reset();
  return slot;
}

std::string ForPeople(const Slot& slot) {
  std::string text = slot.kind;
  if (!slot.group.empty()) text.append(1, '.').append(slot.group);
  text.append(1, ' ');
  if (!slot.ns.empty()) text.append(slot.ns).append(1, '/');
  return text.append(slot.name);
}

std::string_view Name(Intent intent) { return kIntents.Of(intent); }

std::optional<Intent> IntentFromName(std::string_view name) { return kIntents.Find(name); }

std::string ToText(const ResourceIdentity& identity) {
  std::string text =
      PlaceText(identity.type, identity.partition, identity.account, identity.region);
  for (const auto& [part, value] : identity.parts) AppendPart(text, part, value);
  return text;
}

bool ReadIdentity(std::string_view text, ResourceIdentity& identity) {
  const std::ptrdiff_t separators = std::count(text.begin(), text.end(), '|');
  // One identity has one text: no separator stands at the end but that of an empty region.
  if (separators < kPlaceSeparators) return false;
  if (separators > kPlaceSeparators && text.ends_with('|')) return false;
  std::string_view rest = text;
  const bool is_good = Decode(TakeUntil(rest, '|'), identity.type) &&
                       Decode(TakeUntil(rest, '|'), identity.partition) &&
                       DecodeAccount(TakeUntil(rest, '|'), identity.account) &&
                       Decode(TakeUntil(rest, '|'), identity.region);
  if (!is_good) return false;
  while (!rest.empty()) {
    std::string_view value = TakeUntil(rest, '|');
    if (value.find('=') == std::string_view::npos) return false;
    auto& [part, decoded] = identity.parts.emplace_back();
    if (!Decode(TakeUntil(value, '='), part) || !Decode(value, decoded)) return false;
  }
  return true;
}

std::string PercentEncode(std::string_view text) {
  std::string encoded;
  encoded.reserve(text.size() + 16);
  AppendEncoded(encoded, text);
  return encoded;
}

std::optional<std::string> PercentDecode(std::string_view text) {
  std::optional<std::string> decoded(std::in_place);
  if (!Decode(text, *decoded)) decoded.reset();
  return decoded;
}

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

std::optional<std::string> WhyBad(std::string_view text, KeyAlphabet alphabet) {
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
    if (alphabet == KeyAlphabet::kAscii && code_point >= 0x80) {
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
    if (shown.size() + piece.size() > kLabelBytesMax - kCut.size()) return shown.append(kCut);
    shown += piece;
  }
  return shown;
}

bool Presentable(std::string_view text) {
  return !text.empty() && text.size() <= kLabelBytesMax &&
         (PlainAscii(text) || !WhyBad(text, KeyAlphabet::kUnicode).has_value());
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
