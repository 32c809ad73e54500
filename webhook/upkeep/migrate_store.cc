#include "webhook/upkeep/migrate_store.h"

#include <charconv>
#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <variant>

#include "registry/base/text.h"
#include "registry/ownership/facts.h"
#include "registry/ownership/names.h"
#include "registry/ownership/rows.h"
#include "registry/store/store.h"
#include "webhook/upkeep/tables.h"
#include "webhook/wire/digest.h"

namespace truce {
namespace {

constexpr std::string_view kMigration = "store/migration";  // "<source> <table> <after>"; "": none
constexpr std::size_t kEntries = 500;
constexpr std::size_t kSettingsPage = 20;  // some are long
constexpr std::chrono::seconds kEntriesTime{60};

// A part of one table, as rows to put.
struct Page {
  Changes changes;
  std::uint64_t count = 0;  // 0: the table has ended
  std::string last;         // behind which the next page begins
};

Page ResourcesPage(const AllFacts& facts, const std::string& after) {
  Page page;
  Changes& put = page.changes;
  for (const ResourceId& id : facts.ResourcesAfter({after}, kEntries)) {
    std::vector<ResourceName> names = facts.NamesOf(id);
    if (auto owner = facts.OwnerOf(id)) {
      put.put_owners.push_back(*std::move(owner));
    } else {
      put.put_observed.push_back({id, BestOf(names)});
    }
    for (Row& row : facts.RowsOf(id)) put.put_rows.push_back(std::move(row));
    for (ResourceName& name : names) put.put_names.push_back(std::move(name));
    page.last = id.text;
    ++page.count;
  }
  return page;
}

Page ObjectsPage(const AllFacts& facts, const std::string& after) {
  Page page;
  page.changes.put_objects = facts.ObjectsAfter({after}, kEntries);
  page.count = page.changes.put_objects.size();
  if (page.count > 0) page.last = page.changes.put_objects.back().uid.text;
  return page;
}

template <AgreementKind kKind>
Page AgreementsPage(const AllFacts& facts, const std::string& after) {
  Page page;
  page.changes.put_agreements = facts.AgreementsAfter(kKind, {after}, kEntries);
  page.count = page.changes.put_agreements.size();
  if (page.count > 0) page.last = page.changes.put_agreements.back().id.text;
  return page;
}

// To the first gap in the numbers.
Page AuditPage(const AllFacts& facts, const std::string& after) {
  Page page;
  std::uint64_t behind = 0;
  std::from_chars(after.data(), after.data() + after.size(), behind);
  for (AuditLine& line : facts.AuditLines({.from = behind + 1}, kEntries)) {
    const std::uint64_t number = line.place.number;
    if (page.count == 0) page.changes.audit_from = number;
    if (number != page.changes.audit_from + page.count) break;
    page.changes.audit.push_back(std::move(line.entry));
    page.last = std::to_string(number);
    ++page.count;
  }
  return page;
}

// Where pages end does not depend on the migration's own setting, which is in one of the stores.
Page SettingsPage(const AllFacts& facts, const std::string& after) {
  Page page;
  for (auto& [name, value] : facts.SettingsAfter(after, kSettingsPage + 1)) {
    if (page.count == kSettingsPage) break;
    page.last = name;
    if (name == kMigration) continue;
    page.changes.put_settings.emplace_back(name, std::move(value));
    ++page.count;
  }
  return page;
}

Page RowsPage(const AllFacts& facts, const Table& table, const std::string& after) {
  Page page;
  if (!after.empty()) return page;
  for (TableRow& row : facts.TableRows(table, {})) {
    page.changes.put_table_rows.push_back({table, std::move(row)});
  }
  page.count = page.changes.put_table_rows.size();
  page.last = "all";
  return page;
}

struct Part {
  std::string_view name;
  std::function<Page(const AllFacts& facts, const std::string& after)> page;
};

// Objects before the resources that they declare. Settings last: audit.let-go lets lines go when it
// is written.
const std::vector<Part>& Parts() {
  static const std::vector<Part> kParts = [] {
    std::vector<Part> parts = {
        {"objects", ObjectsPage},
        {"resources", ResourcesPage},
        {"shares", AgreementsPage<AgreementKind::kShare>},
        {"transfers", AgreementsPage<AgreementKind::kTransfer>},
        {"protections", AgreementsPage<AgreementKind::kProtection>},
        {"audit lines", AuditPage},
    };
    for (const Table& table : kRegistryTables) {
      parts.push_back({table.name, [table](const AllFacts& facts, const std::string& after) {
                         return RowsPage(facts, table, after);
                       }});
    }
    parts.push_back({"settings", SettingsPage});
    return parts;
  }();
  return kParts;
}

Result<Page> ReadPage(const Store& store, const Part& part, const std::string& after) {
  Page page;
  const auto read = [&](const AllFacts& facts) { page = part.page(facts, after); };
  TRUCE_RETURN_IF_ERROR(store.Read(read, In(kEntriesTime)));
  return page;
}

// The values of a write as bytes: different values have different bytes. Names all fields: a new
// one must be added here.
class Bytes {
 public:
  template <typename... Parts>
  void All(const Parts&... parts) {
    (Add(parts), ...);
  }
  template <typename T>
  void Add(const std::vector<T>& things) {
    Add(things.size());
    for (const T& thing : things) Add(thing);
  }
  void Add(std::string_view text) {
    text_.append(std::to_string(text.size())).append(1, ':') += text;
  }
  void Add(const std::string& text) { Add(std::string_view(text)); }
  void Add(std::uint64_t number) { text_.append(std::to_string(number)).append(1, ','); }
  void Add(bool flag) { Add(std::uint64_t{flag}); }
  void Add(Timestamp time) { Add(static_cast<std::uint64_t>(time.time_since_epoch().count())); }
  void Add(const Slot& slot) { Add(ToText(slot)); }
  void Add(const ResourceIdentity& identity) { Add(ToText(identity)); }
  template <typename T>
  void Add(const std::optional<T>& value) {
    Add(value.has_value());
    if (value) Add(*value);
  }
  template <typename T>
  requires std::is_enum_v<T>
  void Add(T value) { Add(static_cast<std::uint64_t>(value)); }
  template <typename T>
  requires requires(const T& id) { id.text; }
  void Add(const T& id) { Add(id.text); }
  void Add(const std::pair<std::string, std::string>& setting) {
    All(setting.first, setting.second);
  }
  void Add(const TableValue& value) {
    Add(value.index());
    if (const auto* const text = std::get_if<std::string>(&value)) Add(*text);
    if (const auto* const number = std::get_if<std::int64_t>(&value)) {
      Add(static_cast<std::uint64_t>(*number));
    }
  }
  void Add(const TablePut& put) { All(put.table.name, put.row); }
  void Add(const Owner& owner) {
    const auto& [id, key, root, party, service, contact, arn, name, identity, shape, since, real,
                 managed_once, record, record_reason, successor, state, leaf, contested, left,
                 until] = owner;
    All(id, key, root, party, service, contact, arn, name, identity, shape, since, real,
        managed_once, record, record_reason, successor, state, leaf, contested, left, until);
  }
  void Add(const ObservedResource& observed) {
    const auto& [id, key] = observed;
    All(id, key);
  }
  void Add(const Row& row) {
    const auto& [id, slot, root, intent, terminating, managed, identity, review, digest, base, user,
                 at, created, account_fields] = row;
    All(id.resource, id.uid, id.state, slot, root, intent, terminating, managed, identity, review,
        digest, base, user, at, created, account_fields);
  }
  void Add(const Object& object) {
    const auto& [uid, slot, parent, parent_uid, root, link, names, composes, own_party, service,
                 contact, transfer_to, unproven_marks, stripped, at] = object;
    All(uid, slot, parent, parent_uid, root, link, names, composes, own_party, service, contact,
        transfer_to, unproven_marks, stripped, at);
  }
  void Add(const Agreement& agreement) {
    const auto& [id, kind, resource, party, level, accepted, successor, reason, actor, at, until] =
        agreement;
    All(id, kind, resource, party, level, accepted, successor, reason, actor, at, until);
  }
  void Add(const ResourceName& resource_name) {
    const auto& [name, resource, sort, observed, spelling, at] = resource_name;
    All(name, resource, sort, observed, std::uint64_t{spelling}, at);
  }
  void Add(const AuditEntry& entry) {
    const auto& [at, action, key, id, root, slot, uid, cause, actor, review] = entry;
    All(at, action, key, id, root, slot, uid, cause, actor, review);
  }
  void Add(const Changes& put) {
    All(put.put_owners, put.put_observed, put.put_rows, put.put_names, put.put_objects,
        put.put_agreements, put.audit_from, put.audit, put.put_settings, put.put_table_rows);
  }
  void Add(const Digest& digest) { Add(HexOf(digest)); }

  Digest Sum() const { return Sha256(text_); }

 private:
  std::string text_;
};

struct TableSum {
  std::uint64_t count = 0;
  Digest digest{};
};

// Each page's digest holds the former one's: where pages end follows from what is in them.
Result<TableSum> SumOf(const Store& store, const Part& part, const OnMigrated& tell) {
  TableSum sum;
  std::string after;
  while (true) {
    TRUCE_ASSIGN_OR_RETURN(const Page page, ReadPage(store, part, after));
    if (page.count == 0) return sum;
    Bytes bytes;
    bytes.All(sum.digest, page.changes);
    sum.digest = bytes.Sum();
    sum.count += page.count;
    after = page.last;
    tell("compared", part.name, sum.count);
  }
}

// A text by which a later call knows that `from` is the same and did not change: each start of a
// server changes a setting.
Result<std::string> SourceOf(const Store& from) {
  TRUCE_ASSIGN_OR_RETURN(const TableSum settings, SumOf(from, Parts().back(), [](auto...) {}));
  std::vector<AuditLine> newest;
  TRUCE_RETURN_IF_ERROR(from.Read(
      [&](const AllFacts& facts) { newest = facts.AuditLines({.newest_first = true}, 1); },
      In(kEntriesTime)));
  Bytes bytes;
  bytes.Add(settings.digest);
  for (const AuditLine& line : newest) bytes.All(line.place.number, line.entry);
  return HexOf(bytes.Sum());
}

Result<std::string> MigrationOf(const Store& store, Deadline deadline) {
  std::string present;
  TRUCE_RETURN_IF_ERROR(store.Read(
      [&](const AllFacts& facts) { present = facts.Setting(kMigration).value_or(""); }, deadline));
  return present;
}

// Whether there is an entry in any table.
Result<bool> HoldsAnything(const Store& store) {
  for (const Part& part : Parts()) {
    TRUCE_ASSIGN_OR_RETURN(const Page page, ReadPage(store, part, ""));
    if (page.count > 0) return true;
  }
  return false;
}

// The progress of a migration.
struct Position {
  std::string source;
  std::size_t table = 0;  // beyond the last one: all is written
  std::string after;

  std::string Text() const { return source + ' ' + std::to_string(table) + ' ' + after; }
};

// The progress of `source` in `text`, as it is kept; nothing: it is of another source.
std::optional<Position> PositionFrom(std::string_view text, const std::string& source) {
  if (!text.starts_with(source + ' ')) return std::nullopt;
  text.remove_prefix(source.size() + 1);
  Position position{source};
  const std::size_t space = text.find(' ');
  if (space == std::string_view::npos) return std::nullopt;
  std::from_chars(text.data(), text.data() + space, position.table);
  position.after = text.substr(space + 1);
  return position;
}

// Writes `put`, and moves the progress, as it is kept, from `from` to `to`.
Result<void> Advance(Store& store, const std::string& from, const std::string& to,
                     const Changes& put) {
  bool is_there = false;
  const auto decide = [&](const AllFacts& facts) {
    const std::string present = facts.Setting(kMigration).value_or("");
    is_there = present == from || present == to;
    Changes changes;
    if (present == from) {
      changes = put;
      changes.put_settings.emplace_back(kMigration, to);
    }
    // A write whose outcome was not known is at `to`, or happens now.
    changes.repeatable = true;
    return changes;
  };
  TRUCE_RETURN_IF_ERROR(store.Apply({}, decide, In(kEntriesTime)));
  if (is_there) return {};
  return Error{ErrorCode::kConflict, "somebody else writes to the target"};
}

Result<Position> Begin(const Store& from, Store& to) {
  TRUCE_ASSIGN_OR_RETURN(const std::string unfinished, MigrationOf(from, In(kEntriesTime)));
  if (!unfinished.empty()) {
    return Error{ErrorCode::kConflict,
                 "the source is itself the target of a migration that has not ended"};
  }
  TRUCE_ASSIGN_OR_RETURN(const bool has_source, HoldsAnything(from));
  if (!has_source) return Error{ErrorCode::kInvalidArgument, "the source holds no registry"};
  TRUCE_ASSIGN_OR_RETURN(const std::string source, SourceOf(from));
  TRUCE_ASSIGN_OR_RETURN(const std::string present, MigrationOf(to, In(kEntriesTime)));
  if (!present.empty()) {
    if (auto position = PositionFrom(present, source)) return *std::move(position);
    return Error{ErrorCode::kConflict,
                 "the target holds the begin of a migration from another registry, or this one has "
                 "changed since: give it an empty target"};
  }
  TRUCE_ASSIGN_OR_RETURN(const bool is_taken, HoldsAnything(to));
  if (is_taken) {
    return Error{ErrorCode::kConflict, "the target holds a registry: give it an empty one"};
  }
  Position position{source};
  TRUCE_RETURN_IF_ERROR(Advance(to, "", position.Text(), {}));
  return position;
}

Result<StoreMigration> Compare(const Store& from, const Store& to, const OnMigrated& tell) {
  StoreMigration migration;
  Bytes all;
  for (const Part& part : Parts()) {
    TRUCE_ASSIGN_OR_RETURN(const TableSum source, SumOf(from, part, tell));
    TRUCE_ASSIGN_OR_RETURN(const TableSum target, SumOf(to, part, tell));
    if (source.digest != target.digest) {
      return Error{ErrorCode::kDataLoss, "the stores differ in their " + std::string(part.name) +
                                             ": " + std::to_string(source.count) +
                                             " in the source, " + std::to_string(target.count) +
                                             " in the target; begin anew, empty"};
    }
    migration.tables.emplace_back(part.name, source.count);
    all.Add(source.digest);
  }
  migration.digest = HexOf(all.Sum());
  return migration;
}

}  // namespace

Result<StoreMigration> MigrateStore(const Store& from, Store& to, const OnMigrated& tell) {
  TRUCE_ASSIGN_OR_RETURN(Position position, Begin(from, to));
  std::string kept = position.Text();
  for (; position.table < Parts().size(); ++position.table, position.after.clear()) {
    const Part& part = Parts()[position.table];
    std::uint64_t done = 0;
    while (true) {
      TRUCE_ASSIGN_OR_RETURN(const Page page, ReadPage(from, part, position.after));
      if (page.count == 0) break;
      position.after = page.last;
      const std::string next = position.Text();
      TRUCE_RETURN_IF_ERROR(Advance(to, kept, next, page.changes));
      kept = next;
      done += page.count;
      tell("moved", part.name, done);
    }
  }
  TRUCE_ASSIGN_OR_RETURN(StoreMigration migration, Compare(from, to, tell));
  TRUCE_RETURN_IF_ERROR(Advance(to, kept, "", {}));
  return migration;
}

Result<void> CheckMigrated(const Store& store, Deadline deadline) {
  TRUCE_ASSIGN_OR_RETURN(const std::string unfinished, MigrationOf(store, deadline));
  if (unfinished.empty()) return {};
  return Error{
      ErrorCode::kConflict,
      "a migration into this registry has not ended: repeat `truce migrate-store` with the "
      "same --from and --to, which goes on where it was cut off"};
}

}  // namespace truce
