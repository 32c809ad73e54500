// Retention of the audit log: what goes stands in a file first, and nothing else goes.
#include "webhook/upkeep/audit_keeper.h"
#include "registry/ownership/rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>

#include "registry/store/sqlite/sqlite_store.h"
#include "tests/support/fake_clock.h"
#include "tests/support/memory_store.h"
#include "tests/support/temporary_folder.h"
#include "webhook/upkeep/registry_numbers.h"

namespace truce {
namespace audit_keeper_test {

constexpr std::size_t kSegment = AuditKeeper::kSegmentLines;

Deadline Soon() { return std::chrono::steady_clock::now() + std::chrono::seconds(20); }

class AuditRetentionTest : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    if (!GetParam()) return;
    auto store = SqliteStore::Open({.data_dir = folder_.path().string(), .full_check = false});
    ASSERT_TRUE(store.ok()) << store.error().message;
    sqlite_ = std::move(store).value();
  }
  Store& store() { return GetParam() ? static_cast<Store&>(*sqlite_) : memory_; }
  AuditKeeper Keeper() { return {store(), clock_, Files().string()}; }
  std::filesystem::path Files() const { return folder_.path() / "audit"; }

  void Fill(std::size_t count) {
    const auto decide = [&](const Facts&) {
      Changes changes;
      for (std::size_t i = 0; i < count; ++i) {
        changes.audit.push_back({.at = clock_.Now(), .cause = "made", .actor = "test"});
      }
      return changes;
    };
    ASSERT_TRUE(store().Apply({}, decide, Soon()).ok());
  }
  std::vector<AuditLine> Lines(bool newest_first = false, std::size_t limit = 1) {
    std::vector<AuditLine> lines;
    const auto look = [&](const AllFacts& facts) {
      lines = facts.AuditLines({.newest_first = newest_first}, limit);
    };
    EXPECT_TRUE(store().Read(look, Soon()).ok());
    return lines;
  }
  bool Step(const AuditRetention& retention) {
    const Result<bool> done = Keeper().Step(retention, Soon());
    EXPECT_TRUE(done.ok()) << (done.ok() ? "" : done.error().message);
    return done.ok() && done.value();
  }

  TemporaryFolder folder_;
  FakeClock clock_{*ParseTimestamp("2026-11-21T08:00:00Z")};
  MemoryStore memory_;
  std::unique_ptr<SqliteStore> sqlite_;
};

TEST_P(AuditRetentionTest, OldSegmentsGoOnceTheyAreExported) {
  Fill(kSegment + 10);
  const AuditRetention day{.age_max = std::chrono::hours(24)};
  EXPECT_FALSE(Step({}));
  EXPECT_FALSE(Step(day));
  clock_.Advance(std::chrono::hours(25));
  EXPECT_TRUE(Step(day));
  EXPECT_EQ(Lines().at(0).place.number, kSegment + 1);
  const AuditLine last = Lines(true).at(0);
  EXPECT_EQ(last.place.number, kSegment + 11);
  EXPECT_EQ(last.entry.cause, "audit log exported to audit-000000000001-000000005000.ndjson");
  EXPECT_FALSE(Step(day));  // what is left is no segment
  std::ifstream file(Files() / "audit-000000000001-000000005000.ndjson");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), static_cast<std::ptrdiff_t>(kSegment));
  EXPECT_TRUE(text.starts_with(R"({"number":1,"at":"2026-11-21T08:00:00Z")")) << text.substr(0, 99);
}

TEST_P(AuditRetentionTest, WithoutAFolderLinesGoWithoutAFile) {
  Fill(2 * kSegment);
  AuditKeeper keeper(store(), clock_, "");
  const Result<bool> done = keeper.Step({.lines_max = 1}, Soon());
  ASSERT_TRUE(done.ok() && done.value());
  EXPECT_EQ(Lines().at(0).place.number, kSegment + 1);
  EXPECT_EQ(Lines(true).at(0).entry.cause, "audit log let go up to line 5000");
  EXPECT_FALSE(std::filesystem::exists(Files()));
}

TEST_P(AuditRetentionTest, ALongLogIsCutToItsBound) {
  Fill(3 * kSegment);
  const AuditRetention bound{.lines_max = static_cast<std::int64_t>(kSegment)};
  EXPECT_TRUE(Step(bound));
  EXPECT_TRUE(Step(bound));
  EXPECT_FALSE(Step(bound));
  EXPECT_EQ(Lines().at(0).place.number, 2 * kSegment + 1);
}

TEST_P(AuditRetentionTest, NothingGoesWhenItCannotBeExported) {
  Fill(2 * kSegment);
  std::ofstream(Files()) << "a file where the folder should be";
  const Result<bool> done = Keeper().Step({.lines_max = 1}, Soon());
  ASSERT_FALSE(done.ok());
  EXPECT_EQ(done.error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(Lines().at(0).place.number, 1U);
}

TEST_P(AuditRetentionTest, AFolderThatCannotBeWrittenIsToldBeforeAnythingIsDue) {
  AuditKeeper keeper(store(), clock_, "/proc/no-folder");
  EXPECT_FALSE(keeper.Step({.lines_max = 1'000'000}, Soon()).ok());
}

TEST_P(AuditRetentionTest, TheNewestLineStaysAndNumbersGoOn) {
  Fill(3);
  const auto decide = [](const Facts&) {
    Changes changes;
    changes.put_settings.emplace_back("audit.let-go", "99");
    return changes;
  };
  ASSERT_TRUE(store().Apply({}, decide, Soon()).ok());
  ASSERT_EQ(Lines(false, 9).size(), 1U);
  Fill(1);
  EXPECT_EQ(Lines(true).at(0).place.number, 4U);
}

// A line that is written by another server appears between the export and what lets lines go.
class LateLineStore final : public Store {
 public:
  LateLineStore(Store& before, Store& after) : before_(before), after_(after) {}

  Result<void> Apply(const Locks& locks, const DecideFn& decide, Deadline deadline) override {
    return after_.Apply(locks, decide, deadline);
  }
  using Store::Read;
  Result<void> Read(const Locks& hints, const ReadFn& read, Deadline deadline) const override {
    return before_.Read(hints, read, deadline);
  }
  bool is_remote() const override { return true; }
  StoreCounts Counts() const override { return after_.Counts(); }
  Result<void> Health() const override { return {}; }

 private:
  Store& before_;
  Store& after_;
};

TEST_P(AuditRetentionTest, NoLineGoesThatTheSegmentDoesNotHave) {
  Fill(2 * kSegment + 1);
  MemoryStore without_first;
  Changes lines;
  lines.audit.resize(2 * kSegment + 1, AuditEntry{.at = clock_.Now(), .cause = "made"});
  lines.put_settings.emplace_back("audit.let-go", "1");
  const auto decide = [&](const Facts&) { return lines; };
  ASSERT_TRUE(without_first.Apply({}, decide, Soon()).ok());
  LateLineStore late(without_first, store());
  const Result<bool> done =
      AuditKeeper(late, clock_, Files().string()).Step({.lines_max = 1}, Soon());
  ASSERT_TRUE(done.ok());
  EXPECT_FALSE(done.value());
  EXPECT_EQ(Lines().at(0).place.number, 1U);
  EXPECT_TRUE(Step({.lines_max = 1})) << "the next segment has it";
}

// Here because both stores are: what alerts look at.
TEST_P(AuditRetentionTest, NumbersForAlerts) {
  Fill(2 * kSegment);
  ASSERT_TRUE(Step({.lines_max = static_cast<std::int64_t>(kSegment)}));
  const auto decide = [&](const Facts&) {
    Changes changes;
    const std::vector<std::optional<Timestamp>> ends = {
        std::nullopt, clock_.Now() - std::chrono::hours(1), clock_.Now() + std::chrono::hours(1),
        clock_.Now() + std::chrono::hours(24 * 8)};
    changes.put_owners.push_back({.id = {"a"}, .key = {"s3/Bucket|aws|||name=a"}});
    for (std::size_t i = 0; i < ends.size(); ++i) {
      changes.put_agreements.push_back({.id = {"share-" + std::to_string(i)},
                                        .resource = {"a"},
                                        .party = {"prod/" + std::to_string(i)},
                                        .until = ends[i]});
    }
    return changes;
  };
  ASSERT_TRUE(store().Apply({}, decide, Soon()).ok());
  RegistryNumbers numbers(store(), clock_);
  ASSERT_TRUE(numbers.Count(5000, Soon()).ok());
  MetricWriter writer;
  numbers.WriteMetrics(writer);
  const std::string text = std::move(writer).Take();
  EXPECT_NE(text.find("\ntruce_shares_ending 1\n"), std::string::npos) << text;
  EXPECT_NE(text.find("\ntruce_audit_lines_kept 5001\n"), std::string::npos) << text;
  EXPECT_NE(text.find("\ntruce_audit_lines_total 10001\n"), std::string::npos) << text;
  EXPECT_NE(text.find("\ntruce_audit_lines_max 5000\n"), std::string::npos) << text;
}

INSTANTIATE_TEST_SUITE_P(Stores, AuditRetentionTest, ::testing::Bool(), [](const auto& each) {
  return std::string(each.param ? "Sqlite" : "Memory");
});

}  // namespace audit_keeper_test
}  // namespace truce
