// The contract of what a decision may read (registry/ownership/facts.h): orders, pages and lists,
// on every store.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <iterator>
#include <mutex>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/contract/every_store.h"
#include "tests/support/store_samples.h"

namespace truce::testing {
namespace facts_contract_test {

using FactsContract = StoreContract;

TEST_P(FactsContract, OrdersRowsByIdAndObjectsByUid) {
  Changes changes;
  for (const char* key : {"b", "a", "c"}) {
    for (const char* uid : {"u2", "u10", "u1"}) {
      Row row = SampleRow(key, uid);
      changes.put_rows.push_back(row);
      row.id.state = RowState::kSeen;
      changes.put_rows.push_back(row);
      Object object = SampleObject(uid);
      object.parent = SampleSlot("parent");
      changes.put_objects.push_back(object);
    }
    changes.put_owners.push_back(SampleOwner(key, "u1"));
  }
  WriteAll(changes);
  std::sort(changes.put_rows.begin(), changes.put_rows.end(),
            [](const Row& a, const Row& b) { return a.id < b.id; });
  EXPECT_EQ(Contents().rows, changes.put_rows);
  const auto ordered = [](const std::vector<Row>& rows) {
    return std::is_sorted(rows.begin(), rows.end(),
                          [](const Row& a, const Row& b) { return a.id < b.id; });
  };
  OnFacts([&](const Facts& facts) {
    EXPECT_EQ(facts.RowsOf(SampleId("b")).size(), 6U);
    EXPECT_TRUE(ordered(facts.RowsOf(SampleId("b"))));
    EXPECT_EQ(facts.RowsOfUid(Uid{"u10"}).size(), 6U);
    EXPECT_TRUE(ordered(facts.RowsOfUid(Uid{"u10"})));
    const std::vector<Object> children = facts.ChildrenOf(SampleSlot("parent"));
    ASSERT_EQ(children.size(), 3U);
    EXPECT_EQ(children[0].uid.text, "u1");
    EXPECT_EQ(children[1].uid.text, "u10");
    EXPECT_EQ(children[2].uid.text, "u2");
  });
}

TEST_P(FactsContract, ObjectBySlotIsTheYoungest) {
  Changes changes;
  for (const auto& [uid, at] : {std::pair{"u1", 5}, {"u2", 9}, {"u3", 9}, {"u4", 1}}) {
    Object object = SampleObject(uid);
    object.slot = SampleSlot("a");
    object.at = At(at);
    changes.put_objects.push_back(object);
  }
  WriteAll(changes);
  OnFacts([](const Facts& facts) {
    const auto object = facts.ObjectBySlot(SampleSlot("a"));
    ASSERT_TRUE(object.has_value());
    EXPECT_EQ(object->uid.text, "u3");
  });
}

TEST_P(FactsContract, CountsReservationsOfARange) {
  Changes changes;
  for (const auto& [uid, at] : {std::pair{"u1", 1}, {"u2", 2}, {"u3", 3}}) {
    Row row = SampleRow("a", uid);
    row.user = "alice";
    row.at = At(at);
    changes.put_rows.push_back(row);
  }
  Row seen = changes.put_rows[0];
  seen.id.state = RowState::kSeen;
  changes.put_rows.push_back(seen);
  Row other = SampleRow("a", "u9");
  other.user = "bob";
  other.at = At(1);
  changes.put_rows.push_back(other);
  Row trusted = SampleRow("a", "u10");
  trusted.user.clear();
  trusted.at = At(1);
  changes.put_rows.push_back(trusted);
  Row scoped = SampleRow("a", "u11");
  scoped.slot.ns.clear();
  scoped.user = "alice";
  scoped.at = At(1);
  changes.put_rows.push_back(scoped);
  changes.put_owners.push_back(SampleOwner("a", "u1"));
  WriteAll(changes);
  const std::string ns = SampleSlot("a").ns;
  OnFacts([&](const Facts& facts) {
    const auto count = [&](const ReservedRange& range) {
      return facts.CountReserved(range, {}, 99);
    };
    EXPECT_EQ(count({.ns = ns}), 4U) << "of all users";
    EXPECT_EQ(count({.ns = ns, .user = "alice"}), 4U);
    EXPECT_EQ(count({.ns = ns, .before = At(3)}), 3U);
    EXPECT_EQ(count({.ns = ns, .from = At(2)}), 2U);
    EXPECT_EQ(count({.ns = ns, .from = At(2), .before = At(3)}), 1U);
    EXPECT_EQ(count({.ns = "elsewhere"}), 0U);
    EXPECT_EQ(count({.user = "alice"}), 1U) << "cluster-scoped: of one user";
    EXPECT_EQ(count({}), 0U);
    EXPECT_EQ(facts.CountReserved({.ns = ns}, {}, 2), 2U) << "no further than the limit";
    EXPECT_EQ(facts.CountReserved({.ns = ns}, {}, 0), 0U);
    const Slot of_kind = SampleSlot("a");
    const std::set<GroupKind> left_out = {{of_kind.group, of_kind.kind}};
    EXPECT_EQ(facts.CountReserved({.ns = ns}, left_out, 99), 0U);
    EXPECT_EQ(facts.CountReserved({.ns = ns}, {{"other.example.org", of_kind.kind}}, 99), 4U);
    EXPECT_EQ(facts.CountReserved({.ns = ns}, {{"other.example.org", of_kind.kind}}, 3), 3U);
  });
}

TEST_P(FactsContract, FindsOwnersThatDifferInTheAccountOnly) {
  Changes changes;
  for (const char* name : {"c", "a", "b", "d"}) {
    changes.put_owners.push_back(SampleOwner(name, "u1"));
    changes.put_owners.back().shape = name == std::string_view("d") ? "" : "shape";
  }
  WriteAll(changes);
  OnFacts([](const Facts& facts) {
    const std::vector<Owner> two = facts.OwnersOfShape("shape", 2);
    ASSERT_EQ(two.size(), 2U);
    EXPECT_EQ(two[0].key, SampleKey("a"));
    EXPECT_EQ(two[1].key, SampleKey("b"));
    EXPECT_EQ(facts.OwnersOfShape("shape", 9).size(), 3U);
    EXPECT_TRUE(facts.OwnersOfShape("", 9).empty());
  });
}

// Some stores do not keep what the key tells.
TEST_P(FactsContract, ShapesAreKeptWhateverTheKeyTells) {
  const auto owner_of = [](const std::string& account, const std::string& shape) {
    Owner owner = SampleOwner("a" + account, "u1");
    owner.key.text = "sqs/Queue|aws|" + account + "|eu|name=a";
    owner.shape = shape;
    return owner;
  };
  const std::string told = "sqs/Queue|aws||eu|name=a";
  const Owner usual = owner_of("1", told);
  const Owner none = owner_of("2", "");
  const Owner other = owner_of("3", "shape");
  const Owner without_account = owner_of("", "");
  ASSERT_EQ(ShapeOf(usual.key), told);
  ASSERT_EQ(ShapeOf(without_account.key), "");
  Changes changes;
  changes.put_owners = {usual, none, other, without_account};
  WriteAll(changes);
  const auto check = [&](const std::vector<Owner>& of_told, const std::vector<Owner>& of_other) {
    OnFacts([&](const Facts& facts) {
      EXPECT_EQ(facts.OwnersOfShape(told, 9), of_told);
      EXPECT_EQ(facts.OwnersOfShape("shape", 9), of_other);
      EXPECT_TRUE(facts.OwnersOfShape("", 9).empty());
      EXPECT_EQ(facts.OwnerOf(none.id), none);
      EXPECT_EQ(facts.OwnerOf(without_account.id), without_account);
    });
  };
  check({usual}, {other});
  if (kind_->Reopen()) check({usual}, {other});
  Changes more;
  more.put_owners = {owner_of("3", told)};
  more.drop_owners = {usual.id};
  WriteAll(more);
  check({owner_of("3", told)}, {});
  if (kind_->Reopen()) check({owner_of("3", told)}, {});
}

// Those that wait while another commit is at the disk are decided in one transaction.
TEST_P(FactsContract, ADecisionSeesTheShapesOfThoseBeforeIt) {
  const bool in_order = GetParam().name != "Postgres";  // which decides several at once
  constexpr std::size_t kCount = 40;
  std::mutex mutex;
  std::vector<std::size_t> seen;  // both guarded by mutex
  std::size_t told = 0;
  std::condition_variable all_told;
  for (std::size_t i = 0; i < kCount; ++i) {
    const auto decide = [&, i](const Facts& facts) {
      const std::size_t count = facts.OwnersOfShape("shape", kCount).size();
      const std::lock_guard lock(mutex);
      seen.resize(std::max(seen.size(), i + 1));
      seen[i] = count;
      Changes changes;
      // Each third one takes the one before it away.
      if (in_order && i % 3 == 2) {
        changes.drop_owners = {SampleId("n" + std::to_string(i - 1))};
        return changes;
      }
      changes.put_owners = {SampleOwner("n" + std::to_string(i), "u1")};
      changes.put_owners[0].shape = "shape";
      return changes;
    };
    store().Submit({}, decide, Soon(), [&](const Result<void>& result) {
      EXPECT_TRUE(result.ok());
      const std::lock_guard lock(mutex);
      if (++told == kCount) all_told.notify_one();
    });
  }
  std::unique_lock lock(mutex);
  ASSERT_TRUE(all_told.wait_until(lock, Soon(), [&] { return told == kCount; }));
  for (std::size_t i = 0; in_order && i < kCount; ++i) EXPECT_EQ(seen[i], i / 3 + i % 3) << i;
  EXPECT_EQ(seen.size(), kCount);
}

TEST_P(FactsContract, PagesThroughResourcesAndKeysOfOwnersAndRows) {
  Changes changes;
  changes.put_owners = {SampleOwner("a", "u1"), SampleOwner("c", "u1")};
  changes.put_observed = {{SampleId("d"), SampleKey("d")},
                          {SampleId("b"), SampleKey("b")},
                          {SampleId("e"), SampleKey("e")}};
  for (const char* key : {"a", "b", "c", "d", "e"}) changes.put_names.push_back(SampleKeyName(key));
  for (const char* key : {"c", "d", "b", "e"}) {
    for (const char* uid : {"u1", "u2"}) {
      Row row = SampleRow(key, uid);
      row.intent = Intent::kObserves;
      changes.put_rows.push_back(row);
    }
  }
  WriteAll(changes);
  OnFacts([](const AllFacts& facts) {
    const std::vector<ResourceId> ids = {SampleId("a"), SampleId("b"), SampleId("c"), SampleId("d"),
                                         SampleId("e")};
    EXPECT_EQ(facts.ResourcesAfter({}, 9), ids);
    EXPECT_EQ(facts.ResourcesAfter(SampleId("b"), 2), (std::vector{SampleId("c"), SampleId("d")}));
    EXPECT_TRUE(facts.ResourcesAfter(SampleId("e"), 2).empty());
    EXPECT_TRUE(facts.ResourcesAfter({}, 0).empty());
    const std::vector<KeyText> all = {SampleKey("a"), SampleKey("b"), SampleKey("c"),
                                      SampleKey("d"), SampleKey("e")};
    EXPECT_EQ(facts.KeysAfter({}, 9), all);
    EXPECT_EQ(facts.KeysAfter(SampleKey("b"), 2), (std::vector{SampleKey("c"), SampleKey("d")}));
    EXPECT_TRUE(facts.KeysAfter(SampleKey("e"), 2).empty());
    EXPECT_TRUE(facts.KeysAfter({}, 0).empty());
  });
}

// While another catalogue spells names anew, two resources may be shown by one.
TEST_P(FactsContract, TwoResourcesMayHaveOneKey) {
  Changes changes;
  changes.put_owners = {SampleOwner("a", "u1"), SampleOwner("b", "u1"), SampleOwner("c", "u1")};
  changes.put_owners[0].key = SampleKey("b");
  changes.put_names = {SampleKeyName("b"), SampleKeyName("b"), SampleKeyName("c")};
  changes.put_names[0].resource = SampleId("a");
  changes.put_names[0].spelling = 1;
  WriteAll(changes);
  const auto check = [&] {
    EXPECT_EQ(Contents().owners, changes.put_owners);
    OnFacts([&](const AllFacts& facts) {
      EXPECT_EQ(facts.OwnerOf(SampleId("a")), changes.put_owners[0]);
      EXPECT_EQ(facts.OwnerOf(SampleId("b")), changes.put_owners[1]);
      EXPECT_EQ(facts.KeysAfter({}, 9), (std::vector{SampleKey("b"), SampleKey("c")}));
      EXPECT_EQ(facts.OwnersIn(OwnerList::kAll, {}, 9).size(), 3U);
      EXPECT_EQ(facts.OwnersIn(OwnerList::kAll, SampleKey("b"), 9).size(), 1U);
    });
  };
  check();
  if (kind_->Reopen()) check();
}

TEST_P(FactsContract, PagesThroughTheObjectsOfOneKind) {
  Changes changes;
  const auto add = [&](const Slot& slot, const char* uid) {
    changes.put_objects.push_back(SampleObject(uid));
    changes.put_objects.back().slot = slot;
  };
  const Slot all = {"local", "g", "Bucket", "", ""};
  const auto slot = [&all](const char* ns, const char* name) {
    return Slot{all.cluster, all.group, all.kind, ns, name};
  };
  add(slot("b", "x"), "u1");
  add(slot("a", "y"), "u2");
  add(slot("a", "x"), "u4");
  add(slot("a", "x"), "u3");
  add(slot("", "z"), "u5");
  add({"other", all.group, all.kind, "a", "x"}, "u6");
  add({all.cluster, "g.example", all.kind, "a", "x"}, "u7");
  add({all.cluster, all.group, "Buckets", "a", "x"}, "u8");
  WriteAll(changes);
  const auto page_after = [&](const Slot& of_kind, const std::string& after, std::size_t limit) {
    ObjectPage page;
    OnFacts([&](const AllFacts& facts) { page = facts.ObjectsOfKind(of_kind, after, limit); });
    EXPECT_LE(page.objects.size(), limit);
    return page;
  };
  const auto uids = [](const ObjectPage& page) {
    std::vector<std::string> all_uids;
    for (const Object& object : page.objects) all_uids.push_back(object.uid.text);
    return all_uids;
  };
  for (std::size_t limit = 1; limit <= 6; ++limit) {
    std::vector<std::string> seen;
    ObjectPage page;
    do {
      page = page_after(slot("any", "name"), page.next, limit);
      std::ranges::copy(uids(page), std::back_inserter(seen));
    } while (!page.next.empty());
    std::ranges::sort(seen);
    EXPECT_EQ(seen, (std::vector<std::string>{"u1", "u2", "u3", "u4", "u5"})) << limit;
  }
  const ObjectPage of_none = page_after({"third", all.group, all.kind, "", ""}, "", 9);
  EXPECT_TRUE(of_none.objects.empty());
  EXPECT_TRUE(of_none.next.empty());
}

TEST_P(FactsContract, APassOverAKindOutlivesWhatChangesMeanwhile) {
  Changes changes;
  for (const char* uid : {"u1", "u2", "u3", "u4", "u5"}) {
    changes.put_objects.push_back(SampleObject(uid));
  }
  WriteAll(changes);
  const Slot of_kind = changes.put_objects[0].slot;
  const auto page_after = [&](const std::string& after) {
    ObjectPage page;
    OnFacts([&](const AllFacts& facts) { page = facts.ObjectsOfKind(of_kind, after, 2); });
    return page;
  };
  ObjectPage page = page_after("");
  ASSERT_EQ(page.objects.size(), 2U);
  // The page's last object goes, another is written anew: the pass goes on behind them.
  Changes meanwhile;
  meanwhile.drop_objects = {page.objects[1].uid};
  meanwhile.put_objects = {page.objects[0]};
  meanwhile.put_objects[0].service = "renamed";
  WriteAll(meanwhile);
  std::set<std::string> seen = {page.objects[0].uid.text, page.objects[1].uid.text};
  while (!page.next.empty()) {
    page = page_after(page.next);
    for (const Object& object : page.objects) {
      EXPECT_TRUE(seen.insert(object.uid.text).second) << object.uid.text;
    }
  }
  EXPECT_EQ(seen.size(), 5U);
}

TEST_P(FactsContract, AnObjectThatBecomesAnotherKindStandsThereOnly) {
  Changes changes;
  changes.put_objects = {SampleObject("u1"), SampleObject("u2")};
  WriteAll(changes);
  const Slot before = changes.put_objects[0].slot;
  changes.put_objects[0].slot.kind = "Other";
  changes.put_objects.pop_back();
  WriteAll(changes);
  const Slot after = changes.put_objects[0].slot;
  OnFacts([&](const AllFacts& facts) {
    ASSERT_EQ(facts.ObjectsOfKind(before, {}, 9).objects.size(), 1U);
    EXPECT_EQ(facts.ObjectsOfKind(before, {}, 9).objects[0].uid.text, "u2");
    EXPECT_EQ(facts.ObjectsOfKind(after, {}, 9).objects, changes.put_objects);
  });
  Changes drop;
  drop.drop_objects = {changes.put_objects[0].uid};
  WriteAll(drop);
  OnFacts([&](const AllFacts& facts) {
    EXPECT_TRUE(facts.ObjectsOfKind(after, {}, 9).objects.empty());
  });
}

TEST_P(FactsContract, AnObjectIsFoundInItsSlotAlone) {
  Changes changes;
  changes.put_objects = {SampleObject("u1"), SampleObject("u2")};
  Object& older = changes.put_objects[0];
  Object& younger = changes.put_objects[1];
  const Slot here = older.slot;
  Slot there = here;
  there.name = "there";
  younger.slot = here;
  younger.at = older.at + std::chrono::seconds(1);
  const auto uid_in = [&](const Slot& slot) {
    std::string uid;
    OnFacts([&](const Facts& facts) {
      const auto object = facts.ObjectBySlot(slot);
      uid = object ? object->uid.text : "";
    });
    return uid;
  };
  WriteAll(changes);
  EXPECT_EQ(uid_in(here), "u2");
  EXPECT_EQ(uid_in(there), "");
  younger.slot = there;
  WriteAll(changes);
  EXPECT_EQ(uid_in(here), "u1");
  EXPECT_EQ(uid_in(there), "u2");
  younger.slot = here;
  WriteAll(changes);
  EXPECT_EQ(uid_in(here), "u2");
  EXPECT_EQ(uid_in(there), "");
  Changes drop;
  drop.drop_objects = {younger.uid};
  WriteAll(drop);
  EXPECT_EQ(uid_in(here), "u1");
}

TEST_P(FactsContract, PagesThroughWhatObserves) {
  Changes changes;
  for (const auto& [name, uid, intent] : {std::tuple{"b", "u1", Intent::kObserves},
                                          {"a", "u2", Intent::kObserves},
                                          {"a", "u1", Intent::kDeletes},
                                          {"a", "u0", Intent::kObserves}}) {
    changes.put_owners.push_back(SampleOwner(name, uid));
    changes.put_rows.push_back(SampleRow(name, uid));
    changes.put_rows.back().intent = intent;
  }
  Row again = changes.put_rows[1];
  again.id.state = RowState::kSeen;
  changes.put_rows.push_back(again);
  WriteAll(changes);
  const Row b = changes.put_rows[0];
  const Row a2 = changes.put_rows[1];
  const Row a0 = changes.put_rows[3];
  OnFacts([&](const AllFacts& facts) {
    EXPECT_EQ(facts.ObserversAfter({}, 9), (std::vector{a0, a2, again, b}));
    EXPECT_EQ(facts.ObserversAfter({}, 1), (std::vector{a0}));
    EXPECT_EQ(facts.ObserversAfter(a0.id, 2), (std::vector{a2, again}));
    EXPECT_EQ(facts.ObserversAfter(a2.id, 9), (std::vector{again, b}));
    EXPECT_TRUE(facts.ObserversAfter(b.id, 9).empty());
  });
}

TEST_P(FactsContract, PagesThroughReservationsMadeBeforeATime) {
  Changes changes;
  for (const auto& [name, uid, at] :
       {std::tuple{"b", "u1", 1}, {"a", "u2", 2}, {"a", "u1", 3}, {"c", "u1", 4}}) {
    changes.put_owners.push_back(SampleOwner(name, uid));
    changes.put_rows.push_back(SampleRow(name, uid));
    changes.put_rows.back().at = At(at);
  }
  Row seen = changes.put_rows[0];
  seen.id.state = RowState::kSeen;
  changes.put_rows.push_back(seen);
  WriteAll(changes);
  const Row b = changes.put_rows[0];
  const Row a2 = changes.put_rows[1];
  const Row a1 = changes.put_rows[2];
  OnFacts([&](const AllFacts& facts) {
    EXPECT_EQ(facts.ReservedBefore(At(4), {}, 9), (std::vector{a1, a2, b}));
    EXPECT_EQ(facts.ReservedBefore(At(3), {}, 9), (std::vector{a2, b}));
    EXPECT_EQ(facts.ReservedBefore(At(4), {}, 1), (std::vector{a1}));
    EXPECT_EQ(facts.ReservedBefore(At(4), a1.id, 9), (std::vector{a2, b}));
    EXPECT_TRUE(facts.ReservedBefore(At(4), b.id, 9).empty());
    EXPECT_TRUE(facts.ReservedBefore(At(4), seen.id, 9).empty());
    EXPECT_TRUE(facts.ReservedBefore(At(1), {}, 9).empty());
  });
}

TEST_P(FactsContract, CountsTheSeenRowsOfACluster) {
  Changes changes;
  const auto add = [&](const char* cluster, const char* uid, RowState state) {
    changes.put_rows.push_back(SampleRow("a", uid));
    changes.put_rows.back().slot.cluster = cluster;
    changes.put_rows.back().id.state = state;
  };
  changes.put_owners = {SampleOwner("a", "u1")};
  add("one", "u1", RowState::kSeen);
  add("one", "u2", RowState::kSeen);
  add("one", "u3", RowState::kReserved);
  add("one-more", "u4", RowState::kSeen);
  WriteAll(changes);
  OnFacts([](const AllFacts& facts) {
    EXPECT_EQ(facts.CountSeen("one"), 2U);
    EXPECT_EQ(facts.CountSeen("one-more"), 1U);
    EXPECT_EQ(facts.CountSeen("on"), 0U);
  });
  WriteAll(changes);  // once more: the same rows
  Changes drop;
  drop.drop_rows = {changes.put_rows[0].id, changes.put_rows[2].id};
  WriteAll(drop);
  OnFacts([](const AllFacts& facts) { EXPECT_EQ(facts.CountSeen("one"), 1U); });
}

TEST_P(FactsContract, ListsOwnersByWhatPeopleAskFor) {
  Changes changes;
  const auto add = [&](const char* name, Record record, HolderState state) -> Owner& {
    changes.put_owners.push_back(SampleOwner(name, "u1"));
    changes.put_owners.back().record = record;
    changes.put_owners.back().state = state;
    changes.put_names.push_back(SampleKeyName(name));
    return changes.put_owners.back();
  };
  add("g", Record::kTransferring, HolderState::kHeld);
  add("f", Record::kOrphaned, HolderState::kReserved);
  add("e", Record::kImported, HolderState::kReserved).until = Timestamp(std::chrono::seconds(5));
  add("d", Record::kImported, HolderState::kHeld).contested = true;
  add("c", Record::kNone, HolderState::kTerminating);
  add("b", Record::kNone, HolderState::kHeld).contested = true;
  add("a", Record::kNone, HolderState::kReserved);
  WriteAll(changes);
  OnFacts([](const Facts& facts) {
    const auto names = [&](OwnerList list, const KeyText& after, std::size_t limit) {
      std::string text;
      for (const Owner& owner : facts.OwnersIn(list, after, limit)) text += owner.name;
      return text;
    };
    EXPECT_EQ(names(OwnerList::kAll, {}, 9), "abcdefg");
    EXPECT_EQ(names(OwnerList::kContested, {}, 9), "bd");
    EXPECT_EQ(names(OwnerList::kOrphaned, {}, 9), "fg");
    EXPECT_EQ(names(OwnerList::kImported, {}, 9), "de");
    EXPECT_EQ(names(OwnerList::kEnding, {}, 9), "e");
    EXPECT_EQ(names(OwnerList::kEnding, SampleKey("e"), 9), "");
    EXPECT_EQ(names(OwnerList::kAll, SampleKey("b"), 2), "cd");
    EXPECT_EQ(names(OwnerList::kContested, SampleKey("b"), 9), "d");
    EXPECT_EQ(names(OwnerList::kOrphaned, SampleKey("f"), 9), "g");
  });
}

TEST_P(FactsContract, TellsTheAuditLogByNumber) {
  for (const char* id : {"x", "y", "x", "z"}) {
    Changes changes;
    changes.audit.emplace_back();
    changes.audit.back().id.text = id;
    changes.audit.back().root = changes.audit.back().slot = SampleSlot("a");
    WriteAll(changes);
  }
  // PostgreSQL tells them once nothing else runs there that began before, such as its own ANALYZE.
  std::size_t told = 0;
  for (const Deadline until = Soon(); told < 4 && std::chrono::steady_clock::now() < until;) {
    const ReadFn count = [&](const AllFacts& facts) { told = facts.AuditLines({}, 9).size(); };
    ASSERT_TRUE(store().Read(count, Soon()).ok());
  }
  ASSERT_EQ(told, 4U);
  OnFacts([](const AllFacts& facts) {
    const auto numbers = [&](const AuditRange& range, std::size_t limit) {
      std::string text;
      for (const AuditLine& line : facts.AuditLines(range, limit)) {
        text += std::to_string(line.place.number) + line.entry.id.text;
      }
      return text;
    };
    EXPECT_EQ(numbers({}, 9), "1x2y3x4z");
    EXPECT_EQ(numbers({.newest_first = true}, 9), "4z3x2y1x");
    EXPECT_EQ(numbers({.from = 2, .until = 4}, 9), "2y3x");
    EXPECT_EQ(numbers({.from = 2, .until = 4, .newest_first = true}, 1), "3x");
    EXPECT_EQ(numbers({.id = ResourceId{"x"}}, 9), "1x3x");
    EXPECT_EQ(numbers({.id = ResourceId{"x"}, .newest_first = true}, 1), "3x");
    EXPECT_EQ(numbers({.from = 5}, 9), "");
    const auto place = [&](std::uint64_t number) {
      const auto lines = facts.AuditLines({.from = number}, 1);
      return lines.empty() ? AuditPlace() : lines.front().place;
    };
    EXPECT_EQ(numbers({.behind = place(2)}, 1), "3x");
    EXPECT_EQ(numbers({.behind = place(4)}, 9), "");
    EXPECT_EQ(numbers({.behind = place(3), .newest_first = true}, 9), "2y1x");
    EXPECT_EQ(numbers({.behind = place(1), .id = ResourceId{"x"}}, 9), "3x");
  });
}

Agreement SampleAgreement(const std::string& id, AgreementKind kind, const std::string& resource) {
  Agreement agreement;
  agreement.id = {id};
  agreement.kind = kind;
  agreement.resource = SampleId(resource);
  agreement.party = {"ns:local/team-b"};
  agreement.level = ShareLevel::kAttach;
  agreement.accepted = false;
  agreement.successor = "Bucket/team-b/x";
  agreement.reason = "reads \"it\"";
  agreement.actor = "ann";
  agreement.at = At(7);
  return agreement;
}

TEST_P(FactsContract, AgreementsAreFoundByResourceIdAndKind) {
  Agreement first = SampleAgreement("b", AgreementKind::kShare, "k");
  first.until = At(99);
  const Agreement second = SampleAgreement("a", AgreementKind::kTransfer, "k");
  const Agreement other = SampleAgreement("c", AgreementKind::kShare, "other");
  Changes changes;
  changes.put_owners = {SampleOwner("k", "u1"), SampleOwner("other", "u1")};
  changes.put_agreements = {first, second, other};
  WriteAll(changes);
  OnFacts([&](const Facts& facts) {
    EXPECT_EQ(facts.AgreementsOf(SampleId("k")), (std::vector<Agreement>{second, first}));
    EXPECT_TRUE(facts.AgreementsOf(SampleId("none")).empty());
    EXPECT_EQ(facts.AgreementById({"b"}), first);
    EXPECT_EQ(facts.AgreementById({"z"}), std::nullopt);
    const auto shares = [&](const char* after, std::size_t limit) {
      return facts.AgreementsAfter(AgreementKind::kShare, {after}, limit);
    };
    EXPECT_EQ(shares("", 10), (std::vector<Agreement>{first, other}));
    EXPECT_EQ(shares("", 1), (std::vector<Agreement>{first}));
    EXPECT_EQ(shares("b", 10), (std::vector<Agreement>{other}));
  });
  first.reason = "changed";
  Changes again;
  again.put_agreements = {first};
  again.drop_agreements = {{"a"}, {"none"}};
  WriteAll(again);
  EXPECT_EQ(Contents().agreements, (std::vector<Agreement>{first, other}));
  Changes nameless;
  nameless.put_agreements = {SampleAgreement("", AgreementKind::kShare, "k")};
  EXPECT_EQ(Write(store(), nameless).error().code, ErrorCode::kInternal);
}

TEST_P(FactsContract, AnAgreementMovesToAnotherResourceAndEndsBeforeItsOwn) {
  Changes changes;
  changes.put_owners = {SampleOwner("a", "u1"), SampleOwner("b", "u1")};
  changes.put_agreements = {SampleAgreement("x", AgreementKind::kShare, "a")};
  WriteAll(changes);
  const auto refused = [&](const Changes& broken) {
    const StoreContents before = Contents();
    const Result<void> written = Write(store(), broken);
    ASSERT_FALSE(written.ok());
    EXPECT_EQ(written.error().code, ErrorCode::kInternal);
    EXPECT_EQ(Contents(), before);
  };
  Changes of_nothing;
  of_nothing.put_agreements = {SampleAgreement("y", AgreementKind::kShare, "none")};
  refused(of_nothing);
  Changes end;
  end.drop_owners = {SampleId("a")};
  refused(end);
  end.put_agreements = {SampleAgreement("x", AgreementKind::kShare, "b")};
  WriteAll(end);
  EXPECT_EQ(Contents().agreements, end.put_agreements);
  Changes last;
  last.drop_owners = {SampleId("b")};
  last.drop_agreements = {{"x"}};
  WriteAll(last);
  EXPECT_TRUE(Contents().agreements.empty());
}

INSTANTIATE_TEST_SUITE_P(Stores, FactsContract, EveryStore(), NameOfStore);

}  // namespace facts_contract_test
}  // namespace truce::testing
