#include "registry/store/tally.h"

#include <algorithm>

#include "registry/base/assert.h"

namespace truce {
namespace {

// Adds to the count of `key`; a count of 0 is not kept.
template <typename Key>
void AddTo(std::map<Key, std::uint64_t>& counts, const Key& key, std::int64_t count) {
  const auto found = counts.try_emplace(key, 0).first;
  TRUCE_ASSERT(count >= 0 || found->second >= static_cast<std::uint64_t>(-count));
  found->second += static_cast<std::uint64_t>(count);
  if (found->second == 0) counts.erase(found);
}

// The spots of the account, or all of them where it is empty, that lie in the region.
template <typename Spots>
std::uint64_t CountIn(const Spots& spots, const OwnedRange& range) {
  std::uint64_t count = 0;
  auto spot =
      range.account.empty() ? spots.begin() : spots.lower_bound({range.account, range.region});
  for (; spot != spots.end(); ++spot) {
    const auto& [account, region] = spot->first;
    if (!range.account.empty() && account != range.account) break;
    if (range.region.empty() || region == range.region) count += spot->second;
  }
  return count;
}

}  // namespace

void PlaceChanges::Add(Place place, std::int64_t count) {
  const auto found = std::find_if(changes_.begin(), changes_.end(),
                                  [&](const auto& each) { return each.first == place; });
  if (found == changes_.end()) {
    changes_.emplace_back(std::move(place), count);
  } else {
    found->second += count;
  }
}

void Tally::Add(const Place& place, std::int64_t count) {
  if (count == 0) return;
  OfType& type = types_[place.type];
  const Spot spot(place.account, place.region);
  AddTo(type.all, spot, count);
  AddTo(type.regions, place.region, count);
  const auto space = type.namespaces.try_emplace(place.ns).first;
  AddTo(space->second, spot, count);
  if (space->second.empty()) type.namespaces.erase(space);
  if (type.all.empty()) types_.erase(place.type);
}

void Tally::Add(const PlaceChanges& changes) {
  for (const auto& [place, count] : changes.all()) Add(place, count);
}

std::uint64_t Tally::Count(const OwnedRange& range) const {
  const auto type = types_.find(range.type);
  if (type == types_.end()) return 0;
  std::uint64_t count = 0;
  if (!range.namespaces.empty()) {
    for (const ClusterNamespace& ns : range.namespaces) {
      const auto found = type->second.namespaces.find(ns);
      if (found != type->second.namespaces.end()) count += CountIn(found->second, range);
    }
  } else if (!range.account.empty()) {
    count = CountIn(type->second.all, range);
  } else {
    for (const auto& [region, held] : type->second.regions) {
      if (range.region.empty() || region == range.region) count += held;
    }
  }
  return count;
}

std::vector<PlaceCount> Tally::PlacesOf(std::string_view type, std::size_t limit) const {
  std::vector<PlaceCount> places;
  const auto found = types_.find(type);
  if (found == types_.end()) return places;
  for (const auto& [ns, spots] : found->second.namespaces) {
    for (const auto& [spot, count] : spots) {
      if (places.size() >= limit) return places;
      places.push_back(
          {{.type = std::string(type), .account = spot.first, .region = spot.second, .ns = ns},
           count});
    }
  }
  return places;
}

}  // namespace truce
