// SimulatedCluster: the API server of the simulator. Objects with versions and uids, lists in pages
// of one moment, histories that can be compacted, definitions that come and go, an etcd that can be
// set back. Everything happens at once and in order; delay and loss are the simulation's.
#ifndef TRUCE_TESTS_MODEL_SIMULATED_CLUSTER_H_
#define TRUCE_TESTS_MODEL_SIMULATED_CLUSTER_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "registry/base/clock.h"
#include "registry/identity/identity.h"
#include "webhook/kube/cluster_api.h"

namespace truce {

// A claim, composite, managed bucket or table, or a definition.
struct SimulatedObject {
  GroupKind kind;
  std::string ns;
  std::string name;
  std::string uid;
  Timestamp created{};
  std::uint64_t version = 0;  // 0: not stored yet
  bool terminating = false;
  std::vector<std::string> finalizers;
  std::string bucket;  // name of what it declares; empty: nothing
  Intent intent = Intent::kDeletes;
  std::optional<ObjectRef> controller;  // owner reference
  std::optional<ObjectRef> claim;       // spec.claimRef
  std::vector<ObjectRef> resources;     // spec.resourceRef of a claim, else spec.resourceRefs
  bool composed = false;
  bool real = false;      // status.atProvider.arn and Ready=True
  bool deleting = false;  // Ready=False Deleting, Synced=True
  unsigned observed = 0;  // how often its provider wrote that it found it again
  std::string extra;      // more members of the object: `"spec":{…}`; replaces those of above
  bool exempt = false;    // of the simulation: not admitted by an enforcing Truce
};
std::string JsonOf(const SimulatedObject& object);
ObjectRef RefTo(const SimulatedObject& object);

// External synchronization.
class SimulatedCluster final {
 public:
  using Place = std::pair<std::string, std::string>;  // namespace, name
  using Objects = std::map<GroupKind, std::map<Place, SimulatedObject>>;

  void Serve(ServedKind kind) { served_[{kind.group, kind.kind}] = std::move(kind); }
  void Unserve(const GroupKind& kind) { served_.erase(kind); }
  bool Serves(const GroupKind& kind) const { return served_.contains(kind); }

  // Creates it, or replaces what stands in its place.
  const SimulatedObject& Put(SimulatedObject object);
  // Ends it; DELETED carries `last`.
  void Remove(SimulatedObject last);
  const SimulatedObject* Find(const GroupKind& kind, const std::string& ns,
                              const std::string& name) const;
  const Objects& objects() const { return objects_; }
  std::vector<SimulatedObject> ObjectsOf(const GroupKind& kind) const;

  // History up to now is forgotten: watches and lists that began earlier end with kExpired.
  void Compact();
  // Remembers this moment; once. Versions count all writes of the cluster: after a backup come more
  // than streams would ever wait for, so that one set back to it is told "too large" for long.
  void Backup() {
    backup_ = {objects_, version_};
    version_ += writes_since_;
  }
  bool has_backup() const { return backup_.has_value(); }
  // Goes back to it. `bump`: versions go on, as with `etcdutl --bump-revision --mark-compacted`;
  // else they go back too, each time to less than the life before had reached, and watches from any
  // life before are answered "too large resource version".
  void Restore(bool bump);

  ApiResult<Discovery> Discover(bool lose_one) const;
  ApiResult<ListPage> List(const ListQuery& query);
  // What a list of this one name answers.
  ApiResult<ListPage> Get(const ServedKind& kind, const std::string& ns,
                          const std::string& name) const;
  // At most `count` events of the kind after `version`. `life`: of the server, when the watch
  // began.
  ApiResult<std::vector<WatchEvent>> EventsAfter(const GroupKind& kind, const std::string& version,
                                                 std::uint64_t life, std::size_t count) const;
  std::uint64_t version() const { return version_; }
  // Counts up with each Restore.
  std::uint64_t life() const { return life_; }

 private:
  struct Past {
    std::uint64_t version = 0;
    WatchEvent event;
  };

  std::map<GroupKind, ServedKind> served_;
  Objects objects_;
  std::map<GroupKind, std::vector<Past>> past_;
  std::map<std::string, std::vector<std::string>> snapshots_;  // by token of the list
  std::optional<std::pair<Objects, std::uint64_t>> backup_;
  std::uint64_t version_ = 100;
  std::uint64_t writes_since_ = std::uint64_t{1} << 40;  // since the backup, of others; per life
  std::uint64_t compacted_ = 0;
  std::uint64_t life_ = 0;
  std::uint64_t tokens_ = 0;
};

}  // namespace truce

#endif  // TRUCE_TESTS_MODEL_SIMULATED_CLUSTER_H_
