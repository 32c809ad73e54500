// Field paths and mapping rules: what they accept, what they find, what they declare.
#include "registry/identity/mapping.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "registry/identity/identity.h"
#include "tests/support/json_document.h"

namespace truce {
namespace mapping_test {

using Root = FieldPath::Root;

const GroupKind kClaim{"platform.example.org", "ObjectStorage"};

FieldPath Path(std::string_view text, Root root) {
  Result<FieldPath> path = FieldPath::Parse(text, root);
  EXPECT_TRUE(path.ok()) << text << ": " << (path.ok() ? "" : path.error().message);
  return std::move(path).value();
}

PartSource From(std::string_view text) { return {Path(text, Root::kObject), ""}; }
PartSource FromValues(std::string_view text) { return {Path(text, Root::kValues), ""}; }
PartSource Constant(std::string text) { return {std::nullopt, std::move(text)}; }

MappedResource Declares(std::string type, std::map<std::string, PartSource> parts) {
  MappedResource resource;
  resource.type = std::move(type);
  resource.parts = std::move(parts);
  return resource;
}

Result<MappingRules> Create(std::vector<MappingRule> rules) {
  return MappingRules::Create(std::move(rules), Catalogue::BuiltIn());
}

TEST(FieldPath, AcceptsItsGrammarAndNothingElse) {
  struct Row {
    const char* text;
    Root root;
    const char* error;  // nullptr: accepted
  };
  const Row rows[] = {
      {"spec.parameters.name", Root::kObject, nullptr},
      {"metadata.name", Root::kObject, nullptr},
      {"labels.team", Root::kObject, nullptr},
      {"labels['app.kubernetes.io/name']", Root::kObject, nullptr},
      {"annotations[\"a.b/c\"]", Root::kObject, nullptr},
      {"metadata.annotations['a.b/c']", Root::kObject, nullptr},
      {"spec.buckets.*.name", Root::kObject, nullptr},
      {"spec.buckets[*].name", Root::kObject, nullptr},
      {"spec['odd name']", Root::kObject, nullptr},
      {"objectStorage.*.name", Root::kValues, nullptr},
      {"appName", Root::kValues, nullptr},
      {"*.name", Root::kValues, nullptr},
      {"a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p", Root::kValues, nullptr},
      {"a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q", Root::kValues,
       "field path \"a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q\", position 32: a path has at most 16 "
       "steps"},
      {"", Root::kValues, "field path \"\", position 1: expected a member name or \"*\""},
      {".a", Root::kValues, "field path \".a\", position 1: expected a member name or \"*\""},
      {"a.", Root::kValues, "field path \"a.\", position 3: expected a member name or \"*\""},
      {"a..b", Root::kValues, "field path \"a..b\", position 3: expected a member name or \"*\""},
      {"a b", Root::kValues,
       "field path \"a b\", position 2: write such a member name in brackets and quotes: ['...']"},
      {"a[0]", Root::kValues,
       "field path \"a[0]\", position 3: expected \"*\" or a quoted name after \"[\""},
      {"a[", Root::kValues,
       "field path \"a[\", position 3: expected \"*\" or a quoted name after \"[\""},
      {"a['b", Root::kValues, "field path \"a['b\", position 3: the quote is not closed"},
      {"a['']", Root::kValues, "field path \"a['']\", position 3: the name is empty"},
      {"a['b'", Root::kValues, "field path \"a['b'\", position 6: expected \"]\""},
      {"a['b']c", Root::kValues, "field path \"a['b']c\", position 7: expected \".\" or \"[\""},
      {"a*", Root::kValues, "field path \"a*\", position 3: \"*\" stands alone, for every element"},
      {"a]", Root::kValues,
       "field path \"a]\", position 2: write such a member name in brackets and quotes: ['...']"},
      {"a\nb", Root::kValues,
       "field path \"a\nb\", position 2: write such a member name in brackets and quotes: ['...']"},
      {"status.arn", Root::kObject,
       "field path \"status.arn\", position 1: a path starts at spec.<field>, labels.<key>, "
       "annotations.<key>, or is metadata.name"},
      {"spec", Root::kObject,
       "field path \"spec\", position 1: a path starts at spec.<field>, labels.<key>, "
       "annotations.<key>, or is metadata.name"},
      {"labels", Root::kObject,
       "field path \"labels\", position 1: a path starts at spec.<field>, labels.<key>, "
       "annotations.<key>, or is metadata.name"},
      {"metadata.namespace", Root::kObject,
       "field path \"metadata.namespace\", position 1: a path starts at spec.<field>, "
       "labels.<key>, annotations.<key>, or is metadata.name"},
      {"metadata.labels", Root::kObject,
       "field path \"metadata.labels\", position 1: a path starts at spec.<field>, labels.<key>, "
       "annotations.<key>, or is metadata.name"},
      {"metadata.name.x", Root::kObject,
       "field path \"metadata.name.x\", position 1: a path starts at spec.<field>, labels.<key>, "
       "annotations.<key>, or is metadata.name"},
      {"*.name", Root::kObject,
       "field path \"*.name\", position 1: a path starts at spec.<field>, labels.<key>, "
       "annotations.<key>, or is metadata.name"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.text);
    const Result<FieldPath> path = FieldPath::Parse(row.text, row.root);
    ASSERT_EQ(path.ok(), row.error == nullptr);
    if (row.error == nullptr) {
      EXPECT_EQ(path.value().text(), row.text);
      continue;
    }
    EXPECT_EQ(path.error().code, ErrorCode::kInvalidArgument);
    EXPECT_EQ(path.error().message, row.error);
  }
}

TEST(FieldPath, FindsValuesInDocumentOrder) {
  const Document document = DocumentFromJson(
      R"({"metadata":{"name":"n","labels":{"a.b/c":"v","x":"y"}},
          "spec":{"list":[{"name":"one"},{"other":1},{"name":"two"}],
                  "map":{"k1":{"list":[{"v":1},{"v":2}]},"k2":{"list":[{"v":3}]}},
                  "*":"star"}})");
  struct Row {
    const char* path;
    const char* found;  // "stars=value" joined by blanks
  };
  const Row rows[] = {
      {"metadata.name", "=n"},
      {"labels.x", "=y"},
      {"labels['a.b/c']", "=v"},
      {"labels.*", "a.b/c=v x=y"},
      {"spec.list.*.name", "0=one 2=two"},
      {"spec.map.*.list.*.v", "k1,0=1 k1,1=2 k2,0=3"},
      {"spec['*']", "=star"},
      {"spec.none", ""},
      {"spec.list.name", ""},
      {"spec.map.k1.list.*.v.deeper", ""},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.path);
    std::string found;
    for (const FieldPath::Match& match : Path(row.path, Root::kObject).Find(document.root())) {
      if (!found.empty()) found += ' ';
      for (std::size_t i = 0; i < match.stars.size(); ++i) found += (i ? "," : "") + match.stars[i];
      found.append(1, '=').append(match.value.text());
    }
    EXPECT_EQ(found, row.found);
  }
}

TEST(FieldPath, TellsWhetherStarsMeanTheSameElements) {
  const auto joins = [](const char* a, const char* b) {
    const bool there = Path(a, Root::kValues).Joins(Path(b, Root::kValues));
    EXPECT_EQ(there, Path(b, Root::kValues).Joins(Path(a, Root::kValues)));
    return there;
  };
  EXPECT_TRUE(joins("a.*.name", "a.*.region"));
  EXPECT_TRUE(joins("a.*.name", "a.*.b.*.c"));
  EXPECT_TRUE(joins("a.*.name", "x"));
  EXPECT_FALSE(joins("a.*.name", "b.*.name"));
  EXPECT_FALSE(joins("a.*.b.*.c", "a.*.d.*.c"));
  EXPECT_FALSE(joins("a.*.name", "a['*'].*.b"));
}

TEST(MappingRules, AreCheckedAsAWhole) {
  const auto bucket = [] { return Declares("s3/Bucket", {{"name", From("spec.name")}}); };
  MappingRule starred_service{kClaim, Path("spec.*.x", Root::kObject), {bucket()}};
  MappedResource bad_account = bucket();
  bad_account.account = Constant("123");
  MappedResource bad_region = bucket();
  bad_region.region = Constant("");
  MappedResource other_stars = Declares("s3/Bucket", {{"name", From("spec.a.*.name")}});
  other_stars.region = From("spec.b.*.region");
  struct Row {
    const char* reason;
    std::vector<MappingRule> rules;
    const char* error;
  };
  const Row rows[] = {
      {"unknown type",
       {{kClaim, {}, {Declares("s3/Bucked", {})}}},
       "mapping of ObjectStorage.platform.example.org declares: no type 's3/Bucked'; did you mean "
       "'s3/Bucket'?"},
      {"unknown part",
       {{kClaim, {}, {Declares("eks/NodeGroup", {{"bucket", From("spec.x")}})}}},
       "mapping of ObjectStorage.platform.example.org eks/NodeGroup: has no part \"bucket\"; it "
       "has "
       "\"clusterName\", \"name\""},
      {"part of a singleton",
       {{kClaim, {}, {Declares("iam/AccountPasswordPolicy", {{"name", From("spec.x")}})}}},
       "mapping of ObjectStorage.platform.example.org iam/AccountPasswordPolicy: has no part "
       "\"name\"; it has none"},
      {"neither path nor value",
       {{kClaim, {}, {Declares("s3/Bucket", {{"name", Constant("")}})}}},
       "mapping of ObjectStorage.platform.example.org s3/Bucket: part \"name\" has neither a path "
       "nor a value"},
      {"a kind of the catalogue",
       {{{"s3.aws.upbound.io", "Bucket"}, {}, {bucket()}}},
       "mapping of Bucket.s3.aws.upbound.io is a kind of the catalogue, which needs no mapping"},
      {"mapped twice",
       {{kClaim, {}, {bucket()}}, {kClaim, {}, {bucket()}}},
       "mapping of ObjectStorage.platform.example.org is mapped twice"},
      {"declares nothing",
       {{kClaim, {}, {}}},
       "mapping of ObjectStorage.platform.example.org declares nothing"},
      {"stars that do not agree",
       {{kClaim, {}, {other_stars}}},
       "mapping of ObjectStorage.platform.example.org s3/Bucket: \"spec.a.*.name\" and "
       "\"spec.b.*.region\" go over different elements"},
      {"a service for many",
       {starred_service},
       "mapping of ObjectStorage.platform.example.org service: \"spec.*.x\" must not hold \"*\""},
      {"no account",
       {{kClaim, {}, {bad_account}}},
       "mapping of ObjectStorage.platform.example.org s3/Bucket: account \"123\" is not 12 digits"},
      {"no region",
       {{kClaim, {}, {bad_region}}},
       "mapping of ObjectStorage.platform.example.org s3/Bucket: region has neither a path nor a "
       "value"},
      {"all problems at once",
       {{{"", ""}, {}, {}}, {{"a.io", ""}, {}, {bucket()}}},
       "mapping of chart values declares nothing; mapping of chart values names a group but no "
       "kind"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.reason);
    const Result<MappingRules> rules = Create(row.rules);
    ASSERT_FALSE(rules.ok());
    EXPECT_EQ(rules.error().code, ErrorCode::kInvalidArgument);
    EXPECT_EQ(rules.error().message, row.error);
  }
}

TEST(MappingRules, AreFoundByNamespace) {
  const auto rule = [](std::vector<std::string> namespaces) {
    return MappingRule{
        kClaim, {}, {Declares("s3/Bucket", {{"name", From("spec.name")}})}, std::move(namespaces)};
  };
  const auto found = [](const MappingRules& rules, std::string_view ns) {
    return rules.Find(kClaim.group, kClaim.kind, ns);
  };
  const Result<MappingRules> some = Create({rule({"a", "b"})});
  ASSERT_TRUE(some.ok()) << some.error().message;
  EXPECT_NE(found(some.value(), "a"), nullptr);
  EXPECT_EQ(found(some.value(), "c"), nullptr);
  EXPECT_EQ(found(some.value(), ""), nullptr);
  EXPECT_EQ(some.value().Of(kClaim.group, kClaim.kind).size(), 1U);
  const Result<MappingRules> both = Create({rule({}), rule({"a"})});
  ASSERT_TRUE(both.ok()) << both.error().message;
  EXPECT_EQ(found(both.value(), "a")->namespaces.size(), 1U);
  EXPECT_TRUE(found(both.value(), "c")->namespaces.empty());
  EXPECT_EQ(both.value().Of(kClaim.group, kClaim.kind).size(), 2U);
  EXPECT_TRUE(both.value().Of("g.io", "Other").empty());
  const Result<MappingRules> twice = Create({rule({"a", "b"}), rule({"b"})});
  ASSERT_FALSE(twice.ok());
  EXPECT_EQ(twice.error().message,
            "mapping of ObjectStorage.platform.example.org is mapped twice for namespace \"b\"");
}

TEST(MappingRules, AreFoundByKind) {
  std::vector<MappingRule> rules;
  for (const char* kind : {"C", "A", "B"}) {
    rules.push_back({{"g.io", kind}, {}, {Declares("s3/Bucket", {{"name", From("spec.name")}})}});
  }
  const Result<MappingRules> created = Create(rules);
  ASSERT_TRUE(created.ok());
  for (const char* kind : {"A", "B", "C"}) {
    const MappingRule* rule = created.value().Find("g.io", kind);
    ASSERT_NE(rule, nullptr);
    EXPECT_EQ(rule->kind.kind, kind);
  }
  EXPECT_EQ(created.value().Find("g.io", "D"), nullptr);
  EXPECT_EQ(created.value().Find("", ""), nullptr);
  EXPECT_EQ(MappingRules().Find("g.io", "A"), nullptr);
  EXPECT_EQ(created.value().all().size(), 3U);
}

// What one resource of a rule declares: keys, "~name" for partial ones, "!part" for bad names.
struct MappedRow {
  const char* reason;
  MappedResource resource;
  const char* json;
  const char* declared;
};

// NOLINTNEXTLINE(readability-function-size): a table
std::vector<MappedRow> MappedRows() {
  MappedResource bucket = Declares("s3/Bucket", {{"name", From("spec.parameters.name")}});
  bucket.region = From("spec.parameters.region");
  MappedResource buckets = Declares("s3/Bucket", {{"name", From("spec.buckets.*.name")}});
  buckets.region = From("spec.buckets.*.region");
  MappedResource shared_region = Declares("s3/Bucket", {{"name", From("spec.buckets.*.name")}});
  shared_region.region = From("spec.region");
  MappedResource table = Declares("dynamodb/Table", {{"name", From("metadata.name")}});
  MappedResource placed = table;
  placed.region = Constant("us-west-2");
  placed.account = Constant("111111111111");
  MappedResource labelled = table;
  labelled.region = From("labels.region");
  labelled.account = From("annotations['example.org/account']");
  MappedResource nested = Declares("eks/NodeGroup", {{"clusterName", From("spec.c.*.name")},
                                                     {"name", From("spec.c.*.groups.*.name")}});
  nested.region = Constant("us-west-2");
  nested.account = Constant("111111111111");
  MappedResource rule = Declares("cloudwatchevents/Rule", {{"name", From("spec.name")}});
  rule.region = Constant("us-west-2");
  rule.account = Constant("111111111111");
  MappedResource role = Declares("iam/Role", {{"name", From("spec.name")}});
  role.account = Constant("111111111111");
  return {
      {"the origin story", bucket,
       R"({"spec":{"parameters":{"name":"prod-artifacts","region":"us-west-2"}}})",
       "s3/Bucket|aws|||name=prod-artifacts"},
      {"the region gives the partition", bucket,
       R"({"spec":{"parameters":{"name":"prod-artifacts","region":"cn-north-1"}}})",
       "s3/Bucket|aws-cn|||name=prod-artifacts"},
      {"a bucket needs no region", bucket, R"({"spec":{"parameters":{"name":"prod-artifacts"}}})",
       "s3/Bucket|aws|||name=prod-artifacts"},
      {"a missing name is partial", bucket, R"({"spec":{"parameters":{"region":"us-west-2"}}})",
       "~"},
      {"an empty name is partial", bucket, R"({"spec":{"parameters":{"name":""}}})", "~"},
      {"a list is no name", bucket, R"({"spec":{"parameters":{"name":["a"]}}})", "~"},
      {"a number is a name as it is written", bucket, R"({"spec":{"parameters":{"name":1234}}})",
       "s3/Bucket|aws|||name=1234"},
      {"a bad name", bucket, "{\"spec\":{\"parameters\":{\"name\":\"prod-\u0430\"}}}", "~ !name"},
      {"a bad region", bucket, "{\"spec\":{\"parameters\":{\"name\":\"a\",\"region\":\"\u200b\"}}}",
       "s3/Bucket|aws|||name=a !region"},
      {"one per element, each with its own region", buckets,
       R"({"spec":{"buckets":[{"name":"a","region":"us-west-2"},{"name":"b","region":"cn-north-1"},
           {"name":"c"}]}})",
       "s3/Bucket|aws|||name=a s3/Bucket|aws-cn|||name=b s3/Bucket|aws|||name=c"},
      {"an element without name is partial", buckets,
       R"({"spec":{"buckets":[{"region":"us-west-2"},{"name":"b"}]}})", "s3/Bucket|aws|||name=b ~"},
      {"a map has elements too", buckets, R"({"spec":{"buckets":{"x":{"name":"a"},"y":{}}}})",
       "s3/Bucket|aws|||name=a"},
      {"no elements, nothing declared", buckets, R"({"spec":{"buckets":[]}})", ""},
      {"a path without star holds for every element", shared_region,
       R"({"spec":{"region":"cn-north-1","buckets":[{"name":"a"},{"name":"b"}]}})",
       "s3/Bucket|aws-cn|||name=a s3/Bucket|aws-cn|||name=b"},
      {"account and region are parts of the scope", table, R"({"metadata":{"name":"t"}})", "~t"},
      {"constants", placed, R"({"metadata":{"name":"t"}})",
       "dynamodb/Table|aws|111111111111|us-west-2|name=t"},
      {"labels and annotations", labelled,
       R"({"metadata":{"name":"t","labels":{"region":"us-west-2"},
           "annotations":{"example.org/account":"111111111111"}}})",
       "dynamodb/Table|aws|111111111111|us-west-2|name=t"},
      {"an account that is none", labelled,
       R"({"metadata":{"name":"t","labels":{"region":"us-west-2"},
           "annotations":{"example.org/account":"prod"}}})",
       "~t"},
      {"stars within stars", nested,
       R"({"spec":{"c":[{"name":"x","groups":[{"name":"1"},{"name":"2"}]},
           {"name":"y","groups":[{"name":"1"}]},{"name":"z"}]}})",
       "eks/NodeGroup|aws|111111111111|us-west-2|clusterName=x|name=1 "
       "eks/NodeGroup|aws|111111111111|us-west-2|clusterName=x|name=2 "
       "eks/NodeGroup|aws|111111111111|us-west-2|clusterName=y|name=1"},
      {"a default of the catalogue", rule, R"({"spec":{"name":"nightly"}})",
       "cloudwatchevents/Rule|aws|111111111111|us-west-2|eventBusName=default|name=nightly"},
      {"normalised like the managed resource", role, R"({"spec":{"name":"Deploy"}})",
       "iam/Role|aws|111111111111||name=deploy"},
  };
}

template <typename Facts>
std::string Shown(const Facts& facts) {
  std::string declared;
  for (const DeclaredResource& resource : facts.resources) {
    EXPECT_TRUE(resource.mapped);
    EXPECT_FALSE(resource.late);
    EXPECT_EQ(resource.partial, resource.key().empty());
    EXPECT_EQ(resource.partial, !resource.missing.empty());
    if (!declared.empty()) declared += ' ';
    declared += resource.partial ? "~" + resource.name : resource.key().text;
  }
  for (const BadName& name : facts.bad_names) declared += " !" + name.part;
  return declared;
}

TEST(Mapping, DeclaresWhatItsPathsFind) {
  for (const MappedRow& row : MappedRows()) {
    SCOPED_TRACE(row.reason);
    Result<MappingRules> mappings = Create({{kClaim, {}, {row.resource}}});
    ASSERT_TRUE(mappings.ok()) << mappings.error().message;
    IdentityRules rules;
    rules.cluster = "local";
    rules.catalogue = &Catalogue::BuiltIn();
    rules.mappings = std::move(mappings).value();
    const Document document = DocumentFromJson(row.json);
    const ObjectFacts facts = Identify(document.root(), kClaim, rules);
    EXPECT_EQ(Shown(facts), row.declared);
    EXPECT_TRUE(facts.known_kind);
    EXPECT_FALSE(facts.managed);
  }
}

TEST(Mapping, ConstantsDeclareAsARuleOfThemDoes) {
  struct Row {
    const char* reason;
    const char* type;
    PartValues values;
    const char* declared;
  };
  const Row rows[] = {
      {"a name", "s3/Bucket", {{"name", "a"}}, "s3/Bucket|aws|||name=a"},
      {"the region gives the partition",
       "s3/Bucket",
       {{"name", "a"}, {"region", "cn-north-1"}},
       "s3/Bucket|aws-cn|||name=a"},
      {"all that the key has",
       "eks/NodeGroup",
       {{"account", "111111111111"}, {"clusterName", "x"}, {"name", "1"}, {"region", "us-west-2"}},
       "eks/NodeGroup|aws|111111111111|us-west-2|clusterName=x|name=1"},
      {"a default of the catalogue",
       "cloudwatchevents/Rule",
       {{"account", "111111111111"}, {"name", "nightly"}, {"region", "us-west-2"}},
       "cloudwatchevents/Rule|aws|111111111111|us-west-2|eventBusName=default|name=nightly"},
      {"an empty text gives nothing", "dynamodb/Table", {{"name", "t"}, {"region", ""}}, "~t"},
      {"a name that the type has no part for", "s3/Bucket", {{"bucket", "a"}}, "~"},
      {"a bad name", "s3/Bucket", {{"name", "prod-\u0430"}}, "~ !name"},
  };
  const Catalogue& catalogue = Catalogue::BuiltIn();
  for (const Row& row : rows) {
    SCOPED_TRACE(row.reason);
    const MappedFacts facts =
        ReadConstants(*catalogue.FindType(row.type), row.values, Intent::kObserves, catalogue);
    EXPECT_EQ(Shown(facts), row.declared);
    for (const DeclaredResource& each : facts.resources) {
      EXPECT_EQ(each.intent, Intent::kObserves);
    }
  }
}

TEST(Mapping, ServiceIntentAndSeveralTypesComeFromTheRule) {
  MappedResource bucket = Declares("s3/Bucket", {{"name", From("spec.name")}});
  bucket.intent = Intent::kObserves;
  MappedResource role = Declares("iam/Role", {{"name", From("spec.name")}});
  role.account = Constant("111111111111");
  role.intent = Intent::kManages;
  IdentityRules rules;
  rules.cluster = "local";
  rules.catalogue = &Catalogue::BuiltIn();
  rules.mappings = Create({{kClaim, Path("spec.appName", Root::kObject), {bucket, role}}}).value();
  const Document document = DocumentFromJson(
      R"({"metadata":{"name":"c","namespace":"ns"},"spec":{"name":"Artifacts","appName":"svc"}})");
  const ObjectFacts facts = Identify(document.root(), kClaim, rules);
  EXPECT_EQ(facts.service, "svc");
  ASSERT_EQ(facts.resources.size(), 2U);
  EXPECT_EQ(facts.resources[0].intent, Intent::kObserves);
  EXPECT_EQ(facts.resources[1].intent, Intent::kManages);
  EXPECT_EQ(facts.resources[1].arn, "arn:aws:iam::111111111111:role/Artifacts");
  const Document without =
      DocumentFromJson(R"({"metadata":{"name":"c","namespace":"ns"},"spec":{"name":"Artifacts"}})");
  EXPECT_EQ(Identify(without.root(), kClaim, rules).service, "ns/c");
}

TEST(Mapping, ReadsChartValues) {
  MappedResource bucket = Declares("s3/Bucket", {{"name", FromValues("objectStorage.*.name")}});
  const Result<MappingRules> rules = Create({{{}, Path("appName", Root::kValues), {bucket}}});
  ASSERT_TRUE(rules.ok()) << rules.error().message;
  const MappingRule* rule = rules.value().Find("", "");
  ASSERT_NE(rule, nullptr);
  const Document values = DocumentFromJson(
      R"({"appName":"svc","objectStorage":{"main":{"name":"a"},"logs":{"name":"b"}}})");
  const MappedFacts facts = ReadMapping(values.root(), *rule, Catalogue::BuiltIn());
  EXPECT_EQ(facts.service, "svc");
  ASSERT_EQ(facts.resources.size(), 2U);
  EXPECT_EQ(facts.resources[0].key().text, "s3/Bucket|aws|||name=a");
  EXPECT_EQ(facts.resources[1].key().text, "s3/Bucket|aws|||name=b");
}

TEST(Mapping, MoreElementsThanAreReadAreRefused) {
  MappedResource bucket = Declares("s3/Bucket", {{"name", From("spec.b.*.name")}});
  const MappingRule rule{kClaim, {}, {bucket}};
  const auto read = [&](std::size_t nameless) {
    std::string json = R"({"spec":{"b":[)";
    for (std::size_t i = 0; i < nameless; ++i) json += "{},";
    const Document document = DocumentFromJson(json + R"({"name":"victim"}]}})");
    return ReadMapping(document.root(), rule, Catalogue::BuiltIn());
  };
  const MappedFacts all = read(FieldPath::kMatchesMax - 1);
  ASSERT_EQ(all.resources.size(), 1U);
  EXPECT_EQ(all.resources[0].key().text, "s3/Bucket|aws|||name=victim");
  // Nameless elements in front must not hide the one that names a victim.
  const MappedFacts refused = read(FieldPath::kMatchesMax);
  EXPECT_TRUE(refused.resources.empty());
  ASSERT_EQ(refused.bad_names.size(), 1U);
  EXPECT_EQ(refused.bad_names[0].reason, "has more than 100 values");
}

}  // namespace mapping_test
}  // namespace truce
