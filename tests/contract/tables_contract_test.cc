// Tables beside ownerships: each store keeps their rows, as their descriptions say.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "registry/ownership/ledger.h"
#include "registry/store/administration.h"
#include "tests/contract/every_store.h"
#include "webhook/upkeep/tables.h"

namespace truce::testing {
namespace tables_contract_test {

class TablesContract : public StoreContract {
 protected:
  std::vector<TableRow> RowsOf(const Table& table, const TableRow& prefix = {}) {
    std::vector<TableRow> rows;
    OnFacts([&](const AllFacts& facts) { rows = facts.TableRows(table, prefix); });
    return rows;
  }
  void Set(const Table& table, const std::vector<TableRow>& rows) {
    const auto set = [&](Administration& books) { books.SetTableRows(table, rows); };
    const Result<void> done = Administer(store(), {}, Soon(), set);
    ASSERT_TRUE(done.ok()) << table.name << ": " << done.error().message;
  }
};

INSTANTIATE_TEST_SUITE_P(Stores, TablesContract, EveryStore(), NameOfStore);

// A row whose values are all different, with what a text or number may hold at its worst.
TableRow SampleTableRow(const Table& table, const std::string& key) {
  TableRow row;
  for (const TableColumn& column : table.columns) {
    const bool is_key = row.size() < table.key_size;
    const std::string text = is_key ? key : "\"it's\\ {NULL},\n\xC3\xA4 ";
    row.push_back(column.is_number ? TableValue(std::numeric_limits<std::int64_t>::min() +
                                                static_cast<std::int64_t>(row.size() + key.size()))
                                   : TableValue(text + std::string(column.name)));
  }
  return row;
}

TEST_P(TablesContract, EachTableKeepsWhatItsDescriptionSays) {
  for (const Table& table : kRegistryTables) {
    SCOPED_TRACE(table.name);
    const TableRow first = SampleTableRow(table, "a");
    const TableRow second = SampleTableRow(table, "b\n");
    Set(table, {second, first});
    EXPECT_EQ(RowsOf(table), (std::vector<TableRow>{first, second}));
    EXPECT_EQ(RowsOf(table, KeyOf(table, second)), (std::vector<TableRow>{second}));
    EXPECT_EQ(RowsOf(table, {first.front()}), (std::vector<TableRow>{first}));
    TableRow changed = SampleTableRow(table, "a");
    if (table.key_size < table.columns.size()) {
      changed.back() =
          table.columns.back().is_number ? TableValue(std::int64_t{7}) : TableValue("other");
    }
    Set(table, {changed, second});
    EXPECT_EQ(RowsOf(table), (std::vector<TableRow>{changed, second}));
    if (kind_->Reopen()) {
      EXPECT_EQ(RowsOf(table), (std::vector<TableRow>{changed, second}));
    }
    Set(table, {second});
    EXPECT_EQ(RowsOf(table), (std::vector<TableRow>{second}));
    Set(table, {});
    EXPECT_TRUE(RowsOf(table).empty());
  }
}

TEST_P(TablesContract, ADecisionThatChangesNothingOfATableWritesNothing) {
  const Table& table = kRegistryTables.front();
  const TableRow row = SampleTableRow(table, "a");
  Set(table, {row});
  Changes written;
  const PartyRules parties;
  const IdSource ids;
  const auto decide = [&](const AllFacts& facts) {
    Ledger ledger(facts, {}, ids, parties);
    ledger.SetTableRows(table, {}, {row});
    written = ledger.Take();
    return written;
  };
  ASSERT_TRUE(store().Apply({}, decide, Soon()).ok());
  EXPECT_TRUE(written.empty());
}

TEST_P(TablesContract, DropsComeBeforePutsAndTheLastPutCounts) {
  const Table& table = kRegistryTables.front();
  TableRow row = SampleTableRow(table, "a");
  Changes changes;
  changes.put_table_rows = {{table, SampleTableRow(table, "a")}};
  row.back() = table.columns.back().is_number ? TableValue(std::int64_t{1}) : TableValue("last");
  changes.put_table_rows.push_back({table, row});
  changes.drop_table_rows = {{table, KeyOf(table, row)}, {table, {std::string("nobody")}}};
  WriteAll(changes);
  EXPECT_EQ(RowsOf(table), (std::vector<TableRow>{row}));
}

TEST_P(TablesContract, ARowThatIsNotWholeIsRefusedWithAllElse) {
  const Table& table = kRegistryTables.front();
  Changes changes;
  changes.put_settings = {{"n", "1"}};
  changes.put_table_rows = {{table, {std::string("a")}}};
  const Result<void> written = Write(store(), changes);
  ASSERT_FALSE(written.ok());
  EXPECT_EQ(written.error().code, ErrorCode::kInternal);
  OnFacts([](const AllFacts& facts) { EXPECT_EQ(facts.Setting("n"), std::nullopt); });
}

// The ledger shows a decision what it wrote itself.
TEST_P(TablesContract, ADecisionSeesItsOwnRows) {
  const Table& table = kRegistryTables.front();
  const TableRow a = SampleTableRow(table, "a");
  const TableRow b = SampleTableRow(table, "b");
  const TableRow c = SampleTableRow(table, "c");
  Set(table, {a, b});
  std::vector<TableRow> seen;
  const PartyRules parties;
  const IdSource ids;
  const auto decide = [&](const AllFacts& facts) {
    Ledger ledger(facts, {}, ids, parties);
    ledger.DropTableRow(table, KeyOf(table, a));
    ledger.PutTableRow(table, c);
    seen = ledger.TableRows(table);
    return ledger.Take();
  };
  ASSERT_TRUE(store().Apply({}, decide, Soon()).ok());
  EXPECT_EQ(seen, (std::vector<TableRow>{b, c}));
  EXPECT_EQ(RowsOf(table), seen);
}

}  // namespace tables_contract_test
}  // namespace truce::testing
