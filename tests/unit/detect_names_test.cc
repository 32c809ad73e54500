// Findings about names: statuses that disagree, ProviderConfigs that moved, adoptions that were not
// followed.
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "registry/ownership/ledger.h"
#include "registry/ownership/names.h"
#include "tests/model/scene.h"
#include "tests/support/detector_bench.h"
#include "tests/support/memory_store.h"
#include "tests/support/store_samples.h"

namespace truce {
namespace detect_names_test {

using scene::SlotOf;
using testing::DetectorBench;

TEST(DisagreementsTest, AreThereWhileTheObjectShowsThem) {
  DetectorBench known(Detector::kNamesDisagree);
  ObjectFacts object;
  object.uid = {"u1"};
  object.slot = {"local", "sqs.aws.upbound.io", "Queue", "", "orders"};
  known.See(object, Timestamp(std::chrono::seconds{1}));
  EXPECT_TRUE(known.Look().empty());
  object.account_disagreement =
      "status.atProvider.arn names account 222222222222, its own field names 111111111111";
  known.See(object, Timestamp(std::chrono::seconds{2}));
  object.name_finding = "external name lies in another region: arn:aws:sqs:eu-west-1:1:x";
  known.See(object, Timestamp(std::chrono::seconds{3}));
  auto found = known.Look();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].detector, Detector::kNamesDisagree);
  EXPECT_EQ(found[0].mode, Mode::kWarn);
  EXPECT_EQ(found[0].since, Timestamp(std::chrono::seconds{2}));
  EXPECT_EQ(found[0].objects, std::vector<Slot>{object.slot});
  EXPECT_EQ(found[0].cause,
            "It is not clear which resource Queue.sqs.aws.upbound.io orders is: "
            "status.atProvider.arn names account 222222222222, its own field names 111111111111. "
            "Truce goes by its fields and its ProviderConfig.");
  EXPECT_EQ(found[0].evidence, object.name_finding);
  EXPECT_EQ(found[0].remedy,
            "Its owner looks in AWS which resource it manages. If the status is right, correct the "
            "fields, or the account of its ProviderConfig (setting providerConfigs, or its role); "
            "if not, remove the wrong status: its provider writes it anew.");
  object.account_disagreement.clear();
  known.See(object, Timestamp(std::chrono::seconds{4}));
  found = known.Look();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].remedy,
            "Its owner looks in AWS which resource it manages, and corrects the annotation "
            "crossplane.io/external-name, or the fields.");
  known.State({"sqs.aws.upbound.io", "Other"}, KindState::kUnserved);
  EXPECT_EQ(known.Look().size(), 1U);
  known.Gone(object.uid);
  EXPECT_TRUE(known.Look().empty());
  known.See(object, Timestamp(std::chrono::seconds{5}));
  known.State({"sqs.aws.upbound.io", "Queue"}, KindState::kUnserved);
  EXPECT_TRUE(known.Look().empty());
}

// Terraform's queue lies in the account that the status shows.
TEST(DisagreementsTest, WhatTheStatusShowsMayBeAnothers) {
  MemoryStore store;
  scene::Registry registry(store);
  const std::string shown = "222222222222";
  registry.Run([&](Ledger& ledger) {
    Owner owner;
    owner.identity = {"sqs/Queue", "aws", shown, "eu-west-1", {{"name", "jobs"}}};
    owner.root = ImportRoot("terraform:hub");
    owner.party = PartyOf(owner.root);
    ASSERT_TRUE(Import(scene::QueueName("jobs", shown), owner, "ann", ledger));
  });
  const scene::Queue queue{"jobs", "prod", "111111111111", ""};
  std::vector<LiveFinding> found;
  const auto look = [&](const std::string& name) {
    ObjectFacts object =
        scene::ManagedQueue(SlotOf("Queue", "team-a", name), name, queue, Intent::kDeletes, 1);
    object.resources[0].names = {{scene::QueueName(name, "111111111111"), false}};
    object.account_disagreement = "status.atProvider.arn names account 222222222222";
    object.shown_account = shown;
    DetectorBench known(Detector::kNamesDisagree);
    known.See(object, registry.now());
    found = known.Look(registry.now(), store);
  };
  look("jobs");
  EXPECT_EQ(found.at(0).key, scene::QueueName("jobs", shown));
  EXPECT_EQ(found.at(0).cause,
            "It is not clear which resource Queue.platform.example.org team-a/jobs is: "
            "status.atProvider.arn names account 222222222222. Truce goes by its fields and its "
            "ProviderConfig. The status shows the SQS queue of list \"terraform:hub\".");
  look("mail");
  EXPECT_TRUE(found.at(0).key.empty()) << "nobody's";
}

TEST(DisagreementsTest, AStatusOfAnotherBucketNamesItsOwner) {
  MemoryStore store;
  scene::Registry registry(store);
  const ObjectFacts owner = registry.Live(SlotOf("Bucket", "team-b", "b"), "b", "logs");
  ObjectFacts object =
      scene::ManagedBucket(SlotOf("Bucket", "team-a", "a"), "a", "jobs", Intent::kDeletes, 2);
  object.real = true;
  object.shown_key = scene::BucketKey("logs");
  DetectorBench known(Detector::kNamesDisagree);
  known.See(object, registry.now());
  const std::vector<LiveFinding> found = known.Look(registry.now(), store);
  EXPECT_EQ(found.at(0).key, scene::BucketKey("logs"));
  EXPECT_EQ(
      found.at(0).cause,
      "It is not clear which resource Bucket.s3.aws.m.upbound.io team-a/a is: "
      "its status names another resource than the fields: "
      "s3/Bucket|aws|||name=logs. Truce goes by its fields and its ProviderConfig. The status "
      "shows the S3 bucket of Bucket.s3.aws.m.upbound.io team-b/b.");
}

TEST(DisagreementsTest, AreBounded) {
  DetectorBench known(Detector::kNamesDisagree);
  ObjectFacts object;
  object.name_finding = "x";
  constexpr std::size_t kMax = 10'000;
  for (std::size_t i = 0; i < kMax + 10; ++i) {
    object.uid = {"u" + std::to_string(i)};
    object.slot.name = object.uid.text;
    known.See(object, Timestamp{});
  }
  EXPECT_EQ(known.Look().size(), kMax);
}

TEST(MovedTest, OneFindingForEachMoveWhileSomethingIsLeftBehind) {
  MemoryStore store;
  scene::Registry registry(store);
  const scene::Queue in_one{"jobs", "prod", "111111111111", ""};
  for (const char* name : {"jobs", "mail"}) {
    scene::Queue queue = in_one;
    queue.name = name;
    const std::string uid = std::string("u-") + name;
    ObjectFacts object =
        scene::ManagedQueue(SlotOf("Queue", "team-a", name), uid, queue, Intent::kDeletes, 10);
    object.real = true;
    registry.See(object);
  }
  // One of them is seen before the portions come to it.
  registry.See(scene::ManagedQueue(SlotOf("Queue", "team-a", "jobs"), "u-jobs",
                                   {"jobs", "prod", "222222222222", ""}, Intent::kDeletes, 11));
  registry.RunOnAll([&](const AllFacts& facts, Ledger& ledger) {
    const std::vector<ResourceId> ids = facts.ResourcesAfter({}, 100);
    (void)LocateResources(ids, {in_one.ProvisionalAccount(), "222222222222"}, ledger);
  });
  const auto find = [&] {
    DetectorBench moves(Detector::kProviderConfigMoved);
    return moves.Pass({registry.Contents().owners, {}});
  };
  const auto found = find();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].detector, Detector::kProviderConfigMoved);
  EXPECT_EQ(found[0].mode, Mode::kWarn);
  EXPECT_EQ(found[0].subject,
            "local/aws.upbound.io/ProviderConfig//prod 111111111111 222222222222");
  EXPECT_EQ(found[0].cause,
            "ProviderConfig.aws.upbound.io prod led to AWS account "
            "111111111111 and leads to account 222222222222 now. What it managed before may still "
            "exist in account 111111111111, and stays with its owners.");
  EXPECT_EQ(found[0].evidence, "2 resources are orphaned in account 111111111111");
  EXPECT_EQ(found[0].remedy,
            "If the move was a mistake, point the ProviderConfig back to account 111111111111. "
            "Else the owners declare what they still need through another ProviderConfig of that "
            "account; find the rest with `truce list --state orphaned`, ask each owner whether it "
            "may go, and free the names of what is gone from AWS with `truce release`.");
  EXPECT_TRUE(registry.Release(scene::QueueName("jobs", "111111111111")).done);
  EXPECT_EQ(find().at(0).evidence, "1 resource is orphaned in account 111111111111");
  EXPECT_TRUE(registry.Release(scene::QueueName("mail", "111111111111")).done);
  EXPECT_TRUE(find().empty());
}

TEST(AdoptionsTest, ACompositeThatNamesWhatAnotherPartyOwns) {
  MemoryStore store;
  scene::Registry registry(store);
  const Slot leaf = SlotOf("Bucket", "team-a", "files");
  ObjectFacts bucket = scene::ManagedBucket(leaf, "u-a", "files", Intent::kDeletes, 10);
  ASSERT_TRUE(registry.Create(bucket).allowed);
  const Slot top = SlotOf("XStorage", "", "theirs");
  ObjectFacts composite = scene::Composite(top, "u-x", "", 11);
  composite.lineage.resources = {scene::RefTo(leaf, "")};
  registry.See(composite);
  const auto find = [&] {
    DetectorBench adoptions(Detector::kAdoptionNotFollowed);
    return adoptions.Pass({{}, registry.Contents().objects}, registry.now(), store);
  };
  EXPECT_TRUE(find().empty()) << "only one of both names the other";
  bucket.lineage.controller = scene::RefTo(top, "u-x");
  bucket.version = 12;
  registry.See(bucket);
  const auto found = find();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].detector, Detector::kAdoptionNotFollowed);
  EXPECT_EQ(found[0].mode, Mode::kWarn);
  EXPECT_EQ(found[0].objects, (std::vector<Slot>{leaf, top}));
  EXPECT_EQ(found[0].cause,
            "Bucket.s3.aws.m.upbound.io team-a/files keeps its own owner: "
            "XStorage.platform.example.org theirs and it name each other, but nobody handed it "
            "over.");
  EXPECT_EQ(
      found[0].remedy,
      "To hand it over, set truce.dev/transfer-to: XStorage.platform.example.org/theirs on "
      "Bucket.s3.aws.m.upbound.io team-a/files. Else take Bucket.s3.aws.m.upbound.io team-a/files "
      "out of what XStorage.platform.example.org theirs references, and its reference to "
      "XStorage.platform.example.org theirs out of Bucket.s3.aws.m.upbound.io team-a/files.");
  // Of a chain whose root is gone the object itself says who gets it.
  ASSERT_FALSE(registry.Contents().objects.empty());
  Object orphan = *[&] {
    std::optional<Object> object;
    const auto look = [&](const Facts& facts) { object = facts.ObjectBySlot(leaf); };
    EXPECT_TRUE(store.Read(look, testing::Soon()).ok());
    return object;
  }();
  orphan.root = SlotOf("XStorage", "", "gone");
  DetectorBench adoptions(Detector::kAdoptionNotFollowed);
  const auto orphaned = adoptions.Pass({{}, {orphan}}, registry.now(), store);
  ASSERT_EQ(orphaned.size(), 1U);
  EXPECT_EQ(orphaned[0].remedy.find("To hand it over, set truce.dev/transfer-to: "
                                    "XStorage.platform.example.org/theirs on "
                                    "Bucket.s3.aws.m.upbound.io team-a/files. "),
            0U);
  // So is one that changes its controller.
  const Slot other = SlotOf("XStorage", "", "of-team-a");
  ObjectFacts first = scene::Composite(other, "u-o", "", 13);
  registry.See(first);
  ObjectFacts moved = scene::ManagedBucket(SlotOf("Bucket", "team-a", "moved"), "u-m", "moved",
                                           Intent::kDeletes, 14);
  moved.lineage.controller = scene::RefTo(other, "u-o");
  ASSERT_TRUE(registry.Create(moved, scene::kCrossplane).allowed);
  composite.lineage.resources.push_back(scene::RefTo(moved.slot, ""));
  composite.version = 15;
  registry.See(composite);
  moved.lineage.controller = scene::RefTo(top, "u-x");
  for (const std::uint64_t version : {16U, 17U}) {
    moved.version = version;
    registry.See(moved);
  }
  EXPECT_EQ(find().size(), 2U);
  // What a composite composes from the start is followed, and no finding.
  ObjectFacts own =
      scene::ManagedBucket(SlotOf("Bucket", "", "own"), "u-own", "own", Intent::kDeletes, 18);
  own.lineage.controller = scene::RefTo(top, "u-x");
  ASSERT_TRUE(registry.Create(own, scene::kCrossplane).allowed);
  EXPECT_EQ(find().size(), 2U);
}

}  // namespace detect_names_test
}  // namespace truce
