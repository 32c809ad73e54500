// EventQueue: which Events are written, and when: bounded, without repetitions, at a limited rate.
// A pure state machine; event_writer.h gives it a thread.
#ifndef TRUCE_WEBHOOK_FINDINGS_EVENT_QUEUE_H_
#define TRUCE_WEBHOOK_FINDINGS_EVENT_QUEUE_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>

#include "registry/base/clock.h"
#include "registry/identity/values.h"

namespace truce {

// An Event to be written about one object.
struct ObjectEvent {
  Slot object;
  Uid uid;              // `kubectl describe` shows only Events that name it; may be empty
  std::string version;  // of the object's API: "v1beta1"
  bool warning = true;
  std::string reason;  // CamelCase: "OwnershipRefused"
  std::string note;    // any text; cut to kEventNoteBytesMax
  std::string root;    // whose share of the room it takes; empty: the object's own
};

// The API server refuses longer notes (events.k8s.io) or truncates them.
inline constexpr std::size_t kEventNoteBytesMax = 1024;

// `text` on at most `bytes_max` bytes: whole lines as far as they fit, the first one cut if it must
// be; control characters but line breaks shown as \u{…}. "…" marks the missing rest.
std::string EventNote(const std::string& text, std::size_t bytes_max);

// The name of the Event that says this: equal for equal content, so that one that exists already
// tells of a restart, not of something new. At most 253 characters, a valid object name.
std::string EventName(const ObjectEvent& event);

// External synchronization.
class EventQueue final {
 public:
  struct Limits {
    std::size_t queued_max = 1000;
    double per_second = 2;
    double burst = 50;
    std::chrono::milliseconds repeat_after = std::chrono::hours(1);  // as long as Events live
    std::size_t remembered_max = 10000;
    // A root that has much to say, as one whose resources are refused under ever new names, takes
    // no more than this of the queue, and of what is said within repeat_after.
    std::size_t queued_of_root_max = 50;
    std::size_t said_of_root_max = 200;
  };
  explicit EventQueue(Limits limits) : limits_(limits), tokens_(limits.burst) {}

  enum class Outcome : std::uint8_t {
    kQueued,
    kRepeated,  // the same was said of the object within repeat_after
    kDropped,   // the queue is full, or the root's share is
  };
  Outcome Push(ObjectEvent event, Timestamp now);

  // The next one that may be written at `now`.
  std::optional<ObjectEvent> Take(Timestamp now);
  // How long until Take gives one; nothing while the queue is empty.
  std::optional<std::chrono::milliseconds> WaitTime(Timestamp now) const;
  // Puts one back that could not be written, to be taken first.
  void PutBack(ObjectEvent event);
  // It was not written for good: the same may be said again at once.
  void Forget(const ObjectEvent& event);

  std::size_t size() const { return queue_.size(); }

 private:
  struct Share {
    std::size_t queued = 0;
    std::size_t said = 0;
    Timestamp since{};
  };

  double TokensAt(Timestamp now) const;
  Share& ShareOf(const ObjectEvent& event, Timestamp now);

  Limits limits_;
  std::deque<ObjectEvent> queue_;
  std::map<std::string, Timestamp> said_;  // by EventName
  std::map<std::string, Share> shares_;    // by root
  double tokens_;
  std::optional<Timestamp> filled_;
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_FINDINGS_EVENT_QUEUE_H_
