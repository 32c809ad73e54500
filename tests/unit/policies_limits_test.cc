// Names at every limit, empty, and hostile, over all rules; and that no name and no pattern of a
// user makes a rule slower than its length.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "policies/name_rules.h"
#include "policies/rule_case.h"
#include "registry/base/text.h"
#include "registry/identity/values.h"
#include "tests/support/cpu_time.h"
#include "tests/support/policy_of.h"

namespace truce {
namespace policies_limits_test {

const AdmissionPolicy& Everything() {
  static const auto kPolicy = PolicyOf("rules: {naming-convention: {mode: enforce}}\n");
  return *kPolicy;
}

// `length` bytes that most types take.
std::string Plain(std::size_t length) { return std::string(length, 'a'); }

// A name of exactly `length` bytes that AWS takes; empty when none of the usual forms fits.
std::string NameOfLength(const AwsNameRule& rule, std::size_t length) {
  for (const std::string begin : {"", "/", "alias/", "arn:aws:", "A"}) {
    for (const std::string end : {"", ".fifo", ".com", "/"}) {
      if (begin.size() + end.size() > length) continue;
      std::string name = begin + Plain(length - begin.size() - end.size()) + end;
      if (!rule.FaultOf(name, std::nullopt)) return name;
    }
  }
  // Parts of at most 63 bytes, as DNS has them.
  std::string labels = Plain(length);
  for (std::size_t i = 50; i + 1 < length; i += 50) labels[i] = '.';
  return rule.FaultOf(labels, std::nullopt) ? std::string() : labels;
}

TEST(NameLimits, EveryTypeWithALengthHasItKeptToTheByte) {
  std::size_t bounded = 0;
  std::vector<std::string> none;  // types without a name of one of their own limits
  for (const auto& [type, rule] : Everything().names->aws->rules()) {
    SCOPED_TRACE(type);
    const std::size_t least = std::max<std::size_t>(rule.min_length(), 1);
    if (rule.min_length() > 1) {
      const auto fault = rule.FaultOf(Plain(least - 1), std::nullopt);
      ASSERT_TRUE(fault.has_value());
      EXPECT_EQ(fault->reason, "has " + std::to_string(least - 1) +
                                   (least == 2 ? " byte" : " bytes") + ", and AWS wants at least " +
                                   std::to_string(least));
    }
    if (rule.max_length() == 0) continue;
    ++bounded;
    const auto fault = rule.FaultOf(Plain(rule.max_length() + 1), std::nullopt);
    ASSERT_TRUE(fault.has_value());
    EXPECT_FALSE(fault->warns);
    EXPECT_EQ(fault->reason, "has " + std::to_string(rule.max_length() + 1) +
                                 " bytes, and AWS allows at most " +
                                 std::to_string(rule.max_length()));
    for (const std::size_t length : {least, rule.max_length()}) {
      if (NameOfLength(rule, length).empty()) none.push_back(type + " " + std::to_string(length));
    }
    const std::string near = rule.Near(Plain(rule.max_length() + 1), std::nullopt);
    EXPECT_LE(near.size(), rule.max_length());
  }
  EXPECT_GE(bounded, 60U);
  EXPECT_EQ(none, std::vector<std::string>());
}

// What a finding shows, word by word, with the resource's name out of a hostile object.
std::vector<Finding> FindingsOf(const std::string& type, const std::string& name) {
  const AdmissionPolicy& policy = Everything();
  const AwsNameRule* rule = policy.names->aws->Find(type);
  ObjectFacts object;
  object.slot = {"local", "x.aws.upbound.io", "Thing", "", "thing"};
  object.service = "payments";
  DeclaredResource resource;
  resource.identity.type = type;
  resource.identity.parts = {{rule->part(), name}};
  resource.name = name;
  object.resources = {resource};
  const NameEvidence evidence;
  return JudgeNames(
      {.policy = &policy, .object = &object, .evidence = &evidence, .root = &object.slot});
}

bool IsOneLine(const std::string& text) {
  return std::none_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 || byte == 0x7F;
  });
}

TEST(NameLimits, AnEmptyNameIsRefusedByEveryType) {
  for (const auto& [type, rule] : Everything().names->aws->rules()) {
    const auto fault = rule.FaultOf("", std::nullopt);
    ASSERT_TRUE(fault.has_value()) << type;
    EXPECT_EQ(fault->reason, "is empty") << type;
    EXPECT_EQ(FindingsOf(type, ""), std::vector<Finding>()) << type;  // not known yet
  }
}

TEST(NameLimits, HostileNamesGiveOneLineAndABetterName) {
  const std::vector<std::string> names = {"pay%sments",
                                          "%n%n%n%n",
                                          "pay\"ments",
                                          "pay'ments",
                                          "pay`ments",
                                          "pay\nments",
                                          "pay\r\n\r\nments",
                                          "pay\tments",
                                          "zahlungen-für-alle",
                                          "支払い",
                                          "pay\xF0\x9F\x92\xB8",
                                          "pay\xE2\x80\x8Bments",
                                          "\xFF\xFE",
                                          std::string("pay\0ments", 9),
                                          "<script>",
                                          "map[a:b]",
                                          " ",
                                          ".",
                                          "-",
                                          "$(reboot)",
                                          "'; drop--",
                                          std::string(1024, '%')};
  for (const auto& [type, rule] : Everything().names->aws->rules()) {
    for (const std::string& name : names) {
      SCOPED_TRACE(type + " " + OneLine(name, 40));
      for (const std::optional<bool> fifo : {std::optional<bool>(), std::optional<bool>(true)}) {
        const std::string near = rule.Near(name, fifo);
        EXPECT_TRUE(near.empty() || !rule.FaultOf(near, fifo)) << near;
      }
      for (const Finding& finding : FindingsOf(type, name)) {
        EXPECT_TRUE(IsOneLine(finding.cause)) << finding.cause;
        EXPECT_TRUE(IsOneLine(finding.remedy)) << finding.remedy;
        EXPECT_TRUE(IsOneLine(finding.warning)) << finding.warning;
        EXPECT_TRUE(IsOneLine(finding.resource)) << finding.resource;
        EXPECT_LE(finding.warning.size(), kWarningBytesMax);
        EXPECT_LE((finding.cause + finding.remedy).size(), kMessageBytesMax / 2);
      }
    }
  }
}

// Where a name breaks lines or hides characters, AWS's rule refuses it whatever the type.
TEST(NameLimits, ControlCharactersAreNoNamesAnywhere) {
  for (const auto& [type, rule] : Everything().names->aws->rules()) {
    for (const std::string& name : {std::string("pay\nments"), std::string("pay\0ments", 9)}) {
      const bool by_aws = rule.FaultOf(name, std::nullopt).has_value();
      EXPECT_TRUE(by_aws || WhyBad(name, KeyAlphabet::kUnicode).has_value()) << type;
    }
  }
}

TEST(NameLimits, SuggestionsOfTheConventionConformAndAreTakenByAws) {
  const auto policy = PolicyOf(
      "rules: {naming-convention: {mode: enforce}}\n"
      "naming: {variables: {env: {from: [{label: env}]}}}\n");
  const NamePolicy& names = *policy->names;
  std::set<std::string> types;
  for (const auto& [type, rule] : names.aws->rules()) {
    if (!names.convention->Covers(type)) continue;
    for (const std::size_t length :
         {std::size_t{1}, std::max<std::size_t>(rule.max_length(), 20), std::size_t{1024}}) {
      const std::string name = Plain(length);
      // A service so long that it must be shortened.
      for (const std::string& service : {std::string("pay"), Plain(200)}) {
        const std::vector<std::pair<std::string, std::string>> labels = {{"env", "prod"}};
        const NameFacts facts{.type = type, .name = name, .service = service, .labels = labels};
        const auto fault = names.convention->FaultOf(facts);
        ASSERT_TRUE(fault.has_value()) << type;
        EXPECT_FALSE(fault->expected.empty());
        if (fault->suggestion.empty()) continue;
        types.insert(type);
        NameFacts better = facts;
        better.name = fault->suggestion;
        EXPECT_EQ(names.convention->FaultOf(better), std::nullopt) << type << fault->suggestion;
        EXPECT_EQ(rule.FaultOf(fault->suggestion, std::nullopt), std::nullopt)
            << type << fault->suggestion;
      }
    }
  }
  EXPECT_GE(types.size(), 60U);
}

// CPU seconds of `work`, the least of several runs.
template <typename Work>
double Cost(const Work& work) {
  double least = std::numeric_limits<double>::max();
  for (int run = 0; run < 5; ++run) {
    const double began = testing::CpuSeconds();
    work();
    least = std::min(least, testing::CpuSeconds() - began);
  }
  return least;
}

// Sixteen times the length: linear time gives 16, quadratic 256, a backtracking matcher never ends.
constexpr std::size_t kShort = 2000;
constexpr std::size_t kLong = 16 * kShort;
constexpr double kFactorMax = 96;

TEST(NameTime, PatternsThatBlowUpElsewhereTakeLinearTime) {
  for (const std::string pattern :
       {"(a+)+", "(a|aa)+", "(a|a)*b?", "(.*a){12}", "([a-z]+)*", "a*a*a*a*a*a*a*b?"}) {
    const auto policy = PolicyOf(
        "rules: {naming-convention: {mode: enforce}}\n"
        "naming: {types: [s3/Bucket], variables: {service: {pattern: \"" +
        pattern + "\"}}}\n");
    const auto cost = [&](std::size_t length) {
      const std::string name = Plain(length) + "!";
      const NameFacts facts{.type = "s3/Bucket", .name = name};
      return Cost([&] { EXPECT_TRUE(policy->names->convention->FaultOf(facts).has_value()); });
    };
    EXPECT_LT(cost(kLong), kFactorMax * cost(kShort)) << pattern;
  }
}

TEST(NameTime, SourcesThroughPatternsTakeLinearTime) {
  const auto policy = PolicyOf(
      "rules: {naming-convention: {mode: enforce}}\n"
      "naming: {types: [s3/Bucket], variables: {env: {from: [{namespace: "
      "\"(?:a+)+-([a-z]+)\"}]}}}\n");
  const auto cost = [&](std::size_t length) {
    const std::string ns = Plain(length);
    const NameFacts facts{.type = "s3/Bucket", .name = "pay-prod-bucket", .ns = ns};
    return Cost([&] { static_cast<void>(policy->names->convention->FaultOf(facts)); });
  };
  EXPECT_LT(cost(kLong), kFactorMax * cost(kShort));
}

TEST(NameTime, GlobsOfManyStarsTakeLinearTime) {
  std::string pattern;
  for (int i = 0; i < 20; ++i) pattern += "*a";
  const auto cost = [&](std::size_t length) {
    const std::string text = Plain(length) + "b";
    return Cost([&] { EXPECT_FALSE(MatchesGlob(text, pattern)); });
  };
  EXPECT_LT(cost(kLong), kFactorMax * cost(kShort));
}

// Texts are looked at eight bytes at a time: each byte counts in each place, whatever stands
// beside.
TEST(OneLineOfText, EscapesEachByteThatIsNotPrintable) {
  for (const char beside : {'~', ' ', 'x'}) {
    for (std::size_t at = 0; at < 19; ++at) {
      for (int byte = 0; byte < 256; ++byte) {
        std::string text(19, beside);
        text[at] = static_cast<char>(byte);
        const bool printable = byte >= ' ' && byte <= '~';
        EXPECT_EQ(OneLine(text, 400) == text, printable) << byte << " at " << at;
      }
    }
  }
}

TEST(NameTime, AwsRulesTakeLinearTime) {
  const auto cost = [&](std::size_t length) {
    const std::string name = Plain(length) + "!";
    return Cost([&] {
      for (const auto& [type, rule] : Everything().names->aws->rules()) {
        EXPECT_TRUE(rule.FaultOf(name, std::nullopt).has_value() || rule.max_length() == 0);
      }
    });
  };
  EXPECT_LT(cost(kLong), kFactorMax * cost(kShort));
}

}  // namespace policies_limits_test
}  // namespace truce
