#include "webhook/api/rest/queries.h"

#include <algorithm>
#include <map>
#include <utility>

#include "registry/base/text.h"
#include "registry/ownership/names.h"
#include "webhook/api/described.h"

namespace truce {
namespace {

constexpr std::size_t kPageOfStore = 500;

bool Same(const std::string& wanted, std::string_view value) {
  return wanted.empty() || wanted == value;
}

bool IsNamed(const Owner& owner, const ResourceFilter& filter) {
  const std::string& wanted = filter.name;
  if (wanted.find('*') == std::string::npos) return Same(wanted, owner.name);
  return filter.any_case ? MatchesGlob(LowerOf(owner.name), LowerOf(wanted))
                         : MatchesGlob(owner.name, wanted);
}

OwnerList ListFor(const ResourceFilter& filter) {
  if (filter.contested == true) return OwnerList::kContested;
  if (filter.state == "orphaned") return OwnerList::kOrphaned;
  if (filter.state == "imported") return OwnerList::kImported;
  return OwnerList::kAll;
}

// The beginning of every key of the type; empty: all keys.
std::string PrefixFor(const ResourceFilter& filter, const Catalogue& catalogue) {
  if (filter.type.empty()) return {};
  const TypeSpec* type = catalogue.FindType(filter.type);
  return type == nullptr ? std::string() : PercentEncode(type->space) + "|";
}

bool IsShared(const ResourceId& id, const Facts& facts, Timestamp now) {
  const std::vector<Agreement> agreements = facts.AgreementsOf(id);
  return std::any_of(agreements.begin(), agreements.end(), [&](const Agreement& each) {
    return each.kind == AgreementKind::kShare && HoldsAt(each, now);
  });
}

// A text in every name that fits the pattern: the longest one between its stars.
std::string PartOf(std::string_view pattern) {
  std::string_view longest;
  while (!pattern.empty()) {
    const std::string_view part = pattern.substr(0, pattern.find('*'));
    if (part.size() > longest.size()) longest = part;
    pattern.remove_prefix(std::min(pattern.size(), part.size() + 1));
  }
  return std::string(longest);
}

// Each has all that fit; rather the ones that look at few.
std::vector<NameSearch> SearchesFor(const ResourceFilter& filter) {
  using Among = NameSearch::Among;
  const std::string part = PartOf(filter.name);
  std::vector<NameSearch> searches;
  const std::string begin = filter.name.substr(0, filter.name.find('*'));
  if (!begin.empty()) searches.push_back({Among::kBeginning, begin, part});
  if (!filter.service.empty()) searches.push_back({Among::kService, filter.service, part});
  if (filter.ns) searches.push_back({Among::kNamespace, *filter.ns, part});
  // Without a name the keys of the type are looked through in their order.
  if (!filter.type.empty() && !part.empty()) {
    searches.push_back({Among::kType, filter.type, part});
  }
  return searches;
}

// The keys of all that may fit, in order; nothing: no index finds them among `limit` owners.
std::optional<std::vector<KeyText>> KeysFor(const ResourceFilter& filter, std::size_t limit,
                                            const AllFacts& facts) {
  if (!filter.arn.empty()) return facts.KeysWithArn(filter.arn, limit);
  if (!filter.name.empty() && filter.name.find('*') == std::string::npos) {
    auto keys = facts.KeysWithName(filter.name, limit + 1);
    if (keys.size() <= limit) return keys;
  }
  for (const NameSearch& search : SearchesFor(filter)) {
    if (auto keys = facts.KeysNamed(search, limit)) return keys;
  }
  return std::nullopt;
}

// The first `limit` owners behind `after` in the shortest list that has all that fit.
std::vector<Owner> Listed(const ResourceFilter& filter, const KeyText& after, std::size_t limit,
                          const AllFacts& facts) {
  if (filter.service.empty()) return facts.OwnersIn(ListFor(filter), after, limit);
  std::vector<Owner> owners;
  for (const KeyText& key : facts.KeysOfService(filter.service, after, limit)) {
    if (auto owner = OwnerByName(key, facts)) owners.push_back(*std::move(owner));
  }
  return owners;
}

// An owner that was looked at.
struct Visited {
  Owner owner;
  bool fits = false;
};

Visited VisitedFor(Owner owner, const ResourceQuery& query, const Facts& facts) {
  const std::optional<bool>& shared = query.filter.shared;
  const bool fits =
      Fits(owner, query.filter) && (!shared || *shared == IsShared(owner.id, facts, query.now));
  return {std::move(owner), fits};
}

}  // namespace

bool Fits(const Owner& owner, const ResourceFilter& filter) {
  return IsNamed(owner, filter) && Same(filter.arn, owner.arn) &&
         Same(filter.type, owner.identity.type) && Same(filter.service, owner.service) &&
         Same(filter.account, owner.identity.account) &&
         Same(filter.region, owner.identity.region) && Same(filter.cluster, owner.root.cluster) &&
         (!filter.ns || *filter.ns == owner.root.ns) && Same(filter.state, StateOf(owner)) &&
         (!filter.contested || *filter.contested == owner.contested);
}

template <typename Visit>
Result<bool> RegistryQueries::Walk(const ResourceQuery& query, const Catalogue& catalogue,
                                   Deadline deadline, Visit visit) const {
  const ResourceFilter& filter = query.filter;
  const bool by_key = query.sort.empty();
  std::size_t budget = by_key ? kScanMax : kSortMax;
  const bool is_led = !filter.arn.empty() || !SearchesFor(filter).empty();
  std::optional<std::vector<KeyText>> keys;
  if (is_led) {
    TRUCE_ASSIGN_OR_RETURN(keys, ReadFrom(store_, deadline, [&](const AllFacts& facts) {
                             return KeysFor(filter, budget, facts);
                           }));
  } else if (!PartOf(filter.name).empty() && ListFor(filter) == OwnerList::kAll &&
             store_.Counts().owners > kScanMax) {
    return Error{ErrorCode::kInvalidArgument,
                 InQuotes(filter.name) + " would be looked for in more than " +
                     std::to_string(kScanMax) +
                     " resources; say how the name begins, or add service, namespace or type"};
  }
  const std::string prefix = PrefixFor(filter, catalogue);
  KeyText after = by_key ? std::max(query.after_key, KeyText{prefix}) : KeyText{prefix};
  // First no more than what fills the page when all fit, and whether there is more.
  std::size_t step = by_key ? std::min(query.limit + 1, kPageOfStore) : kPageOfStore;
  while (budget > 0) {
    const std::size_t limit = std::min(budget, step);
    step = kPageOfStore;
    Locks found;
    if (keys) {
      const auto begin = std::upper_bound(keys->begin(), keys->end(), after);
      const auto count =
          std::min<std::ptrdiff_t>(keys->end() - begin, static_cast<std::ptrdiff_t>(limit));
      found.names.assign(begin, begin + count);
    }
    std::vector<Visited> page;
    const auto look = [&](const AllFacts& facts) {
      page.clear();
      const auto take = [&](Owner owner) {
        page.push_back(VisitedFor(std::move(owner), query, facts));
      };
      for (const KeyText& key : found.names) {
        if (auto owner = OwnerByName(key, facts)) take(*std::move(owner));
      }
      if (keys) return;
      for (Owner& owner : Listed(filter, after, limit, facts)) take(std::move(owner));
    };
    TRUCE_RETURN_IF_ERROR(store_.Read(found, look, deadline));
    const std::size_t looked_at = keys ? found.names.size() : page.size();
    if (!found.names.empty()) after = found.names.back();
    if (!keys && !page.empty()) after = page.back().owner.key;
    for (Visited& each : page) {
      // Keys are in order: behind the last of the type there is no other.
      if (!prefix.empty() && !each.owner.key.text.starts_with(prefix)) return false;
      if (!visit(std::move(each.owner), each.fits)) return true;
    }
    if (looked_at < limit) return false;
    budget -= std::min(budget, looked_at);
  }
  return true;
}

Result<ResourcePage> RegistryQueries::List(const ResourceQuery& query, const Catalogue& catalogue,
                                           Deadline deadline) const {
  if (!query.sort.empty()) return ListSorted(query, catalogue, deadline);
  ResourcePage out;
  const auto visit = [&](Owner owner, bool fits) {
    if (out.owners.size() == query.limit) return false;
    out.next_key = owner.key;
    if (fits) out.owners.push_back(std::move(owner));
    return true;
  };
  TRUCE_ASSIGN_OR_RETURN(out.more, Walk(query, catalogue, deadline, visit));
  return out;
}

Result<ResourcePage> RegistryQueries::ListSorted(const ResourceQuery& query,
                                                 const Catalogue& catalogue,
                                                 Deadline deadline) const {
  const bool last_first = query.sort.starts_with('-');
  const std::string name = query.sort.substr(last_first ? 1 : 0);
  const Column<Owner>* column = ColumnNamed<Owner>(name);
  if (column == nullptr) return InvalidArgument("resources have no column " + InQuotes(name));
  using Rank = std::pair<std::string, KeyText>;
  using Placed = std::pair<Rank, Owner>;
  const auto stands_before = [&](const Rank& a, const Rank& b) {
    if (a.first != b.first) return (a.first < b.first) != last_first;
    return a.second < b.second;
  };
  const auto before = [&](const Placed& a, const Placed& b) {
    return stands_before(a.first, b.first);
  };
  const Rank after{query.after, query.after_key};
  const bool is_first = query.after_key.empty();
  std::vector<Placed> first;  // a heap, the last one in front
  bool more = false;
  const auto visit = [&](Owner owner, bool fits) {
    if (!fits) return true;
    Rank place{column->get(owner).text(), owner.key};
    Placed placed{std::move(place), std::move(owner)};
    if (!is_first && !stands_before(after, placed.first)) return true;
    if (first.size() == query.limit) {
      more = true;
      if (!before(placed, first.front())) return true;
      std::pop_heap(first.begin(), first.end(), before);
      first.pop_back();
    }
    first.push_back(std::move(placed));
    std::push_heap(first.begin(), first.end(), before);
    return true;
  };
  TRUCE_ASSIGN_OR_RETURN(const bool cut, Walk(query, catalogue, deadline, visit));
  // Sorted by what was seen so far the first ones could be missing.
  if (cut) {
    return Error{
        ErrorCode::kInvalidArgument,
        "too many resources to sort; filter by type, service, namespace or name, or sort by key"};
  }
  std::sort_heap(first.begin(), first.end(), before);
  ResourcePage out;
  out.more = more;
  if (!first.empty()) std::tie(out.next, out.next_key) = first.back().first;
  for (Placed& placed : first) out.owners.push_back(std::move(placed.second));
  return out;
}

namespace {

ResourceView ViewOf(Owner owner, const Facts& facts) {
  const ResourceId id = owner.id;
  return {std::move(owner), facts.RowsOf(id), facts.AgreementsOf(id), facts.NamesOf(id)};
}

}  // namespace

std::optional<Owner> OwnerWithId(const ResourceId& id, const Facts& facts) {
  if (auto owner = facts.OwnerOf(id)) return owner;
  // An id of a resource that became one with another goes on working in links.
  return OwnerByName(FormerIdName(id), facts);
}

Result<ResourceView> RegistryQueries::ById(const ResourceId& id, Deadline deadline) const {
  const auto look = [&](const AllFacts& facts) -> std::optional<ResourceView> {
    auto owner = OwnerWithId(id, facts);
    return owner ? std::optional(ViewOf(*std::move(owner), facts)) : std::nullopt;
  };
  TRUCE_ASSIGN_OR_RETURN(auto found, ReadFrom(store_, deadline, look));
  if (!found) return Error{ErrorCode::kNotFound, "no resource has that id"};
  return *std::move(found);
}

namespace {

// See ServiceView::dealings.
std::vector<AgreementView> DealingsOf(const std::string& service, const std::set<PartyId>& parties,
                                      const PartyRules& rules, const AllFacts& facts) {
  std::vector<AgreementView> found;
  for (const AgreementKind kind : {AgreementKind::kShare, AgreementKind::kTransfer}) {
    const bool share = kind == AgreementKind::kShare;
    for (const Agreement& each : facts.AgreementsAfter(kind, {}, kScanMax)) {
      if (!share && each.accepted) continue;
      const auto owner = facts.OwnerOf(each.resource);
      const bool theirs = owner && !share && owner->service == service;
      if (!owner || (!theirs && !parties.contains(Bound(each.party, rules)))) continue;
      found.push_back({each, *owner, facts.RowsOf(each.resource)});
    }
  }
  return found;
}

// See ServiceView::observed; at most `limit`.
ObservedViews ObservedBy(const std::string& service, std::size_t limit, const AllFacts& facts) {
  ObservedViews found;
  std::map<Slot, bool> ours;  // roots: of the service
  const auto is_ours = [&](const Slot& root) {
    const auto [place, is_new] = ours.try_emplace(root, false);
    if (is_new) {
      const auto object = facts.ObjectBySlot(root);
      place->second = object && object->service == service;
    }
    return place->second;
  };
  const std::vector<Row> rows = facts.ObserversAfter({}, kScanMax + 1);
  found.complete = rows.size() <= kScanMax;
  std::optional<RowId> before;  // seen and reserved rows of one object count once
  for (std::size_t i = 0; i < std::min(rows.size(), kScanMax); ++i) {
    const Row& row = rows[i];
    const bool is_same = before && before->resource == row.id.resource && before->uid == row.id.uid;
    before = row.id;
    if (is_same || !is_ours(row.root)) continue;
    auto owner = facts.OwnerOf(row.id.resource);
    if (!owner || owner->service == service) continue;
    if (found.items.size() == limit) {
      found.complete = false;
      break;
    }
    found.items.push_back({*std::move(owner), row.slot});
  }
  return found;
}

}  // namespace

std::set<std::string> ServicesManaging(const Owner& owner, const Facts& facts) {
  std::set<std::string> services = {owner.service};
  for (const Row& row : facts.RowsOf(owner.id)) {
    if (!Manages(row) || row.root == owner.root) continue;
    const auto root = facts.ObjectBySlot(row.root);
    services.insert(root ? root->service : std::string());
  }
  return services;
}

Result<ServiceView> RegistryQueries::OfService(const std::string& service, const PartyRules& rules,
                                               std::size_t observed_max, Deadline deadline) const {
  return ReadFrom(store_, deadline, [&](const AllFacts& facts) {
    ServiceView view;
    std::set<PartyId> parties = {PartyId{"service:" + service}};
    const std::vector<KeyText> keys = facts.KeysOfService(service, {}, kScanMax + 1);
    view.complete = keys.size() <= kScanMax;
    for (std::size_t i = 0; i < std::min(keys.size(), kScanMax); ++i) {
      auto owner = OwnerByName(keys[i], facts);
      if (!owner) continue;
      parties.insert(Bound(owner->party, rules));
      view.owned.push_back(*std::move(owner));
    }
    view.dealings = DealingsOf(service, parties, rules, facts);
    view.observed = ObservedBy(service, observed_max, facts);
    view.contested = facts.OwnersIn(OwnerList::kContested, {}, kScanMax);
    std::erase_if(view.contested, [&](const Owner& owner) {
      return !ServicesManaging(owner, facts).contains(service);
    });
    return view;
  });
}

Result<std::vector<ServiceCount>> RegistryQueries::Services(const std::string& after,
                                                            std::size_t limit,
                                                            Deadline deadline) const {
  return ReadFrom(store_, deadline,
                  [&](const AllFacts& facts) { return facts.Services(after, limit); });
}

Result<std::vector<AuditLine>> RegistryQueries::Audit(const AuditRange& range, std::size_t limit,
                                                      Deadline deadline) const {
  return ReadFrom(store_, deadline,
                  [&](const AllFacts& facts) { return facts.AuditLines(range, limit); });
}

}  // namespace truce
