// ObjectMarks: marks of objects that the watch sees and no object row of the registry keeps: which
// terminate, are paused, or are said to be in use (Usages).
#ifndef TRUCE_WEBHOOK_FINDINGS_LIFECYCLE_OBJECT_MARKS_H_
#define TRUCE_WEBHOOK_FINDINGS_LIFECYCLE_OBJECT_MARKS_H_

#include <set>

#include "registry/identity/values.h"
#include "webhook/watch/observed_version.h"

namespace truce {

// External synchronization. Holds uids of what is marked only.
class ObjectMarks final {
 public:
  void OnObject(const ObservedVersion& observed) {
    const Uid& uid = observed.facts.uid;
    Mark(terminating_, uid, observed.facts.terminating);
    Mark(paused_, uid, observed.paused);
    Mark(in_use_, uid, observed.in_use);
  }
  void OnGone(const Uid& uid) {
    terminating_.erase(uid);
    paused_.erase(uid);
    in_use_.erase(uid);
  }

  bool IsTerminating(const Uid& uid) const { return terminating_.contains(uid); }
  bool IsPaused(const Uid& uid) const { return paused_.contains(uid); }
  bool IsInUse(const Uid& uid) const { return in_use_.contains(uid); }

 private:
  static void Mark(std::set<Uid>& marked, const Uid& uid, bool is_marked) {
    if (is_marked) {
      marked.insert(uid);
    } else {
      marked.erase(uid);
    }
  }

  std::set<Uid> terminating_;
  std::set<Uid> paused_;
  std::set<Uid> in_use_;
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_FINDINGS_LIFECYCLE_OBJECT_MARKS_H_
