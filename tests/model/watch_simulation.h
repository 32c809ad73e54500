// WatchSimulation: people, Crossplane, a provider and a cloud around an API server, and Truce with
// its admission, its registry and its watch between them, driven by a seed.
#ifndef TRUCE_TESTS_MODEL_WATCH_SIMULATION_H_
#define TRUCE_TESTS_MODEL_WATCH_SIMULATION_H_

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "tests/model/simulated_cluster.h"
#include "tests/model/simulated_process.h"
#include "tests/support/faulty_store.h"
#include "tests/support/fenced_store.h"
#include "tests/support/store_contents.h"

namespace truce {

// Checked after every step (S) and when quiet (Q):
//   S1  of the objects admitted by an enforcing Truce, one lineage at most manages a bucket (I2);
//       not where mappings change: what a claim loses by that, its party may take
//   S2  CheckInvariants, and the audit log only grew (I1, I7, I12)
//   S3  no DELETE is denied (I10), a dry run changes nothing and answers as the review after it
//       (I4), and where the holder is not disclosed no answer names it (I8)
//   S4  unless commanded no more is released by absence in an hour than the brake allows (I11)
//   S5  a watch that another one replaced writes nothing
//   Q0  before the brake is released: it holds back rows without a live object
//   Q1  every row belongs to a live object that declares its key, and none is a reservation (I6)
//   Q2  every live declaration has its row
//   Q3  rows, objects and owners equal those of a rebuild: a new store filled by a new watcher from
//       the same live objects. Kept apart on purpose, because a rebuild cannot know them: the
//       incumbent where more than one root manages a key, explicit records, the chain above an
//       object whose parent is gone or does not name it (Adoption), public ids, times, `real` (I5)
//   Q4  replaying everything (a new process on the same store) changes no row, owner or object,
//       except that a resource may be known to be real (I9)
class WatchSimulation {
 public:
  struct Options {
    double faults = 0;             // share of answers that are errors, and of streams that break
    double store_faults = 0;       // share of steps before which the store fails once
    double bypass = 0;             // share of requests that never reach Truce
    double lost_answers = 0;       // share of requests whose answer is lost
    double restarts = 0;           // share of steps at which the process starts anew
    double fail_overs = 0;         // share of steps at which another watch takes over from one that
                                   // stands still, and goes on later
    std::size_t fail_over_at = 0;  // the same once, just before the watch calls its store for the
                                   // so manieth time; 0: never
    double disasters = 0;        // share of steps with an etcd restore, a CRD removed, a clock jump
    bool fail_open = false;      // failurePolicy Ignore: what is unknown is admitted
    bool map_composite = false;  // a rule maps the composite as well
    bool discreet = false;       // answers do not name holders of other parties
    bool tables = false;         // some declare tables, whose account becomes known later
    bool remaps = false;         // the mapping of claims is broken and mended
    std::size_t crowd = 0;       // so many buckets are there, and go together
  };
  WatchSimulation(Store& store, unsigned seed, Options options);
  ~WatchSimulation();

  // Runs one random step; returns what is wrong, or nothing.
  std::optional<std::string> Step();
  // Lets everything settle and checks Q.
  std::optional<std::string> Quiet();
  const std::vector<std::string>& log() const { return log_; }
  // Whether it came to what `fail_over_at` asks for.
  bool failed_over() const { return former_was_ > 0; }

 private:
  struct Request {
    std::string operation;
    SimulatedObject object;                 // on DELETE the one that goes
    std::optional<SimulatedObject> before;  // UPDATE
    std::string user = "dev";
    bool generated = false;  // its name: the request has none
  };

  WatcherOptions Quick() const;
  bool Chance(double share);
  std::size_t Pick(std::size_t count);
  void Say(std::string what) { log_.push_back(std::move(what)); }
  void Restart();
  // The watch stands still where it is, and another one takes over.
  void FailOver();
  // What stood still goes on, as if nothing had happened.
  void GoOn(const std::function<void()>& how);

  // The way of a request through the API server: whether it may be stored; sets object.exempt.
  bool Admit(Request& request);
  std::string ReviewOf(const Request& request, const std::string& uid, bool dry_run = false) const;
  void DryRun(const Request& request, const SimulatedAnswer& answer);
  bool Create(SimulatedObject object, const std::string& user);
  void CreateGenerated(SimulatedObject object, const std::string& user);
  bool Update(const SimulatedObject& before, SimulatedObject after, const std::string& user);
  void Delete(SimulatedObject object, const std::string& user);

  SimulatedObject NewObject(const GroupKind& kind, const std::string& ns, const std::string& name);
  const SimulatedObject* Any(const std::vector<GroupKind>& kinds);
  void People();
  void Crossplane();
  void ReconcileClaim(const SimulatedObject& claim);
  void ReconcileComposite(const SimulatedObject& composite);
  void Provider();
  void Disaster();
  void LoseCrowd();
  // Somebody deletes what is there, past the cluster.
  void DeleteInConsole();
  void PutConfig();
  // With the rule for claims, or with one whose path leads nowhere.
  void SetMapping(bool whole);
  // Definitions (CRDs) go with all their objects, and come back; all of them when `all`.
  void RemoveDefinition(const ServedKind& kind);
  void FinishDefinitions(bool all);
  void MakeDefinition(const ServedKind& kind);
  bool MayCreate(const GroupKind& kind) const;
  Slot SlotOf(const SimulatedObject& object) const;
  Slot RootOf(const SimulatedObject& object) const;

  std::optional<std::string> CheckStep();
  std::optional<std::string> CheckRows(const StoreContents& contents);
  std::optional<std::string> CheckRebuild(const StoreContents& contents);
  std::optional<std::string> CheckOwners(const StoreContents& contents,
                                         const StoreContents& rebuilt,
                                         const std::set<std::string>& of_record);
  std::optional<std::string> CheckBrake(const StoreContents& contents) const;
  std::optional<std::string> CheckHeldBack(const StoreContents& contents) const;
  std::optional<std::string> CheckReplay(const StoreContents& contents);
  bool IsOfRecord(const SimulatedObject& object) const;
  std::string Told(const std::string& what) const;

  Store& real_store_;
  testing::FaultyStore store_;
  std::mt19937 random_;
  Options options_;
  FakeClock clock_;
  SimulatedCluster cluster_;
  std::vector<ServedKind> defined_;  // kinds that definitions serve
  AdmissionPolicy policy_;
  ReconcileRules rules_;
  Moment now_{std::chrono::hours{1}};
  testing::WatchFence fence_;
  std::unique_ptr<SimulatedProcess> process_;
  std::unique_ptr<SimulatedProcess> former_;  // from which process_ took over; null: none
  std::set<std::string> cloud_;               // what exists there
  std::size_t former_was_ = 0;                // how often another watch took over
  bool account_known_ = false;                // the ProviderConfig says it
  unsigned secrets_ = 0;                      // of the ProviderConfig, so far
  bool mapped_ = true;                        // the mapping of claims is whole
  std::uint64_t uids_ = 0;
  std::uint64_t reviews_ = 0;
  std::uint64_t ids_ = 0;
  std::vector<std::string> log_;
  std::vector<std::string> broken_;
  StoreContents before_;
};

}  // namespace truce

#endif  // TRUCE_TESTS_MODEL_WATCH_SIMULATION_H_
