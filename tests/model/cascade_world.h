// CascadeWorld: AWS with two accounts, its provider, Crossplane, the garbage collector, three
// teams, a restorer, an operator and forgers, around the ownership core on a real store, driven by
// a seed.
//
// A step is a pure function of seed, number and what was before, so that a failing history is
// replayed by its seed and shrunk by leaving steps out. Truce sees what its watches deliver: three
// streams (ProviderConfigs; claims and composites; managed resources) that lag on their own. The
// oracle (cascade_oracle.cc) knows what really exists, and whose it is.
#ifndef TRUCE_TESTS_MODEL_CASCADE_WORLD_H_
#define TRUCE_TESTS_MODEL_CASCADE_WORLD_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "registry/ownership/lists/import.h"
#include "registry/ownership/rows.h"
#include "tests/model/cascade_reality.h"
#include "tests/model/scene.h"
#include "tests/support/store_contents.h"
#include "tests/support/strict_store.h"

namespace truce {

// A memory store that tells of a change it refused instead of failing the test: the world does.
class TellingStore final : public Store {
 public:
  Result<void> Apply(const Locks& locks, const DecideFn& decide, Deadline deadline) override {
    const Result<void> applied = store_.Apply(locks, decide, deadline);
    if (!applied.ok() && complaint_.empty()) complaint_ = applied.error().message;
    return {};
  }
  using Store::Read;
  Result<void> Read(const Locks& /*hints*/, const ReadFn& read, Deadline deadline) const override {
    return store_.memory().Read(read, deadline);  // what looks at the world notes what it finds
  }
  StoreCounts Counts() const override { return store_.Counts(); }
  Result<void> Health() const override { return store_.Health(); }
  const std::string& complaint() const { return complaint_; }

 private:
  testing::StrictStore store_;
  std::string complaint_;
};

// Checked after every step (S) and when quiet (Q):
//   S1  of the objects admitted by an enforcing Truce that could know better, one at most manages a
//       resource
//   S2  a name that the registry knew for a living resource stays known, under the same party; no
//       stranger is granted it, adopts it or deletes it
//   S3  rightful requests pass: a DELETE, an update that adds nothing (the garbage collector's, the
//       provider's own), the holder's own, a provider's late name, the restore of a chain in any
//       order; a status alone refuses nobody where statuses are not reviewed
//   S4  an end before our eyes frees its names
//   S5  invariants of one state and of each decision; the audit log only grew; a repeated review or
//       event changes nothing
//   Q   every row stands for a live object, every live declaration has its row under each of its
//       names, chains are whole, what was restored is back, what was handed over is its heir's
// No promise is given for what was admitted without Truce, in mode warn, or under a ProviderConfig
// whose newest version it had not seen.
class CascadeWorld {
 public:
  explicit CascadeWorld(std::uint64_t seed);
  ~CascadeWorld();

  // Runs the random step of this number; false: something is wrong.
  bool Step(unsigned number);
  // Lets everything settle.
  bool Quiet();
  const std::string& broken() const { return broken_; }  // what is wrong; empty: nothing
  const std::vector<std::string>& log() const { return log_; }
  std::string State() const;  // of the registry, for people

 private:
  struct Profile {
    bool chains = false;    // claims and composites of one bucket, else all types and accounts
    bool mapped = false;    // claims and composites declare the bucket, too
    bool guarded = false;   // changes of statuses are reviewed
    double bypass = 0;      // share of requests that never reach Truce
    double unenforced = 0;  // share of requests judged in mode warn
  };

  bool Fails(const std::string& what);  // records it; false
  void Say(const std::string& what) { log_.push_back(what); }

  // --- cascade_world.cc: the API server, AWS, what people do ---------------------------------
  Thing* Find(const Slot& slot);
  std::vector<Slot> SlotsWhere(bool (*fits)(const Thing&)) const;
  std::optional<Slot> AnyWhere(bool (*fits)(const Thing&));
  std::string Party();
  void Put(Thing thing);
  void Remove(const Slot& slot);
  std::string TargetOf(const Thing& thing) const;  // what it really means; empty: nothing
  void Declare();
  void DeclareClaim();
  void DeclareGenerated();
  void DeclareComposite();
  void Change();
  void DeleteAny();
  void Strip();
  void ReplaceByForce();
  void EditConfig();
  void DeleteInConsole();
  void Forge();
  void Stranger();
  void TakeLeftSlot();
  void Bind();
  void NameHeir();
  void ForceTransfer();
  void HandOverUnseen();
  void ImportOutside();
  void ReserveOutside();
  ImportedResource OutsideBucket() const;
  void Respell();

  // --- cascade_actors.cc: Crossplane, the garbage collector, the provider, the restorer --------
  void Delete(const Slot& slot, const std::string& mode);
  void Collect();
  void ComposeAny();
  void Compose(const Slot& slot);
  void ComposeClaim(Thing claim);
  void ComposeComposite(Thing composite);
  void ProvideAny();
  void Provide(const Slot& slot);
  void ProvideEnd(Thing thing);
  void ProvideLife(Thing thing);
  void LoseChain();
  void Restore(bool all, bool last);
  void RestoreOne() { Restore(false, false); }

  // --- cascade_truce.cc: what Truce is asked and shown -----------------------------------------
  void Read(const ReadFn& read) const;
  KeyText Spelt(const std::string& name) const;  // as the catalogue of now spells it
  ObjectFacts FactsOf(const Thing& thing) const;
  void AddResource(const Thing& thing, ObjectFacts& facts) const;
  // The version of the ProviderConfig that stood at a version of the cluster, as Truce was told.
  std::uint64_t ConfigAt(const std::string& config, std::uint64_t version) const;
  // The names of its declaration, by what is known of ProviderConfigs; `status`: also observed
  // ones.
  std::vector<std::string> NamesOf(const Thing& thing, bool status = true) const;
  // A CREATE (no uid) or UPDATE of what stands there; whether it was admitted.
  bool Write(const Thing& wanted, const std::string& user, bool reviewed = false);
  Decision Judge(const Thing* old, const Thing& next, const std::string& user);
  void Watch();
  void WatchConfigs();
  void WatchThings(int stream);
  void See(const Thing& thing, bool out_of_sight = false);
  void SeeEnd(const Thing& last);
  void TellMoving();
  void Portion();
  bool DeclaresAt(const Thing& thing, const ResourceId& id) const;
  void Proofs();
  void Relist();
  void Rebuild();
  void StartRegistry();

  // --- cascade_oracle.cc -----------------------------------------------------------------------
  bool IsCurrent(const std::string& config) const;
  void Excuse(const Thing& thing);  // what it means is no longer watched over
  void CheckAdmitted(Thing& thing);
  void CheckGranted(Thing& thing, const Slot& root);
  void CheckRefused(const Thing* old, const Thing& next, const Decision& decision);
  void CheckForeign(const Thing& thing, const std::string& verb);
  std::string LocatedNameOf(const Thing& thing) const;
  std::vector<ResourceId> ClearEnds(const Thing& last) const;
  void CheckFreed(const std::vector<ResourceId>& ids, const Thing& last);
  void NoteHeir(const std::string& target, const std::string& successor);
  void NoteWord(const Thing& thing);
  void CheckManagers();
  void NoteKnown(const Facts& facts);
  void CheckKnown(const Facts& facts);
  bool CheckStep();
  void CheckWhole();
  void CheckState();
  void CheckHandedOver();
  bool IsBoundBack(const Thing& composite) const;
  void CheckThings(const Facts& facts);

  std::uint64_t seed_;
  Dice dice_;
  Profile profile_;
  std::vector<std::string> log_;
  std::string broken_;

  // What is.
  std::map<Slot, Thing> things_;
  std::map<std::string, CloudConfig> configs_;
  std::map<std::string, CloudResource> cloud_;  // by target
  std::uint64_t version_ = 100;
  std::uint64_t uids_ = 0;
  std::uint64_t ids_ = 0;
  std::vector<std::pair<std::string, CloudConfig>> config_events_;
  std::vector<ThingEvent> streams_[2];  // of claims and composites; of managed resources
  std::size_t configs_seen_ = 0;
  std::size_t seen_[2] = {0, 0};
  std::vector<Thing> lost_;    // a chain that a disaster took, as it was
  std::vector<Thing> backup_;  // what of it is still to be restored

  // What Truce knows beside the registry.
  std::unique_ptr<TellingStore> store_;
  std::unique_ptr<scene::Registry> registry_;
  std::chrono::milliseconds elapsed_{0};
  std::map<std::string, ConfigView> views_;
  std::map<std::string, Thing> last_seen_;            // by uid
  std::map<std::string, Thing> last_alive_;           // the newest version without Deleting
  std::map<std::string, std::uint64_t> first_views_;  // of its ProviderConfig, when first seen
  std::map<std::string, std::string> moving_;  // ProviderConfigs whose account is being applied
  ResourceId located_until_;                   // to the resources up to this one
  bool respelt_ = false;
  std::uint32_t pass_ = 0;  // of the catalogue of now

  // What the oracle remembers.
  struct Known {
    std::string target;
    std::set<std::string> parties;  // as the registry keeps them
    bool observed = false;          // from a status alone
  };
  std::map<std::string, Known> known_;                     // by canonical name
  std::map<std::string, std::set<std::string>> words_;     // target → successors, newest word
  std::map<std::string, std::set<std::string>> heirs_;     // target → parties ever named
  std::map<std::string, std::string> words_seen_;          // by uid: annotation last shown
  bool reserved_ = false;                                  // the bucket outside, by a pipeline
  std::map<std::string, std::pair<Thing, Thing>> handed_;  // target → old and new owner, unseen
  std::set<std::string> bound_ever_;
  std::set<std::string> disturbed_;  // uids: of what became of them no end tells
  std::set<std::string> unsettled_;  // uids: changed or missed while they were deleted
  StoreContents before_;
  unsigned steps_ = 0;
};

}  // namespace truce

#endif  // TRUCE_TESTS_MODEL_CASCADE_WORLD_H_
