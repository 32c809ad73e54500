// Owners by what people call them, asked of the database: as a look at all of them tells.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "registry/ownership/rows.h"
#include "registry/store/owner_finder.h"
#include "registry/store/postgres/postgres_store.h"
#include "tests/support/postgres_server.h"
#include "tests/support/store_samples.h"

namespace truce::testing {
namespace postgres_finding_test {

std::string Lowered(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

// Owners of few names, ARNs and services; every eleventh ARN and service is a long one.
std::vector<Owner> RandomOwners(std::mt19937_64& random, std::size_t count) {
  const std::vector<std::string> names = {"jobs",  "Jobs", "JOBS-2",   "Ärger",
                                          "ärger", "",     "o'clock\\"};
  std::vector<Owner> owners;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string number = std::to_string(i);
    Owner owner = SampleOwner("n" + number, "u" + number);
    owner.id = {"id" + std::to_string(i % 70)};
    owner.name = names[random() % names.size()];
    owner.arn = random() % 3 == 0 ? "" : "arn:" + std::to_string(random() % 9);
    owner.service = random() % 5 == 0 ? "" : "team-" + std::to_string(random() % 7);
    if (i % 11 == 0) owner.arn = std::string(5'000, 'a') + number;
    if (i % 11 == 0) owner.service = std::string(3'000, 's') + std::to_string(i % 2);
    owners.push_back(std::move(owner));
  }
  return owners;
}

class PostgresFinding : public ::testing::Test {
 protected:
  PostgresFinding() {
    auto opened = PostgresStore::Open({.url = PostgresServer::Shared().MakeDatabase()}, Soon());
    EXPECT_TRUE(opened.ok()) << opened.error().message;
    store_ = std::move(opened).value();
    std::mt19937_64 random(20'260'101);
    Changes changes;
    changes.put_owners = RandomOwners(random, 300);
    EXPECT_TRUE(Write(*store_, changes).ok());
    owners_ = std::move(changes.put_owners);
  }

  // Keys of the owners that fit, in order.
  template <typename Fits>
  std::vector<KeyText> Those(const Fits& fits) const {
    std::vector<KeyText> keys;
    for (const Owner& owner : owners_) {
      if (fits(owner)) keys.push_back(owner.key);
    }
    std::sort(keys.begin(), keys.end());
    return keys;
  }
  std::vector<KeyText> OfService(const std::string& service) const {
    return Those([&](const Owner& owner) { return owner.service == service; });
  }
  const OwnerFinder& index() const { return *store_->index(); }

  std::unique_ptr<PostgresStore> store_;
  std::vector<Owner> owners_;
};

TEST_F(PostgresFinding, FindsByIdNameAndArn) {
  for (const Owner& each : owners_) {
    const auto by_id = index().WithIds({each.id, {"nobody"}, {""}}, 1'000, Soon()).value();
    EXPECT_EQ(by_id.at(each.id), Those([&](const Owner& o) { return o.id == each.id; }));
    EXPECT_EQ(by_id.contains(PublicId{"nobody"}) && !by_id.at({"nobody"}).empty(), false);
    if (!each.name.empty()) {
      EXPECT_EQ(index().WithName(each.name, 1'000, Soon()).value(),
                Those([&](const Owner& o) { return Lowered(o.name) == Lowered(each.name); }))
          << each.name;
    }
    if (!each.arn.empty()) {
      EXPECT_EQ(index().WithArn(each.arn, 1'000, Soon()).value(),
                Those([&](const Owner& o) { return o.arn == each.arn; }));
    }
  }
  EXPECT_TRUE(index().WithName("", 10, Soon()).value().empty());
  EXPECT_TRUE(index().WithArn("", 10, Soon()).value().empty());
  EXPECT_TRUE(index().WithName(std::string("a\0b", 3), 10, Soon()).value().empty());
  EXPECT_EQ(index().WithName("jobs", 2, Soon()).value().size(), 2U) << "the limit";
}

TEST_F(PostgresFinding, ListsServicesAndTheirKeysFromPlaceToPlace) {
  std::map<std::string, std::size_t> counts;
  for (const Owner& owner : owners_) {
    if (!owner.service.empty()) ++counts[owner.service];
  }
  std::vector<ServiceCount> expected;
  for (const auto& [service, keys] : counts) expected.push_back({service, keys});
  std::vector<ServiceCount> found;
  std::string after;
  while (true) {
    const auto page = index().Services(after, 2, Soon()).value();
    if (page.empty()) break;
    found.insert(found.end(), page.begin(), page.end());
    after = page.back().service;
  }
  EXPECT_EQ(found, expected);
  for (const auto& [service, number] : counts) {
    std::vector<KeyText> keys;
    KeyText last;
    while (true) {
      const auto page = index().OfService(service, last, 7, Soon()).value();
      keys.insert(keys.end(), page.begin(), page.end());
      if (page.size() < 7) break;
      last = page.back();
    }
    EXPECT_EQ(keys, OfService(service));
  }
}

TEST_F(PostgresFinding, CountsAllByTypeAccountAndService) {
  std::map<std::string, std::uint64_t> counts;
  std::uint64_t all = 0;
  const auto count = [&](std::string_view key, std::string_view service, std::uint64_t number) {
    EXPECT_TRUE(key.starts_with(SampleKey("n").text.substr(0, key.find('|')))) << key;
    counts[std::string(service)] += number;
    all += number;
  };
  ASSERT_TRUE(index().CountAll(count, Soon()).ok());
  EXPECT_EQ(all, owners_.size());
  for (const auto& [service, number] : counts) {
    EXPECT_EQ(number, OfService(service).size());
  }
}

TEST_F(PostgresFinding, NamespacesAreThoseOfObjectsOfTheKinds) {
  const auto object = [](const std::string& uid, const std::string& kind, const std::string& ns) {
    Object made = SampleObject(uid);
    made.slot = {"c", "g", kind, ns, "name-" + uid};
    return made;
  };
  Changes changes;
  changes.put_objects = {object("1", "Claim", "team-a"),  object("2", "Claim", "team"),
                         object("3", "Claim", "team-a"),  object("4", "Claim", ""),
                         object("5", "Claim2", "other"),  object("6", "Other", "third"),
                         object("7", "Claim", "team-a1"), object("8", "Claim", "0")};
  ASSERT_TRUE(Write(*store_, changes).ok());
  using Names = std::set<std::string>;
  EXPECT_EQ(index().NamespacesOf("c", {{"g", "Claim"}}, Soon()).value(),
            (Names{"", "0", "team", "team-a", "team-a1"}));
  EXPECT_EQ(index().NamespacesOf("c", {{"g", "Claim2"}, {"g", "Other"}}, Soon()).value(),
            (Names{"other", "third"}));
  EXPECT_TRUE(index().NamespacesOf("d", {{"g", "Claim"}}, Soon()).value().empty());
}

}  // namespace postgres_finding_test
}  // namespace truce::testing
