// Facts: reads of the registry, as one consistent state of the store. Users of the rows that they
// return include registry/ownership/rows.h.
#ifndef TRUCE_REGISTRY_OWNERSHIP_FACTS_H_
#define TRUCE_REGISTRY_OWNERSHIP_FACTS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "registry/base/clock.h"
#include "registry/identity/values.h"
#include "registry/ownership/places.h"
#include "registry/ownership/table.h"
#include "registry/ownership/terms.h"

namespace truce {

struct AuditLine;
struct AuditRange;
struct Object;
struct ObjectPage;
struct ResourceName;
struct Row;
enum class OwnerList : std::uint8_t;

// How many ownerships a service has.
struct ServiceCount {
  std::string service;
  std::uint64_t keys = 0;

  auto operator<=>(const ServiceCount&) const = default;
};

// The same of one type in one account ("": not known, or the type has none).
struct ServiceTally {
  std::string type;
  std::string account;
  std::string service;
  std::uint64_t count = 0;

  auto operator<=>(const ServiceTally&) const = default;
};

// Reservations that are counted together: those of a namespace, or the cluster-scoped ones of one
// user. Rows without user belong to no range.
struct ReservedRange {
  std::string_view ns;    // of the row's slot
  std::string_view user;  // counts where `ns` is empty
  Timestamp from = Timestamp::min();
  Timestamp before = Timestamp::max();  // made in [from, before)
};

// The things that a call probably reads or writes: a hint for stores that lock single rows, which
// find out the rest themselves. Stores with a single writer ignore it.
struct Locks {
  std::vector<KeyText> names;
  std::vector<ResourceId> resources;
  std::vector<Uid> uids;
  std::vector<Slot> slots;
  std::vector<OwnedRange> counts;  // it asks CountOwned about them
  // It asks CountReserved about them, made at any time and of any kind, up to `limit`.
  struct Reserved {
    std::string ns;
    std::string user;
    std::size_t limit = 0;
  };
  std::vector<Reserved> reserved;
  // It asks OwnersOfShape about them.
  struct Shape {
    std::string shape;
    std::size_t limit = 0;
  };
  std::vector<Shape> shapes;
  std::vector<KeyText> proposed;  // it asks IsTaken about them
  std::vector<Table> tables;      // it asks for all their rows
};

// Two ports on one consistent state: for decisions, and for all the others. A store gives them to a
// call for as long as it runs; not kept afterwards. External synchronization. A read that fails
// makes the whole call of the store fail: its result is discarded, so that decisions need no error
// handling.

// Reads of a decision: of single keys, objects and names. More than the house's eight methods,
// since the Ledger shows every one of them with its changes.
class Facts {
 public:
  virtual ~Facts() = default;

  // The name and whose it is in each of its spellings, the newest first: one, but while a pass of
  // another catalogue is under way.
  virtual std::vector<ResourceName> Spelt(const KeyText& name) const = 0;
  // The first of them.
  std::optional<ResourceName> Named(const KeyText& name) const;
  // All names of the resource, ordered by NameId.
  virtual std::vector<ResourceName> NamesOf(const ResourceId& id) const = 0;
  virtual std::optional<Owner> OwnerOf(const ResourceId& id) const = 0;
  // All rows of the resource, ordered by RowId.
  virtual std::vector<Row> RowsOf(const ResourceId& id) const = 0;
  // All rows of one object's life, ordered by RowId.
  virtual std::vector<Row> RowsOfUid(const Uid& uid) const = 0;
  virtual std::optional<Object> ObjectByUid(const Uid& uid) const = 0;
  // The youngest object of `slot` (by `at`, then uid).
  virtual std::optional<Object> ObjectBySlot(const Slot& slot) const = 0;
  // Objects whose accepted parent is `slot`, ordered by uid.
  virtual std::vector<Object> ChildrenOf(const Slot& slot) const = 0;
  // Number of reserved rows in `range` of other kinds than `left_out`, up to `limit`; time grows
  // with what it passes. A read counts in a later state, perhaps, than that of its other facts.
  virtual std::size_t CountReserved(const ReservedRange& range, const std::set<GroupKind>& left_out,
                                    std::size_t limit) const = 0;
  // Number of ownerships in `range`. Cheap: stores keep the counts. A decision counts in the state
  // that it changes, a read perhaps in a later one than that of its other facts.
  virtual std::uint64_t CountOwned(const OwnedRange& range) const = 0;
  // At most `limit` owners whose key differs from `shape` only in the account (Owner::shape), by
  // key. A read may miss what a commit just behind its other facts changes.
  virtual std::vector<Owner> OwnersOfShape(std::string_view shape, std::size_t limit) const = 0;
  // All agreements of the resource, ordered by id.
  virtual std::vector<Agreement> AgreementsOf(const ResourceId& id) const = 0;
  virtual std::optional<Agreement> AgreementById(const PublicId& id) const = 0;
  // At most `limit` agreements of `kind` whose id follows `after`, by id.
  virtual std::vector<Agreement> AgreementsAfter(AgreementKind kind, const PublicId& after,
                                                 std::size_t limit) const = 0;
  // At most `limit` owners of `list` whose key follows `after`, by key. Cheap for contested,
  // orphaned and imported ones; the others may be found by looking at all.
  virtual std::vector<Owner> OwnersIn(OwnerList list, const KeyText& after,
                                      std::size_t limit) const = 0;
  // Whether `name` is an owner's, as far as known without holding anybody off: for proposals, never
  // for decisions.
  virtual bool IsTaken(const KeyText& name) const;
  // A setting written by Changes::put_settings.
  virtual std::optional<std::string> Setting(std::string_view name) const = 0;
  // The rows of a table whose first columns are `prefix` (all: {}), in the order of their keys.
  virtual std::vector<TableRow> TableRows(const Table& table, const TableRow& prefix) const = 0;
};

// Names that are searched for among some owners: those whose name begins with `text`, or those of
// the service, the root's namespace or the type `text`. Of these the ones whose name holds `part`.
// Letters of ASCII count as the same in either case, in both texts.
struct NameSearch {
  enum class Among : std::uint8_t { kBeginning, kService, kNamespace, kType };
  Among among = Among::kBeginning;
  std::string text;
  std::string part;  // empty: every name holds it

  auto operator<=>(const NameSearch&) const = default;
};

// Besides, for passes over the whole registry, part by part, and for people.
class AllFacts : public Facts {
 public:
  // At most `limit` resources, owned or observed, whose id follows `after`, by id.
  virtual std::vector<ResourceId> ResourcesAfter(const ResourceId& after,
                                                 std::size_t limit) const = 0;
  // At most `limit` (1 or more) objects of the cluster, group and kind of `slot`.
  // In an order of the store's: an object whose record is neither dropped nor made meanwhile is in
  // exactly one page of a pass, also when each page is read from a later state. `after`: the former
  // page's `next`; empty: from the start.
  virtual ObjectPage ObjectsOfKind(const Slot& slot, std::string_view after,
                                   std::size_t limit) const = 0;
  // At most `limit` objects of whatever kind whose uid follows `after`, by uid.
  virtual std::vector<Object> ObjectsAfter(const Uid& after, std::size_t limit) const = 0;
  // At most `limit` settings, name and value, whose name follows `after`, by name.
  virtual std::vector<std::pair<std::string, std::string>> SettingsAfter(
      std::string_view after, std::size_t limit) const = 0;
  // At most `limit` reserved rows made before `before`, ordered by RowId, that follow `after`.
  virtual std::vector<Row> ReservedBefore(Timestamp before, const RowId& after,
                                          std::size_t limit) const = 0;
  // Number of seen rows of a cluster. May take time in proportion to it: for the brake, once an
  // hour.
  virtual std::uint64_t CountSeen(std::string_view cluster) const = 0;

  // At most `limit` rows that observe, ordered by RowId, that follow `after`. Takes time in
  // proportion to all that observe.
  virtual std::vector<Row> ObserversAfter(const RowId& after, std::size_t limit) const = 0;
  // At most `limit` places of `type` that hold an ownership, by namespace, account, region. As
  // CountOwned counts them.
  virtual std::vector<PlaceCount> PlacesOf(std::string_view type, std::size_t limit) const = 0;
  // At most `limit` keys of resources, owned or observed, that follow `after`, in order.
  virtual std::vector<KeyText> KeysAfter(const KeyText& after, std::size_t limit) const = 0;
  // At most `limit` keys, in order, of the owners that have this name (whatever the case of its
  // Latin letters) or ARN. Nobody has an empty one. By index.
  virtual std::vector<KeyText> KeysWithName(std::string_view name, std::size_t limit) const = 0;
  virtual std::vector<KeyText> KeysWithArn(std::string_view arn, std::size_t limit) const = 0;
  // The keys, in order, that `search` finds. By index; nothing: it would look at more than `limit`
  // owners. Only the namespace of cluster-scoped roots is empty: nobody is among another empty
  // text.
  virtual std::optional<std::vector<KeyText>> KeysNamed(const NameSearch& search,
                                                        std::size_t limit) const = 0;
  // The first `limit` keys of the service that follow `after`, in order. Takes time in proportion
  // to all keys of the service.
  virtual std::vector<KeyText> KeysOfService(std::string_view service, const KeyText& after,
                                             std::size_t limit) const = 0;
  // At most `limit` services that follow `after`, by name. May pass over all ownerships.
  virtual std::vector<ServiceCount> Services(std::string_view after, std::size_t limit) const = 0;
  // All ownerships, those without service too. Passes over all, so nobody waits for it who is in a
  // hurry.
  virtual std::vector<ServiceTally> TallyServices() const = 0;
  // At most `limit` namespaces of the cluster in which objects of the kind are, in order.
  virtual std::vector<std::string> NamespacesOf(std::string_view cluster, const GroupKind& kind,
                                                std::size_t limit) const = 0;
  // At most `limit` lines of the audit log.
  virtual std::vector<AuditLine> AuditLines(const AuditRange& range, std::size_t limit) const = 0;
};

}  // namespace truce

#endif  // TRUCE_REGISTRY_OWNERSHIP_FACTS_H_
