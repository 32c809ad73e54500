#include "registry/identity/values.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "registry/base/hex.h"
#include "registry/base/percent.h"
#include "registry/base/text.h"
#include "registry/identity/encoding.h"

namespace truce {
namespace {

constexpr std::size_t kSlotParts = 5;
constexpr std::size_t kIdentityFields = 4;  // before the parts

constexpr ByteSet kPlain = AlnumAnd("._~/:@-");

// One text has one encoding: digits in lower case are none.
int CanonicalHexValue(char c) { return IsLower(c) ? -1 : HexValue(c); }

// The text before the next `separator`; `rest` moves behind it and becomes empty at the end.
std::string_view TakeUntil(std::string_view& rest, char separator) {
  const std::size_t at = rest.find(separator);
  const std::string_view field = rest.substr(0, at);
  rest = at == std::string_view::npos ? std::string_view() : rest.substr(at + 1);
  return field;
}

std::optional<std::string> DecodeAccount(std::string_view field) {
  if (!field.starts_with('?')) return PercentDecode(field);
  std::optional<std::string> stand_in = PercentDecode(field.substr(1));
  if (stand_in.has_value()) stand_in->insert(stand_in->begin(), '?');
  return stand_in;
}

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

std::optional<Slot> SlotFromText(std::string_view text) {
  std::array<std::string_view, kSlotParts> parts;
  for (std::size_t i = 0; i < kSlotParts; ++i) {
    const std::size_t at = text.find('/');
    const bool last = i + 1 == kSlotParts;
    if ((at == std::string_view::npos) != last) return std::nullopt;
    parts[i] = text.substr(0, at);
    if (!last) text.remove_prefix(at + 1);
  }
  return Slot{std::string(parts[0]), std::string(parts[1]), std::string(parts[2]),
              std::string(parts[3]), std::string(parts[4])};
}

std::string ForPeople(const Slot& slot) {
  std::string text = slot.kind;
  if (!slot.group.empty()) text.append(1, '.').append(slot.group);
  text.append(1, ' ');
  if (!slot.ns.empty()) text.append(slot.ns).append(1, '/');
  return text.append(slot.name);
}

std::string_view Name(Intent intent) {
  switch (intent) {
    case Intent::kObserves: return "observes";
    case Intent::kManages: return "manages";
    case Intent::kDeletes: return "deletes";
  }
  return "deletes";
}

std::optional<Intent> IntentFromName(std::string_view name) {
  for (const Intent intent : {Intent::kObserves, Intent::kManages, Intent::kDeletes}) {
    if (name == Name(intent)) return intent;
  }
  return std::nullopt;
}

std::string ToText(const ResourceIdentity& identity) {
  std::string text;
  text.reserve(128);
  AppendEncoded(text, identity.type);
  text.push_back('|');
  AppendEncoded(text, identity.partition);
  text.push_back('|');
  AppendAccount(text, identity.account);
  text.push_back('|');
  AppendEncoded(text, identity.region);
  for (const auto& [part, value] : identity.parts) AppendPart(text, part, value);
  return text;
}

std::optional<ResourceIdentity> IdentityFromText(std::string_view text) {
  // One identity has one text: no separator stands at the end but that of an empty region.
  const auto separators = static_cast<std::size_t>(std::count(text.begin(), text.end(), '|'));
  if (text.ends_with('|') && separators >= kIdentityFields) {
    return std::nullopt;
  }
  std::array<std::string_view, kIdentityFields> fields;
  std::string_view rest = text;
  for (std::size_t i = 0; i < kIdentityFields; ++i) {
    if (i + 1 < kIdentityFields && rest.find('|') == std::string_view::npos) return std::nullopt;
    fields[i] = TakeUntil(rest, '|');
  }
  std::optional<std::string> type = PercentDecode(fields[0]);
  std::optional<std::string> partition = PercentDecode(fields[1]);
  std::optional<std::string> account = DecodeAccount(fields[2]);
  std::optional<std::string> region = PercentDecode(fields[3]);
  if (!type || !partition || !account || !region) return std::nullopt;
  ResourceIdentity identity{
      std::move(*type), std::move(*partition), std::move(*account), std::move(*region), {}};
  while (!rest.empty()) {
    std::string_view value = TakeUntil(rest, '|');
    if (value.find('=') == std::string_view::npos) return std::nullopt;
    std::optional<std::string> part = PercentDecode(TakeUntil(value, '='));
    std::optional<std::string> decoded = PercentDecode(value);
    if (!part || !decoded) return std::nullopt;
    identity.parts.emplace_back(std::move(*part), std::move(*decoded));
  }
  return identity;
}

std::string PercentEncode(std::string_view text) {
  std::string encoded;
  encoded.reserve(text.size() + 16);
  AppendEncoded(encoded, text);
  return encoded;
}

std::optional<std::string> PercentDecode(std::string_view text) {
  constexpr std::size_t kEscapeBytes = 3;
  std::string decoded(TakeBytes(kPlain, text));
  while (!text.empty()) {
    if (text.front() != '%' || text.size() < kEscapeBytes) return std::nullopt;
    const int high = CanonicalHexValue(text[1]);
    const int low = CanonicalHexValue(text[2]);
    if (high < 0 || low < 0) return std::nullopt;
    const auto value = static_cast<unsigned char>(high * 16 + low);
    if (kPlain[value]) return std::nullopt;
    decoded.push_back(static_cast<char>(value));
    text.remove_prefix(kEscapeBytes);
    decoded.append(TakeBytes(kPlain, text));
  }
  return decoded;
}

}  // namespace truce
