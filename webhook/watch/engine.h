// Engine: the threads around a Watcher. One drives it, one drives all watch streams (the client's),
// a few wait for lists, gets and discoveries.
#ifndef TRUCE_WEBHOOK_WATCH_ENGINE_H_
#define TRUCE_WEBHOOK_WATCH_ENGINE_H_

#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "registry/base/clock.h"
#include "registry/base/result.h"
#include "registry/base/worker.h"
#include "webhook/kube/cluster_api.h"
#include "webhook/watch/watcher.h"

namespace truce {

struct EngineOptions {
  std::size_t fetchers = 6;                        // calls of the API server at once
  std::chrono::milliseconds call_timeout{30'000};  // of one list page, get or discovery
  std::size_t batches_max = 256;                   // batches of events waiting for the driver
};

// Thread-safe. Threads run from Start to Stop.
class Engine final : public WatchHandler {
 public:
  // `watcher` is driven by the engine's thread alone from Start on.
  Engine(std::unique_ptr<Watcher> watcher, ClusterApi& api, EngineOptions options);
  ~Engine() override;
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // Begins. `streams` call this engine; they and the api must outlive Stop. Once.
  void Start(WatchStreams& streams);
  // Ends all threads; waits for calls under way, at most for their timeout. Idempotent. The streams
  // are to be destroyed before the engine is.
  void Stop();

  // Something waits in the watcher's inbox.
  void Wake() { driver_.Wake(); }

  // Runs `work` on the driver's thread between two of its steps, and waits. `work` must not block.
  // Errors: kDeadlineExceeded (it may still run: it must own what it touches), kUnavailable
  // (stopped).
  using Work = std::function<void(Watcher&, Moment now)>;
  Result<void> Ask(Work work, Deadline deadline);

  // WatchHandler, called by the streams.
  bool Events(WatchId id, std::vector<WatchEvent>& events) override;
  void Ended(WatchId id, std::optional<ApiError> error) override;

 private:
  // Hands inputs to the watcher. False: it has no room for it now.
  using Input = std::function<bool(Watcher&, Moment now)>;
  // Asks the API server; the answer is the next input.
  using Call = std::function<Input(Deadline deadline)>;

  Worker::Rest Drive();
  Worker::Rest Fetch();
  bool HasInputs();
  void Put(Input input);
  void Do(Wishes wishes);

  std::unique_ptr<Watcher> watcher_;
  ClusterApi& api_;
  const EngineOptions options_;
  WatchStreams* streams_ = nullptr;

  std::mutex mutex_;
  std::deque<Input> inputs_;
  std::deque<Call> calls_;
  std::size_t batches_ = 0;      // among the inputs
  bool streams_paused_ = false;  // Events was answered with false
  // Of the driver: inputs taken and not handed over yet. A batch without room waits, and all after
  // it: order is kept within a stream, and an end must not overtake its events.
  std::deque<Input> taken_;

  Worker driver_{[this] { return Drive(); }};
  std::list<Worker> fetchers_;
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_WATCH_ENGINE_H_
