// The facts that a run of a decision or read asks for, and those that were brought to answer it.
#ifndef TRUCE_REGISTRY_STORE_DISCOVERY_NEEDS_H_
#define TRUCE_REGISTRY_STORE_DISCOVERY_NEEDS_H_

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "registry/base/clock.h"
#include "registry/ownership/facts.h"
#include "registry/ownership/rows.h"

namespace truce {

// The questions that are about no single thing: one for each method of the facts that answers with
// a list, a page or a count.
struct CountReservedQuery {
  std::string ns;
  std::string user;
  Timestamp from;
  Timestamp before;
  std::set<GroupKind> left_out;
  std::size_t limit = 0;
  auto operator<=>(const CountReservedQuery&) const = default;
};
struct OwnersOfShapeQuery {
  std::string shape;
  std::size_t limit = 0;
  auto operator<=>(const OwnersOfShapeQuery&) const = default;
};
struct IsTakenQuery {
  KeyText name;
  auto operator<=>(const IsTakenQuery&) const = default;
};
struct AgreementsQuery {
  AgreementKind kind = AgreementKind::kShare;
  PublicId after;
  std::size_t limit = 0;
  auto operator<=>(const AgreementsQuery&) const = default;
};
struct ResourcesQuery {
  ResourceId after;
  std::size_t limit = 0;
  auto operator<=>(const ResourcesQuery&) const = default;
};
struct ObjectsOfKindQuery {
  Slot of_kind;
  std::string after;
  std::size_t limit = 0;
  auto operator<=>(const ObjectsOfKindQuery&) const = default;
};
struct ObjectsQuery {
  Uid after;
  std::size_t limit = 0;
  auto operator<=>(const ObjectsQuery&) const = default;
};
struct SettingsQuery {
  std::string after;
  std::size_t limit = 0;
  auto operator<=>(const SettingsQuery&) const = default;
};
struct ReservedBeforeQuery {
  Timestamp before;
  RowId after;
  std::size_t limit = 0;
  auto operator<=>(const ReservedBeforeQuery&) const = default;
};
struct CountSeenQuery {
  std::string cluster;
  auto operator<=>(const CountSeenQuery&) const = default;
};
struct CountOwnedQuery {
  OwnedRange range;
  auto operator<=>(const CountOwnedQuery&) const = default;
};
struct PlacesQuery {
  std::string type;
  std::size_t limit = 0;
  auto operator<=>(const PlacesQuery&) const = default;
};
struct OwnersInQuery {
  OwnerList list = OwnerList::kAll;
  KeyText after;
  std::size_t limit = 0;
  auto operator<=>(const OwnersInQuery&) const = default;
};
struct ObserversQuery {
  RowId after;
  std::size_t limit = 0;
  auto operator<=>(const ObserversQuery&) const = default;
};
struct KeysQuery {
  KeyText after;
  std::size_t limit = 0;
  auto operator<=>(const KeysQuery&) const = default;
};
// KeysWithName, KeysWithArn.
enum class OwnerWord : std::uint8_t { kName, kArn };
struct KeysWithQuery {
  OwnerWord word = OwnerWord::kName;
  std::string text;
  std::size_t limit = 0;
  auto operator<=>(const KeysWithQuery&) const = default;
};
struct KeysNamedQuery {
  NameSearch search;
  std::size_t limit = 0;
  auto operator<=>(const KeysNamedQuery&) const = default;
};
struct KeysOfServiceQuery {
  std::string service;
  KeyText after;
  std::size_t limit = 0;
  auto operator<=>(const KeysOfServiceQuery&) const = default;
};
struct ServicesQuery {
  std::string after;
  std::size_t limit = 0;
  auto operator<=>(const ServicesQuery&) const = default;
};
struct TallyServicesQuery {
  auto operator<=>(const TallyServicesQuery&) const = default;
};
struct NamespacesQuery {
  Slot of_kind;
  std::size_t limit = 0;
  auto operator<=>(const NamespacesQuery&) const = default;
};
struct AuditLinesQuery {
  AuditRange range;
  std::size_t limit = 0;
  auto operator<=>(const AuditLinesQuery&) const = default;
};
struct TableQuery {
  Table table;
  TableRow prefix;
  auto operator<=>(const TableQuery&) const = default;
};
using Query =
    std::variant<CountReservedQuery, OwnersOfShapeQuery, IsTakenQuery, AgreementsQuery,
                 ResourcesQuery, ObjectsOfKindQuery, ObjectsQuery, SettingsQuery,
                 ReservedBeforeQuery, CountSeenQuery, OwnersInQuery, CountOwnedQuery, PlacesQuery,
                 ObserversQuery, KeysQuery, KeysWithQuery, KeysNamedQuery, KeysOfServiceQuery,
                 ServicesQuery, TallyServicesQuery, NamespacesQuery, AuditLinesQuery, TableQuery>;

// The answer to any of them: the field that its kind has.
struct QueryAnswer {
  std::uint64_t count = 0;  // IsTaken: 0 or 1
  std::vector<Owner> owners;
  std::vector<Row> rows;
  std::vector<ResourceId> resources;
  std::vector<KeyText> keys;
  bool looked_at_all = true;  // KeysNamed: false: there are more than its limit
  ObjectPage objects;
  std::vector<AuditLine> lines;
  std::vector<Agreement> agreements;
  std::vector<PlaceCount> places;
  std::vector<ServiceCount> services;
  std::vector<ServiceTally> tallies;
  std::vector<std::string> namespaces;
  std::vector<std::pair<std::string, std::string>> settings;
  std::vector<TableRow> table_rows;
};

// The lock that a decision takes before it asks.
enum class Guard : std::uint8_t {
  kNone,   // a soft one: it limits, warns or tells people, and decides nothing about who owns what
  kOwn,    // a lock of the query's own, which holds off equal queries
  kWhole,  // everything: no single lock keeps a list
};
// A table is locked as a whole, whichever of its rows are asked for or written.
// A count of ownerships has a lock of its own: decisions that count before they add take turns. One
// that adds without counting, which no quota refuses, does not wait.
Guard GuardOf(const Query& query);

// Things by which the registry is read and locked. A value.
struct FactNeeds {
  std::set<KeyText> names;
  std::set<ResourceId> resources;
  std::set<Uid> uids;
  std::set<Slot> slots;
  std::set<std::string, std::less<>> settings;
  std::set<PublicId> agreements;
  std::set<Query> queries;

  bool empty() const { return LockCount() == 0 && queries.empty(); }
  std::size_t LockCount() const;
  void Add(const FactNeeds& other);
  void Add(const Locks& hints);
};

// The facts that were brought under one name: of two spellings the newer one. A store brings the
// resource along that it names, so that a caller with names need not ask again, unless somebody
// holds that one's lock.
struct NameAnswer {
  std::vector<ResourceName> spelt;  // the newest first
};
struct ResourceAnswer {
  std::optional<Owner> owner;
  std::vector<Row> rows;              // ordered by RowId
  std::vector<ResourceName> names;    // ordered by NameId
  std::vector<Agreement> agreements;  // ordered by id
};
struct UidAnswer {
  std::optional<Object> object;
  std::vector<Row> rows;  // ordered by RowId
};
struct SlotAnswer {
  std::optional<Object> youngest;
  std::vector<Object> children;  // ordered by uid
};

// The answers so far, all of one state. An entry says all that there is under its name. A value.
struct FactStock {
  std::map<KeyText, NameAnswer> names;
  std::map<ResourceId, ResourceAnswer> resources;
  std::map<Uid, UidAnswer> uids;
  std::map<Slot, SlotAnswer> slots;
  std::map<std::string, std::optional<std::string>, std::less<>> settings;
  std::map<PublicId, std::optional<Agreement>> agreements;
  std::map<Query, QueryAnswer> queries;

  // Makes an empty entry for each name, resource, uid, slot, setting and agreement of `needs`, for
  // a store to fill.
  void Expect(const FactNeeds& needs);
  // Brings the lists of all entries into their orders.
  void Sort();
  // Takes in what was brought later. Facts that both have are the same: nobody else can change it.
  void Add(FactStock later);
};

// The facts that must be brought, and so locked, before `changes` may be written, and are not: each
// thing changes under its own name, id, uid, slot or setting, and under those that lead to it
// before and after. Then the holder of one of them sees it as it stays. A resource that is new is
// no exception, since nothing tells it from one that the decision did not look at: a decision that
// draws an id names it in the hints, or pays another round trip.
FactNeeds Uncovered(const FactStock& stock, const Changes& changes);

}  // namespace truce

#endif  // TRUCE_REGISTRY_STORE_DISCOVERY_NEEDS_H_
