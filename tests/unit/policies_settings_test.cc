// Policies that are refused: with file, path and remedy; and what explains one that is taken.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "policies/rule_list.h"
#include "webhook/config/load.h"
#include "webhook/config/policy.h"

namespace truce {
namespace policies_settings_test {

Result<std::shared_ptr<const AdmissionPolicy>> Build(const std::string& text) {
  static const NamedCatalogue kTypes =
      WithNames({std::shared_ptr<void>(), &Catalogue::BuiltIn()}).value();
  TRUCE_ASSIGN_OR_RETURN(const LoadedConfig loaded,
                         LoadConfigFrom({.file = "t.yaml", .flags = {}, .variables = {}}, text));
  return PolicyFrom(loaded.config, kTypes);
}

struct Row {
  std::string text;
  std::string message;  // its begin
};

TEST(PolicySettings, FaultyOnesAreRefusedWithPlacePathAndRemedy) {
  const std::string on = "rules: {naming-convention: {mode: warn}}\n";
  const std::vector<Row> rows = {
      {"rules: {names: {mode: warn}}\n",
       "t.yaml:1: rules: no rule 'names'; the rules are duplicate-ownership, resource-name, "
       "foreign-attachment, observer-without-share, account-party, aws-name, naming-convention, "
       "deletion-protection, status-names, rerolled-names, quota, orphaning-update, "
       "restored-twin, restored-delete, composition-change, composite-not-seen, claim-binding, "
       "claim-takeover"},
      {"rules: {aws-names: {mode: warn}}\n",
       "t.yaml:1: rules: no rule 'aws-names'; did you mean 'aws-name'?"},
      {"rules: {aws-name: {mode: strict}}\n",
       "t.yaml:1: rules.aws-name.mode: must be one of off, audit, warn, enforce"},
      {"rules: {aws-name: {}}\n",
       "t.yaml:1: rules.aws-name: says nothing; write 'mode: warn' below it"},
      {"rules: [aws-name]\n",
       "t.yaml:1: rules: is not a map; write 'RULE: {mode: warn}' lines below it"},
      {"rules: {aws-name: {modes: [{mode: warn, typ: s3/Bucket}]}}\n",
       "t.yaml:1: rules.aws-name.modes[0].typ: unknown key; did you mean 'type'?"},
      {"rules: {aws-name: {modes: [{mode: warn, type: s3/Bukcet}]}}\n",
       "t.yaml:1: no type 's3/Bukcet'; did you mean 's3/Bucket'?"},
      {"rules: {aws-name: {modes: [{type: s3/Bucket}]}}\n",
       "t.yaml:1: rules.aws-name.modes[0].mode: is missing"},
      {"rules: {aws-name: {modes: [{mode: warn, from: soon}]}}\n",
       "t.yaml:1: rules.aws-name.modes[0].from: is not a time; write it as 2026-11-21T18:00:00Z"},
      {"rules: {aws-name: {modes: [{mode: warn, from: \"2027-01-01T00:00:00Z\", until: "
       "\"2026-01-01T00:00:00Z\"}]}}\n",
       "t.yaml:1: rules.aws-name.modes[0]: ends before it begins; correct 'from' or 'until'"},
      {"rules:\n  aws-name:\n    modes:\n      - {type: s3/Bucket, mode: warn}\n      - {type: "
       "s3/Bucket, mode: off}\n",
       "t.yaml:5: rules.aws-name: clashes with the mode for the same objects and time at t.yaml:4; "
       "remove one of the two"},
      {"exemptions: [{reason: all}]\n",
       "t.yaml:1: exemptions[0]: exempts everything; add type, namespace, kind, object, name, "
       "selector or service, or set the rule's mode"},
      {"exemptions: [{name: x}]\n", "t.yaml:1: exemptions[0].reason: is missing"},
      {"exemptions: [{service: payments, reason: r}]\n",
       "t.yaml:1: the exemption would never hold, because anyone may write labels; add a "
       "namespace, or bind the service to its namespaces in parties"},
      {"exemptions: [{selector: {a: b}, reason: r}]\n",
       "t.yaml:1: the exemption would never hold, because anyone may write labels; add a "
       "namespace, or bind the service to its namespaces in parties"},
      {"naming: {template: \"{service}\"}\n",
       "t.yaml:1: naming: has no effect while the rule is off; begin with rules: "
       "{naming-convention: {mode: audit}}"},
      {on + "naming:\n  template: \"{service}-{stage}\"\n",
       "t.yaml:3: naming.template: unknown variable {stage}; the variables are service, env, type, "
       "team, region, account, suffix"},
      {on + "naming:\n  template: \"{service}{env}\"\n",
       "t.yaml:3: naming.template: has {service} and {env} side by side; put a separator between "
       "them"},
      {on + "naming:\n  template: \"{service\"\n",
       "t.yaml:3: naming.template: has a '{' without '}'"},
      {on + "naming:\n  template: \"fixed\"\n",
       "t.yaml:3: naming.template: has no variable outside brackets; all names would be one"},
      {on + "naming:\n  template: \"{env}-{env}\"\n", "t.yaml:3: naming.template: has {env} twice"},
      {on + "naming:\n  template: \"{env}[-{service}\"\n",
       "t.yaml:3: naming.template: has a '[' without ']'"},
      {on + "naming:\n  template: \"{service} {env}\"\n",
       "t.yaml:3: naming.template: holds a character that no name has; use letters, digits, - _ . "
       "/"},
      {on + "naming:\n  template: \"{service}_{env}\"\n",
       "t.yaml:3: naming.template: cannot name cloudformation/Stack: a name such as \"svc_dev\" "
       "contains \"_\", where AWS allows a-z, A-Z, 0-9 and -; give the type a template of its own "
       "in naming.templates, or list in naming.types only those that it fits"},
      {on + "naming:\n  types: [s3/Bucket]\n  templates:\n    s3/Bucket: \"{service}_{env}\"\n",
       "t.yaml:5: naming.templates.s3/Bucket: cannot name s3/Bucket: a name such as \"svc_dev\" "
       "contains \"_\", where AWS allows a-z, 0-9 and - .; give the type a template of its own in "
       "naming.templates, or list in naming.types only those that it fits"},
      {on + "naming:\n  types: [elbv2/LB]\n  template: "
            "\"{service}-these-load-balancers-of-the-{env}\"\n",
       "t.yaml:4: naming.template: cannot name elbv2/LB: its names have at least 33 bytes, and 32 "
       "are allowed; give the type a template of its own in naming.templates, or list in "
       "naming.types only those that it fits"},
      {on + "naming:\n  types: [s3/Bukcet]\n",
       "t.yaml:3: naming.types: no type 's3/Bukcet'; did you mean 's3/Bucket'?"},
      {on + "naming:\n  types: [s3/BucketPolicy]\n",
       "t.yaml:3: naming.types: s3/BucketPolicy has no name that users give; remove it"},
      {on + "naming:\n  types: [cloudwatchlogs/Group]\n",
       "t.yaml:3: naming.template: cloudwatchlogs/Group has no abbreviation for {type}; give it "
       "one in naming.variables.type.map, or a template without {type}"},
      {on + "naming:\n  maxLengths: {s3/Bucket: 64}\n",
       "t.yaml:3: naming.maxLengths.s3/Bucket: is more than AWS allows, which is 63"},
      {on + "naming:\n  maxLengths: {s3/Bucket: none}\n",
       "t.yaml:3: naming.maxLengths.s3/Bucket: must be a whole number, 1 to 1024"},
      {on + "naming:\n  maxLengths: {s3/Bucket: 5}\n",
       "t.yaml:3: naming.template: cannot name s3/Bucket: its names have at least 12 bytes, and 5 "
       "are allowed; give the type a template of its own in naming.templates, or list in "
       "naming.types only those that it fits"},
      {on + "naming:\n  variables:\n    env: {pattern: \"(prod\"}\n",
       "t.yaml:4: naming.variables.env.pattern: RE2 refuses the pattern (missing ): (prod); write "
       "one in RE2's syntax, without look-ahead, back-references or great counts"},
      {on + "naming:\n  variables:\n    env: {pattern: \"(?=prod).*\"}\n",
       "t.yaml:4: naming.variables.env.pattern: RE2 refuses the pattern (invalid perl operator: "
       "(?=); write one in RE2's syntax, without look-ahead, back-references or great counts"},
      {on + "naming:\n  variables:\n    env: {pattern: \"((a{100}){100}){100}\"}\n",
       "t.yaml:4: naming.variables.env.pattern: RE2 refuses the pattern (invalid repetition size: "
       "{100}); write one in RE2's syntax, without look-ahead, back-references or great counts"},
      {on + "naming:\n  variables:\n    env: {values: [prod], pattern: \"[0-9]+\"}\n",
       "t.yaml:4: naming.variables.env.values: 'prod' does not match the pattern beside it; "
       "correct one of the two"},
      {on + "naming:\n  variables:\n    env: {values: [prod], map: {live: production}}\n",
       "t.yaml:4: naming.variables.env.map.live: 'production' is not among the values; add it "
       "there"},
      {on + "naming:\n  variables:\n    env: {values: []}\n",
       "t.yaml:4: naming.variables.env.values: is empty: no name could conform"},
      {on + "naming:\n  variables:\n    env: {from: [{namespace: \"prod\"}]}\n",
       "t.yaml:4: naming.variables.env.from: needs exactly one (group), which is the value"},
      {on + "naming:\n  variables:\n    env: {from: [{label: a, fixed: b}]}\n",
       "t.yaml:4: naming.variables.env.from[0]: must have exactly one of declared, label, "
       "namespace, providerConfig, fixed"},
      {on + "naming:\n  variables:\n    stage: {values: [a]}\n",
       "t.yaml:4: naming.variables.stage: unknown key; the keys are service, env, type, team, "
       "region, account, suffix"},
      {on + "naming:\n  variables:\n    type: {values: [a]}\n",
       "t.yaml:4: naming.variables.type.values: unknown key; the keys are map"},
      {on + "naming:\n  variables:\n    type: {map: {s3/Bukcet: b}}\n",
       "t.yaml:4: naming.variables.type.map.s3/Bukcet: no type 's3/Bukcet'; did you mean "
       "'s3/Bucket'?"},
      {on + "naming: [template]\n",
       "t.yaml:2: naming: is not a map; its keys are template, templates, types, maxLengths, "
       "variables"},
  };
  for (const Row& row : rows) {
    const auto policy = Build(row.text);
    ASSERT_FALSE(policy.ok()) << row.text;
    const std::string& message = policy.error().message;
    EXPECT_EQ(message, row.message) << row.text << "\n";
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  }
}

TEST(PolicySettings, TheDefaultTemplateNamesEveryTypeWithAnAbbreviation) {
  const auto policy = Build("rules: {naming-convention: {mode: enforce}}\n");
  ASSERT_TRUE(policy.ok()) << policy.error().message;
  const NamePolicy& names = *policy.value()->names;
  std::size_t covered = 0;
  for (const AwsNameRow& row : BuiltInAwsNames()) {
    if (!row.abbreviation.empty()) ++covered;
    EXPECT_EQ(names.convention->Covers(row.type), !row.abbreviation.empty()) << row.type;
  }
  EXPECT_GE(covered, 60U);
}

// What tenants may write must not deny.
TEST(PolicySettings, StatusesAreGuardedOnlyWhileTheirRuleIsNotMadeLaxer) {
  const auto guarded = [](const std::string& text) {
    const auto policy = Build("statusGuard: true\n" + text);
    EXPECT_TRUE(policy.ok()) << policy.error().message;
    EXPECT_TRUE(policy.value()->status_entry);
    return policy.value()->parties.statuses_guarded;
  };
  EXPECT_TRUE(guarded(""));
  EXPECT_TRUE(guarded("rules: {status-names: {mode: enforce}}\n"));
  EXPECT_FALSE(guarded("rules: {status-names: {mode: warn}}\n"));
  EXPECT_FALSE(guarded("rules: {status-names: {modes: [{namespace: team-a, mode: off}]}}\n"));
  EXPECT_FALSE(guarded("exemptions: [{rule: status-names, namespace: a, reason: r}]\n"));
  EXPECT_TRUE(guarded("exemptions: [{rule: aws-name, namespace: a, reason: r}]\n"));
  EXPECT_FALSE(Build("").value()->parties.statuses_guarded);
}

// A rule that the list knows and configuration does not could never be switched on.
TEST(PolicySettings, EveryRuleHasAModeButThoseThatRefuseNothingByThemselves) {
  for (const RuleSpec& spec : RuleList()) {
    const std::string id(spec.id);
    const auto policy = Build("rules: {" + id + ": {mode: warn}}\n");
    const bool fixed = spec.rule == Rule::kReservationCap || spec.rule == Rule::kUnclearDeclaration;
    EXPECT_EQ(policy.ok(), !fixed) << id;
    EXPECT_EQ(RuleFromName(id), spec.rule);
    EXPECT_EQ(Name(spec.rule), id);
    EXPECT_EQ(IsOptIn(spec.rule), spec.opt_in);
    if (!policy.ok()) continue;
    const auto& entries = policy.value()->modes.rules[static_cast<std::size_t>(spec.rule)];
    ASSERT_EQ(entries.size(), 1U) << id;
    EXPECT_EQ(entries[0].mode, Mode::kWarn);
  }
}

TEST(PolicySettings, WithoutRulesOnlyAwsIsAsked) {
  const auto policy = Build("");
  ASSERT_TRUE(policy.ok());
  EXPECT_FALSE(policy.value()->names->convention.has_value());
  EXPECT_TRUE(policy.value()->names->label_keys.empty());
}

TEST(PolicySettings, LabelsThatAnythingReadsAreKept) {
  const auto policy = Build(
      "rules:\n  naming-convention: {mode: warn}\n  aws-name: {modes: [{selector: {b: x1}, mode: "
      "warn}]}\n"
      "exemptions: [{namespace: ns, selector: {c: z1}, reason: r}]\n"
      "naming: {variables: {env: {from: [{label: a}]}}}\n");
  ASSERT_TRUE(policy.ok()) << policy.error().message;
  EXPECT_EQ(policy.value()->names->label_keys, (std::vector<std::string>{"a", "b", "c"}));
}

TEST(AwsNamesTest, EveryRowNamesATypeOfTheCatalogue) {
  EXPECT_GE(BuiltInAwsNames().size(), 60U);
  for (const AwsNameRow& row : BuiltInAwsNames()) {
    const TypeSpec* type = Catalogue::BuiltIn().FindType(row.type);
    ASSERT_NE(type, nullptr) << row.type;
    EXPECT_FALSE(type->name_rule.part.empty()) << row.type;
  }
  for (const TypeSpec& type : Catalogue::BuiltIn().types()) {
    if (type.name_rule.part.empty()) continue;
    const auto rows = BuiltInAwsNames();
    EXPECT_TRUE(std::any_of(rows.begin(), rows.end(),
                            [&](const AwsNameRow& row) { return row.type == type.name; }))
        << type.name << " has a rule for names, but no row in schema/aws-names.tsv";
  }
}

TEST(AwsNamesTest, FaultyFilesAreRefusedWithTheirPlace) {
  const std::string head = "type\tabbreviation\tcertainty\tchecks\tsource\n";
  const std::vector<Row> rows = {
      {"type\tsource\n",
       "f.tsv:1: header: must name the columns type, abbreviation, certainty, checks and source"},
      {head + "s3/Bucket\tbucket\n",
       "f.tsv:2: row: has 2 cells; 5 are needed, one tab between them"},
      {head + "s3/Bucket\tBucket\tresearched\t-\tS3\n",
       "f.tsv:2: abbreviation: must be of a-z and 0-9, which every type allows"},
      {head + "s3/Bucket\tbucket\tsure\t-\tS3\n",
       "f.tsv:2: certainty: must be researched or judged"},
      {head + "s3/Bucket\tbucket\tjudged\tnone=x\tS3\n",
       "f.tsv:2: checks: no check is called 'none'; the head of the file lists all"},
      {head + "s3/Bucket\tbucket\tjudged\tno-prefix=a||b\tS3\n",
       "f.tsv:2: checks: 'no-prefix' has an empty alternative; write A|B"},
      {head + "s3/Bucket\tbucket\tjudged\tdepth=x\tS3\n",
       "f.tsv:2: checks: 'depth' needs a whole number after '='"},
      {head + "s3/Bucket\tbucket\tjudged\t-\t-\n",
       "f.tsv:2: source: is missing; say where AWS states the rule"},
      {head + "a/B\t-\tjudged\t-\tS\na/B\t-\tjudged\t-\tS\n",
       "f.tsv:3: type: stands in a row above already"},
  };
  for (const Row& row : rows) {
    const auto parsed = ParseAwsNames(row.text, "f.tsv");
    ASSERT_FALSE(parsed.ok()) << row.text;
    EXPECT_EQ(parsed.error().message, row.message);
  }
}

TEST(ShortenedTest, LongTextsStayTwo) {
  EXPECT_EQ(Shortened("short", 5, "-"), "short");
  const std::string one = Shortened("a-very-long-name-of-a-service-one", 20, "-");
  const std::string two = Shortened("a-very-long-name-of-a-service-two", 20, "-");
  EXPECT_EQ(one.size(), 20U);
  EXPECT_NE(one, two);
  EXPECT_EQ(one.substr(0, 13), "a-very-long-n");
  EXPECT_EQ(Shortened("a-very-long-name-of-a-service-one", 20, "-"), one);
  EXPECT_EQ(Shortened("abcdefghijkl", 7, "-"), "");
}

}  // namespace policies_settings_test
}  // namespace truce
