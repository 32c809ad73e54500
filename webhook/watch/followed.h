// Watcher::Followed: one kind as the watcher keeps it. Internal to the watcher.
#ifndef TRUCE_WEBHOOK_WATCH_FOLLOWED_H_
#define TRUCE_WEBHOOK_WATCH_FOLLOWED_H_

#include <chrono>
#include <optional>
#include <utility>

#include "webhook/watch/watcher.h"

namespace truce {

// CRDs come in crowds: discovered once they are there.
inline constexpr std::chrono::seconds kCrdsSettle{1};

// Settings of the registry, each with the cluster behind it: accounts that ProviderConfigs told,
// those of which all portions are through, and ProviderConfigs whose endpoint is not AWS.
inline constexpr char kAccountsSetting[] = "accounts/";
inline constexpr char kBroughtSetting[] = "brought/";
inline constexpr char kOutsideSetting[] = "outside/";

struct Watcher::Followed {
  Followed(FollowedKind kind, FollowerTimes times, std::uint64_t seed, Moment now)
      : follower(std::move(kind), times, seed), since(now) {}

  Role role() const { return follower.kind().role; }
  bool served() const { return follower.state() != KindState::kUnserved; }

  Follower follower;
  Moment since;           // known since
  bool awaited = true;    // not attempted since the start, or since rules changed before it
  bool resync = true;     // no complete list was applied since the start or the last resync
  bool dirty = true;      // its status is to be reported
  bool gap_told = false;  // the reconciler knows of the gap
  std::optional<WatchId> watch;
  std::optional<Timestamp> problem_since;
  std::optional<KindStatus> reported;
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_WATCH_FOLLOWED_H_
