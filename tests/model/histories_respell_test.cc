// Named histories of catalogues that spell names otherwise than the one before.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "registry/ownership/agreements.h"
#include "registry/ownership/ledger.h"
#include "registry/ownership/names.h"
#include "tests/model/scene.h"
#include "tests/support/strict_store.h"

namespace truce {
namespace histories_respell_test {

using scene::BucketKey;
using scene::Composite;
using scene::ManagedBucket;
using scene::Queue;
using scene::QueueName;
using scene::SlotOf;

constexpr const char* kOne = "111111111111";
constexpr const char* kTwo = "222222222222";

std::string Lower(std::string name) {
  for (char& c : name) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return name;
}

std::string NameIn(const ResourceIdentity& identity) { return identity.parts.front().second; }

// Catalogues of buckets: names as they are declared; whatever their case; others for some.
std::optional<KeyText> Exact(const ResourceIdentity& identity) {
  return BucketKey(NameIn(identity));
}
std::optional<KeyText> Folded(const ResourceIdentity& identity) {
  return BucketKey(Lower(NameIn(identity)));
}
Spelling Renamed(const std::map<std::string, std::string>& words) {
  return [words](const ResourceIdentity& identity) -> std::optional<KeyText> {
    const auto word = words.find(NameIn(identity));
    return BucketKey(word == words.end() ? NameIn(identity) : word->second);
  };
}

class Respelt : public ::testing::Test {
 protected:
  ~Respelt() override {
    for (const std::string& breach : CheckInvariants(registry_.Contents())) ADD_FAILURE() << breach;
  }

  // The object as a catalogue reads it.
  static ObjectFacts As(const Spelling& spelling, ObjectFacts object) {
    for (DeclaredResource& resource : object.resources) {
      resource.names.front().text = *spelling(resource.identity);
    }
    return object;
  }

  // Made, whether Truce was asked or not; each a second after the one before.
  ObjectFacts Seen(ObjectFacts object) {
    registry_.Advance(std::chrono::seconds{1});
    object.real = object.managed;
    registry_.See(object);
    return object;
  }
  // What declares one bucket: of a slot the same object.
  static ObjectFacts Bucket(const Slot& slot, const std::string& name,
                            Intent intent = Intent::kDeletes) {
    return ManagedBucket(slot, "u-" + slot.ns + "-" + slot.name, name, intent, 10);
  }
  ObjectFacts Live(const Slot& slot, const std::string& name, const Spelling& spelling = Exact) {
    return Seen(As(spelling, Bucket(slot, name)));
  }

  std::vector<ResourceId> All() const {
    const StoreContents contents = registry_.Contents();
    std::set<ResourceId> ids;
    for (const Owner& owner : contents.owners) ids.insert(owner.id);
    for (const ObservedResource& each : contents.observed) ids.insert(each.id);
    return {ids.begin(), ids.end()};
  }

  // A portion of a pass; how many changed.
  std::size_t Portion(const std::vector<ResourceId>& ids, const Spelling& spelling,
                      std::uint32_t pass) {
    std::size_t changed = 0;
    registry_.Run([&](Ledger& ledger) {
      changed = Respell(ids, {spelling, pass, "another catalogue"}, ledger);
      for (const ResourceId& id : ids) EXPECT_FALSE(IsSpeltOtherwise(id, spelling, ledger));
    });
    return changed;
  }
  std::size_t Whole(const Spelling& spelling, std::uint32_t pass = 1) {
    return Portion(All(), spelling, pass);
  }

  // The resource that is found by the id of one that is gone.
  ResourceId Now(const ResourceId& former) const { return registry_.IdNamed(FormerIdName(former)); }

  testing::StrictStore store_;
  scene::Registry registry_{store_};
  const Slot a_ = SlotOf("Bucket", "team-a", "a");
  const Slot b_ = SlotOf("Bucket", "team-b", "b");
  const Slot c_ = SlotOf("Bucket", "team-c", "c");
};

TEST_F(Respelt, ACatalogueThatChangesNamesMergesAndSplits) {
  // Merge: names become case-insensitive. The older ownership stays, the other is a conflict.
  Live(a_, "Data");
  Live(b_, "data");
  const ResourceId elder = registry_.IdOf("Data");
  const ResourceId younger = registry_.IdOf("data");
  EXPECT_EQ(Whole(Folded), 1U);
  EXPECT_FALSE(registry_.OwnerOf("Data"));
  ASSERT_TRUE(registry_.OwnerOf("data"));
  EXPECT_EQ(registry_.OwnerOf("data")->id, elder);
  EXPECT_EQ(registry_.OwnerOf("data")->root, a_);
  EXPECT_TRUE(registry_.OwnerOf("data")->contested);
  EXPECT_EQ(Now(younger), elder);
  EXPECT_EQ(Whole(Folded), 0U) << "again: nothing changes";
  // Split: back again. Each name goes to whoever declares it.
  EXPECT_EQ(Whole(Exact, 2), 1U);
  EXPECT_EQ(registry_.OwnerOf("Data")->id, elder);
  EXPECT_EQ(registry_.OwnerOf("Data")->root, a_);
  EXPECT_FALSE(registry_.OwnerOf("Data")->contested);
  EXPECT_EQ(registry_.OwnerOf("data")->root, b_);
  EXPECT_NE(registry_.OwnerOf("data")->id, elder);
  EXPECT_FALSE(registry_.OwnerOf("data")->contested);
  EXPECT_EQ(registry_.OwnerOf("data")->name, "data");
  EXPECT_EQ(Whole(Exact, 2), 0U);
}

TEST_F(Respelt, BothPartsOfTheOwnersAreProtectedAndShared) {
  ObjectFacts top = Composite(SlotOf("XStorage", "team-a", "x"), "x", "Data", 1);
  ObjectFacts bucket = Bucket(a_, "data");
  top.lineage.resources = {scene::RefTo(bucket.slot, "")};
  bucket.lineage.controller = scene::RefTo(top.slot, "x");
  Seen(As(Folded, top));
  Seen(As(Folded, bucket));
  const ResourceId id = registry_.IdOf("data");
  ASSERT_EQ(registry_.OwnerOf("data")->root, top.slot);
  registry_.Run([&](Ledger& ledger) {
    const ShareTerms terms{{"ns:local/team-b"}, ShareLevel::kAttach, {}};
    EXPECT_TRUE(Protect(id, {"ann", "prod"}, ledger).ok());
    EXPECT_TRUE(GiveShare(id, terms, {"ann", "reads it"}, ledger).ok());
  });
  EXPECT_EQ(Whole(Exact), 1U);
  EXPECT_EQ(registry_.IdOf("Data"), id) << "that says what the owner said first";
  for (const char* name : {"Data", "data"}) {
    const auto owner = registry_.OwnerOf(name);
    ASSERT_TRUE(owner) << name;
    EXPECT_EQ(owner->root, top.slot) << name;
    EXPECT_EQ(NameIn(owner->identity), name);
    EXPECT_EQ(owner->name, name);
    registry_.Run([&](Ledger& ledger) {
      const std::vector<Agreement> agreements = ledger.AgreementsOf(owner->id);
      EXPECT_EQ(agreements.size(), 2U) << name;
      EXPECT_NE(ProtectionIn(agreements), nullptr) << name;
    });
  }
  EXPECT_EQ(registry_.OwnerOf("data")->leaf, a_);
}

// The strangers' part is the stranger's, and nobody's share or protection.
TEST_F(Respelt, WhatTheOwnerNeverDeclaredGetsNothingOfTheOwners) {
  Live(a_, "Data", Folded);
  Live(b_, "data", Folded);
  Live(c_, "data", Folded);
  const ResourceId id = registry_.IdOf("data");
  registry_.Run([&](Ledger& ledger) { EXPECT_TRUE(Protect(id, {"ann", "prod"}, ledger).ok()); });
  EXPECT_EQ(Whole(Exact), 1U);
  EXPECT_EQ(registry_.IdOf("Data"), id);
  const auto other = registry_.OwnerOf("data");
  ASSERT_TRUE(other);
  EXPECT_EQ(other->root, b_) << "the oldest of them";
  EXPECT_TRUE(other->contested);
  EXPECT_TRUE(other->real);
  ASSERT_EQ(registry_.Contents().agreements.size(), 1U);
  EXPECT_EQ(registry_.Contents().agreements.front().resource, id);
}

TEST_F(Respelt, WhatOnlyObserversDeclareIsNobodys) {
  Live(a_, "Data", Folded);
  Seen(As(Folded, Bucket(b_, "data", Intent::kObserves)));
  EXPECT_EQ(Whole(Exact), 1U);
  EXPECT_EQ(registry_.OwnerOf("Data")->root, a_);
  EXPECT_FALSE(registry_.OwnerOf("data"));
  const std::vector<ObservedResource> observed = registry_.Contents().observed;
  ASSERT_EQ(observed.size(), 1U);
  EXPECT_EQ(observed.front().key, BucketKey("data"));
  EXPECT_EQ(registry_.RowsOf("data").size(), 1U);
}

// A declared "Data" and says "data" by now, a stranger says "Data": the id is A's, and says what A
// says.
TEST_F(Respelt, TheIdentityFollowsThePartThatTheOwnerKeeps) {
  Live(a_, "Data", Folded);
  Live(a_, "data", Folded);
  Live(b_, "Data", Folded);
  const ResourceId id = registry_.IdOf("data");
  EXPECT_EQ(Whole(Exact), 1U);
  EXPECT_EQ(registry_.IdOf("data"), id);
  EXPECT_EQ(registry_.OwnerOf("data")->root, a_);
  EXPECT_EQ(NameIn(registry_.OwnerOf("data")->identity), "data");
  EXPECT_EQ(registry_.OwnerOf("data")->name, "data");
  EXPECT_EQ(registry_.OwnerOf("Data")->root, b_);
}

// What is left orphaned goes by what it was declared as, whoever declares the rest.
TEST_F(Respelt, ARecordStaysWithWhatItRecorded) {
  registry_.SeeDeleted(Live(a_, "Data", Folded));
  const ResourceId id = registry_.IdOf("data");
  ASSERT_EQ(registry_.OwnerOf("data")->record, Record::kOrphaned);
  Live(b_, "data", Folded);
  EXPECT_EQ(Whole(Exact), 1U);
  EXPECT_EQ(registry_.IdOf("Data"), id);
  EXPECT_EQ(registry_.OwnerOf("Data")->root, a_);
  EXPECT_EQ(registry_.OwnerOf("Data")->record, Record::kOrphaned);
  EXPECT_EQ(NameIn(registry_.OwnerOf("Data")->identity), "Data");
  EXPECT_FALSE(registry_.OwnerOf("Data")->contested);
  EXPECT_EQ(registry_.OwnerOf("data")->root, b_);
  EXPECT_EQ(registry_.OwnerOf("data")->record, Record::kNone);
}

TEST_F(Respelt, TwoOfOneOwnerBecomeOne) {
  ObjectFacts top = Composite(SlotOf("XStorage", "team-a", "x"), "x", "Data", 1);
  ObjectFacts bucket = Bucket(a_, "data");
  top.lineage.resources = {scene::RefTo(bucket.slot, "")};
  bucket.lineage.controller = scene::RefTo(top.slot, "x");
  Seen(top);
  Seen(bucket);
  const ResourceId elder = registry_.IdOf("Data");
  const ResourceId younger = registry_.IdOf("data");
  ASSERT_NE(elder, younger);
  const Timestamp since = registry_.OwnerOf("Data")->since;
  EXPECT_EQ(Whole(Folded), 1U);
  const auto owner = registry_.OwnerOf("data");
  ASSERT_TRUE(owner);
  EXPECT_EQ(owner->id, elder);
  EXPECT_EQ(owner->since, since);
  EXPECT_FALSE(owner->contested);
  EXPECT_EQ(Now(younger), elder);
  EXPECT_EQ(registry_.Contents().owners.size(), 1U);
  EXPECT_EQ(registry_.RowsOf("data").size(), 2U);
}

TEST_F(Respelt, ARecordAndWhatItsPartyDeclaresBecomeOne) {
  registry_.SeeDeleted(Live(a_, "Data"));
  const ResourceId elder = registry_.IdOf("Data");
  const Slot again = SlotOf("Bucket", "team-a", "again");
  Live(again, "data");
  EXPECT_EQ(Whole(Folded), 1U);
  EXPECT_EQ(registry_.OwnerOf("data")->id, elder);
  EXPECT_EQ(registry_.OwnerOf("data")->root, again);
  EXPECT_EQ(registry_.OwnerOf("data")->record, Record::kNone) << "a living row ends a record";
}

// Of strangers the elder is owner, also where one of the two is a record: it gets no stranger's
// root.
TEST_F(Respelt, OfStrangersTheElderIsOwner) {
  for (const bool record_first : {true, false}) {
    const std::string name = record_first ? "First" : "Second";
    const Slot left = SlotOf("Bucket", "team-a", name);
    const Slot lives = SlotOf("Bucket", "team-b", name);
    if (!record_first) Live(lives, Lower(name));
    registry_.SeeDeleted(Live(left, name));
    if (record_first) Live(lives, Lower(name));
    const ResourceId record = registry_.IdOf(name);
    const ResourceId living = registry_.IdOf(Lower(name));
    EXPECT_EQ(Whole(Folded), 1U);
    const auto owner = registry_.OwnerOf(Lower(name));
    ASSERT_TRUE(owner);
    EXPECT_EQ(owner->root, record_first ? left : lives);
    EXPECT_EQ(owner->party, PartyOf(owner->root));
    EXPECT_EQ(owner->record, record_first ? Record::kOrphaned : Record::kNone);
    EXPECT_EQ(owner->contested, record_first);
    EXPECT_EQ(owner->id, record_first ? record : living);
    EXPECT_EQ(Now(record_first ? living : record), owner->id);
  }
}

// --- texts that change their meaning -------------------------------------------------------------

class SwappedTexts : public Respelt {
 protected:
  SwappedTexts() {
    Live(a_, "a");
    Live(b_, "b");
    Live(c_, "c");
    for (const char* name : {"a", "b", "c"}) ids_.push_back(registry_.IdOf(name));
  }

  // Which of the resources has the name: 0 to 2.
  std::ptrdiff_t Has(const char* name) const {
    return std::find(ids_.begin(), ids_.end(), registry_.IdOf(name)) - ids_.begin();
  }
  void ExpectThree() const {
    const StoreContents contents = registry_.Contents();
    EXPECT_EQ(contents.owners.size(), 3U);
    EXPECT_EQ(contents.names.size(), 3U) << "the old ones are gone";
    for (const Owner& owner : contents.owners) EXPECT_FALSE(owner.contested) << owner.key.text;
  }

  std::vector<ResourceId> ids_;
};

TEST_F(SwappedTexts, InOnePortion) {
  EXPECT_EQ(Whole(Renamed({{"a", "b"}, {"b", "a"}})), 2U);
  EXPECT_EQ(Has("b"), 0);
  EXPECT_EQ(Has("a"), 1);
  EXPECT_EQ(Has("c"), 2);
  ExpectThree();
}

// In whatever order the portions come, and whichever of them are cut out and come again.
TEST_F(SwappedTexts, InPortionsOfOne) {
  std::vector<std::size_t> order = {0, 1, 2};
  std::uint32_t pass = 0;
  std::map<std::string, std::string> words = {{"a", "a"}, {"b", "b"}, {"c", "c"}};
  do {
    for (auto& [word, said] : words) said = said == "a" ? "b" : said == "b" ? "c" : "a";
    ++pass;
    for (const std::size_t at : order) {
      SCOPED_TRACE("pass " + std::to_string(pass) + " at " + std::to_string(at));
      EXPECT_EQ(Portion({ids_[at]}, Renamed(words), pass), 1U);
      for (const std::string& breach : CheckInvariants(registry_.Contents())) {
        ADD_FAILURE() << breach;
      }
    }
    EXPECT_EQ(Portion(ids_, Renamed(words), pass), 0U);
    EXPECT_EQ(Has(words["a"].c_str()), 0) << pass;
    EXPECT_EQ(Has(words["b"].c_str()), 1) << pass;
    EXPECT_EQ(Has(words["c"].c_str()), 2) << pass;
    ExpectThree();
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST_F(SwappedTexts, APassThatWasCutGoesOnWithItsNumber) {
  const Spelling swapped = Renamed({{"a", "b"}, {"b", "a"}});
  for (const bool from_the_start : {true, false}) {
    SCOPED_TRACE(from_the_start);
    const std::uint32_t pass = from_the_start ? 1 : 3;
    EXPECT_EQ(Portion({ids_[0]}, swapped, pass), 1U);
    EXPECT_EQ(Has("b"), 0) << "of two with one text the newer one counts";
    EXPECT_EQ(registry_.NamesOf(ids_[1]).size(), 1U) << "the other one waits for it";
    EXPECT_EQ(Portion(from_the_start ? ids_ : std::vector<ResourceId>{ids_[1]}, swapped, pass), 1U);
    EXPECT_EQ(Has("b"), 0);
    EXPECT_EQ(Has("a"), 1);
    ExpectThree();
    EXPECT_EQ(Whole(Exact, pass + 1), 2U);
  }
}

// Before the first pass is through another catalogue comes, or the one before comes back.
TEST_F(SwappedTexts, AnotherCatalogueComesBeforeAPassIsThrough) {
  const Spelling rotated = Renamed({{"a", "b"}, {"b", "c"}, {"c", "a"}});
  const Spelling back = Renamed({{"a", "c"}, {"c", "b"}, {"b", "a"}});
  for (std::uint32_t through = 1; through < 3; ++through) {
    SCOPED_TRACE(through);
    Portion({ids_.begin(), ids_.begin() + through}, rotated, 10 * through + 1);
    Whole(back, 10 * through + 2);
    EXPECT_EQ(Has("c"), 0);
    EXPECT_EQ(Has("b"), 2);
    EXPECT_EQ(Has("a"), 1);
    ExpectThree();
    Portion({ids_.begin() + through, ids_.end()}, rotated, 10 * through + 3);
    Whole(Exact, 10 * through + 4);
    EXPECT_EQ(Has("a"), 0);
    EXPECT_EQ(Has("b"), 1);
    EXPECT_EQ(Has("c"), 2);
    ExpectThree();
  }
}

// The first catalogue called the first as the second is called still. To the next one the second
// and the third are one.
TEST_F(SwappedTexts, WhatWaitedForAPassIsFoundByTheNextOne) {
  for (const bool at_once : {false, true}) {
    SCOPED_TRACE(at_once);
    const std::string b = at_once ? "bb" : "b";
    if (at_once) {
      // Three others, which one portion spells anew.
      ids_.clear();
      for (const char* name : {"aa", "bb", "cc"}) {
        Live(SlotOf("Bucket", std::string("team-") + name, name), name);
        ids_.push_back(registry_.IdOf(name));
      }
    }
    const std::string a = at_once ? "aa" : "a";
    const std::string c = at_once ? "cc" : "c";
    Portion({ids_[0]}, Renamed({{a, b}, {b, "elsewhere"}}), at_once ? 3 : 1);
    const Spelling next = Renamed({{a, a + "-anew"}, {c, b}});
    if (at_once) {
      Portion(ids_, next, 4);
    } else {
      for (const ResourceId& id : ids_) Portion({id}, next, 2);
    }
    EXPECT_EQ(registry_.IdOf(a + "-anew"), ids_[0]);
    EXPECT_EQ(registry_.IdOf(b), ids_[1]) << "the elder of the two";
    EXPECT_EQ(Now(ids_[2]), ids_[1]);
    ASSERT_TRUE(registry_.OwnerOf(b));
    EXPECT_TRUE(registry_.OwnerOf(b)->contested);
    EXPECT_EQ(registry_.RowsOf(b).size(), 2U);
  }
}

// --- what stays ----------------------------------------------------------------------------------

TEST_F(Respelt, ATypeThatTheCatalogueDoesNotKnowKeepsItsNames) {
  Live(a_, "Data");
  Seen(Bucket(b_, "other", Intent::kObserves));
  const StoreContents before = registry_.Contents();
  const Spelling unknown = [](const ResourceIdentity&) { return std::optional<KeyText>(); };
  EXPECT_EQ(Whole(unknown), 0U);
  EXPECT_EQ(registry_.Contents(), before);
}

class RespeltQueues : public Respelt {
 protected:
  static KeyText IdName(const std::string& id) { return {"sqs/Queue|aws|||@id=" + id}; }
  // Names are in lower case, and another part tells them.
  static std::optional<KeyText> Called(const ResourceIdentity& identity) {
    const std::string name = identity.parts.empty() ? "" : NameIn(identity);
    return WithAccount({"sqs/Queue|aws||eu-west-1|called=" + Lower(name)}, identity.account);
  }
  static KeyText CalledName(const std::string& name, const std::string& account) {
    return WithAccount({"sqs/Queue|aws||eu-west-1|called=" + name}, account);
  }
  void Learn(const Queue& queue, const std::string& account) {
    registry_.RunOnAll([&](const AllFacts& facts, Ledger& ledger) {
      (void)LocateResources(facts.ResourcesAfter({}, 100), {queue.ProvisionalAccount(), account},
                            ledger);
    });
  }
};

TEST_F(RespeltQueues, WhatIsKnownByAnIdAloneIsLeftAlone) {
  ObjectFacts bare = scene::ManagedQueue(a_, "u-a", {"jobs", "prod", "", ""}, Intent::kDeletes, 10);
  bare.resources.front().names = {{IdName("q-1"), false}};
  bare.resources.front().identity.parts.clear();
  Seen(bare);
  const StoreContents before = registry_.Contents();
  EXPECT_EQ(Whole(Called), 0U);
  EXPECT_EQ(registry_.Contents(), before);
}

TEST_F(RespeltQueues, ItsNamesInEachAccountAreSpeltAnewAndItsIdsStay) {
  const Queue queue{"jobs", "prod", kOne, ""};
  ObjectFacts object = scene::ManagedQueue(a_, "u-a", queue, Intent::kDeletes, 10);
  object.resources.front().names.push_back({IdName("q-1"), false});
  Seen(object);
  const ResourceId id = registry_.IdNamed(QueueName("jobs", kOne));
  ASSERT_EQ(registry_.NamesOf(id).size(), 3U);
  EXPECT_EQ(Whole(Called), 1U);
  EXPECT_EQ(registry_.NamesOf(id).size(), 3U);
  for (const KeyText& name :
       {CalledName("jobs", kOne), CalledName("jobs", queue.ProvisionalAccount()), IdName("q-1")}) {
    EXPECT_EQ(registry_.IdNamed(name), id) << name.text;
  }
  EXPECT_EQ(registry_.OwnerNamed(IdName("q-1"))->key, CalledName("jobs", kOne));
}

// A left "Jobs" in the account where the ProviderConfig led before; "jobs" is in the one where it
// leads now. Two accounts have two queues, however they are called.
TEST_F(RespeltQueues, ResourcesOfTwoAccountsStayTwo) {
  for (const bool strangers : {true, false}) {
    SCOPED_TRACE(strangers);
    const std::string config = strangers ? "prod" : "stage";
    const Slot left = SlotOf("Queue", "team-a", config);
    const Slot lives = SlotOf("Queue", strangers ? "team-b" : "team-a", config + "-2");
    registry_.SeeDeleted(Seen(scene::ManagedQueue(
        left, "u1-" + config, {"Jobs-" + config, config, kOne, ""}, Intent::kManages, 10)));
    Seen(scene::ManagedQueue(lives, "u2-" + config, {"jobs-" + config, config, kTwo, ""},
                             Intent::kDeletes, 20));
    EXPECT_EQ(Whole(Called, strangers ? 1 : 2), 2U);
    const auto first = registry_.OwnerNamed(CalledName("jobs-" + config, kOne));
    const auto second = registry_.OwnerNamed(CalledName("jobs-" + config, kTwo));
    ASSERT_TRUE(first && second);
    EXPECT_NE(first->id, second->id);
    EXPECT_EQ(first->root, left);
    EXPECT_EQ(first->record, Record::kOrphaned);
    EXPECT_EQ(second->root, lives);
    EXPECT_EQ(second->record, Record::kNone);
  }
}

// The located name is made of the declared one as it is spelt now.
TEST_F(RespeltQueues, AnAccountIsLearnedAfterwards) {
  const Queue queue{"Jobs", "prod", "", ""};
  Seen(scene::ManagedQueue(a_, "u-a", queue, Intent::kDeletes, 10));
  EXPECT_EQ(Whole(Called), 1U);
  Learn(queue, kOne);
  const ResourceId id = registry_.IdNamed(CalledName("jobs", queue.ProvisionalAccount()));
  ASSERT_FALSE(id.empty());
  EXPECT_EQ(registry_.IdNamed(CalledName("jobs", kOne)), id);
}

// --- names that get accounts ---------------------------------------------------------------------

// A catalogue that says now that a type's names are each account's own, not the partition's.
class NamesGetAccounts : public Respelt {
 protected:
  // As the new catalogue reads it.
  static ObjectFacts In(ObjectFacts object, const std::string& account) {
    for (DeclaredResource& resource : object.resources) {
      resource.identity.account = account;
      resource.names.front().text = {"s3/Bucket|aws|" + account + "||name=" + resource.name};
    }
    return object;
  }
  std::optional<Owner> OwnerIn(const std::string& account, const std::string& name) const {
    return registry_.OwnerNamed({"s3/Bucket|aws|" + account + "||name=" + name});
  }

  // Nobody knows in which account what is kept is: no name can be made of it.
  void Follow() {
    const Spelling spelling = [](const ResourceIdentity&) { return std::optional<KeyText>(); };
    EXPECT_EQ(Whole(spelling), 0U);
  }
};

TEST_F(NamesGetAccounts, WhatIsKeptHoldsItsNameInEachAccountUntilItsOwnIsKnown) {
  const ObjectFacts first = registry_.Live(a_, "u1", "k");
  Follow();
  const ObjectFacts other = ManagedBucket(b_, "u2", "k", Intent::kDeletes, 11);
  for (const std::string account : {"?prod", "111111111111"}) {
    EXPECT_FALSE(registry_.Create(In(other, account)).allowed) << account;
  }
  // Seen in the cluster, it has the name that its account says, and no other.
  registry_.See(In(first, "?prod"));
  EXPECT_EQ(OwnerIn("?prod", "k")->root, a_);
  EXPECT_FALSE(registry_.OwnerOf("k"));
  EXPECT_FALSE(OwnerIn("?prod", "k")->contested);
  EXPECT_FALSE(registry_.Create(In(other, "?prod")).allowed);
  EXPECT_TRUE(registry_.Create(In(other, "?dev")).allowed);
}

TEST_F(NamesGetAccounts, ItsOwnDeclarantTellsTheAccount) {
  const ObjectFacts first = In(registry_.Live(a_, "u1", "k"), "111111111111");
  Follow();
  ObjectFacts changed = first;
  changed.contact = "someone";
  EXPECT_TRUE(registry_.Update(first, changed).allowed);
  changed.version = 12;
  registry_.See(changed);
  EXPECT_EQ(OwnerIn("111111111111", "k")->root, a_);
  EXPECT_FALSE(registry_.OwnerOf("k"));
}

TEST_F(NamesGetAccounts, ARecordKeepsItsNameForItsParty) {
  registry_.SeeDeleted(registry_.Live(a_, "u1", "k"));
  ASSERT_EQ(registry_.OwnerOf("k")->record, Record::kOrphaned);
  Follow();
  EXPECT_FALSE(
      registry_.Create(In(ManagedBucket(b_, "u2", "k", Intent::kDeletes, 11), "?dev")).allowed);
  EXPECT_TRUE(
      registry_.Create(In(ManagedBucket(a_, "u3", "k", Intent::kDeletes, 12), "?dev")).allowed);
  EXPECT_EQ(OwnerIn("?dev", "k")->root, a_);
  EXPECT_FALSE(registry_.OwnerOf("k"));
}

}  // namespace histories_respell_test
}  // namespace truce
