// GET /api/v1/registry: everything that the registry keeps of each resource.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <string_view>

#include "registry/ownership/agreements.h"
#include "registry/ownership/ledger.h"
#include "registry/ownership/sight.h"
#include "tests/model/world.h"
#include "tests/support/admission_fixture.h"
#include "tests/support/operator_calls.h"
#include "tests/support/store_contents.h"
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
    const StoreContents contents = ContentsOf(store).value();
    const ByWhom by{"ann (static token) from 192.0.2.7", "because \"so\""};
    for (const Owner& owner : contents.owners) {
      Change(store, [&](Ledger& ledger) {
        const std::optional<Timestamp> until = ledger.now() + std::chrono::hours(random() % 99 + 1);
        if (random() % 2 == 0) {
          (void)GiveShare(owner.id, {{"ns:local/z"}, ShareLevel::kAttach, until}, by, ledger);
        }
        if (random() % 2 == 0) (void)Protect(owner.id, by, ledger);
        if (random() % 2 == 0) {
          (void)OfferTransfer(owner.id, {{"ns:local/z"}, "Bucket/z/next", random() % 2 == 0}, by,
                              ledger);
        }
      });
    }
  }
  const InForce<AdmissionPolicy>& policy_view_ = service_.in_force();
};

// What the export says of `contents`: no owner, row, agreement or name is left out.
void ExpectWhole(const json& exported, const StoreContents& contents) {
  std::size_t owners = 0;
  std::size_t rows = 0;
  std::size_t agreements = 0;
  std::size_t names = 0;
  for (const json& item : exported) {
    const json& copy = item.at("keyCopy");
    owners += copy.count("owner");
    rows += copy.value("rows", json::array()).size();
    agreements += copy.value("agreements", json::array()).size();
    names += copy.value("names", json::array()).size();
  }
  EXPECT_EQ(owners, contents.owners.size());
  EXPECT_EQ(rows, contents.rows.size());
  EXPECT_EQ(agreements, contents.agreements.size());
  EXPECT_EQ(names, contents.names.size());
}

TEST_F(RegistryTest, RandomOnesAreExportedWholeInPagesOfAnySize) {
  std::size_t agreements = 0;
  for (unsigned seed = 1; seed <= 20 && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    MemoryStore store;
    World world(store, seed, {.bypass = 0.1, .unenforced = 0.1});
    for (unsigned i = 0; i < 5 * seed; ++i) ASSERT_FALSE(world.Step());
    Agree(store, seed);
    OperatorCalls calls = On(store);
    const json exported = Export(calls);
    EXPECT_EQ(Export(calls, "1").dump(), exported.dump());
    ExpectWhole(exported, ContentsOf(store).value());
    agreements += ContentsOf(store).value().agreements.size();
  }
  EXPECT_GT(agreements, 20U);
}

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
    const ResourceId id{"abcdefghijklm"};
    const ResourceId other{"bcdefghijklmn"};
    Row row{.id = {id, leaf.uid, RowState::kSeen}, .slot = leaf.slot, .root = claim};
    row.identity = bucket.identity;
    row.base = 18'446'744'073'709'551'615ULL;
    row.created = ledger.now();
    Row reads{.id = {other, reader.uid, RowState::kSeen}, .slot = reader.slot};
    reads.root = reader.slot;
    reads.intent = Intent::kObserves;
    reads.identity = scene::Bucket("other", Intent::kObserves).identity;
    Owner owner{.id = id, .root = claim};
    owner.party = PartyOf(claim);
    owner.identity = bucket.identity;
    owner.since = ledger.now();
    for (const Object& object : {above, between, leaf, reader}) ledger.PutObject(object);
    ledger.PutRow(row);
    ledger.PutRow(reads);
    ledger.PutOwner(owner);
    ledger.PutName({.name = bucket.key(), .resource = id, .at = ledger.now()});
    ledger.PutName({.name = scene::BucketKey("other"), .resource = other, .at = ledger.now()});
    ledger.Audit({.action = AuditAction::kGranted,
                  .key = bucket.key(),
                  .id = owner.id,
                  .root = owner.root,
                  .cause = "a test's"});
  });
  OperatorCalls calls = On(memory_);
  const json exported = Export(calls);
  ASSERT_EQ(exported.size(), 2U);
  EXPECT_EQ(exported[0].at("keyCopy").at("objects").size(), 3U);
  EXPECT_FALSE(exported[1].contains("resource"));
  EXPECT_EQ(exported[0].at("keyCopy").at("rows")[0].at("base"), "18446744073709551615");
  ExpectWhole(exported, Contents());
}

TEST_F(RegistryTest, FiltersAndCursorsAreReadStrictly) {
  ASSERT_TRUE(Send(Claim("team-a", "x", "prod-a", "service-a")).allowed);
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
