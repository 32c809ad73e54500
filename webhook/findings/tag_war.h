// Detector tag-war: two managed resources of one AWS resource that overwrite each other now.
//
// The fact is the conflict in the registry. It is *running* when both sides write:
//   - the `count` of their Events UpdatedExternalResource grows (each at least twice within
//     kTagWarWindow, writes that follow a change of the object's own spec not counted), or
//   - with upjet, status.atProvider.tags leaves a value and comes back to it while metadata.
//     generation does not change (each at least once).
// The objects themselves stay still and both look healthy (recorded: tests/support/recordings).
//
// Times are those of arrival: the Events' own stamps come from another clock and serve only for the
// rate within one Event. Events run dry after 25 per object, then come once in five minutes with a
// right count; a restarted provider begins a new Event at 1.
#ifndef TRUCE_WEBHOOK_FINDINGS_TAG_WAR_H_
#define TRUCE_WEBHOOK_FINDINGS_TAG_WAR_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "registry/base/clock.h"
#include "registry/base/document.h"
#include "registry/identity/values.h"
#include "webhook/findings/conflicts.h"

namespace truce {

// Written once per requested update of the external resource (crossplane-runtime's reconciler).
inline constexpr std::string_view kUpdateEventReason = "UpdatedExternalResource";
// Selects them in a list or watch of core/v1 Events.
inline constexpr std::string_view kUpdateEventSelector = "reason=UpdatedExternalResource";

// A Kubernetes Event by which a provider says that it wrote to AWS: the only trace of a tag war
// that every provider leaves in the cluster.
struct UpdateEvent {
  Uid event;   // of the Event object; a provider that restarts begins a new one at count 1
  Uid object;  // involvedObject.uid
  // Writes told by this Event; grows also by those whose notice was dropped.
  std::uint64_t count = 1;
  // The last one, by the sender's clock: good for rates within one Event, never to be compared with
  // ours.
  std::optional<Timestamp> last;

  bool operator==(const UpdateEvent&) const = default;
};

// Reads a core/v1 Event of `cluster`, also one written through events.k8s.io (series, eventTime).
// Nothing when it has another reason, or no uids.
std::optional<UpdateEvent> ReadUpdateEvent(Value event, std::string_view cluster);

// Longer than two polls of the slowest default (10 minutes).
inline constexpr std::chrono::minutes kTagWarWindow{30};
// A war is over when one side was silent for this long, or for three times its longest gap: Events
// that ran dry come once in five minutes.
inline constexpr std::chrono::minutes kTagWarQuiet{11};

// A running tag war, for findings and reports.
struct TagWar {
  KeyText key;
  Timestamp since{};             // when the first of the writes that show it arrived
  Timestamp last{};              // when the last one did
  double writes_per_minute = 0;  // of all sides together; 0 while it is not known
  std::uint64_t writes = 0;      // counted since then
  std::vector<Slot> fighters;    // the managed resources, by slot
  bool by_tags = false;          // shown by status.atProvider.tags, not by Events

  bool operator==(const TagWar&) const = default;
};

// External synchronization. Memory: at most kTrackedMax objects, about 1 KiB each.
class TagWarDetector final {
 public:
  static constexpr std::size_t kTrackedMax = 20000;

  // An Event came. `listed`: by a list, so that its count is history; else by the watch. Repeated
  // and late ones do no harm.
  void OnEvent(const UpdateEvent& event, bool listed, Timestamp received);

  // A version of a managed resource came. `tags`: a digest of status.atProvider.tags; nothing when
  // the object has none.
  void OnObject(const Uid& uid, std::int64_t generation, std::optional<std::uint64_t> tags,
                Timestamp received);

  // All present conflicts; those of before are forgotten.
  void SetConflicts(std::span<const Conflict> conflicts);

  // The wars that run at `now`, by key.
  std::vector<TagWar> Running(Timestamp now);

  // Those of the last Running or Find.
  std::vector<TagWar> Known() const;

  // Running(), in words.
  std::vector<LiveFinding> Find(Timestamp now);

 private:
  struct Write {
    Timestamp at{};                  // our clock
    std::uint64_t count = 1;         // how many at once
    std::optional<Timestamp> stamp;  // the sender's clock
  };
  struct Tracked {
    bool is_contested = false;
    Timestamp touched{};
    std::map<Uid, std::uint64_t> counts;  // by Event object
    std::deque<Write> writes;             // within the window, as are all times below
    std::optional<std::int64_t> generation;
    std::deque<Timestamp> spec_changes;
    std::deque<std::uint64_t> tags;  // values at this generation, the present one last
    std::deque<Timestamp> returns;   // when tags came back to a former value
  };
  struct Contested {
    Conflict conflict;
    std::optional<TagWar> war;
  };
  struct Activity;

  Tracked& Track(const Uid& uid, Timestamp received);
  void MakeRoom(Timestamp now);
  Activity ActivityOf(const ConflictSide& side, Timestamp now) const;
  std::optional<TagWar> WarOver(const Contested& contested, Timestamp now) const;

  std::map<Uid, Tracked> tracked_;
  std::map<KeyText, Contested> contested_;
};

// "10.8": writes a minute.
std::string RateForPeople(double per_minute);

// The war at `key`, or null.
const TagWar* WarAt(std::span<const TagWar> wars, const KeyText& key);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_FINDINGS_TAG_WAR_H_
