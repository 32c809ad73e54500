// A claim that goes with all below it while the next server lists one kind after the other.
#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "tests/support/watcher_chain.h"
#include "webhook/watch/replayed_events.h"

namespace truce::testing {
namespace watcher_chain_test {

// How much of it is done when each of the three kinds is listed.
using Steps = std::array<int, 3>;
constexpr int kSteps = 3;

class WatcherChainTest : public ChainTest {
 protected:
  WatcherChainTest() {
    PutDefinition();
    // Another kind of the same names, as provider v2 has it.
    cluster_.Serve({"s3.aws.m.upbound.io", "v1beta1", "Bucket", "buckets", true});
    rules_ = Mapped("spec.parameters.name", {kClaim, kComposite});
    Start();
    PutChain("other");
    driver_->Advance(20s);
    EXPECT_TRUE(OwnerOf("other-prod"));
  }

  static SmallObject Ending(SmallObject object) {
    object.metadata += object.metadata.empty() ? "" : ",";
    object.metadata += R"("deletionTimestamp":"2026-01-02T00:00:00Z")";
    return object;
  }

  void GoOnTo(int step) {
    while (done_ < step) {
      switch (done_++) {
        case 0: cluster_.Remove(kBucket, "", "a"); break;
        case 1: cluster_.Remove(kComposite, "", "a"); break;
        default: cluster_.Remove(kClaim, "team-a", "a");
      }
    }
  }

  void AdmitChain() {
    Admit(Claimed("a"));
    const Requester core{.user = "crossplane", .composite_controller = true};
    Admit(Composite("a"), core);
    Admit(Composed("a"), core);
    PutChain("a");
  }
  // Of which nothing is composed yet; then this server ends.
  void ClaimAlone() {
    SmallObject claim = Claimed("a");
    claim.rest = R"("spec":{"parameters":{"name":"a-prod"}})";
    Admit(claim);
    cluster_.Put(claim);
    driver_->Advance(2s);
    driver_->watcher().Leave(driver_->now);
  }
  void BeginDeletion() {
    cluster_.Put(Ending(Claimed("a")));
    cluster_.Put(Ending(Composite("a")));
    cluster_.Put(Finished(Composed("a")));
  }

  void EndsFree() {
    GoOnTo(kSteps);
    driver_->Advance(60s);
    EXPECT_TRUE(driver_->watcher().ready());
    EXPECT_FALSE(OwnerOf("a-prod"));
    EXPECT_TRUE(OwnerOf("other-prod"));
    for (const char* uid : {"c-a", "x-a", "b-a"}) EXPECT_TRUE(RowsOf(uid).empty()) << uid;
  }

  int done_ = 0;
};

// What nobody but admission knows of came and went, and is told afterwards.
TEST_F(WatcherChainTest, WhatWasOnlyAdmittedIsToldToo) {
  AdmitChain();
  BeginDeletion();
  GoOnTo(kSteps);
  Start();
  driver_->Advance(5s);
  EndsFree();
}

// A claim that never was anything, and that nobody changed while the next server began, is free as
// ever.
TEST_F(WatcherChainTest, ARestartMakesNothingReal) {
  ClaimAlone();
  Start();
  driver_->Advance(5s);
  cluster_.Remove(kClaim, "team-a", "a");
  driver_->Advance(60s);
  EXPECT_FALSE(OwnerOf("a-prod"));
}

// Nor does anybody know what was composed meanwhile by one that changed.
TEST_F(WatcherChainTest, WhatChangedMeanwhileMayBeReal) {
  ClaimAlone();
  cluster_.Put(Claimed("a"));
  Start();
  driver_->Advance(5s);
  cluster_.Remove(kClaim, "team-a", "a");
  driver_->Advance(60s);
  ASSERT_TRUE(OwnerOf("a-prod"));
  EXPECT_EQ(OwnerOf("a-prod")->record, Record::kOrphaned);
}

// Its bucket is gone, and the server that saw it ended before it told how far it had come.
class WatcherChainCrash : public WatcherChainTest {
 protected:
  WatcherChainCrash() {
    AdmitChain();
    driver_->Advance(20s);
    BeginDeletion();
    GoOnTo(1);
    driver_->Advance(2s);
    EXPECT_FALSE(OwnerOf("a-prod")->real);
  }
};

TEST_F(WatcherChainCrash, WhatItSawHolds) {
  Start();
  driver_->Advance(5s);
  EndsFree();
}

TEST_F(WatcherChainCrash, WhatCameAndWentSinceVoidsIt) {
  cluster_.Put(Real(Bucket("again", "b-again", "a-prod")));
  cluster_.Remove(kBucket, "", "again");
  Start();
  driver_->Advance(5s);
  GoOnTo(kSteps);
  driver_->Advance(60s);
  ASSERT_TRUE(OwnerOf("a-prod"));
  EXPECT_EQ(OwnerOf("a-prod")->record, Record::kOrphaned);
}

// Its bucket is gone, claim and composite are not, and the next server begins.
class WatcherChainGone : public WatcherChainTest {
 protected:
  WatcherChainGone() {
    AdmitChain();
    BeginDeletion();
    GoOnTo(1);
    driver_->Advance(2s);
    driver_->watcher().Leave(driver_->now);
  }
  void EndsOrphaned() {
    Start();
    GoesOrphaned();
  }
  void GoesOrphaned() {
    driver_->Advance(5s);
    GoOnTo(kSteps);
    driver_->Advance(60s);
    ASSERT_TRUE(OwnerOf("a-prod"));
    EXPECT_EQ(OwnerOf("a-prod")->record, Record::kOrphaned);
  }
};

TEST_F(WatcherChainGone, AProofHoldsWhereAllIsTold) {
  cluster_.Put(Real(Bucket("later", "b-later", "later")));
  Start();
  driver_->Advance(5s);
  EndsFree();
}

// Of what only a claim says nothing is to be learned (E1).
TEST_F(WatcherChainGone, AClaimThatChangedMeanwhileDoesNotVoidIt) {
  cluster_.Put(Ending(Claimed("a")));
  Start();
  driver_->Advance(5s);
  EndsFree();
}

TEST_F(WatcherChainGone, WhatCameAndWentUnseenVoidsIt) {
  cluster_.Put(Real(Bucket("again", "b-again", "a-prod")));
  cluster_.Remove(kBucket, "", "again");
  EndsOrphaned();
}

TEST_F(WatcherChainGone, WhoDeclaredItForAWhileVoidsIt) {
  cluster_.Put(Real(Bucket("again", "b-again", "a-prod")));
  cluster_.Put(Real(Bucket("again", "b-again", "elsewhere")));
  EndsOrphaned();
}

TEST_F(WatcherChainGone, WhoManagedItForAWhileVoidsIt) {
  SmallObject again = Real(Bucket("again", "b-again", "a-prod"));
  cluster_.Put(again);
  again.rest.replace(again.rest.find('{') + 1, 0, R"("managementPolicies":["Observe"],)");
  cluster_.Put(again);
  EndsOrphaned();
}

TEST_F(WatcherChainGone, WhatCannotBeReadVoidsIt) {
  SmallObject again = Real(Bucket("again", "b-again", "a-prod"));
  again.rest += "]";
  cluster_.Put(again);
  cluster_.Remove(kBucket, "", "again");
  EndsOrphaned();
}

TEST_F(WatcherChainGone, WhatTheApiServerHasForgottenVoidsIt) {
  cluster_.Put(Real(Bucket("later", "b-later", "later")));
  cluster_.Compact();
  EndsOrphaned();
}

TEST_F(WatcherChainGone, WhatTheWatchLosesMeanwhileVoidsIt) {
  cluster_.Put(Real(Bucket("later", "b-later", "later")));
  Start();
  driver_->hold_events = true;
  driver_->Advance(1s);
  ASSERT_FALSE(driver_->watcher().ready()) << "what became of it is not told yet";
  driver_->watcher().reconciler().BeginGap(kBucket);
  driver_->hold_events = false;
  GoesOrphaned();
}

TEST_F(WatcherChainGone, MoreThanIsKeptVoidsIt) {
  for (std::size_t i = 0; i <= ReplayedEvents::kOthersMax; ++i) {
    cluster_.Put(Real(Bucket("other", "b-other", "other-prod")));
  }
  EndsOrphaned();
}

struct Listing {
  Steps steps;
  bool backwards;
};

std::vector<Listing> Listings() {
  std::vector<Listing> all;
  for (const bool backwards : {false, true}) {
    for (int first = 0; first <= kSteps; ++first) {
      for (int second = first; second <= kSteps; ++second) {
        for (int third = second; third <= kSteps; ++third) {
          all.push_back({{first, second, third}, backwards});
        }
      }
    }
  }
  return all;
}

class WatcherChainListed : public WatcherChainTest,
                           public ::testing::WithParamInterface<Listing> {};

TEST_P(WatcherChainListed, EndsFree) {
  AdmitChain();
  BeginDeletion();
  driver_->Advance(2s);
  driver_->watcher().Leave(driver_->now);
  Start();
  driver_->lists_backwards = GetParam().backwards;
  std::size_t listed = 0;
  driver_->before_list = [&](const GroupKind& kind) {
    const bool counts = kind == kClaim || kind == kComposite || kind == kBucket;
    if (counts && listed < GetParam().steps.size()) GoOnTo(GetParam().steps.at(listed++));
  };
  driver_->Advance(5s);
  EXPECT_EQ(listed, GetParam().steps.size());
  EndsFree();
}

INSTANTIATE_TEST_SUITE_P(Whenever, WatcherChainListed, ::testing::ValuesIn(Listings()),
                         [](const ::testing::TestParamInfo<Listing>& one) {
                           std::string name = one.param.backwards ? "Backwards" : "Forwards";
                           for (const int step : one.param.steps) name += std::to_string(step);
                           return name;
                         });

}  // namespace watcher_chain_test
}  // namespace truce::testing
