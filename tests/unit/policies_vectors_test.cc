// Runs every case of policies/vectors through the C++ rules, by the path of a review.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "policies/name_rules.h"
#include "policies/policy.h"
#include "policies/rule_case.h"
#include "tests/support/policy_vectors.h"
#include "webhook/check/manifest_reader.h"
#include "webhook/config/load.h"
#include "webhook/config/policy.h"

namespace truce {
namespace policies_vectors_test {

const std::vector<PolicyVector>& Vectors() {
  static const auto kVectors =
      ReadPolicyVectors(std::string(TRUCE_SOURCE_DIR) + "/policies/vectors");
  if (!kVectors.ok()) ADD_FAILURE() << kVectors.error().message;
  static const std::vector<PolicyVector> kNone;
  return kVectors.ok() ? kVectors.value() : kNone;
}

std::shared_ptr<const Catalogue> BuiltIn() {
  return {std::shared_ptr<void>(), &Catalogue::BuiltIn()};
}

Result<std::shared_ptr<const AdmissionPolicy>> BuildPolicy(const std::string& text) {
  TRUCE_ASSIGN_OR_RETURN(
      const LoadedConfig loaded,
      LoadConfigFrom({.file = "policy.yaml", .flags = {}, .variables = {}}, text));
  return PolicyFrom(loaded.config, BuiltIn());
}

// Null when the policy is refused, which fails the test.
std::shared_ptr<const AdmissionPolicy> PolicyOf(const std::string& text) {
  static std::map<std::string, std::shared_ptr<const AdmissionPolicy>> policies;
  auto& policy = policies[text];
  if (policy != nullptr) return policy;
  auto made = BuildPolicy(text);
  if (!made.ok()) ADD_FAILURE() << made.error().message;
  if (made.ok()) policy = std::move(made).value();
  return policy;
}

ObjectFacts FactsOf(const Document& document, const AdmissionPolicy& policy) {
  const Value root = document.root();
  const std::string_view version = root.Child("apiVersion").text();
  const GroupKind kind{std::string(version.substr(0, version.find('/'))),
                       std::string(root.Child("kind").text())};
  return Identify(root, kind, policy.identity);
}

std::vector<Finding> Judge(const PolicyVector& vector, const AdmissionPolicy& policy) {
  const Document document = ReadDocument(vector.object);
  const ObjectFacts object = FactsOf(document, policy);
  std::optional<ObjectFacts> old;
  if (vector.before) {
    const Document before = ReadDocument(*vector.before);
    old = FactsOf(before, policy);
  }
  EXPECT_TRUE(object.known_kind) << vector.id;
  const NameEvidence evidence = ReadEvidence(document.root(), object, policy);
  return JudgeNames({.policy = &policy,
                     .object = &object,
                     .old_object = old ? &*old : nullptr,
                     .evidence = &evidence,
                     .root = &object.slot,
                     .now = vector.at});
}

std::string Shown(const std::vector<Finding>& findings) {
  std::string out;
  for (const Finding& finding : findings) {
    out.append("\n  ").append(Name(finding.rule)).append(" ").append(Name(finding.mode));
    out.append(": ").append(finding.cause).append(" ").append(finding.remedy);
    out.append("\n    ").append(finding.warning);
  }
  return out.empty() ? "\n  nothing" : out;
}

TEST(PolicyVectors, AllAgree) {
  for (const PolicyVector& vector : Vectors()) {
    SCOPED_TRACE(vector.place + " " + vector.id);
    const auto policy = PolicyOf(vector.policy);
    ASSERT_NE(policy, nullptr);
    const std::vector<Finding> findings = Judge(vector, *policy);
    EXPECT_EQ(findings.size(), vector.expect.size()) << Shown(findings);
    for (std::size_t i = 0; i < std::min(findings.size(), vector.expect.size()); ++i) {
      const ExpectedFinding& expected = vector.expect[i];
      EXPECT_EQ(Name(findings[i].rule), expected.rule) << Shown(findings);
      EXPECT_EQ(Name(findings[i].mode), expected.mode) << Shown(findings);
      const std::string text = findings[i].cause + " " + findings[i].remedy;
      for (const std::string& part : expected.says) {
        EXPECT_NE(text.find(part), std::string::npos) << part << Shown(findings);
      }
      EXPECT_LE(findings[i].warning.size(), kWarningBytesMax);
      EXPECT_TRUE(findings[i].warning.starts_with("truce: ")) << findings[i].warning;
      EXPECT_EQ(text.find_first_of("\n\r\t"), std::string::npos);
    }
  }
}

TEST(PolicyVectors, AreEnough) { EXPECT_GE(Vectors().size(), 150U); }

// A name that a text proposes is accepted under the same policy.
TEST(PolicyVectors, EverySuggestionIsAccepted) {
  for (const PolicyVector& vector : Vectors()) {
    const auto policy = PolicyOf(vector.policy);
    ASSERT_NE(policy, nullptr);
    for (const Finding& finding : Judge(vector, *policy)) {
      for (const std::string_view lead : {"Name it \"", ", for example \""}) {
        const std::size_t at = finding.remedy.find(lead);
        if (at == std::string::npos) continue;
        const std::size_t begin = at + lead.size();
        const std::string name =
            finding.remedy.substr(begin, finding.remedy.find('"', begin) - begin);
        if (name.find('<') != std::string::npos) continue;
        PolicyVector renamed = vector;
        renamed.before.reset();
        std::vector<YamlNode*> todo = {&renamed.object};
        const std::size_t quote = finding.resource.find('"');
        const std::string was =
            finding.resource.substr(quote + 1, finding.resource.rfind('"') - quote - 1);
        while (!todo.empty()) {
          YamlNode* node = todo.back();
          todo.pop_back();
          if (node->kind == YamlNode::Kind::kScalar && node->scalar == was) node->scalar = name;
          for (YamlNode& child : node->children) todo.push_back(&child);
        }
        if (Judge(renamed, *policy) == Judge(vector, *policy)) continue;  // escaped
        EXPECT_TRUE(Judge(renamed, *policy).empty())
            << vector.place << " " << name << Shown(Judge(renamed, *policy));
      }
    }
  }
}

}  // namespace policies_vectors_test
}  // namespace truce
