// EventWriter: writes Kubernetes Events about objects, on a thread of its own, so that nobody waits
// for the API server.
//
// core/v1 Events (as providers write them, and as every kubectl shows them) in the object's
// namespace, "default" for cluster-scoped ones. The same text about the same object is written once
// an hour; an Event that exists already (409) is left as it is.
#ifndef TRUCE_WEBHOOK_FINDINGS_EVENT_WRITER_H_
#define TRUCE_WEBHOOK_FINDINGS_EVENT_WRITER_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "registry/base/clock.h"
#include "registry/base/worker.h"
#include "webhook/findings/event_queue.h"
#include "webhook/kube/cluster_api.h"
#include "webhook/metrics/metrics.h"

namespace truce {

// The Event as JSON. `reporter` names the Pod or machine.
std::string EventJson(const ObjectEvent& event, Timestamp now, const std::string& reporter);

// Thread-safe.
class EventWriter final {
 public:
  struct Options {
    EventQueue::Limits limits;
    std::string reporter = "truce";
    std::size_t tasks_max = 1000;
    std::size_t tasks_of_root_max = 50;
    // Told once when writing begins to fail (the error), and once when it works again (empty).
    // Called on the writer's thread. Optional.
    std::function<void(const std::string&)> on_trouble;
  };
  // `api` and `clock` must outlive the writer. Starts the thread.
  EventWriter(ClusterApi& api, const Clock& clock, Options options);
  ~EventWriter() = default;  // as Stop
  EventWriter(const EventWriter&) = delete;
  EventWriter& operator=(const EventWriter&) = delete;

  // Ends the thread; queued Events are dropped, and `api` is not asked any more. Blocks at most for
  // the call under way. Idempotent.
  void Stop() { worker_.Stop(); }

  // Queues one; never blocks. If the queue is full, counts it.
  void Post(ObjectEvent event);

  // Runs `make` on the writer's thread and queues what it returns: for Events whose objects must be
  // looked up first. `make` may block for a few seconds. `root` is whose share of the room it
  // takes; empty: nobody's. Never blocks.
  void PostLater(std::string root, std::function<std::vector<ObjectEvent>()> make);

  // truce_events_total{outcome="written|repeated|dropped|failed"}
  void WriteMetrics(MetricWriter& writer) const;

  // Waits until everything queued so far was written, dropped or failed. For tests and for the end.
  // False when `deadline` or Stop came first.
  bool Flush(Deadline deadline);

 private:
  struct Task {
    std::string root;
    std::function<std::vector<ObjectEvent>()> make;
  };

  Worker::Rest Turn();
  void Queue(ObjectEvent event);
  // How long to write nothing now.
  std::chrono::milliseconds Write(ObjectEvent event);
  void Trouble(const std::string& message);

  ClusterApi& api_;
  const Clock& clock_;
  const Options options_;

  std::mutex mutex_;
  EventQueue queue_;         // under mutex_
  std::vector<Task> tasks_;  // under mutex_
  bool is_busy_ = false;     // under mutex_: the worker holds what it took out of the two

  std::atomic<std::uint64_t> written_{0};
  std::atomic<std::uint64_t> repeated_{0};
  std::atomic<std::uint64_t> dropped_{0};
  std::atomic<std::uint64_t> failed_{0};
  bool is_in_trouble_ = false;  // of the thread
  int attempts_ = 0;            // of the thread: for the Event under way
  Worker worker_{[this] { return Turn(); }};
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_FINDINGS_EVENT_WRITER_H_
