#include "registry/store/sqlite/records.h"

#include <string>
#include <utility>

namespace truce {
namespace {

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

// In the column: no shape where the key has one, which no owner of ours lacks.
constexpr std::string_view kShapeless = "|";

// The column is empty where the key tells the shape. Else its index, whose places come in no order,
// would take part in every grant.
std::string_view ShapeBeside(const Owner& owner) {
  if (owner.shape == ShapeOf(owner.key)) return {};
  return owner.shape.empty() ? kShapeless : std::string_view(owner.shape);
}

std::string ShapeFrom(std::string_view column, std::string_view key) {
  if (column.empty()) return ShapeOf(key);
  return column == kShapeless ? std::string() : std::string(column);
}

// Runs an INSERT, or the UPDATE of row `number`.
Result<std::int64_t> Finish(Connection& connection, Statement& statement, RowNumber number) {
  TRUCE_RETURN_IF_ERROR(statement.Run());
  return number.has_value() ? *number : connection.LastId();
}

}  // namespace

std::string_view WordOf(RowState state) { return kRowStates.Of(state); }
std::string_view WordOf(AgreementKind kind) { return kAgreementKinds.Of(kind); }

Result<OwnerTexts> ReadOwnerTexts(const Statement& statement, std::string& shape) {
  TRUCE_ASSIGN_OR_RETURN(OwnerTexts texts, OwnerTextsFrom(statement));
  if (texts.owned) shape = ShapeFrom(texts.shape, texts.key);
  if (texts.owned) texts.shape = shape;
  return texts;
}

Result<Owner> ReadOwner(const Statement& statement) {
  std::string shape;
  TRUCE_ASSIGN_OR_RETURN(const OwnerTexts texts, ReadOwnerTexts(statement, shape));
  Owner owner;
  TRUCE_RETURN_IF_ERROR(FillOwner(texts, owner));
  return owner;
}

Result<Row> ReadRow(const Statement& statement) { return RowFrom(statement); }
Result<Object> ReadObject(const Statement& statement) { return ObjectFrom(statement); }
Result<AuditEntry> ReadAudit(const Statement& statement) { return AuditFrom(statement); }
Result<Agreement> ReadAgreement(const Statement& statement) { return AgreementFrom(statement); }
Result<ResourceName> ReadName(const Statement& statement) { return NameFrom(statement); }

Result<std::optional<Reservation>> ReadReservation(const Statement& statement) {
  const std::optional<Slot> slot = SlotFromText(statement.Text(0));
  if (!slot) return Error{ErrorCode::kDataLoss, "a declaration's slot cannot be read"};
  return Reservation::Of(*slot, statement.Text(1), TimeFrom(statement.Integer(2)));
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
  statement.BindText(9, ShapeBeside(owner));
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
