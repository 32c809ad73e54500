// Detector throttled-api: what AWS refuses because there are too many calls, from the words of
// providers; and what looks like it and is none.
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "tests/support/json_document.h"
#include "tests/support/recorded_watch.h"
#include "webhook/findings/throttling.h"

namespace truce {
namespace detect_throttling_test {

using std::chrono::minutes;
using std::chrono::seconds;

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
  ThrottledCalls calls;
  calls.OnObject(Bucket("a", Efs()), kNow);
  EXPECT_TRUE(calls.Find({}, {}, kNow).empty());
  calls.OnObject(Bucket("b", Efs("7d2e")), kNow);
  calls.OnObject(Bucket("healthy", ""), kNow);
  const auto found = calls.Find({}, {}, kNow);
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
  ThrottledCalls calls;
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(calls.Find({}, {}, kNow + seconds(10 * i)).empty());
    calls.OnObject(Bucket("a", Efs(std::to_string(i))), kNow + seconds(10 * i));
  }
  EXPECT_EQ(calls.Find({}, {}, kNow + seconds(20)).size(), 1U);
  // Its provider waits: the condition stands.
  ThrottledCalls waiting;
  waiting.OnObject(Bucket("a", Efs()), kNow);
  EXPECT_TRUE(waiting.Find({}, {}, kNow + minutes(1)).empty());
  EXPECT_EQ(waiting.Find({}, {}, kNow + minutes(2)).size(), 1U);
  waiting.OnGone({"uid-a"});
  EXPECT_TRUE(waiting.Find({}, {}, kNow + minutes(2)).empty());
}

TEST(ThrottledCallsTest, IsOverWhenNobodySaysItAnyMore) {
  ThrottledCalls calls;
  calls.OnObject(Bucket("a", Efs()), kNow);
  calls.OnObject(Bucket("b", Efs()), kNow);
  calls.OnObject(Bucket("a", ""), kNow + minutes(1));
  EXPECT_EQ(calls.Find({}, {}, kNow + minutes(9)).size(), 1U);
  calls.OnObject(Bucket("b", ""), kNow + minutes(2));
  EXPECT_EQ(calls.Find({}, {}, kNow + minutes(9)).size(), 1U);
  EXPECT_TRUE(calls.Find({}, {}, kNow + minutes(11)).empty());
}

TEST(ThrottledCallsTest, EachAccountServiceAndApiHasItsOwn) {
  ThrottledCalls calls;
  for (const char* name : {"a", "b"}) calls.OnObject(Bucket(name, Efs()), kNow);
  for (const char* name : {"c", "d"}) {
    calls.OnObject(Bucket(name, Efs(), "?prod/aws.upbound.io/ProviderConfig//team-b"), kNow);
  }
  const auto found = calls.Find({}, {}, kNow);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[1].cause,
            "AWS refuses DescribeFileSystemPolicy of EFS in the account of ProviderConfig team-b: "
            "there are too many (ThrottlingException); whoever uses this account fails with them.");
}

TEST(ThrottledCallsTest, NamesTheTagWarThatRunsThere) {
  ThrottledCalls calls;
  for (const char* name : {"a", "b"}) calls.OnObject(Bucket(name, Efs()), kNow);
  LocatedWar war;
  war.resource = "EFS file system \"data\"";
  war.service = "efs";
  war.account = "123456789012";
  war.writes_per_minute = 10.8;
  war.fighters = {{"prod", "efs.aws.upbound.io", "FileSystem", "", "x"},
                  {"prod", "efs.aws.upbound.io", "FileSystem", "", "y"}};
  const auto found = calls.Find(std::vector<LocatedWar>{war}, {}, kNow);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].mode, Mode::kEnforce);
  EXPECT_EQ(found[0].evidence,
            "2 objects, 2 tries refused; most often FileSystemPolicy a (1), FileSystemPolicy b "
            "(1); a tag war over EFS file system \"data\" runs there, 10.8 writes a minute, by "
            "FileSystem x and FileSystem y");
  EXPECT_EQ(found[0].remedy,
            "End the tag war first: `truce conflicts` prints the steps. It writes and reads at "
            "each look of both, for nothing.");
  // Not one of another account, or of another service.
  war.account = "999999999999";
  EXPECT_EQ(calls.Find(std::vector<LocatedWar>{war}, {}, kNow)[0].mode, Mode::kWarn);
  war.account = "123456789012";
  war.service = "s3";
  EXPECT_EQ(calls.Find(std::vector<LocatedWar>{war}, {}, kNow)[0].mode, Mode::kWarn);
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
  Callers callers;
  CountCallers(owners, callers);
  ThrottledCalls calls;
  for (const char* name : {"a", "b"}) calls.OnObject(Bucket(name, Efs()), kNow);
  const auto found = calls.Find({}, callers, kNow);
  EXPECT_EQ(found[0].evidence,
            "2 objects, 2 tries refused; most often FileSystemPolicy a (1), FileSystemPolicy b "
            "(1); of 4 resources there 3 are of namespace team-b");
}

TEST(ThrottledCallsTest, EventsCountOnceTheirPlaceIsKnown) {
  ThrottledCalls calls;
  for (int i = 0; i < 3; ++i) calls.OnEvent({{"uid-a"}, Efs()}, kNow + seconds(5 * i));
  calls.OnEvent({{"uid-b"}, "cannot observe: no such host"}, kNow);
  calls.OnEvent({{"uid-c"}, Efs()}, kNow);
  EXPECT_TRUE(calls.Find({}, {}, kNow + seconds(10)).empty());
  ASSERT_EQ(calls.Unplaced(9), (std::vector<Uid>{{"uid-a"}, {"uid-c"}}));
  calls.SetPlace({"uid-a"}, ThrottledPlace{{"prod", "efs.aws.upbound.io", "FileSystem", "", "a"},
                                           "123456789012",
                                           "efs/FileSystem"});
  calls.SetPlace({"uid-c"}, std::nullopt);
  EXPECT_TRUE(calls.Unplaced(9).empty());
  ASSERT_EQ(calls.Find({}, {}, kNow + seconds(10)).size(), 1U);
  // The condition that comes with an Event is the same try.
  calls.OnObject(Bucket("a", Efs()), kNow + seconds(10));
  EXPECT_EQ(calls.Find({}, {}, kNow + seconds(11))[0].evidence,
            "1 object, 3 tries refused; most often FileSystemPolicy a (3)");
}

TEST(ThrottledCallsTest, ReadsEventsOfBothApis) {
  const Document core = DocumentFromJson(
      R"({"involvedObject":{"uid":"u"},"message":"m","reason":"CannotObserveExternalResource"})");
  const Document events = DocumentFromJson(R"({"regarding":{"uid":"u"},"note":"m"})");
  for (const Document* each : {&core, &events}) {
    const auto read = ReadTroubleEvent(each->root(), "prod");
    ASSERT_TRUE(read);
    EXPECT_EQ(read->object.text, "prod/u");
    EXPECT_EQ(read->message, "m");
  }
  const Document nothing = DocumentFromJson(R"({"regarding":{}})");
  EXPECT_FALSE(ReadTroubleEvent(nothing.root(), "prod"));
}

TEST(ThrottledCallsRecorded, AWarWithoutThrottlingIsNone) {
  ThrottledCalls calls;
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
          calls.OnObject(ReadObservedVersion(document.root(), kind, rules), line.received);
        } else if (const auto event = ReadTroubleEvent(document.root(), "prod")) {
          calls.OnEvent(*event, line.received);
        }
      }
    }
  }
  EXPECT_GT(lines, 80U);
  EXPECT_TRUE(calls.Find({}, {}, last).empty());
  EXPECT_TRUE(calls.Unplaced(9).empty());
}

}  // namespace detect_throttling_test
}  // namespace truce
