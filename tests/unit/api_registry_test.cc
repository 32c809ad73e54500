// GET and POST /api/v1/registry: an export taken into an empty registry gives the same registry;
// whole or not at all, again and again the same; and no body makes a registry that cannot be.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <string_view>

#include "registry/ownership/agreements.h"
#include "registry/ownership/invariants.h"
#include "registry/ownership/ledger.h"
#include "registry/ownership/sight.h"
#include "tests/model/world.h"
#include "tests/support/admission_fixture.h"
#include "tests/support/operator_calls.h"
#include "tests/support/service_policy.h"
#include "webhook/api/rest/operations.h"

namespace truce {
namespace api_registry_test {

using nlohmann::json;

constexpr char kPath[] = "/api/v1/registry";

class RegistryTest : public AdmissionFixture {
 protected:
  OperatorCalls On(Store& store) {
    return OperatorCalls(store, clock_, policy_view_, RegistryRoutes);
  }
  // All pages, each `limit` long.
  static json Export(OperatorCalls& calls, const std::string& limit = "1000") {
    json items = json::array();
    std::string cursor;
    do {
      std::vector<std::pair<std::string, std::string>> query = {{"limit", limit}};
      if (!cursor.empty()) query.emplace_back("cursor", cursor);
      const HttpResponse response = calls.Get(kPath, query);
      EXPECT_EQ(response.status, 200) << response.body;
      const json page = json::parse(response.body);
      for (const json& item : page.at("items")) items.push_back(item);
      cursor = page.value("nextCursor", std::string());
    } while (!cursor.empty());
    return items;
  }
  static json BodyOf(const json& items) {
    json copies = json::array();
    for (const json& item : items) copies.push_back(item.at("keyCopy"));
    return {{"copies", copies}};
  }
  static HttpResponse Apply(OperatorCalls& calls, json body) {
    body["apply"] = true;
    return calls.Post(kPath, body.dump(), "*");
  }
  static void Change(Store& store, const std::function<void(Ledger&)>& change) {
    const PartyRules parties;
    const IdSource ids = RandomIds();
    const auto decide = [&](const Facts& facts) {
      Ledger ledger(facts, Timestamp(std::chrono::hours(1001)), ids, parties);
      change(ledger);
      return ledger.Take();
    };
    ASSERT_TRUE(
        store.Apply({}, decide, std::chrono::steady_clock::now() + std::chrono::seconds(20)).ok());
  }
  // Shares, protections and offers, as the dice fall.
  static void Agree(Store& store, unsigned seed) {
    std::mt19937 random(seed);
    const StoreContents contents = store.Contents().value();
    const ByWhom by{"ann (static token) from 192.0.2.7", "because \"so\""};
    for (const Owner& owner : contents.owners) {
      Change(store, [&](Ledger& ledger) {
        const std::optional<Timestamp> until = ledger.now() + std::chrono::hours(random() % 99 + 1);
        if (random() % 2 == 0) {
          (void)GiveShare(owner.key, {{"ns:local/z"}, ShareLevel::kAttach, until}, by, ledger);
        }
        if (random() % 2 == 0) (void)Protect(owner.key, by, ledger);
        if (random() % 2 == 0) {
          (void)OfferTransfer(owner.key, {{"ns:local/z"}, "Bucket/z/next", random() % 2 == 0}, by,
                              ledger);
        }
      });
    }
  }
  // What was taken is what was there, but for the audit log, settings and objects beside all rows.
  static void ExpectSame(const StoreContents& taken, const StoreContents& original) {
    EXPECT_TRUE(taken.owners == original.owners);
    EXPECT_TRUE(taken.rows == original.rows);
    EXPECT_TRUE(taken.agreements == original.agreements);
    EXPECT_EQ(CheckInvariants(taken), std::vector<std::string>());
  }

  ServicePolicy policy_view_{service_};
};

// The seeds are spread over so many cases.
constexpr unsigned kShares = 4;

class RandomRegistries : public RegistryTest, public ::testing::WithParamInterface<unsigned> {};

TEST_P(RandomRegistries, AreTheSameBehindAnExport) {
  std::size_t agreements = 0;
  std::size_t conflicts = 0;
  for (unsigned seed = 1 + GetParam(); seed <= 150 && !HasFailure(); seed += kShares) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    MemoryStore store;
    World world(store, seed, {.bypass = 0.1, .unenforced = 0.1});
    for (unsigned i = 0; i < seed; ++i) ASSERT_FALSE(world.Step());
    Agree(store, seed);
    OperatorCalls calls = On(store);
    const json exported = Export(calls, seed % 2 == 0 ? "1" : "1000");
    MemoryStore other;
    OperatorCalls others = On(other);
    ASSERT_EQ(Apply(others, BodyOf(exported)).status, 200);
    EXPECT_EQ(Export(others).dump(), exported.dump());
    const StoreContents taken = other.Contents().value();
    ExpectSame(taken, store.Contents().value());
    ASSERT_EQ(Apply(others, BodyOf(exported)).status, 200);
    EXPECT_TRUE(other.Contents().value() == taken) << "taken again";
    agreements += taken.agreements.size();
    conflicts += store.Counts().conflicts;
  }
  EXPECT_GT(agreements, 100U / kShares);
  EXPECT_GT(conflicts, 5U / kShares);
}

INSTANTIATE_TEST_SUITE_P(Rotating, RandomRegistries, ::testing::Range(0U, kShares));

TEST_F(RegistryTest, ChainsAndObserversComeAlong) {
  const Slot claim = scene::SlotOf("ObjectStorage", "team-a", "files");
  const Slot composite = scene::SlotOf("XObjectStorage", "", "files-x1");
  Change(memory_, [&](Ledger& ledger) {
    Object above{.uid = {"local/uid-claim"}, .slot = claim, .root = claim, .service = "storage"};
    Object between{.uid = {"local/uid-x"}, .slot = composite, .parent = claim, .root = claim};
    Object leaf{.uid = {"local/uid-leaf"}, .slot = scene::SlotOf("Bucket", "", "files-x1-b")};
    leaf.parent = composite;
    leaf.parent_uid = {"local/uid-x"};
    leaf.root = claim;
    leaf.link = "uid:local/uid-x";
    leaf.names = {"a/b/c/d", "e/f/g/h"};
    leaf.stripped = 7;
    Object reader{.uid = {"local/uid-reader"}, .slot = scene::SlotOf("Bucket", "team-b", "reader")};
    reader.root = reader.slot;
    const DeclaredResource bucket = scene::Bucket("files", Intent::kDeletes);
    Row row{.id = {bucket.key, leaf.uid, RowState::kSeen}, .slot = leaf.slot, .root = claim};
    row.identity = bucket.identity;
    row.base = 18'446'744'073'709'551'615ULL;
    row.created = ledger.now();
    Row reads{.id = {scene::BucketKey("other"), reader.uid, RowState::kSeen}, .slot = reader.slot};
    reads.root = reader.slot;
    reads.intent = Intent::kObserves;
    reads.identity = scene::Bucket("other", Intent::kObserves).identity;
    Owner owner{.key = bucket.key, .id = {"abcdefghijklm"}, .root = claim};
    owner.party = PartyOf(claim);
    owner.identity = bucket.identity;
    owner.since = ledger.now();
    for (const Object& object : {above, between, leaf, reader}) ledger.PutObject(object);
    ledger.PutRow(row);
    ledger.PutRow(reads);
    ledger.PutOwner(owner);
    ledger.Audit({.action = AuditAction::kGranted,
                  .key = owner.key,
                  .id = owner.id,
                  .root = owner.root,
                  .cause = "a test's"});
  });
  OperatorCalls calls = On(memory_);
  const json exported = Export(calls);
  ASSERT_EQ(exported.size(), 2U);
  EXPECT_EQ(exported[0].at("keyCopy").at("objects").size(), 3U);
  EXPECT_FALSE(exported[1].contains("resource"));
  MemoryStore other;
  OperatorCalls others = On(other);
  ASSERT_EQ(Apply(others, BodyOf(exported)).status, 200);
  ExpectSame(other.Contents().value(), Contents());
  EXPECT_TRUE(other.Contents().value().objects == Contents().objects);
  // Copies that were made before uids carried their cluster.
  std::string earlier = BodyOf(exported).dump();
  for (std::size_t at = 0; (at = earlier.find("local/uid-", at)) != std::string::npos;) {
    earlier.erase(at, std::string_view("local/").size());
  }
  MemoryStore of_then;
  OperatorCalls calls_of_then = On(of_then);
  ASSERT_EQ(Apply(calls_of_then, json::parse(earlier)).status, 200);
  ExpectSame(of_then.Contents().value(), Contents());
  EXPECT_TRUE(of_then.Contents().value().objects == Contents().objects);
}

// A resource is kept under one of its names, each declaration by the ProviderConfig that it names.
TEST_F(RegistryTest, ResourcesOfAccountsComeAlong) {
  constexpr const char* kOne = "111111111111";
  const auto queue = [](const std::string& name, const std::string& account,
                        const std::string& observed) {
    return scene::ManagedQueue(scene::SlotOf("Queue", "team-a", name), "local/u-" + name,
                               {name, "prod", account, observed}, Intent::kManages, 10);
  };
  ObjectFacts group = scene::ManagedQueue(scene::SlotOf("Queue", "team-a", "group"),
                                          "local/u-group", {"group", "prod"}, Intent::kDeletes, 11);
  DeclaredResource& by_id = group.resources.front();
  by_id.identity = {"ec2/SecurityGroup",
                    "aws",
                    scene::Queue{"", "prod"}.StandIn(),
                    "eu-west-1",
                    {{"vpcId", "vpc-1"}, {"name", "web"}}};
  by_id.key = {"ec2/security-group|aws|||@id=sg-0a1b2c3d4e5f60718"};
  Change(memory_, [&](Ledger& ledger) {
    See(queue("declared", "", ""), true, ledger);
    See(queue("observed", "", kOne), true, ledger);
    See(queue("configured", kOne, ""), true, ledger);
    See(queue("gone", kOne, ""), true, ledger);
    See(group, true, ledger);
  });
  Change(memory_, [&](Ledger& ledger) { SeeDeleted(queue("gone", kOne, ""), {}, ledger); });
  ASSERT_EQ(Contents().owners.size(), 5U);
  OperatorCalls calls = On(memory_);
  const json exported = Export(calls);
  MemoryStore other;
  OperatorCalls others = On(other);
  const HttpResponse taken = Apply(others, BodyOf(exported));
  ASSERT_EQ(taken.status, 200) << taken.body;
  ExpectSame(other.Contents().value(), Contents());
  EXPECT_TRUE(other.Contents().value().names == Contents().names);
}

class OneBucketTest : public RegistryTest {
 protected:
  OneBucketTest() {
    EXPECT_TRUE(Send(Claim("team-a", "x", "prod-a", "service-a")).allowed);
    OperatorCalls calls = On(memory_);
    exported_ = Export(calls);
  }
  // The answer to the export after `change`, in an empty registry.
  int StatusOf(const std::function<void(json& copy)>& change) {
    json body = BodyOf(exported_);
    change(body["copies"][0]);
    MemoryStore other;
    OperatorCalls others = On(other);
    const HttpResponse response = Apply(others, body);
    EXPECT_EQ(other.Contents().value().owners.empty(), response.status != 200);
    return response.status;
  }
  json exported_;
};

TEST_F(OneBucketTest, ThePlanIsCarriedOutWholeOrNotAtAll) {
  MemoryStore other;
  OperatorCalls others = On(other);
  json body = BodyOf(exported_);
  const HttpResponse plan = others.Post(kPath, body.dump());
  EXPECT_EQ(json::parse(plan.body).at("counts").at("new"), 1);
  EXPECT_TRUE(other.Contents().value().owners.empty());
  body["apply"] = true;
  EXPECT_EQ(others.Post(kPath, body.dump()).status, 428);
  EXPECT_EQ(others.Post(kPath, body.dump(), "\"other\"").status, 412);
  EXPECT_TRUE(other.Contents().value().owners.empty());
  EXPECT_EQ(others.Post(kPath, body.dump(), OperatorCalls::TagOf(plan)).status, 200);
  const AuditEntry line = other.Contents().value().audit.at(0);
  EXPECT_EQ(line.cause, "taken from an export of a registry");
  EXPECT_EQ(line.actor, "operator");
}

TEST_F(OneBucketTest, WhatTheRegistryKnowsOtherwiseRefusesTheWhole) {
  ASSERT_TRUE(Send(Claim("team-a", "y", "prod-b", "service-a")).allowed);
  OperatorCalls calls = On(memory_);
  json body = BodyOf(Export(calls));
  MemoryStore other;
  OperatorCalls others = On(other);
  ASSERT_EQ(Apply(others, BodyOf(exported_)).status, 200);
  body["copies"][0]["owner"]["service"] = "another";
  const StoreContents before = other.Contents().value();
  const json plan = json::parse(others.Post(kPath, body.dump()).body);
  EXPECT_EQ(plan.at("items")[0].at("why"), "the registry holds it in another state");
  EXPECT_EQ(Apply(others, body).status, 409);
  EXPECT_TRUE(other.Contents().value() == before);
  body["skip"] = {"conflicting"};
  EXPECT_EQ(Apply(others, body).status, 200);
  EXPECT_EQ(other.Contents().value().owners.size(), 2U);
  EXPECT_EQ(other.Contents().value().owners[0].service, "service-a");
}

TEST_F(OneBucketTest, AnIdThatStandsForSomethingElseConflicts) {
  MemoryStore other;
  OperatorCalls others = On(other);
  ASSERT_EQ(Apply(others, BodyOf(exported_)).status, 200);
  json body = BodyOf(exported_);
  json& copy = body["copies"][0];
  const std::string key = "s3/Bucket|aws|||name=prod-z";
  copy["key"] = key;
  copy["owner"]["identity"] = key;
  copy["rows"][0]["identity"] = key;
  EXPECT_EQ(Apply(others, body).status, 409);
  copy["owner"]["id"] = "bbbbbbbbbbbbb";
  EXPECT_EQ(Apply(others, body).status, 200);
}

TEST_F(OneBucketTest, NoBodyMakesWhatCannotBe) {
  EXPECT_EQ(StatusOf([](json&) {}), 200);
  EXPECT_EQ(StatusOf([](json& copy) { copy.erase("owner"); }), 400) << "managed, without owner";
  EXPECT_EQ(StatusOf([](json& copy) { copy.erase("rows"); }), 400) << "neither row nor record";
  EXPECT_EQ(StatusOf([](json& copy) { copy.erase("objects"); }), 400);
  EXPECT_EQ(StatusOf([](json& copy) { copy["owner"]["record"] = "orphaned"; }), 400);
  EXPECT_EQ(StatusOf([](json& copy) { copy["owner"]["root"] = "a/b"; }), 400);
  EXPECT_EQ(StatusOf([](json& copy) { copy["owner"]["id"] = "short"; }), 400);
  EXPECT_EQ(StatusOf([](json& copy) { copy["owner"]["since"] = -1; }), 400);
  EXPECT_EQ(StatusOf([](json& copy) { copy["owner"]["since"] = 1e300; }), 400);
  EXPECT_EQ(StatusOf([](json& copy) { copy["owner"]["name"] = "a\nb"; }), 400);
  EXPECT_EQ(StatusOf([](json& copy) { copy["owner"]["party"] = "ns:local/evil"; }), 400);
  EXPECT_EQ(StatusOf([](json& copy) { copy["rows"][0]["intent"] = "wants"; }), 400);
  EXPECT_EQ(StatusOf([](json& copy) { copy["rows"][0]["base"] = "x"; }), 400);
  EXPECT_EQ(StatusOf([](json& copy) { copy["rows"][0]["root"] = "c/g/k/n/other"; }), 400);
  EXPECT_EQ(StatusOf([](json& copy) { copy["rows"] = "none"; }), 400);
  EXPECT_EQ(StatusOf([](json& copy) { copy["objects"][0]["names"] = {1}; }), 400);
  EXPECT_EQ(StatusOf([](json& copy) { copy["key"] = "s3/Bucket|aws|||name=other"; }), 409);
  EXPECT_EQ(StatusOf([](json& copy) { copy["owner"]["identity"] = "no/Type|aws|||name=x"; }), 409);
  OperatorCalls calls = On(memory_);
  for (const char* body : {"", "[]", "{}", R"({"copies":{}})", R"({"copies":[1]})",
                           R"({"copies":[{}]})", R"({"copies":[{"key":"k"}]})",
                           R"({"copies":[],"other":1})", R"({"copies":[],"skip":["all"]})"}) {
    EXPECT_EQ(calls.Post(kPath, body).status, 400) << body;
  }
  json twice = BodyOf(exported_);
  twice["copies"].push_back(twice["copies"][0]);
  EXPECT_EQ(calls.Post(kPath, twice.dump()).status, 400);
}

TEST_F(OneBucketTest, FiltersAndCursorsAreReadStrictly) {
  OperatorCalls calls = On(memory_);
  const auto count = [&](const char* name, const char* value) {
    const HttpResponse response = calls.Get(kPath, {{name, value}});
    EXPECT_EQ(response.status, 200) << response.body;
    return json::parse(response.body).at("items").size();
  };
  EXPECT_EQ(count("service", "service-a"), 1U);
  EXPECT_EQ(count("service", "none"), 0U);
  EXPECT_EQ(count("namespace", "team-a"), 1U);
  EXPECT_EQ(count("namespace", ""), 0U);
  EXPECT_EQ(count("state", "imported"), 0U);
  EXPECT_EQ(count("type", "s3/Bucket"), 1U);
  for (const char* name : {"state", "type", "cursor", "limit", "other"}) {
    EXPECT_EQ(calls.Get(kPath, {{name, "x"}}).status, 400) << name;
  }
}

}  // namespace api_registry_test
}  // namespace truce
