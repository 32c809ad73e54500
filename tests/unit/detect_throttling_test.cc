// Detector throttled-api: what AWS refuses because there are too many calls, from the words of
// providers; and what looks like it and is none.
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "tests/support/detector_bench.h"
#include "tests/support/json_document.h"
#include "tests/support/recorded_watch.h"
#include "webhook/findings/throttled_call.h"

namespace truce {
namespace detect_throttling_test {

using std::chrono::minutes;
using std::chrono::seconds;
using testing::DetectorBench;

const Timestamp kNow = *ParseTimestamp("2026-11-21T08:00:00Z");

// As provider-upjet-aws writes it (issue 2175 there).
std::string Efs(std::string_view request = "6b1c") {
  return "observe failed: failed to observe the resource: [{0 reading EFS File System Policy "
         "(fs-0a1b): operation error EFS: DescribeFileSystemPolicy, exceeded maximum number of "
         "attempts, 3, https response error StatusCode: 400, RequestID: " +
         std::string(request) + ", api error ThrottlingException: Rate exceeded  ]}]";
}

TEST(ReadThrottledCallTest, KnowsTheWordsOfProviders) {
  struct Row {
    std::string_view message;
    ThrottledCall call;
  };
  const std::string efs = Efs();
  const Row rows[] = {
      {efs, {"ThrottlingException", "EFS", "DescribeFileSystemPolicy"}},
      {"create failed: api error Throttling: Rate exceeded", {"Throttling", "", ""}},
      {"observe failed: operation error S3: PutBucketTagging, https response error StatusCode: "
       "503, api error SlowDown: Please reduce your request rate.",
       {"SlowDown", "S3", "PutBucketTagging"}},
      {"operation error EC2: DescribeInstances, api error RequestLimitExceeded: Request limit "
       "exceeded.",
       {"RequestLimitExceeded", "EC2", "DescribeInstances"}},
      {"async update failed: ThrottlingException: Rate exceeded\n\tstatus code: 400",
       {"ThrottlingException", "", ""}},
      {"operation error Route 53: ChangeResourceRecordSets, api error PriorRequestNotComplete: The "
       "request was rejected because Route 53 was still processing a prior request.",
       {"PriorRequestNotComplete", "Route 53", "ChangeResourceRecordSets"}},
      {"operation error KMS: CreateGrant, api error LimitExceededException: Rate exceeded",
       {"LimitExceededException", "KMS", "CreateGrant"}},
  };
  for (const auto& [message, call] : rows) {
    EXPECT_EQ(ReadThrottledCall(message), call) << message;
  }
}

TEST(ReadThrottledCallTest, WhatOnlyLooksLikeIt) {
  for (const std::string_view message : {
           "",
           "observe failed: api error AccessDenied: not authorized",
           // A quota, and names that quote a code.
           "api error LimitExceededException: Cannot exceed quota for RolesPerAccount: 1000",
           "cannot resolve references: Topic \"ThrottlingException\" not found",
           "cannot get Bucket slowdown: not found",
           "api error NoSuchBucket: bucket no-ThrottlingException: none",
           "operation error SNS: Publish, api error InvalidThrottling: x",
       }) {
    EXPECT_FALSE(ReadThrottledCall(message)) << message;
  }
  EXPECT_TRUE(ReadThrottledCall("\xff" + Efs()).has_value());
  EXPECT_FALSE(ReadThrottledCall(std::string(1 << 20, 'a') + Efs()));  // cut
}

ObservedVersion Bucket(const std::string& name, const std::string& trouble,
                       const std::string& account = "123456789012") {
  ObservedVersion out;
  out.facts.uid = {"uid-" + name};
  out.facts.slot = {"prod", "efs.aws.upbound.io", "FileSystemPolicy", "", name};
  DeclaredResource resource;
  resource.identity.type = "efs/FileSystemPolicy";
  resource.identity.account = account;
  out.facts.resources.push_back(resource);
  out.trouble = trouble;
  return out;
}

TEST(ThrottledCallsTest, OneMessageIsNoneTwoObjectsAre) {
  DetectorBench calls(Detector::kThrottledApi);
  calls.See(Bucket("a", Efs()), kNow);
  EXPECT_TRUE(calls.Look(kNow).empty());
  calls.See(Bucket("b", Efs("7d2e")), kNow);
  calls.See(Bucket("healthy", ""), kNow);
  const auto found = calls.Look(kNow);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].mode, Mode::kWarn);
  EXPECT_EQ(found[0].cause,
            "AWS refuses DescribeFileSystemPolicy of EFS in account 123456789012: there are too "
            "many (ThrottlingException); whoever uses this account fails with them.");
  EXPECT_EQ(
      found[0].evidence,
      "2 objects, 2 tries refused; most often FileSystemPolicy a (1), FileSystemPolicy b (1)");
  EXPECT_EQ(found[0].objects.size(), 2U);
  EXPECT_EQ(found[0].since, kNow);
}

TEST(ThrottledCallsTest, OneObjectThatGoesOnIs) {
  DetectorBench calls(Detector::kThrottledApi);
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(calls.Look(kNow + seconds(10 * i)).empty());
    calls.See(Bucket("a", Efs(std::to_string(i))), kNow + seconds(10 * i));
  }
  EXPECT_EQ(calls.Look(kNow + seconds(20)).size(), 1U);
  // Its provider waits: the condition stands.
  DetectorBench waiting(Detector::kThrottledApi);
  waiting.See(Bucket("a", Efs()), kNow);
  EXPECT_TRUE(waiting.Look(kNow + minutes(1)).empty());
  EXPECT_EQ(waiting.Look(kNow + minutes(2)).size(), 1U);
  waiting.Gone({"uid-a"});
  EXPECT_TRUE(waiting.Look(kNow + minutes(2)).empty());
}

TEST(ThrottledCallsTest, IsOverWhenNobodySaysItAnyMore) {
  DetectorBench calls(Detector::kThrottledApi);
  calls.See(Bucket("a", Efs()), kNow);
  calls.See(Bucket("b", Efs()), kNow);
  calls.See(Bucket("a", ""), kNow + minutes(1));
  EXPECT_EQ(calls.Look(kNow + minutes(9)).size(), 1U);
  calls.See(Bucket("b", ""), kNow + minutes(2));
  EXPECT_EQ(calls.Look(kNow + minutes(9)).size(), 1U);
  EXPECT_TRUE(calls.Look(kNow + minutes(11)).empty());
}

TEST(ThrottledCallsTest, EachAccountServiceAndApiHasItsOwn) {
  DetectorBench calls(Detector::kThrottledApi);
  for (const char* name : {"a", "b"}) calls.See(Bucket(name, Efs()), kNow);
  for (const char* name : {"c", "d"}) {
    calls.See(Bucket(name, Efs(), "?prod/aws.upbound.io/ProviderConfig//team-b"), kNow);
  }
  const auto found = calls.Look(kNow);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[1].cause,
            "AWS refuses DescribeFileSystemPolicy of EFS in the account of ProviderConfig team-b: "
            "there are too many (ThrottlingException); whoever uses this account fails with them.");
}

TEST(ThrottledCallsTest, NamesTheTagWarThatRunsThere) {
  const auto look = [](const std::string& type, const std::string& account) {
    DetectorBench calls(Detector::kThrottledApi);
    for (const char* name : {"a", "b"}) calls.See(Bucket(name, Efs()), kNow);
    Changes changes = testing::SampleCreate("data", "x");
    changes.put_owners.at(0).identity.type = type;
    changes.put_owners.at(0).identity.account = account;
    changes.put_owners.at(0).name = "data";
    MemoryStore store;
    EXPECT_TRUE(testing::Write(store, changes).ok());
    TagWar war;
    war.key = testing::SampleKey("data");
    war.writes_per_minute = 10.8;
    war.fighters = {{"prod", "efs.aws.upbound.io", "FileSystem", "", "x"},
                    {"prod", "efs.aws.upbound.io", "FileSystem", "", "y"}};
    calls.watched.With([&](WatchedCluster& cluster) { cluster.wars = {war}; });
    const auto found = calls.Look(kNow, store);
    EXPECT_EQ(found.size(), 1U);
    return found.empty() ? LiveFinding() : found[0];
  };
  const LiveFinding found = look("efs/FileSystem", "123456789012");
  EXPECT_EQ(found.mode, Mode::kEnforce);
  EXPECT_EQ(found.evidence,
            "2 objects, 2 tries refused; most often FileSystemPolicy a (1), FileSystemPolicy b "
            "(1); a tag war over EFS file system \"data\" runs there, 10.8 writes a minute, by "
            "FileSystem x and FileSystem y");
  EXPECT_EQ(found.remedy,
            "End the tag war first: `truce conflicts` prints the steps. It writes and reads at "
            "each look of both, for nothing.");
  // Not one of another account, or of another service.
  EXPECT_EQ(look("efs/FileSystem", "999999999999").mode, Mode::kWarn);
  EXPECT_EQ(look("s3/Bucket", "123456789012").mode, Mode::kWarn);
}

TEST(ThrottledCallsTest, TellsWhoHasMostOfIt) {
  std::vector<Owner> owners(5);
  for (Owner& owner : owners) {
    owner.identity.type = "efs/AccessPoint";
    owner.identity.account = "123456789012";
    owner.root.ns = "team-b";
  }
  owners[0].root.ns = "team-a";
  owners[1].identity.type = "s3/Bucket";
  DetectorBench calls(Detector::kThrottledApi);
  for (const char* name : {"a", "b"}) calls.See(Bucket(name, Efs()), kNow);
  (void)calls.Pass({owners, {}});
  const auto found = calls.Look(kNow);
  EXPECT_EQ(found[0].evidence,
            "2 objects, 2 tries refused; most often FileSystemPolicy a (1), FileSystemPolicy b "
            "(1); of 4 resources there 3 are of namespace team-b");
}

TEST(ThrottledCallsTest, EventsOfBothApisCountOnceTheirPlaceIsKnown) {
  const auto written = [](const std::string& uid, const std::string& message, bool core) {
    return core ? R"({"involvedObject":{"uid":")" + uid + R"("},"message":")" + message +
                      R"(","reason":"CannotObserveExternalResource"})"
                : R"({"regarding":{"uid":")" + uid + R"("},"note":")" + message + R"("})";
  };
  MemoryStore known;
  Changes changes = testing::SampleCreate("a", "uid-a");
  changes.put_owners.at(0).identity.type = "efs/FileSystem";
  ASSERT_TRUE(testing::Write(known, changes).ok());
  const MemoryStore unknown;
  for (const bool is_core : {false, true}) {
    DetectorBench calls(Detector::kThrottledApi);
    const auto tell = [&](const std::string& uid, const std::string& message, Timestamp at) {
      const Document event = DocumentFromJson(written(uid, message, is_core));
      calls.Other({"events.k8s.io", "Event"}, event.root(), at);
    };
    const auto tell_all = [&] {
      for (int i = 0; i < 3; ++i) tell("uid-a", Efs(), kNow + seconds(5 * i));
      tell("uid-b", "cannot observe: no such host", kNow);
      tell("uid-c", Efs(), kNow);
      tell("", Efs(), kNow);
    };
    tell_all();
    EXPECT_TRUE(calls.Look(kNow + seconds(10), known).empty()) << "a list brings history";
    calls.State({"events.k8s.io", "Event"}, KindState::kWatched);
    tell_all();
    EXPECT_TRUE(calls.Look(kNow + seconds(10), unknown).empty());
    EXPECT_TRUE(calls.Look(kNow + seconds(10), known).empty()) << "what nobody knows is forgotten";
    tell_all();
    ASSERT_EQ(calls.Look(kNow + seconds(10), known).size(), 1U);
    // The condition that comes with an Event is the same try.
    calls.See(Bucket("a", Efs()), kNow + seconds(10));
    EXPECT_EQ(calls.Look(kNow + seconds(11))[0].evidence,
              "1 object, 3 tries refused; most often FileSystemPolicy a (3)");
  }
}

TEST(ThrottledCallsRecorded, AWarWithoutThrottlingIsNone) {
  DetectorBench calls(Detector::kThrottledApi);
  calls.cluster = "prod";
  calls.State({"events.k8s.io", "Event"}, KindState::kWatched);
  const IdentityRules rules{.cluster = "prod", .catalogue = &Catalogue::BuiltIn()};
  FollowedKind kind;
  kind.selection.kind = {"s3.aws.crossplane.io", "v1beta1", "Bucket", "buckets", false};
  Timestamp last = kNow;
  std::size_t lines = 0;
  for (const char* phase : {"lone", "war", "after", "instep"}) {
    for (const std::string what : {"buckets", "events"}) {
      if (std::string_view(phase) == "instep" && what == "buckets") continue;
      for (const RecordedLine& line : RecordedWatch("tag-war-" + std::string(phase) + "-" + what)) {
        ++lines;
        last = line.received;
        const Document document = DocumentFromJson(line.object);
        if (what == "buckets") {
          calls.See(ReadObservedVersion(document.root(), kind, rules), line.received);
        } else {
          calls.Other({"events.k8s.io", "Event"}, document.root(), line.received);
        }
      }
    }
  }
  EXPECT_GT(lines, 80U);
  EXPECT_TRUE(calls.Look(last).empty());
}

}  // namespace detect_throttling_test
}  // namespace truce
