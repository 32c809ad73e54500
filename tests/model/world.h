// World: a cluster, a cloud, people, a provider and a lagging watch, driven by a seed.
//
// Random histories of these actors run against the ownership core on a real store. Every history
// that ends with two managers, with a bucket given away, or with a broken invariant is a failure;
// the seed replays it.
#ifndef TRUCE_TESTS_MODEL_WORLD_H_
#define TRUCE_TESTS_MODEL_WORLD_H_

#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/model/scene.h"
#include "tests/support/store_contents.h"

namespace truce {

// Checked after every step (S) and when quiet (Q):
//   S1  of the objects admitted by an enforcing Truce, at most one manages a bucket
//   S2  no such object of one party adopts a bucket whose data another party made
//   S3  no such object of one party deletes a bucket whose data another party made
//   S5  invariants of one state (CheckInvariants), and the audit log only grew
//   Q1  every row stands for a live object that declares its key (no phantoms, no reservation left:
//   I5, I6) Q2  every managed key has an owner; an owned key without manager has an explicit record
class World {
 public:
  struct Options {
    double bypass = 0;      // share of requests that never reach Truce (fail-open gaps)
    double unenforced = 0;  // share of requests judged in mode warn
  };
  World(Store& store, unsigned seed, Options options);

  // Runs one random step; returns what is wrong, or nothing.
  std::optional<std::string> Step();
  // Lets everything settle and checks Q1 and Q2.
  std::optional<std::string> Quiet();
  const std::vector<std::string>& log() const { return log_; }

 private:
  struct Thing {
    Slot slot;
    std::string uid;
    std::string bucket;
    Intent intent = Intent::kDeletes;
    std::uint64_t version = 0;
    bool terminating = false;
    bool finalizer = false;
    bool real = false;
    bool deleting = false;
    bool exempt = false;  // not judged by an enforcing Truce: outside S1 to S3
  };
  struct Data {  // what lies in a bucket
    std::string party;
    bool exempt = false;
  };

  bool Chance(double share);
  int Pick(int count);
  void Say(const std::string& what);
  static ObjectFacts FactsOf(const Thing& thing);
  void Put(Thing thing, bool deleted);
  void Remove(const Slot& slot);
  void Create(const Slot& slot, const std::string& bucket, Intent intent);
  void Change(const Slot& slot, const std::string& bucket, Intent intent);
  void RemoveByUser(const Slot& slot);
  void StripFinalizer(const Slot& slot);
  void Provide(const Slot& slot);
  void Watch();
  void Deliver(const std::pair<Thing, bool>& event);
  void Relist();
  void Proofs(std::chrono::milliseconds older_than);
  // Asks Truce; nothing when the request bypassed it. Repeats some reviews, as an API server does.
  Decision Judge(const std::optional<Thing>& before, const Thing& after);
  void CheckForeign(const Thing& thing, const std::string& rule);
  std::optional<std::string> CheckStep();

  std::mt19937 random_;
  Options options_;
  scene::Registry registry_;
  std::map<Slot, Thing> cluster_;
  std::vector<std::pair<Thing, bool>> events_;  // the thing, and whether it was deleted
  std::size_t seen_ = 0;
  std::map<std::string, Data> cloud_;
  std::uint64_t version_ = 0;
  std::uint64_t uids_ = 0;
  std::vector<std::string> log_;
  std::vector<std::string> broken_;
  StoreContents before_;
};

}  // namespace truce

#endif  // TRUCE_TESTS_MODEL_WORLD_H_
