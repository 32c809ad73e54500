// What is found by name follows the commits, in whatever order their callers are told.
#include "webhook/api/indexed_store.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "registry/ownership/rows.h"
#include "registry/store/memory/memory_store.h"

namespace truce {
namespace indexed_store_test {

Deadline Soon() { return std::chrono::steady_clock::now() + std::chrono::seconds(5); }

// Commits at once and tells when it is asked to.
class LateStore final : public Store {
 public:
  Result<void> Apply(const Locks& locks, const DecideFn& decide, Deadline deadline) override {
    return store_.Apply(locks, decide, deadline);
  }
  void Submit(const Locks& locks, DecideFn decide, Deadline deadline, OnDone done) override {
    waiting_.emplace_back(std::move(done), store_.Apply(locks, decide, deadline));
  }
  Result<void> Read(const ReadFn& read, Deadline deadline) const override {
    return store_.Read(read, deadline);
  }
  StoreCounts Counts() const override { return store_.Counts(); }
  Result<StoreContents> Contents() const override { return store_.Contents(); }
  Result<void> Health() const override { return store_.Health(); }

  // Once for each that was submitted, counted from 0.
  void Tell(std::size_t which) {
    const OnDone done = std::exchange(waiting_.at(which).first, nullptr);
    done(waiting_.at(which).second);
  }

 private:
  MemoryStore store_;
  std::vector<std::pair<OnDone, Result<void>>> waiting_;
};

class IndexedStoreTest : public ::testing::Test {
 protected:
  IndexedStoreTest() {
    const std::atomic<bool> stop{false};
    EXPECT_TRUE(indexed_.Fill(stop).ok());
  }

  static DecideFn Names(const std::string& name, const std::string& bucket = "reports") {
    return [name, bucket](const AllFacts&) {
      Owner owner;
      owner.key.text = "aws:s3/Bucket|1|-|" + bucket;
      owner.id.text = "o-1";
      owner.root.kind = "Bucket";
      owner.root.name = "reports";
      owner.name = name;
      Changes changes;
      changes.put_owners.push_back(std::move(owner));
      return changes;
    };
  }
  static Changes Drop(const AllFacts&) {
    Changes changes;
    changes.drop_owners.push_back({"aws:s3/Bucket|1|-|reports"});
    return changes;
  }
  static Changes Nothing(const AllFacts&) { return {}; }

  void Submit(const DecideFn& decide) {
    indexed_.Submit({}, decide, Soon(), [](const Result<void>& done) { EXPECT_TRUE(done.ok()); });
  }
  std::size_t Found(const std::string& name) {
    return indexed_.WithName(name, 9, Soon()).value().size();
  }

  LateStore store_;
  IndexedStore indexed_{store_};
};

TEST_F(IndexedStoreTest, FindsWhatWasSubmittedOnceItIsTold) {
  Submit(Names("first"));
  EXPECT_EQ(Found("first"), 0U);
  store_.Tell(0);
  EXPECT_EQ(Found("first"), 1U);
}

TEST_F(IndexedStoreTest, WhatIsToldLateDoesNotComeBack) {
  Submit(Names("first"));
  Submit(Names("second"));
  store_.Tell(1);
  EXPECT_EQ(Found("second"), 1U);
  store_.Tell(0);
  EXPECT_EQ(Found("first"), 0U);
  EXPECT_EQ(Found("second"), 1U);
}

TEST_F(IndexedStoreTest, WhatIsToldLateDoesNotComeBackAfterItsEnd) {
  Submit(Names("first"));
  EXPECT_TRUE(indexed_.Apply({}, Drop, Soon()).ok());
  store_.Tell(0);
  EXPECT_EQ(Found("first"), 0U);
}

TEST_F(IndexedStoreTest, WhoseDecisionChangesNothingHidesNothing) {
  Submit(Names("first"));
  Submit(Nothing);
  store_.Tell(1);
  store_.Tell(0);
  EXPECT_EQ(Found("first"), 1U);
}

TEST_F(IndexedStoreTest, FindsAtOnceWhatManyWriteTogether) {
  constexpr int kWriters = 4;
  constexpr int kEach = 500;
  std::vector<std::jthread> writers;
  for (int writer = 0; writer < kWriters; ++writer) {
    writers.emplace_back([&, writer] {
      for (int i = 0; i < kEach; ++i) {
        const std::string name = std::to_string(writer) + "-" + std::to_string(i);
        EXPECT_TRUE(indexed_.Apply({}, Names(name, name), Soon()).ok());
        EXPECT_EQ(Found(name), 1U);
      }
    });
  }
}

}  // namespace indexed_store_test
}  // namespace truce
