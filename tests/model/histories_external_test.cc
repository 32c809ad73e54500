// Named histories of external names: another's resource by its URL, id or ARN. From manifests, by
// the built-in catalogue.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "registry/ownership/ledger.h"
#include "registry/ownership/names.h"
#include "registry/ownership/resolve.h"
#include "tests/model/scene.h"
#include "tests/support/json_document.h"
#include "tests/support/strict_store.h"

namespace truce {
namespace histories_external_test {

// One resource as a manifest of team A names it by its fields, and AWS by its address.
struct Kind {
  const char* group;
  const char* kind;
  const char* fields;  // of A
  const char* others;  // fields of the same type that name another
  const char* address;
  const char* other_address;
};

constexpr Kind kQueue{"sqs.aws.m.upbound.io",
                      "Queue",
                      R"("name":"jobs")",
                      R"("name":"mine")",
                      "https://sqs.us-east-1.amazonaws.com/111111111111/jobs",
                      "https://sqs.us-east-1.amazonaws.com/111111111111/mine"};
constexpr Kind kGroup{"ec2.aws.m.upbound.io",
                      "SecurityGroup",
                      R"("vpcId":"vpc-1","name":"web")",
                      R"("vpcId":"vpc-2","name":"own")",
                      "sg-0a1b",
                      "sg-0a1c"};
constexpr Kind kSecret{"secretsmanager.aws.m.upbound.io",
                       "Secret",
                       R"("name":"db")",
                       R"("name":"own")",
                       "arn:aws:secretsmanager:us-east-1:111111111111:secret:db-aB3xYz",
                       "arn:aws:secretsmanager:us-east-1:111111111111:secret:own-aB3xYz"};

struct Manifest {
  std::string ns = "team-a";
  std::string name = "a";
  std::string config = "one";
  std::string fields;
  std::string external_name = {};  // empty: none
  std::string status = {};         // of atProvider
  bool orphan = false;             // the resource outlives the object
  std::string region = "us-east-1";
};

class HistoriesOfExternalNames : public ::testing::TestWithParam<Kind> {
 protected:
  ~HistoriesOfExternalNames() override {
    for (const std::string& breach : CheckInvariants(registry_.Contents())) ADD_FAILURE() << breach;
  }

  ObjectFacts Object(const Manifest& manifest, std::uint64_t version) const {
    std::string json = R"({"metadata":{"name":")" + manifest.name + R"(","namespace":")" +
                       manifest.ns + R"(","uid":"u-)" + manifest.ns + "-" + manifest.name +
                       R"(","resourceVersion":")" + std::to_string(version) + "\"";
    if (!manifest.external_name.empty()) {
      json += R"(,"annotations":{"crossplane.io/external-name":")" + manifest.external_name + "\"}";
    }
    json += R"(},"spec":{"providerConfigRef":{"kind":"ClusterProviderConfig","name":")" +
            manifest.config + R"("},)";
    if (manifest.orphan) {
      json += R"("managementPolicies":["Observe","Create","Update","LateInitialize"],)";
    }
    json += R"("forProvider":{"region":")" + manifest.region + "\"" +
            (manifest.fields.empty() ? "" : "," + manifest.fields) + "}}";
    if (!manifest.status.empty()) json += R"(,"status":{"atProvider":{)" + manifest.status + "}}";
    const Document document = DocumentFromJson(json + "}");
    IdentityRules rules;
    rules.account_fields.emplace();  // ProviderConfigs are watched, and there are none
    rules.cluster = "local";
    rules.catalogue = &Catalogue::BuiltIn();
    rules.accounts = accounts_;
    return Identify(document.root(), {GetParam().group, GetParam().kind}, rules);
  }

  // Created without external name, which its provider writes when AWS has made the resource.
  ObjectFacts Live(const Manifest& manifest) {
    Manifest fresh = manifest;
    fresh.external_name.clear();
    fresh.status.clear();
    const ObjectFacts created = Object(fresh, ++version_);
    EXPECT_TRUE(registry_.Create(created).allowed);
    registry_.See(created);
    ObjectFacts live = Object(manifest, ++version_);
    EXPECT_TRUE(registry_.Update(created, live, scene::kProvider).allowed);
    live.real = true;
    registry_.See(live);
    return live;
  }

  void End(ObjectFacts last) {
    last.terminating = last.deleting = true;
    registry_.SeeDeleted(last);
  }

  Decision Create(const Manifest& manifest) {
    return registry_.Create(Object(manifest, ++version_));
  }

  bool IsOf(const KeyText& name, const std::string& ns) {
    const auto owner = registry_.OwnerNamed(name);
    return owner && owner->root.ns == ns;
  }

  Manifest OfA() const {
    return {.fields = GetParam().fields, .external_name = GetParam().address};
  }
  Manifest OfB(const std::string& fields, const std::string& external_name) const {
    return {.ns = "team-b",
            .name = "b",
            .config = "two",
            .fields = fields,
            .external_name = external_name};
  }
  // By which A's resource is known although B's credentials are others.
  KeyText Told(const ObjectFacts& live) const {
    const std::vector<DeclaredName>& names = live.resources.front().names;
    return names.size() < 2 ? KeyText{} : names.back().text;
  }

  testing::StrictStore store_;
  scene::Registry registry_{store_};
  std::uint64_t version_ = 10;
  std::map<ProviderConfigName, std::string> accounts_;  // known by configuration
};

// 3: B names A's resource by URL, id or ARN, whatever its fields say.
TEST_P(HistoriesOfExternalNames, AnothersAddressIsRefused) {
  registry_.status_guarded = false;
  const ObjectFacts live = Live(OfA());
  ASSERT_FALSE(Told(live).empty());
  EXPECT_TRUE(IsOf(Told(live), "team-a"));
  for (const std::string& fields : {std::string(GetParam().fields), std::string(GetParam().others),
                                    std::string(R"("description":"no name")")}) {
    const Decision decision = Create(OfB(fields, GetParam().address));
    EXPECT_FALSE(decision.allowed) << fields;
    ASSERT_EQ(decision.denied.size(), 1U) << fields;
    EXPECT_EQ(decision.denied.front().holder.root.ns, "team-a");
  }
  EXPECT_TRUE(Create(OfB(GetParam().others, GetParam().other_address)).allowed) << "its own";
}

TEST_P(HistoriesOfExternalNames, AnothersAddressIsRefusedWhenItIsOrphaned) {
  Manifest left = OfA();
  left.orphan = true;
  End(Live(left));
  ASSERT_EQ(registry_.Contents().owners.front().record, Record::kOrphaned);
  const Decision decision = Create(OfB(GetParam().others, GetParam().address));
  EXPECT_FALSE(decision.allowed);
  ASSERT_EQ(decision.denied.size(), 1U);
  EXPECT_EQ(decision.denied.front().reason, ClashReason::kOrphaned);
  Manifest again = OfA();
  again.name = "again";
  again.config = "three";
  EXPECT_TRUE(Create(again).allowed) << "its party takes it back, by whichever credentials";
}

TEST_P(HistoriesOfExternalNames, TheAddressEndsWithItsResource) {
  End(Live(OfA()));
  EXPECT_TRUE(registry_.Contents().owners.empty());
  EXPECT_TRUE(registry_.Contents().names.empty());
  EXPECT_TRUE(Create(OfB(GetParam().fields, GetParam().address)).allowed);
}

TEST_P(HistoriesOfExternalNames, AnAddressWrittenLaterIsJudged) {
  const ObjectFacts live = Live(OfA());
  const ObjectFacts own = Object(OfB(GetParam().others, ""), ++version_);
  ASSERT_TRUE(registry_.Create(own).allowed);
  const ObjectFacts stolen = Object(OfB(GetParam().others, GetParam().address), ++version_);
  EXPECT_FALSE(registry_.Update(own, stolen).allowed) << "by anybody but a provider";
  const Decision late = registry_.Update(own, stolen, scene::kProvider);
  EXPECT_TRUE(late.allowed) << "its resource exists already";
  ASSERT_FALSE(late.conflicts.empty());
  EXPECT_TRUE(late.conflicts.front().late);
  EXPECT_TRUE(IsOf(Told(live), "team-a")) << "who held it stays owner";
  EXPECT_TRUE(registry_.OwnerNamed(Told(live))->contested);
  EXPECT_TRUE(IsOf(own.resources.front().key(), "team-b")) << "what B's fields name is B's";
}

TEST_P(HistoriesOfExternalNames, FieldsOfTheirOwnAreNotTakenAlong) {
  const ObjectFacts live = Live(OfA());
  const ObjectFacts conflict = Object(OfB(GetParam().others, GetParam().address), ++version_);
  ASSERT_TRUE(registry_.Create(conflict, "dev", Mode::kWarn).allowed);
  registry_.See(conflict);
  EXPECT_TRUE(IsOf(Told(live), "team-a"));
  EXPECT_TRUE(IsOf(conflict.resources.front().key(), "team-b"));
  EXPECT_FALSE(registry_.OwnerNamed(conflict.resources.front().key())->contested);
}

// Bad input: what looks like an address of A's is none where B's provider would look for it.
TEST_P(HistoriesOfExternalNames, AnAddressElsewhereIsNobodys) {
  if (std::string(GetParam().kind) == "SecurityGroup") return;  // an id tells no region
  Live(OfA());
  Manifest far = OfB(GetParam().others, GetParam().address);
  far.region = "eu-west-1";
  const ObjectFacts object = Object(far, ++version_);
  EXPECT_FALSE(object.name_finding.empty());
  EXPECT_EQ(object.resources.size(), 1U) << "nothing but what its fields name";
  EXPECT_TRUE(registry_.Create(object).allowed);
  EXPECT_TRUE(IsOf(object.resources.front().key(), "team-b"));
}

// An address before there are fields: both name one resource once both are told.
TEST_P(HistoriesOfExternalNames, ANameBeforeTheFieldsBecomesTheirs) {
  Manifest early = OfA();
  early.fields = R"("description":"comes later")";
  const ObjectFacts by_address = Object(early, ++version_);
  ASSERT_FALSE(by_address.resources.front().key().empty());
  ASSERT_TRUE(registry_.Create(by_address).allowed);
  registry_.See(by_address);
  EXPECT_FALSE(Create(OfB(GetParam().others, GetParam().address)).allowed);
  const ObjectFacts live = Object(OfA(), ++version_);
  ASSERT_TRUE(registry_.Update(by_address, live).allowed);
  registry_.See(live);
  ASSERT_EQ(registry_.Contents().owners.size(), 1U);
  EXPECT_EQ(registry_.IdNamed(live.resources.front().key()),
            registry_.Contents().owners.front().id);
  EXPECT_TRUE(IsOf(Told(live), "team-a"));
}

// 3, last sentence.
TEST_P(HistoriesOfExternalNames, TwoStatusesWithOneAddressAreAConflict) {
  const std::string status = std::string(R"("url":")") + GetParam().address + R"(","id":")" +
                             GetParam().address + R"(","arn":")" + GetParam().address + "\"";
  Manifest a = OfA();
  a.external_name.clear();
  a.status = status;
  const ObjectFacts live = Live(a);
  Manifest b = OfB(GetParam().fields, "");
  ASSERT_TRUE(Create(b).allowed) << "nothing tells yet that it is the same";
  b.status = status;
  const ObjectFacts shown = Object(b, ++version_);
  registry_.See(shown);
  EXPECT_TRUE(IsOf(Told(live), "team-a")) << "who held the name stays owner";
  EXPECT_TRUE(registry_.OwnerNamed(Told(live))->contested);
  EXPECT_TRUE(IsOf(shown.resources.front().key(), "team-b"));
}

// 16: what a status alone shows takes nothing from whom the external name names.
TEST_P(HistoriesOfExternalNames, AnAddressIsStrongerThanAStatus) {
  registry_.status_guarded = false;
  Manifest forged = OfB(GetParam().fields, "");
  forged.status =
      std::string(R"("id":")") + GetParam().address + R"(","url":")" + GetParam().address + "\"";
  const ObjectFacts liar = Live(forged);
  const KeyText told = Told(liar);
  if (told.empty()) return;  // a secret's ARN is read in the field `arn` alone
  EXPECT_TRUE(IsOf(told, "team-b"));
  const Decision decision = Create(OfA());
  EXPECT_TRUE(decision.allowed);
  EXPECT_FALSE(decision.conflicts.empty());
  EXPECT_TRUE(IsOf(told, SortOf(told) == NameSort::kAssigned ? "team-a" : "team-b"));
}

INSTANTIATE_TEST_SUITE_P(Kinds, HistoriesOfExternalNames,
                         ::testing::Values(kQueue, kGroup, kSecret),
                         [](const auto& kind) { return std::string(kind.param.kind); });

class HistoriesOfIds : public HistoriesOfExternalNames {};

TEST_P(HistoriesOfIds, OneDenialNamesTwoForeignOwners) {
  Live(OfA());
  Live({.ns = "team-c", .name = "c", .config = "two", .fields = R"("vpcId":"vpc-9","name":"c")"});
  const Decision decision = Create(OfB(R"("vpcId":"vpc-9","name":"c")", "sg-0a1b"));
  EXPECT_FALSE(decision.allowed);
  ASSERT_EQ(decision.denied.size(), 2U);
  EXPECT_EQ(decision.denied[0].holder.root.ns, "team-c");
  EXPECT_EQ(decision.denied[1].holder.root.ns, "team-a");
}

// Two groups of one party never become one, whatever an object says.
TEST_P(HistoriesOfIds, WhatHasAnotherIdIsAnother) {
  Manifest first = OfA();
  first.orphan = true;
  End(Live(first));
  Manifest by_id = OfA();
  by_id.name = "second";
  by_id.fields = R"("description":"no name")";
  by_id.external_name = "sg-0a1c";
  by_id.orphan = true;
  ObjectFacts second = Object(by_id, ++version_);
  ASSERT_TRUE(registry_.Create(second).allowed);
  second.real = true;
  registry_.See(second);
  End(second);
  ASSERT_EQ(registry_.Contents().owners.size(), 2U);
  Manifest both = OfA();
  both.name = "both";
  both.external_name = "sg-0a1c";
  registry_.See(Object(both, ++version_));
  EXPECT_EQ(registry_.Contents().owners.size(), 2U);
}

// Whoever declares an id by its own account says nothing of where what the fields name lies.
TEST_P(HistoriesOfIds, AnIdTellsNothingOfTheAccount) {
  accounts_ = {{{"aws.m.upbound.io", "ClusterProviderConfig", "", "two"}, "222222222222"}};
  Manifest manifest = OfA();
  manifest.config = "two";
  manifest.fields = R"("description":"no name")";
  const ObjectFacts by_id = Object(manifest, ++version_);
  ASSERT_TRUE(registry_.Create(by_id).allowed);
  registry_.See(by_id);
  manifest = OfA();
  manifest.external_name.clear();
  const ObjectFacts by_fields = Object(manifest, ++version_);
  ASSERT_TRUE(registry_.Update(by_id, by_fields).allowed);
  manifest.status = R"("id":"sg-0a1b")";
  registry_.See(Object(manifest, ++version_));
  const auto owner = registry_.OwnerNamed(by_fields.resources.front().key());
  ASSERT_TRUE(owner);
  EXPECT_EQ(owner->identity.account, by_fields.resources.front().identity.account);
  EXPECT_EQ(registry_.Contents().owners.size(), 1U) << "one resource";
}

TEST_P(HistoriesOfIds, WhatHasOtherFieldsIsAnother) {
  Manifest first = OfA();
  first.external_name.clear();
  first.orphan = true;
  ObjectFacts unnamed = Object(first, ++version_);
  ASSERT_TRUE(registry_.Create(unnamed).allowed);
  unnamed.real = true;
  registry_.See(unnamed);
  End(unnamed);
  End(Live({.name = "second",
            .fields = R"("vpcId":"vpc-2","name":"own")",
            .external_name = "sg-0a1c",
            .orphan = true}));
  ASSERT_EQ(registry_.Contents().owners.size(), 2U);
  Manifest both = OfA();
  both.name = "both";
  both.external_name = "sg-0a1c";
  registry_.See(Object(both, ++version_));
  EXPECT_EQ(registry_.Contents().owners.size(), 2U);
}

TEST_P(HistoriesOfIds, ATenantFillsNoMemoryWithIds) {
  ObjectFacts live = Live(OfA());
  for (int i = 0; i < 50; ++i) {
    Manifest next = OfA();
    next.external_name = "sg-" + std::to_string(100000 + i);
    const ObjectFacts changed = Object(next, ++version_);
    ASSERT_TRUE(registry_.Update(live, changed).allowed);
    registry_.See(changed);
    live = changed;
  }
  EXPECT_EQ(registry_.Contents().names.size(), 1U + 8U) << "what its fields name, and ids";
  EXPECT_EQ(registry_.Contents().owners.size(), 1U);
}

// An id that B's provider may have made stays out of A's resource.
TEST_P(HistoriesOfIds, AConflictGivesTheOwnerNoId) {
  const ObjectFacts live = Live(OfA());
  const ObjectFacts conflict = Object(OfB(GetParam().fields, "sg-0a1c"), ++version_);
  registry_.See(live);
  registry_.See(conflict);
  // By other credentials, so that the fields are not the same to Truce: B's own.
  Manifest same = OfB(GetParam().fields, "sg-0a1d");
  same.name = "same";
  same.config = "one";
  registry_.See(Object(same, ++version_));
  EXPECT_FALSE(registry_.OwnerNamed({"ec2/security-group|aws|||@id=sg-0a1d"}));
  EXPECT_TRUE(IsOf({"ec2/security-group|aws|||@id=sg-0a1c"}, "team-b"));
}

INSTANTIATE_TEST_SUITE_P(Group, HistoriesOfIds, ::testing::Values(kGroup));

// 16: the provider writes the id over the name, which need not be the object's own.
TEST(HistoriesOfReplacedNames, TheNameStaysAndEndsWithItsResource) {
  testing::StrictStore store;
  scene::Registry registry(store);
  const auto object = [&](const std::string& external, std::uint64_t version) {
    const Document document = DocumentFromJson(
        R"({"metadata":{"name":"x","namespace":"team-a","uid":"u","resourceVersion":")" +
        std::to_string(version) + R"(","annotations":{"crossplane.io/external-name":")" + external +
        R"("}},"spec":{"forProvider":{}}})");
    IdentityRules rules;
    rules.account_fields.emplace();  // ProviderConfigs are watched, and there are none
    rules.cluster = "local";
    rules.catalogue = &Catalogue::BuiltIn();
    rules.accounts = {
        {{"aws.m.upbound.io", "ClusterProviderConfig", "", "default"}, "111111111111"}};
    ObjectFacts facts =
        Identify(document.root(), {"cloudfront.aws.m.upbound.io", "OriginRequestPolicy"}, rules);
    registry.Run(
        [&](Ledger& ledger) { ResolveReferences(Catalogue::BuiltIn(), ledger.facts(), facts); });
    return facts;
  };
  const KeyText name{"cloudfront/OriginRequestPolicy|aws|111111111111||name=shop"};
  const std::string id = "0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9";
  ObjectFacts first = object("shop", 10);
  ASSERT_TRUE(registry.Create(first).allowed);
  registry.See(first);
  ObjectFacts made = object(id, 11);
  made.created_marks = "made";
  ASSERT_TRUE(registry.Update(first, made, scene::kProvider).allowed);
  registry.See(made);
  ObjectFacts last = object(id, 12);
  last.real = true;
  registry.See(last);
  ASSERT_EQ(registry.Contents().owners.size(), 1U);
  ASSERT_TRUE(registry.OwnerNamed(name));
  EXPECT_EQ(registry.OwnerNamed(name)->record, Record::kNone);
  EXPECT_TRUE(registry.OwnerNamed({"cloudfront/OriginRequestPolicy|aws|||@id=" + id}));
  last.terminating = last.deleting = true;
  registry.SeeDeleted(last);
  EXPECT_TRUE(registry.Contents().owners.empty());
}

// 9: what a status shows of the name before makes none of the names in between real.
struct Renamed {
  const char* group;
  const char* kind;
  const char* fields;  // "%" stands for the name, here and in what follows
  const char* external_name;
  const char* status;
  const char* key;
};

class HistoriesOfNamesInBetween : public ::testing::TestWithParam<Renamed> {
 protected:
  static std::string Named(std::string text, const std::string& name) {
    for (std::size_t at = text.find('%'); at != std::string::npos; at = text.find('%')) {
      text.replace(at, 1, name);
    }
    return text;
  }
  // Ready, by a status that shows `shown`.
  ObjectFacts Object(const std::string& name, const std::string& shown, std::uint64_t version) {
    const Renamed& kind = GetParam();
    std::string annotations;
    if (kind.external_name[0] != '\0') {
      annotations = R"("crossplane.io/external-name":")" + Named(kind.external_name, name) + "\"";
    }
    const Document document = DocumentFromJson(
        R"({"metadata":{"name":"x","namespace":"team-a","uid":"u","resourceVersion":")" +
        std::to_string(version) + R"(","annotations":{)" + annotations +
        R"(}},"spec":{"providerConfigRef":{"kind":"ClusterProviderConfig","name":"one"},)"
        R"("forProvider":{"region":"us-east-1",)" +
        Named(kind.fields, name) + R"(}},"status":{"atProvider":{)" + Named(kind.status, shown) +
        R"(},"conditions":[{"type":"Ready","status":"True"}]}})");
    IdentityRules rules;
    rules.cluster = "local";
    rules.catalogue = &Catalogue::BuiltIn();
    const ProviderConfigName config{"aws.m.upbound.io", "ClusterProviderConfig", "", "one"};
    rules.accounts = {{config, "111111111111"}};
    return Identify(document.root(), {kind.group, kind.kind}, rules);
  }

  testing::StrictStore store_;
  scene::Registry registry_{store_};
};

TEST_P(HistoriesOfNamesInBetween, AreFreeUntilTheyAreMade) {
  const auto owner = [&](const std::string& name) {
    return registry_.OwnerNamed({Named(GetParam().key, name)});
  };
  ASSERT_TRUE(registry_.Create(Object("k1", "k1", 10)).allowed);
  registry_.See(Object("k1", "k1", 11));
  ASSERT_TRUE(owner("k1"));
  ASSERT_TRUE(registry_.Update(Object("k1", "k1", 11), Object("l1", "k1", 11)).allowed);
  registry_.See(Object("l1", "k1", 12));
  EXPECT_EQ(owner("k1")->record, Record::kOrphaned);
  ASSERT_TRUE(registry_.Update(Object("l1", "k1", 12), Object("k1", "k1", 12)).allowed);
  registry_.See(Object("k1", "k1", 13));
  EXPECT_EQ(owner("k1")->record, Record::kNone);
  EXPECT_TRUE(owner("k1")->real);
  EXPECT_FALSE(owner("l1")) << "nothing was made under it";

  ASSERT_TRUE(registry_.Update(Object("k1", "k1", 13), Object("l1", "k1", 13)).allowed);
  registry_.See(Object("l1", "l1", 14));
  ASSERT_TRUE(registry_.Update(Object("l1", "l1", 14), Object("k1", "l1", 14)).allowed);
  registry_.See(Object("k1", "l1", 15));
  ASSERT_TRUE(owner("l1"));
  EXPECT_EQ(owner("l1")->record, Record::kOrphaned) << "its status showed it";
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, HistoriesOfNamesInBetween,
    ::testing::Values(
        Renamed{"iam.aws.m.upbound.io", "Role", R"("path":"/a/")", "%",
                R"("arn":"arn:aws:iam::111111111111:role/a/%","id":"%")",
                "iam/Role|aws|111111111111||name=%"},
        Renamed{"cloudwatchevents.aws.m.upbound.io", "Rule", R"("eventBusName":"bus")", "%",
                R"("arn":"arn:aws:events:us-east-1:111111111111:rule/bus/%","id":"bus/%")",
                "cloudwatchevents/Rule|aws|111111111111|us-east-1|eventBusName=bus|name=%"},
        Renamed{"sqs.aws.m.upbound.io", "QueuePolicy", R"("queueUrl":"%")", "",
                R"("id":"https://sqs.us-east-1.amazonaws.com/111111111111/%")",
                "sqs/QueuePolicy|aws|111111111111|us-east-1|queueUrl=%"},
        Renamed{"s3.aws.m.upbound.io", "BucketPolicy", R"("bucket":"%")", "", R"("id":"%")",
                "s3/BucketPolicy|aws|||bucket=%"},
        Renamed{"ssm.aws.m.upbound.io", "Parameter", R"("type":"String")", "/app/%",
                R"("arn":"arn:aws:ssm:us-east-1:111111111111:parameter/app/%","id":"/app/%")",
                "ssm/Parameter|aws|111111111111|us-east-1|name=/app/%"}));

// 17: what a record's name leaves out, the zone says.
class HistoriesOfZones : public ::testing::Test {
 protected:
  ~HistoriesOfZones() override {
    for (const std::string& breach : CheckInvariants(registry_.Contents())) ADD_FAILURE() << breach;
  }

  ObjectFacts Object(const std::string& ns, const std::string& kind, const std::string& external,
                     const std::string& fields) {
    const std::string number = std::to_string(++objects_);
    const std::string annotation =
        external.empty() ? ""
                         : R"(,"annotations":{"crossplane.io/external-name":")" + external + "\"}";
    const Document document =
        DocumentFromJson(R"({"metadata":{"name":"x)" + number + R"(","namespace":")" + ns +
                         R"(","uid":"u-)" + number + R"(","resourceVersion":"10")" + annotation +
                         R"(},"spec":{"forProvider":{)" + fields + "}}}");
    IdentityRules rules;
    rules.cluster = "local";
    rules.catalogue = &Catalogue::BuiltIn();
    return Identify(document.root(), {"route53.aws.m.upbound.io", kind}, rules);
  }

  Decision Create(ObjectFacts object) {
    registry_.Run(
        [&](Ledger& ledger) { ResolveReferences(Catalogue::BuiltIn(), ledger.facts(), object); });
    return registry_.Create(object);
  }

  ObjectFacts Record(const std::string& ns, const std::string& name,
                     const std::string& zone = "Z2FDTNDATAQYW2") {
    return Object(ns, "Record", "",
                  R"("type":"A","zoneId":")" + zone + R"(","name":")" + name + "\"");
  }
  void DeclareZone() {
    ASSERT_TRUE(
        Create(Object("dns", "Zone", "Z2FDTNDATAQYW2", R"("name":"Example.org.")")).allowed);
  }

  testing::StrictStore store_;
  scene::Registry registry_{store_};
  int objects_ = 0;
};

TEST_F(HistoriesOfZones, ARecordIsKnownWithItsZoneAndWithout) {
  DeclareZone();
  ASSERT_TRUE(Create(Record("team-a", "www")).allowed);
  for (const char* same :
       {"www", "WWW.", "www.example.org", "www.example.org.", "WWW.Example.ORG"}) {
    EXPECT_FALSE(Create(Record("team-b", same)).allowed) << same;
  }
  for (const char* other : {"ww", "example.org", "www.example.com", "www.www.example.org"}) {
    EXPECT_TRUE(Create(Record("team-b", other)).allowed) << other;
  }
  EXPECT_TRUE(Create(Record("team-b", "www.example.org", "Z1OTHERZONE000")).allowed);
}

TEST_F(HistoriesOfZones, AZoneThatBecomesKnownTellsTheOtherSpelling) {
  ASSERT_TRUE(Create(Record("team-a", "www")).allowed);
  DeclareZone();
  EXPECT_FALSE(Create(Record("team-b", "www.example.org")).allowed);
  EXPECT_FALSE(Create(Record("team-b", "www")).allowed);
}

}  // namespace histories_external_test
}  // namespace truce
