// Replays: what ended while nobody watched, where the API server can still tell it. Every few
// seconds the registry keeps how far the watch of each kind has come. Where the first list after a
// start lacks a stored object, the events since then are asked for: an end that they tell was
// witnessed, only later. What they do not tell is absent (Absence).
#ifndef TRUCE_WEBHOOK_WATCH_REPLAYS_H_
#define TRUCE_WEBHOOK_WATCH_REPLAYS_H_

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
#include "webhook/watch/follower.h"
#include "webhook/watch/history.h"
#include "webhook/wire/json_reader.h"

namespace truce {

// How far the watch of a kind has come.
struct WatchPosition {
  std::string version;                    // everything up to it is told, and the registry has it
  std::optional<ClusterVersion> settled;  // KindHistory::settled, for whoever watches next

  bool operator==(const WatchPosition&) const = default;
};
using WatchPositions = std::map<GroupKind, WatchPosition>;
// As one text for a setting, and back. Lines that cannot be read are left out.
std::string ToText(const WatchPositions& positions);
WatchPositions PositionsFromText(std::string_view text);

// Stored objects that a list does not hold, by uid; true: their end is waited for.
using UnlistedObjects = std::map<Uid, bool>;

// External synchronization. Keeps only what concerns the objects asked for.
class Replays final {
 public:
  // The history of some seconds comes at once, so a watch for it is a short one.
  static constexpr std::chrono::seconds kWatch{2};
  // Nobody waits longer for an API server that does not answer.
  static constexpr std::chrono::seconds kPatience{5};

  struct Told {
    GroupKind kind;
    std::vector<WatchEvent> events;  // in order
  };

  // Asks by `query`, whose id is the caller's, for what became of `objects`.
  void Begin(Moment now, WatchQuery query, const UnlistedObjects& objects);
  // What to start and to stop since the last call.
  std::vector<WatchQuery> TakeWatches() { return std::exchange(watches_, {}); }
  std::vector<WatchId> TakeStops() { return std::exchange(stops_, {}); }
  // False: the watch is none of these.
  bool Events(WatchId id, const std::vector<WatchEvent>& events);
  bool Ended(WatchId id);

  // All has been told that will be.
  bool IsOver(Moment now);
  // When it is over at the latest; nothing: it is.
  std::optional<Moment> Due() const;
  // Hands over what was told, once.
  std::vector<Told> Take() { return std::exchange(told_, {}); }

 private:
  struct Running {
    std::map<std::string, bool, std::less<>> objects;  // as UnlistedObjects, by metadata.uid
    Told told;
  };
  void End(std::map<WatchId, Running>::iterator at);

  std::map<WatchId, Running> running_;
  Moment patience_end_{};
  std::vector<WatchQuery> watches_;
  std::vector<WatchId> stops_;
  std::vector<Told> told_;
  JsonReader reader_;
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_WATCH_REPLAYS_H_
