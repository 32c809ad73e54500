// Watcher: everything that follows one cluster, without threads, sockets or clock of its own. It
// ties reflectors, reconciler and accounts together; the engine and the simulator drive it alike:
// ask Due() and Tick(), do what the wishes say, hand back every answer.
#ifndef TRUCE_WEBHOOK_WATCH_WATCHER_H_
#define TRUCE_WEBHOOK_WATCH_WATCHER_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "webhook/kube/backoff.h"
#include "webhook/kube/cluster_api.h"
#include "webhook/watch/accounts.h"
#include "webhook/watch/history.h"
#include "webhook/watch/reconciler.h"
#include "webhook/watch/reflector.h"
#include "webhook/watch/replayed_events.h"
#include "webhook/watch/review_inbox.h"
#include "webhook/watch/unmapped.h"

namespace truce {

// A list page or poll that is wanted; answered by Watcher::Listed with the same id.
struct ListWanted {
  std::uint64_t id = 0;
  ListQuery query;
};

// The requests to the API server that are due now. Each list, get and discovery is answered exactly
// once, whatever the answer, in any order; each watch by its events and end, unless stopped.
struct Wishes {
  bool discover = false;
  std::vector<ListWanted> lists;
  std::vector<GetWanted> gets;
  std::vector<WatchQuery> watches;
  std::vector<WatchId> stops;

  bool empty() const {
    return !discover && lists.empty() && gets.empty() && watches.empty() && stops.empty();
  }
};

struct WatcherOptions {
  ReflectorTimes times;
  std::chrono::milliseconds discovery{30'000};
  std::chrono::milliseconds proofs{5'000};     // how often due reservations are looked for
  std::chrono::milliseconds store_retry{500};  // after a failed call of the store, doubling to 10 s
  std::chrono::milliseconds kind_grace{
      300'000};               // a kind that cannot be listed: unknown, then warns
  std::size_t lists_max = 4;  // under way at once
  std::size_t gets_max = 8;
  std::size_t queue_max = 4096;            // events not applied yet
  std::chrono::milliseconds portions{40};  // between two portions of a pass: reviews come first
  std::vector<FollowedKind> others;        // KindRules::others
  // False: only `others` are followed, and nothing is written, until BeginRecording: another server
  // watches the cluster.
  bool records = true;
  // Other servers judge by the view that ViewStored confirms: a pass waits until none of them can
  // judge by an earlier one.
  bool tells_others = false;
  std::uint64_t seed = 1;  // of all jitter
};

struct WatcherStatus {
  bool ready = false;       // every kind was attempted once, and the first lists are applied
  bool crossplane = false;  // an XRD kind or a kind of the catalogue is served
  std::size_t followed = 0;
  std::size_t watched = 0;
  std::size_t failing = 0;
  std::size_t queued = 0;  // events not applied yet
  std::string discovery_problem;
  std::string store_problem;
  ReconcileStatus reconcile;
};

// The facts of the cluster that identities depend on; a value.
struct LearnedIdentity {
  AccountMap accounts;                    // configured and learned
  MovingAccounts moving;                  // of them, those that not all has yet
  OutsideEndpoints outside;               // of ProviderConfigs whose endpoint is not AWS
  DefaultsMap defaults;                   // of namespaces that say any
  std::set<GroupKind> composites;         // kinds that an XRD defines as composite
  std::map<GroupKind, GroupKind> claims;  // kinds that an XRD defines as claim, and of what
  bool definitions_known = false;         // all XRDs there are were read

  bool operator==(const LearnedIdentity&) const = default;
};
// As the admission path judges by it.
void TakeLearned(const LearnedIdentity& learned, IdentityRules& rules);

struct WatcherPorts {
  ReconcilePorts reconcile;
  ReviewInbox* inbox = nullptr;  // may be null
  // Called when it changed: reviews use it (TakeLearned). May be empty.
  std::function<void(const LearnedIdentity&)> on_learned;
};

// External synchronization. Deterministic for a seed, the inputs and the store.
class Watcher final {
 public:
  Watcher(WatcherPorts ports, const ReconcileRules& rules, WatcherOptions options);
  ~Watcher();

  // Does what is due and returns what to ask. To be called after every answer, when the inbox was
  // filled, and when Due() has come.
  Wishes Tick(Moment now);
  std::optional<Moment> Due() const;

  void Discovered(Moment now, ApiResult<Discovery> answer);
  void Listed(Moment now, std::uint64_t id, ApiResult<ListPage> answer);
  // False: no room; nothing was taken. The driver offers them again after the next Tick that left
  // room() true.
  bool Events(Moment now, WatchId id, std::vector<WatchEvent>& events);
  bool room() const;
  void Ended(Moment now, WatchId id, std::optional<ApiError> error);
  void Got(Moment now, const GetWanted& get, const ApiResult<ListPage>& answer);

  // This server watches the cluster from now on: everything is followed. Idempotent.
  void BeginRecording(Moment now);
  // Another one watches from now on, because this one ends: stores how far the watches have come.
  // If the store fails, it keeps the last position.
  void Leave(Moment now);
  // The registry has the view that other servers judge by: everything that the listener got last.
  void ViewStored(Moment now, const LearnedIdentity& learned);

  // Configuration changed: mappings, catalogue, accounts, parties. Everything recorded is listed
  // again and applied whole.
  void SetRules(Moment now, ReconcileRules rules);
  // Lists everything again (truce baseline, recovery).
  void Resync(Moment now);
  // A complete list of every recorded kind was applied since the start or the last Resync.
  bool resynced() const { return ready() && Unresynced().empty(); }
  // The kinds for which that is not so yet.
  std::vector<KindStatus> Unresynced() const;
  // See Reconciler::ReleaseBrake; kinds frozen for an empty list are listed again. Errors:
  // kNotFound: the kind is not followed.
  Result<std::size_t> ReleaseBrake(Moment now, const std::optional<GroupKind>& kind,
                                   const std::string& actor, const std::string& reason);

  bool ready() const { return reconciler_.started(); }
  // Every kind that is followed now was attempted once.
  bool attempted() const;
  std::vector<KindStatus> Kinds() const;
  WatcherStatus status() const;
  // Whether a key of `type` that has no owner may be called free: every served kind that can
  // declare it was listed. kGrace: not yet: unknown. kOver: not for longer than the grace: warn.
  enum class Known : std::uint8_t { kYes, kGrace, kOver };
  Known KnownFor(Moment now, std::string_view type) const;
  // Recorded kinds that cannot be read now: they fail, are not served, or have no rule any more.
  // Their declarations are neither proved nor ended meanwhile, and count for no cap.
  std::set<GroupKind> Unwatched() const;
  // Of them those whose mapping rule is gone, and since when.
  std::map<GroupKind, Timestamp> unmapped() const { return unmapped_.Gone(); }
  Reconciler& reconciler() { return reconciler_; }

 private:
  // One kind as the watcher keeps it.
  struct Followed {
    Followed(FollowedKind kind, ReflectorTimes times, std::uint64_t seed, Moment now)
        : reflector(std::move(kind), times, seed), since(now) {}

    Role role() const { return reflector.kind().role; }
    bool served() const { return reflector.state() != KindState::kUnserved; }

    Reflector reflector;
    Moment since;               // known since
    bool unattempted = true;    // not attempted since the start, or since rules changed before it
    bool resync = true;         // no complete list was applied since the start or the last resync
    bool dirty = true;          // its status is to be reported
    bool gap_reported = false;  // the reconciler knows of the gap
    std::optional<WatchId> watch;
    std::optional<Timestamp> problem_since;
    std::optional<KindStatus> reported;
  };
  // Work on the store, done in order; repeated until it succeeds.
  struct Task {
    std::function<Result<void>()> run;
    std::size_t events = 0;
  };
  // CRDs come in crowds: discovered once they are there.
  static constexpr std::chrono::seconds kCrdsSettle{1};
  // The watches of two kinds have no order between them: objects made before a ProviderConfig's
  // edit were shown by then.
  static constexpr std::chrono::seconds kEditSettles{5};
  // A server judges by no view that it did not confirm for three seconds, and it decides within ten
  // seconds whatever it judged by one: then nobody uses an earlier view.
  static constexpr std::chrono::seconds kOthersSee{15};
  // Somebody who edits ProviderConfigs all the time still leaves the watches time to show what
  // happens.
  static constexpr std::chrono::seconds kRereadAgain{30};
  // How often the registry stores how far the watches have come: an API server remembers minutes.
  static constexpr std::chrono::seconds kKeepPositions{15};
  // Somebody who edits ProviderConfigs all the time delays the passes of others no longer than
  // this.
  static constexpr std::chrono::seconds kOthersSeeMax{60};

  // work (watcher_tasks.cc)
  void Remember();
  void Pump(Moment now);
  Result<void> FinishStart(Moment now);
  std::string SpaceOf(const GroupKind& kind) const;
  Result<void> BeginReplay(Moment now);
  void KeepPositions(Moment now);
  void Enqueue(std::function<Result<void>()> run, std::size_t events = 0);
  void TakeNews(Followed& followed, ReflectorNews news);
  void TakeRecorded(const GroupKind& kind, ReflectorNews news);
  void TakeInbox(Moment now);
  void SawObjects(Followed& followed, const ReflectorNews& news);
  void SawObject(Followed& followed, Value object, bool gone);
  void SawConfig(const FollowedKind& followed, Value object, bool gone);
  void SawAccount(const ProviderConfigName& config, const std::string& account,
                  std::optional<ClusterVersion> version);
  void SawPlace(const ProviderConfigName& config, ConfigWords words);
  void ForgetDefaults(const GroupKind& kind);
  bool HasNamespaceConfig(const GroupKind& kind) const;
  bool MayBring() const;
  Moment BringDue() const;
  void ForgetFormer();
  void BringAccounts(Moment now);
  void UseLearned();
  void StoreFailed(Moment now, const Error& error);
  std::set<GroupKind> CompositesDefined() const;
  std::map<GroupKind, GroupKind> ClaimsDefined() const;
  // All objects of the kinds of `role` were seen.
  bool AreKnown(Role role) const;
  // kinds (watcher.cc)
  Followed* FindKind(const GroupKind& kind);
  void UpdateKinds(Moment now);
  void Follow(Moment now, const FollowedKind& kind);
  void ListAllAgain(Moment now);
  void RereadManaged(Moment now);
  void ListAgain(Moment now, Followed& followed);
  void TellGap(Followed& followed);
  void Touch(Followed& followed);  // its status may have changed
  void Report(Followed& followed);
  void ReportAll();
  bool PrerequisitesKnown() const;
  bool MayTick(const Followed& followed) const;
  void TickReflectors(Moment now, Wishes& wishes);
  void ListHeldBack(Moment now);
  void HurryWaiting(Moment now);
  KindStatus StatusOf(const Followed& followed) const;
  void NoteMappings(const std::set<GroupKind>& followed);
  Result<void> EndUnmapped();

  WatcherOptions options_;
  WatcherPorts ports_;
  ConfigHistory configs_;
  Reconciler reconciler_;
  Accounts accounts_;
  AccountPass account_pass_{accounts_, reconciler_.store()};
  Moment bring_due_{};
  std::optional<Moment> bring_wanted_;  // since when the pass waits, or runs
  std::set<std::string> moved_;         // provisional accounts of ProviderConfigs that moved
  bool reread_wanted_ = false;          // and what they moved is brought
  bool reread_in_namespaces_ = false;   // of kinds that namespaces say something to
  Moment reread_due_{};                 // not before
  LearnedIdentity learned_;             // as the listener last got it
  std::optional<Moment> view_stored_;   // since when the registry has it for other servers
  std::optional<Moment> others_wait_;   // since when a pass waits for that
  Unmapped unmapped_;
  bool unmapped_known_ = false;  // it was read from the store
  JsonReader reader_;
  std::map<GroupKind, std::unique_ptr<Followed>> kinds_;
  std::vector<Followed*> by_role_;  // what the others need to be understood first
  std::map<std::uint64_t, GroupKind> list_ids_;
  std::map<WatchId, GroupKind> watch_ids_;
  WatchPositions positions_;  // as the registry has them
  KnownSpecs specs_;          // the same
  Moment positions_due_{};
  ReplayedEvents replayed_;
  bool replay_begun_ = false;
  std::deque<Task> tasks_;
  std::size_t queued_ = 0;
  std::optional<Discovery> discovery_;
  std::map<ProviderConfigName, FormerAccount> former_;  // until their pass begins
  OutsideEndpoints outside_;      // also of ProviderConfigs that are gone: what they made is not
  DefaultsMap defaults_;          // the same, until the next list of namespaces
  bool configs_changed_ = false;  // the registry has other ones
  std::map<std::string, CompositeKinds> composites_;  // by name of the XRD
  bool definitions_known_ = false;                    // as the listener last got it
  std::set<std::string> terminating_;                 // names of CRDs
  std::uint64_t last_id_ = 0;
  bool any_dirty_ = false;
  bool discovering_ = false;
  bool kinds_stale_ = false;  // what is to be followed must be worked out anew
  Backoff discovery_backoff_;
  Moment discovery_due_{};
  Moment proofs_due_{};
  Moment second_lists_due_{};
  Moment now_{};  // of the call that runs
  std::optional<Moment> store_due_;
  Backoff store_backoff_;
  std::size_t gets_under_way_ = 0;
  std::string discovery_problem_;
  std::string store_problem_;
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_WATCH_WATCHER_H_
