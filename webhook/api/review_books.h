// What reviews found lately: DenialBook, who was refused what, which is no part of the registry's
// truth; and TrialBook, what `enforce` would have refused while a rule only audits or warns: the
// evidence on which a team switches a rule on. Several servers on one registry exchange theirs.
//
//   GET /api/v1/trial[?since=TIME]
//     → 200 {"items": [{"service", "rule", "mode", "resource", "kind", "group", "namespace",
//     "name",
//            "user", "text", "first", "last", "count"}, …]}   the latest first
//     400: `since` is not a time
#ifndef TRUCE_WEBHOOK_API_REVIEW_BOOKS_H_
#define TRUCE_WEBHOOK_API_REVIEW_BOOKS_H_

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "policies/review_record.h"
#include "registry/base/clock.h"
#include "registry/base/guarded.h"
#include "registry/base/result.h"
#include "registry/identity/values.h"
#include "registry/ownership/table.h"
#include "registry/ownership/terms.h"
#include "webhook/http/router.h"

namespace truce {

class Store;

// Entries by their ids, the latest first. External synchronization.
template <typename Entry>
class LatestEntries final {
 public:
  LatestEntries() = default;
  LatestEntries(LatestEntries&&) noexcept = default;
  LatestEntries& operator=(LatestEntries&&) noexcept = default;

  // The entry of `id`, which comes first from now on; null: there is none.
  Entry* Touch(std::string_view id) {
    const auto known = places_.find(id);
    if (known == places_.end()) return nullptr;
    entries_.splice(entries_.begin(), entries_, known->second);
    return &entries_.front().second;
  }

  // Puts `entry` in front under `id`, which must be new; beyond `count_max` the last one goes: that
  // is returned.
  std::optional<Entry> Add(std::string id, Entry entry, std::size_t count_max) {
    Entries fresh;
    fresh.emplace_front(std::move(id), std::move(entry));
    places_.emplace(fresh.front().first, fresh.begin());
    entries_.splice(entries_.begin(), fresh);
    if (entries_.size() <= count_max) return std::nullopt;
    std::optional<Entry> gone = std::move(entries_.back().second);
    places_.erase(entries_.back().first);
    entries_.pop_back();
    return gone;
  }

  // Calls `visit(id, entry)`, the latest last: whoever enters them in this order keeps the order.
  template <typename Fn>
  void ForEach(Fn visit) const {
    for (auto entry = entries_.rbegin(); entry != entries_.rend(); ++entry) {
      visit(entry->first, entry->second);
    }
  }
  bool empty() const { return entries_.empty(); }

  // Takes the last one out for which `is_asked` is true; nothing: there is none.
  template <typename Predicate>
  std::optional<Entry> TakeLast(Predicate is_asked) {
    for (auto entry = entries_.rbegin(); entry != entries_.rend(); ++entry) {
      if (!is_asked(entry->second)) continue;
      std::optional<Entry> taken = std::move(entry->second);
      places_.erase(entry->first);
      entries_.erase(std::next(entry).base());
      return taken;
    }
    return std::nullopt;
  }

  // Those for which `is_asked` is true, at most `count_max`.
  template <typename Predicate>
  std::vector<Entry> Find(Predicate is_asked, std::size_t count_max) const {
    std::vector<Entry> out;
    for (const auto& [id, entry] : entries_) {
      if (out.size() == count_max) break;
      if (is_asked(entry)) out.push_back(entry);
    }
    return out;
  }

 private:
  using Entries = std::list<std::pair<std::string, Entry>>;

  Entries entries_;
  std::unordered_map<std::string_view, typename Entries::iterator> places_;  // by their own ids
};

// Kept at most, in all and of one root: the one seen longest ago gives way, so that the refusals of
// one claim, however many, hide no other's.
inline constexpr std::size_t kDenialsKept = 2000;
inline constexpr std::size_t kDenialsOfRoot = 100;

// Refusals of one resource to one object, counted. Objects of one kind and root whose names a
// composite controller makes up, a new one for each try, are one: `name` is the latest.
struct Denial {
  std::string id;        // 10 characters, of what is counted together; the same after a restart
  KeyText key;           // empty where the rule knows none
  std::string resource;  // for people: S3 bucket "prod-artifacts"
  std::string rule;
  std::string cause;  // as it was told, as far as the disclosure level allowed
  std::string group;
  std::string kind;
  std::string ns;
  std::string name;
  std::string user;  // who asked last
  Timestamp first{};
  Timestamp last{};
  std::uint64_t count = 0;
  Slot root;  // of the object, as far as its lineage tells

  bool operator==(const Denial&) const = default;
};

inline constexpr auto kDenialsTable = MakeTable<Denial>(
    "denials", 1, StoredColumn("id", &Denial::id), StoredColumn("key", &Denial::key),
    StoredColumn("resource", &Denial::resource), StoredColumn("rule", &Denial::rule),
    StoredColumn("cause", &Denial::cause), StoredColumn("group", &Denial::group),
    StoredColumn("kind", &Denial::kind), StoredColumn("namespace", &Denial::ns),
    StoredColumn("name", &Denial::name), StoredColumn("user", &Denial::user),
    StoredColumn("first", &Denial::first), StoredColumn("last", &Denial::last),
    StoredColumn("count", &Denial::count), StoredColumn("root", &Denial::root));

// External synchronization.
class LatestDenials final {
 public:
  // Adds the counts of the denial's id to those that are there; the words of the one that was seen
  // later stay.
  void Enter(Denial denial);
  // Calls `visit(denial)`, the latest last.
  template <typename Fn>
  void ForEach(Fn visit) const {
    entries_.ForEach([&](const std::string& /*id*/, const Denial& denial) { visit(denial); });
  }
  // At most `count_max`, the latest first.
  std::vector<Denial> All(std::size_t count_max) const {
    return entries_.Find([](const Denial&) { return true; }, count_max);
  }
  // Those of a resource with these names.
  std::vector<Denial> OfNames(const std::set<KeyText>& names, std::size_t count_max) const {
    return entries_.Find([&](const Denial& denial) { return names.contains(denial.key); },
                         count_max);
  }
  bool empty() const { return entries_.empty(); }

 private:
  void Leave(const Slot& root);

  LatestEntries<Denial> entries_;
  std::map<Slot, std::size_t> of_root_;
};

// All entries, and those that came since the book was last kept: several servers add theirs to one
// table.
template <typename Latest>
struct CountedEntries {
  Latest all;
  Latest fresh;
};

// Collects denied reviews, dry-runs too; kept in the store's table "denials", as trials are.
// Thread-safe.
class DenialBook final : public ReviewSink {
 public:
  // References must outlive the book.
  DenialBook(Store& store, const Clock& clock) : store_(store), clock_(clock) {}

  void OnReview(const ReviewRecord& record) override;

  // As those of TrialBook.
  Result<void> Load(Deadline deadline);
  Result<void> Flush(Deadline deadline);

  // The latest first.
  std::vector<Denial> All() const;
  // Of the resource with these names, the latest first, at most `limit`.
  std::vector<Denial> OfNames(const std::set<KeyText>& names, std::size_t limit) const;

 private:
  Store& store_;
  const Clock& clock_;
  Guarded<CountedEntries<LatestDenials>> entries_;
};

// Kept at most; the one seen longest ago gives way.
inline constexpr std::size_t kTrialsKept = 500;

// One rule about one resource of one object, counted. A text of an object is one line.
struct Trial {
  std::string id;       // of what is counted together
  std::string service;  // as the object says
  std::string rule;
  std::string mode;      // in which it was found last: audit or warn
  std::string resource;  // for people: S3 bucket "prod-artifacts"
  std::string group;
  std::string kind;
  std::string ns;
  std::string name;
  std::string user;  // who asked last
  std::string text;  // cause and remedy, as the denial would have had them
  Timestamp first{};
  Timestamp last{};
  std::uint64_t count = 0;

  bool operator==(const Trial&) const = default;
};

inline constexpr auto kTrialTable = MakeTable<Trial>(
    "trial", 1, StoredColumn("id", &Trial::id), StoredColumn("service", &Trial::service),
    StoredColumn("rule", &Trial::rule), StoredColumn("mode", &Trial::mode),
    StoredColumn("resource", &Trial::resource), StoredColumn("group", &Trial::group),
    StoredColumn("kind", &Trial::kind), StoredColumn("namespace", &Trial::ns),
    StoredColumn("name", &Trial::name), StoredColumn("user", &Trial::user),
    StoredColumn("text", &Trial::text), StoredColumn("first", &Trial::first),
    StoredColumn("last", &Trial::last), StoredColumn("count", &Trial::count));

// External synchronization.
class LatestTrials final {
 public:
  // As LatestDenials.
  void Enter(Trial trial);
  template <typename Fn>
  void ForEach(Fn visit) const {
    entries_.ForEach([&](const std::string& /*id*/, const Trial& trial) { visit(trial); });
  }
  // Seen at `since` or later, the latest first.
  std::vector<Trial> Since(Timestamp since) const {
    return entries_.Find([&](const Trial& trial) { return trial.last >= since; }, kTrialsKept);
  }
  bool empty() const { return entries_.empty(); }

 private:
  LatestEntries<Trial> entries_;
};

// Collects reviews, dry-runs excepted; kept in the store's table "trial", to which Flush adds: a
// crash loses what came since. Thread-safe.
class TrialBook final : public ReviewSink {
 public:
  // References must outlive the book.
  TrialBook(Store& store, const Clock& clock) : store_(store), clock_(clock) {}

  void OnReview(const ReviewRecord& record) override;

  // Takes over what the store holds, and adds what came since the last Flush. A row that cannot be
  // read is passed over. Errors: those of the store.
  Result<void> Load(Deadline deadline);
  // Adds what came since the last time to what the store holds, durably, and takes over what other
  // servers wrote there. Where it stays open whether it was written, it may be counted twice.
  // Errors: those of the store; then it is tried again with the next call. From one thread at a
  // time.
  Result<void> Flush(Deadline deadline);

  // Seen at `since` or later, the latest first.
  std::vector<Trial> Since(Timestamp since) const;

 private:
  Store& store_;
  const Clock& clock_;
  Guarded<CountedEntries<LatestTrials>> entries_;
};

// The answer above, where `cluster_routes` has its route.
Result<HttpResponse> AnswerTrial(const TrialBook& book, const HttpRequest& request);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_API_REVIEW_BOOKS_H_
