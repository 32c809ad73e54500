// Rows, owners, objects and audit entries as columns, both ways.
//
// The words for enumerations are the ones of the schema: they are on people's disks, and a changed
// word for people must not reach them.
#ifndef TRUCE_REGISTRY_STORE_SQLITE_RECORDS_H_
#define TRUCE_REGISTRY_STORE_SQLITE_RECORDS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "registry/base/result.h"
#include "registry/ownership/rows.h"
#include "registry/store/sqlite/connection.h"

namespace truce {

// An owner as its columns: texts that others hold.
struct OwnerTexts {
  std::string_view key;
  std::string_view id;
  std::string_view root;
  std::string_view party;
  std::string_view service;
  std::string_view contact;
  std::string_view arn;
  std::string_view name;
  std::string_view identity;
  std::string_view shape;
  std::string_view record_reason;
  std::string_view successor;
  std::string_view leaf;  // empty: none
  std::string_view left;  // one slot a line
  bool owned = true;      // false: a key without owner, all else is empty
  bool contested = false;
  std::int64_t since = 0;
  bool real = false;
  bool managed_once = false;
  Record record = Record::kNone;
  HolderState state = HolderState::kReserved;
};

// Fills in a fresh `owner`: most readers read many, and moving one is not cheap. Errors: kDataLoss
// when a slot, an identity or a word cannot be read; the owner is then of no use.
Result<void> FillOwner(const OwnerTexts& texts, Owner& owner);

// The readers take the present row of a statement that selects all columns of the table.
Result<OwnerTexts> ReadOwnerTexts(const Statement& statement);  // valid until the next Step
Result<Owner> ReadOwner(const Statement& statement);
Result<Row> ReadRow(const Statement& statement);
Result<Object> ReadObject(const Statement& statement);
Result<AuditEntry> ReadAudit(const Statement& statement);
Result<Agreement> ReadAgreement(const Statement& statement);
Result<ResourceName> ReadName(const Statement& statement);
inline constexpr int kObjectColumnCount = 17;
inline constexpr int kAuditColumnCount = 10;

std::string_view WordOf(RowState state);
std::string_view WordOf(AgreementKind kind);
std::string SlotLines(const std::vector<Slot>& slots);  // one a line, as OwnerTexts::left
// The column `kind` of a slot: "cluster/group/kind".
std::string KindOf(const Slot& slot);

// SQLite's number of a record in its table; nothing: it is new.
using RowNumber = std::optional<std::int64_t>;

// Write one record and give its number. A number of which the table does not agree that it is the
// record's is a programmer's error.
Result<std::int64_t> PutOwner(Connection& connection, RowNumber number, const Owner& owner);
Result<std::int64_t> PutOwnerless(Connection& connection, RowNumber number, const KeyText& key);
Result<std::int64_t> PutRow(Connection& connection, RowNumber number, std::int64_t resource,
                            const Row& row);
Result<std::int64_t> PutObject(Connection& connection, RowNumber number, const Object& object);
Result<void> AddAudit(Connection& connection, const AuditEntry& entry);
Result<void> PutAgreement(Connection& connection, const Agreement& agreement);
Result<void> PutName(Connection& connection, std::int64_t resource, const ResourceName& name);

}  // namespace truce

#endif  // TRUCE_REGISTRY_STORE_SQLITE_RECORDS_H_
