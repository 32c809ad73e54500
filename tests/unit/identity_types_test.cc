// Table vectors: what a declaration of each family of types declares
// (tests/golden/identity/types.tsv).
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "registry/identity/identity.h"
#include "tests/support/identity_text.h"
#include "tests/support/json_document.h"

namespace truce {
namespace identity_types_test {

constexpr const char* kPath = TRUCE_SOURCE_DIR "/tests/golden/identity/types.tsv";
constexpr const char* kAccount = "111111111111";

struct Vector {
  std::string reason;
  GroupKind kind;
  std::string object;
  std::string keys;
  std::string arn;
  std::string input;  // the columns before keys and arn, as they stand in the file
};

std::vector<std::string> Split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::stringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

std::string ObjectJson(const std::string& place, const std::string& external,
                       const std::string& for_provider) {
  const std::size_t slash = place.find('/');
  std::string metadata = "\"name\":\"" + place.substr(slash == place.npos ? 0 : slash + 1) + "\"";
  if (slash != place.npos) metadata += ",\"namespace\":\"" + place.substr(0, slash) + "\"";
  if (external != "-") {
    const std::string value = external == "\"\"" ? "" : external;
    metadata += ",\"annotations\":{\"crossplane.io/external-name\":\"" + value + "\"}";
  }
  return "{\"metadata\":{" + metadata + "},\"spec\":{\"forProvider\":" + for_provider + "}}";
}

std::vector<Vector> ReadVectors(std::vector<std::string>& comments) {
  std::vector<Vector> vectors;
  std::ifstream file(kPath);
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#')) {
      comments.push_back(line);
      continue;
    }
    const std::vector<std::string> cells = Split(line, '\t');
    if (cells.size() != 7) {
      ADD_FAILURE() << "not seven columns: " << line;
      continue;
    }
    const std::size_t dot = cells[1].find('.');
    vectors.push_back({cells[0],
                       {cells[1].substr(dot + 1), cells[1].substr(0, dot)},
                       ObjectJson(cells[2], cells[3], cells[4]),
                       cells[5],
                       cells[6],
                       line.substr(0, line.size() - cells[5].size() - cells[6].size() - 1)});
  }
  return vectors;
}

IdentityRules Rules() {
  IdentityRules rules;
  rules.cluster = "local";
  rules.catalogue = &Catalogue::BuiltIn();
  rules.accounts = {
      {{"aws.upbound.io", "ProviderConfig", "", "default"}, kAccount},
      {{"aws.m.upbound.io", "ClusterProviderConfig", "", "default"}, kAccount},
      {{"aws.crossplane.io", "ProviderConfig", "", "default"}, kAccount},
  };
  return rules;
}

struct Outcome {
  std::string keys;
  std::string arn = "-";
};

Outcome OutcomeOf(const Vector& vector, const IdentityRules& rules) {
  const Document document = DocumentFromJson(vector.object);
  EXPECT_TRUE(document.root().is_object()) << vector.object;
  const ObjectFacts facts = Identify(document.root(), vector.kind, rules);
  EXPECT_TRUE(facts.bad_names.empty());
  Outcome outcome;
  for (const DeclaredResource& resource : facts.resources) {
    EXPECT_EQ(resource.key().empty(), !resource.missing.empty());
    EXPECT_FALSE(resource.name.find('\n') != std::string::npos);
    EXPECT_EQ(IdentityFromText(ToText(resource.identity)), resource.identity);
    if (!outcome.keys.empty()) outcome.keys += ' ';
    outcome.keys += resource.key().empty() ? "?" : resource.key().text;
  }
  if (outcome.keys.empty()) outcome.keys = "-";
  if (!facts.resources.empty() && !facts.resources.front().arn.empty()) {
    outcome.arn = facts.resources.front().arn;
  }
  return outcome;
}

TEST(IdentityTypes, EachVectorDeclaresItsKeys) {
  const IdentityRules rules = Rules();
  std::vector<std::string> lines;
  const std::vector<Vector> vectors = ReadVectors(lines);
  std::set<std::string> types;
  for (const Vector& vector : vectors) {
    SCOPED_TRACE(vector.reason);
    const Outcome outcome = OutcomeOf(vector, rules);
    lines.push_back(vector.input + outcome.keys + "\t" + outcome.arn);
    if (const KindEntry* entry = rules.catalogue->FindKind(vector.kind.group, vector.kind.kind)) {
      types.insert(entry->type->name);
    }
    if (std::getenv("TRUCE_UPDATE_GOLDEN") != nullptr) continue;
    EXPECT_EQ(outcome.keys, vector.keys);
    EXPECT_EQ(outcome.arn, vector.arn);
  }
  EXPECT_GE(types.size(), 60U) << "the table must go on covering at least 60 types";
  if (std::getenv("TRUCE_UPDATE_GOLDEN") == nullptr) return;
  std::ofstream file(kPath);
  for (const std::string& line : lines) file << line << '\n';
}

// One sample of every kind of the catalogue: whatever the row says, the same input gives the same
// key in each flavour, the key has the row's space, and identity and key round-trip.
TEST(IdentityTypes, EveryKindOfTheCatalogueIsReadable) {
  const IdentityRules rules = Rules();
  const Document document = DocumentFromJson(ObjectJson("sample", "sample", "{}"));
  std::size_t kinds = 0;
  for (const TypeSpec& type : rules.catalogue->types()) {
    for (const KindSpec& kind : type.kinds) {
      SCOPED_TRACE(kind.kind + "." + kind.group);
      const ObjectFacts facts = Identify(document.root(), {kind.group, kind.kind}, rules);
      EXPECT_TRUE(facts.known_kind && facts.managed);
      ASSERT_EQ(facts.resources.size(), 1U);
      const DeclaredResource& resource = facts.resources.front();
      EXPECT_EQ(resource.identity.type, type.name);
      EXPECT_EQ(resource.late, type.Late(kind.flavour));
      EXPECT_EQ(resource.key().empty(), !resource.missing.empty());
      const std::optional<KeyText> again = KeyOf(resource.identity, type);
      EXPECT_TRUE(resource.key().empty() || again == resource.key());
      EXPECT_TRUE(resource.key().empty() || resource.key().text.starts_with(type.space + "|aws|"));
      ++kinds;
    }
  }
  EXPECT_GT(kinds, 2000U);
}

}  // namespace identity_types_test
}  // namespace truce
