// Modes: global, type, unsure types, overrides.
#include <gtest/gtest.h>

#include <vector>

#include "policies/mode.h"
#include "policies/suspensions.h"

namespace truce {
namespace policies_mode_test {

struct Row {
  const char* reason;
  ModeRules rules;
  bool sure;
  Mode mode;
};

const Timestamp kNow = *ParseTimestamp("2026-11-21T08:00:00Z");
const Slot kObject = {"local", "s3.aws.upbound.io", "Bucket", "team-a", "files"};
const Slot kRoot = {"local", "platform.example.org", "ObjectStorage", "team-b", "storage"};

TEST(ModeForTest, FollowsItsRules) {
  const Override here{.ns = "team-a", .until = kNow + std::chrono::seconds(1), .reason = "r"};
  const std::vector<Row> rows = {
      {"enforce by default", {}, true, Mode::kEnforce},
      {"global", {.global = Mode::kAudit}, true, Mode::kAudit},
      {"the type wins",
       {.global = Mode::kAudit, .types = {{"s3/Bucket", Mode::kEnforce}}},
       true,
       Mode::kEnforce},
      {"another type",
       {.global = Mode::kWarn, .types = {{"s3/BucketPolicy", Mode::kOff}}},
       true,
       Mode::kWarn},
      {"unsure warns", {}, false, Mode::kWarn},
      {"unsure stays audited", {.global = Mode::kAudit}, false, Mode::kAudit},
      {"unsure denies when told", {.unsure = UnsureAction::kDeny}, false, Mode::kEnforce},
      {"unsure denies for the type",
       {.unsure_types = {{"s3/Bucket", UnsureAction::kDeny}}},
       false,
       Mode::kEnforce},
      {"unsure warns for the type",
       {.unsure = UnsureAction::kDeny, .unsure_types = {{"s3/Bucket", UnsureAction::kWarn}}},
       false,
       Mode::kWarn},
      {"an explicit mode of an unsure type is still lowered",
       {.types = {{"s3/Bucket", Mode::kEnforce}}},
       false,
       Mode::kWarn},
      {"override", {.overrides = {here}}, true, Mode::kAudit},
      {"override of warn", {.global = Mode::kWarn, .overrides = {here}}, true, Mode::kAudit},
      {"override does not switch on",
       {.global = Mode::kOff, .overrides = {here}},
       true,
       Mode::kOff},
  };
  for (const Row& row : rows) {
    const ModeSubject subject{.type = "s3/Bucket",
                              .sure = row.sure,
                              .resource_name = "b",
                              .object = &kObject,
                              .root = &kRoot};
    EXPECT_EQ(ModeFor(row.rules, subject, kNow).mode, row.mode) << row.reason;
  }
}

// History 14: an override for a resource's name matches no object's name.
TEST(OverrideTest, NamesByNameObjectNamespaceOrGroupUntilItsEnd) {
  const ModeSubject subject{
      .type = "s3/Bucket", .resource_name = "prod", .object = &kObject, .root = &kRoot};
  const auto names = [&](Override rule, Timestamp now = kNow) {
    if (rule.until == Timestamp{}) rule.until = kNow + std::chrono::hours(1);
    const ModeRules rules{.overrides = {rule}};
    return ModeFor(rules, subject, now).overridden != nullptr;
  };
  EXPECT_TRUE(names({.name = "prod"}));
  EXPECT_FALSE(names({.name = "files"})) << "so is its object called";
  EXPECT_FALSE(names({.name = "storage"})) << "and its root";
  EXPECT_FALSE(names({.name = "other"}));
  EXPECT_TRUE(names({.object = "files"}));
  EXPECT_TRUE(names({.object = "storage"}));
  EXPECT_FALSE(names({.object = "prod"}));
  EXPECT_TRUE(names({.ns = "team-a"}));
  EXPECT_TRUE(names({.ns = "team-b"}));
  EXPECT_FALSE(names({.ns = "team-c"}));
  EXPECT_TRUE(names({.group = "s3.aws.upbound.io"}));
  EXPECT_FALSE(names({.group = "platform.example.org"}));
  EXPECT_FALSE(names({}));
  EXPECT_TRUE(names({.name = "prod", .until = kNow + std::chrono::milliseconds(1)}));
  EXPECT_FALSE(names({.name = "prod", .until = kNow}));
}

TEST(OverrideTest, AClusterScopedObjectIsInNoNamespace) {
  Slot object = kObject;
  object.ns.clear();
  const ModeSubject subject{.type = "s3/Bucket", .object = &object};
  const ModeRules rules{
      .overrides = {{.ns = "", .group = "", .until = kNow + std::chrono::hours(1)}}};
  EXPECT_EQ(ModeFor(rules, subject, kNow).overridden, nullptr);
}

TEST(SuspensionsTest, AreRecoveryModeAndTheOverridesThatHold) {
  AdmissionPolicy policy;
  policy.modes.global = Mode::kAudit;
  EXPECT_TRUE(SuspensionsAt(policy, kNow).empty()) << "a mode is a roll-out";
  EXPECT_EQ(RefusalsText(policy, kNow), "mode audit");
  const Timestamp later = kNow + std::chrono::hours(1);
  policy.modes.overrides = {{.ns = "team-a", .until = later, .reason = "incident"},
                            {.ns = "team-b", .until = kNow, .reason = "over"}};
  policy.recovery = "restored";
  const std::vector<Suspension> found = SuspensionsAt(policy, kNow);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].cause, SuspensionCause::kRecovery);
  EXPECT_EQ(found[0].why, "restored");
  EXPECT_EQ(found[1].what,
            "an override until 2026-11-21T09:00:00Z: Truce audits and refuses nothing of "
            "namespace team-a");
  EXPECT_EQ(found[1].why, "incident");
  EXPECT_EQ(RefusalsText(policy, kNow), found[0].what + "; " + found[1].what);
  EXPECT_EQ(SuspensionsAt(policy, later).size(), 1U);
}

}  // namespace policies_mode_test
}  // namespace truce
