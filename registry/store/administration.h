// Administration: the contents of the registry beside ownerships, texts under names (settings) and
// tables, with audit lines of their changes.
#ifndef TRUCE_REGISTRY_STORE_ADMINISTRATION_H_
#define TRUCE_REGISTRY_STORE_ADMINISTRATION_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "registry/base/clock.h"
#include "registry/base/result.h"
#include "registry/ownership/table.h"

namespace truce {

class Ledger;
class Store;

// One transaction. Lives as long as the function that it is given to.
class Administration final {
 public:
  explicit Administration(Ledger& ledger) : ledger_(ledger) {}

  // As this transaction has written it, else as it is kept.
  std::optional<std::string> Setting(const std::string& name) const;
  void PutSetting(const std::string& name, std::string value);
  // As Ledger has them.
  std::vector<TableRow> TableRows(const Table& table) const;
  void SetTableRows(const Table& table, std::vector<TableRow> rows);
  // A line of the action kAdministered.
  void Audit(const std::string& actor, std::string cause);
  Timestamp now() const;

 private:
  Ledger& ledger_;
};

// The committed rows of a table. Errors: those of Store::Read.
Result<std::vector<TableRow>> ReadRows(const Store& store, const Table& table, Deadline deadline);
// kDataLoss: a row of the table cannot be read.
Error Unreadable(const Table& table);
// The committed rows of a table. Errors: those of Store::Read; kDataLoss: one cannot be read.
template <typename T, typename... Members>
Result<std::vector<T>> ReadTable(const Store& store, const TableOf<T, Members...>& table,
                                 Deadline deadline) {
  TRUCE_ASSIGN_OR_RETURN(const std::vector<TableRow> rows, ReadRows(store, table, deadline));
  auto values = table.Values(rows);
  if (!values) return Unreadable(table);
  return *std::move(values);
}

// Runs `change` in one transaction and writes what it put: nothing where it put nothing. `now` is
// the time of its audit lines. It may run more than once, as a DecideFn, and starts its captures
// anew. Errors: those of Store::Apply.
Result<void> Administer(Store& store, Timestamp now, Deadline deadline,
                        const std::function<void(Administration&)>& change);

}  // namespace truce

#endif  // TRUCE_REGISTRY_STORE_ADMINISTRATION_H_
