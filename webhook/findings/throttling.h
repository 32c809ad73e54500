// Detector throttled-api: AWS refuses calls of an account because there are too many.
//
// Seen in what providers write on their objects: a condition that is False whose message holds an
// error code of schema/aws-throttling.tsv, in the SDK's form ("api error ThrottlingException: …")
// or the older one ("Throttling: Rate exceeded"), and in Events that say the same. AWS counts by
// account, region, service and API, so one team's tag war, or its many objects, makes the calls of
// all others fail.
//
// One message is no finding: the SDK itself tries three times, and a provider comes back. It is
// found when two objects have it, when it came three times, or when it lasts for two minutes; it is
// over when no object has it and none has reported it for kThrottledQuiet.
//
// False alarms: LimitExceededException is most often a quota, and counts only with "rate exceeded";
// a name or a description that quotes an error is none, since the code must follow "api error " or
// come before ": ".
#ifndef TRUCE_WEBHOOK_FINDINGS_THROTTLING_H_
#define TRUCE_WEBHOOK_FINDINGS_THROTTLING_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "registry/base/clock.h"
#include "registry/base/document.h"
#include "registry/identity/values.h"
#include "webhook/findings/findings_book.h"
#include "webhook/findings/tag_war.h"
#include "webhook/watch/observed_version.h"

namespace truce {

class Facts;
struct Owner;

// What one message says.
struct ThrottledCall {
  std::string code;     // as in the table: "ThrottlingException"
  std::string service;  // as the SDK calls it: "EFS"; empty: not said
  std::string api;      // "DescribeFileSystemPolicy"; empty: not said

  bool operator==(const ThrottledCall&) const = default;
};

// Nothing for every other error. Time grows with the length of `message`.
std::optional<ThrottledCall> ReadThrottledCall(std::string_view message);

// The content of schema/aws-throttling.tsv.
std::string_view ThrottlingText();

// An Event about a managed resource that did not reach AWS.
struct TroubleEvent {
  Uid object;
  std::string message;
};
// Selects them in a list or watch of events.k8s.io/v1: of all calls, observing is what a provider
// does most.
inline constexpr std::string_view kTroubleEventSelector = "reason=CannotObserveExternalResource";
// Reads an Event of `cluster`, of core/v1 or events.k8s.io/v1. Nothing when it names no object or
// says nothing.
std::optional<TroubleEvent> ReadTroubleEvent(Value event, std::string_view cluster);

// A tag war that runs, with where its resource lies.
struct LocatedWar {
  std::string resource;  // for people
  std::string service;   // first part of the type: "s3"
  std::string account;   // 12 digits, or empty: not known
  double writes_per_minute = 0;
  std::vector<Slot> fighters;
};

// How many resources each namespace has of a service in an account: a provider asks AWS for each of
// them at every poll. By account and service, then namespace (empty: cluster-scoped roots).
using Callers = std::map<std::pair<std::string, std::string>, std::map<std::string, std::uint64_t>>;
// Adds those of `owners`.
void CountCallers(std::span<const Owner> owners, Callers& callers);

inline constexpr std::chrono::minutes kThrottledQuiet{10};
inline constexpr std::chrono::minutes kThrottledStands{2};
inline constexpr std::size_t kThrottledTries = 3;

// `war`, whose resource has `owner`.
LocatedWar Located(const TagWar& war, const Owner& owner);

// Where a managed resource lies, as far as the registry tells.
struct ThrottledPlace {
  Slot slot;
  std::string account;  // 12 digits, or "?<provisional account>"
  std::string type;     // "s3/Bucket"
};
// Nothing where the registry knows nothing that the object declares.
std::optional<ThrottledPlace> PlaceOf(const Uid& uid, const Facts& facts);

// External synchronization. Memory: at most kThrottledMax objects, about 500 bytes each; of more
// only those that said it last are known.
class ThrottledCalls final {
 public:
  static constexpr std::size_t kThrottledMax = 20000;

  // A version of a managed resource came.
  void OnObject(const ObservedVersion& observed, Timestamp now);
  // An Event came from the watch (what a list brings is history).
  void OnEvent(const TroubleEvent& event, Timestamp now);
  void OnGone(const Uid& uid) { objects_.erase(uid); }

  // Events do not show the place of their objects: those whose place is not known, at most `limit`,
  // and what the registry knows; nothing: it does not know the object, which is forgotten.
  std::vector<Uid> Unplaced(std::size_t limit) const;
  void SetPlace(const Uid& uid, const std::optional<ThrottledPlace>& place);

  // One finding for each account, service and API.
  std::vector<LiveFinding> Find(std::span<const LocatedWar> wars, const Callers& callers,
                                Timestamp now);

 private:
  // Of one object, its last throttled call; kept while it is throttled and for kThrottledQuiet.
  struct Throttled {
    Slot slot;            // empty kind: not known where it lies
    std::string account;  // as ThrottledPlace
    std::string service;  // of the type: "s3"
    ThrottledCall call;
    std::uint64_t tries = 0;
    Timestamp first{};
    Timestamp last{};
    bool stands = false;  // a condition says so now
  };
  using Group = std::vector<const Throttled*>;

  Throttled& Note(const Uid& uid, ThrottledCall call, Timestamp now);
  static bool IsFound(const Group& group, Timestamp now);
  static LiveFinding FindingOf(const Group& group, std::span<const LocatedWar> wars,
                               const Callers& callers);

  std::map<Uid, Throttled> objects_;
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_FINDINGS_THROTTLING_H_
