#include "tests/support/recount.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>

#include "registry/ownership/places.h"
#include "registry/ownership/rows.h"
#include "tests/support/store_contents.h"
#include "tests/support/store_samples.h"

namespace truce::testing {
namespace {

using Counts = std::map<Place, std::uint64_t>;

std::string InWords(const Place& place) {
  return place.type + " account '" + place.account + "' region '" + place.region + "' namespace '" +
         place.ns.first + "/" + place.ns.second + "'";
}

// Every way in which a quota may ask for `place`.
std::vector<OwnedRange> RangesOf(const Place& place) {
  std::vector<OwnedRange> ranges;
  constexpr unsigned kAll = 8;
  for (unsigned bits = 0; bits < kAll; ++bits) {
    OwnedRange range{.type = place.type};
    if ((bits & 1U) != 0) range.account = place.account;
    if ((bits & 2U) != 0) range.region = place.region;
    if ((bits & 4U) != 0) range.namespaces = {place.ns};
    ranges.push_back(range);
  }
  return ranges;
}

std::uint64_t CountIn(const Counts& counts, const OwnedRange& range) {
  std::uint64_t count = 0;
  for (const auto& [place, each] : counts) count += IsIn(range, place) ? each : 0;
  return count;
}

}  // namespace

bool IsIn(const OwnedRange& range, const Place& place) {
  const auto agrees = [](const std::string& wanted, const std::string& is) {
    return wanted.empty() || wanted == is;
  };
  return range.type == place.type && agrees(range.account, place.account) &&
         agrees(range.region, place.region) &&
         (range.namespaces.empty() || std::find(range.namespaces.begin(), range.namespaces.end(),
                                                place.ns) != range.namespaces.end());
}

std::vector<std::string> Miscounts(const Store& store) {
  const auto contents = ContentsOf(store);
  if (!contents.ok()) return {contents.error().message};
  return Miscounts(store, contents.value().owners);
}

std::vector<std::string> Miscounts(const Store& store, const std::vector<Owner>& owners) {
  std::vector<std::string> out;
  Counts counts;
  for (const Owner& owner : owners) ++counts[PlaceOf(owner)];
  std::set<std::string> types = {"", "s3/Bucket"};  // of which nothing may be left
  for (const auto& [place, count] : counts) types.insert(place.type);
  const ReadFn read = [&](const AllFacts& facts) {
    out.clear();
    Counts kept;
    for (const std::string& type : types) {
      for (const PlaceCount& each : facts.PlacesOf(type, owners.size() + 1)) {
        kept[each.place] += each.count;
      }
    }
    for (const auto& [place, count] : kept) {
      if (!counts.contains(place)) out.push_back("nothing is in " + InWords(place));
    }
    for (const auto& [place, count] : counts) {
      if (kept[place] != count) out.push_back("another count in " + InWords(place));
      for (const OwnedRange& range : RangesOf(place)) {
        const std::uint64_t expected = CountIn(counts, range);
        const std::uint64_t found = facts.CountOwned(range);
        if (found == expected) continue;
        out.push_back("counted " + std::to_string(found) + " instead of " +
                      std::to_string(expected) + " around " + InWords(place));
      }
    }
  };
  const auto done = store.Read(read, Soon());
  if (!done.ok()) out.push_back(done.error().message);
  return out;
}

}  // namespace truce::testing
