#include "registry/store/sqlite/records.h"

#include <bit>
#include <string>
#include <utility>

#include "registry/base/name_table.h"

namespace truce {
namespace {

// A value outside of its enumeration becomes a word that the schema's CHECK refuses.
constexpr NameTable<RowState::kSeen> kRowStates("reserved", "seen");
constexpr NameTable<Intent::kDeletes> kIntents("observes", "manages", "deletes");
constexpr NameTable<Record::kTransferring> kRecords("none", "orphaned", "imported", "transferring");
constexpr NameTable<HolderState::kTerminating> kHolderStates("reserved", "held", "terminating");
constexpr NameTable<AuditAction::kAdministered> kAuditActions("granted", "conflict", "released",
                                                              "passed", "orphaned", "transferred",
                                                              "moved", "administered");
constexpr NameTable<AgreementKind::kProtection> kAgreementKinds("share", "transfer", "protection");
constexpr NameTable<ShareLevel::kAttach> kShareLevels("observe", "attach");
constexpr NameTable<NameSort::kFormerId> kNameSorts("declared", "located", "assigned", "former-id");

// Collects the first thing that cannot be read.
class Reader {
 public:
  explicit Reader(std::string_view table) : table_(table) {}

  template <auto kLast>
  decltype(kLast) FromWord(const NameTable<kLast>& words, std::string_view word) {
    const auto value = words.Find(word);
    if (!value) Fail(word);
    return value.value_or(decltype(kLast){});
  }

  // A text that the port promises not to be empty.
  std::string_view NotEmpty(std::string_view text) {
    if (text.empty()) Fail(text);
    return text;
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

  Result<void> Finish() && {
    if (error_.empty()) return {};
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

void BindOptional(Statement& statement, int parameter, const std::optional<std::string>& text) {
  if (text.has_value()) {
    statement.BindText(parameter, *text);
  } else {
    statement.BindNull(parameter);
  }
}

void BindOptional(Statement& statement, int parameter, const std::optional<std::int64_t>& value) {
  if (value.has_value()) {
    statement.BindInteger(parameter, *value);
  } else {
    statement.BindNull(parameter);
  }
}

// A root is mostly the slot beside it, which is then not repeated.
std::optional<std::string> RootBeside(const Slot& slot, const Slot& root) {
  if (root == slot) return std::nullopt;
  return ToText(root);
}

// The leaf is mostly the root itself: ''.
std::optional<std::string> LeafBeside(const Slot& root, const std::optional<Slot>& leaf) {
  if (!leaf.has_value()) return std::nullopt;
  return *leaf == root ? std::string() : ToText(*leaf);
}

std::vector<std::string> LinesOf(std::string_view text) {
  std::vector<std::string> lines;
  for (std::size_t end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  return lines;
}

// An unsigned number by its bits: SQLite's are signed.
std::optional<std::int64_t> AsBits(const std::optional<std::uint64_t>& number) {
  if (!number) return std::nullopt;
  return std::bit_cast<std::int64_t>(*number);
}

// Runs an INSERT, or the UPDATE of row `number`.
Result<std::int64_t> Finish(Connection& connection, Statement& statement, RowNumber number) {
  TRUCE_RETURN_IF_ERROR(statement.Run());
  return number.has_value() ? *number : connection.LastId();
}

}  // namespace

std::string SlotLines(const std::vector<Slot>& slots) {
  std::string lines;
  for (const Slot& slot : slots) lines.append(ToText(slot)).append(1, '\n');
  return lines;
}

std::string KindOf(const Slot& slot) { return slot.cluster + '/' + slot.group + '/' + slot.kind; }

std::string_view WordOf(RowState state) { return kRowStates.Of(state); }
std::string_view WordOf(AgreementKind kind) { return kAgreementKinds.Of(kind); }

Result<void> FillOwner(const OwnerTexts& texts, Owner& owner) {
  Reader reader("owners");
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
  owner.managed_once = texts.managed_once;
  for (const std::string& slot : LinesOf(texts.left)) owner.left.push_back(reader.FromSlot(slot));
  return std::move(reader).Finish();
}

Result<OwnerTexts> ReadOwnerTexts(const Statement& statement) {
  Reader reader("owners");
  OwnerTexts texts;
  texts.key = reader.NotEmpty(statement.Text(0));
  texts.owned = statement.Integer(1) != 0;
  texts.id = statement.Text(2);
  texts.root = statement.Text(3);
  texts.party = statement.Text(4);
  texts.service = statement.Text(5);
  texts.contact = statement.Text(6);
  texts.arn = statement.Text(7);
  texts.name = statement.Text(8);
  texts.identity = statement.Text(9);
  texts.shape = statement.Text(10);
  texts.since = statement.Integer(11);
  texts.real = statement.Integer(12) != 0;
  texts.record = reader.FromWord(kRecords, statement.Text(13));
  texts.record_reason = statement.Text(14);
  texts.successor = statement.Text(15);
  texts.state = reader.FromWord(kHolderStates, statement.Text(16));
  if (!statement.IsNull(17)) texts.leaf = statement.Text(17);
  if (!statement.IsNull(17) && texts.leaf.empty()) texts.leaf = texts.root;
  texts.contested = statement.Integer(18) != 0;
  texts.managed_once = statement.Integer(19) != 0;
  texts.left = statement.Text(20);
  return std::move(reader).Finish(texts);
}

Result<Owner> ReadOwner(const Statement& statement) {
  TRUCE_ASSIGN_OR_RETURN(const OwnerTexts texts, ReadOwnerTexts(statement));
  Owner owner;
  TRUCE_RETURN_IF_ERROR(FillOwner(texts, owner));
  return owner;
}

Result<Row> ReadRow(const Statement& statement) {
  Reader reader("declarations");
  Row row;
  row.id.key.text = reader.NotEmpty(statement.Text(0));
  row.id.uid.text = reader.NotEmpty(statement.Text(1));
  row.id.state = reader.FromWord(kRowStates, statement.Text(2));
  row.slot = reader.FromSlot(statement.Text(3));
  row.root = statement.IsNull(4) ? row.slot : reader.FromSlot(statement.Text(4));
  row.intent = reader.FromWord(kIntents, statement.Text(5));
  row.terminating = statement.Integer(6) != 0;
  row.managed = statement.Integer(7) != 0;
  row.identity = reader.FromIdentity(statement.Text(8));
  row.review.text = statement.Text(9);
  row.digest = statement.Text(10);
  if (!statement.IsNull(11)) row.base = std::bit_cast<std::uint64_t>(statement.Integer(11));
  row.user = statement.Text(12);
  row.at = TimeFrom(statement.Integer(13));
  if (!statement.IsNull(14)) row.created = TimeFrom(statement.Integer(14));
  row.account_fields = statement.Text(15);
  return std::move(reader).Finish(std::move(row));
}

Result<Object> ReadObject(const Statement& statement) {
  Reader reader("objects");
  Object object;
  object.uid.text = reader.NotEmpty(statement.Text(0));
  std::string slot(statement.Text(1));
  slot.append(1, '/').append(statement.Text(2)).append(1, '/').append(statement.Text(3));
  object.slot = reader.FromSlot(slot);
  object.parent = reader.FromOptionalSlot(statement.Text(4));
  object.parent_uid.text = statement.Text(5);
  object.root = statement.IsNull(6) ? object.slot : reader.FromSlot(statement.Text(6));
  object.link = statement.Text(7);
  object.names = LinesOf(statement.Text(8));
  object.service = statement.Text(9);
  object.contact = statement.Text(10);
  object.composes = statement.Integer(11) != 0;
  object.own_party = statement.Integer(12) != 0;
  object.transfer_to = statement.Text(13);
  object.told = statement.Text(14);
  if (!statement.IsNull(15)) object.stripped = std::bit_cast<std::uint64_t>(statement.Integer(15));
  object.at = TimeFrom(statement.Integer(16));
  return std::move(reader).Finish(std::move(object));
}

Result<AuditEntry> ReadAudit(const Statement& statement) {
  Reader reader("audit");
  AuditEntry entry;
  entry.at = TimeFrom(statement.Integer(0));
  entry.action = reader.FromWord(kAuditActions, statement.Text(1));
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

Result<Agreement> ReadAgreement(const Statement& statement) {
  Reader reader("agreements");
  Agreement agreement;
  agreement.id.text = reader.NotEmpty(statement.Text(0));
  agreement.kind = reader.FromWord(kAgreementKinds, statement.Text(1));
  agreement.key.text = reader.NotEmpty(statement.Text(2));
  agreement.party.text = statement.Text(3);
  agreement.level = reader.FromWord(kShareLevels, statement.Text(4));
  agreement.accepted = statement.Integer(5) != 0;
  agreement.successor = statement.Text(6);
  agreement.reason = statement.Text(7);
  agreement.actor = statement.Text(8);
  agreement.at = TimeFrom(statement.Integer(9));
  if (!statement.IsNull(10)) agreement.until = TimeFrom(statement.Integer(10));
  return std::move(reader).Finish(std::move(agreement));
}

Result<ResourceName> ReadName(const Statement& statement) {
  Reader reader("names");
  ResourceName name;
  name.name.text = reader.NotEmpty(statement.Text(0));
  name.key.text = reader.NotEmpty(statement.Text(1));
  name.sort = reader.FromWord(kNameSorts, statement.Text(2));
  name.observed = statement.Integer(3) != 0;
  name.at = TimeFrom(statement.Integer(4));
  return std::move(reader).Finish(std::move(name));
}

Result<std::int64_t> PutOwner(Connection& connection, RowNumber number, const Owner& owner) {
  const std::string root = ToText(owner.root);
  const std::string identity = ToText(owner.identity);
  const std::optional<std::string> leaf = LeafBeside(owner.root, owner.leaf);
  const std::string left = SlotLines(owner.left);
  TRUCE_ASSIGN_OR_RETURN(
      Statement statement,
      connection.Use(number.has_value() ? Sql::kChangeResource : Sql::kAddResource));
  statement.BindInteger(0, 1);
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
  statement.BindText(12, kRecords.Of(owner.record));
  statement.BindText(13, owner.record_reason);
  statement.BindText(14, owner.successor);
  statement.BindText(15, kHolderStates.Of(owner.state));
  BindOptional(statement, 16, leaf);
  statement.BindInteger(17, owner.contested ? 1 : 0);
  statement.BindInteger(18, owner.managed_once ? 1 : 0);
  statement.BindText(19, left);
  if (number.has_value()) {
    statement.BindInteger(20, *number);
  } else {
    statement.BindText(20, owner.key.text);
  }
  return Finish(connection, statement, number);
}

Result<std::int64_t> PutOwnerless(Connection& connection, RowNumber number, const KeyText& key) {
  TRUCE_ASSIGN_OR_RETURN(
      Statement statement,
      connection.Use(number.has_value() ? Sql::kChangeResource : Sql::kAddResource));
  constexpr int kValues = 20;
  for (int parameter = 0; parameter < kValues; ++parameter) statement.BindText(parameter, "");
  for (const int parameter : {0, 10, 11, 17, 18}) statement.BindInteger(parameter, 0);
  statement.BindText(12, kRecords.Of(Record::kNone));
  statement.BindText(15, kHolderStates.Of(HolderState::kReserved));
  statement.BindNull(16);
  if (number.has_value()) {
    statement.BindInteger(kValues, *number);
  } else {
    statement.BindText(kValues, key.text);
  }
  return Finish(connection, statement, number);
}

Result<std::int64_t> PutRow(Connection& connection, RowNumber number, std::int64_t resource,
                            const Row& row) {
  const std::string slot = ToText(row.slot);
  const std::optional<std::string> root = RootBeside(row.slot, row.root);
  const std::string identity = ToText(row.identity);
  TRUCE_ASSIGN_OR_RETURN(Statement statement,
                         connection.Use(number.has_value() ? Sql::kChangeRow : Sql::kAddRow));
  statement.BindText(0, slot);
  BindOptional(statement, 1, root);
  statement.BindText(2, kIntents.Of(row.intent));
  statement.BindInteger(3, row.terminating ? 1 : 0);
  statement.BindInteger(4, row.managed ? 1 : 0);
  statement.BindText(5, identity);
  statement.BindText(6, row.review.text);
  statement.BindText(7, row.digest);
  BindOptional(statement, 8, AsBits(row.base));
  statement.BindText(9, row.user);
  statement.BindInteger(10, Milliseconds(row.at));
  BindOptional(statement, 11,
               row.created.has_value() ? std::optional(Milliseconds(*row.created)) : std::nullopt);
  statement.BindText(12, row.slot.ns);
  statement.BindText(13, row.account_fields);
  if (number.has_value()) {
    statement.BindInteger(14, *number);
  } else {
    statement.BindInteger(14, resource);
    statement.BindText(15, row.id.uid.text);
    statement.BindText(16, kRowStates.Of(row.id.state));
  }
  return Finish(connection, statement, number);
}

Result<std::int64_t> PutObject(Connection& connection, RowNumber number, const Object& object) {
  const std::string kind = KindOf(object.slot);
  const std::optional<std::string> parent =
      object.parent.has_value() ? std::optional(ToText(*object.parent)) : std::nullopt;
  const std::optional<std::string> root = RootBeside(object.slot, object.root);
  std::string names;
  for (const std::string& name : object.names) names += name + "\n";
  TRUCE_ASSIGN_OR_RETURN(Statement statement,
                         connection.Use(number.has_value() ? Sql::kChangeObject : Sql::kAddObject));
  statement.BindText(0, object.uid.text);
  statement.BindText(1, kind);
  statement.BindText(2, object.slot.ns);
  statement.BindText(3, object.slot.name);
  BindOptional(statement, 4, parent);
  statement.BindText(5, object.parent_uid.text);
  BindOptional(statement, 6, root);
  statement.BindText(7, object.link);
  statement.BindText(8, names);
  statement.BindText(9, object.service);
  statement.BindText(10, object.contact);
  statement.BindInteger(11, object.composes ? 1 : 0);
  statement.BindInteger(12, object.own_party ? 1 : 0);
  statement.BindText(13, object.transfer_to);
  statement.BindText(14, object.told);
  BindOptional(statement, 15, AsBits(object.stripped));
  statement.BindInteger(16, Milliseconds(object.at));
  if (number.has_value()) statement.BindInteger(17, *number);
  return Finish(connection, statement, number);
}

Result<void> AddAudit(Connection& connection, const AuditEntry& entry) {
  const std::string root = ToText(entry.root);
  const std::string slot = ToText(entry.slot);
  TRUCE_ASSIGN_OR_RETURN(Statement statement, connection.Use(Sql::kAddAudit));
  statement.BindInteger(0, Milliseconds(entry.at));
  statement.BindText(1, kAuditActions.Of(entry.action));
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

Result<void> PutAgreement(Connection& connection, const Agreement& agreement) {
  TRUCE_ASSIGN_OR_RETURN(Statement statement, connection.Use(Sql::kPutAgreement));
  statement.BindText(0, agreement.id.text);
  statement.BindText(1, kAgreementKinds.Of(agreement.kind));
  statement.BindText(2, agreement.key.text);
  statement.BindText(3, agreement.party.text);
  statement.BindText(4, kShareLevels.Of(agreement.level));
  statement.BindInteger(5, agreement.accepted ? 1 : 0);
  statement.BindText(6, agreement.successor);
  statement.BindText(7, agreement.reason);
  statement.BindText(8, agreement.actor);
  statement.BindInteger(9, Milliseconds(agreement.at));
  BindOptional(statement, 10,
               agreement.until ? std::optional(Milliseconds(*agreement.until)) : std::nullopt);
  return statement.Run();
}

Result<void> PutName(Connection& connection, std::int64_t resource, const ResourceName& name) {
  TRUCE_ASSIGN_OR_RETURN(Statement statement, connection.Use(Sql::kPutName));
  statement.BindText(0, name.name.text);
  statement.BindInteger(1, resource);
  statement.BindText(2, kNameSorts.Of(name.sort));
  statement.BindInteger(3, name.observed ? 1 : 0);
  statement.BindInteger(4, Milliseconds(name.at));
  return statement.Run();
}

}  // namespace truce
