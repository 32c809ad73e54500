// Detectors behind a watcher: what they are told, when they judge, and what they find together.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "policies/policy.h"
#include "tests/support/detector_bench.h"
#include "tests/support/watcher_fixture.h"
#include "webhook/findings/detectors.h"

namespace truce::testing {
namespace detectors_test {

class DetectorsTest : public WatcherTest {
 protected:
  DetectorsTest() {
    cluster_.Serve({kXrd.group, "v1", kXrd.kind, "compositeresourcedefinitions", false});
    cluster_.Serve({kComposite.group, "v1", kComposite.kind, "xstorages", false});
    cluster_.Serve({kClaim.group, "v1", kClaim.kind, "storages", true});
    cluster_.Serve({"admissionregistration.k8s.io", "v1", "ValidatingWebhookConfiguration",
                    "validatingwebhookconfigurations", false});
    options_.others = detectors_.Kinds("truce");
    driver_ = std::make_unique<Driver>(cluster_, faulty_, clock_,
                                       Driver::Options{rules_, options_, &detectors_});
  }

  ~DetectorsTest() override { driver_.reset(); }

  void OnChange(const FindingChange& change) { changes_.push_back(change); }
  Surroundings Around() const {
    Surroundings around;
    auto policy = std::make_shared<AdmissionPolicy>();
    policy->catalogue = rules_.catalogue;
    policy->identity.cluster = "test";
    policy->claims = {{kClaim, kComposite}};
    policy->providers = providers_;
    around.policy = std::move(policy);
    around.webhook.name = "truce";
    return around;
  }
  // The first lists are there, and everything is judged.
  void Ready() {
    driver_->Settle();
    detectors_.SetReady(2s);
    Look();
  }
  void Look() { ASSERT_TRUE(detectors_.Examine(std::chrono::steady_clock::now() + 10s).ok()); }
  std::vector<std::string> Subjects(Detector detector) const {
    std::vector<std::string> subjects;
    for (const LiveFinding& finding : book_.Snapshot(detector)) subjects.push_back(finding.subject);
    return subjects;
  }
  static SmallObject Definition() {
    SmallObject xrd{kXrd, "", "xstorages.acme.example.org", "xrd", {}, {}};
    xrd.rest =
        R"("spec":{"group":"acme.example.org","names":{"kind":"XStorage"},"claimNames":{"kind":"Storage"}})";
    return xrd;
  }

  FindingsBook book_;
  std::vector<std::string> providers_;
  std::vector<FindingChange> changes_;
  Detectors detectors_{{faulty_, clock_, book_, "test", [this] { return Around(); },
                        [this](const FindingChange& change) { OnChange(change); }}};
};

TEST_F(DetectorsTest, BeforeTheFirstListsOnlyTheWebhookIsJudged) {
  cluster_.Put(Real(Bucket("a", "u1", "alpha")));
  cluster_.Put(Real(Bucket("b", "u2", "alpha")));
  driver_->Settle();
  Look();
  EXPECT_TRUE(Subjects(Detector::kOwnershipConflict).empty());
  EXPECT_EQ(Subjects(Detector::kWebhookConfiguration).size(), 1U) << "it does not exist";
  detectors_.SetReady(2s);
  Look();
  EXPECT_EQ(Subjects(Detector::kOwnershipConflict).size(), 1U);
}

TEST_F(DetectorsTest, AConflictAppearsAndIsResolved) {
  cluster_.Put(Real(Bucket("a", "u1", "alpha")));
  Ready();
  EXPECT_TRUE(Subjects(Detector::kOwnershipConflict).empty());
  cluster_.Put(Real(Bucket("b", "u2", "alpha")));
  driver_->Settle();
  changes_.clear();
  Look();
  ASSERT_EQ(Subjects(Detector::kOwnershipConflict).size(), 1U);
  ASSERT_FALSE(changes_.empty());
  EXPECT_EQ(changes_.front().kind, FindingChange::Kind::kAppeared);
  cluster_.Remove(kBucket, "", "b");
  driver_->Settle();
  changes_.clear();
  Look();
  EXPECT_TRUE(Subjects(Detector::kOwnershipConflict).empty());
  EXPECT_TRUE(std::any_of(changes_.begin(), changes_.end(), [](const FindingChange& change) {
    return change.kind == FindingChange::Kind::kResolved &&
           change.finding.detector == Detector::kOwnershipConflict;
  }));
}

TEST_F(DetectorsTest, NamesMovesAndAdoptionsAreFoundWithTheOthers) {
  cluster_.Serve({kConfig.group, "v1beta1", kConfig.kind, "providerconfigs", false});
  const auto config = [&](const std::string& account) {
    cluster_.Put(
        {kConfig,
         "",
         "prod",
         "pc-1",
         {},
         R"("spec":{"assumeRoleChain":[{"roleARN":"arn:aws:iam::)" + account + R"(:role/a"}]})"});
  };
  SmallObject queue{kQueue, "", "q", "u1", {}, {}};
  queue.rest = R"("spec":{"forProvider":{"region":"eu-west-1","name":"orders"},
      "providerConfigRef":{"name":"prod"}},"status":{"atProvider":
      {"arn":"arn:aws:sqs:eu-west-1:111111111111:orders"}})";
  cluster_.Put(queue);
  config("111111111111");
  Ready();
  EXPECT_TRUE(Subjects(Detector::kNamesDisagree).empty());
  EXPECT_TRUE(Subjects(Detector::kProviderConfigMoved).empty());
  config("222222222222");
  driver_->Advance(10s);
  clock_.Advance(Detectors::kPassEvery);
  Look();
  EXPECT_EQ(Subjects(Detector::kNamesDisagree).size(), 1U) << "its status is that of before";
  EXPECT_EQ(Subjects(Detector::kProviderConfigMoved),
            std::vector<std::string>{
                "test/aws.upbound.io/ProviderConfig//prod 111111111111 222222222222"});
  const auto counts = book_.Counts();
  EXPECT_EQ(counts.at({Detector::kNamesDisagree, Mode::kWarn}), 1U);
  EXPECT_EQ(counts.at({Detector::kProviderConfigMoved, Mode::kWarn}), 1U);
}

TEST_F(DetectorsTest, WhatWritesIntoAnothersResourceIsFoundWhileItDoes) {
  const GroupKind bucket{"s3.aws.m.upbound.io", "Bucket"};
  const GroupKind policy{"s3.aws.m.upbound.io", "BucketPolicy"};
  cluster_.Serve({bucket.group, "v1beta1", bucket.kind, "buckets", true});
  cluster_.Serve({policy.group, "v1beta1", policy.kind, "bucketpolicies", true});
  const auto policy_of = [&](const std::string& ns, const std::string& of) {
    SmallObject object{policy, ns, "policy-" + of, "policy-" + of, {}, {}};
    object.rest =
        R"("spec":{"forProvider":{"region":"eu-west-1","bucket":")" + of + R"(","policy":"{}"}})";
    return object;
  };
  const auto bucket_of = [&](const std::string& ns, const std::string& name) {
    SmallObject object = Bucket(name, "bucket-" + name, name);
    object.kind = bucket;
    object.ns = ns;
    return object;
  };
  cluster_.Put(policy_of("team-b", "alpha"));
  cluster_.Put(policy_of("team-a", "beta"));
  cluster_.Put(bucket_of("team-a", "beta"));
  Ready();
  EXPECT_TRUE(Subjects(Detector::kForeignAttachment).empty()) << "nobody owns alpha";
  cluster_.Put(bucket_of("team-a", "alpha"));
  driver_->Settle();
  clock_.Advance(Detectors::kPassEvery);
  Look();
  const std::vector<LiveFinding> found = book_.Snapshot(Detector::kForeignAttachment);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].cause,
            "BucketPolicy.s3.aws.m.upbound.io team-b/policy-alpha writes into S3 bucket "
            "\"alpha\", which is owned by Bucket.s3.aws.m.upbound.io team-a/alpha and not "
            "shared with it.");
  EXPECT_EQ(found[0].namespaces, (std::vector<std::string>{"team-a", "team-b"}));
  cluster_.Remove(policy, "team-b", "policy-alpha");
  driver_->Settle();
  clock_.Advance(Detectors::kPassEvery);
  Look();
  EXPECT_TRUE(Subjects(Detector::kForeignAttachment).empty());
}

TEST_F(DetectorsTest, EndpointsOutsideOfAwsAreListed) {
  DetectorBench bench(Detector::kOutsideEndpoint);
  IdentityRules& rules = bench.policy->identity;
  rules.cluster = "test";
  EXPECT_TRUE(bench.Pass({}).empty());
  rules.outside[{"aws.upbound.io", "ProviderConfig", "", "dev"}] = {"localstack:4566", {"s3"}};
  const std::vector<LiveFinding> found = bench.Pass({});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].subject, "test/aws.upbound.io/ProviderConfig//dev");
  EXPECT_EQ(found[0].cause,
            "Requests of ProviderConfig.aws.upbound.io dev go to localstack:4566, which is not "
            "AWS.");
  EXPECT_EQ(found[0].evidence,
            "those of s3; a name space of its own, compared with nothing in AWS");
  MappingRule claims{.kind = {"acme.example.org", "Storage"}};
  claims.declares = {{.type = "s3/Bucket", .parts = {{"name", {{}, "x"}}}}};
  rules.mappings = MappingRules::Create({claims}, Catalogue::BuiltIn()).value();
  EXPECT_EQ(bench.Pass({})[0].evidence,
            "those of s3; a name space of its own, compared with nothing in AWS; what mappings "
            "read counts as AWS all the same, since they name no ProviderConfig: leave its "
            "namespaces out of theirs");
  rules.name_spaces = {"minio*"};
  EXPECT_EQ(bench.Pass({})[0].evidence,
            "those of s3; counts as AWS: outsideEndpoints does not name it");
}

TEST_F(DetectorsTest, AnOrphanIsFoundByTheNextPassOverTheRegistry) {
  cluster_.Put(Real(Bucket("a", "u1", "alpha")));
  Ready();
  cluster_.Remove(kBucket, "", "a");
  driver_->Settle();
  clock_.Advance(Detectors::kPassEvery);
  Look();
  EXPECT_EQ(Subjects(Detector::kOrphanedOwnership).size(), 1U);
}

TEST_F(DetectorsTest, CoverageNamesClaimsWithoutMappingAndKindsThatCannotBeListed) {
  cluster_.Put(Definition());
  cluster_.Put({kClaim, "team-a", "data", "c1", {}, R"("spec":{"parameters":{"name":"alpha"}})"});
  cluster_.FailLists(kQueue, ApiError{ApiErrorKind::kForbidden, 403, "no right", {}});
  Ready();
  driver_->Advance(30s);
  const CoverageReport report = detectors_.Coverage();
  const auto gap = [&](GapReason reason, const std::string& subject) {
    return std::find_if(report.gaps.begin(), report.gaps.end(), [&](const CoverageGap& one) {
      return one.reason == reason && one.subject == subject;
    });
  };
  const auto claim = gap(GapReason::kNoMapping, "Storage.acme.example.org");
  ASSERT_NE(claim, report.gaps.end());
  EXPECT_EQ(claim->objects, 1U);
  EXPECT_NE(gap(GapReason::kNotListed, "Queue.sqs.aws.upbound.io"), report.gaps.end());
  ASSERT_TRUE(report.failing_since);
  EXPECT_LE(*report.failing_since, clock_.Now());
}

TEST_F(DetectorsTest, TheBaselineCountsWhatWasReadAndNamesWhatWasNot) {
  cluster_.Put(Real(Bucket("a", "u1", "alpha")));
  cluster_.Put(Real(Bucket("b", "u2", "alpha")));
  cluster_.FailLists(kQueue, ApiError{ApiErrorKind::kForbidden, 403, "no right", {}});
  driver_->Settle();
  EXPECT_FALSE(detectors_.Watched().complete);
  detectors_.SetReady(2s);
  const BaselineReport report = detectors_.Watched();
  EXPECT_TRUE(report.complete);
  EXPECT_EQ(report.took, 2s);
  EXPECT_EQ(report.objects, 2U);
  ASSERT_EQ(report.problems.size(), 1U);
  EXPECT_EQ(report.problems[0].kind, "Queue.sqs.aws.upbound.io");
}

TEST_F(DetectorsTest, AStoreThatFailsLeavesTheFindingsAsTheyWere) {
  cluster_.Put(Real(Bucket("a", "u1", "alpha")));
  cluster_.Put(Real(Bucket("b", "u2", "alpha")));
  Ready();
  ASSERT_EQ(Subjects(Detector::kOwnershipConflict).size(), 1U);
  faulty_.FailNextRead({ErrorCode::kUnavailable, "disk failure"});
  EXPECT_FALSE(detectors_.Examine(std::chrono::steady_clock::now() + 10s).ok());
  EXPECT_EQ(Subjects(Detector::kOwnershipConflict).size(), 1U);
}

TEST_F(DetectorsTest, AnObjectThatCannotBeReadIsFoundByNameUntilItCan) {
  cluster_.Put({kBucket, "", "a", "", {}, {}});
  cluster_.Put({kBucket, "", "b", "u2", "\"x\":", {}});
  Ready();
  EXPECT_EQ(Subjects(Detector::kUnreadObject),
            (std::vector<std::string>{ToText(Slot{"test", kBucket.group, kBucket.kind, "", "a"}),
                                      ToText(Slot{"test", kBucket.group, kBucket.kind, "", "b"})}));
  cluster_.Put(Bucket("a", "u1", "alpha"));
  cluster_.Remove(kBucket, "", "b");
  driver_->Settle();
  Look();
  EXPECT_TRUE(Subjects(Detector::kUnreadObject).empty());
}

TEST_F(DetectorsTest, AProviderThatNoSettingMatchesIsFoundFromItsSecondObjectOn) {
  Ready();
  const std::string user = "system:serviceaccount:crossplane-system:irsa";
  const auto acts = [&](const std::string& name) {
    detectors_.OnProviderAct({user, {"test", kBucket.group, kBucket.kind, "", name}});
    Look();
    return Subjects(Detector::kUnmatchedProvider);
  };
  EXPECT_TRUE(acts("a").empty());
  EXPECT_TRUE(acts("a").empty()) << "one object may be anybody's";
  EXPECT_EQ(acts("b"), std::vector<std::string>{user});
  const LiveFinding finding = book_.Snapshot(Detector::kUnmatchedProvider).front();
  EXPECT_EQ(finding.remedy,
            "If a provider runs as this account, add \"" + user +
                "\" to the setting providers, beside what it holds. What was left orphaned until "
                "then is listed by `truce list --state orphaned`; free what is gone from AWS with "
                "`truce release`.");
  providers_ = {"system:serviceaccount:crossplane-system:*"};
  Look();
  EXPECT_TRUE(Subjects(Detector::kUnmatchedProvider).empty());
}

}  // namespace detectors_test
}  // namespace truce::testing
