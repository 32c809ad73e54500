// What straddles a change of the server that watches, for what lies in an account: a claim whose
// queue's account its ProviderConfig tells.
#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/watcher_chain.h"

namespace truce::testing {
namespace watcher_queue_test {

constexpr const char* kOne = "111111111111";
constexpr const char* kTwo = "222222222222";

class WatcherQueueTest : public ChainTest {
 protected:
  explicit WatcherQueueTest(const std::string& account = kOne) {
    PutDefinition();
    cluster_.Serve({kConfig.group, "v1beta1", kConfig.kind, "providerconfigs", false});
    rules_ = MappedQueue();
    Edit(account);
    Start();
    for (const char* name : {"other", "a"}) PutQueueChain(name);
    driver_->Advance(20s);
    EXPECT_TRUE(OwnerOf("a-prod"));
  }

  // The ProviderConfig, with a role in `account`; empty: with a secret.
  void Edit(const std::string& account) {
    SmallObject config{kConfig, "", "default", "pc-1", {}, {}};
    config.metadata = R"("generation":)" + std::to_string(++generation_);
    config.rest = R"("spec":{"credentials":{"source":"Secret"}})";
    if (!account.empty()) {
      config.rest =
          R"("spec":{"assumeRoleChain":[{"roleARN":"arn:aws:iam::)" + account + R"(:role/a"}]})";
    }
    cluster_.Put(config);
  }

  ReconcileRules MappedQueue() const {
    std::vector<MappingRule> all;
    for (const GroupKind& kind : {kClaim, kComposite}) {
      MappingRule rule;
      rule.kind = kind;
      MappedResource queue;
      queue.type = "sqs/Queue";
      queue.parts["name"].path =
          FieldPath::Parse("spec.parameters.name", FieldPath::Root::kObject).value();
      queue.region = PartSource{{}, "eu-west-1"};
      queue.account = PartSource{{}, kOne};
      rule.declares.push_back(std::move(queue));
      all.push_back(std::move(rule));
    }
    ReconcileRules rules = rules_;
    rules.identity.mappings = MappingRules::Create(std::move(all), *rules_.catalogue).value();
    return rules;
  }

  static SmallObject QueueOf(const std::string& name, const std::string& reason) {
    SmallObject queue{kQueue, "", name, "q-" + name, {}, {}};
    queue.metadata =
        R"("ownerReferences":[{"apiVersion":"acme.example.org/v1","kind":"XStorage","name":")" +
        name + R"(","uid":"x-)" + name + R"(","controller":true}])";
    queue.rest = R"("spec":{"forProvider":{"name":")" + name +
                 R"(-prod","region":"eu-west-1"},"providerConfigRef":{"name":"default"}},
        "status":{"atProvider":{"arn":"arn:aws:sqs:eu-west-1:111111111111:)" +
                 name + R"(-prod"},"conditions":[{"type":"Ready","status":")" +
                 (reason == "Deleting" ? "False" : "True") + R"(","reason":")" + reason +
                 R"("},{"type":"Synced","status":"True","reason":"ReconcileSuccess"}]})";
    return queue;
  }
  static SmallObject QueueComposite(const std::string& name) {
    SmallObject composite = Composite(name);
    const std::string bucket = R"("s3.aws.upbound.io/v1beta2",
                     "kind":"Bucket")";
    composite.rest.replace(composite.rest.find(bucket), bucket.size(),
                           R"("sqs.aws.upbound.io/v1beta1","kind":"Queue")");
    return composite;
  }
  void PutQueueChain(const std::string& name) {
    cluster_.Put(Claimed(name));
    cluster_.Put(QueueComposite(name));
    cluster_.Put(QueueOf(name, "Available"));
  }

  static SmallObject Ending(SmallObject object) {
    object.metadata += object.metadata.empty() ? "" : ",";
    object.metadata += R"("deletionTimestamp":"2026-01-02T00:00:00Z")";
    return object;
  }
  void BeginDeletion() {
    cluster_.Put(Ending(Claimed("a")));
    cluster_.Put(Ending(QueueComposite("a")));
    cluster_.Put(Ending(QueueOf("a", "Deleting")));
  }
  void GoOnTo(int step) {
    while (done_ < step) {
      switch (done_++) {
        case 0: cluster_.Remove(kQueue, "", "a"); break;
        case 1: cluster_.Remove(kComposite, "", "a"); break;
        default: cluster_.Remove(kClaim, "team-a", "a");
      }
    }
  }
  void Leave() {
    driver_->Advance(2s);
    driver_->watcher().Leave(driver_->now);
  }
  void EndsFree() {
    GoOnTo(kSteps);
    driver_->Advance(60s);
    EXPECT_TRUE(driver_->watcher().ready());
    EXPECT_FALSE(OwnerOf("a-prod"));
    EXPECT_TRUE(OwnerOf("other-prod"));
    for (const char* uid : {"c-a", "x-a", "q-a"}) EXPECT_TRUE(RowsOf(uid).empty()) << uid;
  }
  void EndsOrphaned() {
    GoOnTo(kSteps);
    driver_->Advance(60s);
    EXPECT_TRUE(IsOrphanedInOne("a-prod"));
  }
  bool IsOrphanedInOne(const std::string& name) const {
    const std::vector<Owner> owners = Contents().owners;
    return std::any_of(owners.begin(), owners.end(), [&](const Owner& owner) {
      return owner.name == name && owner.record == Record::kOrphaned &&
             owner.identity.account == kOne;
    });
  }

  static constexpr int kSteps = 3;
  int generation_ = 0;
  int done_ = 0;
};

class WatcherQueueUnknown : public WatcherQueueTest {
 protected:
  WatcherQueueUnknown() : WatcherQueueTest("") {}
};

TEST_F(WatcherQueueTest, DeletedWhileNobodyWatchedIsFree) {
  driver_->watcher().Leave(driver_->now);
  BeginDeletion();
  GoOnTo(kSteps);
  Start();
  driver_->Advance(5s);
  EndsFree();
}

TEST_F(WatcherQueueTest, WhoseProviderConfigChangedBetweenPositionAndListIsLeftOrphaned) {
  driver_->watcher().Leave(driver_->now);
  Edit(kTwo);
  BeginDeletion();
  GoOnTo(1);
  Start();
  driver_->Advance(5s);
  EndsOrphaned();
}

TEST_F(WatcherQueueTest, WhoseProviderConfigChangedToAndFroMeanwhileIsLeftOrphaned) {
  driver_->watcher().Leave(driver_->now);
  Edit(kTwo);
  BeginDeletion();
  GoOnTo(1);
  Edit(kOne);
  Start();
  driver_->Advance(5s);
  EndsOrphaned();
}

TEST_F(WatcherQueueTest, WhoseProviderConfigChangedBeforeAnybodyWatchedIsLeftOrphaned) {
  BeginDeletion();
  Leave();
  GoOnTo(1);
  Edit(kTwo);
  Start();
  driver_->Advance(5s);
  EndsOrphaned();
}

TEST_F(WatcherQueueTest, WhatMovedToAnotherAccountMeanwhileIsTwoResources) {
  driver_->watcher().Leave(driver_->now);
  Edit(kTwo);
  Start();
  driver_->Advance(60s);
  EndsOrphaned();
}

TEST_F(WatcherQueueTest, WhatIsGoneStaysGoneWhenItsProviderConfigLeadsElsewhere) {
  BeginDeletion();
  GoOnTo(1);
  Leave();
  Edit(kTwo);
  Start();
  driver_->Advance(5s);
  EndsFree();
}

TEST_F(WatcherQueueUnknown, DeletedWhileNobodyWatchedIsFree) {
  driver_->watcher().Leave(driver_->now);
  BeginDeletion();
  GoOnTo(kSteps);
  Start();
  driver_->Advance(5s);
  EndsFree();
}

TEST_F(WatcherQueueUnknown, WhoseAccountBecameKnownMeanwhileIsLeftOrphaned) {
  driver_->watcher().Leave(driver_->now);
  Edit(kOne);
  BeginDeletion();
  GoOnTo(kSteps);
  Start();
  driver_->Advance(5s);
  EndsOrphaned();
}

TEST_F(WatcherQueueUnknown, WhatIsGoneStaysGoneWhenItsAccountBecomesKnown) {
  BeginDeletion();
  GoOnTo(1);
  Leave();
  Edit(kOne);
  Start();
  driver_->Advance(60s);
  EndsFree();
}

TEST_F(WatcherQueueUnknown, WhatIsGoneStaysGoneWhenItsAccountIsAnother) {
  BeginDeletion();
  GoOnTo(1);
  Leave();
  Edit(kTwo);
  Start();
  driver_->Advance(60s);
  EndsFree();
}

// The watch of queues lags behind the edit of their ProviderConfig: what was admitted before it may
// have been made in the account that it led to then.
TEST_F(WatcherQueueTest, WhatWasAdmittedBeforeAnEditMayBeMadeThere) {
  for (const bool ends : {false, true}) {
    SCOPED_TRACE(ends);
    const std::string name = ends ? "c" : "b";
    Edit(kOne);
    driver_->Advance(90s);
    rules_.identity.accounts = driver_->accounts;
    driver_->hold_kind = kQueue;
    Admit(QueueOf(name, "Available"));
    cluster_.Put(QueueOf(name, "Available"));
    if (ends) cluster_.Remove(kQueue, "", name);
    Edit(kTwo);
    driver_->Advance(50s);
    driver_->hold_kind.reset();
    driver_->Advance(15min);
    EXPECT_TRUE(IsOrphanedInOne(name + "-prod"));
  }
}

// A tenant edits his own ProviderConfig: all managed kinds are listed again, and nobody else's name
// is blocked by that.
class WatcherQueueBesideAnEdit : public WatcherQueueTest {
 protected:
  WatcherQueueBesideAnEdit() {
    cluster_.Serve({his_.group, "v1beta1", his_.kind, "providerconfigs", true});
    Start();
    EditHis(kOne);
  }
  void EditHis(const std::string& account) {
    SmallObject config{his_, "team-b", "his", "pc-his", {}, {}};
    config.rest =
        R"("spec":{"assumeRoleChain":[{"roleARN":"arn:aws:iam::)" + account + R"(:role/a"}]})";
    cluster_.Put(config);
    const std::size_t before = lists_of_queues_;
    driver_->before_list = [&](const GroupKind& kind) {
      if (kind != kQueue) return;
      ++lists_of_queues_;
      if (meanwhile_) std::exchange(meanwhile_, nullptr)();
    };
    driver_->Advance(20s);
    EXPECT_GT(lists_of_queues_, before);
  }

  std::function<void()> meanwhile_;

 private:
  const GroupKind his_{"aws.m.upbound.io", "ProviderConfig"};
  std::size_t lists_of_queues_ = 0;
};

TEST_F(WatcherQueueBesideAnEdit, WhatIsGoneStaysGone) {
  BeginDeletion();
  GoOnTo(1);
  driver_->Advance(5s);
  EditHis(kTwo);
  EndsFree();
}

TEST_F(WatcherQueueBesideAnEdit, WhatWasNeverMadeIsFree) {
  Admit(Bucket("b", "u-b", "admitted"));
  driver_->Advance(5s);
  EditHis(kTwo);
  driver_->Advance(5min);
  EXPECT_FALSE(OwnerOf("admitted"));
}

TEST_F(WatcherQueueBesideAnEdit, WhatEndsMeanwhileIsFree) {
  meanwhile_ = [&] {
    BeginDeletion();
    GoOnTo(1);
  };
  EditHis(kTwo);
  ASSERT_EQ(done_, 1);
  EndsFree();
}

TEST_F(WatcherQueueBesideAnEdit, WhatComesAndGoesMeanwhileIsTold) {
  meanwhile_ = [&] {
    cluster_.Put(QueueOf("b", "Available"));
    cluster_.Remove(kQueue, "", "b");
  };
  EditHis(kTwo);
  ASSERT_TRUE(OwnerOf("b-prod"));
  EXPECT_EQ(OwnerOf("b-prod")->record, Record::kOrphaned);
}

TEST_F(WatcherQueueBesideAnEdit, WhatWasAnotherForAWhileIsTold) {
  meanwhile_ = [&] {
    SmallObject queue = QueueOf("other", "Available");
    queue.rest = QueueOf("b", "Available").rest;
    cluster_.Put(queue);
    cluster_.Put(QueueOf("other", "Available"));
  };
  EditHis(kTwo);
  ASSERT_TRUE(OwnerOf("b-prod"));
  EXPECT_EQ(OwnerOf("b-prod")->record, Record::kOrphaned);
  EXPECT_EQ(OwnerOf("other-prod")->record, Record::kNone);
}

TEST_F(WatcherQueueBesideAnEdit, WhatTheApiServerForgetsMeanwhileIsLeftOrphaned) {
  meanwhile_ = [&] {
    BeginDeletion();
    GoOnTo(1);
    cluster_.Compact();
  };
  EditHis(kTwo);
  GoOnTo(kSteps);
  driver_->Advance(60s);
  ASSERT_TRUE(OwnerOf("a-prod"));
  EXPECT_EQ(OwnerOf("a-prod")->record, Record::kOrphaned);
}

// How much of it is done when each of the three kinds is listed.
struct Listing {
  std::array<int, 3> steps;
  bool backwards;
};

std::vector<Listing> Listings() {
  std::vector<Listing> all;
  for (const bool backwards : {false, true}) {
    for (int first = 0; first <= 3; ++first) {
      for (int second = first; second <= 3; ++second) {
        for (int third = second; third <= 3; ++third) {
          all.push_back({{first, second, third}, backwards});
        }
      }
    }
  }
  return all;
}

template <typename Base>
class Listed : public Base, public ::testing::WithParamInterface<Listing> {
 protected:
  void Run() {
    this->BeginDeletion();
    this->Leave();
    this->Start();
    this->driver_->lists_backwards = GetParam().backwards;
    std::size_t listed = 0;
    this->driver_->before_list = [&](const GroupKind& kind) {
      const bool counts = kind == kClaim || kind == kComposite || kind == kQueue;
      if (counts && listed < 3) this->GoOnTo(this->GetParam().steps.at(listed++));
    };
    this->driver_->Advance(5s);
    EXPECT_EQ(listed, 3U);
    this->EndsFree();
  }
};
using WatcherQueueListed = Listed<WatcherQueueTest>;
using WatcherQueueListedUnknown = Listed<WatcherQueueUnknown>;
TEST_P(WatcherQueueListed, EndsFree) { Run(); }
TEST_P(WatcherQueueListedUnknown, EndsFree) { Run(); }
INSTANTIATE_TEST_SUITE_P(Whenever, WatcherQueueListed, ::testing::ValuesIn(Listings()));
INSTANTIATE_TEST_SUITE_P(Whenever, WatcherQueueListedUnknown, ::testing::ValuesIn(Listings()));

}  // namespace watcher_queue_test
}  // namespace truce::testing
