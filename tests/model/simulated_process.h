// SimulatedProcess: one life of Truce: an admission service and a watcher on one store, with the
// way to the API server between them: answers come late, in any order, or as errors; streams lag,
// break off and repeat themselves.
#ifndef TRUCE_TESTS_MODEL_SIMULATED_PROCESS_H_
#define TRUCE_TESTS_MODEL_SIMULATED_PROCESS_H_

#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "registry/store/store.h"
#include "tests/model/simulated_cluster.h"
#include "tests/support/fake_clock.h"
#include "tests/support/fenced_store.h"
#include "webhook/admission/service.h"
#include "webhook/watch/watcher.h"

namespace truce {

// What all lives of a simulation share.
struct SimulatedPorts {
  SimulatedCluster& cluster;
  Store& store;
  FakeClock& clock;
  std::mt19937& random;
  AdmissionPolicy policy;
  ReconcileRules rules;
  WatcherOptions options;
  testing::WatchFence* fence = nullptr;  // its watch takes over those of the others; null: none are
};

// What a review was answered.
struct SimulatedAnswer {
  int status = 0;  // HTTP
  bool allowed = false;
  bool warned = false;  // allowed with a finding
  std::string body;
};

// External synchronization. Deterministic for its ports and calls.
class SimulatedProcess final {
 public:
  SimulatedProcess(SimulatedPorts ports, Moment now, std::uint64_t& ids);
  ~SimulatedProcess();

  // One thing happens: the watcher is asked, an answer arrives, or events do. `faults`: the share
  // of answers that are errors, and of streams that break.
  void Step(double faults);
  // Everything that is under way arrives, without faults, until nothing is left to do.
  void Settle();
  // Time passes; what becomes due is done, without faults.
  void Advance(std::chrono::milliseconds time);
  // Time passes and nothing is done.
  void Wait(std::chrono::milliseconds time);
  // It stood still while others made time pass.
  void WakeAt(Moment now) { now_ = now; }

  SimulatedAnswer Validate(std::string review);
  // The configuration file was changed.
  void SetMappings(const MappingRules& mappings);
  Watcher& watcher() { return *watcher_; }
  // False: another one has taken over from its watch.
  bool leads() const { return watch_store_.is_newest(); }
  Moment now() const { return now_; }
  std::string Describe() const;

 private:
  class Sink;
  struct Pending {
    bool discover = false;
    std::optional<ListWanted> list;
    std::optional<GetWanted> get;
    std::optional<ApiError> error;
    std::optional<Discovery> discovery;
    std::optional<ListPage> page;
    bool answered = false;
  };
  struct Running {
    Selection selection;
    std::string version;
    std::uint64_t life = 0;
    std::vector<WatchEvent> last;  // delivered last, to be repeated
    bool brief = false;            // asked for a few seconds only: a bookmark comes soon
  };

  bool Chance(double share);
  std::size_t Pick(std::size_t count);
  bool Take(Wishes wishes);
  void Answer(Pending& pending, double faults);
  void Deliver(Pending pending);
  bool Stream(WatchId id, std::size_t count);
  void Break(WatchId id);
  ApiError RandomError();

  SimulatedPorts ports_;
  std::uint64_t& ids_;
  Moment now_;
  testing::WatchFence own_fence_;
  testing::FencedStore watch_store_;
  ReviewInbox inbox_;
  UnresolvedHolders unresolved_;
  std::unique_ptr<Sink> sink_;
  std::unique_ptr<AdmissionService> service_;
  std::unique_ptr<Watcher> watcher_;
  std::map<std::string, bool, std::less<>> unlisted_;
  bool policy_changed_ = false;  // accounts were learned, or mappings changed
  std::vector<Pending> pending_;
  std::map<WatchId, Running> running_;
};

}  // namespace truce

#endif  // TRUCE_TESTS_MODEL_SIMULATED_PROCESS_H_
