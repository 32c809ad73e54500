// A hand-over ends in one state, in whatever order its versions are shown, reviewed before or not,
// all of them or only the last ones (W6).
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "registry/ownership/agreements.h"
#include "registry/ownership/ledger.h"
#include "tests/model/scene.h"
#include "tests/support/strict_store.h"

namespace truce {
namespace hand_over_orders_test {

using scene::Composite;
using scene::ManagedBucket;
using scene::RefTo;
using scene::SlotOf;

// The versions of one object from now on, as its watch shows them.
struct Stream {
  std::vector<ObjectFacts> versions;
  bool ends = false;  // the last one comes with the DELETED event
};

// What the tests of one history differ in.
struct Telling {
  bool reviewed = false;  // each version was, past any refusal, before anything is shown
  bool gaps = false;      // of each object only the last version is shown
};
constexpr Telling kTellings[] = {{false, false}, {false, true}, {true, false}, {true, true}};

constexpr const char* kToB = "Bucket/team-b/b";

// Team A's bucket, alone or composed for a claim, and team B's, whom A names.
class HandOverOrders : public ::testing::Test {
 protected:
  HandOverOrders() { Anew(); }

  void Anew() {
    registry_.reset();
    store_ = std::make_unique<testing::StrictStore>();
    registry_ = std::make_unique<scene::Registry>(*store_);
    version_ = 10;
  }

  ObjectFacts Next(ObjectFacts object) {
    object.version = ++version_;
    return object;
  }
  ObjectFacts Saying(ObjectFacts object, const std::string& word) {
    object.transfer_to = word;
    return Next(std::move(object));
  }
  ObjectFacts Observing(ObjectFacts object) {
    for (DeclaredResource& resource : object.resources) resource.intent = Intent::kObserves;
    return Next(std::move(object));
  }
  // Deleted by a policy that keeps the bucket.
  ObjectFacts Leaving(ObjectFacts object) {
    object.terminating = true;
    if (object.managed) object.resources[0].intent = Intent::kManages;
    return Next(std::move(object));
  }
  Stream OfB() {
    const ObjectFacts made = Next(ManagedBucket(b_, "b", "k", Intent::kDeletes, 0));
    ObjectFacts ready = Next(made);
    ready.real = true;
    return {{made, ready}};
  }

  // Made by Crossplane, seen, and real. `mapped`: claim and composite declare the bucket, too.
  void MakeChain(bool mapped) {
    const std::string declared = mapped ? "k" : "";
    claim_ = Composite(SlotOf("Storage", "team-a", "a"), "claim", declared, 1);
    composite_ = Composite(SlotOf("XStorage", "", "a-x"), "xr", declared, 2);
    bucket_ = ManagedBucket(SlotOf("Bucket", "", "a-x-y"), "mr", "k", Intent::kDeletes, 3);
    claim_.lineage.composite = RefTo(composite_.slot, "");
    composite_.lineage.claim = RefTo(claim_.slot, "");
    composite_.lineage.resources = {RefTo(bucket_.slot, "")};
    bucket_.lineage.controller = RefTo(composite_.slot, "xr");
    bucket_.lineage.composed = true;
    for (ObjectFacts* object : {&claim_, &composite_, &bucket_}) {
      ASSERT_TRUE(registry_->Create(*object, scene::kCrossplane).allowed);
      object->real = true;
      registry_->See(*object);
    }
  }
  void MakeAlone() { bucket_ = registry_->Live(SlotOf("Bucket", "team-a", "a"), "mr", "k"); }

  void Review(const std::vector<Stream>& streams) {
    std::vector<std::pair<ObjectFacts, ObjectFacts>> updates;  // an empty one before: created
    for (const Stream& stream : streams) {
      for (const ObjectFacts* known : {&claim_, &composite_, &bucket_}) {
        if (known->uid == stream.versions[0].uid) updates.emplace_back(*known, stream.versions[0]);
      }
      if (stream.versions[0].uid.text == "b")
        updates.emplace_back(ObjectFacts{}, stream.versions[0]);
      for (std::size_t i = 1; i < stream.versions.size(); ++i) {
        updates.emplace_back(stream.versions[i - 1], stream.versions[i]);
      }
    }
    std::ranges::sort(updates, {}, [](const auto& update) { return update.second.version; });
    for (const auto& [old, next] : updates) {
      if (old.uid.empty()) {
        (void)registry_->Create(next, "dev", Mode::kWarn);
      } else {
        ASSERT_TRUE(registry_->Update(old, next).allowed);
      }
    }
  }

  void Show(const Stream& stream, std::size_t at, bool gap) {
    const bool deleted = stream.ends && at + 1 == stream.versions.size();
    if (deleted) {
      registry_->SeeDeleted(stream.versions[at]);
    } else {
      registry_->See(stream.versions[at], gap);
    }
  }

  // Runs the history once in each order that keeps that of each object's versions.
  template <typename Make, typename Check>
  void InEachOrder(const Make& make, const Check& check) {
    for (const Telling& telling : kTellings) {
      Anew();
      const std::vector<Stream> sample = make();
      std::vector<std::size_t> order;
      for (std::size_t i = 0; i < sample.size(); ++i) {
        order.insert(order.end(), telling.gaps ? 1 : sample[i].versions.size(), i);
      }
      do {
        Anew();
        const std::vector<Stream> streams = make();
        if (telling.reviewed) Review(streams);
        std::vector<std::size_t> shown(streams.size());
        std::string story = telling.reviewed ? "reviewed;" : "not reviewed;";
        for (const std::size_t i : order) {
          const Stream& stream = streams[i];
          const std::size_t at = telling.gaps ? stream.versions.size() - 1 : shown[i]++;
          story += " " + stream.versions[at].uid.text + " " + std::to_string(at);
          Show(stream, at, telling.gaps);
        }
        check();
        if (HasFailure()) FAIL() << story;
      } while (std::next_permutation(order.begin(), order.end()));
    }
  }

  void ExpectHandedOver() {
    const auto owner = registry_->OwnerOf("k");
    ASSERT_TRUE(owner);
    EXPECT_EQ(owner->root, b_);
    EXPECT_EQ(owner->party.text, "ns:local/team-b");
    EXPECT_EQ(owner->record, Record::kNone);
    EXPECT_EQ(owner->successor, "");
    EXPECT_TRUE(owner->real);
    EXPECT_FALSE(owner->contested);
    EXPECT_EQ(owner->state, HolderState::kHeld);
    EXPECT_TRUE(registry_->Contents().agreements.empty());
    ObjectFacts again = Next(bucket_);
    again.uid = {"again"};
    EXPECT_FALSE(registry_->Create(again).allowed) << "two managers";
  }
  void ExpectLeft(const std::string& successor) {
    const auto owner = registry_->OwnerOf("k");
    ASSERT_TRUE(owner);
    EXPECT_EQ(owner->party.text, "ns:local/team-a");
    EXPECT_EQ(owner->record, successor.empty() ? Record::kOrphaned : Record::kTransferring);
    EXPECT_EQ(owner->successor, successor);
  }

  const Slot b_ = SlotOf("Bucket", "team-b", "b");
  std::unique_ptr<testing::StrictStore> store_;
  std::unique_ptr<scene::Registry> registry_;
  std::uint64_t version_ = 0;
  ObjectFacts claim_;
  ObjectFacts composite_;
  ObjectFacts bucket_;
};

// How team A's bucket goes: its word before, with or after it steps back; by observing, or deleted.
enum class Way : std::uint8_t { kWordFirst, kAtOnce, kStepFirst };
constexpr Way kWays[] = {Way::kWordFirst, Way::kAtOnce, Way::kStepFirst};

class HandOverOfOne : public HandOverOrders {
 protected:
  Stream Going(Way way, bool deleted) {
    MakeAlone();
    const auto step = [&](const ObjectFacts& o) { return deleted ? Leaving(o) : Observing(o); };
    Stream stream;
    auto& versions = stream.versions;
    if (way == Way::kWordFirst) versions.push_back(Saying(bucket_, kToB));
    versions.push_back(step(versions.empty() ? bucket_ : versions.back()));
    if (way == Way::kAtOnce) versions.back().transfer_to = kToB;
    if (way == Way::kStepFirst) versions.push_back(Saying(versions.back(), kToB));
    if (deleted) versions.push_back(Next(versions.back()));
    stream.ends = deleted;
    return stream;
  }
};

TEST_F(HandOverOfOne, GoesToWhomItsOwnerNamed) {
  for (const Way way : kWays) {
    for (const bool deleted : {false, true}) {
      SCOPED_TRACE(std::to_string(static_cast<int>(way)) + (deleted ? " deleted" : " observing"));
      InEachOrder(
          [&] {
            return std::vector{Going(way, deleted), OfB()};
          },
          [&] { ExpectHandedOver(); });
      InEachOrder([&] { return std::vector{Going(way, deleted)}; },
                  [&] {
                    ExpectLeft(kToB);
                    const Stream b = OfB();
                    EXPECT_TRUE(registry_->Create(b.versions[0]).allowed);
                    registry_->See(b.versions[1]);
                    ExpectHandedOver();
                  });
    }
  }
}

// Both managed the bucket beside A: without the word the elder one would get it.
TEST_F(HandOverOfOne, TheNamedOneComesBeforeAnElderOne) {
  MakeAlone();
  const Slot c = SlotOf("Bucket", "team-c", "c");
  registry_->See(Next(ManagedBucket(c, "c", "k", Intent::kDeletes, 0)));
  for (const ObjectFacts& version : OfB().versions) registry_->See(version);
  ObjectFacts leaving = Observing(bucket_);
  leaving.transfer_to = kToB;
  registry_->See(leaving);
  EXPECT_EQ(registry_->OwnerOf("k")->root, b_);
}

TEST_F(HandOverOfOne, OfSeveralWordsTheNewestCounts) {
  const auto saying = [&](const std::vector<std::string>& words, std::size_t step) {
    MakeAlone();
    Stream stream;
    ObjectFacts last = bucket_;
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (i == step) stream.versions.push_back(last = Observing(last));
      stream.versions.push_back(last = Saying(last, words[i]));
    }
    if (step == words.size()) stream.versions.push_back(Observing(last));
    return stream;
  };
  for (std::size_t step = 0; step <= 2; ++step) {
    SCOPED_TRACE(step);
    InEachOrder(
        [&] {
          return std::vector{saying({"Bucket/team-c/c", kToB}, step), OfB()};
        },
        [&] { ExpectHandedOver(); });
    InEachOrder(
        [&] {
          return std::vector{saying({kToB, "Bucket/team-c/c"}, 2), OfB()};
        },
        [&] { ExpectLeft("Bucket/team-c/c"); });
    InEachOrder([&] { return std::vector{saying({kToB, ""}, 2), OfB()}; }, [&] { ExpectLeft(""); });
  }
}

// It changed its mind, and again.
TEST_F(HandOverOfOne, TheWordStandsWhileItIsSaid) {
  const auto to_and_fro = [&] {
    MakeAlone();
    Stream stream{{Saying(bucket_, kToB)}};
    stream.versions.push_back(Observing(stream.versions.back()));
    ObjectFacts again = Next(stream.versions.back());
    again.resources[0].intent = Intent::kDeletes;
    stream.versions.push_back(again);
    stream.versions.push_back(Observing(again));
    return stream;
  };
  InEachOrder([&] { return std::vector{to_and_fro()}; },
              [&] {
                for (const Row& row : registry_->RowsOf("k")) {
                  ObjectFacts last = bucket_;
                  last.resources[0].intent = Intent::kObserves;
                  if (row.id.state != RowState::kReserved) continue;
                  registry_->Prove(row.id, {Proof::Answer::kLive, last});
                }
                ExpectLeft(kToB);
              });
}

TEST_F(HandOverOfOne, AWordByCommandCountsInAnyOrder) {
  for (int when = 0; when < 4; ++when) {
    SCOPED_TRACE(when);
    Anew();
    MakeAlone();
    const Stream b = OfB();
    const auto act = [&](int now) {
      if (now != when) return;
      registry_->Run([&](Ledger& ledger) {
        const TransferTerms terms{{"ns:local/team-b"}, kToB, true};
        const ResourceId id = scene::IdNamed(scene::BucketKey("k"), ledger);
        EXPECT_TRUE(OfferTransfer(id, terms, {"admin", "asked for"}, ledger).ok());
      });
    };
    act(0);
    registry_->See(b.versions[0]);
    act(1);
    registry_->See(b.versions[1]);
    act(2);
    registry_->See(Observing(bucket_));
    act(3);
    ExpectHandedOver();
  }
}

// Another life in the same place says for itself.
TEST_F(HandOverOfOne, MadeAnewWithoutAnnotationItSaysNothing) {
  for (const bool end_first : {true, false}) {
    for (const bool reviewed : {true, false}) {
      Anew();
      const Stream going = Going(Way::kWordFirst, true);
      registry_->See(going.versions[0]);
      registry_->See(going.versions[1]);
      ObjectFacts anew = Next(bucket_);
      anew.uid = {"anew"};
      registry_->Advance(std::chrono::seconds{1});
      if (reviewed && end_first) registry_->SeeDeleted(going.versions[2]);
      EXPECT_TRUE(!reviewed || registry_->Create(anew).allowed);
      if (!reviewed && end_first) registry_->SeeDeleted(going.versions[2]);
      registry_->See(anew);
      if (!end_first) registry_->SeeDeleted(going.versions[2]);
      EXPECT_EQ(registry_->OwnerOf("k")->successor, "") << end_first << reviewed;
      EXPECT_EQ(registry_->OwnerOf("k")->record, Record::kNone);
    }
  }
}

// A second CREATE in the place was answered 409: it takes nothing back that was said.
TEST_F(HandOverOfOne, ACreationThatNeverCameKeepsNobodyOut) {
  for (int each = 0; each < 12; ++each) {
    const int seen_before = each % 3;
    const bool word_first = each / 3 % 2 == 0;
    const bool proved_last = each / 6 == 0;
    SCOPED_TRACE(each);
    Anew();
    MakeAlone();
    const ObjectFacts first = word_first ? Saying(bucket_, kToB) : Observing(bucket_);
    const ObjectFacts last = word_first ? Observing(first) : Saying(first, kToB);
    ObjectFacts second = Next(bucket_);
    second.uid = {"second"};
    if (seen_before > 0) registry_->See(first);
    if (seen_before > 1) registry_->See(last);
    registry_->Advance(std::chrono::seconds{1});
    ASSERT_TRUE(registry_->Create(second).allowed);
    if (seen_before < 1) registry_->See(first);
    if (seen_before < 2) registry_->See(last);
    const Stream b = OfB();
    const RowId reserved{registry_->IdOf("k"), second.uid, RowState::kReserved};
    const Proof proof{Proof::Answer::kLive, last};
    if (!proved_last) registry_->Prove(reserved, proof);
    for (const ObjectFacts& version : b.versions) registry_->See(version);
    if (proved_last) registry_->Prove(reserved, proof);
    ExpectHandedOver();
  }
}

class HandOverOfAChain : public HandOverOrders, public ::testing::WithParamInterface<bool> {
 protected:
  // The claim says it; then all three go, and the bucket stays.
  std::vector<Stream> Going() {
    MakeChain(GetParam());
    const ObjectFacts said = Saying(claim_, kToB);
    const ObjectFacts leaving = Leaving(bucket_);
    return {Stream{{said, Next(said)}, true}, Stream{{Next(composite_)}, true},
            Stream{{leaving, Next(leaving)}, true}};
  }
};
INSTANTIATE_TEST_SUITE_P(Mapped, HandOverOfAChain, ::testing::Bool());

TEST_P(HandOverOfAChain, GoesToWhomItsClaimNamed) {
  InEachOrder(
      [&] {
        std::vector<Stream> streams = Going();
        streams.push_back(OfB());
        return streams;
      },
      [&] { ExpectHandedOver(); });
}

TEST_P(HandOverOfAChain, IsKeptForWhomItsClaimNamed) {
  InEachOrder([&] { return Going(); }, [&] { ExpectLeft(kToB); });
}

// Truce was away, or its registry is one from before: a list brings what was written meanwhile.
TEST_F(HandOverOrders, WhatAListBringsIsHandedOver) {
  for (int each = 0; each < 8; ++each) {
    const bool rebuilt = (each & 1) != 0;
    const bool b_first = (each & 2) != 0;
    const bool stepped = (each & 4) != 0;  // A stepped back before the list
    SCOPED_TRACE(each);
    Anew();
    MakeChain(false);
    if (rebuilt) Anew();
    std::vector<ObjectFacts> list{Saying(claim_, kToB), composite_,
                                  stepped ? Observing(bucket_) : Next(bucket_)};
    const Stream b = OfB();
    for (const ObjectFacts& object : list) {
      registry_->Run([&](Ledger& ledger) { Meet(object, ledger); });
    }
    if (stepped) list.insert(b_first ? list.begin() : list.end(), b.versions[1]);
    for (const ObjectFacts& object : list) registry_->See(object, true);
    if (!stepped) {
      EXPECT_EQ(registry_->OwnerOf("k")->successor, kToB);
      registry_->See(Observing(bucket_));
      EXPECT_TRUE(registry_->Create(b.versions[0]).allowed);
      registry_->See(b.versions[1]);
    }
    ExpectHandedOver();
  }
}

}  // namespace hand_over_orders_test
}  // namespace truce
