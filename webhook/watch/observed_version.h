// ObservedVersion: what is read of one version of one object, for the registry and for the
// detectors.
#ifndef TRUCE_WEBHOOK_WATCH_OBSERVED_VERSION_H_
#define TRUCE_WEBHOOK_WATCH_OBSERVED_VERSION_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "registry/base/clock.h"
#include "registry/base/document.h"
#include "registry/base/result.h"
#include "registry/identity/identity.h"
#include "webhook/watch/kinds.h"

namespace truce {

// One entry of status.conditions.
struct ConditionSeen {
  enum class Status : std::uint8_t { kAbsent, kTrue, kFalse, kUnknown };
  Status status = Status::kAbsent;
  std::string reason;              // "ReconcileError"; empty when absent
  std::optional<Timestamp> since;  // lastTransitionTime

  bool operator==(const ConditionSeen&) const = default;
};

struct ObservedVersion {
  ObjectFacts facts;
  Role role = Role::kManaged;
  std::int64_t generation = 0;  // metadata.generation; 0: not given
  ConditionSeen ready;
  ConditionSeen synced;
  bool has_conditions = false;  // of any type
  bool dormant = false;         // FlavourSpec::dormant
  std::string trouble;          // messages of FlavourSpec::troubles, cut: for throttled calls
  bool paused = false;          // annotation crossplane.io/paused: "true"
  bool in_use = false;          // label crossplane.io/in-use: "true"
  // status.atProvider.tags, for running tag wars: a digest that does not depend on order.
  bool has_tags = false;
  std::uint64_t tags_digest = 0;
  // Of a managed resource: its ProviderConfig, and what tells one status from another.
  std::optional<ProviderConfigName> config;
  std::optional<OutsideEndpoint> endpoint;  // where that led by what was known when this was read
  std::uint64_t status_digest = 0;

  bool operator==(const ObservedVersion&) const = default;
};

// Kinds, names and texts in their order, down to 32 levels: the API server keeps that of stored
// objects.
std::uint64_t DigestOf(Value value);

// Reads `object`, of kind `kind`. Never fails: an object that says nothing gives an empty uid.
ObservedVersion ReadObservedVersion(Value object, const FollowedKind& kind,
                                    const IdentityRules& rules);

// How a kind is followed now, for status, metrics and denials.
enum class KindState : std::uint8_t {
  kPending,    // not asked yet
  kListing,    // the first list runs
  kEmpty,      // no object: polled
  kWatched,    // listed, and its watch runs or is being resumed
  kRelisting,  // its history was lost: listed again
  kFailing,    // cannot be listed or watched: `problem`, asked again with back-off
  kUnserved,   // the API server does not serve it any more: nothing is released by that
};
std::string_view Name(KindState state);  // "pending", "listing", "empty", "watched", …

struct KindStatus {
  FollowedKind kind;
  KindState state = KindState::kPending;
  bool attempted = false;          // asked at least once, whatever the answer
  bool listed = false;             // a complete list was applied since the start
  bool gap = false;                // its history was lost: what it has is listed anew
  std::string problem;             // of the last failure; empty while all is well
  std::optional<Timestamp> since;  // of `problem`
  // Not empty: nothing of this kind is released by absence; why, and the command.
  std::string frozen;

  bool operator==(const KindStatus&) const = default;
};

// An object known only to exist: nobody can see its declarations.
struct UnreadObject {
  std::string ns;
  std::string name;  // as far as it can be made out; else empty
  std::string why;   // one line

  bool operator==(const UnreadObject&) const = default;
};
UnreadObject Unread(std::string_view json, std::string why);

// Port: learns what happened, after it was committed. Called on the thread that drives the
// reconciler; must not block or call back into it.
class SightObserver {
 public:
  virtual ~SightObserver() = default;
  // A version was seen for the first time since the start, or a later one than before.
  virtual void OnSighted(const ObservedVersion& observed) = 0;
  // The object is gone: DELETED, or its absence was proved.
  virtual void OnGone(const Uid& uid, const Slot& slot) = 0;
  virtual void OnKindState(const KindStatus& status) = 0;
  // An object of role kOther. `gone`: it was deleted. `object` lives during the call.
  virtual void OnOther(const FollowedKind& kind, Value object, bool gone) = 0;
  // A version of an object that cannot be read. `gone`: it was deleted.
  virtual void OnUnread(const FollowedKind& kind, const UnreadObject& object, bool gone) = 0;
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_WATCH_OBSERVED_VERSION_H_
