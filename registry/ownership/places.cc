#include "registry/ownership/places.h"

#include <algorithm>
#include <array>

#include "registry/identity/evidence.h"
#include "registry/identity/values.h"
#include "registry/ownership/rows.h"

namespace truce {
namespace {

// The first `N` fields of `text`; nothing when there are fewer.
template <std::size_t N>
std::optional<std::array<std::string_view, N>> FieldsOf(std::string_view text, char separator) {
  std::array<std::string_view, N> fields;
  for (std::size_t i = 0; i < N; ++i) {
    const std::size_t end = text.find(separator);
    fields[i] = text.substr(0, end);
    if (end == std::string_view::npos) return i + 1 == N ? std::optional(fields) : std::nullopt;
    text.remove_prefix(end + 1);
  }
  return fields;
}

// Few fields are encoded at all.
std::optional<std::string> Decoded(std::string_view field) {
  if (field.find('%') == std::string_view::npos) return std::string(field);
  return PercentDecode(field);
}

}  // namespace

Place PlaceOf(const Owner& owner) {
  const ResourceIdentity& identity = owner.identity;
  return {.type = identity.type,
          .account = IsAccount(identity.account) ? identity.account : std::string(),
          .region = identity.region,
          .ns = {owner.root.cluster, owner.root.ns}};
}

std::optional<Place> PlaceFromTexts(std::string_view root, std::string_view identity) {
  constexpr std::size_t kSlotFields = 5;
  constexpr std::size_t kIdentityFields = 4;
  const auto slot = FieldsOf<kSlotFields>(root, '/');
  const auto fields = FieldsOf<kIdentityFields>(identity, '|');
  if (!slot || !fields) return std::nullopt;
  auto type = Decoded((*fields)[0]);
  auto region = Decoded((*fields)[3]);
  if (!type || !region) return std::nullopt;
  const std::string_view account = (*fields)[2];
  return Place{.type = *std::move(type),
               .account = IsAccount(account) ? std::string(account) : std::string(),
               .region = *std::move(region),
               .ns = {std::string((*slot)[0]), std::string((*slot)[3])}};
}

bool IsIn(const OwnedRange& range, const Place& place) {
  const auto agrees = [](const std::string& wanted, const std::string& is) {
    return wanted.empty() || wanted == is;
  };
  return range.type == place.type && agrees(range.account, place.account) &&
         agrees(range.region, place.region) &&
         (range.namespaces.empty() || std::find(range.namespaces.begin(), range.namespaces.end(),
                                                place.ns) != range.namespaces.end());
}

}  // namespace truce
