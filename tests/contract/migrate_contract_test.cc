// A registry moves from each store to each other one, whole, wherever it was cut off.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "registry/ownership/names.h"
#include "tests/contract/every_store.h"
#include "tests/support/store_contents.h"
#include "webhook/upkeep/migrate_store.h"
#include "webhook/upkeep/tables.h"

namespace truce::testing {
namespace migrate_contract_test {

constexpr const char* kSetting = "store/migration";

void TellNobody(std::string_view /*act*/, std::string_view /*table*/, std::uint64_t /*done*/) {}

// Everything but how far a migration is.
StoreContents MovedContentsOf(const Store& store) {
  StoreContents contents = ContentsOf(store).value();
  std::erase_if(contents.settings, [](const auto& setting) { return setting.first == kSetting; });
  return contents;
}

std::vector<std::uint64_t> NumbersOf(const Store& store) {
  std::vector<std::uint64_t> numbers;
  const auto read = [&](const AllFacts& facts) {
    numbers.clear();
    for (const AuditLine& line : facts.AuditLines({.from = 1}, 10'000)) {
      numbers.push_back(line.place.number);
    }
  };
  EXPECT_TRUE(store.Read(read, Soon()).ok());
  return numbers;
}

// As the ledger keeps what nobody owns: shown by the best of its names.
void ShowByNames(Store& store) {
  const StoreContents contents = ContentsOf(store).value();
  Changes shown;
  for (const ObservedResource& observed : contents.observed) {
    std::vector<ResourceName> names = {SampleKeyName("of " + observed.id.text)};
    names[0].resource = observed.id;
    shown.put_names.push_back(names[0]);
    for (const ResourceName& name : contents.names) {
      if (name.resource == observed.id) names.push_back(name);
    }
    shown.put_observed.push_back({observed.id, BestOf(names)});
  }
  ASSERT_TRUE(Write(store, shown).ok());
}

// Of all tables something, with what no page begins or ends with by chance.
void Fill(Store& store, unsigned seed) {
  std::mt19937_64 random(seed);
  for (int i = 0; i < 80; ++i) (void)Write(store, RandomChanges(random));
  ASSERT_TRUE(Write(store, SampleObserve("observed", "u-observed")).ok());
  ShowByNames(store);
  Changes put = SampleNamedCreate("moved", "u-moved");
  put.put_settings = {{"store/mark", "abcdefghijklm 7"}};
  for (int i = 0; i < 45; ++i) put.put_settings.emplace_back("s" + std::to_string(i), "x y\n");
  for (const AgreementKind kind :
       {AgreementKind::kShare, AgreementKind::kTransfer, AgreementKind::kProtection}) {
    Agreement agreement;
    agreement.id = {"g-" + std::string(Name(kind))};
    agreement.kind = kind;
    agreement.resource = SampleId("moved");
    put.put_agreements.push_back(agreement);
  }
  for (const Table& table : kRegistryTables) {
    TableRow row;
    for (const TableColumn& column : table.columns) {
      row.push_back(column.is_number ? TableValue(std::int64_t{7}) : TableValue("x\n"));
    }
    put.put_table_rows.push_back({table, row});
  }
  ASSERT_TRUE(Write(store, put).ok());
  // Older lines went, and a number was given that nobody has.
  Changes gap;
  gap.audit = {SampleGrant(SampleOwner("moved", "u-moved")), SampleGrant(SampleOwner("b", "u2"))};
  gap.audit_from = NumbersOf(store).back() + 3;
  ASSERT_TRUE(Write(store, gap).ok());
  Changes let_go;
  let_go.put_settings = {{"audit.let-go", "5"}};
  ASSERT_TRUE(Write(store, let_go).ok());
  ASSERT_GT(NumbersOf(store).front(), 5U);
}

// Cuts the work off: from its `at`th write on it answers none any more. The last one before that
// was written and nobody knows (`is_lost`), or it was not.
class Cut final : public Store {
 public:
  Cut(Store& store, std::size_t at, bool is_lost) : store_(store), left_(at), is_lost_(is_lost) {}

  Result<void> Apply(const Locks& locks, const DecideFn& decide, Deadline deadline) override {
    const Error killed{ErrorCode::kDeadlineExceeded, "killed"};
    if (left_ == 0) return killed;
    if (--left_ > 0) return store_.Apply(locks, decide, deadline);
    if (is_lost_) {
      EXPECT_TRUE(store_.Apply(locks, decide, deadline).ok());
    }
    return killed;
  }
  using Store::Read;
  Result<void> Read(const Locks& hints, const ReadFn& read, Deadline deadline) const override {
    return store_.Read(hints, read, deadline);
  }
  StoreCounts Counts() const override { return store_.Counts(); }
  Result<void> Health() const override { return store_.Health(); }

 private:
  Store& store_;
  std::size_t left_;
  const bool is_lost_;
};

std::unique_ptr<StoreKind> Filled(const Named& kind, unsigned seed) {
  auto filled = kind.make();
  Fill(filled->store(), seed);
  return filled;
}

class Migration : public ::testing::TestWithParam<std::tuple<Named, Named>> {};

TEST_P(Migration, MovesTheWholeRegistry) {
  const auto& [from_kind, to_kind] = GetParam();
  for (unsigned seed = 1; seed <= 3; ++seed) {
    const auto from = Filled(from_kind, seed);
    const auto to = to_kind.make();
    const auto migrated = MigrateStore(from->store(), to->store(), TellNobody);
    ASSERT_TRUE(migrated.ok()) << migrated.error().message;
    EXPECT_EQ(MovedContentsOf(to->store()), MovedContentsOf(from->store()));
    EXPECT_EQ(NumbersOf(to->store()), NumbersOf(from->store()));
    EXPECT_TRUE(CheckMigrated(to->store(), Soon()).ok());
    EXPECT_EQ(migrated.value().digest.size(), 64U);
    // It goes on as the former one would have.
    const std::uint64_t last = NumbersOf(from->store()).back();
    ASSERT_TRUE(Write(to->store(), SampleCreate("after", "u-after")).ok());
    EXPECT_EQ(NumbersOf(to->store()).back(), last + 1);
  }
}

TEST_P(Migration, GoesOnWhereverItWasCutOff) {
  const auto& [from_kind, to_kind] = GetParam();
  const auto from = Filled(from_kind, 5);
  std::size_t writes = 0;
  for (const bool is_lost : {false, true}) {
    for (std::size_t at = 1;; ++at) {
      SCOPED_TRACE("write " + std::to_string(at) + (is_lost ? ", lost" : ""));
      const auto to = to_kind.make();
      Cut cut(to->store(), at, is_lost);
      const auto first = MigrateStore(from->store(), cut, TellNobody);
      if (first.ok()) break;
      writes = std::max(writes, at);
      // The end may have been written.
      const bool is_whole = CheckMigrated(to->store(), Soon()).ok();
      if (is_whole && at > 1) {
        EXPECT_TRUE(is_lost);
      } else {
        const auto second = MigrateStore(from->store(), to->store(), TellNobody);
        ASSERT_TRUE(second.ok()) << second.error().message;
      }
      EXPECT_EQ(MovedContentsOf(to->store()), MovedContentsOf(from->store()));
      EXPECT_EQ(NumbersOf(to->store()), NumbersOf(from->store()));
    }
  }
  EXPECT_GT(writes, 8U);
}

TEST_P(Migration, IsRefusedWhereItWouldMixRegistries) {
  const auto& [from_kind, to_kind] = GetParam();
  const auto code = [](const Store& from, Store& to) {
    const auto migrated = MigrateStore(from, to, TellNobody);
    return migrated.ok() ? std::nullopt : std::optional(migrated.error().code);
  };
  const auto from = Filled(from_kind, 6);
  const auto empty = from_kind.make();
  const auto to = to_kind.make();
  EXPECT_EQ(code(empty->store(), to->store()), ErrorCode::kInvalidArgument);
  EXPECT_EQ(ContentsOf(to->store()).value(), StoreContents{});

  Cut cut(to->store(), 3, false);
  EXPECT_EQ(code(from->store(), cut), ErrorCode::kDeadlineExceeded);
  EXPECT_EQ(CheckMigrated(to->store(), Soon()).error().code, ErrorCode::kConflict);
  EXPECT_EQ(code(to->store(), empty->store()), ErrorCode::kConflict) << "half of a registry";
  const auto other = Filled(from_kind, 7);
  EXPECT_EQ(code(other->store(), to->store()), ErrorCode::kConflict) << "of another registry";
  Changes start;
  start.put_settings = {{"store/mark", "abcdefghijklm 8"}};
  ASSERT_TRUE(Write(from->store(), start).ok());
  EXPECT_EQ(code(from->store(), to->store()), ErrorCode::kConflict) << "it changed meanwhile";

  const auto taken = to_kind.make();
  Changes setting;
  setting.put_settings = {{"registry/cluster", "prod"}};
  ASSERT_TRUE(Write(taken->store(), setting).ok());
  EXPECT_EQ(code(from->store(), taken->store()), ErrorCode::kConflict) << "not empty";
}

TEST_P(Migration, TellsWhatDiffers) {
  const auto& [from_kind, to_kind] = GetParam();
  const auto from = Filled(from_kind, 8);
  const auto to = to_kind.make();
  Changes more;
  more.put_objects = {SampleObject("zzz")};
  // Behind the objects' last page, before they are compared.
  const auto tell = [&](std::string_view act, std::string_view table, std::uint64_t /*done*/) {
    if (act != "moved" || table != "settings") return;
    ASSERT_TRUE(Write(to->store(), more).ok());
  };
  const auto migrated = MigrateStore(from->store(), to->store(), tell);
  ASSERT_FALSE(migrated.ok());
  EXPECT_EQ(migrated.error().code, ErrorCode::kDataLoss);
  EXPECT_NE(migrated.error().message.find("objects"), std::string::npos);
  EXPECT_FALSE(CheckMigrated(to->store(), Soon()).ok());
}

TEST_P(Migration, GoesByPages) {
  const auto& [from_kind, to_kind] = GetParam();
  const auto from = from_kind.make();
  constexpr int kMany = 1'201;
  Changes put;
  for (int i = 0; i < kMany; ++i) {
    const std::string name = std::to_string(i);
    Changes one = SampleNamedCreate("n" + name, "u" + name);
    put.put_rows.push_back(one.put_rows[0]);
    put.put_owners.push_back(one.put_owners[0]);
    put.put_objects.push_back(one.put_objects[0]);
    for (const ResourceName& each : one.put_names) put.put_names.push_back(each);
    put.audit.push_back(one.audit[0]);
  }
  ASSERT_TRUE(Write(from->store(), put).ok());
  const auto to = to_kind.make();
  std::vector<std::uint64_t> told;
  const auto tell = [&](std::string_view act, std::string_view table, std::uint64_t done) {
    if (act == "moved" && table == "audit lines") told.push_back(done);
  };
  const auto migrated = MigrateStore(from->store(), to->store(), tell);
  ASSERT_TRUE(migrated.ok()) << migrated.error().message;
  EXPECT_EQ(told, (std::vector<std::uint64_t>{500, 1000, kMany}));
  EXPECT_EQ(migrated.value().tables[1],
            (std::pair<std::string, std::uint64_t>("resources", kMany)));
  EXPECT_EQ(MovedContentsOf(to->store()), MovedContentsOf(from->store()));
}

INSTANTIATE_TEST_SUITE_P(
    EveryStore, Migration,
    ::testing::Values(std::tuple(Named{"Memory", [] { return std::make_unique<MemoryKind>(); }},
                                 Named{"Strict", [] { return std::make_unique<StrictKind>(); }}),
                      std::tuple(Named{"Memory", [] { return std::make_unique<MemoryKind>(); }},
                                 Named{"Sqlite", [] { return std::make_unique<SqliteKind>(); }}),
                      std::tuple(Named{"Sqlite", [] { return std::make_unique<SqliteKind>(); }},
                                 Named{"Memory", [] { return std::make_unique<MemoryKind>(); }}),
                      std::tuple(Named{"Sqlite", [] { return std::make_unique<SqliteKind>(); }},
                                 Named{"Postgres",
                                       [] { return std::make_unique<PostgresKind>(); }}),
                      std::tuple(Named{"Postgres", [] { return std::make_unique<PostgresKind>(); }},
                                 Named{"Sqlite", [] { return std::make_unique<SqliteKind>(); }})),
    [](const auto& tested) {
      return std::get<0>(tested.param).name + "To" + std::get<1>(tested.param).name;
    });

}  // namespace migrate_contract_test
}  // namespace truce::testing
