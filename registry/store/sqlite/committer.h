// Callers wait in a queue while one writer decides for them in batches, each one durable
// transaction.
#ifndef TRUCE_REGISTRY_STORE_SQLITE_COMMITTER_H_
#define TRUCE_REGISTRY_STORE_SQLITE_COMMITTER_H_

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "registry/base/clock.h"
#include "registry/base/guarded.h"
#include "registry/base/result.h"
#include "registry/ownership/rows.h"
#include "registry/store/sqlite/connection.h"
#include "registry/store/store.h"

namespace truce {

// One call of Store::Apply or Submit between its caller and the writer. Thread-safe.
class Request {
 public:
  // Of a caller that waits: `decide` lives in its frame.
  Request(const DecideFn& decide, Deadline deadline) : decide_(decide), deadline_(deadline) {}
  // Of a caller with a callback.
  Request(DecideFn decide, Deadline deadline, OnDone done)
      : owned_(std::move(decide)), decide_(owned_), done_(std::move(done)), deadline_(deadline) {}
  Request(const Request&) = delete;
  Request& operator=(const Request&) = delete;

  // Writer: starts the decision. False when the caller has gone, or its deadline passed (it is
  // answered): then nothing of this request may be touched any more.
  bool Start();
  // Writer, after Start: the caller's decision; must not be called again after Decided.
  const DecideFn& decide() const { return decide_; }
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

  const DecideFn owned_;
  const DecideFn&
      decide_;         // in a waiting caller's frame: valid while the stage is kQueued or kDeciding
  const OnDone done_;  // empty: the caller waits
  const Deadline deadline_;
  std::mutex mutex_;
  std::condition_variable changed_;
  Stage stage_ = Stage::kQueued;  // guarded by mutex_
  Result<void> result_;           // guarded by mutex_
};

// Callers wait here for the writer. Thread-safe: many callers, one writer.
class RequestQueue {
 public:
  explicit RequestQueue(std::size_t length_max) : length_max_(length_max) {}

  // Caller: queues and waits for the answer. Errors: kResourceExhausted (queue full), kUnavailable
  // (closed), and those of the writer.
  Result<void> Apply(const DecideFn& decide, Deadline deadline);
  // Caller: queues; `done` gets the same, by the caller's thread or the writer's.
  void Submit(DecideFn decide, Deadline deadline, OnDone done);

  using Batch = std::vector<std::shared_ptr<Request>>;
  // Writer: up to `length_max` requests as soon as there is one; none at `deadline`; nothing when
  // closed and empty. Requests that queue up while the writer is at the disk become the next batch
  // by themselves.
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

// Whether the store can write. Thread-safe.
class WriteHealth {
 public:
  void Worked();
  void Failed(const Error& error);
  // The database is damaged: stays so until the store is opened again.
  void Damaged(const Error& error);

  Result<void> Get() const;
  // The damage, if there is any.
  std::optional<Error> damage() const;

 private:
  struct State {
    std::optional<Error> last_failure;
    std::optional<Error> damage;
  };
  Guarded<State> state_;
};

// Turns a batch of requests into one durable transaction. External synchronization: the writer's
// thread.
class Committer {
 public:
  // Both must outlive this.
  Committer(Connection& writer, WriteHealth& health) : writer_(writer), health_(health) {}

  // Decides the requests in order, each on what the former ones wrote; writes their changes;
  // commits once; answers all. A request that breaks a constraint fails alone: the transaction is
  // taken back and the changes before it are written again. A request without changes is answered
  // at once unless something was written before it, on which it may rest (I3).
  // `write_refusal`: why requests with changes are refused for the moment; all are where that is
  // kDataLoss.
  void Run(const RequestQueue::Batch& batch, const std::optional<Error>& write_refusal);

  // A commit without content, to see whether writing works again.
  void Probe();

 private:
  // A request that waits for the commit, and its changes.
  struct Waiting {
    std::shared_ptr<Request> request;
    Changes changes;
  };

  void Decide(const std::shared_ptr<Request>& request, const std::optional<Error>& write_refusal);
  Result<void> Begin();
  Result<void> Write(const Changes& changes);
  Result<void> WriteAgain();
  Result<void> Commit();
  void Rollback();
  void Abandon(const Error& error);
  void Note(const Error& error);

  Connection& writer_;
  WriteHealth& health_;
  bool wrote_ = false;            // in the transaction that is open
  std::vector<Waiting> waiting_;  // for the commit
};

}  // namespace truce

#endif  // TRUCE_REGISTRY_STORE_SQLITE_COMMITTER_H_
