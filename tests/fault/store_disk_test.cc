// The SQLite store on a disk that is full, broken, or loses power.
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <functional>
#include <future>
#include <set>
#include <thread>

#include "registry/ownership/rows.h"
#include "registry/store/sqlite/connection.h"
#include "registry/store/sqlite/sqlite_store.h"
#include "tests/support/faulty_vfs.h"
#include "tests/support/small_disk.h"
#include "tests/support/store_contents.h"
#include "tests/support/store_samples.h"
#include "tests/support/temporary_folder.h"

namespace truce::testing {
namespace store_disk_test {

SqliteOptions OptionsFor(const TemporaryFolder& folder, const FaultyVfs& disk) {
  SqliteOptions options;
  options.data_dir = folder.path().string();
  options.disk.vfs = disk.name();
  options.full_check = false;
  return options;
}

// Everything that belongs to one create is there, or nothing of it.
void ExpectWhole(const StoreContents& contents) {
  std::set<std::string> owners;
  std::set<std::string> rows;
  for (const Owner& owner : contents.owners) owners.insert(owner.id.text);
  for (const Row& row : contents.rows) rows.insert(row.id.resource.text);
  EXPECT_EQ(owners, rows);
  EXPECT_EQ(contents.objects.size(), rows.size());
  EXPECT_EQ(contents.audit.size(), rows.size());
  EXPECT_EQ(contents.names.size(), 2 * rows.size());
}

bool Has(const StoreContents& contents, const std::string& name) {
  return std::any_of(contents.owners.begin(), contents.owners.end(),
                     [&](const Owner& owner) { return owner.id == SampleId(name); });
}

void ExpectSound(const std::string& file) {
  auto connection = Connection::Open({file, "", true});
  ASSERT_TRUE(connection.ok());
  EXPECT_EQ(connection.value()->Text("PRAGMA integrity_check").value(), "ok");
}

struct Fault {
  std::string name;
  int code;
};

class StoreDisk : public ::testing::TestWithParam<Fault> {};

TEST_P(StoreDisk, AnswersWhatNeedsNoWriteAndRecoversByItself) {
  TemporaryFolder folder;
  FaultyVfs disk;
  auto opened = SqliteStore::Open(OptionsFor(folder, disk));
  ASSERT_TRUE(opened.ok()) << opened.error().message;
  SqliteStore& store = *opened.value();
  ASSERT_TRUE(Write(store, SampleNamedCreate("a", "u1")).ok());
  disk.FailFrom(1, GetParam().code);
  const Result<void> refused = Write(store, SampleNamedCreate("b", "u2"));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kUnavailable);
  EXPECT_FALSE(store.Health().ok());
  EXPECT_TRUE(OwnerIn(store, SampleId("a")).has_value());
  EXPECT_FALSE(OwnerIn(store, SampleId("b")).has_value());
  bool found = false;
  const DecideFn unchanged = [&](const Facts& facts) {
    found = facts.RowsOf(SampleId("a")).size() == 1;
    return Changes{};
  };
  EXPECT_TRUE(store.Apply({}, unchanged, Soon()).ok());
  EXPECT_TRUE(found);
  const auto contents = ContentsOf(store);
  ASSERT_TRUE(contents.ok());
  EXPECT_EQ(contents.value().owners.size(), 1U);
  disk.Heal();
  const Deadline deadline = Soon();
  while (!store.Health().ok() && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::yield();
  }
  EXPECT_TRUE(store.Health().ok()) << "a probe finds out without any request";
  EXPECT_TRUE(Write(store, SampleNamedCreate("b", "u2")).ok());
}

// Fails each disk operation in turn, once or for good; whatever was acknowledged stays, whatever
// was not is whole or absent, and the same process goes on when the disk is well again, unless a
// sync of the database failed: then the next one does.
TEST_P(StoreDisk, I3NothingAcknowledgedIsLostWhicheverOperationFails) {
  constexpr int kCreates = 3;
  TemporaryFolder made;  // so that not every step makes a database anew
  ASSERT_TRUE(SqliteStore::Open({.data_dir = made.path().string(), .full_check = false}).ok());
  bool reached_end = false;
  for (std::uint64_t nth = 1; !reached_end; ++nth) {
    for (const bool for_good : {false, true}) {
      SCOPED_TRACE("operation " + std::to_string(nth) + (for_good ? " and all later" : " only"));
      TemporaryFolder folder;
      std::filesystem::copy(made.path() / "truce.db", folder.path() / "truce.db");
      FaultyVfs disk;
      std::set<std::string> acknowledged;
      {
        SqliteOptions options = OptionsFor(folder, disk);
        options.checkpoint_bytes = 1;
        auto opened = SqliteStore::Open(options);
        ASSERT_TRUE(opened.ok()) << opened.error().message;
        for_good ? disk.FailFrom(nth, GetParam().code) : disk.FailOnce(nth, GetParam().code);
        for (int i = 0; i < kCreates; ++i) {
          const std::string name = "n" + std::to_string(i);
          const Result<void> written = Write(*opened.value(), SampleNamedCreate(name, name));
          if (written.ok()) acknowledged.insert(name);
          const auto contents = ContentsOf(*opened.value());
          ASSERT_TRUE(contents.ok());
          ExpectWhole(contents.value());
          EXPECT_EQ(Has(contents.value(), name), written.ok());
          EXPECT_EQ(OwnerIn(*opened.value(), SampleId(name)).has_value(), written.ok());
        }
        reached_end = disk.operations() < nth;
        disk.Heal();
        // After a sync of the database that failed it only answers until its process ends.
        const bool must_end = opened.value()->FatalFailure().has_value();
        EXPECT_EQ(Write(*opened.value(), SampleNamedCreate("after", "after")).ok(), !must_end);
        EXPECT_EQ(opened.value()->Health().ok(), !must_end);
        if (!must_end) acknowledged.insert("after");
      }
      auto reopened = SqliteStore::Open(OptionsFor(folder, disk));
      ASSERT_TRUE(reopened.ok()) << reopened.error().message;
      EXPECT_FALSE(reopened.value()->FatalFailure().has_value());
      const auto contents = ContentsOf(*reopened.value());
      ASSERT_TRUE(contents.ok());
      ExpectWhole(contents.value());
      for (const std::string& name : acknowledged) EXPECT_TRUE(Has(contents.value(), name)) << name;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Faults, StoreDisk,
                         ::testing::Values(Fault{"Full", SQLITE_FULL},
                                           Fault{"WriteError", SQLITE_IOERR_WRITE},
                                           Fault{"ReadOnly", SQLITE_READONLY}),
                         [](const auto& tested) { return tested.param.name; });

// Opening meets a broken disk: an error in words, and the next opening works.
TEST(StoreDiskAtOpen, FailsWithoutDamage) {
  bool reached_end = false;
  for (std::uint64_t nth = 1; !reached_end; ++nth) {
    TemporaryFolder folder;
    FaultyVfs disk;
    disk.FailFrom(nth, SQLITE_FULL);
    {
      auto opened = SqliteStore::Open(OptionsFor(folder, disk));
      reached_end = disk.operations() < nth;
      if (!opened.ok()) {
        EXPECT_EQ(opened.error().code, ErrorCode::kUnavailable) << opened.error().message;
        EXPECT_NE(opened.error().message.find("full"), std::string::npos);
      }
    }
    disk.Heal();
    auto reopened = SqliteStore::Open(OptionsFor(folder, disk));
    ASSERT_TRUE(reopened.ok()) << reopened.error().message;
    EXPECT_TRUE(Write(*reopened.value(), SampleNamedCreate("a", "u1")).ok());
  }
}

// SQLite takes the open transaction back when one of its reads meets a broken disk: the requests of
// the batch that had written already must not be told that it is durable.
TEST(StoreDiskInABatch, I3AReadThatFailsFailsWhatTheBatchHasWritten) {
  TemporaryFolder folder;
  FaultyVfs disk;
  {
    auto opened = SqliteStore::Open(OptionsFor(folder, disk));
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    Changes many;  // more than a page of objects, so that the oldest is not read with the newest
    for (int i = 0; i < 200; ++i) many.put_objects.push_back(SampleObject("u" + std::to_string(i)));
    ASSERT_TRUE(Write(*opened.value(), many).ok());
  }
  auto opened = SqliteStore::Open(OptionsFor(folder, disk));
  ASSERT_TRUE(opened.ok()) << opened.error().message;
  SqliteStore& store = *opened.value();
  std::promise<void> queued;
  std::shared_future<void> all_queued = queued.get_future().share();
  std::array<std::promise<Result<void>>, 4> ends;
  const auto submit = [&](std::size_t which, DecideFn decide) {
    store.Submit({}, std::move(decide), Soon(),
                 [&ends, which](Result<void> end) { ends[which].set_value(std::move(end)); });
  };
  // The others make one batch: they come when the first one's has begun.
  std::promise<void> begun;
  submit(0, [all_queued, &begun](const Facts&) {
    begun.set_value();
    all_queued.wait();
    return Changes{};
  });
  begun.get_future().wait();
  submit(1, [](const Facts&) { return SampleNamedCreate("before", "before"); });
  submit(2, [&disk](const Facts& facts) {
    disk.FailReads(SQLITE_IOERR_READ);
    static_cast<void>(facts.ObjectByUid(Uid{"u0"}));
    disk.Heal();
    return Changes{};
  });
  submit(3, [](const Facts&) { return SampleNamedCreate("after", "after"); });
  queued.set_value();
  const auto code_of = [&ends](std::size_t which) {
    const Result<void> end = ends[which].get_future().get();
    return end.ok() ? std::optional<ErrorCode>() : end.error().code;
  };
  EXPECT_EQ(code_of(0), std::nullopt);
  EXPECT_EQ(code_of(1), ErrorCode::kUnavailable);
  EXPECT_EQ(code_of(2), ErrorCode::kUnavailable);
  EXPECT_EQ(code_of(3), std::nullopt);
  EXPECT_FALSE(OwnerIn(store, SampleId("before")).has_value());
  EXPECT_TRUE(OwnerIn(store, SampleId("after")).has_value());
  const auto contents = ContentsOf(store);
  ASSERT_TRUE(contents.ok());
  EXPECT_FALSE(Has(contents.value(), "before"));
  EXPECT_TRUE(Has(contents.value(), "after"));
  EXPECT_TRUE(Write(store, SampleNamedCreate("before", "before")).ok());
}

// Whoever saw a name that its batch had only just written is not told before the name is durable.
TEST(StoreDiskInABatch, I3AnAnswerBehindAWriteOfItsBatchWaitsForTheCommit) {
  TemporaryFolder folder;
  FaultyVfs disk;
  auto opened = SqliteStore::Open(OptionsFor(folder, disk));
  ASSERT_TRUE(opened.ok()) << opened.error().message;
  SqliteStore& store = *opened.value();
  ASSERT_TRUE(Write(store, SampleNamedCreate("old", "old")).ok());
  ASSERT_TRUE(Write(store, SampleNamedCreate("going", "going")).ok());
  std::promise<void> queued;
  std::shared_future<void> all_queued = queued.get_future().share();
  std::array<std::promise<Result<void>>, 6> ends;
  const auto submit = [&](std::size_t which, DecideFn decide) {
    store.Submit({}, std::move(decide), Soon(),
                 [&ends, which](Result<void> end) { ends[which].set_value(std::move(end)); });
  };
  // Without changes.
  const auto submit_look = [&](std::size_t which, const std::function<void(const Facts&)>& look) {
    submit(which, [look](const Facts& facts) {
      look(facts);
      return Changes{};
    });
  };
  // The others make one batch: they come when the first one's has begun.
  std::promise<void> begun;
  submit_look(0, [all_queued, &begun](const Facts&) {
    begun.set_value();
    all_queued.wait();
  });
  begun.get_future().wait();
  submit(1, [](const Facts&) {
    Changes changes = SampleNamedCreate("new", "new");
    changes.drop_names = {IdOf(SampleName("going")), IdOf(SampleKeyName("going"))};
    return changes;
  });
  submit_look(2, [](const Facts& facts) {
    EXPECT_EQ(facts.Named(SampleName("new").name), SampleName("new"));
  });
  submit_look(3, [](const Facts& facts) {
    EXPECT_EQ(facts.NamesOf(SampleId("new")),
              (std::vector{SampleName("new"), SampleKeyName("new")}));
  });
  submit_look(4, [](const Facts& facts) { EXPECT_TRUE(facts.NamesOf(SampleId("going")).empty()); });
  submit_look(5, [](const Facts& facts) {
    EXPECT_EQ(facts.Named(SampleName("old").name), SampleName("old"));
    EXPECT_EQ(facts.NamesOf(SampleId("old")),
              (std::vector{SampleName("old"), SampleKeyName("old")}));
    EXPECT_EQ(facts.Named(SampleName("unknown").name), std::nullopt);
  });
  disk.FailFrom(1, SQLITE_FULL);
  queued.set_value();
  for (const std::size_t which : {1U, 2U, 3U, 4U, 5U}) {
    const Result<void> end = ends[which].get_future().get();
    ASSERT_FALSE(end.ok()) << which;
    EXPECT_EQ(end.error().code, ErrorCode::kUnavailable) << which;
  }
  disk.Heal();
  const ReadFn look = [](const Facts& facts) {
    EXPECT_EQ(facts.Named(SampleName("new").name), std::nullopt);
    EXPECT_EQ(facts.Named(SampleName("going").name), SampleName("going"));
  };
  EXPECT_TRUE(store.Read(look, Soon()).ok());
}

SqliteOptions OptionsOn(const SmallDisk& disk) {
  SqliteOptions options;
  options.data_dir = disk.path();
  options.full_check = false;
  return options;
}

TEST(StoreRealDisk, AFullOneAnswersWhatNeedsNoWriteAndRecoversByItself) {
  constexpr std::size_t kBytes = 8 << 20;
  SmallDisk disk(kBytes);
  std::set<std::string> acknowledged;
  const auto create = [&acknowledged](SqliteStore& store, int number) {
    const std::string name = "n" + std::to_string(number);
    Result<void> written = Write(store, SampleNamedCreate(name, name));
    if (written.ok()) acknowledged.insert(name);
    return written;
  };
  {
    auto opened = SqliteStore::Open(OptionsOn(disk));
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    SqliteStore& store = *opened.value();
    int number = 0;
    ASSERT_TRUE(create(store, number++).ok());
    disk.Fill();
    Result<void> refused = create(store, number++);
    // What the log's file has room for may still be written.
    while (refused.ok() && number < 1000) refused = create(store, number++);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, ErrorCode::kUnavailable);
    EXPECT_NE(refused.error().message.find("full"), std::string::npos) << refused.error().message;
    EXPECT_FALSE(store.Health().ok());
    EXPECT_TRUE(OwnerIn(store, SampleId("n0")).has_value());
    EXPECT_TRUE(store
                    .Apply(
                        {}, [](const Facts&) { return Changes{}; }, Soon())
                    .ok());
    const auto contents = ContentsOf(store);
    ASSERT_TRUE(contents.ok());
    ExpectWhole(contents.value());
    EXPECT_EQ(contents.value().owners.size(), acknowledged.size());
    disk.Free();
    const Deadline deadline = Soon();
    while (!store.Health().ok() && std::chrono::steady_clock::now() < deadline) {
      std::this_thread::yield();
    }
    EXPECT_TRUE(store.Health().ok()) << "a probe finds out without any request";
    EXPECT_TRUE(create(store, number++).ok());
  }
  auto reopened = SqliteStore::Open(OptionsOn(disk));
  ASSERT_TRUE(reopened.ok()) << reopened.error().message;
  const auto contents = ContentsOf(*reopened.value());
  ASSERT_TRUE(contents.ok());
  ExpectWhole(contents.value());
  for (const std::string& name : acknowledged) EXPECT_TRUE(Has(contents.value(), name)) << name;
}

TEST(StoreRealDisk, AReadOnlyOneIsRefusedInWords) {
  constexpr std::size_t kBytes = 8 << 20;
  SmallDisk disk(kBytes);
  ASSERT_TRUE(SqliteStore::Open(OptionsOn(disk)).ok());
  disk.MakeReadOnly();
  const auto refused = SqliteStore::Open(OptionsOn(disk));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kUnavailable);
  EXPECT_NE(refused.error().message.find("ead-only"), std::string::npos) << refused.error().message;
  EXPECT_NE(refused.error().message.find(disk.path()), std::string::npos);
}

}  // namespace store_disk_test
}  // namespace truce::testing
