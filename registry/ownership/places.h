// Places: where an ownership counts. Quotas count by them.
#ifndef TRUCE_REGISTRY_OWNERSHIP_PLACES_H_
#define TRUCE_REGISTRY_OWNERSHIP_PLACES_H_

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace truce {

struct Owner;

// A namespace of a cluster.
using ClusterNamespace = std::pair<std::string, std::string>;

// Every ownership counts in one place, whatever its state: reserved, held, orphaned and imported
// ones alike. An observer owns nothing, nor does a second manager.
struct Place {
  std::string type;     // "s3/Bucket"
  std::string account;  // 12 digits; empty: not known, or the type has none
  std::string region;   // empty: none or not known
  ClusterNamespace ns;  // of the root; the namespace is empty for a cluster-scoped root

  auto operator<=>(const Place&) const = default;
};

// Where `owner` counts: a function of the owner alone, so that a keeper of counts needs to see
// nothing but owners change.
Place PlaceOf(const Owner& owner);
// The same from the texts of a root and of an identity (ToText); nothing when they are none.
std::optional<Place> PlaceFromTexts(std::string_view root, std::string_view identity);

// Places that are counted together: all of a type in which everything that is set agrees.
struct OwnedRange {
  std::string type;
  std::string account;                       // empty: in any, and where it is not known
  std::string region;                        // empty: in any
  std::vector<ClusterNamespace> namespaces;  // in one of them, sorted; none: in any

  auto operator<=>(const OwnedRange&) const = default;
};

struct PlaceCount {
  Place place;
  std::uint64_t count = 0;

  bool operator==(const PlaceCount&) const = default;
};

}  // namespace truce

#endif  // TRUCE_REGISTRY_OWNERSHIP_PLACES_H_
