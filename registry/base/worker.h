// Worker: a thread that does one thing again and again: when it is due, and when it is woken.
#ifndef TRUCE_REGISTRY_BASE_WORKER_H_
#define TRUCE_REGISTRY_BASE_WORKER_H_

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

#include "registry/base/clock.h"

namespace truce {

// Thread-safe, but for Start and Stop, which are for one thread.
class Worker final {
 public:
  // From one turn to the next.
  struct Rest {
    Deadline due = Deadline::max();  // the next turn begins then, or when somebody wakes it
    Deadline earliest{};             // but not before this
  };
  using Turn = std::function<Rest()>;

  // `turn` runs on the worker's thread alone, and uses nothing that ends before Stop has returned:
  // the worker is its owner's last member, or its owner stops it first.
  explicit Worker(Turn turn) : turn_(std::move(turn)) {}
  ~Worker() { Stop(); }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // Begins, with a turn at once. Once.
  void Start();
  // Ends the thread; waits for the turn under way. Idempotent.
  void Stop();
  // Asks for a turn at once; one under way is followed by another. Never blocks.
  void Wake();
  // Waits until no turn runs and nobody has asked for one. False: `deadline` or Stop came first.
  bool Settle(Deadline deadline);
  // Stop was called: a long turn should end.
  bool is_stopping() const;

 private:
  void Run();

  const Turn turn_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool is_stopping_ = false;  // under mutex_, as the next two
  bool is_woken_ = true;
  bool is_busy_ = false;
  std::thread thread_;
};

}  // namespace truce

#endif  // TRUCE_REGISTRY_BASE_WORKER_H_
