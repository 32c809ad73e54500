// Reflector: list → watch → list again, for one kind. A state machine without clock, thread or
// socket: inputs are answers and the time, outputs are values that say what to ask next.
//
// The rules (Kubernetes, "API concepts": lists cut off, 410, half-open connections):
//  - A list is complete or it is nothing: pages until there is no token; an expired token begins
//    again. Its version is where the watch begins.
//  - A watch that ends in order, or by a failure of the way, is resumed after the last version
//    seen: no gap. Only kExpired loses history: listed again, and everything of the kind was out of
//    sight.
//  - A page that is too large for an answer (of objects of a megabyte 500 are) is asked for again
//    in parts: else one tenant's large objects would hide all of the kind.
//  - Failures back off exponentially with jitter (half to one and a half), or as Retry-After says.
//  - An empty kind is polled (limit 1), spread over the interval; when the poll finds something, or
//    a declaration of the kind is admitted, its watch resumes after the version of the empty list:
//    what was created meanwhile is seen in order, without gap. The first poll comes soon: of a kind
//    that nobody asked for before, an API server's first list may be older than what it can watch
//    from. (Measured on 1.34: 4 of 30 kinds where others write; after a second list none. Another
//    API server that nobody asked before can watch from neither.)
#ifndef TRUCE_WEBHOOK_WATCH_REFLECTOR_H_
#define TRUCE_WEBHOOK_WATCH_REFLECTOR_H_

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "webhook/kube/backoff.h"
#include "webhook/kube/cluster_api.h"
#include "webhook/watch/kinds.h"
#include "webhook/watch/observed_version.h"

namespace truce {

// Monotonic time, given by the driver.
using Moment = std::chrono::steady_clock::time_point;

struct ReflectorTimes {
  std::chrono::milliseconds backoff_min{500};
  std::chrono::milliseconds backoff_max{30'000};
  std::chrono::milliseconds first_poll{1'000};       // of empty kinds, after their list
  std::chrono::milliseconds poll{300'000};           // and from then on
  std::chrono::milliseconds watch_timeout{300'000};  // asked of the server, more or less a fifth
  std::size_t page = 500;
};

// The orders for the driver that are due now. Each `list` is answered by exactly one Listed; a
// watch by Events and one Ended, unless it was stopped.
struct ReflectorOrders {
  std::optional<ListQuery> list;
  std::optional<std::string> watch_from;  // start a watch after this version
  std::chrono::seconds watch_timeout{0};
  bool stop_watch = false;

  bool empty() const { return !list && !watch_from && !stop_watch; }
};

// The meaning of an answer for the reconciler, in this order.
struct ReflectorNews {
  bool begins = false;               // the first page of a list
  std::vector<std::string> objects;  // of the page
  std::vector<WatchEvent> events;    // in order, none twice, no bookmarks
  bool finished = false;             // the list is complete
  std::optional<ApiError> failed;    // the list failed: it counts as attempted
  std::string passed;                // everything up to here was shown; empty: nothing new
};

// External synchronization. Deterministic for a seed.
class Reflector final {
 public:
  Reflector(FollowedKind kind, ReflectorTimes times, std::uint64_t seed);

  // The orders that are due at `now`.
  ReflectorOrders Tick(Moment now);
  // When Tick has something to do at the latest; nothing while an answer is outstanding.
  std::optional<Moment> Due() const;
  // Whether what is due is a list or poll: the driver may put it off.
  bool WantsList() const;

  // The answer to the list or poll that was ordered.
  ReflectorNews Listed(Moment now, ApiResult<ListPage> answer);
  // Drops what was seen already (duplicates, replays) and bookmarks.
  ReflectorNews Events(Moment now, std::vector<WatchEvent> events);
  void Ended(Moment now, const std::optional<ApiError>& error);

  // A declaration of this kind was admitted: an empty kind is watched at once.
  void Wanted(Moment now);
  // Somebody waits for ReflectorNews::passed: an empty kind is watched, and a watch that runs is
  // resumed for a few seconds, since an API server says how far it has come shortly before it ends
  // a watch (a bookmark; else once a minute). At most once in kHurryAgain. (Measured on 1.34: a
  // second.)
  static constexpr std::chrono::seconds kHurryWatch{3};
  static constexpr std::chrono::seconds kHurryAgain{5};
  void Hurry(Moment now);
  // Lists again from the start (rules changed, a second look for the brake). A list that runs
  // begins anew.
  void Relist(Moment now);
  // Lists again and loses nothing: the watch goes on from version() afterwards. False: it cannot,
  // since history is lost, and nothing is done.
  bool Reread(Moment now);
  // Discovery says that the kind is served (maybe in another version or scope), or not any more.
  // Unserved: all stops; served again: listed again, as after a gap.
  void Served(Moment now, FollowedKind kind);
  void Unserved();

  const FollowedKind& kind() const { return kind_; }
  KindState state() const;
  // History was lost: until the next list is complete the kind is out of sight.
  bool gap() const { return gap_; }
  bool attempted() const { return attempted_; }
  bool listed() const { return listed_; }
  // The last failure; cleared by the next success.
  const std::optional<ApiError>& problem() const { return problem_; }
  // Version up to which the kind was seen; empty before the first list.
  const std::string& version() const { return version_; }

 private:
  enum class Phase : std::uint8_t {
    kListDue,   // waiting for `due_` to list
    kListing,   // a page was ordered
    kEmpty,     // waiting for `due_` to poll
    kPolling,   // a poll was ordered
    kWatchDue,  // waiting for `due_` to watch
    kWatching,  // a watch runs
    kUnserved,
  };

  void Go(Phase phase, Moment due);
  void BeginAnew(Moment now);
  ReflectorNews PageTaken(Moment now, ListPage page);
  ReflectorNews ListFailed(Moment now, ApiError error);
  void Polled(Moment now, const ApiResult<ListPage>& answer);
  bool HistoryLost(const ApiError& error) const;
  ListQuery Query(std::size_t limit) const;
  void Succeeded();

  FollowedKind kind_;
  ReflectorTimes times_;
  std::size_t page_;  // objects asked for at a time
  std::uint64_t random_;
  Backoff backoff_;
  Phase phase_ = Phase::kListDue;
  Moment due_{};
  bool outstanding_ = false;  // a list or poll is not answered yet
  bool discard_ = false;      // its answer belongs to something that was given up
  bool stop_watch_ = false;   // tell the driver at the next Tick
  std::string next_;          // token of the page to ask for; empty: the first
  std::string list_version_;  // of the list that runs
  bool list_found_ = false;   // it holds an object
  bool was_empty_ = false;    // before a list for which nothing is lost
  bool gap_ = true;           // the next list begins after a gap
  std::string version_;
  Moment watch_began_{};
  Moment hurry_due_{};    // not before
  bool hurried_ = false;  // the next watch is a short one
  bool attempted_ = false;
  bool listed_ = false;
  std::optional<ApiError> problem_;
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_WATCH_REFLECTOR_H_
