// SmallCluster: a few kinds and objects as an API server would list and watch them, in memory; and
// Driver, which does what a Watcher wishes, at once and in order.
#ifndef TRUCE_TESTS_SUPPORT_SMALL_CLUSTER_H_
#define TRUCE_TESTS_SUPPORT_SMALL_CLUSTER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "registry/store/store.h"
#include "tests/support/fake_clock.h"
#include "webhook/watch/watcher.h"

namespace truce::testing {

// One object: where it stands, and the JSON of everything but the metadata that the cluster keeps.
struct SmallObject {
  GroupKind kind;
  std::string ns;
  std::string name;
  std::string uid;
  std::string metadata;  // more members of metadata: `"annotations":{…}`; may be empty
  std::string rest;      // more members of the object: `"spec":{…},"status":{…}`; may be empty
  std::string created = "2026-01-01T00:00:00Z";
};

// The object of this JSON, with another resourceVersion.
SmallObject ObjectFromJson(const std::string& text);

// External synchronization.
class SmallCluster final {
 public:
  void Serve(ServedKind kind) { served_[{kind.group, kind.kind}] = std::move(kind); }
  void Stop(const GroupKind& kind) { served_.erase(kind); }
  // Creates or replaces; returns the new version.
  std::uint64_t Put(const SmallObject& object);
  // Removes it; DELETED carries `last` where given.
  void Remove(const GroupKind& kind, const std::string& ns, const std::string& name);
  // History up to now is gone: watches from older versions end with kExpired.
  void Compact() { compacted_ = version_; }
  // What happened of the kind is told by no watch any more: another API server's history.
  void Forget(const GroupKind& kind);
  void FailLists(const GroupKind& kind, std::optional<ApiError> error);
  void FailGets(std::optional<ApiError> error) { get_error_ = std::move(error); }
  void FailWatches(std::optional<ApiError> error) { watch_error_ = std::move(error); }

  ApiResult<Discovery> Discover() const;
  ApiResult<ListPage> List(const ListQuery& query);
  ApiResult<ListPage> Get(const GetWanted& get);
  // What happened of the kind after `version`, and the version of the last one.
  ApiResult<std::vector<WatchEvent>> EventsAfter(const Selection& selection,
                                                 const std::string& version) const;
  std::uint64_t version() const { return version_; }
  std::size_t lists = 0;
  std::size_t gets = 0;
  std::uint64_t ids = 0;  // public ids, of all servers that follow it

 private:
  using Place = std::pair<std::string, std::string>;
  struct Stored {
    SmallObject object;
    std::uint64_t version = 0;
  };
  struct Past {
    GroupKind kind;
    WatchEvent event;
  };
  static std::string JsonOf(const SmallObject& object, std::uint64_t version);

  std::map<GroupKind, ServedKind> served_;
  std::map<GroupKind, std::map<Place, Stored>> objects_;
  std::map<GroupKind, ApiError> list_errors_;
  std::optional<ApiError> get_error_;
  std::optional<ApiError> watch_error_;
  std::vector<Past> past_;
  std::uint64_t version_ = 100;
  std::uint64_t compacted_ = 0;
};

// External synchronization.
class Driver final {
 public:
  struct Options {
    ReconcileRules rules;
    WatcherOptions watcher;
    SightObserver* observer = nullptr;
  };
  Driver(SmallCluster& cluster, Store& store, FakeClock& clock, Options options);

  // Does all that can be done without time passing.
  void Settle();
  // Lets time pass, in steps, and settles at each.
  void Advance(std::chrono::milliseconds time);
  // All watches end: in order, or with `error`.
  void EndWatches(const std::optional<ApiError>& error);
  // Events are kept back (a lagging watch) until they are let through.
  bool hold_events = false;
  // The same for one kind.
  std::optional<GroupKind> hold_kind;
  // GETs are kept back, too: asked when they are let through.
  bool hold_gets = false;
  // GETs are asked at once, and their answers come when they are let through.
  bool hold_answers = false;
  // Called once between a list and its answer.
  std::function<void()> while_listing;
  // Called before each list of a kind.
  std::function<void(const GroupKind&)> before_list;
  // The lists that are wanted at once are made in the other order.
  bool lists_backwards = false;

  Watcher& watcher() { return *watcher_; }
  ReviewInbox inbox;
  UnresolvedHolders unresolved;
  LearnedIdentity learned;
  AccountMap accounts;
  Moment now{std::chrono::hours{1}};
  std::size_t watches() const { return watches_.size(); }

 private:
  struct Running {
    Selection selection;
    std::string version;
    bool brief = false;  // asked for a few seconds only: a bookmark comes soon
  };
  bool Perform(Wishes wishes);
  bool Deliver();

  SmallCluster& cluster_;
  FakeClock& clock_;
  std::unique_ptr<Watcher> watcher_;
  std::map<WatchId, Running> watches_;
  std::vector<GetWanted> held_gets_;
  std::vector<std::pair<GetWanted, ApiResult<ListPage>>> held_answers_;
};

}  // namespace truce::testing

#endif  // TRUCE_TESTS_SUPPORT_SMALL_CLUSTER_H_
