#include "policies/quotas.h"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include "policies/mode.h"
#include "registry/base/one_line.h"
#include "registry/base/text.h"
#include "registry/catalogue/explain.h"
#include "registry/identity/evidence.h"
#include "registry/ownership/facts.h"

namespace truce {
namespace {

constexpr unsigned kPercent = 100;

auto WhatOf(const Quota& quota) {
  return std::tie(quota.type, quota.account, quota.region, quota.ns, quota.service);
}

bool IsPattern(std::string_view text) { return text.find('*') != std::string_view::npos; }

Error Refused(const Quota& quota, std::string_view what) {
  return InvalidArgument(std::string(quota.location).append(": quotas: ").append(what));
}

bool AllOf(std::string_view text, std::string_view allowed) {
  return text.find_first_not_of(allowed) == std::string_view::npos;
}

constexpr std::string_view kDigits = "0123456789*";
constexpr std::string_view kLabel = "abcdefghijklmnopqrstuvwxyz0123456789-*";

// A pattern that no account, region or namespace matches would count nothing, in silence.
Result<void> CheckPatterns(const Quota& quota) {
  constexpr std::size_t kLabelMax = 63;
  const bool is_account =
      IsPattern(quota.account) ? AllOf(quota.account, kDigits) : IsAccount(quota.account);
  if (!quota.account.empty() && !is_account) {
    return Refused(quota, "account '" + quota.account +
                              "' is neither the 12 digits of an AWS account, in quotes, nor a "
                              "pattern of digits and '*'");
  }
  if (!AllOf(quota.region, kLabel) || quota.region.size() > kLabelMax) {
    return Refused(quota,
                   "region '" + quota.region + "' is none; write eu-west-1, or a pattern as eu-*");
  }
  if (!AllOf(quota.ns, kLabel) || quota.ns.size() > kLabelMax) {
    return Refused(quota,
                   "namespace '" + quota.ns + "' is none; write team-a, or a pattern as team-*");
  }
  return {};
}

Result<void> CheckQuota(const Quota& quota, const Catalogue& catalogue) {
  const TypeSpec* type = catalogue.FindType(quota.type);
  if (type == nullptr) {
    return Refused(quota, NoType(quota.type, catalogue));
  }
  TRUCE_RETURN_IF_ERROR(CheckPatterns(quota));
  if (!quota.region.empty() && type->region_path.empty() && type->community_region_path.empty()) {
    return Refused(quota, "type " + quota.type + " lies in no region; leave 'region' out");
  }
  if (!quota.service.empty() && !quota.ns.empty()) {
    return Refused(quota,
                   "has a namespace and a service; a service is counted in all namespaces "
                   "that parties binds to it, so leave one of the two out");
  }
  return {};
}

}  // namespace

bool Quota::operator==(const Quota& other) const {
  return WhatOf(*this) == WhatOf(other) && max == other.max && warn_at == other.warn_at;
}

std::string InWords(const Quota& quota) {
  std::string out = quota.type;
  const std::array<std::pair<std::string_view, const std::string*>, 4> limits = {
      {{"service", &quota.service},
       {"namespace", &quota.ns},
       {"account", &quota.account},
       {"region", &quota.region}}};
  for (const auto& [what, pattern] : limits) {
    if (pattern->empty()) continue;
    out.append(" in ").append(IsPattern(*pattern) ? "each " : "").append(what);
    out.append(1, ' ').append(*pattern);
  }
  return out;
}

std::string InWords(const QuotaSpot& spot) {
  std::string out;
  const auto add = [&out](std::string_view what, const std::string& which) {
    if (!out.empty()) out += " in ";
    out.append(what).append(1, ' ').append(which);
  };
  if (!spot.service.empty()) add("service", Quoted(spot.service));
  if (!spot.ns.second.empty()) add("namespace", Quoted(spot.ns.second));
  if (!spot.account.empty()) add("account", spot.account);
  if (!spot.region.empty()) add("region", spot.region);
  return out.empty() ? "the whole registry" : out;
}

std::uint64_t WarnsFrom(const Quota& quota) {
  // Rounded up; without overflow, whatever max is.
  const std::uint64_t whole = quota.max / kPercent * quota.warn_at;
  const std::uint64_t rest = quota.max % kPercent * quota.warn_at;
  return whole + (rest + kPercent - 1) / kPercent;
}

Result<Quotas> Quotas::Compile(std::vector<Quota> quotas, const Catalogue& catalogue,
                               const PartyRules& parties, std::string cluster) {
  Quotas out;
  out.cluster_ = std::move(cluster);
  out.quotas_ = std::move(quotas);
  for (const auto& [where, service] : parties.services) {
    const std::size_t slash = where.find('/');
    ClusterNamespace bound(where.substr(0, slash), where.substr(slash + 1));
    out.services_.emplace(bound, service);
    out.bound_[service].push_back(std::move(bound));
  }
  for (auto& [service, namespaces] : out.bound_) std::sort(namespaces.begin(), namespaces.end());
  for (std::size_t i = 0; i < out.quotas_.size(); ++i) {
    const Quota& quota = out.quotas_[i];
    TRUCE_RETURN_IF_ERROR(CheckQuota(quota, catalogue));
    const bool is_bound = std::any_of(out.bound_.begin(), out.bound_.end(), [&](const auto& each) {
      return MatchesGlob(each.first, quota.service);
    });
    if (!quota.service.empty() && !is_bound) {
      return Refused(quota, "no service '" + quota.service +
                                "' is bound to namespaces, and labels are anyone's to write; bind "
                                "it in parties: [{service: …, namespaces: […]}]");
    }
    std::vector<std::size_t>& of_type = out.by_type_[quota.type];
    for (const std::size_t other : of_type) {
      if (WhatOf(out.quotas_[other]) != WhatOf(quota)) continue;
      return Refused(quota, "counts the same as the quota at " + out.quotas_[other].location +
                                "; remove one of the two");
    }
    of_type.push_back(i);
  }
  return out;
}

std::optional<QuotaSpot> Quotas::SpotOf(const Quota& quota, const Place& place) const {
  QuotaSpot spot;
  if (place.type != quota.type) return std::nullopt;
  const auto take = [](const std::string& pattern, const std::string& is, std::string& taken) {
    if (pattern.empty()) return true;
    if (is.empty() || !MatchesGlob(is, pattern)) return false;
    taken = is;
    return true;
  };
  if (!take(quota.account, place.account, spot.account)) return std::nullopt;
  if (!take(quota.region, place.region, spot.region)) return std::nullopt;
  if (!take(quota.ns, place.ns.second, spot.ns.second)) return std::nullopt;
  if (!quota.ns.empty()) spot.ns.first = place.ns.first;
  if (quota.service.empty()) return spot;
  const auto bound = services_.find(place.ns);
  if (bound == services_.end()) return std::nullopt;
  if (!take(quota.service, bound->second, spot.service)) return std::nullopt;
  return spot;
}

bool Quotas::NeedsAccount(const Quota& quota, const Place& place) const {
  if (quota.account.empty() || !place.account.empty()) return false;
  Quota without = quota;
  without.account.clear();
  return SpotOf(without, place).has_value();
}

OwnedRange Quotas::RangeOf(const Quota& quota, const QuotaSpot& spot) const {
  OwnedRange range{.type = quota.type, .account = spot.account, .region = spot.region};
  if (!spot.ns.second.empty()) range.namespaces.push_back(spot.ns);
  if (!spot.service.empty()) {
    const auto bound = bound_.find(spot.service);
    if (bound != bound_.end()) range.namespaces = bound->second;
  }
  return range;
}

std::vector<OwnedRange> Quotas::RangesOf(const ObjectFacts& object) const {
  std::set<OwnedRange> ranges;
  const auto& claim = object.lineage.claim;
  const ClusterNamespace ns{object.slot.cluster, claim ? claim->ns : object.slot.ns};
  for (const DeclaredResource& resource : object.resources) {
    const ResourceIdentity& identity = resource.identity;
    if (resource.key().empty() || resource.intent == Intent::kObserves) continue;
    const std::string& account =
        IsAccount(identity.account) ? identity.account : resource.further_account;
    const Place place{.type = identity.type,
                      .account = IsAccount(account) ? account : std::string(),
                      .region = identity.region,
                      .ns = ns};
    for (const std::size_t index : OfType(identity.type)) {
      const auto spot = SpotOf(quotas_[index], place);
      if (spot) ranges.insert(RangeOf(quotas_[index], *spot));
    }
  }
  return {ranges.begin(), ranges.end()};
}

const std::vector<std::size_t>& Quotas::OfType(std::string_view type) const {
  static const std::vector<std::size_t> kNone;
  const auto found = by_type_.find(type);
  return found == by_type_.end() ? kNone : found->second;
}

void AskedOwnerships::Add(const std::vector<AskedOwnership>& part, const Quotas& quotas) {
  for (const AskedOwnership& each : part) {
    if (!keys_.insert(each.key).second) continue;
    for (const std::size_t index : quotas.OfType(each.place.type)) {
      const auto spot = quotas.SpotOf(quotas.all()[index], each.place);
      if (spot) ++counts_[{index, *spot}];
    }
  }
}

std::uint64_t AskedOwnerships::CountOf(std::size_t index, const QuotaSpot& spot) const {
  const auto found = counts_.find({index, spot});
  return found == counts_.end() ? 0 : found->second;
}

std::vector<QuotaUse> QuotaUses(const Quotas& quotas, const AllFacts& facts) {
  std::vector<QuotaUse> out;
  for (const Quota& quota : quotas.all()) {
    std::map<QuotaSpot, std::uint64_t> used;
    const bool is_open = IsPattern(quota.account) || IsPattern(quota.region) ||
                         IsPattern(quota.ns) || IsPattern(quota.service);
    if (!is_open) {
      const std::string cluster = quota.ns.empty() ? std::string() : quotas.cluster();
      used[{quota.account, quota.region, {cluster, quota.ns}, quota.service}] = 0;
    }
    for (const PlaceCount& each : facts.PlacesOf(quota.type, kPlacesMax)) {
      if (const auto spot = quotas.SpotOf(quota, each.place)) used[*spot] += each.count;
    }
    const std::size_t first = out.size();
    for (const auto& [spot, count] : used) out.push_back({&quota, spot, count});
    std::stable_sort(out.begin() + static_cast<std::ptrdiff_t>(first), out.end(),
                     [](const QuotaUse& a, const QuotaUse& b) { return a.used > b.used; });
  }
  return out;
}

}  // namespace truce
