// The policy in force: what configuration and objects say together, and what of it is refused.
#include "webhook/publish/policy_source.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "webhook/config/load.h"

namespace truce {
namespace policy_source_test {

constexpr std::string_view kOn = "rules: {naming-convention: {mode: enforce}}\n";

// As read from an object: without locations.
YamlNode WithoutLocations(YamlNode node) {
  node.location = {};
  for (YamlKey& key : node.keys) key.location = {};
  for (YamlNode& child : node.children) child = WithoutLocations(child);
  return node;
}

class PolicySourceTest : public ::testing::Test {
 protected:
  static Config ConfigOf(const std::string& text) {
    const auto loaded = LoadConfigFrom({.file = "t.yaml", .flags = {}, .variables = {}}, text);
    EXPECT_TRUE(loaded.ok()) << loaded.error().message;
    return loaded.value().config;
  }

  // `age`: the greater, the younger.
  static OwnObject Policy(const std::string& name, int generation, int age,
                          const std::string& spec) {
    OwnObject out;
    out.kind = {"truce.dev", "v1alpha1", "NamingPolicy", "namingpolicies", false};
    out.name = name;
    out.uid = "uid-" + name;
    out.generation = generation;
    out.created = "2026-11-21T12:00:0" + std::to_string(age) + "Z";
    const auto parsed = ParseYaml(spec, "spec");
    EXPECT_TRUE(parsed.ok()) << spec;
    out.spec = WithoutLocations(parsed.value());
    return out;
  }

  std::string FormInForce() const {
    if (!in_force_ || !in_force_->policy->names->convention) return "";
    return std::string(in_force_->policy->names->convention->FormOf("s3/Bucket"));
  }

  void SetUp() override { ASSERT_TRUE(source_.Configure(ConfigOf("mode: warn\n")).ok()); }

  std::optional<EffectivePolicy> in_force_;
  PolicySource source_{
      std::shared_ptr<const Catalogue>(std::shared_ptr<void>(), &Catalogue::BuiltIn()),
      [this](const EffectivePolicy& policy) { in_force_ = policy; }};
};

TEST_F(PolicySourceTest, AnObjectAddsToTheConfiguration) {
  EXPECT_EQ(FormInForce(), "");
  const auto verdicts = source_.Take(std::vector{
      Policy("a", 1, 1, std::string(kOn) + "naming: {template: \"{env}-{service}\"}\n")});
  ASSERT_EQ(verdicts.size(), 1U);
  EXPECT_EQ(verdicts[0], (OwnVerdict{true, "in force"}));
  EXPECT_EQ(FormInForce(), "{env}-{service}");
  EXPECT_EQ(in_force_->policy->modes.global, Mode::kWarn);
  source_.Take({});
  EXPECT_EQ(FormInForce(), "");
}

struct Refusal {
  std::string spec;
  std::string message;  // its begin
};

TEST_F(PolicySourceTest, FaultyObjectsAreRefusedWithPathAndRemedy) {
  const std::string on(kOn);
  const std::vector<Refusal> rows = {
      {"x: 1\n", "spec.x: unknown key; the keys are naming, rules, exemptions"},
      {"naming: {template: \"{service}\"}\n",
       "naming: has no effect while the rule is off; begin with rules: {naming-convention: {mode: "
       "audit}}"},
      {on + "naming: {template: \"{service}-{stage}\"}\n",
       "naming.template: unknown variable {stage}; the variables are service, env, type, team, "
       "region, account, suffix"},
      {on + "naming: {types: [s3/Bukcet]}\n",
       "naming.types: no type 's3/Bukcet'; did you mean 's3/Bucket'?"},
      {on + "naming: {variables: {env: {pattern: \"(prod\"}}}\n",
       "naming.variables.env.pattern: RE2 refuses the pattern (missing ): (prod); write one in "
       "RE2's syntax, without look-ahead, back-references or great counts"},
      {on + "naming: {variables: {env: {pattern: \"((a{100}){100}){100}\"}}}\n",
       "naming.variables.env.pattern: RE2 refuses the pattern (invalid repetition size: {100}); "
       "write one in RE2's syntax, without look-ahead, back-references or great counts"},
      {on + "naming: {types: [elbv2/LB], template: "
            "\"{service}-these-load-balancers-of-the-{env}\"}\n",
       "naming.template: cannot name elbv2/LB: its names have at least 33 bytes, and 32 are "
       "allowed; give the type a template of its own in naming.templates, or list in naming.types "
       "only those that it fits"},
      {on + "naming: {maxLengths: {s3/Bucket: many}}\n",
       "naming.maxLengths.s3/Bucket: must be a whole number, 1 to 1024"},
      {"rules: {duplicate-ownership: {mode: warn}}\n",
       "rules.duplicate-ownership: is not a rule about names; here are naming-convention and "
       "aws-name, the others are set in the configuration"},
      {"rules: {aws-name: {mode: strict}}\n",
       "rules.aws-name.mode: must be one of off, audit, warn, enforce"},
      {"rules: {aws-name: {modes: [{mode: warn, type: s3/Bucket}, {mode: off, type: "
       "s3/Bucket}]}}\n",
       "rules.aws-name: clashes with the mode for the same objects and time at NamingPolicy a; "
       "remove one of the two"},
      {"exemptions: [{name: x, reason: r}]\n",
       "exemptions[0].rule: must be naming-convention or aws-name"},
      {"exemptions: [{rule: aws-name, service: s, reason: r}]\n",
       "the exemption would never hold, because anyone may write labels; add a namespace, or bind "
       "the service to its namespaces in parties"},
  };
  for (const Refusal& row : rows) {
    const auto verdicts = source_.Take(std::vector{Policy("a", 1, 1, row.spec)});
    ASSERT_EQ(verdicts.size(), 1U);
    EXPECT_FALSE(verdicts[0].accepted) << row.spec;
    EXPECT_EQ(verdicts[0].message, row.message);
    EXPECT_FALSE(source_.Try(Policy("a", 1, 1, row.spec)).ok());
  }
  EXPECT_EQ(FormInForce(), "");
}

TEST_F(PolicySourceTest, MappingsAreKnownByKindOrByName) {
  const auto mapping = [](const std::string& name, int age, const std::string& spec) {
    OwnObject out = Policy(name, 1, age, spec);
    out.kind = {"truce.dev", "v1alpha1", "DeclarationMapping", "declarationmappings", false};
    out.uid = "uid-mapping-" + name;
    return out;
  };
  const std::string bucket = "declares: [{type: s3/Bucket, parts: {name: spec.name}}]\n";
  const std::string claim = "{group: g.io, kind: K, " + bucket.substr(0, bucket.size() - 1) + "}";
  const std::string values =
      "chartValues: true\ndeclares: [{type: s3/Bucket, parts: {name: '*.name'}}]\n";
  const auto verdicts = source_.Take(std::vector{
      mapping("claims", 1, claim), mapping("charts", 2, values), mapping("other", 3, values),
      mapping("again", 4, claim), mapping("bad", 5, "chartValues: true\n")});
  ASSERT_EQ(verdicts.size(), 5U);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_TRUE(verdicts[i].accepted) << verdicts[i].message;
  EXPECT_EQ(verdicts[3].message, "spec: maps a kind that is mapped already; remove one of the two");
  EXPECT_EQ(verdicts[4].message, "spec.declares: is missing");
  const AdmissionPolicy& policy = *in_force_->policy;
  EXPECT_NE(policy.identity.mappings.Find("g.io", "K"), nullptr);
  EXPECT_EQ(policy.identity.mappings.Find("", ""), nullptr);
  EXPECT_EQ(policy.values.size(), 2U);
}

TEST_F(PolicySourceTest, TheLastGoodVersionStays) {
  const std::string on(kOn);
  const OwnObject good = Policy("a", 1, 2, on + "naming: {template: \"{env}-{service}\"}\n");
  source_.Take(std::vector{good});
  const OwnObject bad = Policy("a", 2, 2, on + "naming: {template: \"{env}{service}\"}\n");
  // Older by age, but new: it does not displace what is in force.
  const OwnObject other = Policy("b", 1, 1, "naming: {template: \"{env}-{type}\"}\n");
  const auto verdicts = source_.Take(std::vector{other, bad});
  ASSERT_EQ(verdicts.size(), 2U);
  EXPECT_EQ(verdicts[0].message,
            "naming: stands in NamingPolicy a already; only one can give the convention");
  EXPECT_EQ(verdicts[1].message,
            "naming.template: has {env} and {service} side by side; put a separator between them; "
            "generation 1 stays in force");
  EXPECT_EQ(FormInForce(), "{env}-{service}");
  // Still so at the next look, and when configuration changes.
  EXPECT_EQ(source_.Take(std::vector{other, bad}), verdicts);
  ASSERT_TRUE(source_.Configure(ConfigOf("mode: audit\n")).ok());
  EXPECT_EQ(FormInForce(), "{env}-{service}");
  EXPECT_EQ(in_force_->policy->modes.global, Mode::kAudit);
}

TEST_F(PolicySourceTest, ConfigurationGoesBeforeObjects) {
  const std::string on(kOn);
  const OwnObject object = Policy("a", 1, 1, on + "naming: {template: \"{env}-{service}\"}\n");
  ASSERT_TRUE(source_.Take(std::vector{object})[0].accepted);
  EXPECT_FALSE(source_.Configure(ConfigOf("naming: {template: \"{service}\"}\n")).ok());
  EXPECT_EQ(FormInForce(), "{env}-{service}");
  const auto taken =
      source_.Configure(ConfigOf(on + "naming: {template: \"{env}-{type}-{service}\"}\n"));
  ASSERT_TRUE(taken.ok()) << taken.error().message;
  EXPECT_EQ(FormInForce(), "{env}-{type}-{service}");
  const auto verdicts = source_.Take(std::vector{object});
  EXPECT_EQ(verdicts[0].message,
            "naming: stands in t.yaml:2 already; only one can give the convention");
}

// Times of creation are whole seconds: of two made in one second the name would decide.
TEST_F(PolicySourceTest, WhatWasInForceStaysOverARestart) {
  const std::string on(kOn);
  const OwnObject other = Policy("other", 1, 1, on + "naming: {template: \"{env}-{service}\"}\n");
  OwnObject standard = Policy("standard", 1, 1, on + "naming: {template: \"{service}-{env}\"}\n");
  standard.said = OwnVerdict{true, "in force"};
  const auto verdicts = source_.Take(std::vector{other, standard});
  EXPECT_FALSE(verdicts[0].accepted);
  EXPECT_TRUE(verdicts[1].accepted) << verdicts[1].message;
  EXPECT_EQ(FormInForce(), "{service}-{env}");
}

TEST_F(PolicySourceTest, ExplanationsNameTheObject) {
  source_.Take(std::vector{Policy("a", 1, 1, std::string(kOn))});
  const Slot slot{"local", "s3.aws.upbound.io", "Bucket", "", "x"};
  const ModeSubject subject{.rule = Rule::kNamingConvention, .type = "s3/Bucket", .object = &slot};
  const AppliedMode applied = ModeFor(in_force_->policy->modes, subject, SystemClock().Now());
  EXPECT_EQ(applied.mode, Mode::kEnforce);
  EXPECT_EQ(applied.origin, "NamingPolicy a");
}

}  // namespace policy_source_test
}  // namespace truce
