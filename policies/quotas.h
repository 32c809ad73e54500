// Quotas: how many resources of a type there may be in an account, a region, a namespace or of a
// service; and how far each is used.
#ifndef TRUCE_POLICIES_QUOTAS_H_
#define TRUCE_POLICIES_QUOTAS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "policies/finding.h"
#include "registry/base/result.h"
#include "registry/catalogue/catalogue.h"
#include "registry/identity/identity.h"
#include "registry/ownership/places.h"

namespace truce {

class AllFacts;
struct RuleCase;

// As configuration says it. A pattern, in which '*' matches any run of characters, gives each
// account, region, namespace or service that it matches its own quota; empty: all together.
struct Quota {
  std::string type;     // "s3/Bucket"
  std::string account;  // pattern; a resource whose account is not known counts for none
  std::string region;   // pattern
  std::string ns;       // pattern: namespace of the root
  std::string service;  // pattern: of those that `parties` binds to namespaces
  std::uint64_t max = 1;
  unsigned warn_at = 80;  // percent of `max` from which one more brings a warning
  std::string location;   // its place, "truce.yaml:12"; no part of its meaning

  bool operator==(const Quota& other) const;
};

// Where one quota counts: one account, region, namespace or service that its patterns match.
struct QuotaSpot {
  std::string account;  // empty: the quota asks for none
  std::string region;
  ClusterNamespace ns;
  std::string service;

  auto operator<=>(const QuotaSpot&) const = default;
};

// How far a quota is used in one spot.
struct QuotaUse {
  const Quota* quota = nullptr;  // never null; of the Quotas that were asked
  QuotaSpot spot;
  std::uint64_t used = 0;
};

// `quota` in words ("s3/Bucket in each account 1*"), for people and as a metric's label: no
// two have the same.
std::string InWords(const Quota& quota);
// `namespace "team-a" in account 123456789012`; "the whole registry".
std::string InWords(const QuotaSpot& spot);
// The count from which a quota warns: 80 % of 20 is 16.
std::uint64_t WarnsFrom(const Quota& quota);

// All of a configuration, compiled. Immutable.
class Quotas {
 public:
  Quotas() = default;
  // `cluster`: a quota without patterns means its namespaces, while nothing is there. Errors:
  // kInvalidArgument, "LOCATION: what is wrong; how to mend it".
  static Result<Quotas> Compile(std::vector<Quota> quotas, const Catalogue& catalogue,
                                const PartyRules& parties, std::string cluster);

  bool empty() const { return quotas_.empty(); }
  // In the order of configuration.
  const std::vector<Quota>& all() const { return quotas_; }
  const std::string& cluster() const { return cluster_; }

  // Where `quota` counts an ownership of `place`; nothing: it does not.
  std::optional<QuotaSpot> SpotOf(const Quota& quota, const Place& place) const;
  // It would, were the account of `place` known.
  bool NeedsAccount(const Quota& quota, const Place& place) const;
  // All that `quota` counts in `spot`.
  OwnedRange RangeOf(const Quota& quota, const QuotaSpot& spot) const;
  // The ranges in which the creation of `object` probably counts, each once: as if its claim, or
  // the object itself, were the root of all it declares.
  std::vector<OwnedRange> RangesOf(const ObjectFacts& object) const;

  // The quotas of `type`, by index in all().
  const std::vector<std::size_t>& OfType(std::string_view type) const;

 private:
  std::vector<Quota> quotas_;
  std::string cluster_;
  std::map<std::string, std::vector<std::size_t>, std::less<>> by_type_;
  std::map<ClusterNamespace, std::string> services_;            // by namespace
  std::map<std::string, std::vector<ClusterNamespace>> bound_;  // by service
};

// A quota beside what a review adds, for the texts of the rule.
struct QuotaReached {
  std::string resource;          // S3 bucket "prod-artifacts"
  const Quota* quota = nullptr;  // never null
  QuotaSpot spot;
  std::uint64_t used = 0;    // before the review
  std::uint64_t added = 1;   // by the review
  std::uint64_t before = 0;  // by the questions before it in the same check
};
// Rule quota: beyond the quota a finding in mode enforce, from warnAt on one in mode warn; else
// nothing.
std::optional<Finding> QuotaFull(const QuotaReached& reached);
// Rule quota, always a warning: the account of `resource` is not known, so no account's quota
// counts it.
Finding NotCounted(std::string resource);

// An ownership that a question would bring.
struct AskedOwnership {
  KeyText key;
  Place place;
};
// Those of the question `c`, about which there is no finding. Pure.
std::vector<AskedOwnership> AskedBy(const RuleCase& c);

// Ownerships that the parts of one check would bring, one after the other. External
// synchronization.
class AskedOwnerships final {
 public:
  // Those of the next part. Each ownership is counted once, even if several parts ask for it.
  void Add(const std::vector<AskedOwnership>& part, const Quotas& quotas);
  bool Has(const KeyText& key) const { return keys_.contains(key); }
  // How many of them the quota at `index` of Quotas::all() counts in `spot`.
  std::uint64_t CountOf(std::size_t index, const QuotaSpot& spot) const;

 private:
  std::set<KeyText> keys_;
  std::map<std::pair<std::size_t, QuotaSpot>, std::uint64_t> counts_;
};

// At most this many places of a type are looked at for QuotaUses.
inline constexpr std::size_t kPlacesMax = 100'000;

// Every use of every quota, in the order of configuration, the fullest spot first; a quota without
// patterns is listed with 0, too. Takes time in proportion to the places in use, not to the
// ownerships.
std::vector<QuotaUse> QuotaUses(const Quotas& quotas, const AllFacts& facts);

}  // namespace truce

#endif  // TRUCE_POLICIES_QUOTAS_H_
