#include "registry/store/postgres/records.h"

#include <map>
#include <set>
#include <span>
#include <utility>

#include "registry/base/text.h"
#include "registry/store/adapter.h"
#include "registry/store/columns.h"

namespace truce {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

void OptionalText(TextArray& array, const std::optional<std::string>& text) {
  text ? array.Text(*text) : array.Null();
}

void OptionalNumber(TextArray& array, const std::optional<std::int64_t>& number) {
  number ? array.Number(*number) : array.Null();
}

void Flag(TextArray& array, bool flag) { array.Number(flag ? 1 : 0); }

void Add(TextArray& array, const RowId& id) {
  array.Text(id.resource.text);
  array.Text(id.uid.text);
  array.Text(kRowStates.Of(id.state));
}

void Add(TextArray& array, const Row& row) {
  Add(array, row.id);
  array.Text(ToText(row.slot));
  array.Text(row.slot.ns);
  OptionalText(array, RootBeside(row.slot, row.root));
  array.Text(kIntents.Of(row.intent));
  Flag(array, row.terminating);
  Flag(array, row.managed);
  array.Text(ToText(row.identity));
  array.Text(row.review.text);
  array.Text(row.digest);
  OptionalNumber(array, AsBits(row.base));
  array.Text(row.user);
  array.Number(Milliseconds(row.at));
  OptionalNumber(array, OptionalTime(row.created));
  array.Text(row.account_fields);
}

void Add(TextArray& array, const Owner& owner) {
  array.Text(owner.id.text);
  array.Text(owner.key.text);
  array.Text(ToText(owner.root));
  array.Text(owner.party.text);
  array.Text(owner.service);
  array.Text(owner.contact);
  array.Text(owner.arn);
  array.Text(owner.name);
  array.Text(ToText(owner.identity));
  array.Text(owner.shape);
  array.Number(Milliseconds(owner.since));
  Flag(array, owner.real);
  array.Text(kRecords.Of(owner.record));
  array.Text(owner.record_reason);
  array.Text(owner.successor);
  array.Text(kHolderStates.Of(owner.state));
  OptionalText(array, LeafBeside(owner.root, owner.leaf));
  Flag(array, owner.contested);
  Flag(array, owner.managed_once);
  array.Text(SlotLines(owner.left));
  OptionalNumber(array, OptionalTime(owner.until));
}

void Add(TextArray& array, const ObservedResource& observed) {
  array.Text(observed.id.text);
  array.Text(observed.key.text);
}

void Add(TextArray& array, const Object& object) {
  array.Text(object.uid.text);
  array.Text(KindOf(object.slot));
  array.Text(object.slot.ns);
  array.Text(object.slot.name);
  OptionalText(array, object.parent ? std::optional(ToText(*object.parent)) : std::nullopt);
  array.Text(object.parent_uid.text);
  OptionalText(array, RootBeside(object.slot, object.root));
  array.Text(object.link);
  std::string names;
  for (const std::string& name : object.names) names.append(name).append(1, '\n');
  array.Text(names);
  array.Text(object.service);
  array.Text(object.contact);
  Flag(array, object.composes);
  Flag(array, object.own_party);
  array.Text(object.transfer_to);
  array.Text(object.unproven_marks);
  OptionalNumber(array, AsBits(object.stripped));
  array.Number(Milliseconds(object.at));
}

void Add(TextArray& array, const Agreement& agreement) {
  array.Text(agreement.id.text);
  array.Text(kAgreementKinds.Of(agreement.kind));
  array.Text(agreement.resource.text);
  array.Text(agreement.party.text);
  array.Text(kShareLevels.Of(agreement.level));
  Flag(array, agreement.accepted);
  array.Text(agreement.successor);
  array.Text(agreement.reason);
  array.Text(agreement.actor);
  array.Number(Milliseconds(agreement.at));
  OptionalNumber(array, OptionalTime(agreement.until));
}

void Add(TextArray& array, const NameId& id) {
  array.Text(id.name.text);
  array.Number(id.spelling);
}

void Add(TextArray& array, const ResourceName& name) {
  Add(array, IdOf(name));
  array.Text(name.resource.text);
  array.Text(kNameSorts.Of(name.sort));
  Flag(array, name.observed);
  array.Number(Milliseconds(name.at));
}

void Add(TextArray& array, const AuditEntry& entry) {
  array.Number(Milliseconds(entry.at));
  array.Text(kAuditActions.Of(entry.action));
  array.Text(entry.key.text);
  array.Text(entry.id.text);
  array.Text(ToText(entry.root));
  array.Text(ToText(entry.slot));
  array.Text(entry.uid.text);
  array.Text(entry.cause);
  array.Text(entry.actor);
  array.Text(entry.review.text);
}

void Add(TextArray& array, const ResourceId& id) { array.Text(id.text); }
void Add(TextArray& array, const Uid& uid) { array.Text(uid.text); }
void Add(TextArray& array, const PublicId& id) { array.Text(id.text); }

// Each thing once.
template <typename T>
std::string ArrayOf(const std::set<T>& things) {
  TextArray array;
  for (const T& thing : things) Add(array, thing);
  return std::move(array).Take();
}

// Each thing once: the last one under its id counts.
template <typename T, typename Id>
std::string LastOf(const std::vector<T>& things, const Id& id) {
  std::map<std::decay_t<decltype(id(things.front()))>, const T*> last;
  for (const T& thing : things) last[id(thing)] = &thing;
  TextArray array;
  for (const auto& [name, thing] : last) Add(array, *thing);
  return std::move(array).Take();
}

template <typename T>
std::string DropsOf(const std::vector<T>& things) {
  return ArrayOf(std::set<T>(things.begin(), things.end()));
}

void Add(TextArray& array, const TableRow& row) {
  for (const TableValue& value : row) {
    if (const auto* const text = std::get_if<std::string>(&value)) {
      array.Text(*text);
    } else if (const auto* const number = std::get_if<std::int64_t>(&value)) {
      array.Number(*number);
    } else {
      array.Null();
    }
  }
}

// Each row that an array of texts holds, one after the other: `p[i], p[i + 1]::bigint`.
std::string FromArray(std::span<const TableColumn> columns) {
  std::string list;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    list.append(i == 0 ? "" : ", ").append("p[i + ").append(std::to_string(i)).append(1, ']');
    if (columns[i].is_number) list.append("::bigint");
  }
  return list;
}

std::string RowsOfArray(std::size_t size) {
  return "(SELECT $1::text[]) AS a (p), generate_series(1, cardinality(p), " +
         std::to_string(size) + ") AS i";
}

std::string PutSql(const Table& table) {
  const auto key = table.columns.subspan(0, table.key_size);
  std::string sql = "INSERT INTO truce." + std::string(table.name) + " (" + ListOf(table.columns) +
                    ") SELECT " + FromArray(table.columns) + " FROM " +
                    RowsOfArray(table.columns.size()) + " ON CONFLICT (" + ListOf(key) + ") DO ";
  if (key.size() == table.columns.size()) return sql + "NOTHING";
  std::string sets;
  for (const TableColumn& column : table.columns.subspan(table.key_size)) {
    const std::string name = ListOf({&column, 1});
    sets.append(sets.empty() ? "" : ", ").append(name).append(" = excluded.").append(name);
  }
  return sql + "UPDATE SET " + sets;
}

std::string DropSql(const Table& table) {
  const auto key = table.columns.subspan(0, table.key_size);
  return "DELETE FROM truce." + std::string(table.name) + " USING " + RowsOfArray(key.size()) +
         " WHERE (" + ListOf(key) + ") = (" + FromArray(key) + ")";
}

// The first text of `changes` that finds things and cannot be kept.
std::optional<std::string> Unkeepable(const Changes& changes) {
  std::optional<std::string> found;
  const auto check = [&](std::string_view text) {
    if (!found && !CanBeKey(text)) found = text;
  };
  for (const Row& row : changes.put_rows) {
    check(row.id.resource.text);
    check(row.id.uid.text);
    check(ToText(row.slot));
    check(row.user);
  }
  for (const Owner& owner : changes.put_owners) {
    check(owner.id.text);
    check(owner.key.text);
    check(owner.shape);
    check(ToText(owner.root));
  }
  for (const ObservedResource& observed : changes.put_observed) {
    check(observed.id.text);
    check(observed.key.text);
  }
  for (const Object& object : changes.put_objects) {
    check(object.uid.text);
    check(ToText(object.slot));
    if (object.parent) check(ToText(*object.parent));
  }
  for (const Agreement& agreement : changes.put_agreements) check(agreement.id.text);
  for (const ResourceName& name : changes.put_names) check(name.name.text);
  for (const auto& [name, value] : changes.put_settings) check(name);
  for (const auto& [table, row] : changes.put_table_rows) {
    for (const TableValue& value : KeyOf(table, row)) {
      if (const auto* const text = std::get_if<std::string>(&value)) check(*text);
    }
  }
  return found;
}

}  // namespace

void TextArray::Begin() {
  if (text_.size() > 1) text_ += ',';
}

void TextArray::Text(std::string_view text) {
  Begin();
  text_ += '"';
  while (!text.empty()) {
    const Utf8Character next = FirstCharacter(text);
    if (next.length == 0 || next.code == 0) {
      text_ += kReplacement;
      text.remove_prefix(1);
      continue;
    }
    if (next.code == '"' || next.code == '\\') text_ += '\\';
    text_ += text.substr(0, next.length);
    text.remove_prefix(next.length);
  }
  text_ += '"';
}

void TextArray::Number(std::int64_t number) {
  Begin();
  text_ += std::to_string(number);
}

void TextArray::Null() {
  Begin();
  text_ += "NULL";
}

bool CanBeRead(std::string_view text) {
  return text.find('\0') == std::string_view::npos && IsUtf8(text);
}

bool CanBeKey(std::string_view text) { return text.size() <= kKeyMax && CanBeRead(text); }

std::vector<PgStatement> TableStatements(const Changes& changes) {
  std::vector<PgStatement> statements;
  std::map<Table, TextArray> drops;
  for (const auto& [table, key] : changes.drop_table_rows) Add(drops[table], key);
  for (auto& [table, keys] : drops) {
    statements.push_back({DropSql(table), {std::move(keys).Take()}});
  }
  std::map<Table, std::map<TableRow, const TableRow*>> puts;
  for (const auto& [table, row] : changes.put_table_rows) puts[table][KeyOf(table, row)] = &row;
  for (const auto& [table, rows] : puts) {
    TextArray array;
    for (const auto& [key, row] : rows) Add(array, *row);
    statements.push_back({PutSql(table), {std::move(array).Take()}});
  }
  return statements;
}

Result<std::vector<std::optional<std::string>>> PutParameters(const Changes& changes) {
  if (const std::optional<std::string> text = Unkeepable(changes)) {
    return Error{ErrorCode::kInternal, "PostgreSQL cannot keep a name of " +
                                           std::to_string(text->size()) +
                                           " bytes: too long, or no text"};
  }
  std::map<std::string_view, std::string_view> settings;
  for (const auto& [name, value] : changes.put_settings) settings[name] = value;
  TextArray of_settings;
  for (const auto& [name, value] : settings) {
    of_settings.Text(name);
    of_settings.Text(value);
  }
  TextArray audit;
  for (const AuditEntry& entry : changes.audit) Add(audit, entry);
  std::optional<std::string> audit_from;
  if (changes.audit_from != 0) audit_from = std::to_string(changes.audit_from);
  return std::vector<std::optional<std::string>>{
      DropsOf(changes.drop_names),
      DropsOf(changes.drop_rows),
      DropsOf(changes.drop_owners),
      LastOf(changes.put_observed, [](const ObservedResource& observed) { return observed.id; }),
      LastOf(changes.put_owners, [](const Owner& owner) { return owner.id; }),
      LastOf(changes.put_rows, [](const Row& row) { return row.id; }),
      LastOf(changes.put_names, IdOf),
      DropsOf(changes.drop_objects),
      LastOf(changes.put_objects, [](const Object& object) { return object.uid; }),
      DropsOf(changes.drop_agreements),
      LastOf(changes.put_agreements, [](const Agreement& agreement) { return agreement.id; }),
      std::move(of_settings).Take(),
      std::move(audit).Take(),
      std::move(audit_from)};
}

}  // namespace truce
