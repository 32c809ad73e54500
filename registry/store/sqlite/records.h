// Rows, owners, objects and audit entries as SQLite's columns, both ways (columns.h).
#ifndef TRUCE_REGISTRY_STORE_SQLITE_RECORDS_H_
#define TRUCE_REGISTRY_STORE_SQLITE_RECORDS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "registry/base/result.h"
#include "registry/ownership/rows.h"
#include "registry/store/columns.h"
#include "registry/store/reserved_times.h"
#include "registry/store/sqlite/connection.h"

namespace truce {

// The readers take the present row of a statement that selects all columns of the table.
// Valid until the next Step and while `shape`, which it fills in, stays as it is.
Result<OwnerTexts> ReadOwnerTexts(const Statement& statement, std::string& shape);
Result<Owner> ReadOwner(const Statement& statement);
Result<Row> ReadRow(const Statement& statement);
Result<Object> ReadObject(const Statement& statement);
Result<AuditEntry> ReadAudit(const Statement& statement);
Result<Agreement> ReadAgreement(const Statement& statement);
Result<ResourceName> ReadName(const Statement& statement);
// Of a row: its slot, user and time.
Result<std::optional<Reservation>> ReadReservation(const Statement& statement);
inline constexpr int kObjectColumnCount = 17;
inline constexpr int kAuditColumnCount = 10;

std::string_view WordOf(RowState state);
std::string_view WordOf(AgreementKind kind);

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
