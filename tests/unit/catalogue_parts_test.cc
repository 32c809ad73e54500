// Re-keying in parts leaves what one decision would, wherever it is cut.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <set>

#include "registry/ownership/ledger.h"
#include "registry/ownership/names.h"
#include "registry/ownership/rows.h"
#include "registry/store/memory/memory_store.h"
#include "tests/support/invariants.h"
#include "tests/support/store_contents.h"
#include "tests/support/strict_store.h"
#include "webhook/serve/registry/catalogue_change.h"

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

// A catalogue that spells the name `n` as another one of the same few, so that keys merge, split,
// and take each other's places.
struct Spelling {
  std::uint32_t seed = 0;
  std::uint32_t names = kNames;

  KeyText operator()(const ResourceIdentity& identity) const {
    std::uint32_t name = static_cast<std::uint32_t>(std::stoul(identity.parts.front().second));
    std::mt19937 dice(seed * 1000 + name);
    if (seed != 0) name = static_cast<std::uint32_t>(dice() % names);
    return {"t/T|aws|" + identity.account + "||name=" + std::to_string(name)};
  }
  NewKey ToKeys() const {
    return [spelling = *this](const ResourceIdentity& identity) -> std::optional<KeyText> {
      return spelling(identity);
    };
  }
  std::string version() const { return "spelling " + std::to_string(seed); }
};

class World {
 public:
  explicit World(std::uint32_t seed) : dice_(seed) {}

  // Objects, each with some declarations; records; shares; further names.
  StoreContents Make(const Spelling& spelling) {
    StoreContents made;
    std::map<KeyText, std::vector<const Row*>> managers;
    for (std::uint32_t i = 0; i < 30; ++i) AddObject(i, spelling, made);
    for (const Row& row : made.rows) {
      if (Manages(row)) managers[row.id.key].push_back(&row);
    }
    for (const auto& [key, rows] : managers) AddOwner(*rows[Pick(rows.size())], made);
    for (std::uint32_t i = 0; i < 8; ++i) {
      Row row = RowOf(SlotOf(100 + i), {}, spelling);
      if (!managers.contains(row.id.key) && managers.try_emplace(row.id.key).second) {
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

  Row RowOf(const Slot& slot, const Uid& uid, const Spelling& spelling) {
    Row row;
    const std::string account = Pick(2) == 0 ? "" : "111111111111";
    row.identity = {"t/T", "aws", account, "", {{"name", std::to_string(Pick(kNames))}}};
    row.id = {spelling(row.identity), uid, RowState::kSeen};
    row.slot = row.root = slot;
    row.at = kNow - std::chrono::milliseconds{1 + Pick(50)};
    row.managed = true;
    return row;
  }

  void AddObject(std::uint32_t number, const Spelling& spelling, StoreContents& made) {
    Object object;
    object.uid = {"u" + std::to_string(number)};
    object.slot = object.root = SlotOf(number);
    object.at = kNow;
    made.objects.push_back(object);
    std::set<RowId> ids;
    for (std::uint32_t rows = 1 + Pick(3); rows > 0; --rows) {
      Row row = RowOf(object.slot, object.uid, spelling);
      row.intent = Pick(4) == 0 ? Intent::kObserves : Intent::kDeletes;
      if (ids.insert(row.id).second) made.rows.push_back(std::move(row));
    }
  }

  void AddOwner(const Row& row, StoreContents& made) {
    Owner owner;
    owner.key = row.id.key;
    owner.id = {"id" + std::to_string(made.owners.size())};
    owner.root = row.root;
    owner.party = PartyOf(row.root);
    owner.identity = row.identity;
    owner.since = row.at;
    AuditEntry granted;
    granted.key = owner.key;
    granted.id = owner.id;
    granted.root = owner.root;
    granted.cause = "made";
    made.audit.push_back(granted);
    if (Pick(3) == 0) {
      Agreement share;
      share.id = {"s" + std::to_string(made.owners.size())};
      share.key = owner.key;
      share.party = {"ns:c/other"};
      made.agreements.push_back(share);
    }
    made.owners.push_back(std::move(owner));
  }

  // Spelt as keys are, and so in the way of some of those to come.
  void AddNames(StoreContents& made) {
    std::set<KeyText> taken;
    for (const Row& row : made.rows) taken.insert(row.id.key);
    for (const Owner& owner : made.owners) taken.insert(owner.key);
    for (const Owner& owner : made.owners) {
      if (Pick(2) == 0) continue;
      const bool is_located = AccountIn(owner.key).empty();
      ResourceName name;
      name.name = WithAccount(owner.key, is_located ? "111111111111" : "?config");
      name.key = owner.key;
      name.sort = is_located ? NameSort::kLocated : NameSort::kDeclared;
      if (taken.insert(name.name).second) made.names.push_back(std::move(name));
    }
  }

  std::mt19937 dice_;
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
                      .key = owner.key,
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

  Result<std::size_t> InParts(Store& store, const Spelling& spelling) {
    return RekeyForCatalogue(store, {spelling.ToKeys(), spelling.version(), kParties, ids_, kNow,
                                     /*on_part=*/{}, /*part=*/3});
  }

  void InOneDecision(Store& store, const Spelling& spelling) {
    const auto decide = [&](const AllFacts& facts) {
      Ledger ledger(facts, kNow, ids_, kParties);
      Rekey(facts.KeysAfter({}, 1000), spelling.ToKeys(), "catalogue " + spelling.version(),
            ledger);
      ledger.PutSetting("catalogue", spelling.version());
      return ledger.Take();
    };
    ASSERT_TRUE(store.Apply({}, decide, Soon()).ok());
  }

  // Without what differs between equals: fresh ids, and what the audit log tells of the way.
  StoreContents Seen(const Store& store) const {
    StoreContents contents = ContentsOf(store).value();
    EXPECT_EQ(CheckInvariants(contents), std::vector<std::string>());
    contents.audit.clear();
    for (Owner& owner : contents.owners) {
      if (owner.id.text.starts_with("fresh")) owner.id.text = "fresh";
    }
    return contents;
  }

  static std::vector<std::string> TextsOf(const std::vector<ResourceName>& names) {
    std::vector<std::string> texts;
    for (const ResourceName& name : names) {
      texts.push_back(name.name.text + " of " + name.key.text + ", " +
                      std::string(Name(name.sort)));
    }
    return texts;
  }

  int last_id_ = 0;
  IdSource ids_ = [this] { return PublicId{"fresh" + std::to_string(++last_id_)}; };
};

TEST_P(CataloguePartsTest, PartsLeaveWhatOneDecisionLeaves) {
  const Spelling after{.seed = GetParam() + 1};
  const StoreContents contents = World(GetParam()).Make({});
  MemoryStore whole;
  testing::StrictStore parts;
  Fill(whole, contents);
  Fill(parts, contents);
  InOneDecision(whole, after);
  const auto in_parts = InParts(parts, after);
  ASSERT_TRUE(in_parts.ok()) << in_parts.error().message;
  const StoreContents left = Seen(parts);
  const StoreContents wanted = Seen(whole);
  EXPECT_EQ(TextsOf(left.names), TextsOf(wanted.names));
  EXPECT_EQ(left, wanted);
  const StoreContents once = ContentsOf(parts).value();
  EXPECT_EQ(InParts(parts, after).value(), 0U);
  EXPECT_EQ(ContentsOf(parts).value(), once);
}

TEST_P(CataloguePartsTest, WhereverItIsCutTheNextOneLeavesTheSame) {
  const Spelling after{.seed = GetParam() + 1};
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
    EXPECT_EQ(Seen(store), Seen(uncut)) << "after " << writes << " writes";
  }
}

// Who goes back to the former catalogue in the middle finds each resource under its former key.
TEST_P(CataloguePartsTest, WhereverItIsCutTheFormerCatalogueTakesItBack) {
  const Spelling after{.seed = GetParam() + 1};
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
    for (const Row& row : back.rows) EXPECT_EQ(row.id.key, Spelling{}(row.identity));
    for (const Row& row : back.rows) {
      const auto owner = std::find_if(back.owners.begin(), back.owners.end(),
                                      [&](const Owner& o) { return o.key == row.id.key; });
      EXPECT_TRUE(!Manages(row) || owner != back.owners.end()) << row.id.key.text;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Worlds, CataloguePartsTest, ::testing::Range(0U, 60U));

}  // namespace catalogue_parts_test
}  // namespace truce
