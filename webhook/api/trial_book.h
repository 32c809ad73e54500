// TrialBook: what `enforce` would have refused while a rule only audits or warns: the evidence on
// which a team switches a rule on.
//
//   GET /api/v1/trial[?since=TIME]   on the operator socket
//     → 200 {"items": [{"service", "rule", "mode", "resource", "kind", "group", "namespace",
//     "name",
//            "user", "text", "first", "last", "count"}, …]}   the latest first
//     400: `since` is not a time
#ifndef TRUCE_WEBHOOK_API_TRIAL_BOOK_H_
#define TRUCE_WEBHOOK_API_TRIAL_BOOK_H_

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "policies/review_record.h"
#include "registry/base/clock.h"
#include "registry/base/guarded.h"
#include "registry/ownership/ids.h"
#include "webhook/http/router.h"

namespace truce {

class Store;

// Kept at most; the one seen longest ago gives way.
inline constexpr std::size_t kTrialsKept = 500;

// One rule about one resource of one object, counted. A text of an object is one line.
struct Trial {
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

// Collects reviews, dry-runs excepted; kept in the store's setting "trial", written by Flush alone:
// a crash loses what came since. Thread-safe.
class TrialBook final : public ReviewSink {
 public:
  // References must outlive the book.
  TrialBook(Store& store, const Clock& clock, IdSource ids)
      : store_(store), clock_(clock), ids_(std::move(ids)) {}

  void OnReview(const ReviewRecord& record) override;

  // Takes over what the store holds. Errors: those of the store.
  Result<void> Load(Deadline deadline);
  // Writes what changed since the last time, durably. Errors: those of the store; then it is tried
  // again with the next call. From one thread at a time.
  Result<void> Flush(Deadline deadline);

  // Seen at `since` or later, the latest first.
  std::vector<Trial> Since(Timestamp since) const;

 private:
  using Id = std::pair<std::string, std::string>;  // rule, key or resource and object
  struct Book {
    std::list<std::pair<Id, Trial>> trials;  // the latest first
    std::map<Id, std::list<std::pair<Id, Trial>>::iterator> places;
    bool changed = false;
  };

  static void Enter(Book& book, Id id, Trial trial);

  Store& store_;
  const Clock& clock_;
  const IdSource ids_;
  Guarded<Book> book_;
};

// The route above. `book` must outlive it.
std::vector<HttpRoute> TrialRoutes(const TrialBook& book);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_API_TRIAL_BOOK_H_
