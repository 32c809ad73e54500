#include "registry/store/sqlite/facts.h"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

#include "registry/base/text.h"
#include "registry/store/adapter.h"
#include "registry/store/columns.h"
#include "registry/store/store.h"

namespace truce {
namespace {

// The columns of each table in the order of their readers (columns.h).
#define TRUCE_OWNER_COLUMNS                                                                 \
  "r.key, r.until, r.public_id, r.root, r.party, r.service, r.contact, r.arn, r.name, "     \
  "r.identity, r.shape, r.since, r.real, r.record, r.record_reason, r.successor, r.state, " \
  "r.leaf, r.contested, r.managed_once, r.left_slots"
#define TRUCE_ROW_COLUMNS                                                                         \
  "r.public_id, d.uid, d.state, d.slot, d.root, d.intent, d.terminating, d.managed, d.identity, " \
  "d.review, d.digest, d.base, d.user, d.at, d.created, d.account_fields"
#define TRUCE_OBJECT_COLUMNS                                                              \
  "uid, kind, namespace, name, parent, parent_uid, root, link, names, service, contact, " \
  "composes, own_party, transfer_to, unproven_marks, stripped, at"
#define TRUCE_NAME_COLUMNS "n.name, r.public_id, n.sort, n.observed, n.at, n.spelling"
constexpr int kNameColumns = 6;
#define TRUCE_AGREEMENT_COLUMNS                                                               \
  "a.id, a.kind, r.public_id, a.party, a.level, a.accepted, a.successor, a.reason, a.actor, " \
  "a.at, a.until"
#define TRUCE_AUDIT_COLUMNS "at, action, key, id, root, slot, uid, cause, actor, review"
constexpr int kAuditColumns = 10;

#define TRUCE_OWNERS "SELECT " TRUCE_OWNER_COLUMNS " FROM resources r "
#define TRUCE_OBJECTS "SELECT " TRUCE_OBJECT_COLUMNS " FROM objects "
#define TRUCE_AUDIT "SELECT " TRUCE_AUDIT_COLUMNS ", seq FROM audit "
// From the few to the many: the first table is looked up, the other one follows from it.
#define TRUCE_ROWS_OF_RESOURCES \
  "SELECT " TRUCE_ROW_COLUMNS " FROM resources r CROSS JOIN declarations d ON d.resource = r.id "
#define TRUCE_ROWS \
  "SELECT " TRUCE_ROW_COLUMNS " FROM declarations d CROSS JOIN resources r ON r.id = d.resource "
#define TRUCE_NAMES \
  "SELECT " TRUCE_NAME_COLUMNS " FROM names n CROSS JOIN resources r ON r.id = n.resource "
#define TRUCE_AGREEMENTS            \
  "SELECT " TRUCE_AGREEMENT_COLUMNS \
  " FROM agreements a CROSS JOIN resources r ON r.id = a.resource "

// The columns behind others of the same row.
struct ColumnsFrom {
  const Statement& row;
  int first;

  std::string_view Text(int column) const { return row.Text(first + column); }
  std::int64_t Integer(int column) const { return row.Integer(first + column); }
  bool IsNull(int column) const { return row.IsNull(first + column); }
};

Result<void> Fill(const Statement& row, std::string& text) {
  text = row.Text(0);
  return {};
}
Result<void> Fill(const Statement& row, KeyText& key) { return Fill(row, key.text); }
Result<void> Fill(const Statement& row, ResourceId& id) { return Fill(row, id.text); }
Result<void> Fill(const Statement& row, std::uint64_t& count) {
  count = static_cast<std::uint64_t>(row.Integer(0));
  return {};
}
Result<void> Fill(const Statement& row, std::pair<std::string, std::string>& setting) {
  setting = {std::string(row.Text(0)), std::string(row.Text(1))};
  return {};
}
Result<void> Fill(const Statement& row, PlaceCount& place) {
  place = {{.type = std::string(row.Text(0)),
            .account = std::string(row.Text(1)),
            .region = std::string(row.Text(2)),
            .ns = {std::string(row.Text(3)), std::string(row.Text(4))}},
           static_cast<std::uint64_t>(row.Integer(5))};
  return {};
}
Result<void> Fill(const Statement& row, ServiceCount& service) {
  service = {std::string(row.Text(0)), static_cast<std::uint64_t>(row.Integer(1))};
  return {};
}
Result<void> Fill(const Statement& row, ServiceTally& tally) {
  tally = {std::string(row.Text(0)), std::string(row.Text(1)), std::string(row.Text(2)),
           static_cast<std::uint64_t>(row.Integer(3))};
  return {};
}
Result<void> Fill(const Statement& row, AuditLine& line) {
  line.place = {.number = static_cast<std::uint64_t>(row.Integer(kAuditColumns))};
  return Fill(row, line.entry);
}

std::int64_t LimitOf(std::size_t limit) {
  constexpr auto kMax = static_cast<std::size_t>(std::numeric_limits<std::int64_t>::max());
  return static_cast<std::int64_t>(std::min(limit, kMax));
}

const char* OwnersAfter(OwnerList list) {
  switch (list) {
    case OwnerList::kAll: break;
    case OwnerList::kContested:
      return TRUCE_OWNERS "WHERE contested = 1 AND key > ?1 ORDER BY key LIMIT ?2";
    case OwnerList::kOrphaned:
      return TRUCE_OWNERS
          "WHERE (record = 'orphaned' OR record = 'transferring') AND key > ?1 ORDER BY key LIMIT "
          "?2";
    case OwnerList::kImported:
      return TRUCE_OWNERS "WHERE record = 'imported' AND key > ?1 ORDER BY key LIMIT ?2";
    case OwnerList::kEnding:
      return TRUCE_OWNERS "WHERE until IS NOT NULL AND key > ?1 ORDER BY key LIMIT ?2";
  }
  return "SELECT " TRUCE_OWNER_COLUMNS
         " FROM names n CROSS JOIN resources r ON r.id = n.resource AND r.key = n.name WHERE "
         "r.owned = 1 AND n.name > ?1 "
         "ORDER BY n.name LIMIT ?2";
}

// The entry of a memory that holds a few.
template <typename Memory>
auto& RememberedOf(Memory& memory, const typename Memory::key_type& key) {
  constexpr std::size_t kMax = 8;
  if (memory.size() == kMax && !memory.contains(key)) memory.clear();
  return memory[key];
}

// Key and name of the owners that a search looks among.
const char* OwnersAmong(NameSearch::Among among) {
  switch (among) {
    case NameSearch::Among::kBeginning: break;
    case NameSearch::Among::kService:
      return "SELECT key, name FROM resources WHERE service = ?1 LIMIT ?3";
    case NameSearch::Among::kNamespace:
      return "SELECT r.key, r.name FROM places p CROSS JOIN resources r ON r.place = p.id "
             "WHERE p.namespace = ?1 LIMIT ?3";
    case NameSearch::Among::kType:
      return "SELECT r.key, r.name FROM places p CROSS JOIN resources r ON r.place = p.id "
             "WHERE p.type = ?1 LIMIT ?3";
  }
  return "SELECT key, name FROM resources "
         "WHERE name >= ?1 COLLATE NOCASE AND name < ?2 COLLATE NOCASE LIMIT ?3";
}

}  // namespace

template <typename Each, typename... Values>
void SqliteFacts::Visit(const char* sql, const Each& each, const Values&... values) const {
  if (error_) return;
  Result<void> visited = connection_.Visit(sql, each, values...);
  if (!visited.ok()) error_ = std::move(visited).error();
}

template <typename T, typename... Values>
std::vector<T> SqliteFacts::Collect(const char* sql, const Values&... values) const {
  std::vector<T> found;
  const auto each = [&](const Statement& row) -> Result<bool> {
    TRUCE_RETURN_IF_ERROR(Fill(row, found.emplace_back()));
    return true;
  };
  Visit(sql, each, values...);
  if (error_) found.clear();
  return found;
}

template <typename T, typename... Values>
std::optional<T> SqliteFacts::First(const char* sql, const Values&... values) const {
  std::optional<T> found;
  const auto each = [&](const Statement& row) -> Result<bool> {
    TRUCE_RETURN_IF_ERROR(Fill(row, found.emplace()));
    return false;
  };
  Visit(sql, each, values...);
  if (error_) found.reset();
  return found;
}

// A decision that asks for a name asks for its owner next: one search finds both.
std::vector<ResourceName> SqliteFacts::Spelt(const KeyText& name) const {
  auto& spelt = RememberedOf(spelt_, name);
  if (spelt) return *spelt;
  spelt.emplace();
  const auto each = [&](const Statement& row) -> Result<bool> {
    TRUCE_RETURN_IF_ERROR(Fill(row, spelt->emplace_back()));
    auto& owner = RememberedOf(resources_, spelt->back().resource).owner;
    if (owner) return true;
    owner.emplace();
    if (row.Integer(kNameColumns) != 0) {
      TRUCE_RETURN_IF_ERROR(Fill(ColumnsFrom{row, kNameColumns + 1}, owner->emplace()));
    }
    return true;
  };
  Visit("SELECT " TRUCE_NAME_COLUMNS ", r.owned, " TRUCE_OWNER_COLUMNS
        " FROM names n CROSS JOIN resources r ON r.id = n.resource "
        "WHERE n.name = ?1 ORDER BY n.spelling DESC",
        each, name.text);
  if (error_) spelt->clear();
  return *spelt;
}

std::vector<ResourceName> SqliteFacts::NamesOf(const ResourceId& id) const {
  auto& names = RememberedOf(resources_, id).names;
  if (!names) {
    names = Collect<ResourceName>("SELECT " TRUCE_NAME_COLUMNS
                                  " FROM resources r CROSS JOIN names n ON n.resource = r.id "
                                  "WHERE r.public_id = ?1 ORDER BY n.name, n.spelling",
                                  id.text);
  }
  return *names;
}

std::optional<Owner> SqliteFacts::OwnerOf(const ResourceId& id) const {
  auto& owner = RememberedOf(resources_, id).owner;
  if (!owner) owner = First<Owner>(TRUCE_OWNERS "WHERE public_id = ?1 AND owned = 1", id.text);
  return *owner;
}

std::vector<Row> SqliteFacts::RowsOf(const ResourceId& id) const {
  auto& rows = RememberedOf(resources_, id).rows;
  if (!rows) {
    rows = Collect<Row>(TRUCE_ROWS_OF_RESOURCES "WHERE r.public_id = ?1 ORDER BY d.uid, d.state",
                        id.text);
  }
  return *rows;
}

std::vector<Row> SqliteFacts::RowsOfUid(const Uid& uid) const {
  return Collect<Row>(
      "SELECT " TRUCE_ROW_COLUMNS
      " FROM objects o CROSS JOIN declarations d ON d.object = o.id CROSS JOIN resources "
      "r ON r.id = d.resource WHERE o.uid = ?1 ORDER BY r.public_id, d.state",
      uid.text);
}

std::optional<Object> SqliteFacts::ObjectByUid(const Uid& uid) const {
  return First<Object>(TRUCE_OBJECTS "WHERE uid = ?1", uid.text);
}

std::optional<Object> SqliteFacts::ObjectBySlot(const Slot& slot) const {
  std::vector<Object> objects =
      Collect<Object>(TRUCE_OBJECTS "WHERE kind = ?1 AND namespace = ?2 AND name = ?3",
                      KindOf(slot), slot.ns, slot.name);
  const auto newest =
      std::max_element(objects.begin(), objects.end(), [](const Object& a, const Object& b) {
        return std::tie(a.at, a.uid) < std::tie(b.at, b.uid);
      });
  if (newest == objects.end()) return std::nullopt;
  return std::move(*newest);
}

std::vector<Object> SqliteFacts::ChildrenOf(const Slot& slot) const {
  return Collect<Object>(TRUCE_OBJECTS "WHERE parent = ?1 ORDER BY uid", ToText(slot));
}

std::size_t SqliteFacts::CountReserved(const ReservedRange& range,
                                       const std::set<GroupKind>& left_out,
                                       std::size_t limit) const {
  std::size_t count = 0;
  const auto each = [&](const Statement& row) -> Result<bool> {
    const std::optional<Slot> slot = SlotFromText(row.Text(0));
    if (!slot) return Error{ErrorCode::kDataLoss, "a declaration's slot cannot be read"};
    if (!left_out.contains({slot->group, slot->kind})) ++count;
    return count < limit;
  };
  if (limit == 0) return 0;
  Visit(
      "SELECT slot FROM declarations WHERE state = 'reserved' AND namespace = ?1 AND "
      "(CASE WHEN namespace = '' THEN user ELSE '' END) = ?2 AND at >= ?3 AND at < ?4 AND "
      "user <> ''",
      each, range.ns, range.ns.empty() ? range.user : std::string_view(), Milliseconds(range.from),
      Milliseconds(range.before));
  return error_ ? 0 : count;
}

std::uint64_t SqliteFacts::CountOwned(const OwnedRange& range) const {
  constexpr const char* kInAll =
      "SELECT coalesce(sum(owned), 0) FROM places WHERE type = ?1 AND (?2 = '' OR account = ?2) "
      "AND (?3 = '' OR region = ?3)";
  constexpr const char* kInOne =
      "SELECT coalesce(sum(owned), 0) FROM places WHERE type = ?1 AND (?2 = '' OR account = ?2) "
      "AND (?3 = '' OR region = ?3) AND cluster = ?4 AND namespace = ?5";
  std::uint64_t count = 0;
  if (range.namespaces.empty()) {
    count = First<std::uint64_t>(kInAll, range.type, range.account, range.region).value_or(0);
  }
  for (const ClusterNamespace& ns : range.namespaces) {
    count +=
        First<std::uint64_t>(kInOne, range.type, range.account, range.region, ns.first, ns.second)
            .value_or(0);
  }
  return count;
}

std::vector<Owner> SqliteFacts::OwnersOfShape(std::string_view shape, std::size_t limit) const {
  return Collect<Owner>(TRUCE_OWNERS "WHERE shape = ?1 AND ?1 <> '' ORDER BY key LIMIT ?2", shape,
                        LimitOf(limit));
}

std::vector<Agreement> SqliteFacts::AgreementsOf(const ResourceId& id) const {
  return Collect<Agreement>("SELECT " TRUCE_AGREEMENT_COLUMNS
                            " FROM resources r CROSS JOIN agreements a ON a.resource = r.id "
                            "WHERE r.public_id = ?1 ORDER BY a.id",
                            id.text);
}

std::optional<Agreement> SqliteFacts::AgreementById(const PublicId& id) const {
  return First<Agreement>(TRUCE_AGREEMENTS "WHERE a.id = ?1", id.text);
}

std::vector<Agreement> SqliteFacts::AgreementsAfter(AgreementKind kind, const PublicId& after,
                                                    std::size_t limit) const {
  return Collect<Agreement>(TRUCE_AGREEMENTS
                            "WHERE a.kind = ?1 AND a.id > ?2 ORDER BY a.id LIMIT ?3",
                            kAgreementKinds.Of(kind), after.text, LimitOf(limit));
}

std::vector<Owner> SqliteFacts::OwnersIn(OwnerList list, const KeyText& after,
                                         std::size_t limit) const {
  return Collect<Owner>(OwnersAfter(list), after.text, LimitOf(limit));
}

std::optional<std::string> SqliteFacts::Setting(std::string_view name) const {
  return First<std::string>("SELECT value FROM settings WHERE name = ?1", name);
}

std::vector<TableRow> SqliteFacts::TableRows(const Table& table, const TableRow& prefix) const {
  std::vector<TableRow> rows;
  const auto each = [&](const Statement& row) -> Result<bool> {
    rows.push_back(TableRowFrom(table, row));
    return true;
  };
  Visit(connection_.Keep("SELECT " + ListOf(table.columns) + " FROM " + std::string(table.name) +
                         WhereOf(table, prefix.size(), '?') + " ORDER BY " +
                         ListOf(table.columns.subspan(0, table.key_size))),
        each, prefix);
  if (error_) rows.clear();
  return rows;
}

std::vector<ResourceId> SqliteFacts::ResourcesAfter(const ResourceId& after,
                                                    std::size_t limit) const {
  return Collect<ResourceId>(
      "SELECT public_id FROM resources WHERE public_id > ?1 ORDER BY public_id LIMIT ?2",
      after.text, LimitOf(limit));
}

// In the order of slots; `after` is "namespace/name/uid" of the last one.
ObjectPage SqliteFacts::ObjectsOfKind(const Slot& slot, std::string_view after,
                                      std::size_t limit) const {
  const std::string_view ns = after.substr(0, after.find('/'));
  after.remove_prefix(std::min(after.size(), ns.size() + 1));
  const std::string_view name = after.substr(0, after.find('/'));
  after.remove_prefix(std::min(after.size(), name.size() + 1));
  ObjectPage page;
  page.objects = Collect<Object>(TRUCE_OBJECTS
                                 "WHERE kind = ?1 AND (namespace, name, uid) > (?2, ?3, ?4) "
                                 "ORDER BY namespace, name, uid LIMIT ?5",
                                 KindOf(slot), ns, name, after, LimitOf(limit));
  if (!page.objects.empty() && page.objects.size() == limit) {
    const Object& last = page.objects.back();
    page.next = last.slot.ns + '/' + last.slot.name + '/' + last.uid.text;
  }
  return page;
}

std::vector<Object> SqliteFacts::ObjectsAfter(const Uid& after, std::size_t limit) const {
  return Collect<Object>(TRUCE_OBJECTS "WHERE uid > ?1 ORDER BY uid LIMIT ?2", after.text,
                         LimitOf(limit));
}

std::vector<std::pair<std::string, std::string>> SqliteFacts::SettingsAfter(
    std::string_view after, std::size_t limit) const {
  return Collect<std::pair<std::string, std::string>>(
      "SELECT name, value FROM settings WHERE name > ?1 ORDER BY name LIMIT ?2", after,
      LimitOf(limit));
}

std::vector<Row> SqliteFacts::ReservedBefore(Timestamp before, const RowId& after,
                                             std::size_t limit) const {
  return Collect<Row>(
      TRUCE_ROWS
      "WHERE d.state = 'reserved' AND d.at < ?1 AND (r.public_id, d.uid) > (?2, ?3) "
      "ORDER BY r.public_id, d.uid LIMIT ?4",
      Milliseconds(before), after.resource.text, after.uid.text, LimitOf(limit));
}

std::uint64_t SqliteFacts::CountSeen(std::string_view cluster) const {
  return First<std::uint64_t>(
             "SELECT count(*) FROM declarations "
             "WHERE state = 'seen' AND substr(slot, 1, length(?1)) = ?1",
             std::string(cluster) + '/')
      .value_or(0);
}

std::vector<Row> SqliteFacts::ObserversAfter(const RowId& after, std::size_t limit) const {
  return Collect<Row>(
      TRUCE_ROWS
      "WHERE d.intent = 'observes' AND (r.public_id, d.uid, d.state) > (?1, ?2, ?3) "
      "ORDER BY r.public_id, d.uid, d.state LIMIT ?4",
      after.resource.text, after.uid.text, kRowStates.Of(after.state), LimitOf(limit));
}

std::vector<PlaceCount> SqliteFacts::PlacesOf(std::string_view type, std::size_t limit) const {
  return Collect<PlaceCount>(
      "SELECT type, account, region, cluster, namespace, owned FROM places "
      "WHERE type = ?1 AND owned > 0 ORDER BY cluster, namespace, account, region "
      "LIMIT ?2",
      type, LimitOf(limit));
}

std::vector<KeyText> SqliteFacts::KeysAfter(const KeyText& after, std::size_t limit) const {
  return Collect<KeyText>(
      "SELECT DISTINCT n.name FROM names n CROSS JOIN resources r ON r.id = n.resource "
      "AND r.key = n.name WHERE n.name > ?1 ORDER BY n.name LIMIT ?2",
      after.text, LimitOf(limit));
}

std::vector<KeyText> SqliteFacts::KeysWithName(std::string_view name, std::size_t limit) const {
  return Collect<KeyText>(
      "SELECT key FROM resources WHERE name = ?1 COLLATE NOCASE ORDER BY key LIMIT ?2", name,
      LimitOf(limit));
}

std::vector<KeyText> SqliteFacts::KeysWithArn(std::string_view arn, std::size_t limit) const {
  return Collect<KeyText>("SELECT key FROM resources WHERE arn = ?1 ORDER BY key LIMIT ?2", arn,
                          LimitOf(limit));
}

std::optional<std::vector<KeyText>> SqliteFacts::KeysNamed(const NameSearch& search,
                                                           std::size_t limit) const {
  std::vector<KeyText> keys;
  if (IsAmongNobody(search)) return keys;
  std::size_t looked_at = 0;
  const auto each = [&](const Statement& row) -> Result<bool> {
    ++looked_at;
    if (HoldsIgnoringCase(row.Text(1), search.part)) keys.push_back({std::string(row.Text(0))});
    return true;
  };
  // Behind every name that begins so: no UTF-8 has this byte.
  Visit(OwnersAmong(search.among), each, search.text, search.text + '\xff', LimitOf(limit + 1));
  if (looked_at > limit) return std::nullopt;
  std::sort(keys.begin(), keys.end());
  return keys;
}

std::vector<KeyText> SqliteFacts::KeysOfService(std::string_view service, const KeyText& after,
                                                std::size_t limit) const {
  return Collect<KeyText>(
      "SELECT key FROM resources INDEXED BY resources_by_service "
      "WHERE service = ?1 AND ?1 <> '' AND key > ?2 ORDER BY key LIMIT ?3",
      service, after.text, LimitOf(limit));
}

std::vector<ServiceCount> SqliteFacts::Services(std::string_view after, std::size_t limit) const {
  return Collect<ServiceCount>(
      "SELECT service, count(*) FROM resources WHERE service > ?1 GROUP BY service "
      "ORDER BY service LIMIT ?2",
      after, LimitOf(limit));
}

std::vector<ServiceTally> SqliteFacts::TallyServices() const {
  return Collect<ServiceTally>(
      "SELECT p.type, p.account, t.service, sum(t.owned) FROM "
      "(SELECT service, place, count(*) AS owned FROM resources GROUP BY service, place) "
      "t JOIN places p ON p.id = t.place GROUP BY 1, 2, 3 ORDER BY 1, 2, 3");
}

// From one namespace to the next one behind it: as many steps in the index as there are.
std::vector<std::string> SqliteFacts::NamespacesOf(std::string_view cluster, const GroupKind& kind,
                                                   std::size_t limit) const {
  return Collect<std::string>(
      "WITH RECURSIVE found (namespace) AS ("
      "SELECT min(namespace) FROM objects WHERE kind = ?1 UNION ALL "
      "SELECT (SELECT min(o.namespace) FROM objects o WHERE o.kind = ?1 "
      "AND o.namespace > f.namespace) FROM found f WHERE f.namespace IS NOT NULL) "
      "SELECT namespace FROM found WHERE namespace IS NOT NULL LIMIT ?2",
      KindOf({std::string(cluster), kind.group, kind.kind, {}, {}}), LimitOf(limit));
}

std::vector<AuditLine> SqliteFacts::AuditLines(const AuditRange& range, std::size_t limit) const {
  auto from = static_cast<std::int64_t>(range.from);
  auto until = range.until == 0 ? std::numeric_limits<std::int64_t>::max()
                                : static_cast<std::int64_t>(range.until);
  if (range.behind) {
    const auto number = static_cast<std::int64_t>(range.behind->number);
    if (range.newest_first) {
      until = std::min(until, number);
    } else {
      from = std::max(from, number + 1);
    }
  }
  if (!range.id.empty()) {
    return Collect<AuditLine>(
        range.newest_first
            ? TRUCE_AUDIT "WHERE id = ?4 AND seq >= ?1 AND seq < ?2 ORDER BY seq DESC LIMIT ?3"
            : TRUCE_AUDIT "WHERE id = ?4 AND seq >= ?1 AND seq < ?2 ORDER BY seq LIMIT ?3",
        from, until, LimitOf(limit), range.id.text);
  }
  return Collect<AuditLine>(
      range.newest_first ? TRUCE_AUDIT "WHERE seq >= ?1 AND seq < ?2 ORDER BY seq DESC LIMIT ?3"
                         : TRUCE_AUDIT "WHERE seq >= ?1 AND seq < ?2 ORDER BY seq LIMIT ?3",
      from, until, LimitOf(limit));
}

// A record outranks what the rows say, and an ownership that is offered to a successor is still
// orphaned.
Result<StoreCounts> CountsOf(Connection& connection) {
  const auto count = [&](const char* sql, std::uint64_t& value) -> Result<void> {
    TRUCE_ASSIGN_OR_RETURN(const std::int64_t counted, connection.Integer(sql));
    value = static_cast<std::uint64_t>(counted);
    return {};
  };
  StoreCounts counts;
  TRUCE_RETURN_IF_ERROR(count("SELECT coalesce(sum(owned), 0) FROM places", counts.owners));
  TRUCE_RETURN_IF_ERROR(
      count("SELECT count(*) FROM resources WHERE state = 'reserved' AND "
            "record = 'none' AND owned = 1",
            counts.reserved));
  TRUCE_RETURN_IF_ERROR(
      count("SELECT count(*) FROM resources WHERE record = 'orphaned' OR "
            "record = 'transferring'",
            counts.orphaned));
  TRUCE_RETURN_IF_ERROR(
      count("SELECT count(*) FROM resources WHERE record = 'imported'", counts.imported));
  TRUCE_RETURN_IF_ERROR(
      count("SELECT count(*) FROM resources WHERE contested = 1", counts.conflicts));
  counts.held = counts.owners - counts.reserved - counts.orphaned - counts.imported;
  return counts;
}

}  // namespace truce
