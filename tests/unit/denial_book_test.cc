// Refusals: counted, the latest first, bounded.
#include "webhook/api/review_books.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <iterator>
#include <list>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "registry/store/administration.h"
#include "tests/support/fake_clock.h"
#include "tests/support/faulty_store.h"
#include "tests/support/memory_store.h"

namespace truce {
namespace denial_book_test {

class DenialBookTest : public ::testing::Test {
 protected:
  static Finding Refusal(const std::string& key) {
    Finding finding;
    finding.rule = Rule::kDuplicateOwnership;
    finding.mode = Mode::kEnforce;
    finding.key = KeyText{key};
    finding.cause = key + " is taken.";
    return finding;
  }

  struct Chain {
    const Slot* root = nullptr;
    bool made_up = false;
  };
  void Refuse(const std::vector<Finding>& findings, std::string_view object) {
    Refuse(book_, findings, object, {});
  }
  void Refuse(const std::vector<Finding>& findings, std::string_view object, const Chain& chain) {
    Refuse(book_, findings, object, chain);
  }
  static void Refuse(DenialBook& book, const std::vector<Finding>& findings,
                     std::string_view object, const Chain& chain) {
    ReviewRecord record;
    record.root = chain.root;
    record.made_up = chain.made_up;
    record.verdict = Verdict::kDenied;
    record.findings = findings;
    record.group = "s3.aws.upbound.io";
    record.kind = "Bucket";
    record.name = object;
    record.user = "alice";
    book.OnReview(record);
  }

  FakeClock clock_{*ParseTimestamp("2026-11-22T12:00:00Z")};
  MemoryStore store_;
  DenialBook book_{store_, clock_};
};

TEST_F(DenialBookTest, TheSameRefusalIsOneEntryWithItsLatestWords) {
  const Timestamp first = clock_.Now();
  Refuse({Refusal("a")}, "one");
  Refuse({Refusal("b")}, "one");
  clock_.Advance(std::chrono::seconds(5));
  Finding again = Refusal("a");
  again.cause = "a is taken by another one now.";
  Refuse({again}, "one");
  const std::vector<Denial> all = book_.All();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].key.text, "a");
  EXPECT_EQ(all[0].count, 2U);
  EXPECT_EQ(all[0].first, first);
  EXPECT_EQ(all[0].last, clock_.Now());
  EXPECT_EQ(all[0].cause, again.cause);
  EXPECT_EQ(all[1].key.text, "b");
  EXPECT_EQ(all[1].count, 1U);
}

TEST_F(DenialBookTest, EachResourceAndObjectIsAnEntryOfItsOwn) {
  Finding warned = Refusal("c");
  warned.mode = Mode::kWarn;
  Finding by_rule = Refusal("");
  by_rule.rule = Rule::kNamingConvention;
  Refuse({Refusal("a"), Refusal("b"), warned, by_rule}, "one");
  Refuse({Refusal("a")}, "two");
  EXPECT_EQ(book_.All().size(), 4U);
  const std::vector<Denial> of_a = book_.OfNames(std::set<KeyText>{KeyText{"a"}}, 9);
  ASSERT_EQ(of_a.size(), 2U);
  EXPECT_EQ(of_a[0].name, "two");
  EXPECT_EQ(book_.OfNames(std::set<KeyText>{KeyText{"a"}}, 1).size(), 1U);
}

TEST_F(DenialBookTest, TheOneSeenLongestAgoGivesWay) {
  const auto refuse = [&](std::size_t i) {
    Refuse({Refusal("key " + std::to_string(i))}, "object " + std::to_string(i));
  };
  refuse(0);
  refuse(1);
  refuse(0);
  for (std::size_t i = 2; i <= kDenialsKept; ++i) refuse(i);
  EXPECT_EQ(book_.All().size(), kDenialsKept);
  EXPECT_TRUE(book_.OfNames(std::set<KeyText>{KeyText{"key 1"}}, 1).empty());
  refuse(1);
  EXPECT_EQ(book_.OfNames(std::set<KeyText>{KeyText{"key 1"}}, 1).size(), 1U);
  EXPECT_TRUE(book_.OfNames(std::set<KeyText>{KeyText{"key 0"}}, 1).empty());
}

TEST_F(DenialBookTest, ARootHidesNoOther) {
  Refuse({Refusal("another team's")}, "other");
  const Slot root{"prod", "platform.example.org", "ObjectStorage", "team-b", "files"};
  for (std::size_t i = 0; i < 3 * kDenialsKept; ++i) {
    Refuse({Refusal("key " + std::to_string(i))}, "bucket", {&root});
  }
  EXPECT_EQ(book_.All().size(), kDenialsOfRoot + 1);
  EXPECT_EQ(book_.OfNames(std::set<KeyText>{KeyText{"another team's"}}, 1).size(), 1U);
  EXPECT_EQ(book_.All().front().key.text, "key " + std::to_string(3 * kDenialsKept - 1));
}

TEST_F(DenialBookTest, TriesUnderMadeUpNamesAreOneEntry) {
  const Slot root{"prod", "platform.example.org", "ObjectStorage", "team-b", "files"};
  for (const char* name : {"files-x7f2k-a", "files-x7f2k-b", "files-x7f2k-c"}) {
    // The bucket may be called as its object, or have a name of its own.
    Refuse({Refusal(std::string("bucket name=") + name)}, name, {&root, true});
    Refuse({Refusal("bucket name=prod-artifacts")}, name, {&root, true});
  }
  const std::vector<Denial> all = book_.All();
  ASSERT_EQ(all.size(), 2U);
  for (const Denial& denial : all) {
    EXPECT_EQ(denial.count, 3U);
    EXPECT_EQ(denial.name, "files-x7f2k-c");
    EXPECT_EQ(denial.root, root);
  }
  EXPECT_EQ(all[0].key.text, "bucket name=prod-artifacts");
  EXPECT_EQ(all[1].key.text, "bucket name=files-x7f2k-c");
}

TEST_F(DenialBookTest, TwoServersCountTogetherAndKeepWhatWasCounted) {
  testing::FaultyStore faulty(store_);
  const auto soon = [] { return std::chrono::steady_clock::now() + std::chrono::seconds(20); };
  DenialBook one(faulty, clock_);
  DenialBook other(store_, clock_);
  const Slot root{"c", "g", "Claim", "team-a", "root"};
  Refuse(one, {Refusal("a")}, "one", {&root});
  faulty.FailNextApply({ErrorCode::kUnavailable, "away"});
  EXPECT_FALSE(one.Flush(soon()).ok());
  EXPECT_EQ(one.All().at(0).count, 1U) << "what could not be written is there still";
  ASSERT_TRUE(one.Flush(soon()).ok());
  clock_.Advance(std::chrono::milliseconds(1));
  Refuse(other, {Refusal("a")}, "one", {&root});
  clock_.Advance(std::chrono::milliseconds(1));
  Refuse(other, {Refusal("b")}, "two\n\"", {});
  ASSERT_TRUE(other.Flush(soon()).ok());
  ASSERT_TRUE(other.Flush(soon()).ok()) << "nothing new";
  Refuse(one, {Refusal("b")}, "two\n\"", {});
  EXPECT_EQ(one.All().size(), 2U);
  ASSERT_TRUE(one.Flush(soon()).ok());
  ASSERT_TRUE(other.Load(soon()).ok());
  const std::vector<Denial> all = one.All();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(other.All(), all);
  EXPECT_EQ(all[0].key.text, "b");
  EXPECT_EQ(all[0].count, 2U);
  EXPECT_EQ(all[1].count, 2U);
  EXPECT_EQ(all[1].root, root);
  EXPECT_EQ(all[1].last - all[1].first, std::chrono::milliseconds(1));
  DenialBook next(store_, clock_);
  ASSERT_TRUE(next.Load(soon()).ok());
  EXPECT_EQ(next.All(), all) << "over a restart";
}

// Calls `look` before each Apply.
class LookingStore final : public Store {
 public:
  LookingStore(Store& store, std::function<void()> look) : store_(store), look_(std::move(look)) {}

  Result<void> Apply(const Locks& locks, const DecideFn& decide, Deadline deadline) override {
    look_();
    return store_.Apply(locks, decide, deadline);
  }
  void Submit(const Locks& locks, DecideFn decide, Deadline deadline, OnDone done) override {
    store_.Submit(locks, std::move(decide), deadline, std::move(done));
  }
  using Store::Read;
  Result<void> Read(const Locks& hints, const ReadFn& read, Deadline deadline) const override {
    return store_.Read(hints, read, deadline);
  }
  StoreCounts Counts() const override { return store_.Counts(); }
  Result<void> Health() const override { return store_.Health(); }

 private:
  Store& store_;
  const std::function<void()> look_;
};

TEST_F(DenialBookTest, ADenialIsShownWhileItIsWritten) {
  std::vector<Denial> seen;
  const DenialBook* shown = nullptr;
  LookingStore looking(store_, [&] { seen = shown->All(); });
  DenialBook book(looking, clock_);
  shown = &book;
  Refuse(book, {Refusal("a")}, "one", {});
  ASSERT_TRUE(book.Flush(std::chrono::steady_clock::now() + std::chrono::seconds(20)).ok());
  ASSERT_EQ(seen.size(), 1U);
  EXPECT_EQ(seen, book.All());
}

TEST_F(DenialBookTest, TheTableIsBoundedToo) {
  const auto soon = [] { return std::chrono::steady_clock::now() + std::chrono::seconds(20); };
  for (std::size_t i = 0; i < kDenialsKept + 3; ++i) {
    Refuse({Refusal("key " + std::to_string(i))}, "object " + std::to_string(i));
    if (i % 1000 == 0) {
      ASSERT_TRUE(book_.Flush(soon()).ok());
    }
    clock_.Advance(std::chrono::milliseconds(1));
  }
  ASSERT_TRUE(book_.Flush(soon()).ok());
  const auto rows = ReadTable(store_, kDenialsTable, soon());
  ASSERT_TRUE(rows.ok());
  EXPECT_EQ(rows.value().size(), kDenialsKept);
  DenialBook next(store_, clock_);
  ASSERT_TRUE(next.Load(soon()).ok());
  EXPECT_EQ(next.All(), book_.All());
}

// The plainest book there is: a list of all, the latest first.
class PlainBook {
 public:
  void Refuse(const std::string& key, const Slot& root) {
    const auto is_it = [&](const Denial& denial) {
      return denial.key.text == key && denial.root == root;
    };
    Denial denial{.key = {key}, .root = root};
    const auto known = std::find_if(list_.begin(), list_.end(), is_it);
    if (known != list_.end()) {
      denial = *known;
      list_.erase(known);
    } else {
      const auto of_root = [&](const Denial& each) { return each.root == root; };
      const auto count = std::count_if(list_.begin(), list_.end(), of_root);
      if (static_cast<std::size_t>(count) == kDenialsOfRoot) {
        list_.erase(std::next(std::find_if(list_.rbegin(), list_.rend(), of_root)).base());
      } else if (list_.size() == kDenialsKept) {
        list_.pop_back();
      }
    }
    ++denial.count;
    list_.push_front(denial);
  }
  const std::list<Denial>& list() const { return list_; }

 private:
  std::list<Denial> list_;
};

using RotatingDenialBook = DenialBookTest;  // by that name it rotates with sanitizers
TEST_F(RotatingDenialBook, KeepsWhatAPlainListKeeps) {
  constexpr unsigned kSeed = 20261125;
  std::mt19937 random(kSeed);
  const auto below = [&](int end) {
    return std::to_string(std::uniform_int_distribution<int>(0, end - 1)(random));
  };
  PlainBook plain;
  for (int i = 0; i < 15'000; ++i) {
    // Few roots have too many, most have some, and many come and go.
    const bool is_often = below(4) == "0";
    const Slot root{"prod", "g", "Claim", "team", is_often ? below(3) : "x" + below(900)};
    const std::string key = below(is_often ? 150 : 3);
    Refuse({Refusal(key)}, "object", {&root});
    plain.Refuse(key, root);
  }
  const std::vector<Denial> all = book_.All();
  ASSERT_EQ(all.size(), plain.list().size()) << "seed " << kSeed;
  auto expected = plain.list().begin();
  for (const Denial& denial : all) {
    ASSERT_EQ(denial.key.text, expected->key.text) << "seed " << kSeed;
    ASSERT_EQ(denial.root, expected->root) << "seed " << kSeed;
    // One that gave way may still be known when it comes again.
    ASSERT_GE(denial.count, expected->count) << "seed " << kSeed;
    ++expected;
  }
}

}  // namespace denial_book_test
}  // namespace truce
