// What PostgreSQL itself holds, and what only a store that several programs share can get wrong.
#include <gtest/gtest.h>

#include <future>

#include <atomic>
#include <chrono>
#include <iterator>
#include <latch>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "registry/store/postgres/postgres_store.h"
#include "tests/model/world.h"
#include "tests/support/memory_store.h"
#include "tests/support/postgres_server.h"
#include "tests/support/store_contents.h"
#include "tests/support/store_samples.h"

namespace truce::testing {
namespace postgres_store_test {

std::unique_ptr<PostgresStore> OpenAt(const std::string& url) {
  auto opened = PostgresStore::Open({.url = url, .counts_age_max = {}}, Soon());
  EXPECT_TRUE(opened.ok()) << opened.error().message;
  return opened.ok() ? std::move(opened).value() : nullptr;
}

constexpr const char* kForeignKey = "23503";
constexpr const char* kUnique = "23505";

// A first declaration of the resource `name`, that its taker knows to be free.
DecideFn TakeUnlessOwned(const std::string& name, const std::string& uid, bool& won) {
  return [=, &won](const Facts& facts) {
    won = !facts.Named(SampleKey(name));
    return won ? SampleCreate(name, uid) : Changes{};
  };
}

TEST(PostgresStore, I1OfTakersThroughTwoStoresExactlyOneWins) {
  const std::string url = PostgresServer::Shared().MakeDatabase();
  const auto one = OpenAt(url);
  const auto other = OpenAt(url);
  constexpr int kRounds = 60;
  constexpr int kTakers = 8;
  int winners = 0;
  for (int round = 0; round < kRounds; ++round) {
    const std::string name = "race" + std::to_string(round);
    Locks hints;
    if (round % 2 == 0) hints.names = {SampleKey(name)};  // with hints, and by discovery alone
    std::atomic<int> won = 0;
    std::latch start(kTakers);
    {
      std::vector<std::jthread> takers;
      for (int taker = 0; taker < kTakers; ++taker) {
        takers.emplace_back([&, taker] {
          Store& store = taker % 2 == 0 ? *one : *other;
          bool is_mine = false;
          const std::string uid = std::to_string(round) + "-" + std::to_string(taker);
          start.arrive_and_wait();
          const auto applied = store.Apply(hints, TakeUnlessOwned(name, uid, is_mine), Soon());
          EXPECT_TRUE(applied.ok()) << applied.error().message;
          if (is_mine) ++won;
        });
      }
    }
    EXPECT_EQ(won, 1) << name;
    winners += won;
  }
  EXPECT_EQ(winners, kRounds);
  EXPECT_EQ(ContentsOf(*one).value().owners.size(), std::size_t{kRounds});
  EXPECT_EQ(ContentsOf(*one).value(), ContentsOf(*other).value());
}

// Locks are taken in the order in which they are discovered, which differs: nobody waits out of
// order, so nobody waits for ever.
TEST(PostgresStore, DecisionsThatMeetInAnyOrderAllEnd) {
  const auto store = OpenAt(PostgresServer::Shared().MakeDatabase());
  constexpr int kWriters = 6;
  constexpr int kRounds = 25;
  std::latch start(kWriters);
  {
    std::vector<std::jthread> writers;
    for (int writer = 0; writer < kWriters; ++writer) {
      writers.emplace_back([&, writer] {
        start.arrive_and_wait();
        for (int round = 0; round < kRounds; ++round) {
          const DecideFn count = [&](const Facts& facts) {
            Changes changes;
            for (int i = 0; i < 3; ++i) {
              // Each is asked for after the one before is known.
              const std::string name = "s" + std::to_string((writer + i * (writer % 2 + 1)) % 5);
              const int was = std::stoi(facts.Setting(name).value_or("0"));
              changes.put_settings.emplace_back(name, std::to_string(was + 1));
            }
            return changes;
          };
          const auto applied = store->Apply({}, count, Soon());
          EXPECT_TRUE(applied.ok()) << applied.error().message;
        }
      });
    }
  }
  int sum = 0;
  const StoreContents contents = ContentsOf(*store).value();
  for (const auto& [name, value] : contents.settings) sum += std::stoi(value);
  EXPECT_EQ(sum, kWriters * kRounds * 3) << "an increment was lost";
}

TEST(PostgresStore, ADecisionThatReadsAListSeesNobodyBesideIt) {
  const auto store = OpenAt(PostgresServer::Shared().MakeDatabase());
  constexpr int kWriters = 4;
  {
    std::vector<std::jthread> writers;
    for (int writer = 0; writer < kWriters; ++writer) {
      writers.emplace_back([&, writer] {
        for (int round = 0; round < 10; ++round) {
          // Writes how many owners there are, and makes one more: a count that is never wrong.
          const DecideFn next = [&](const AllFacts& facts) {
            const std::size_t count = facts.OwnersIn(OwnerList::kAll, {}, 1000).size();
            const std::string name = "n" + std::to_string(count);
            return SampleCreate(name, "u" + std::to_string(writer) + "-" + std::to_string(round));
          };
          const auto applied = store->Apply({}, next, Soon());
          EXPECT_TRUE(applied.ok()) << applied.error().message;
        }
      });
    }
  }
  EXPECT_EQ(ContentsOf(*store).value().owners.size(), std::size_t{kWriters * 10});
}

// A count is no soft fact: it is read under a lock that all who count the same take.
TEST(PostgresStore, OfThoseWhoTakeAQuotasLastPlaceThroughTwoStoresExactlyOneGetsIt) {
  const std::string url = PostgresServer::Shared().MakeDatabase();
  const auto one = OpenAt(url);
  const auto other = OpenAt(url);
  constexpr int kRounds = 200;
  constexpr int kTakers = 4;
  constexpr std::uint64_t kMax = 3;
  for (int round = 0; round < kRounds; ++round) {
    const std::string region = "r" + std::to_string(round);
    const auto create = [&](const std::string& name) {
      Changes changes = SampleCreate(region + name, "u" + region + name);
      changes.put_owners[0].identity.region = region;
      return changes;
    };
    ASSERT_TRUE(Write(*one, create("-a")).ok());
    ASSERT_TRUE(Write(*one, create("-b")).ok());
    const OwnedRange quota{.type = "s3/Bucket", .region = region};
    Locks hints;
    if (round % 2 == 0) hints.counts = {quota};  // with hints, and by discovery alone
    std::atomic<int> won = 0;
    std::latch start(kTakers);
    {
      std::vector<std::jthread> takers;
      for (int taker = 0; taker < kTakers; ++taker) {
        takers.emplace_back([&, taker] {
          Store& store = taker % 2 == 0 ? *one : *other;
          bool is_mine = false;
          const DecideFn take = [&](const Facts& facts) {
            is_mine = facts.CountOwned(quota) < kMax;
            return is_mine ? create(std::to_string(taker)) : Changes{};
          };
          start.arrive_and_wait();
          const auto applied = store.Apply(hints, take, Soon());
          EXPECT_TRUE(applied.ok()) << applied.error().message;
          if (is_mine) ++won;
        });
      }
    }
    EXPECT_EQ(won, 1) << region;
  }
  EXPECT_EQ(ContentsOf(*one).value().owners.size(), kRounds * kMax);
}

TEST(PostgresStore, ACountWaitsForNobodyWhoCountsSomethingElse) {
  const std::string url = PostgresServer::Shared().MakeDatabase();
  const auto store = OpenAt(url);
  Outsider holder(url);  // as a decision does that runs for long
  ASSERT_EQ(holder.Run("BEGIN; SELECT pg_advisory_xact_lock_shared(1414681923, 0)"), "");
  ASSERT_EQ(holder.Run("SELECT pg_advisory_xact_lock(hashtextextended('q/s3/Bucket||other', 0))"),
            "");
  const auto count = [&](const std::string& region, Deadline deadline) {
    const DecideFn take = [&](const Facts& facts) {
      static_cast<void>(facts.CountOwned({.type = "s3/Bucket", .region = region}));
      return Changes{};
    };
    return store->Apply({}, take, deadline);
  };
  const auto counted = count("one", Soon());
  EXPECT_TRUE(counted.ok()) << counted.error().message;
  const auto waited =
      count("other", std::chrono::steady_clock::now() + std::chrono::milliseconds(300));
  ASSERT_FALSE(waited.ok());
  EXPECT_EQ(waited.error().code, ErrorCode::kDeadlineExceeded);
}

TEST(PostgresStore, I1AndI2AreHeldAgainstWhoeverWritesPastTheStore) {
  const std::string url = PostgresServer::Shared().MakeDatabase();
  const auto store = OpenAt(url);
  ASSERT_TRUE(Write(*store, SampleCreate("a", "u1")).ok());
  const StoreContents before = ContentsOf(*store).value();
  Outsider outsider(url);
  EXPECT_EQ(outsider.Run("INSERT INTO truce.owners SELECT * FROM truce.owners"), kUnique);
  EXPECT_EQ(outsider.Run("DELETE FROM truce.owners"), kForeignKey) << "a reservation stands";
  EXPECT_EQ(outsider.Run("UPDATE truce.declarations SET resource = resource + 1000"), kForeignKey);
  const Deadline until = Soon();
  // Two who do not see each other: one lets go of the owner, the other reserves.
  Outsider other(url);
  EXPECT_EQ(outsider.Run("BEGIN; DELETE FROM truce.declarations; DELETE FROM truce.owners; "
                         "DELETE FROM truce.names; DELETE FROM truce.resources"),
            "");
  std::jthread reserves([&] {
    EXPECT_EQ(other.Run("INSERT INTO truce.declarations SELECT resource, 'u2', state, slot, "
                        "namespace, root, intent, terminating, managed, identity, review, digest, "
                        "base, \"user\", at, created, account_fields FROM truce.declarations"),
              kForeignKey);
  });
  // Until it waits for what the first one does: a division by none before.
  Outsider watcher(url);
  while (std::chrono::steady_clock::now() < until &&
         !watcher
              .Run("SELECT 1 / count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' "
                   "AND datname = current_database()")
              .empty()) {
    std::this_thread::yield();
  }
  EXPECT_EQ(outsider.Run("COMMIT"), "");
  reserves.join();
  EXPECT_TRUE(ContentsOf(*store).value().owners.empty());
  EXPECT_TRUE(ContentsOf(*store).value().rows.empty());
  EXPECT_EQ(ContentsOf(*store).value().audit, before.audit);
}

TEST(PostgresStore, I13IsHeldAgainstWhoeverWritesPastTheStore) {
  const std::string url = PostgresServer::Shared().MakeDatabase();
  const auto store = OpenAt(url);
  ASSERT_TRUE(Write(*store, SampleNamedCreate("a", "u1")).ok());
  ASSERT_TRUE(Write(*store, SampleCreate("b", "u2")).ok());
  const StoreContents before = ContentsOf(*store).value();
  Outsider outsider(url);
  const std::string name = SampleName("a").name.text;
  EXPECT_EQ(
      outsider.Run("INSERT INTO truce.names SELECT name, spelling, resource, sort, observed, at "
                   "FROM truce.names"),
      kUnique);
  EXPECT_EQ(outsider.Run("UPDATE truce.names SET name = '" + name + "' WHERE name = '" +
                         SampleKey("b").text + "'"),
            kUnique);
  EXPECT_EQ(outsider.Run("UPDATE truce.names SET resource = resource + 1000"), kForeignKey);
  EXPECT_EQ(outsider.Run("DELETE FROM truce.resources"), kForeignKey);
  EXPECT_EQ(ContentsOf(*store).value(), before);
}

TEST(PostgresStore, I12TheAuditLogOnlyGrows) {
  const std::string url = PostgresServer::Shared().MakeDatabase();
  const auto store = OpenAt(url);
  ASSERT_TRUE(Write(*store, SampleCreate("a", "u1")).ok());
  ASSERT_TRUE(Write(*store, SampleCreate("b", "u2")).ok());
  Outsider outsider(url);
  EXPECT_NE(outsider.Run("UPDATE truce.audit SET cause = 'another'"), "");
  EXPECT_NE(outsider.Run("DELETE FROM truce.audit"), "");
  EXPECT_EQ(ContentsOf(*store).value().audit.size(), 2U);
  Changes let_go;
  let_go.put_settings = {{"audit.let-go", "1000"}};
  ASSERT_TRUE(Write(*store, let_go).ok());
  EXPECT_EQ(ContentsOf(*store).value().audit.size(), 1U) << "the newest line stays";
}

// What the tables cannot keep never becomes another name.
TEST(PostgresStore, ANameThatCannotBeKeptIsNeitherFoundNorWritten) {
  const auto store = OpenAt(PostgresServer::Shared().MakeDatabase());
  for (const std::string& name :
       {std::string(3000, 'n'), std::string("\xFF"), std::string(1, '\0')}) {
    const ReadFn look = [&](const Facts& facts) {
      EXPECT_EQ(facts.Named(SampleKey(name)), std::nullopt);
      EXPECT_EQ(facts.OwnerOf(SampleId(name)), std::nullopt);
    };
    ASSERT_TRUE(store->Read(look, Soon()).ok());
    Changes of_name = SampleCreate("a", "u1");
    of_name.put_names[0].name = SampleKey(name);
    for (const Changes& changes : {of_name, SampleCreate(name, "u1")}) {
      const auto refused = Write(*store, changes);
      ASSERT_FALSE(refused.ok());
      EXPECT_EQ(refused.error().code, ErrorCode::kInternal);
    }
  }
  EXPECT_EQ(ContentsOf(*store).value(), StoreContents{});
  Changes odd = SampleCreate("a", "u1");
  odd.put_owners[0].service = std::string("a\0b\xFF", 4);
  ASSERT_TRUE(Write(*store, odd).ok());
  EXPECT_EQ(OwnerIn(*store, SampleId("a"))->service,
            "a\xEF\xBF\xBD"
            "b\xEF\xBF\xBD");
}

// The server closes what is idle; the next decision connects anew, and no caller hears of it.
TEST(PostgresStore, AConnectionThatWasCutIsReplaced) {
  const std::string url = PostgresServer::Shared().MakeDatabase();
  const auto store = OpenAt(url);
  ASSERT_TRUE(Write(*store, SampleCreate("a", "u1")).ok());
  Outsider outsider(url);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(outsider.Run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = "
                           "current_database() AND pid <> pg_backend_pid()"),
              "");
    const auto written = Write(*store, SampleCreate("b" + std::to_string(i), "u2"));
    EXPECT_TRUE(written.ok()) << written.error().message;
  }
  EXPECT_EQ(ContentsOf(*store).value().owners.size(), 4U);
}

// As when a new version spells all names anew: time by the number of things, not by its square.
TEST(PostgresStore, AChangeOfThousandsOfThingsIsWrittenInSeconds) {
  const auto store = OpenAt(PostgresServer::Shared().MakeDatabase());
  constexpr int kThings = 4000;
  Changes all;
  const auto append = [](auto& to, auto from) {
    to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
  };
  for (int i = 0; i < kThings; ++i) {
    Changes one = SampleCreate("n" + std::to_string(i), "u" + std::to_string(i));
    append(all.put_owners, std::move(one.put_owners));
    append(all.put_rows, std::move(one.put_rows));
    append(all.put_objects, std::move(one.put_objects));
    append(all.put_names, std::move(one.put_names));
    append(all.audit, std::move(one.audit));
  }
  const auto decide = [&](const AllFacts&) { return all; };
  const auto written = store->Apply({}, decide, In(std::chrono::seconds{20}));
  ASSERT_TRUE(written.ok()) << written.error().message;
  EXPECT_EQ(ContentsOf(*store).value().owners.size(), std::size_t{kThings});
}

// The same history leaves the same registry here and in the reference.
TEST(PostgresStore, AgreesWithTheReferenceOnTheModelWorld) {
  for (unsigned seed = 1; seed <= 2; ++seed) {
    const World::Options options{.bypass = 0.1, .unenforced = 0.1};
    const auto run = [&](Store& store) {
      World world(store, seed, options);
      for (unsigned i = 0; i < 120; ++i) {
        const auto broken = world.Step();
        ASSERT_FALSE(broken) << *broken << "\nseed " << seed << ", step " << i;
      }
      EXPECT_EQ(world.Quiet(), std::nullopt) << "seed " << seed;
    };
    MemoryStore reference;
    run(reference);
    const auto store = OpenAt(PostgresServer::Shared().MakeDatabase());
    run(*store);
    EXPECT_TRUE(ContentsOf(*store).value() == ContentsOf(reference).value()) << "seed " << seed;
  }
}

TEST(PostgresStore, ANameBringsItsResourceUnlessSomebodyHoldsThat) {
  const std::string url = PostgresServer::Shared().MakeDatabase();
  const auto store = OpenAt(url);
  ASSERT_TRUE(Write(*store, SampleCreate("a", "u1")).ok());
  Locks hints;
  hints.names = {SampleKey("a")};
  int runs = 0;
  bool owned = false;
  const DecideFn name_alone = [&](const Facts& facts) {
    ++runs;
    EXPECT_TRUE(facts.Named(SampleKey("a")));
    return Changes{};
  };
  const DecideFn with_owner = [&](const Facts& facts) {
    ++runs;
    owned = facts.OwnerOf(SampleId("a")).has_value();
    return Changes{};
  };
  ASSERT_TRUE(store->Apply(hints, with_owner, Soon()).ok());
  EXPECT_TRUE(owned);
  EXPECT_EQ(runs, 1) << "one round trip";

  std::promise<void> held;
  std::promise<void> let_go;
  std::jthread holder([&] {
    Locks its_id;
    its_id.resources = {SampleId("a")};
    const DecideFn hold = [&](const Facts& facts) {
      static_cast<void>(facts.OwnerOf(SampleId("a")));
      held.set_value();
      let_go.get_future().wait();
      return Changes{};
    };
    EXPECT_TRUE(store->Apply(its_id, hold, Soon()).ok());
  });
  held.get_future().wait();
  runs = 0;
  EXPECT_TRUE(store->Apply(hints, name_alone, Soon()).ok()) << "who needs it not waits for nobody";
  EXPECT_EQ(runs, 1);
  const Deadline soon = std::chrono::steady_clock::now() + std::chrono::milliseconds(300);
  const auto waited = store->Apply(hints, with_owner, soon);
  ASSERT_FALSE(waited.ok());
  EXPECT_EQ(waited.error().code, ErrorCode::kDeadlineExceeded);
  let_go.set_value();
  owned = false;
  EXPECT_TRUE(store->Apply(hints, with_owner, Soon()).ok());
  EXPECT_TRUE(owned);
}

}  // namespace postgres_store_test
}  // namespace truce::testing
