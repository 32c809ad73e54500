// Following: the server's side of its cluster: opens the connection, checks whose cluster it is,
// keeps the watch running and says what the admission path must know of it.
#ifndef TRUCE_WEBHOOK_SERVE_FOLLOWING_H_
#define TRUCE_WEBHOOK_SERVE_FOLLOWING_H_

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "registry/base/result.h"
#include "registry/ownership/ledger.h"
#include "registry/store/store.h"
#include "webhook/kube/api_client.h"
#include "webhook/kube/session.h"
#include "webhook/kube/watch_client.h"
#include "webhook/log/log.h"
#include "webhook/metrics/health.h"
#include "webhook/watch/engine.h"
#include "webhook/watch/recovery.h"
#include "webhook/watch/watcher.h"

namespace truce {

// What reviews must know of the cluster. A value.
struct ClusterView {
  bool ready = false;  // every kind was attempted once
  LearnedIdentity learned;
  std::string recovery;  // not empty: recovery mode, and why
  // Types of which a served kind was not listed yet: whether a key is free is not known. True: not
  // for longer than the grace, so that it is only warned of.
  std::map<std::string, bool> unlisted;
  // Kinds that cannot be read now (Watcher::Unwatched), and of them those without mapping rule.
  std::set<GroupKind> unwatched;
  std::map<GroupKind, Timestamp> unmapped;

  bool operator==(const ClusterView&) const = default;
};

struct FollowingOptions {
  std::string cluster;               // cluster id
  std::string data_dir;              // the registry's mark is kept there, beside the registry
  std::string lease_namespace;       // of the Lease `truce-<cluster>`, which remembers it too
  bool finish_recovery = false;      // recovery mode ends by itself when the resync is done
  std::vector<FollowedKind> others;  // for the observer
};

// References must outlive the object.
struct FollowingPorts {
  Store& store;  // open
  const Clock& clock;
  IdSource ids;  // thread-safe
  Logger& logger;
  Health& health;  // its part "cluster"
  ReviewInbox& inbox;
  DoubtBoard& doubts;
  SightObserver* observer = nullptr;  // may be null
  // Called on Following's thread whenever the view differs from the last one told.
  std::function<void(const ClusterView&)> on_view;
};

// Thread-safe.
class Following final {
 public:
  // Connects once. A cluster that cannot be reached is no error: it is tried again until it
  // answers, and until then nothing is ready. Blocks for at most 15 s.
  // Errors: kConflict (the registry belongs to another cluster), kInvalidArgument (the settings
  // name
  //   bad or missing files), those of the store.
  static Result<std::unique_ptr<Following>> Start(ServerSettings server, FollowingOptions options,
                                                  ReconcileRules rules, FollowingPorts ports);
  ~Following();
  Following(const Following&) = delete;
  Following& operator=(const Following&) = delete;

  // The configuration changed: everything recorded is listed again. The accounts in `rules` are the
  // configured ones.
  void SetRules(ReconcileRules rules);
  // The inbox was filled.
  void Wake();
  // Runs `work` between two steps of the watch. Errors: kUnavailable (the cluster was not reached
  // yet, or the server ends), kDeadlineExceeded.
  Result<void> Ask(Engine::Work work, Deadline deadline);
  // The API of the cluster; null until it was reached.
  ClusterApi* api() const;

 private:
  Following(ServerSettings server, FollowingOptions options, ReconcileRules rules,
            FollowingPorts ports);

  Result<void> Open();
  Result<void> Bind(ClusterApi& api);
  Result<void> CompareWithMemory(ClusterApi& api);
  Result<void> Watch();
  Engine* engine() const;
  void Keep();
  bool Sleep(std::chrono::milliseconds time);
  void Look();
  void NoteRecovery(bool resynced);
  void Report(const std::string& problem);

  const ServerSettings server_;
  const FollowingOptions options_;
  const FollowingPorts ports_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;            // under mutex_
  bool looking_due_ = false;         // under mutex_: look now
  ReconcileRules rules_;             // under mutex_; as given last
  LearnedIdentity learned_;          // under mutex_
  std::unique_ptr<ClusterApi> api_;  // set once, under mutex_
  std::unique_ptr<Engine> engine_;   // set once, under mutex_
  std::unique_ptr<WatchStreams> streams_;
  std::shared_ptr<ServerSession> session_;

  // Of Start, then of the keeper's thread.
  bool remembered_ = false;
  std::string problem_;
  std::string recovery_;
  ClusterView view_;
  bool view_told_ = false;
  std::uint64_t breaches_ = 0;  // that were told of
  std::thread keeper_;
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_SERVE_FOLLOWING_H_
