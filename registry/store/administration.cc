#include "registry/store/administration.h"

#include <utility>

#include "registry/ownership/ledger.h"
#include "registry/store/store.h"

namespace truce {

std::optional<std::string> Administration::Setting(const std::string& name) const {
  return ledger_.Setting(name);
}

void Administration::PutSetting(const std::string& name, std::string value) {
  ledger_.PutSetting(name, std::move(value));
}

std::vector<TableRow> Administration::TableRows(const Table& table) const {
  return ledger_.TableRows(table);
}

void Administration::SetTableRows(const Table& table, std::vector<TableRow> rows) {
  ledger_.SetTableRows(table, {}, std::move(rows));
}

void Administration::Audit(const std::string& actor, std::string cause) {
  ledger_.Audit({.action = AuditAction::kAdministered, .cause = std::move(cause), .actor = actor});
}

Timestamp Administration::now() const { return ledger_.now(); }

Result<std::vector<TableRow>> ReadRows(const Store& store, const Table& table, Deadline deadline) {
  std::vector<TableRow> rows;
  const auto read = [&](const Facts& facts) { rows = facts.TableRows(table, {}); };
  TRUCE_RETURN_IF_ERROR(store.Read({.tables = {table}}, read, deadline));
  return rows;
}

Error Unreadable(const Table& table) {
  return {ErrorCode::kDataLoss,
          "a row of the registry's table \"" + std::string(table.name) + "\" cannot be read"};
}

Result<void> Administer(Store& store, Timestamp now, Deadline deadline,
                        const std::function<void(Administration&)>& change) {
  // Nothing of this belongs to a party, and nothing of it has an id.
  const PartyRules parties;
  const IdSource ids;
  const auto decide = [&](const Facts& facts) {
    Ledger ledger(facts, now, ids, parties);
    Administration administration(ledger);
    change(administration);
    return ledger.Take();
  };
  return store.Apply({}, decide, deadline);
}

}  // namespace truce
