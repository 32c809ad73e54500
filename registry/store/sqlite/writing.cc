#include "registry/store/sqlite/writing.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "registry/store/adapter.h"
#include "registry/store/columns.h"

namespace truce {
namespace {

// A broken constraint ends the whole transaction (OR ROLLBACK), which the writer repeats without
// the request that broke it: so no statement needs a journal to be taken back alone.
//
// A row that is there is changed in those columns only that may have changed: SQLite writes the
// entry of every index anew whose columns a statement names.

using RowNumber = std::optional<std::int64_t>;

// An index passes over what is absent.
std::optional<std::string_view> OrNull(std::string_view text) {
  if (text.empty()) return std::nullopt;
  return text;
}

Result<RowNumber> Find(Connection& writer, const char* sql, const auto&... values) {
  RowNumber number;
  const auto read = [&](const Statement& row) -> Result<bool> {
    number = row.Integer(0);
    return false;
  };
  TRUCE_RETURN_IF_ERROR(writer.Visit(sql, read, values...));
  return number;
}

struct Found {
  RowNumber number;
  bool holds = false;
};
// The number that the first column tells, and whether the second one holds.
Result<Found> Look(Connection& writer, const char* sql, const auto&... values) {
  Found found;
  const auto read = [&](const Statement& row) -> Result<bool> {
    found = {row.Integer(0), row.Integer(1) != 0};
    return false;
  };
  TRUCE_RETURN_IF_ERROR(writer.Visit(sql, read, values...));
  return found;
}

// The number by which `what` refers to a resource.
Result<std::int64_t> ResourceNumber(Connection& writer, const ResourceId& id,
                                    std::string_view constraint, std::string_view what) {
  TRUCE_ASSIGN_OR_RETURN(const RowNumber number,
                         Find(writer, "SELECT id FROM resources WHERE public_id = ?1", id.text));
  if (!number) return BrokenConstraint(constraint, what);
  return *number;
}

Result<std::int64_t> PlaceNumber(Connection& writer, const Place& place) {
  TRUCE_ASSIGN_OR_RETURN(
      const RowNumber number,
      Find(writer,
           "SELECT id FROM places WHERE type = ?1 AND cluster = ?2 AND "
           "namespace = ?3 AND account = ?4 AND region = ?5",
           place.type, place.ns.first, place.ns.second, place.account, place.region));
  if (number) return *number;
  TRUCE_RETURN_IF_ERROR(
      writer.Run("INSERT OR ROLLBACK INTO places (type, cluster, namespace, account, region) "
                 "VALUES (?1, ?2, ?3, ?4, ?5)",
                 place.type, place.ns.first, place.ns.second, place.account, place.region));
  return writer.LastId();
}

Result<void> PutOwner(Connection& writer, const Owner& owner) {
  TRUCE_ASSIGN_OR_RETURN(const std::int64_t place, PlaceNumber(writer, PlaceOf(owner)));
  // The row of the resource, and whether no column of an index changes but those of its lists.
  RowNumber number;
  bool is_found_alike = false;
  const auto read = [&](const Statement& row) -> Result<bool> {
    number = row.Integer(0);
    is_found_alike = row.Text(1) == owner.key.text && row.Text(2) == owner.name &&
                     row.Text(3) == owner.arn && row.Text(4) == owner.shape &&
                     row.Text(5) == owner.service && row.Integer(6) == place;
    return false;
  };
  TRUCE_RETURN_IF_ERROR(writer.Visit(
      "SELECT id, key, name, arn, shape, service, place FROM resources WHERE public_id = ?1", read,
      owner.id.text));
  if (!number) {
    return writer.Run(
        "INSERT OR ROLLBACK INTO resources (root, party, contact, identity, since, real, record, "
        "record_reason, successor, state, leaf, contested, managed_once, left_slots, until, key, "
        "name, arn, shape, service, place, public_id, owned) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, "
        "?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, 1)",
        ToText(owner.root), owner.party.text, owner.contact, ToText(owner.identity),
        Milliseconds(owner.since), owner.real, kRecords.Of(owner.record), owner.record_reason,
        owner.successor, kHolderStates.Of(owner.state), LeafBeside(owner.root, owner.leaf),
        owner.contested, owner.managed_once, SlotLines(owner.left), OptionalTime(owner.until),
        owner.key.text, OrNull(owner.name), OrNull(owner.arn), OrNull(owner.shape), owner.service,
        place, owner.id.text);
  }
  TRUCE_RETURN_IF_ERROR(writer.Run(
      "UPDATE OR ROLLBACK resources SET (root, party, contact, identity, since, real, record, "
      "record_reason, successor, state, leaf, contested, managed_once, left_slots, until) = (?1, "
      "?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15) WHERE id = ?16",
      ToText(owner.root), owner.party.text, owner.contact, ToText(owner.identity),
      Milliseconds(owner.since), owner.real, kRecords.Of(owner.record), owner.record_reason,
      owner.successor, kHolderStates.Of(owner.state), LeafBeside(owner.root, owner.leaf),
      owner.contested, owner.managed_once, SlotLines(owner.left), OptionalTime(owner.until),
      *number));
  if (is_found_alike) return {};
  return writer.Run(
      "UPDATE OR ROLLBACK resources SET (key, name, arn, shape, service, place, owned) = "
      "(?1, ?2, ?3, ?4, ?5, ?6, 1) WHERE id = ?7",
      owner.key.text, OrNull(owner.name), OrNull(owner.arn), OrNull(owner.shape), owner.service,
      place, *number);
}

// Its observers' rows may stay; ForgetResource takes what nothing points to.
Result<void> DropOwner(Connection& writer, const ResourceId& id) {
  return writer.Run(
      "UPDATE OR ROLLBACK resources SET (owned, root, party, service, contact, arn, name, "
      "identity, shape, place, since, real, record, record_reason, successor, state, leaf, "
      "contested, managed_once, left_slots, until) = (0, '', '', '', '', NULL, NULL, '', NULL, "
      "NULL, 0, 0, 'none', '', '', 'reserved', NULL, 0, 0, '', NULL) WHERE public_id = ?1",
      id.text);
}

// A resource with an owner stays owned.
Result<void> PutObserved(Connection& writer, const ObservedResource& observed) {
  return writer.Run(
      "INSERT OR ROLLBACK INTO resources (public_id, key, owned, root, party, service, contact, "
      "identity, since, real, record, record_reason, successor, state, contested, managed_once, "
      "left_slots) VALUES (?1, ?2, 0, '', '', '', '', '', 0, 0, 'none', '', '', 'reserved', 0, 0, "
      "'') ON CONFLICT (public_id) DO UPDATE SET key = ?2 WHERE owned = 0",
      observed.id.text, observed.key.text);
}

// One that has neither owner nor row any more.
Result<void> ForgetResource(Connection& writer, const ResourceId& id) {
  return writer.Run(
      "DELETE FROM resources WHERE public_id = ?1 AND owned = 0 AND NOT EXISTS "
      "(SELECT 1 FROM declarations WHERE resource = resources.id)",
      id.text);
}

// Not by ON CONFLICT, as names: its update would keep a journal of the statement, a copy of each
// page.
Result<void> PutRow(Connection& writer, const Row& row) {
  const std::string_view state = kRowStates.Of(row.id.state);
  RowNumber resource;
  RowNumber object;
  bool is_found = false;
  const auto read = [&](const Statement& found) -> Result<bool> {
    resource = found.Integer(0);
    if (!found.IsNull(1)) object = found.Integer(1);
    is_found = found.Integer(2) != 0;
    return false;
  };
  TRUCE_RETURN_IF_ERROR(writer.Visit(
      "SELECT id, (SELECT id FROM objects WHERE uid = ?2), EXISTS (SELECT 1 FROM declarations "
      "WHERE resource = resources.id AND uid = ?2 AND state = ?3) FROM resources "
      "WHERE public_id = ?1",
      read, row.id.resource.text, row.id.uid.text, state));
  if (!resource) return BrokenConstraint("a row has its resource", row.id.uid.text);
  if (!object) return BrokenConstraint("a row has its object", row.id.uid.text);
  const std::optional<std::int64_t> created = OptionalTime(row.created);
  const char* const sql =
      is_found
          ? "UPDATE OR ROLLBACK declarations SET (slot, namespace, root, intent, terminating, "
            "managed, identity, review, digest, base, user, at, created, account_fields) = (?5, "
            "?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18) "
            "WHERE resource = ?1 AND uid = ?2 AND state = ?3"
          : "INSERT OR ROLLBACK INTO declarations (resource, uid, state, object, slot, namespace, "
            "root, intent, terminating, managed, identity, review, digest, base, user, at, "
            "created, "
            "account_fields) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, "
            "?15, ?16, ?17, ?18)";
  return writer.Run(sql, *resource, row.id.uid.text, state, *object, ToText(row.slot), row.slot.ns,
                    RootBeside(row.slot, row.root), kIntents.Of(row.intent), row.terminating,
                    row.managed, ToText(row.identity), row.review.text, row.digest,
                    AsBits(row.base), row.user, Milliseconds(row.at), created, row.account_fields);
}

Result<void> DropRow(Connection& writer, const RowId& id) {
  return writer.Run(
      "DELETE FROM declarations WHERE resource = (SELECT id FROM resources WHERE public_id = ?1) "
      "AND uid = ?2 AND state = ?3",
      id.resource.text, id.uid.text, kRowStates.Of(id.state));
}

Result<void> PutName(Connection& writer, const ResourceName& name) {
  TRUCE_ASSIGN_OR_RETURN(const Found found,
                         Look(writer,
                              "SELECT id, EXISTS (SELECT 1 FROM names WHERE name = ?2 AND "
                              "spelling = ?3) FROM resources WHERE public_id = ?1",
                              name.resource.text, name.name.text, std::int64_t{name.spelling}));
  if (!found.number) return BrokenConstraint("a name has its resource", name.name.text);
  return writer.Run(found.holds ? "UPDATE OR ROLLBACK names SET (resource, sort, observed, at) = "
                                  "(?3, ?4, ?5, ?6) WHERE name = ?1 AND spelling = ?2"
                                : "INSERT OR ROLLBACK INTO names (name, spelling, resource, sort, "
                                  "observed, at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                    name.name.text, std::int64_t{name.spelling}, *found.number,
                    kNameSorts.Of(name.sort), name.observed, Milliseconds(name.at));
}

Result<void> DropName(Connection& writer, const NameId& id) {
  return writer.Run("DELETE FROM names WHERE name = ?1 AND spelling = ?2", id.name.text,
                    std::int64_t{id.spelling});
}

Result<void> PutObject(Connection& writer, const Object& object) {
  const std::string kind = KindOf(object.slot);
  const std::optional<std::string> parent =
      object.parent ? std::optional(ToText(*object.parent)) : std::nullopt;
  std::string names;
  for (const std::string& name : object.names) names += name + "\n";
  // Whether it is alike in the columns of indexes.
  TRUCE_ASSIGN_OR_RETURN(
      const Found found,
      Look(writer,
           "SELECT id, kind = ?2 AND namespace = ?3 AND name = ?4 AND parent IS ?5 FROM objects "
           "WHERE uid = ?1",
           object.uid.text, kind, object.slot.ns, object.slot.name, parent));
  if (found.number && !found.holds) {
    TRUCE_RETURN_IF_ERROR(writer.Run(
        "UPDATE OR ROLLBACK objects SET (kind, namespace, name, parent) = (?1, ?2, ?3, ?4) "
        "WHERE id = ?5",
        kind, object.slot.ns, object.slot.name, parent, *found.number));
  }
  if (found.number) {
    return writer.Run(
        "UPDATE OR ROLLBACK objects SET (parent_uid, root, link, names, service, contact, "
        "composes, own_party, transfer_to, unproven_marks, stripped, at) = (?1, ?2, ?3, ?4, ?5, "
        "?6, ?7, ?8, "
        "?9, ?10, ?11, ?12) WHERE id = ?13",
        object.parent_uid.text, RootBeside(object.slot, object.root), object.link, names,
        object.service, object.contact, object.composes, object.own_party, object.transfer_to,
        object.unproven_marks, AsBits(object.stripped), Milliseconds(object.at), *found.number);
  }
  return writer.Run(
      "INSERT OR ROLLBACK INTO objects (uid, kind, namespace, name, parent, parent_uid, root, "
      "link, names, service, contact, composes, own_party, transfer_to, unproven_marks, stripped, "
      "at) VALUES "
      "(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17)",
      object.uid.text, kind, object.slot.ns, object.slot.name, parent, object.parent_uid.text,
      RootBeside(object.slot, object.root), object.link, names, object.service, object.contact,
      object.composes, object.own_party, object.transfer_to, object.unproven_marks,
      AsBits(object.stripped), Milliseconds(object.at));
}

Result<void> PutAgreement(Connection& writer, const Agreement& agreement) {
  TRUCE_ASSIGN_OR_RETURN(const std::int64_t resource,
                         ResourceNumber(writer, agreement.resource, "an agreement has its resource",
                                        agreement.id.text));
  const std::optional<std::int64_t> until =
      agreement.until ? std::optional(Milliseconds(*agreement.until)) : std::nullopt;
  return writer.Run(
      "INSERT OR REPLACE INTO agreements (id, kind, resource, party, level, accepted, successor, "
      "reason, actor, at, until) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
      agreement.id.text, kAgreementKinds.Of(agreement.kind), resource, agreement.party.text,
      kShareLevels.Of(agreement.level), agreement.accepted, agreement.successor, agreement.reason,
      agreement.actor, Milliseconds(agreement.at), until);
}

// `number`: nothing: the next one.
Result<void> AddAudit(Connection& writer, const std::optional<std::int64_t>& number,
                      const AuditEntry& entry) {
  return writer.Run(
      "INSERT OR ROLLBACK INTO audit (seq, at, action, key, id, root, slot, uid, cause, actor, "
      "review) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
      number, Milliseconds(entry.at), kAuditActions.Of(entry.action), entry.key.text,
      OrNull(entry.id.text), ToText(entry.root), ToText(entry.slot), entry.uid.text, entry.cause,
      entry.actor, entry.review.text);
}

Result<void> PutTableRow(Connection& writer, const TablePut& put) {
  std::string values;
  for (std::size_t i = 1; i <= put.row.size(); ++i) {
    values.append(i == 1 ? "?" : ", ?").append(std::to_string(i));
  }
  return writer.Run(writer.Keep("INSERT OR REPLACE INTO " + std::string(put.table.name) + " (" +
                                ListOf(put.table.columns) + ") VALUES (" + values + ")"),
                    put.row);
}

Result<void> DropTableRow(Connection& writer, const TableDrop& drop) {
  return writer.Run(writer.Keep("DELETE FROM " + std::string(drop.table.name) +
                                WhereOf(drop.table, drop.table.key_size, '?')),
                    drop.key);
}

// Of two puts of one thing the last one counts, whatever the other one refers to.
template <typename T, typename IsSame>
bool IsPutLater(const std::vector<T>& puts, const T& put, const IsSame& is_same) {
  const std::span<const T> later(&put + 1, puts.data() + puts.size());
  return std::any_of(later.begin(), later.end(), [&](const T& each) { return is_same(each, put); });
}

bool IsOneName(const ResourceName& a, const ResourceName& b) {
  return a.name == b.name && a.spelling == b.spelling;
}
bool IsOneAgreement(const Agreement& a, const Agreement& b) { return a.id == b.id; }

bool Puts(const Changes& changes, const ResourceId& owner) {
  return std::any_of(changes.put_owners.begin(), changes.put_owners.end(),
                     [&owner](const Owner& put) { return put.id == owner; });
}

}  // namespace

// In an order that keeps the schema content: a resource is there before what belongs to it comes,
// and goes after that went; an owner and an object, too, before rows come, and after they went.
Result<void> WriteChanges(Connection& writer, const Changes& changes) {
  for (const NameId& id : changes.drop_names) TRUCE_RETURN_IF_ERROR(DropName(writer, id));
  for (const PublicId& id : changes.drop_agreements) {
    TRUCE_RETURN_IF_ERROR(writer.Run("DELETE FROM agreements WHERE id = ?1", id.text));
  }
  for (const RowId& id : changes.drop_rows) TRUCE_RETURN_IF_ERROR(DropRow(writer, id));
  for (const Owner& owner : changes.put_owners) TRUCE_RETURN_IF_ERROR(PutOwner(writer, owner));
  for (const ObservedResource& observed : changes.put_observed) {
    TRUCE_RETURN_IF_ERROR(PutObserved(writer, observed));
  }
  for (const Object& object : changes.put_objects) TRUCE_RETURN_IF_ERROR(PutObject(writer, object));
  for (const Row& row : changes.put_rows) TRUCE_RETURN_IF_ERROR(PutRow(writer, row));
  for (const ResourceId& id : changes.drop_owners) {
    if (!Puts(changes, id)) TRUCE_RETURN_IF_ERROR(DropOwner(writer, id));
  }
  // Of those, too, whose owner went.
  for (const ObservedResource& observed : changes.put_observed) {
    TRUCE_RETURN_IF_ERROR(PutObserved(writer, observed));
  }
  for (const ResourceName& name : changes.put_names) {
    if (IsPutLater(changes.put_names, name, IsOneName)) continue;
    TRUCE_RETURN_IF_ERROR(PutName(writer, name));
  }
  for (const Agreement& agreement : changes.put_agreements) {
    if (IsPutLater(changes.put_agreements, agreement, IsOneAgreement)) continue;
    TRUCE_RETURN_IF_ERROR(PutAgreement(writer, agreement));
  }
  for (const RowId& id : changes.drop_rows) {
    TRUCE_RETURN_IF_ERROR(ForgetResource(writer, id.resource));
  }
  for (const ResourceId& id : changes.drop_owners) {
    TRUCE_RETURN_IF_ERROR(ForgetResource(writer, id));
  }
  for (const ObservedResource& observed : changes.put_observed) {
    TRUCE_RETURN_IF_ERROR(ForgetResource(writer, observed.id));
  }
  for (const Uid& uid : changes.drop_objects) {
    const bool is_put = std::any_of(changes.put_objects.begin(), changes.put_objects.end(),
                                    [&uid](const Object& put) { return put.uid == uid; });
    if (is_put) continue;
    TRUCE_RETURN_IF_ERROR(writer.Run("DELETE FROM objects WHERE uid = ?1", uid.text));
  }
  for (const TableDrop& drop : changes.drop_table_rows) {
    TRUCE_RETURN_IF_ERROR(DropTableRow(writer, drop));
  }
  for (const TablePut& put : changes.put_table_rows) {
    TRUCE_RETURN_IF_ERROR(PutTableRow(writer, put));
  }
  std::optional<std::int64_t> number;
  if (changes.audit_from != 0) number = static_cast<std::int64_t>(changes.audit_from);
  for (const AuditEntry& entry : changes.audit) {
    TRUCE_RETURN_IF_ERROR(AddAudit(writer, number, entry));
    if (number) ++*number;
  }
  for (const auto& [name, value] : changes.put_settings) {
    TRUCE_RETURN_IF_ERROR(
        writer.Run("INSERT OR REPLACE INTO settings (name, value) VALUES (?1, ?2)", name, value));
  }
  return {};
}

}  // namespace truce
