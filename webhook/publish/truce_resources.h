// TruceResources: Truce's own objects, live: collected from the watch, handed to their handlers on
// a thread of their own, and answered by the condition Accepted of their status.
//
// An object that was taken over stays when the watch is lost or the kind is not served: an object
// is gone only when it was deleted before our eyes, or a complete list does not have it.
#ifndef TRUCE_WEBHOOK_PUBLISH_TRUCE_RESOURCES_H_
#define TRUCE_WEBHOOK_PUBLISH_TRUCE_RESOURCES_H_

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "registry/base/clock.h"
#include "registry/base/worker.h"
#include "webhook/kube/backoff.h"
#include "webhook/publish/own_object.h"
#include "webhook/watch/kinds.h"
#include "webhook/watch/observed_version.h"

namespace truce {

// Objects of one kind that are kept; those beyond are neither taken over nor answered.
inline constexpr std::size_t kOwnObjectsMax = 5000;

// For the log.
struct OwnEvent {
  enum class Kind : std::uint8_t {
    kTakenOver,  // a verdict that differs from the last one about its object
    kRefused,    // as that
    kTrouble     // a status cannot be written; once until it works again
  };
  Kind kind;
  std::string object;   // its label
  std::string message;  // one line
};

// References must outlive the object.
struct OwnPorts {
  const Clock& clock;
  ClusterApi& api;
  // Whether this server writes statuses, and does what objects ask for: one of those that share a
  // registry does. Thread-safe.
  std::function<bool()> is_leader;
  std::function<void(const OwnEvent&)> on_event;  // called on the own thread
};

// Thread-safe.
class TruceResources final : public SightObserver {
 public:
  // The handlers must outlive the object.
  TruceResources(OwnPorts ports, std::vector<OwnHandler*> handlers);
  ~TruceResources() override = default;  // as Stop
  TruceResources(const TruceResources&) = delete;
  TruceResources& operator=(const TruceResources&) = delete;

  // Ends the thread; waits for a call under way. Nothing is taken over any more. Idempotent; for
  // one thread. To be called while the API still lives.
  void Stop() { worker_.Stop(); }

  // The kinds to watch for them.
  std::vector<FollowedKind> kinds() const;

  // Every handler takes its objects again soon. Never blocks.
  void Refresh();
  // Waits until everything seen so far was taken over. False when `deadline` or Stop came first.
  bool Settle(Deadline deadline) { return worker_.Settle(deadline); }

  // SightObserver, called by the watch. Never block.
  void OnSighted(const ObservedVersion& observed) override { static_cast<void>(observed); }
  void OnGone(const Uid& uid, const Slot& slot) override {
    static_cast<void>(uid);
    static_cast<void>(slot);
  }
  void OnKindState(const KindStatus& status) override;
  void OnOther(const FollowedKind& kind, Value object, bool gone) override;
  void OnUnread(const FollowedKind& kind, const UnreadObject& object, bool gone) override {
    static_cast<void>(kind), static_cast<void>(object), static_cast<void>(gone);
  }

 private:
  struct Entry {
    OwnObject object;
    std::optional<OwnCondition> present;  // as the status says
    std::optional<OwnVerdict> reported;   // to the listener
    bool listed = true;                   // since the last list began
  };
  using ObjectName = std::pair<std::string, std::string>;  // namespace, name
  struct Kind {
    ServedKind kind;
    std::size_t handler = 0;
    std::map<ObjectName, Entry> entries;
    bool listing = false;
    bool complete = false;  // was listed once
    bool changed = false;   // during the list: half a list is never taken
  };
  struct Work {
    std::size_t handler = 0;
    std::vector<OwnObject> objects;
    bool complete = false;  // all of the handler's kinds were listed
  };

  Kind* Find(const GroupKind& kind);
  Worker::Rest Turn();
  std::optional<Work> NextWork(Deadline now);
  void Do(const Work& work);
  bool WriteStatus(const OwnObject& object, const OwnVerdict& verdict);
  void Trouble(const OwnObject& object, const std::string& message);

  const OwnPorts ports_;
  const std::vector<OwnHandler*> handlers_;

  std::mutex mutex_;
  std::map<GroupKind, Kind> kinds_;  // under mutex_
  std::vector<bool> dirty_;          // under mutex_; by handler
  std::vector<Deadline> due_;        // of the thread, as the next two; by handler: Take again
  Backoff backoff_;
  bool in_trouble_ = false;
  Worker worker_{[this] { return Turn(); }};
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_PUBLISH_TRUCE_RESOURCES_H_
