// RequestQueue: callers wait here while one writer decides and commits for them in batches.
#ifndef TRUCE_REGISTRY_STORE_SQLITE_REQUEST_QUEUE_H_
#define TRUCE_REGISTRY_STORE_SQLITE_REQUEST_QUEUE_H_

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "registry/base/clock.h"
#include "registry/base/result.h"
#include "registry/store/store.h"

namespace truce {

// One call of Store::Apply or Submit between its caller and the writer. Thread-safe.
class Request {
 public:
  // Of a caller that waits: `decide` lives in its frame.
  Request(const Decide& decide, Deadline deadline) : decide_(decide), deadline_(deadline) {}
  // Of a caller that is told.
  Request(Decide decide, Deadline deadline, OnDone done)
      : owned_(std::move(decide)), decide_(owned_), done_(std::move(done)), deadline_(deadline) {}
  Request(const Request&) = delete;
  Request& operator=(const Request&) = delete;

  // Writer: starts the decision. False when the caller has gone, or its deadline passed (it is
  // answered): then nothing of this request may be touched any more.
  bool Start();
  // Writer, after Start: the caller's decision; must not be called again after Decided.
  const Decide& decide() const { return decide_; }
  // Writer: the decision has run and is not needed any more; the caller may now go at its deadline.
  void Decided();
  // Writer: the answer. Once. Tells a caller that does not wait.
  void Finish(Result<void> result);

  // Caller: blocks until the answer, or until the deadline; then kDeadlineExceeded, which says
  // whether something may have been written. Beyond the deadline it waits only for a decision that
  // runs.
  Result<void> Wait();

 private:
  enum class Stage { kQueued, kDeciding, kDecided, kFinished, kGone };

  const Decide owned_;
  const Decide&
      decide_;         // in a waiting caller's frame: valid while the stage is kQueued or kDeciding
  const OnDone done_;  // empty: the caller waits
  const Deadline deadline_;
  std::mutex mutex_;
  std::condition_variable changed_;
  Stage stage_ = Stage::kQueued;  // guarded by mutex_
  Result<void> result_;           // guarded by mutex_
};

// Thread-safe: many callers, one writer.
class RequestQueue {
 public:
  explicit RequestQueue(std::size_t length_max) : length_max_(length_max) {}

  // Caller: queues and waits for the answer. Errors: kResourceExhausted (queue full), kUnavailable
  // (closed), and what the writer answers.
  Result<void> Apply(const Decide& decide, Deadline deadline);
  // Caller: queues; `done` is told the same, by the caller's thread or the writer's.
  void Submit(Decide decide, Deadline deadline, OnDone done);

  using Batch = std::vector<std::shared_ptr<Request>>;
  // Writer: up to `length_max` requests as soon as there is one; none at `deadline`; nothing when
  // closed and empty. What queues up while the writer is at the disk becomes the next batch by
  // itself.
  std::optional<Batch> Take(std::size_t length_max, Deadline deadline);

  // New requests are refused; queued ones are still taken.
  void Close();

 private:
  Result<void> Queue(std::shared_ptr<Request> request);

  const std::size_t length_max_;
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<std::shared_ptr<Request>> requests_;  // guarded by mutex_
  bool closed_ = false;                            // guarded by mutex_
};

}  // namespace truce

#endif  // TRUCE_REGISTRY_STORE_SQLITE_REQUEST_QUEUE_H_
