// Random histories of queues: objects that come, change, are seen with and without status, and end;
// ProviderConfigs whose account becomes known, or moves.
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "registry/ownership/ledger.h"
#include "registry/ownership/names.h"
#include "tests/model/scene.h"
#include "tests/support/audit_only_grew.h"
#include "tests/support/strict_store.h"

namespace truce {
namespace names_model_test {

using scene::ManagedQueue;
using scene::Queue;
using scene::SlotOf;

constexpr unsigned kSeeds = 150;
constexpr int kSteps = 120;

// Checked after every step:
//   S1  of the objects admitted, no two of different roots share a name that both had when the
//   later
//       one was admitted, or that the registry had seen of the earlier one
//   S2  the invariants of one state; the audit log only grew
class NamesWorld {
 public:
  NamesWorld(unsigned seed, bool moves, bool ids) : random_(seed), moves_(moves), ids_(ids) {}

  void Step() {
    const StoreContents before = registry_.Contents();
    registry_.Advance(std::chrono::seconds{1 + Pick(90)});
    switch (Pick(8)) {
      case 0:
      case 1:
      case 2: Write(); break;
      case 3:
      case 4:
      case 5: See(); break;
      case 6: End(); break;
      default: Edit(); break;
    }
    const StoreContents after = registry_.Contents();
    for (const std::string& breach : CheckInvariants(after)) ADD_FAILURE() << breach;
    EXPECT_TRUE(testing::AuditOnlyGrew(before, after));
    CheckOwners(after);
  }

  const std::vector<std::string>& log() const { return log_; }
  // For people who look for the reason of a breach.
  std::string State() const {
    std::string text;
    const StoreContents contents = registry_.Contents();
    for (const Owner& owner : contents.owners) {
      text += "\n  owner " + owner.id.text + ", " + owner.key.text + " of " + owner.root.ns +
              " in " + owner.identity.account + ", " + std::string(Name(owner.record));
    }
    for (const ResourceName& name : contents.names) {
      text += "\n  name " + name.name.text + " of " + name.resource.text +
              (name.observed ? ", observed" : "");
    }
    for (const Row& row : contents.rows)
      text += "\n  row of " + row.id.uid.text + " at " + row.id.resource.text;
    return text;
  }

 private:
  struct Config {
    std::string account;
    bool known = false;
  };
  struct Thing {
    Slot slot;
    std::string uid;
    Queue queue;  // `account` and `observed` are filled in by what is known
    Intent intent = Intent::kDeletes;
    std::uint64_t version = 0;
    int id = 0;         // the external name; 0: none
    bool bare = false;  // its fields do not tell the queue yet
    int shown = 0;      // the id of its status; 0: none
  };

  static KeyText IdName(int id) { return {"sqs/Queue|aws|||@id=q-" + std::to_string(id)}; }

  int Pick(int count) { return static_cast<int>(random_() % static_cast<unsigned>(count)); }

  ObjectFacts FactsOf(Thing thing, bool status) const {
    const Config& config = configs_.at(thing.queue.config);
    if (config.known) thing.queue.account = config.account;
    if (status && !config.known) thing.queue.observed = config.account;
    ObjectFacts object =
        ManagedQueue(thing.slot, thing.uid, thing.queue, thing.intent, thing.version);
    object.real = status;
    DeclaredResource& resource = object.resources.front();
    if (thing.bare && thing.id != 0) {
      resource.names = {{IdName(thing.id), false}};
      resource.further_account.clear();
      resource.identity.parts.clear();
    } else if (thing.id != 0) {
      resource.names.push_back({IdName(thing.id), false});
    } else if (status && thing.shown != 0) {
      resource.names.push_back({IdName(thing.shown), true});
    }
    return object;
  }

  void Write() {
    const Slot slot =
        SlotOf("Queue", "team-" + std::to_string(Pick(3)), "slot" + std::to_string(Pick(2)));
    const auto found = things_.find(slot);
    Thing next;
    next.slot = slot;
    next.uid = found == things_.end() ? "u" + std::to_string(++uids_) : found->second.uid;
    next.queue.name = Pick(2) == 0 ? "jobs" : "mail";
    next.queue.config = Pick(2) == 0 ? "prod" : "stage";
    next.intent = Pick(3) == 0 ? Intent::kManages : Intent::kDeletes;
    next.version = ++version_;
    if (ids_) {
      next.id = Pick(4);
      next.bare = Pick(4) == 0;
      next.shown = Pick(4);
    }
    const ObjectFacts object = FactsOf(next, false);
    const Decision decision = found == things_.end()
                                  ? registry_.Create(object)
                                  : registry_.Update(FactsOf(found->second, false), object);
    std::string line = (decision.allowed ? "wrote " : "refused ") + next.uid + " " + slot.ns;
    for (const DeclaredName& name : object.resources.front().names) line += " " + name.text.text;
    log_.push_back(std::move(line));
    if (decision.allowed) things_.insert_or_assign(slot, next);
  }

  std::optional<Thing> Any() {
    if (things_.empty()) return std::nullopt;
    auto at = things_.begin();
    std::advance(at, Pick(static_cast<int>(things_.size())));
    return at->second;
  }

  void See() {
    const auto thing = Any();
    if (!thing) return;
    const bool status = Pick(3) != 0;
    log_.push_back("saw " + thing->uid + (status ? " with status" : ""));
    Thing later = *thing;
    later.version = ++version_;
    registry_.See(FactsOf(later, status));
  }

  void End() {
    const auto thing = Any();
    if (!thing) return;
    Thing last = *thing;
    last.version = ++version_;
    ObjectFacts object = FactsOf(last, Pick(2) == 0);
    object.terminating = true;
    object.deleting = Pick(2) == 0;
    log_.push_back("ended " + last.uid + (object.deleting ? ", witnessed" : ""));
    registry_.See(object);
    registry_.SeeDeleted(object);
    things_.erase(thing->slot);
  }

  void Edit() {
    const std::string name = Pick(2) == 0 ? "prod" : "stage";
    Config& config = configs_[name];
    if (moves_ && Pick(3) == 0) {
      config.account = config.account.front() == '1' ? "222222222222" : "111111111111";
    }
    const bool learns = !config.known;
    config.known = true;
    log_.push_back("account of " + name + " is " + config.account);
    registry_.RunOnAll([&](const AllFacts& facts, Ledger& ledger) {
      if (!learns) return;
      Queue queue;
      queue.config = name;
      (void)LocateResources(facts.ResourcesAfter({}, 1000),
                            {queue.ProvisionalAccount(), config.account}, ledger);
    });
    // Then all of it is read anew.
    for (auto& [slot, thing] : things_) {
      if (thing.queue.config != name) continue;
      thing.version = ++version_;
      registry_.See(FactsOf(thing, false));
    }
  }

  // Each living thing has a row, and none that is alone in its names is without its queue.
  void CheckOwners(const StoreContents& contents) {
    for (const auto& [slot, thing] : things_) {
      const ObjectFacts object = FactsOf(thing, false);
      for (const auto& [other_slot, other] : things_) {
        if (other_slot <= slot || moves_) continue;
        const DeclaredResource& a = object.resources.front();
        const ObjectFacts others = FactsOf(other, false);
        const DeclaredResource& b = others.resources.front();
        const bool same_id = thing.id != 0 && thing.id == other.id;
        EXPECT_FALSE(same_id) << "S1: " << thing.uid << " and " << other.uid << " have id "
                              << thing.id;
        const bool same = thing.queue.config == other.queue.config && a.key() == b.key();
        EXPECT_FALSE(same) << "S1: " << thing.uid << " and " << other.uid << " are "
                           << a.key().text;
      }
    }
    for (const Row& row : contents.rows) {
      const bool lives = things_.contains(row.slot) && things_.at(row.slot).uid == row.id.uid.text;
      EXPECT_TRUE(lives) << "phantom row of " << row.id.uid.text;
    }
  }

  std::mt19937 random_;
  bool moves_;
  bool ids_;
  testing::StrictStore store_;
  scene::Registry registry_{store_};
  std::map<std::string, Config> configs_{{"prod", {"111111111111", false}},
                                         {"stage", {"222222222222", false}}};
  std::map<Slot, Thing> things_;
  std::uint64_t version_ = 0;
  std::uint64_t uids_ = 0;
  std::vector<std::string> log_;
};

unsigned Seeds() {
  const char* text = std::getenv("TRUCE_MODEL_SEEDS");
  return text == nullptr ? kSeeds : static_cast<unsigned>(std::strtoul(text, nullptr, 10));
}

void Explore(bool moves, bool ids = false) {
  for (unsigned seed = 1; seed <= Seeds(); ++seed) {
    NamesWorld world(seed, moves, ids);
    for (int step = 0; step < kSteps; ++step) {
      world.Step();
      if (!::testing::Test::HasFailure()) continue;
      std::string log = "seed " + std::to_string(seed) + ", step " + std::to_string(step);
      for (const std::string& line : world.log()) log += "\n  " + line;
      log += world.State();
      FAIL() << log;
    }
  }
}

TEST(RotatingNamesModel, AccountsBecomeKnown) { Explore(false); }
TEST(RotatingNamesModel, AccountsMove) { Explore(true); }
TEST(RotatingNamesModel, IdsAreTold) { Explore(false, true); }
TEST(RotatingNamesModel, IdsAreToldWhileAccountsMove) { Explore(true, true); }

}  // namespace names_model_test
}  // namespace truce
