// Reconciler: from what the cluster shows to what the registry holds (design section 4: Confirm,
// Absence, Brake, Found without reservation). Synchronous: each call does its work on the store and
// returns. Which list or watch runs is the followers' business.
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
#include <unordered_map>
#include <vector>

#include "registry/base/clock.h"
#include "registry/base/result.h"
#include "registry/identity/identity.h"
#include "registry/ownership/brake.h"
#include "registry/ownership/ids.h"
#include "registry/ownership/rekey.h"
#include "webhook/kube/backoff.h"
#include "webhook/kube/cluster_api.h"
#include "webhook/watch/config_history.h"
#include "webhook/watch/doubts.h"
#include "webhook/watch/follower.h"
#include "webhook/watch/kinds.h"
#include "webhook/watch/sighting.h"
#include "webhook/wire/json_reader.h"

namespace truce {

class Facts;
class Ledger;
class Store;
struct Object;
struct Row;

// Sightings in one transaction: enough to share its commit, few enough that reviews, which the same
// writer serves, do not wait long.
inline constexpr std::size_t kSightingsAtOnce = 128;

// Rows in one commit of a pass that nothing waits for.
inline constexpr std::size_t kPortion = 16;

// What the reconciler stands on; all must outlive it.
struct ReconcilePorts {
  Store& store;
  const Clock& clock;
  IdSource ids;
  std::function<Deadline()> deadline;  // by when the next call of the store must have answered
  SightObserver* observer = nullptr;   // may be null
  DoubtBoard* doubts = nullptr;        // may be null
  // Null: nothing is known of ProviderConfigs.
  const ConfigHistory* configs = nullptr;
};

struct ReconcileRules {
  std::shared_ptr<const Catalogue> catalogue;  // never null; identity.catalogue points to it
  IdentityRules identity;                      // accounts: configured and learned
  PartyRules parties;
  std::chrono::seconds reservation_ttl{180};
  // How long what a kind declared stays on record when its mapping rule is gone.
  std::chrono::milliseconds settle_time{std::chrono::hours{24}};
};

// A quorum read of one slot that is wanted, whatever it is asked for. It is a list, since that
// answers with the version of the cluster that was read, also when nothing is there.
struct GetWanted {
  ServedKind kind;
  Slot slot;

  ListQuery query() const;

  auto operator<=>(const GetWanted&) const = default;
};

// An object that a complete list did not hold.
struct Nomination {
  Uid uid;
  Slot slot;
  Timestamp first_absent{};  // when the list that first missed it began
  std::uint64_t lists = 1;   // complete lists that missed it
  // What the brake answered last; kRelease: not asked yet.
  BrakeVerdict held_back = BrakeVerdict::kRelease;
  bool commanded = false;  // an operator released the brake for it
};

struct ReconcileStatus {
  std::size_t nominated = 0;    // waiting for their quorum GET
  std::size_t held_back = 0;    // by the brake
  std::size_t gets = 0;         // quorum GETs wanted or under way
  std::uint64_t sightings = 0;  // versions that were applied since the start
  std::uint64_t skipped = 0;    // versions that changed nothing
  std::uint64_t breaches = 0;   // changes left out: they would have broken an invariant
  std::string breach;           // the last of them; empty: none
};

// External synchronization: one thread drives it. Every call that returns an error has had its
// effect in part or not at all and is to be repeated with the same arguments: all effects are
// idempotent (I9). Errors are the store's; what the API server sent wrong is passed over (counted
// in unreadable()).
class Reconciler final {
 public:
  Reconciler(ReconcilePorts ports, ReconcileRules rules);
  ~Reconciler();

  // From the next sight on. To be followed by Relist of all recorded kinds (Forget makes the lists
  // apply everything), and by LocateAccount where accounts became known. What an object that has
  // not changed does not declare any more is left orphaned, never free.
  void SetRules(ReconcileRules rules);
  const ReconcileRules& rules() const { return *rules_; }
  // One portion of applying `changes` to all that stands under their stand-ins, records too
  // (LocateResources): looks at some of the keys that follow `after`, and writes at most
  // kPortion rows in one commit, or one resource that has more. Returns the last key looked at;
  // empty: the pass is through. Idempotent: a pass that was cut off begins anew.
  Result<KeyText> LocatePortion(std::span<const AccountChange> changes, const KeyText& after);

  // Keeps a text in the registry under `name`.
  Result<void> Keep(const std::string& name, const std::string& value);
  Result<std::string> Kept(const std::string& name) const;

  // --- kinds ---
  // From now on `kind` is known; needed before anything else about it. Repeating it changes its
  // version or scope.
  void Follow(const FollowedKind& kind);
  // The watch of the kind lost its history, or never had one. Until its list is finished nothing of
  // it is proved or released; when the list fails everything of it counts as out of sight.
  void BeginGap(const GroupKind& kind);
  // The next list of the kind is applied whole, also versions known already.
  void Forget(const GroupKind& kind);
  void BeginList(const GroupKind& kind);
  // Objects of a page (JSON). Held in memory, as facts only, until FinishList.
  void Listed(const GroupKind& kind, std::span<const std::string> objects);
  // The list is complete: applied in two passes, lineage first, then declarations, oldest first;
  // then stored objects that it did not hold are nominated. Before the first start is complete it
  // only closes the list (FinishStart).
  Result<void> FinishList(const GroupKind& kind);
  // The list failed; what it brought so far is given up. Everything stored of the kind counts as
  // out of sight, so that proofs can go on without it.
  Result<void> ListFailed(const GroupKind& kind);
  // All kinds were attempted: applies all finished lists together, so that a claim, its composite
  // and its managed resources are one chain, and the oldest of all is the incumbent.
  Result<void> FinishStart();
  bool started() const { return started_; }
  // Events of the kind's watch, in order. Objects in them are JSON.
  Result<void> Events(const GroupKind& kind, std::span<const WatchEvent> events);
  // The watch of the kind has told everything up to `version`. Settles what waited for it.
  Result<void> Passed(Moment now, const GroupKind& kind, const std::string& version);
  // Kinds of which something waits to be told how far their watch has come.
  std::set<GroupKind> Waiting() const;
  // The kind's CRD is being removed (or not any more): deletions of its objects witness nothing.
  void SetTerminating(const GroupKind& kind, bool terminating);
  // Why nothing of the kind may be released by absence (401, 403, not served); empty: nothing.
  void Freeze(const GroupKind& kind, std::string reason);
  // What the kind is frozen for, with the command; empty: it is not.
  std::string FrozenFor(const GroupKind& kind) const;

  // Ends what objects of a kind that nobody reads any more declared, as by absence: real, so that
  // it is left orphaned and no name becomes free; therefore without the brake. One page of objects;
  // true when none is left. A list that comes back to the kind applies its objects anew.
  Result<bool> EndUnread(const GroupKind& kind);

  // --- proofs ---
  // Looks for reservations older than the TTL and asks for their proof. To be called every few
  // seconds.
  Result<void> CollectProofs();
  // Settles what waited long enough. To be called with CollectProofs, and SettleEnds also when a
  // ProviderConfig was seen.
  Result<void> SettleOverdue(Moment now);
  Result<void> SettleEnds(Moment now);
  // Looks at the next page of stored objects, kind by kind: one without declarations that is older
  // than the TTL and that the watch never showed is asked for, and forgotten when it is gone (a
  // CREATE that never came, and had no reservation to be proved). To be called with CollectProofs.
  Result<void> Sweep();
  // Proof of these reserved rows, wherever they stand (Decision::prove).
  Result<void> Prove(std::span<const RowId> rows);
  // Looks at a slot: its object, if there is one, is seen.
  void LookAt(const Slot& slot);
  // At most `count` GETs that are due at `now`; each is to be answered by Got.
  std::vector<GetWanted> Gets(Moment now, std::size_t count);
  // When the next GET is due; nothing while none waits.
  std::optional<Moment> GetDue() const;
  // Live: seen, confirms, settles. Nothing there: reservations end, nominated objects are released
  // under the brake. Anything else: asked again with back-off. A live object and the end of a
  // reservation wait until the watch of the kind has passed the read: what lived in between was
  // real, and a version older than the newest seen says nothing. At most kPassPatience: then the
  // watch is taken as having nothing to tell.
  static constexpr std::chrono::minutes kPassPatience{10};
  Result<void> Got(Moment now, const GetWanted& get, const ApiResult<ListPage>& answer);

  // GETs of the kind that are under way are asked again, whatever they answer: an end that came
  // after what they saw is not told any more. FinishList does it by itself.
  void OvertakeAsks(const GroupKind& kind);

  // --- the brake ---
  // Lets go what is nominated or frozen now (of `kind`; nothing: of all), each still after its
  // quorum GET. Audited. Returns how many objects that concerns.
  Result<std::size_t> ReleaseBrake(const std::optional<GroupKind>& kind, const std::string& actor,
                                   const std::string& reason);
  std::vector<Nomination> Nominations() const;
  // Kinds of which nominations wait for a second list, and since when the first one missed them.
  std::map<GroupKind, Timestamp> WaitForSecondList() const;

  ReconcileStatus status() const;
  // Objects that could not be read: no JSON, no uid, no name.
  std::uint64_t unreadable() const { return unreadable_; }

 private:
  struct Version {
    std::optional<std::uint64_t> number;  // nothing: not a number
    // The last one without `Deleting`; nothing: none was seen since the start.
    std::optional<std::uint64_t> settled;
    std::uint64_t list = 0;  // the last list that held it
  };
  struct Kind {
    FollowedKind followed;
    std::unordered_map<std::string, Version> versions;       // by uid: the last one seen
    std::vector<std::shared_ptr<const Sighting>> collected;  // of the list that runs
    std::uint64_t list = 0;  // number of the list that runs or ran last
    Timestamp list_began{};
    bool complete = false;         // its list waits to be applied
    bool gap = true;               // history lost since the last complete list
    bool marked = false;           // this gap is marked: everything stored counts as out of sight
    bool apply_known = false;      // Forget
    bool terminating = false;      // its CRD is
    bool empty_frozen = false;     // the last list was empty while seen rows of the kind stand
    bool empty_commanded = false;  // an operator said that an empty list is to be believed
    std::string frozen;            // by Freeze
    // Its watch has told everything up to here; nothing: not since the last gap.
    std::optional<ClusterVersion> passed;
  };
  // One version, or the end, of an object.
  struct Item {
    std::shared_ptr<const Sighting> sighting;
    bool deleted = false;
    bool out_of_sight = false;
    bool reread = false;  // a version applied before, by rules that may have changed since
    bool crd_terminating = false;
    std::optional<std::uint64_t> before;  // of an end: the version that the watch showed last
    bool config_changed = false;          // of an end: Ending::config_changed
  };
  // A quorum GET and what it is to settle.
  struct Ask {
    GetWanted get;
    std::map<RowId, ReviewUid> rows;  // reserved rows, and the review that made them then
    std::set<Uid> nominated;
    Moment due{};
    bool under_way = false;
    bool overtaken = false;  // an end or a list was applied while it was under way
    // What was read, until the watch has passed it.
    struct Found {
      std::shared_ptr<const Sighting> object;  // null: nothing is there
      std::optional<ClusterVersion> version;   // of the cluster that was read
      Moment at{};
    };
    std::optional<Found> found;
    Backoff backoff{{std::chrono::seconds{1}, std::chrono::seconds{60}}, 0};
  };
  // Ends that wait for their ProviderConfig (ends.cc).
  struct HeldEnd {
    Item item;
    ClusterVersion from = 0;  // its last version without `Deleting`
    ClusterVersion to = 0;    // of the end
    bool asked = false;       // after the end
    bool answered = false;
    std::optional<ClusterVersion> found;  // of the ProviderConfig; nothing: there is none
    std::optional<Moment> since;
  };
  struct EndAsk {
    GetWanted get;
    ProviderConfigName config;
    std::vector<HeldEnd> ends;
    Moment due{};
    bool under_way = false;
    Backoff backoff{{std::chrono::seconds{1}, std::chrono::seconds{60}}, 0};
  };
  using Change = std::function<void(Ledger&)>;

  Kind* Find(const GroupKind& kind);
  const Kind* Find(const GroupKind& kind) const;
  // sights (reconciler.cc)
  Result<void> Write(const Change& change);
  Result<void> TryToWrite(Change change);
  static void SeeItem(const Item& item, const ReconcileRules& rules, Ledger& ledger);
  Result<void> Apply(std::vector<Item> items);
  Result<std::vector<Item>> OnlyChanging(std::span<const Item> items);
  Result<void> ApplyLists(std::span<Kind* const> kinds);
  Result<void> MeetAll(std::span<const Item> items);
  void Committed(const Item& item);
  // absence (absence.cc)
  struct Missing;
  Result<std::vector<Missing>> FindMissing(const Kind& kind);
  Result<void> Nominate(Kind& kind);
  static void Nominated(const Uid& uid, Ask& ask);
  void AddNomination(const Kind& kind, const Object& object, bool commanded);
  Result<void> MarkGap(Kind& kind);
  Result<void> MarkUids(std::span<const Uid> uids);
  Result<void> VoidGone(const Kind& kind);
  Result<void> Release(const Uid& uid);
  void SettleNomination(const Uid& uid);
  bool IsStrange(const Kind& kind, const Object& object, const Facts& facts) const;
  void DoubtHeldBack(const Nomination& nomination);
  bool MayRelease(const Kind& kind) const;
  // proofs (proofs.cc)
  Ask* AskFor(const Slot& slot);
  Result<void> AskForRows(const std::function<std::vector<Row>(const Facts&)>& find,
                          std::chrono::milliseconds older_than);
  Result<void> Settle(const Kind& kind, const Slot& slot);
  Result<void> SettleLive(const Kind& kind, const Ask& ask);
  Result<void> SettleGone(const Kind& kind, const Ask& ask);
  Result<void> SettleTold(const GroupKind& kind, Moment now);
  void AskAgain(Moment now, Ask& ask);
  void Answered(const Slot& slot);
  static void Overtake(Ask& ask);
  // ends (ends.cc)
  bool Hold(Item& item, std::optional<ClusterVersion> settled);
  void GetsOfEnds(Moment now, std::size_t count, std::vector<GetWanted>& wanted);
  bool GotForEnds(Moment now, const GetWanted& get, const ApiResult<ListPage>& answer);

  ReconcilePorts ports_;
  std::shared_ptr<const ReconcileRules> rules_;  // shared with decisions that outlive their call
  JsonReader reader_;
  std::map<GroupKind, Kind> kinds_;
  std::map<Slot, Ask> asks_;
  std::map<Slot, EndAsk> end_asks_;  // by slot of the ProviderConfig
  std::size_t held_ends_ = 0;
  std::map<Uid, Nomination> nominations_;
  std::uint64_t ask_seeds_ = 0;
  std::uint64_t proof_passes_ = 0;
  GroupKind sweep_kind_;  // where the next Sweep goes on
  std::string sweep_after_;
  std::uint64_t seen_rows_ = 0;  // of the cluster, counted at `seen_counted_`
  std::optional<Timestamp> seen_counted_;
  bool started_ = false;
  std::uint64_t sightings_ = 0;
  std::uint64_t skipped_ = 0;
  std::uint64_t breaches_ = 0;
  std::string breach_;
  std::uint64_t unreadable_ = 0;
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_WATCH_RECONCILER_H_
