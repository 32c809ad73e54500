// ReplayedEvents: ends while nobody watched, if the API server still has their history. Every few
// seconds the registry stores how far the watch of each kind has come. Where the first list after a
// start lacks a stored object, or a resource that is still declared had a witnessed end, Truce asks
// for the events since then: an end among them was witnessed, only later; and the witnessed end
// holds if nothing else came and went. A watch that ends before it came as far as the list is asked
// for again. An object that no event has shown by then is absent.
#ifndef TRUCE_WEBHOOK_WATCH_REPLAYED_EVENTS_H_
#define TRUCE_WEBHOOK_WATCH_REPLAYED_EVENTS_H_

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "registry/identity/values.h"
#include "webhook/kube/cluster_api.h"
#include "webhook/watch/history.h"
#include "webhook/watch/reflector.h"
#include "webhook/wire/json_reader.h"

namespace truce {

// How far the watch of a kind has come.
struct WatchPosition {
  std::string version;                    // everything up to it was shown, and the registry has it
  std::optional<ClusterVersion> settled;  // KindHistory::settled, for the next watch

  bool operator==(const WatchPosition&) const = default;
};
using WatchPositions = std::map<GroupKind, WatchPosition>;

// Stored objects that a list does not hold, by uid; false: their end was shown.
using UnlistedObjects = std::map<Uid, bool>;

// External synchronization.
class ReplayedEvents final {
 public:
  // The history of some seconds comes at once, so a watch for it is a short one; of such a watch an
  // API server says how far it has come (Reflector::kHurryWatch).
  static constexpr std::chrono::seconds kWatch = Reflector::kHurryWatch;
  static constexpr std::chrono::milliseconds kAgain{500};
  // The longest wait for an API server that shows nothing; the start waits for this.
  static constexpr std::chrono::seconds kPatience{30};

  // Where there are more changes of other objects the history does not count as whole.
  static constexpr std::size_t kOthersMax = 1000;

  struct Events {
    GroupKind kind;
    std::vector<WatchEvent> of_asked;  // of the objects asked for, in order
    std::vector<WatchEvent> others;    // of other objects
    bool whole = false;                // everything up to the version of the list was shown
  };

  // Asks by `query`, whose id is given later, for what became of `objects`, and of all others, up
  // to the version of the list that lacks them; nothing: the version is no number. Asks nothing
  // where the list is no later than `query`: nothing happened since.
  void Begin(Moment now, WatchQuery query, const UnlistedObjects& objects,
             std::optional<ClusterVersion> list);
  // The watches to start now, each by the next id, and those to stop since the last call.
  std::vector<WatchQuery> TakeWatches(Moment now, WatchId& last_id);
  std::vector<WatchId> TakeStops() { return std::exchange(stops_, {}); }
  // False: the watch is none of these.
  bool TakeEvents(WatchId id, const std::vector<WatchEvent>& events);
  bool Ended(Moment now, WatchId id, const std::optional<ApiError>& error);

  // Nothing more will be shown.
  bool IsOver(Moment now);
  // When there is something to start, or it is over at the latest; nothing: it is over.
  std::optional<Moment> Due() const;
  // Hands over the shown events, once.
  std::vector<Events> Take() { return std::exchange(shown_, {}); }

 private:
  struct Running {
    WatchQuery query;  // after the last version that was shown; its id while it is watched
    std::map<std::string, bool, std::less<>> objects;  // as UnlistedObjects, by metadata.uid
    std::optional<ClusterVersion> list;
    Events events;
    bool unreadable = false;    // an event of an unknown object
    std::optional<Moment> due;  // to be watched from then on
  };
  using RunningAt = std::vector<Running>::iterator;
  RunningAt Find(WatchId id);
  void End(RunningAt at);

  std::vector<Running> running_;
  Moment patience_end_{};
  std::vector<WatchId> stops_;
  std::vector<Events> shown_;
  JsonReader reader_;
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_WATCH_REPLAYED_EVENTS_H_
