// Detector unread-object: stored objects that cannot be read, so that nobody knows what they
// declare.
//
// Rule: the last version that a list or a watch showed is no JSON, or lacks a uid or a name. No
// depth, number or size makes an object unreadable. Evidence: that version. Mode warn: what it
// declares is not protected, and a second one of it is not found.
#ifndef TRUCE_WEBHOOK_FINDINGS_UNREAD_OBJECTS_H_
#define TRUCE_WEBHOOK_FINDINGS_UNREAD_OBJECTS_H_

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "webhook/findings/findings_book.h"
#include "webhook/watch/observed_version.h"

namespace truce {

// External synchronization.
class UnreadObjects final {
 public:
  // More than these are not kept.
  static constexpr std::size_t kMax = 2000;

  void OnUnread(const Slot& slot, const std::string& why, Timestamp now);
  // It was read, or is gone.
  void OnRead(const Slot& slot) { unread_.erase(slot); }
  // The kind is listed anew, or served no more.
  void Forget(const GroupKind& kind);

  std::vector<LiveFinding> Find() const;

 private:
  struct One {
    std::string why;
    Timestamp since{};
  };
  std::map<Slot, One> unread_;
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_FINDINGS_UNREAD_OBJECTS_H_
