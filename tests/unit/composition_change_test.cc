// Rules composition-change and composite-not-seen: what whoever changes a Composition, or creates
// what Crossplane does not see, is told; and what looks like it and is none.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "policies/lifecycle/composition_change.h"
#include "tests/support/admission_fixture.h"

namespace truce {
namespace composition_change_test {

using Texts = std::vector<std::string>;

const std::string kType =
    R"("compositeTypeRef":{"apiVersion":"platform.example.org/v1alpha1","kind":"XObjectStorage"})";
const std::string kBucketTemplate =
    R"({"name":"bucket","base":{"apiVersion":"s3.aws.upbound.io/v1beta2","kind":"Bucket"}})";

std::string UsageTemplate(const std::string& name,
                          const std::string& version = "apiextensions.crossplane.io/v1beta1",
                          const std::string& kind = "Usage") {
  return R"({"name":")" + name + R"(","base":{"apiVersion":")" + version + R"(","kind":")" + kind +
         R"(","spec":{"of":{"apiVersion":"s3.aws.upbound.io/v1beta2","kind":"Bucket"}}}})";
}
// A Composition's spec with these templates.
std::string Resources(const std::string& templates) {
  return "{" + kType + R"(,"mode":"Resources","resources":[)" + templates + "]}";
}
std::string PatchStep(const std::string& templates) {
  return R"({"step":"pt","functionRef":{"name":"function-patch-and-transform"},"input":{)"
         R"("apiVersion":"pt.fn.crossplane.io/v1beta1","kind":"Resources","resources":[)" +
         templates + "]}}";
}
std::string UnknownStep(const std::string& text) {
  return R"({"step":"go","functionRef":{"name":"function-go-templating"},"input":{)"
         R"("apiVersion":"gotemplating.fn.crossplane.io/v1beta1","kind":"GoTemplate","inline":")" +
         text + R"("}})";
}
const std::string kReadyStep = R"({"step":"ready","functionRef":{"name":"function-auto-ready"}})";
std::string Pipeline(const std::string& steps) {
  return "{" + kType + R"(,"mode":"Pipeline","pipeline":[)" + steps + "]}";
}

class CompositionTest : public AdmissionFixture {
 protected:
  CompositionTest() {
    ChangePolicy([](AdmissionPolicy& policy) {
      policy.identity.composites = {{"platform.example.org", "XObjectStorage"}};
      policy.restorers = {"system:serviceaccount:velero:*"};
    });
  }
  // A composite that names these, as "group/version Kind name".
  void Composite(const std::string& name, const std::string& references) {
    Sent sent;
    sent.operation = "UPDATE";
    sent.group = "platform.example.org";
    sent.version = "v1alpha1";
    sent.kind = "XObjectStorage";
    sent.name = name;
    sent.uid = "uid-" + name;
    sent.review = "review-" + name;
    sent.spec = R"({"resourceRefs":[)" + references + "]}";
    sent.old_spec = "{}";
    sent.user = kCrossplane;
    ASSERT_TRUE(Send(sent).allowed);
  }
  static std::string Usage(const std::string& name) {
    return R"({"apiVersion":"apiextensions.crossplane.io/v1beta1","kind":"Usage","name":")" + name +
           R"("})";
  }
  static std::string BucketRef(const std::string& name) {
    return R"({"apiVersion":"s3.aws.upbound.io/v1beta2","kind":"Bucket","name":")" + name + R"("})";
  }
  Texts Warnings(const std::string& old_spec, const std::string& spec) {
    Sent sent;
    sent.operation = "UPDATE";
    sent.group = "apiextensions.crossplane.io";
    sent.version = "v1";
    sent.kind = "Composition";
    sent.name = "storage";
    sent.uid = "uid-storage";
    sent.spec = spec;
    sent.old_spec = old_spec;
    const Answered answer = Composition(sent);
    EXPECT_TRUE(answer.allowed);
    return answer.warnings;
  }
  static Texts Told(int composites) {
    return {"truce: " + std::to_string(composites) +
            (composites == 1 ? " composite has" : " composites have") +
            " this Usage; before Crossplane 1.18.2 it stays and blocks Bucket"};
  }
};

TEST_F(CompositionTest, ADroppedUsageIsToldWithTheCompositesThatHaveIt) {
  Composite("one", BucketRef("one") + "," + Usage("one"));
  Composite("two", Usage("two") + "," + BucketRef("two"));
  Composite("without", BucketRef("three"));
  const std::string both = kBucketTemplate + "," + UsageTemplate("usage");
  EXPECT_EQ(Warnings(Resources(both), Resources(kBucketTemplate)), Told(2));
  EXPECT_EQ(sink_.last().findings, Texts{"composition-change warn"});
  EXPECT_EQ(Warnings(Pipeline(PatchStep(both)), Pipeline(PatchStep(kBucketTemplate))), Told(2));
  const std::string ready = "," + kReadyStep;
  EXPECT_EQ(
      Warnings(Pipeline(PatchStep(both) + ready), Pipeline(PatchStep(kBucketTemplate) + ready)),
      Told(2))
      << "a step of another function that was there before makes nothing new";
}

TEST_F(CompositionTest, EveryKindOfUsageCounts) {
  Composite(
      "one",
      R"({"apiVersion":"protection.crossplane.io/v1beta1","kind":"ClusterUsage","name":"u"})");
  for (const auto& [version, kind] : std::vector<std::pair<std::string, std::string>>{
           {"apiextensions.crossplane.io/v1alpha1", "Usage"},
           {"apiextensions.crossplane.io/v1beta1", "Usage"},
           {"protection.crossplane.io/v1beta1", "Usage"},
           {"protection.crossplane.io/v1beta1", "ClusterUsage"}}) {
    EXPECT_EQ(Warnings(Resources(UsageTemplate("usage", version, kind)), Resources("")), Told(1))
        << version << kind;
  }
  EXPECT_EQ(Warnings(Resources(UsageTemplate("usage", "example.org/v1", "Usage")), Resources("")),
            Texts{});
}

TEST_F(CompositionTest, WhatLooksLikeADroppedUsageAndIsNone) {
  Composite("one", Usage("one"));
  const std::string usage = UsageTemplate("usage");
  const std::string newer = UsageTemplate("usage", "protection.crossplane.io/v1beta1");
  EXPECT_EQ(Warnings(Resources(usage), Resources(newer)), Texts{}) << "changed";
  EXPECT_EQ(Warnings(Resources(usage), Pipeline(PatchStep(usage))), Texts{}) << "moved";
  EXPECT_EQ(Warnings(Resources(usage + "," + kBucketTemplate), Resources(usage)), Texts{})
      << "something else";
  EXPECT_EQ(Warnings(Resources(""), Resources(usage)), Texts{}) << "added";
  EXPECT_EQ(Warnings(Resources(usage), Pipeline(UnknownStep("kind: Usage"))), Texts{})
      << "another function may make it";
  EXPECT_EQ(
      Warnings(Pipeline(PatchStep(usage) + "," + UnknownStep("a")), Pipeline(UnknownStep("b"))),
      Texts{})
      << "changed in the same update";
}

TEST_F(CompositionTest, WithoutCompositesNothingIsTold) {
  EXPECT_EQ(Warnings(Resources(UsageTemplate("usage")), Resources("")), Texts{});
}

TEST_F(CompositionTest, WhatIsNoCompositionIsReadWithoutHarm) {
  Composite("one", Usage("one"));
  for (const std::string spec :
       {R"({})", R"({"resources":7,"pipeline":"x"})", R"({"pipeline":[7,null,{"input":[]}]})",
        R"({"compositeTypeRef":[],"resources":[{"base":"x"},7]})"}) {
    EXPECT_EQ(Warnings(Resources(""), spec), Texts{}) << spec;
  }
}

TEST_F(CompositionTest, WhileRestoredObjectsAreNotAdoptedEveryChangeIsToldSo) {
  Composite("one", BucketRef("restored") + "," + BucketRef("adopted") + "," + BucketRef("gone"));
  Sent restored = Bucket("restored", "r");
  restored.metadata = R"(,"annotations":{"crossplane.io/external-name":"r",)"
                      R"("crossplane.io/composition-resource-name":"bucket"})";
  restored.user = "system:serviceaccount:velero:velero-server";
  ASSERT_TRUE(Send(restored).allowed);
  Sent adopted = Bucket("adopted", "a");
  adopted.metadata = restored.metadata +
                     R"(,"ownerReferences":[{"apiVersion":"platform.example.org/v1alpha1",)"
                     R"("kind":"XObjectStorage","name":"one","uid":"uid-one","controller":true}])";
  adopted.metadata.replace(adopted.metadata.find("\"r\""), 3, "\"a\"");
  adopted.user = kCrossplane;
  ASSERT_TRUE(Send(adopted).allowed);
  EXPECT_EQ(Warnings(Resources(kBucketTemplate), Resources("")),
            Texts{"truce: 1 restored object of XObjectStorage is not adopted: what this drops is "
                  "orphaned or deleted"});
  EXPECT_EQ(Warnings(Resources(""), Resources("")), Texts{}) << "nothing changes";
}

TEST_F(CompositionTest, TheRegistryMayBeAway) {
  Composite("one", Usage("one"));
  store_.FailNextRead(Error{ErrorCode::kUnavailable, "busy"});
  EXPECT_EQ(Warnings(Resources(UsageTemplate("usage")), Resources("")), Texts{});
  service_.SetReady(false);
  EXPECT_EQ(Warnings(Resources(UsageTemplate("usage")), Resources("")), Texts{});
}

TEST_F(CompositionTest, WhoCreatesWhatCrossplaneDoesNotSeeIsTold) {
  const Timestamp since = *ParseTimestamp("2026-11-23T04:43:41Z");
  const Sent claim = Claim("team-a", "late", "late-files", "service-a");
  EXPECT_TRUE(Send(claim).warnings.empty());
  ChangePolicy([&](AdmissionPolicy& policy) {
    policy.unseen = {{{"platform.example.org", "ObjectStorage"}, since}};
  });
  Sent next = Claim("team-a", "later", "later-files", "service-a");
  const Answered answer = Send(next);
  EXPECT_TRUE(answer.allowed);
  EXPECT_EQ(answer.warnings,
            Texts{"truce: Crossplane does not see new composites of this kind since "
                  "2026-11-23T04:43:41Z"});
  EXPECT_TRUE(Send(Bucket("mine", "mine")).warnings.empty()) << "another kind";
  next.operation = "UPDATE";
  next.review = "update";
  next.old_metadata = next.metadata;
  next.old_spec = next.spec;
  next.spec = R"({"parameters":{"name":"later-files","region":"us-west-1"}})";
  EXPECT_TRUE(Send(next).warnings.empty()) << "what exists";
}

}  // namespace composition_change_test
}  // namespace truce
