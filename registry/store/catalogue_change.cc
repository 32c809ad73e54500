#include "registry/store/catalogue_change.h"

#include <chrono>
#include <cstdint>
#include <utility>
#include <vector>

#include "registry/ownership/ledger.h"
#include "registry/ownership/rows.h"

namespace truce {
namespace {

constexpr const char* kSetting = "catalogue";
constexpr const char* kSpelling = "spelling";
// Written before the first name changes: no version is spelt so.
constexpr const char* kUnfinished = "re-spelling for ";
// A part takes a second; nobody waits for an answer yet.
constexpr std::chrono::minutes kPartTime{10};

std::uint32_t NumberIn(const std::string& text) {
  return static_cast<std::uint32_t>(VersionNumber(text).value_or(0));
}

class CatalogueFollower {
 public:
  CatalogueFollower(Store& store, const CatalogueChange& change) : store_(store), change_(change) {}

  Result<std::size_t> Run() {
    TRUCE_ASSIGN_OR_RETURN(const bool is_done, IsDone());
    if (is_done) return std::size_t{0};
    all_ = store_.Counts().owners;
    TRUCE_RETURN_IF_ERROR(SpellAll());
    TRUCE_RETURN_IF_ERROR(Write([&](const Facts& facts, Changes& changes) {
      if (!IsThrough(facts)) changes.put_settings = {{kSetting, change_.version}};
    }));
    return changed_;
  }

 private:
  struct Page {
    std::vector<ResourceId> other;  // those that are spelt otherwise
    std::size_t looked = 0;
    ResourceId last;
  };

  static Deadline InTime() { return std::chrono::steady_clock::now() + kPartTime; }

  Result<bool> IsDone() const {
    bool is_done = false;
    TRUCE_RETURN_IF_ERROR(
        store_.Read([&](const AllFacts& facts) { is_done = IsThrough(facts); }, InTime()));
    return is_done;
  }

  // Somebody else may be, and answer reviews by now.
  bool IsThrough(const Facts& facts) const { return facts.Setting(kSetting) == change_.version; }

  // Writes what `make(facts, changes)` makes.
  template <typename Make>
  Result<void> Write(const Make& make, const Locks& locks = {}) {
    const auto decide = [&](const AllFacts& facts) {
      Changes changes;
      make(facts, changes);
      changes.repeatable = true;
      return changes;
    };
    return store_.Apply(locks, decide, InTime());
  }

  Page Look(const AllFacts& facts, const ResourceId& after) const {
    Page page;
    const Ledger ledger(facts, change_.now, change_.ids, change_.parties);
    std::vector<ResourceId> ids = facts.ResourcesAfter(after, change_.part);
    page.looked = ids.size();
    if (!ids.empty()) page.last = ids.back();
    for (ResourceId& id : ids) {
      if (IsSpeltOtherwise(id, change_.spelling, ledger)) page.other.push_back(std::move(id));
    }
    return page;
  }

  Result<void> SpellAll() {
    std::size_t done = 0;
    ResourceId after;
    for (bool is_last = false; !is_last;) {
      Page page;
      TRUCE_RETURN_IF_ERROR(
          store_.Read([&](const AllFacts& facts) { page = Look(facts, after); }, InTime()));
      if (!page.other.empty()) TRUCE_RETURN_IF_ERROR(Spell(page.other));
      is_last = page.looked < change_.part;
      after = std::move(page.last);
      done += page.looked;
      if (change_.on_part) change_.on_part(done, all_);
    }
    return {};
  }

  // Before the first part that changes anything.
  Result<void> Begin() {
    return Write([&](const Facts& facts, Changes& changes) {
      const std::string mark = kUnfinished + change_.version;
      pass_ = NumberIn(facts.Setting(kSpelling).value_or(""));
      if (IsThrough(facts) || facts.Setting(kSetting) == mark) return;
      ++pass_;
      changes.put_settings = {{kSetting, mark}, {kSpelling, std::to_string(pass_)}};
    });
  }

  Result<void> Spell(const std::vector<ResourceId>& other) {
    if (pass_ == 0) TRUCE_RETURN_IF_ERROR(Begin());
    std::size_t changed = 0;
    DecisionIds decision_ids;
    const auto respell = [&](const Facts& facts, Changes& changes) {
      changed = 0;
      if (IsThrough(facts)) return;
      const IdSource ids = decision_ids.Run(change_.ids);
      Ledger ledger(facts, change_.now, ids, change_.parties);
      changed = Respell(other, {change_.spelling, pass_, "catalogue " + change_.version}, ledger);
      changes = ledger.Take();
    };
    Locks locks;
    locks.resources = other;
    TRUCE_RETURN_IF_ERROR(Write(respell, locks));
    changed_ += changed;
    return {};
  }

  Store& store_;
  const CatalogueChange& change_;
  std::size_t all_ = 0;
  std::uint32_t pass_ = 0;  // 0: nothing was spelt yet
  std::size_t changed_ = 0;
};

}  // namespace

Result<std::size_t> RespellForCatalogue(Store& store, const CatalogueChange& change) {
  Result<std::size_t> changed = CatalogueFollower(store, change).Run();
  if (!changed.ok()) return Error(changed.error()).Within("spell names as this catalogue does");
  return changed;
}

}  // namespace truce
