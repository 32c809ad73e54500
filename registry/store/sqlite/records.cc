#include "registry/store/sqlite/records.h"

#include <array>
#include <bit>
#include <string>
#include <utility>

namespace truce {
namespace {

using std::string_view_literals::operator""sv;

// In the order of the enumerations.
constexpr std::array kRowStates = {"reserved"sv, "seen"sv};
constexpr std::array kIntents = {"observes"sv, "manages"sv, "deletes"sv};
constexpr std::array kRecords = {"none"sv, "orphaned"sv, "imported"sv, "transferring"sv};
constexpr std::array kHolderStates = {"reserved"sv, "held"sv, "terminating"sv};
constexpr std::array kAuditActions = {"granted"sv, "conflict"sv,    "released"sv,
                                      "passed"sv,  "orphaned"sv,    "transferred"sv,
                                      "moved"sv,   "administered"sv};

template <std::size_t kSize, typename Enum>
std::string_view Word(const std::array<std::string_view, kSize>& words, Enum value) {
  const auto index = static_cast<std::size_t>(value);
  // A value outside the enumeration becomes a word that the schema's CHECK refuses.
  return index < kSize ? words[index] : "?"sv;
}

// Collects the first thing that cannot be read.
class Reader {
 public:
  explicit Reader(std::string_view table) : table_(table) {}

  template <typename Enum, std::size_t kSize>
  Enum FromWord(const std::array<std::string_view, kSize>& words, std::string_view word) {
    for (std::size_t i = 0; i < kSize; ++i) {
      if (words[i] == word) return static_cast<Enum>(i);
    }
    Fail(word);
    return Enum{};
  }

  Slot FromSlot(std::string_view text) {
    std::optional<Slot> slot = SlotFromText(text);
    if (!slot.has_value()) Fail(text);
    return std::move(slot).value_or(Slot{});
  }

  std::optional<Slot> FromOptionalSlot(std::string_view text) {
    if (text.empty()) return std::nullopt;
    return FromSlot(text);
  }

  ResourceIdentity FromIdentity(std::string_view text) {
    std::optional<ResourceIdentity> identity = IdentityFromText(text);
    if (!identity.has_value()) Fail(text);
    return std::move(identity).value_or(ResourceIdentity{});
  }

  template <typename T>
  Result<T> Finish(T value) && {
    if (error_.empty()) return value;
    return Error{ErrorCode::kDataLoss, std::move(error_)};
  }

 private:
  void Fail(std::string_view text) {
    if (!error_.empty()) return;
    error_ = "unreadable value in table " + std::string(table_) + ": \"" + std::string(text) + "\"";
  }

  std::string_view table_;
  std::string error_;
};

Timestamp TimeFrom(std::int64_t milliseconds) {
  return Timestamp(std::chrono::milliseconds(milliseconds));
}

std::int64_t Milliseconds(Timestamp time) { return time.time_since_epoch().count(); }

void BindSlot(Statement& statement, int parameter, const std::optional<std::string>& text) {
  if (text.has_value()) {
    statement.BindText(parameter, *text);
  } else {
    statement.BindNull(parameter);
  }
}

std::optional<std::string> OptionalText(const std::optional<Slot>& slot) {
  if (!slot.has_value()) return std::nullopt;
  return ToText(*slot);
}

}  // namespace

std::string_view WordOf(RowState state) { return Word(kRowStates, state); }

bool ManagesByWord(std::string_view intent) { return intent != kIntents[0]; }

Result<Owner> OwnerFrom(const OwnerTexts& texts) {
  Reader reader("owners");
  Owner owner;
  owner.key.text = texts.key;
  owner.id.text = texts.id;
  owner.root = reader.FromSlot(texts.root);
  owner.party.text = texts.party;
  owner.service = texts.service;
  owner.contact = texts.contact;
  owner.arn = texts.arn;
  owner.name = texts.name;
  owner.identity = reader.FromIdentity(texts.identity);
  owner.shape = texts.shape;
  owner.since = TimeFrom(texts.since);
  owner.real = texts.real;
  owner.record = texts.record;
  owner.record_reason = texts.record_reason;
  owner.successor = texts.successor;
  owner.state = texts.state;
  owner.leaf = reader.FromOptionalSlot(texts.leaf);
  owner.contested = texts.contested;
  return std::move(reader).Finish(std::move(owner));
}

Result<OwnerTexts> ReadOwnerTexts(const Statement& statement) {
  Reader reader("owners");
  OwnerTexts texts;
  texts.key = statement.Text(0);
  texts.id = statement.Text(1);
  texts.root = statement.Text(2);
  texts.party = statement.Text(3);
  texts.service = statement.Text(4);
  texts.contact = statement.Text(5);
  texts.arn = statement.Text(6);
  texts.name = statement.Text(7);
  texts.identity = statement.Text(8);
  texts.shape = statement.Text(9);
  texts.since = statement.Integer(10);
  texts.real = statement.Integer(11) != 0;
  texts.record = reader.FromWord<Record>(kRecords, statement.Text(12));
  texts.record_reason = statement.Text(13);
  texts.successor = statement.Text(14);
  texts.state = reader.FromWord<HolderState>(kHolderStates, statement.Text(15));
  texts.leaf = statement.Text(16);
  texts.contested = statement.Integer(17) != 0;
  return std::move(reader).Finish(texts);
}

Result<Owner> ReadOwner(const Statement& statement) {
  TRUCE_ASSIGN_OR_RETURN(const OwnerTexts texts, ReadOwnerTexts(statement));
  return OwnerFrom(texts);
}

Result<Row> ReadRow(const Statement& statement) {
  Reader reader("declarations");
  Row row;
  row.id.key.text = statement.Text(0);
  row.id.uid.text = statement.Text(1);
  row.id.state = reader.FromWord<RowState>(kRowStates, statement.Text(2));
  row.slot = reader.FromSlot(statement.Text(3));
  row.root = reader.FromSlot(statement.Text(4));
  row.intent = reader.FromWord<Intent>(kIntents, statement.Text(5));
  row.terminating = statement.Integer(6) != 0;
  row.managed = statement.Integer(7) != 0;
  row.identity = reader.FromIdentity(statement.Text(8));
  row.review.text = statement.Text(9);
  row.digest = statement.Text(10);
  if (!statement.IsNull(11)) row.base = std::bit_cast<std::uint64_t>(statement.Integer(11));
  row.user = statement.Text(12);
  row.at = TimeFrom(statement.Integer(13));
  if (!statement.IsNull(14)) row.created = TimeFrom(statement.Integer(14));
  return std::move(reader).Finish(std::move(row));
}

namespace {

std::vector<std::string> LinesOf(std::string_view text) {
  std::vector<std::string> lines;
  for (std::size_t end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  return lines;
}

}  // namespace

Result<Object> ReadObject(const Statement& statement) {
  Reader reader("objects");
  Object object;
  object.uid.text = statement.Text(0);
  object.slot = reader.FromSlot(statement.Text(1));
  object.parent = reader.FromOptionalSlot(statement.Text(2));
  object.parent_uid.text = statement.Text(3);
  object.root = reader.FromSlot(statement.Text(4));
  object.link = statement.Text(5);
  object.names = LinesOf(statement.Text(6));
  object.service = statement.Text(7);
  object.contact = statement.Text(8);
  object.stripped = statement.Integer(9) != 0;
  object.at = TimeFrom(statement.Integer(10));
  return std::move(reader).Finish(std::move(object));
}

Result<AuditEntry> ReadAudit(const Statement& statement) {
  Reader reader("audit");
  AuditEntry entry;
  entry.at = TimeFrom(statement.Integer(0));
  entry.action = reader.FromWord<AuditAction>(kAuditActions, statement.Text(1));
  entry.key.text = statement.Text(2);
  entry.id.text = statement.Text(3);
  entry.root = reader.FromSlot(statement.Text(4));
  entry.slot = reader.FromSlot(statement.Text(5));
  entry.uid.text = statement.Text(6);
  entry.cause = statement.Text(7);
  entry.actor = statement.Text(8);
  entry.review.text = statement.Text(9);
  return std::move(reader).Finish(std::move(entry));
}

Result<void> PutOwner(Connection& connection, const Owner& owner) {
  const std::string root = ToText(owner.root);
  const std::string identity = ToText(owner.identity);
  const std::optional<std::string> leaf = OptionalText(owner.leaf);
  TRUCE_ASSIGN_OR_RETURN(Statement statement, connection.Use(Sql::kPutOwner));
  statement.BindText(0, owner.key.text);
  statement.BindText(1, owner.id.text);
  statement.BindText(2, root);
  statement.BindText(3, owner.party.text);
  statement.BindText(4, owner.service);
  statement.BindText(5, owner.contact);
  statement.BindText(6, owner.arn);
  statement.BindText(7, owner.name);
  statement.BindText(8, identity);
  statement.BindText(9, owner.shape);
  statement.BindInteger(10, Milliseconds(owner.since));
  statement.BindInteger(11, owner.real ? 1 : 0);
  statement.BindText(12, Word(kRecords, owner.record));
  statement.BindText(13, owner.record_reason);
  statement.BindText(14, owner.successor);
  statement.BindText(15, Word(kHolderStates, owner.state));
  BindSlot(statement, 16, leaf);
  statement.BindInteger(17, owner.contested ? 1 : 0);
  return statement.Run();
}

Result<void> PutRow(Connection& connection, const Row& row) {
  const std::string slot = ToText(row.slot);
  const std::string root = ToText(row.root);
  const std::string identity = ToText(row.identity);
  TRUCE_ASSIGN_OR_RETURN(Statement statement, connection.Use(Sql::kPutRow));
  statement.BindText(0, row.id.key.text);
  statement.BindText(1, row.id.uid.text);
  statement.BindText(2, Word(kRowStates, row.id.state));
  statement.BindText(3, slot);
  statement.BindText(4, root);
  statement.BindText(5, Word(kIntents, row.intent));
  statement.BindInteger(6, row.terminating ? 1 : 0);
  statement.BindInteger(7, row.managed ? 1 : 0);
  statement.BindText(8, identity);
  statement.BindText(9, row.review.text);
  statement.BindText(10, row.digest);
  if (row.base.has_value()) {
    statement.BindInteger(11, std::bit_cast<std::int64_t>(*row.base));
  } else {
    statement.BindNull(11);
  }
  statement.BindText(12, row.user);
  statement.BindInteger(13, Milliseconds(row.at));
  if (row.created.has_value()) {
    statement.BindInteger(14, Milliseconds(*row.created));
  } else {
    statement.BindNull(14);
  }
  statement.BindText(15, row.slot.ns);
  return statement.Run();
}

Result<void> PutObject(Connection& connection, const Object& object) {
  const std::string slot = ToText(object.slot);
  const std::optional<std::string> parent = OptionalText(object.parent);
  const std::string root = ToText(object.root);
  std::string names;
  for (const std::string& name : object.names) names += name + "\n";
  TRUCE_ASSIGN_OR_RETURN(Statement statement, connection.Use(Sql::kPutObject));
  statement.BindText(0, object.uid.text);
  statement.BindText(1, slot);
  BindSlot(statement, 2, parent);
  statement.BindText(3, object.parent_uid.text);
  statement.BindText(4, root);
  statement.BindText(5, object.link);
  statement.BindText(6, names);
  statement.BindText(7, object.service);
  statement.BindText(8, object.contact);
  statement.BindInteger(9, object.stripped ? 1 : 0);
  statement.BindInteger(10, Milliseconds(object.at));
  return statement.Run();
}

Result<void> AddAudit(Connection& connection, const AuditEntry& entry) {
  const std::string root = ToText(entry.root);
  const std::string slot = ToText(entry.slot);
  TRUCE_ASSIGN_OR_RETURN(Statement statement, connection.Use(Sql::kAddAudit));
  statement.BindInteger(0, Milliseconds(entry.at));
  statement.BindText(1, Word(kAuditActions, entry.action));
  statement.BindText(2, entry.key.text);
  statement.BindText(3, entry.id.text);
  statement.BindText(4, root);
  statement.BindText(5, slot);
  statement.BindText(6, entry.uid.text);
  statement.BindText(7, entry.cause);
  statement.BindText(8, entry.actor);
  statement.BindText(9, entry.review.text);
  return statement.Run();
}

}  // namespace truce
