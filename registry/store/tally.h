// Tally: how many ownerships there are in each place, kept up to date as owners change.
#ifndef TRUCE_REGISTRY_STORE_TALLY_H_
#define TRUCE_REGISTRY_STORE_TALLY_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "registry/ownership/places.h"

namespace truce {

// What changed in places since a tally was taken. Small: of one batch. External synchronization.
class PlaceChanges {
 public:
  void Add(Place place, std::int64_t count);
  void clear() { changes_.clear(); }

  bool empty() const { return changes_.empty(); }
  // Each place once; some counts may be 0.
  const std::vector<std::pair<Place, std::int64_t>>& all() const { return changes_; }

 private:
  std::vector<std::pair<Place, std::int64_t>> changes_;
};

// Counts in time that grows with the regions and accounts of one namespace, or the regions of one
// account, never with the ownerships. About 100 bytes for each place that holds one. External
// synchronization.
class Tally {
 public:
  // A count never falls below 0: that is a programmer's error.
  void Add(const Place& place, std::int64_t count);
  void Add(const PlaceChanges& changes);

  std::uint64_t Count(const OwnedRange& range) const;
  // At most `limit` places of `type` that hold an ownership, ordered by namespace, account, region.
  std::vector<PlaceCount> PlacesOf(std::string_view type, std::size_t limit) const;

 private:
  using Spot = std::pair<std::string, std::string>;  // account, region
  using Spots = std::map<Spot, std::uint64_t>;
  struct OfType {
    std::map<ClusterNamespace, Spots> namespaces;
    Spots all;                                     // of all namespaces
    std::map<std::string, std::uint64_t> regions;  // of all accounts
  };

  std::map<std::string, OfType, std::less<>> types_;
};

}  // namespace truce

#endif  // TRUCE_REGISTRY_STORE_TALLY_H_
