#include "webhook/serve/registry/catalogue_change.h"

#include <chrono>
#include <optional>
#include <utility>
#include <vector>

#include "registry/ownership/ledger.h"
#include "registry/ownership/rows.h"

namespace truce {
namespace {

constexpr const char* kSetting = "catalogue";
// Written before the first key changes: no version is spelt so.
constexpr const char* kUnfinished = "re-keying for ";
// A part takes a second, and what is entangled perhaps minutes; nobody waits for an answer yet.
constexpr std::chrono::minutes kPartTime{10};

class CatalogueFollower {
 public:
  CatalogueFollower(Store& store, const CatalogueChange& change) : store_(store), change_(change) {}

  Result<std::size_t> Run() {
    TRUCE_ASSIGN_OR_RETURN(const bool is_done, IsDone());
    if (is_done) return std::size_t{0};
    EntangledMoves entangled;
    TRUCE_RETURN_IF_ERROR(EachPage([&](const std::vector<KeyMove>& moves) -> Result<void> {
      for (const KeyMove& move : moves) entangled.Add(move);
      all_ += moves.size();
      return {};
    }));
    entangled.Close();
    if (all_ > 0) {
      TRUCE_RETURN_IF_ERROR(Write(kUnfinished + change_.version));
      TRUCE_RETURN_IF_ERROR(MoveEntangled(entangled));
      TRUCE_RETURN_IF_ERROR(
          EachPage([&](const std::vector<KeyMove>& moves) { return MovePart(moves); }));
    }
    TRUCE_RETURN_IF_ERROR(Write(change_.version));
    return changed_;
  }

 private:
  static Deadline InTime() { return std::chrono::steady_clock::now() + kPartTime; }

  Result<bool> IsDone() const {
    bool is_done = false;
    TRUCE_RETURN_IF_ERROR(store_.Read(
        [&](const AllFacts& facts) { is_done = facts.Setting(kSetting) == change_.version; },
        InTime()));
    return is_done;
  }

  Result<void> Write(const std::string& value) {
    const auto decide = [&](const AllFacts& facts) {
      Changes changes;
      changes.repeatable = true;
      const auto now = facts.Setting(kSetting);
      if (now != change_.version && now != value) changes.put_settings = {{kSetting, value}};
      return changes;
    };
    return store_.Apply({}, decide, InTime());
  }

  // Calls `visit` with what moves of each page of keys, in their order.
  template <typename Visit>
  Result<void> EachPage(const Visit& visit) const {
    KeyText after;
    while (true) {
      std::vector<KeyText> keys;
      std::vector<KeyMove> moves;
      const auto look = [&](const AllFacts& facts) {
        keys = facts.KeysAfter(after, change_.part);
        moves = MovesOf(keys, change_.new_key, facts);
      };
      TRUCE_RETURN_IF_ERROR(store_.Read(look, InTime()));
      const bool is_last = keys.size() < change_.part;
      if (!keys.empty()) after = std::move(keys.back());
      TRUCE_RETURN_IF_ERROR(visit(std::move(moves)));
      if (is_last) return {};
    }
  }

  Result<void> MoveEntangled(const EntangledMoves& entangled) {
    if (entangled.empty()) return {};
    std::vector<KeyMove> together;
    TRUCE_RETURN_IF_ERROR(EachPage([&](std::vector<KeyMove> moves) -> Result<void> {
      for (KeyMove& move : moves) {
        if (entangled.Has(move.key)) together.push_back(std::move(move));
      }
      return {};
    }));
    return MovePart(together);
  }

  Result<void> MovePart(const std::vector<KeyMove>& moves) {
    if (moves.empty()) return {};
    std::vector<KeyText> keys;
    Locks locks;
    for (const KeyMove& move : moves) {
      keys.push_back(move.key);
      locks.keys.push_back(move.key);
      locks.keys.insert(locks.keys.end(), move.touched.begin(), move.touched.end());
    }
    std::size_t changed = 0;
    DecisionIds decision_ids;
    const auto decide = [&](const AllFacts& facts) {
      changed = 0;
      Changes changes;
      // Somebody else may be through, and answer reviews by now.
      if (facts.Setting(kSetting) != change_.version) {
        const IdSource ids = decision_ids.Run(change_.ids);
        Ledger ledger(facts, change_.now, ids, change_.parties);
        changed = Rekey(keys, change_.new_key, "catalogue " + change_.version, ledger);
        changes = ledger.Take();
      }
      changes.repeatable = true;
      return changes;
    };
    TRUCE_RETURN_IF_ERROR(store_.Apply(locks, decide, InTime()));
    changed_ += changed;
    done_ += moves.size();
    if (change_.on_part) change_.on_part(done_, all_);
    return {};
  }

  Store& store_;
  const CatalogueChange& change_;
  std::size_t all_ = 0;
  std::size_t done_ = 0;
  std::size_t changed_ = 0;
};

}  // namespace

Result<std::size_t> RekeyForCatalogue(Store& store, const CatalogueChange& change) {
  Result<std::size_t> changed = CatalogueFollower(store, change).Run();
  if (!changed.ok()) return Error(changed.error()).Within("re-key the store for this catalogue");
  return changed;
}

}  // namespace truce
