// Reconciler: from what lists and watches show to what the registry holds. It keeps what is known
// of each object and of each kind's watch, and takes the step that NextStep
// (registry/ownership/life.h) names for each piece of evidence. Synchronous: each call does its
// work on the store and returns. Which list or watch runs is the reflectors' business.
#ifndef TRUCE_WEBHOOK_WATCH_RECONCILER_H_
#define TRUCE_WEBHOOK_WATCH_RECONCILER_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "registry/base/clock.h"
#include "registry/base/result.h"
#include "registry/identity/values.h"
#include "registry/ownership/brake.h"
#include "registry/ownership/life.h"
#include "registry/ownership/terms.h"
#include "webhook/kube/cluster_api.h"
#include "webhook/watch/history.h"
#include "webhook/watch/observed_version.h"
#include "webhook/watch/quorum_reads.h"
#include "webhook/watch/reconcile_store.h"
#include "webhook/watch/replayed_events.h"
#include "webhook/wire/json_reader.h"

namespace truce {

class AllFacts;
class Ledger;
struct Object;
struct Row;

struct ReconcileStatus {
  std::size_t nominated = 0;            // missing objects that wait for their quorum read
  std::size_t held_back = 0;            // by the brake
  std::size_t gets = 0;                 // quorum reads wanted or under way
  std::uint64_t observed_versions = 0;  // versions that were applied since the start
  std::uint64_t skipped = 0;            // versions that changed nothing
  std::uint64_t unreadable = 0;         // no JSON, no uid, no name
  std::uint64_t breaches = 0;           // changes left out: they would have broken an invariant
  std::string breach;                   // the last of them; empty: none
};

// An object that a complete list did not hold.
struct MissingObject {
  Slot slot;
  Timestamp first_absent{};  // when the list that first missed it began
  std::uint64_t lists = 1;   // complete lists that missed it
  // The brake's last answer; kRelease: not asked yet.
  BrakeVerdict held_back = BrakeVerdict::kRelease;
  bool commanded = false;  // an operator released the brake for it
};

// External synchronization. Every call that returns an error has had its effect in part or not at
// all and is to be repeated with the same arguments: all effects are idempotent (I9). Errors are
// the store's; malformed objects of the API server are passed over.
class Reconciler final {
 public:
  // `ports.unresolved` is not null; `configs` must outlive it.
  Reconciler(ReconcilePorts ports, const ConfigHistory& configs, ReconcileRules rules)
      : store_(std::move(ports), std::move(rules)), configs_(configs) {}
  Reconciler(const Reconciler&) = delete;
  Reconciler& operator=(const Reconciler&) = delete;

  // New rules (store().SetRules) are to be followed by a new list of all recorded kinds (Forget
  // makes the lists apply everything), and by a pass where accounts became known (AccountPass).
  // A resource that an unchanged object no longer declares is left orphaned, never free.
  ReconcileStore& store() { return store_; }
  const ReconcileRules& rules() const { return store_.rules(); }

  // From now on `kind` is known; needed before anything else about it. Repeating it changes its
  // version or scope.
  void Follow(const FollowedKind& kind) { kinds_[kind.group_kind()].followed = kind; }
  // The kind's CRD is being removed (or not any more): deletions of its objects witness nothing.
  void SetTerminating(const GroupKind& kind, bool terminating);
  // The watch of the kind lost its history, or never had one. Until its list is finished nothing of
  // it is proved or released; when the list fails everything of it counts as out of sight.
  void BeginGap(const GroupKind& kind);
  // Its watch goes on from a later version: quorum reads that are under way are asked again.
  void Overtake(const GroupKind& kind) { reads_.Overtake(kind); }
  // Why nothing of the kind may be released (401, 403, not served); empty: nothing.
  void Freeze(const GroupKind& kind, std::string reason);
  // Why nothing of the kind is released, with the command; empty: it may be.
  std::string FrozenFor(const GroupKind& kind) const;

  // The next list of the kind is applied whole, also versions known already.
  void Forget(const GroupKind& kind);
  // The same, and nothing is lost for that list: the watch goes on from `version` and shows objects
  // that came, changed or went since.
  void Reread(const GroupKind& kind, ClusterVersion version);
  void BeginList(const GroupKind& kind);
  // Objects of a page (JSON). Held in memory, as facts only, until FinishList.
  void Listed(const GroupKind& kind, std::span<const std::string> objects);
  // The list is complete: it is applied, then stored objects that it did not hold are missing.
  // Before the first start is complete it only closes the list (FinishStart).
  Result<void> FinishList(const GroupKind& kind);
  // The list failed; its objects so far are dropped. Everything stored of the kind counts as out of
  // sight, so that quorum reads can go on without it.
  Result<void> ListFailed(const GroupKind& kind);

  // The position of the watch before: KindHistory::stored and settled; before Replay and
  // FinishStart.
  void SetPosition(const GroupKind& kind, std::optional<ClusterVersion> stored,
                   std::optional<ClusterVersion> settled);
  // KindHistory::settled for the next watch.
  std::optional<ClusterVersion> SettledAt(const GroupKind& kind,
                                          std::optional<ClusterVersion> position);
  // Of the kind's complete first list, before FinishStart: stored objects with declarations that it
  // does not hold; also those that are only admitted: they may have come and ended.
  Result<UnlistedObjects> Unlisted(const GroupKind& kind) const;
  // A resource that is still declared had a witnessed end: objects that came and went since matter.
  Result<bool> HasGone(const GroupKind& kind) const;
  // Events of before the kind's first list, in order, of objects that it did not hold: their ends
  // are applied by FinishStart as if they had been watched. Not of an object whose declarations
  // changed meanwhile: nobody knows what else it did. Once for each kind.
  void Replay(const ReplayedEvents::Events& events);
  // All kinds were attempted: applies all finished lists together, so that a claim, its composite
  // and its managed resources are one chain, and the oldest of all is the incumbent.
  Result<void> FinishStart();
  bool started() const { return started_; }

  // Events of the kind's watch, in order. Objects in them are JSON.
  Result<void> Events(const GroupKind& kind, std::span<const WatchEvent> events);
  // The watch of the kind has shown everything up to `version`. Settles what waited for it.
  Result<void> Passed(Moment now, const GroupKind& kind, const std::string& version);

  // Asks for the object in a slot: if there is one, it is seen.
  void LookAt(const Slot& slot) { (void)reads_.Of(slot); }
  // Asks for the proof of these reserved rows, whatever their kinds (Decision::prove).
  Result<void> Prove(std::span<const RowId> rows);
  // At most `count` quorum reads that are due at `now`; each is to be answered by Got. None before
  // the start is complete.
  std::vector<GetWanted> Gets(Moment now, std::size_t count);
  // When the next one is due; nothing while none waits.
  std::optional<Moment> GetDue() const;
  Result<void> Got(Moment now, const GetWanted& get, const ApiResult<ListPage>& answer);
  // Kinds with something that waits to learn how far their watch has come.
  std::set<GroupKind> Waiting() const;
  // Applies pending deletions about which enough is known now. To be called when a ProviderConfig
  // was seen.
  Result<void> SettleDeletions(Moment now);
  // Of each kind with pending deletions: the first version that shows one of them.
  std::map<GroupKind, ClusterVersion> PendingDeletions() const;

  // To be called every few seconds: asks for reservations older than the TTL (I6), and for objects
  // without declarations that the watch never showed (a CREATE that never came), a page of them at
  // a time; settles what waited long enough. A store that fails is asked again the next time.
  void Attend(Moment now);
  // Ends the declarations of objects of a kind that nobody reads any more, as by absence. Their
  // resources count as real, so they are left orphaned and no name becomes free; therefore without
  // the brake. One page of objects; true when none is left. A list that comes back to the kind
  // applies its objects anew.
  Result<bool> EndUnread(const GroupKind& kind);
  // Resources that were admitted under these provisional accounts, whose ProviderConfigs moved,
  // count as real: a watch that lags behind may show them only when they already count as declared
  // in the new account.
  Result<void> CountAdmittedBy(const std::set<std::string>& provisional_accounts);

  // Releases the objects that are missing or frozen now (of `kind`; nothing: of all), each still
  // after its quorum read. Audited. Returns their number.
  Result<std::size_t> ReleaseBrake(const std::optional<GroupKind>& kind, const std::string& actor,
                                   const std::string& reason);
  const std::map<Uid, MissingObject>& missing() const { return missing_; }
  // Kinds with missing objects that wait for a second list, and since when the first one missed
  // them.
  std::map<GroupKind, Timestamp> WaitForSecondList() const;
  ReconcileStatus status() const;

 private:
  // One version, or the end, of an object, and what is done with it.
  struct Sight {
    std::shared_ptr<const ObservedVersion> observed;
    LifeStep step = LifeStep::kSee;
    KindHistory::Order order = KindHistory::Order::kAlone;
    // Of an end:
    bool crd_terminating = false;
    std::optional<ClusterVersion> before;   // the version that the watch showed last
    std::optional<ClusterVersion> settled;  // the last one without `Deleting`

    bool is_end() const { return step == LifeStep::kEnd || step == LifeStep::kEndUnproved; }
  };
  // A provider that was sent to another account or endpoint finds nothing there and lets go of its
  // object. So the ProviderConfig must have been the same from `from` to `to`.
  struct PendingDeletion {
    Sight end;
    ProviderConfigName config;
    ClusterVersion from = 0;  // its last version without `Deleting`
    ClusterVersion to = 0;    // of the end
    // It deletes the resource that it names, wherever its credentials are from, as long as its
    // ProviderConfig leads to the same endpoint: the name needs no account.
    bool by_endpoint = false;
    bool asked = false;  // the quorum read of its ProviderConfig was sent after the end
    bool answered = false;
    std::optional<ClusterVersion> found;  // of the ProviderConfig; nothing: there is none
    std::optional<Moment> since;
  };
  struct Frozen {
    std::string reason;               // by Freeze
    bool by_empty_list = false;       // the last list was empty though the kind has seen rows
    bool believe_empty_list = false;  // an operator said so
  };
  struct UnlistedObject;

  // versions, lists, events (reconciler.cc)
  static Life LifeOf(const ObjectFacts& object, const KindHistory::Version* known,
                     const KindHistory& kind);
  std::optional<ObservedVersion> ReadVersion(
      std::string_view json, bool gone, const KindHistory& kind,
      const std::function<bool(Value metadata)>& passes_over);
  void TellConfig(const KindHistory::Version& seen, ObservedVersion& observed) const;
  std::vector<Sight> ReadEvents(std::span<const WatchEvent> events, const KindHistory& kind);
  Result<void> ApplyLists(std::span<KindHistory* const> kinds);
  void LeaveOutEnded(std::vector<Sight>& sights) const;
  static std::map<Uid, bool> ChangedOrLive(const std::vector<Sight>& sights);
  static bool AreListed(const std::vector<Sight>& sights, const KindHistory& kind);
  void Take(const Sight& sight, Ledger& ledger) const;
  Result<std::vector<Sight>> OnlyChanging(std::span<const Sight> sights) const;
  Result<void> Apply(const std::vector<Sight>& sights);
  void Applied(const Sight& sight);
  // ends (ends.cc)
  bool Pends(Sight& sight);
  std::optional<Sight> EndOf(const PendingDeletion& pending, Moment now) const;
  Result<void> SettleAnswered(Moment now, const GroupKind& kind);
  Result<void> Settle(const QuorumRead& read, LifeStep step);
  Result<void> AskForRows(const std::function<std::vector<Row>(const AllFacts&)>& find,
                          std::chrono::milliseconds older_than);
  Result<void> MarkUids(const std::vector<Uid>& uids);
  Result<std::vector<ResourceId>> GoneResources(const KindHistory& kind) const;
  Result<void> VoidGone(const KindHistory& kind);
  Result<void> MarkGap(KindHistory& kind);
  Result<std::vector<UnlistedObject>> FindUnlisted(const KindHistory& kind) const;
  Result<void> CloseList(KindHistory& kind);
  void LookFor(const Object& object, Timestamp list_began, bool commanded);
  Result<void> Sweep();
  void NotMissing(const Uid& uid);
  void Gone(const Uid& uid, const Slot& slot);
  Result<void> CountSeenRows();
  Result<void> Release(const Uid& uid);
  UnresolvedHolders& unresolved() { return *store_.ports().unresolved; }

  JsonReader reader_;
  ReconcileStore store_;
  const ConfigHistory& configs_;
  KindHistories kinds_;
  QuorumReads reads_{store_, kinds_, reader_};
  std::map<Uid, MissingObject> missing_;
  std::map<Slot, std::vector<PendingDeletion>> pending_;  // by slot of the ProviderConfig
  std::size_t pending_count_ = 0;
  std::map<GroupKind, Frozen> frozen_;
  std::vector<Sight> replayed_;  // until the start is finished
  bool started_ = false;
  std::uint64_t passes_ = 0;
  GroupKind sweep_kind_;  // where the next Sweep goes on
  std::string sweep_after_;
  std::uint64_t seen_rows_ = 0;  // of the cluster, counted at `seen_counted_`
  std::optional<Timestamp> seen_counted_;
  std::uint64_t applied_ = 0;
  std::uint64_t skipped_ = 0;
  std::uint64_t unreadable_ = 0;
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_WATCH_RECONCILER_H_
