// KindHistory: what lists and watch of one recorded kind have told since the start.
#ifndef TRUCE_WEBHOOK_WATCH_KIND_HISTORY_H_
#define TRUCE_WEBHOOK_WATCH_KIND_HISTORY_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "registry/base/clock.h"
#include "registry/identity/values.h"
#include "webhook/watch/config_history.h"
#include "webhook/watch/kinds.h"
#include "webhook/watch/sighting.h"

namespace truce {

// A value of the reconciler, which its parts share.
struct KindHistory {
  struct Version {
    std::optional<ClusterVersion> number;  // nothing: not a number
    // The last one without `Deleting`; nothing: none was seen since the start.
    std::optional<ClusterVersion> settled;
    std::uint64_t list = 0;  // the last list that held it

    void Take(const Sighting& seen) {
      number = seen.facts.version;
      if (seen.ready.reason != "Deleting") settled = seen.facts.version;
    }
  };

  FollowedKind followed;
  std::unordered_map<std::string, Version> versions;       // by uid: the last one seen
  std::vector<std::shared_ptr<const Sighting>> collected;  // of the list that runs
  std::uint64_t list = 0;  // number of the list that runs or ran last
  Timestamp list_began{};
  bool complete = false;     // its list waits to be applied
  bool gap = true;           // history lost since the last complete list
  bool marked = false;       // this gap is marked: everything stored counts as out of sight
  bool apply_known = false;  // the next list is applied whole, also versions known already
  bool terminating = false;  // its CRD is: deletions of its objects witness nothing
  // Its watch has told everything up to here; nothing: not since the last gap.
  std::optional<ClusterVersion> passed;

  // What is read now would say nothing about what happened in the gap.
  bool blind() const { return gap && !marked; }
  // The last version seen; null: none.
  const Version* Find(const Uid& uid) const {
    const auto found = versions.find(uid.text);
    return found == versions.end() ? nullptr : &found->second;
  }
};

using KindHistories = std::map<GroupKind, KindHistory>;

// Null: no such kind is recorded.
template <typename Kinds>
auto* HistoryOf(const GroupKind& kind, Kinds& kinds) {
  const auto found = kinds.find(kind);
  return found == kinds.end() ? nullptr : &found->second;
}

}  // namespace truce

#endif  // TRUCE_WEBHOOK_WATCH_KIND_HISTORY_H_
