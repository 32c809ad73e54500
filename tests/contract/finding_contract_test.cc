// The contract of how people find owners (AllFacts): as a look at all of them tells, on every
// store.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "registry/base/text.h"
#include "tests/contract/every_store.h"
#include "tests/support/store_samples.h"

namespace truce::testing {
namespace finding_contract_test {

constexpr std::size_t kAll = 10'000;
constexpr std::string_view kWithNul{"jobs\0x", 6};

// Owners of few names, ARNs, services and places; some texts are longer than an index takes.
Owner RandomOwner(std::mt19937_64& random, std::size_t number) {
  static const std::vector<std::string> kNames = {"jobs",  "Jobs", "JOBS-2",     "Ärger",
                                                  "ärger", "",     "o'clock\\%", "jobs_2"};
  static const std::vector<std::string> kTypes = {"s3/Bucket", "sqs/Queue", "odd|ty%pe"};
  static const std::vector<std::string> kAccounts = {"", "123456789012", "210987654321",
                                                     "?cluster/ProviderConfig//one"};
  const auto one_of = [&](const std::vector<std::string>& texts) {
    return texts[random() % texts.size()];
  };
  const std::string text = std::to_string(number);
  Owner owner = SampleOwner("n" + text, "u" + text);
  owner.root.ns = random() % 3 == 0 ? "" : "team-a";
  owner.name = random() % 13 == 0 ? std::string(3'000, 'N') + text.back() : one_of(kNames);
  owner.arn = random() % 3 == 0 ? "" : "arn:" + std::to_string(random() % 9);
  if (random() % 11 == 0) owner.arn = std::string(5'000, 'a') + text.back();
  owner.service = random() % 5 == 0 ? "" : "team-" + std::to_string(random() % 12);
  if (random() % 11 == 0) owner.service = std::string(3'000, 's') + std::to_string(random() % 2);
  if (random() % 17 == 0) owner.service = "Über";
  owner.identity.type = one_of(kTypes);
  owner.identity.account = one_of(kAccounts);
  owner.identity.region = random() % 2 == 0 ? "eu-west-1" : "";
  return owner;
}

class FindingContract : public StoreContract {
 protected:
  // Some come, some of them change, some go.
  void WriteOwners() {
    constexpr std::size_t kOwners = 240;
    std::mt19937_64 random(20'260'101);
    for (std::size_t round = 0; round < 3; ++round) {
      Changes changes;
      for (std::size_t i = 0; i < kOwners; ++i) {
        if (round > 0 && random() % 3 != 0) continue;
        changes.put_owners.push_back(RandomOwner(random, i));
      }
      for (std::size_t i = round; round > 0 && i < kOwners; i += 7) {
        const ResourceId gone = RandomOwner(random, i).id;
        std::erase_if(changes.put_owners, [&](const Owner& owner) { return owner.id == gone; });
        changes.drop_owners.push_back(gone);
      }
      WriteAll(changes);
    }
    owners_ = Contents().owners;
    ASSERT_GT(owners_.size(), 100U);
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
  std::map<std::string, std::uint64_t> CountsByService() const {
    std::map<std::string, std::uint64_t> counts;
    for (const Owner& owner : owners_) {
      if (!owner.service.empty()) ++counts[owner.service];
    }
    return counts;
  }

  std::vector<Owner> owners_;
};

TEST_P(FindingContract, FindsByNameAndArn) {
  WriteOwners();
  OnFacts([&](const AllFacts& facts) {
    for (const Owner& each : owners_) {
      if (!each.name.empty()) {
        EXPECT_EQ(facts.KeysWithName(each.name, kAll), Those([&](const Owner& owner) {
                    return EqualsIgnoringCase(owner.name, each.name);
                  }))
            << each.name;
      }
      if (!each.arn.empty()) {
        EXPECT_EQ(facts.KeysWithArn(each.arn, kAll),
                  Those([&](const Owner& owner) { return owner.arn == each.arn; }));
      }
    }
  });
}

// Whatever is looked among and held: as a look at all names tells.
TEST_P(FindingContract, FindsByTheBeginningOrAPartOfANameAmongFew) {
  using Among = NameSearch::Among;
  WriteOwners();
  const std::vector<std::string> parts = {"",  "J",   "obs", "OBS_", "S-2", "%", "_",     "\\",
                                          "*", "rge", "Ä",   "ä",    "NN",  "'", "zz\\%", "jobs"};
  std::vector<std::pair<Among, std::string>> places = {
      {Among::kService, "team-1"},
      {Among::kService, "team-10"},
      {Among::kService, "TEAM-1"},
      {Among::kService, "Über"},
      {Among::kNamespace, "team-a"},
      {Among::kNamespace, ""},
      {Among::kNamespace, "team"},
      {Among::kType, "s3/Bucket"},
      {Among::kType, "odd|ty%pe"},
      {Among::kType, "s3/bucket"},
      {Among::kService, std::string(3'000, 's') + '1'},
      {Among::kBeginning, "jobs"},
      {Among::kBeginning, "JOBS-"},
      {Among::kBeginning, "jobs@"},
      {Among::kBeginning, "o'"},
      {Among::kBeginning, "o'c%"},
      {Among::kBeginning, "Är"},
      {Among::kBeginning, "är"},
      {Among::kBeginning, "jobs_2x"},
      {Among::kBeginning, "obs"},
      {Among::kBeginning, "n"},
      {Among::kBeginning, std::string(600, 'n')},
      {Among::kBeginning, std::string(3'000, 'N') + '7'}};
  for (const std::string& part : parts) places.emplace_back(Among::kBeginning, part);
  OnFacts([&](const AllFacts& facts) {
    std::size_t found = 0;
    for (const auto& [among, text] : places) {
      const auto looked_at = [&, among = among, text = text](const Owner& owner) {
        switch (among) {
          case Among::kBeginning:
            return !text.empty() && LowerOf(owner.name).starts_with(LowerOf(text));
          case Among::kService: return !text.empty() && owner.service == text;
          case Among::kNamespace: return owner.root.ns == text;
          case Among::kType: return owner.identity.type == text;
        }
        return false;
      };
      const std::size_t count = Those(looked_at).size();
      for (const std::string& part : parts) {
        const NameSearch search{among, text, part};
        const auto keys = Those([&](const Owner& owner) {
          return looked_at(owner) && LowerOf(owner.name).find(LowerOf(part)) != std::string::npos;
        });
        EXPECT_EQ(facts.KeysNamed(search, kAll), keys) << text << " " << part;
        EXPECT_EQ(facts.KeysNamed(search, count), keys) << text << " " << part;
        if (count > 0) {
          EXPECT_EQ(facts.KeysNamed(search, count - 1), std::nullopt) << text;
        }
        found += keys.size();
      }
    }
    EXPECT_GT(found, 1'000U);
  });
}

TEST_P(FindingContract, NobodyHasAnEmptyTextOrOneThatHoldsNul) {
  WriteOwners();
  OnFacts([&](const AllFacts& facts) {
    for (const std::string& text : {std::string(), std::string(kWithNul), std::string(1, '\0')}) {
      EXPECT_TRUE(facts.KeysWithName(text, kAll).empty());
      EXPECT_TRUE(facts.KeysWithArn(text, kAll).empty());
      EXPECT_TRUE(facts.KeysOfService(text, {}, kAll).empty());
      using Among = NameSearch::Among;
      for (const Among among : {Among::kBeginning, Among::kService, Among::kType}) {
        EXPECT_EQ(facts.KeysNamed({among, text, {}}, 0), std::vector<KeyText>());
      }
    }
    const NameSearch with_nul{NameSearch::Among::kType, "s3/Bucket", std::string(kWithNul)};
    EXPECT_EQ(facts.KeysNamed(with_nul, kAll), std::vector<KeyText>());
    EXPECT_TRUE(facts.NamespacesOf(kWithNul, {"g", "Claim"}, kAll).empty());
  });
}

TEST_P(FindingContract, FindsNoMoreThanWhatIsAskedForTheFirstInOrder) {
  WriteOwners();
  OnFacts([&](const AllFacts& facts) {
    std::vector<KeyText> jobs = facts.KeysWithName("JOBS", kAll);
    ASSERT_GT(jobs.size(), 2U);
    jobs.resize(2);
    EXPECT_EQ(facts.KeysWithName("JOBS", 2), jobs);
    EXPECT_EQ(facts.KeysWithArn("arn:1", 1).size(), 1U);
    EXPECT_TRUE(facts.KeysWithArn("arn:1", 0).empty());
    EXPECT_TRUE(facts.KeysOfService("team-1", {}, 0).empty());
    EXPECT_TRUE(facts.Services("", 0).empty());
  });
}

TEST_P(FindingContract, ListsServicesAndTheirKeysFromPlaceToPlace) {
  WriteOwners();
  const std::map<std::string, std::uint64_t> counts = CountsByService();
  OnFacts([&](const AllFacts& facts) {
    std::vector<ServiceCount> found;
    std::string after;
    for (bool more = true; more && found.size() < kAll;) {
      const std::vector<ServiceCount> page = facts.Services(after, 2);
      found.insert(found.end(), page.begin(), page.end());
      more = page.size() == 2;
      if (more) after = page.back().service;
    }
    std::vector<ServiceCount> expected;
    for (const auto& [service, keys] : counts) expected.push_back({service, keys});
    EXPECT_EQ(found, expected);
    for (const auto& each : counts) {
      std::vector<KeyText> keys;
      KeyText last;
      for (bool more = true; more && keys.size() < kAll;) {
        const std::vector<KeyText> page = facts.KeysOfService(each.first, last, 7);
        keys.insert(keys.end(), page.begin(), page.end());
        more = page.size() == 7;
        if (more) last = page.back();
      }
      EXPECT_EQ(keys, OfService(each.first));
    }
  });
}

TEST_P(FindingContract, CountsAllByTypeAccountAndService) {
  WriteOwners();
  std::map<std::tuple<std::string, std::string, std::string>, std::uint64_t> counts;
  for (const Owner& owner : owners_) {
    const Place place = PlaceOf(owner);
    ++counts[{place.type, place.account, owner.service}];
  }
  std::vector<ServiceTally> expected;
  for (const auto& [place, count] : counts) {
    expected.push_back({std::get<0>(place), std::get<1>(place), std::get<2>(place), count});
  }
  OnFacts([&](const AllFacts& facts) {
    std::vector<ServiceTally> found = facts.TallyServices();
    std::sort(found.begin(), found.end());
    EXPECT_EQ(found, expected);
  });
}

TEST_P(FindingContract, NamespacesAreThoseOfObjectsOfTheKind) {
  const auto object = [](const std::string& uid, const std::string& cluster,
                         const std::string& kind, const std::string& ns) {
    Object made = SampleObject(uid);
    made.slot = {cluster, "g", kind, ns, "name-" + uid};
    return made;
  };
  Changes changes;
  changes.put_objects = {object("1", "c", "Claim", "team-a"),  object("2", "c", "Claim", "team"),
                         object("3", "c", "Claim", "team-a"),  object("4", "c", "Claim", ""),
                         object("5", "c", "Claim2", "other"),  object("6", "c", "Other", "third"),
                         object("7", "c", "Claim", "team-a1"), object("8", "c", "Claim", "0"),
                         object("9", "cc", "Claim", "far")};
  WriteAll(changes);
  OnFacts([&](const AllFacts& facts) {
    using Names = std::vector<std::string>;
    EXPECT_EQ(facts.NamespacesOf("c", {"g", "Claim"}, kAll),
              (Names{"", "0", "team", "team-a", "team-a1"}));
    EXPECT_EQ(facts.NamespacesOf("c", {"g", "Claim"}, 3).size(), 3U);
    EXPECT_EQ(facts.NamespacesOf("c", {"g", "Claim2"}, kAll), Names{"other"});
    EXPECT_EQ(facts.NamespacesOf("cc", {"g", "Claim"}, kAll), Names{"far"});
    EXPECT_TRUE(facts.NamespacesOf("d", {"g", "Claim"}, kAll).empty());
    EXPECT_TRUE(facts.NamespacesOf("c", {"", "Claim"}, kAll).empty());
  });
  Changes gone;
  gone.drop_objects = {{"1"}, {"7"}};
  WriteAll(gone);
  OnFacts([&](const AllFacts& facts) {
    EXPECT_EQ(facts.NamespacesOf("c", {"g", "Claim"}, kAll),
              (std::vector<std::string>{"", "0", "team", "team-a"}));
  });
}

INSTANTIATE_TEST_SUITE_P(Stores, FindingContract, EveryStore(), NameOfStore);

}  // namespace finding_contract_test
}  // namespace truce::testing
