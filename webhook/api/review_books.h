// Recent results of reviews: DenialBook, the refusals, which are no part of the registry's truth;
// and TrialBook, the refusals that `enforce` would have made while a rule only audits or warns: the
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
#include <deque>
#include <memory>
#include <set>
#include <string>
#include <string_view>
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

// Entries of one table that are counted by their ids, and those that this server has not written
// yet. Thread-safe.
template <typename Entry>
class Book {
 public:
  // References must outlive the book.
  Book(Store& store, const Clock& clock) : store_(store), clock_(clock) {}

  // Takes over what the store holds, and adds what came since the last Flush. A row that cannot be
  // read is passed over. Errors: those of the store.
  Result<void> Load(Deadline deadline);
  // Adds what came since the last time to what the store holds, durably, and takes over what other
  // servers wrote there; a crash loses what came since. Where it stays open whether it was written,
  // it may be counted twice. Errors: those of the store; then it is tried again with the next call.
  // From one thread at a time.
  Result<void> Flush(Deadline deadline);

  // The latest first, written or not.
  std::vector<Entry> All() const;

 protected:
  void Add(Entry entry);
  const Clock& clock() const { return clock_; }

 private:
  // Each the latest last. Shared ones do not change: reviews wait for no copy of them.
  using Unchanging = std::shared_ptr<const std::deque<Entry>>;
  static Unchanging Shared(std::deque<Entry> entries) {
    return std::make_shared<const std::deque<Entry>>(std::move(entries));
  }
  struct Entries {
    Unchanging kept = Shared({});     // as the table had them at the last Flush
    Unchanging writing = Shared({});  // of a Flush under way
    std::deque<Entry> fresh;          // one for each finding, until there are too many
  };

  Store& store_;
  const Clock& clock_;
  Guarded<Entries> entries_;
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

// Collects denied reviews, dry-runs too. Thread-safe.
class DenialBook final : public Book<Denial>, public ReviewSink {
 public:
  using Book::Book;
  void OnReview(const ReviewRecord& record) override;
  // Of the resource with these names, the latest first, at most `limit`.
  std::vector<Denial> OfNames(const std::set<KeyText>& names, std::size_t limit) const;
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

// Collects reviews, dry-runs excepted. Thread-safe.
class TrialBook final : public Book<Trial>, public ReviewSink {
 public:
  using Book::Book;
  void OnReview(const ReviewRecord& record) override;
  // Seen at `since` or later, the latest first.
  std::vector<Trial> Since(Timestamp since) const;
};

// The answer above, where `cluster_routes` has its route.
Result<HttpResponse> AnswerTrial(const TrialBook& book, const HttpRequest& request);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_API_REVIEW_BOOKS_H_
