// Names that are spelt anew in parts are those that one decision would leave, wherever it is cut.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <tuple>

#include "registry/ownership/ledger.h"
#include "registry/ownership/names.h"
#include "registry/ownership/rows.h"
#include "registry/store/catalogue_change.h"
#include "tests/support/invariants.h"
#include "tests/support/memory_store.h"
#include "tests/support/store_contents.h"
#include "tests/support/strict_store.h"

namespace truce {
namespace catalogue_parts_test {

constexpr Timestamp kNow{std::chrono::hours{1}};
constexpr std::uint32_t kNames = 60;
const PartyRules kParties;

Deadline Soon() { return std::chrono::steady_clock::now() + std::chrono::seconds{10}; }

// A store that ends before one of its writes.
class EndingStore final : public Store {
 public:
  EndingStore(Store& store, int writes) : store_(store), left_(writes) {}

  Result<void> Apply(const Locks& locks, const DecideFn& decide, Deadline deadline) override {
    if (left_-- <= 0) return Error{ErrorCode::kUnavailable, "it ends here"};
    return store_.Apply(locks, decide, deadline);
  }
  using Store::Read;
  Result<void> Read(const Locks& hints, const ReadFn& read, Deadline deadline) const override {
    return store_.Read(hints, read, deadline);
  }
  StoreCounts Counts() const override { return store_.Counts(); }
  Result<void> Health() const override { return store_.Health(); }

 private:
  Store& store_;
  int left_;
};

// A catalogue that spells the name `n` as another one of the same few, so that resources merge,
// split, and take each other's names.
struct Dialect {
  std::uint32_t seed = 0;
  std::uint32_t names = kNames;

  KeyText operator()(const ResourceIdentity& identity) const {
    std::uint32_t name = static_cast<std::uint32_t>(std::stoul(identity.parts.front().second));
    std::mt19937 dice(seed * 1000 + name);
    if (seed != 0) name = static_cast<std::uint32_t>(dice() % names);
    return {"t/T|aws|" + identity.account + "||name=" + std::to_string(name)};
  }
  Spelling ToSpelling() const {
    return [dialect = *this](const ResourceIdentity& identity) -> std::optional<KeyText> {
      return dialect(identity);
    };
  }
  std::string version() const { return "dialect " + std::to_string(seed); }
};

class World {
 public:
  explicit World(std::uint32_t seed) : dice_(seed) {}

  // Objects, each with some declarations; records; shares; ids.
  StoreContents Make(const Dialect& dialect) {
    StoreContents made;
    std::map<ResourceId, std::vector<const Row*>> managers;
    for (std::uint32_t i = 0; i < 30; ++i) AddObject(i, dialect, made);
    for (const Row& row : made.rows) {
      if (Manages(row)) managers[row.id.resource].push_back(&row);
    }
    for (const auto& [id, rows] : managers) AddOwner(*rows[Pick(rows.size())], made);
    for (std::uint32_t i = 0; i < 8; ++i) {
      const Row row = RowOf(SlotOf(100 + i), {}, dialect);
      if (managers.try_emplace(row.id.resource).second) {
        AddOwner(row, made);
        made.owners.back().record = Record::kOrphaned;
      }
    }
    AddNames(made);
    return made;
  }

 private:
  std::uint32_t Pick(std::size_t count) { return static_cast<std::uint32_t>(dice_() % count); }

  static Slot SlotOf(std::uint32_t number) {
    return {"c", "g", "Kind", "ns", "o" + std::to_string(number)};
  }

  ResourceId Named(const KeyText& name) {
    return ids_.try_emplace(name, ResourceId{"id" + std::to_string(ids_.size())}).first->second;
  }

  Row RowOf(const Slot& slot, const Uid& uid, const Dialect& dialect) {
    Row row;
    const std::string account = Pick(2) == 0 ? "" : "111111111111";
    row.identity = {"t/T", "aws", account, "", {{"name", std::to_string(Pick(kNames))}}};
    row.id = {Named(dialect(row.identity)), uid, RowState::kSeen};
    row.slot = row.root = slot;
    row.at = kNow - std::chrono::milliseconds{1 + Pick(50)};
    row.managed = true;
    return row;
  }

  void AddObject(std::uint32_t number, const Dialect& dialect, StoreContents& made) {
    Object object;
    object.uid = {"u" + std::to_string(number)};
    object.slot = object.root = SlotOf(number);
    object.at = kNow;
    made.objects.push_back(object);
    std::set<RowId> ids;
    for (std::uint32_t rows = 1 + Pick(3); rows > 0; --rows) {
      Row row = RowOf(object.slot, object.uid, dialect);
      row.intent = Pick(4) == 0 ? Intent::kObserves : Intent::kDeletes;
      if (ids.insert(row.id).second) made.rows.push_back(std::move(row));
    }
  }

  void AddOwner(const Row& row, StoreContents& made) {
    Owner owner;
    owner.id = row.id.resource;
    owner.root = row.root;
    owner.party = PartyOf(row.root);
    owner.identity = row.identity;
    owner.since = row.at;
    if (Pick(3) == 0) {
      Agreement share;
      share.id = {"s" + std::to_string(made.owners.size())};
      share.resource = owner.id;
      share.party = {"ns:c/other"};
      made.agreements.push_back(share);
    }
    made.owners.push_back(std::move(owner));
  }

  // Each resource has the name that it is declared by, some owned ones another one, which may be in
  // the way of some of those to come.
  void AddNames(StoreContents& made) {
    std::set<ResourceId> owned;
    std::set<ResourceId> known;
    for (const Owner& owner : made.owners) owned.insert(owner.id);
    for (const Row& row : made.rows) known.insert(row.id.resource);
    known.insert(owned.begin(), owned.end());
    std::set<KeyText> taken;
    const auto add = [&](const KeyText& name, const ResourceId& id) {
      if (!taken.insert(name).second) return;
      made.names.push_back({.name = name, .resource = id, .sort = SortOf(name)});
    };
    for (const auto& [name, id] : ids_) {
      if (known.contains(id)) add(name, id);
    }
    for (const auto& [name, id] : ids_) {
      if (!owned.contains(id) || Pick(2) == 0) continue;
      add(WithAccount(name, AccountIn(name).empty() ? "111111111111" : "?config"), id);
    }
  }

  std::mt19937 dice_;
  std::map<KeyText, ResourceId> ids_;
};

class CataloguePartsTest : public ::testing::TestWithParam<std::uint32_t> {
 protected:
  void Fill(Store& store, const StoreContents& contents) {
    const auto decide = [&](const AllFacts& facts) {
      Ledger ledger(facts, kNow, ids_, kParties);
      for (const Object& object : contents.objects) ledger.PutObject(object);
      for (const Row& row : contents.rows) ledger.PutRow(row);
      for (const Owner& owner : contents.owners) {
        ledger.PutOwner(owner);
        ledger.Audit({.action = AuditAction::kGranted,
                      .key = {"made"},
                      .id = owner.id,
                      .root = owner.root,
                      .cause = "made"});
      }
      for (const ResourceName& name : contents.names) ledger.PutName(name);
      for (const Agreement& agreement : contents.agreements) ledger.PutAgreement(agreement);
      return ledger.Take();
    };
    ASSERT_TRUE(store.Apply({}, decide, Soon()).ok());
  }

  Result<std::size_t> InParts(Store& store, const Dialect& dialect) {
    return RespellForCatalogue(store, {dialect.ToSpelling(), dialect.version(), kParties, ids_,
                                       kNow, /*on_part=*/{}, /*part=*/3});
  }

  void AllAtOnce(Store& store, const Dialect& dialect) {
    std::size_t changed = 0;
    const auto decide = [&](const AllFacts& facts) {
      Ledger ledger(facts, kNow, ids_, kParties);
      changed = Respell(facts.ResourcesAfter({}, 1000),
                        {dialect.ToSpelling(), 1, "catalogue " + dialect.version()}, ledger);
      return ledger.Take();
    };
    do {
      ASSERT_TRUE(store.Apply({}, decide, Soon()).ok());
    } while (changed > 0);
  }

  // Without what differs between equals: fresh ids, and what the audit log and settings tell of the
  // way.
  StoreContents Seen(const Store& store) const {
    StoreContents contents = ContentsOf(store).value();
    EXPECT_EQ(CheckInvariants(contents), std::vector<std::string>());
    contents.audit.clear();
    contents.settings.clear();
    std::map<ResourceId, KeyText> keys;
    for (const Owner& owner : contents.owners) keys[owner.id] = owner.key;
    for (const ObservedResource& resource : contents.observed) keys[resource.id] = resource.key;
    const auto settle = [&](ResourceId& id) {
      if (id.text.starts_with("fresh")) id.text = "fresh: " + keys[id].text;
    };
    for (Owner& owner : contents.owners) settle(owner.id);
    for (ObservedResource& resource : contents.observed) settle(resource.id);
    for (Row& row : contents.rows) settle(row.id.resource);
    for (ResourceName& name : contents.names) {
      settle(name.resource);
      if (name.name.text.starts_with("id:fresh")) name.name.text = "id:fresh";
    }
    for (Agreement& agreement : contents.agreements) {
      settle(agreement.resource);
      if (agreement.id.text.starts_with("fresh")) agreement.id.text = "fresh";
    }
    std::ranges::sort(contents.owners, {}, &Owner::id);
    std::ranges::sort(contents.observed, {}, &ObservedResource::id);
    std::ranges::sort(contents.rows, {}, &Row::id);
    std::ranges::sort(contents.names, {}, [](const ResourceName& name) {
      return std::tuple(IdOf(name), name.resource);
    });
    std::ranges::sort(contents.agreements, {}, [](const Agreement& agreement) {
      return std::tuple(agreement.id, agreement.resource);
    });
    return contents;
  }

  // For who reads why two differ.
  static std::string TextOf(const StoreContents& contents) {
    std::string text;
    for (const Owner& owner : contents.owners) {
      text += owner.id.text + " is " + owner.root.name + "'s, " + owner.key.text + "\n";
    }
    for (const Row& row : contents.rows) {
      text += row.id.uid.text + " declares " + row.id.resource.text + " as " +
              ToText(row.identity) + "\n";
    }
    for (const ResourceName& name : contents.names) {
      text += name.name.text + " of " + name.resource.text + ", spelling " +
              std::to_string(name.spelling) + "\n";
    }
    return text;
  }

  int last_id_ = 0;
  IdSource ids_ = [this] { return PublicId{"fresh" + std::to_string(++last_id_)}; };
};

TEST_P(CataloguePartsTest, PartsLeaveWhatOneDecisionLeaves) {
  const Dialect after{.seed = GetParam() + 1};
  const StoreContents contents = World(GetParam()).Make({});
  MemoryStore whole;
  testing::StrictStore parts;
  Fill(whole, contents);
  Fill(parts, contents);
  AllAtOnce(whole, after);
  const auto in_parts = InParts(parts, after);
  ASSERT_TRUE(in_parts.ok()) << in_parts.error().message;
  const StoreContents left = Seen(parts);
  const StoreContents wanted = Seen(whole);
  EXPECT_EQ(TextOf(left), TextOf(wanted));
  EXPECT_EQ(left, wanted);
  const StoreContents once = ContentsOf(parts).value();
  EXPECT_EQ(InParts(parts, after).value(), 0U);
  EXPECT_EQ(ContentsOf(parts).value(), once);
}

TEST_P(CataloguePartsTest, WhereverItIsCutTheNextOneLeavesTheSame) {
  const Dialect after{.seed = GetParam() + 1};
  const StoreContents contents = World(GetParam()).Make({});
  MemoryStore uncut;
  Fill(uncut, contents);
  ASSERT_TRUE(InParts(uncut, after).ok());
  bool is_done = false;
  for (int writes = 0; !is_done; ++writes) {
    MemoryStore store;
    Fill(store, contents);
    EndingStore ending(store, writes);
    is_done = InParts(ending, after).ok();
    EXPECT_EQ(CheckInvariants(ContentsOf(store).value()), std::vector<std::string>());
    ASSERT_TRUE(InParts(store, after).ok());
    EXPECT_EQ(TextOf(Seen(store)), TextOf(Seen(uncut))) << "after " << writes << " writes";
    EXPECT_EQ(Seen(store), Seen(uncut)) << "after " << writes << " writes";
  }
}

// Who goes back to the former catalogue in the middle finds each resource by its former name.
TEST_P(CataloguePartsTest, WhereverItIsCutTheFormerCatalogueTakesItBack) {
  const Dialect after{.seed = GetParam() + 1};
  const StoreContents contents = World(GetParam()).Make({});
  for (const int writes : {1, 2, 3, 4, 5}) {
    MemoryStore store;
    Fill(store, contents);
    const std::vector<Row> rows = ContentsOf(store).value().rows;
    ASSERT_TRUE(InParts(store, {}).ok());
    EndingStore ending(store, writes);
    (void)InParts(ending, after);
    const auto taken_back = InParts(store, {});
    ASSERT_TRUE(taken_back.ok()) << taken_back.error().message << " after " << writes;
    const StoreContents back = ContentsOf(store).value();
    EXPECT_EQ(CheckInvariants(back), std::vector<std::string>());
    EXPECT_LE(back.rows.size(), rows.size());
    std::set<std::pair<ResourceId, KeyText>> named;  // whatever the account
    for (const ResourceName& name : back.names) {
      if (FormerIdOf(name)) continue;
      named.emplace(name.resource, WithAccount(name.name, ""));
    }
    for (const Row& row : back.rows) {
      const KeyText name = WithAccount(Dialect{}(row.identity), "");
      EXPECT_TRUE(named.contains({row.id.resource, name})) << name.text;
    }
  }
}

// What one catalogue made one, the next one splits again.
TEST_P(CataloguePartsTest, OneAfterAnotherLeavesNothingThatIsSpeltOtherwise) {
  const Dialect few{.seed = GetParam() + 100, .names = 12};
  const Dialect after{.seed = GetParam() + 1};
  MemoryStore store;
  Fill(store, World(GetParam()).Make({}));
  for (const Dialect& dialect : {few, after}) {
    const auto changed = InParts(store, dialect);
    ASSERT_TRUE(changed.ok()) << changed.error().message;
    EXPECT_EQ(CheckInvariants(ContentsOf(store).value()), std::vector<std::string>());
    const auto look = [&](const AllFacts& facts) {
      const Ledger ledger(facts, kNow, ids_, kParties);
      for (const ResourceId& id : facts.ResourcesAfter({}, 1000)) {
        EXPECT_FALSE(IsSpeltOtherwise(id, dialect.ToSpelling(), ledger)) << id.text;
      }
    };
    ASSERT_TRUE(store.Read(look, Soon()).ok());
  }
}

INSTANTIATE_TEST_SUITE_P(Worlds, CataloguePartsTest, ::testing::Range(0U, 60U));

}  // namespace catalogue_parts_test
}  // namespace truce
