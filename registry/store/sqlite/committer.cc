#include "registry/store/sqlite/committer.h"

#include <algorithm>
#include <exception>
#include <string>
#include <utility>

#include "registry/base/assert.h"
#include "registry/base/threads.h"
#include "registry/store/adapter.h"
#include "registry/store/sqlite/facts.h"
#include "registry/store/sqlite/writing.h"

namespace truce {
namespace {

Error TooLate() {
  return {ErrorCode::kDeadlineExceeded,
          "the deadline passed before the decision's turn; nothing was written"};
}

Error OutcomeUnknown() {
  return {ErrorCode::kDeadlineExceeded, "the deadline passed during the commit"};
}

}  // namespace

bool Request::Start() {
  std::unique_lock lock(mutex_);
  if (stage_ == Stage::kGone) return false;
  if (std::chrono::steady_clock::now() < deadline_) {
    stage_ = Stage::kDeciding;
    return true;
  }
  lock.unlock();
  Finish(TooLate());
  return false;
}

void Request::Decided() {
  std::lock_guard lock(mutex_);
  stage_ = Stage::kDecided;
  // Only a caller that is past its deadline waits for this.
  if (std::chrono::steady_clock::now() >= deadline_) changed_.notify_one();
}

void Request::Finish(Result<void> result) {
  if (done_) {
    // Without memory for the result, the caller learns nothing before its deadline.
    try {
      done_(std::move(result));
    } catch (const std::exception&) {
    }
    return;
  }
  std::lock_guard lock(mutex_);
  stage_ = Stage::kFinished;
  result_ = std::move(result);
  changed_.notify_one();
}

Result<void> Request::Wait() {
  std::unique_lock lock(mutex_);
  if (changed_.wait_until(lock, deadline_, [this] { return stage_ == Stage::kFinished; })) {
    return std::move(result_);
  }
  if (stage_ == Stage::kQueued) {
    // Nothing was decided, and nothing will be: its caller may know that.
    stage_ = Stage::kGone;
    return TooLate();
  }
  changed_.wait(lock, [this] { return stage_ != Stage::kDeciding; });
  if (stage_ == Stage::kFinished) return std::move(result_);
  return OutcomeUnknown();
}

Result<void> RequestQueue::Queue(std::shared_ptr<Request> request) {
  {
    std::lock_guard lock(mutex_);
    if (closed_) return Error{ErrorCode::kUnavailable, "the store is closing"};
    if (requests_.size() >= length_max_) {
      return Error{ErrorCode::kResourceExhausted, "too many writes wait for the disk"};
    }
    requests_.push_back(std::move(request));
  }
  arrived_.notify_one();
  return {};
}

Result<void> RequestQueue::Apply(const DecideFn& decide, Deadline deadline) {
  const auto request = std::make_shared<Request>(decide, deadline);
  TRUCE_RETURN_IF_ERROR(Queue(request));
  BlockingRegion blocking;
  return request->Wait();
}

void RequestQueue::Submit(DecideFn decide, Deadline deadline, OnDone done) {
  const auto request = std::make_shared<Request>(std::move(decide), deadline, std::move(done));
  Result<void> queued = Queue(request);
  if (!queued.ok()) request->Finish(std::move(queued));
}

std::optional<RequestQueue::Batch> RequestQueue::Take(std::size_t length_max, Deadline deadline) {
  std::unique_lock lock(mutex_);
  arrived_.wait_until(lock, deadline, [this] { return closed_ || !requests_.empty(); });
  if (requests_.empty() && closed_) return std::nullopt;
  const std::size_t length = std::min(length_max, requests_.size());
  const auto end = requests_.begin() + static_cast<std::ptrdiff_t>(length);
  Batch batch(std::make_move_iterator(requests_.begin()), std::make_move_iterator(end));
  requests_.erase(requests_.begin(), end);
  return batch;
}

void RequestQueue::Close() {
  {
    std::lock_guard lock(mutex_);
    closed_ = true;
  }
  arrived_.notify_one();
}

void WriteHealth::Worked() {
  state_.With([](State& state) { state.last_failure.reset(); });
}

void WriteHealth::Failed(const Error& error) {
  state_.With([&](State& state) { state.last_failure = error; });
}

void WriteHealth::Damaged(const Error& error) {
  state_.With([&](State& state) { state.damage = error; });
}

Result<void> WriteHealth::Get() const {
  return state_.With([](const State& state) -> Result<void> {
    if (state.damage.has_value()) return *state.damage;
    if (state.last_failure.has_value()) return *state.last_failure;
    return {};
  });
}

std::optional<Error> WriteHealth::damage() const {
  return state_.With([](const State& state) { return state.damage; });
}

void Committer::Run(const RequestQueue::Batch& batch, const std::optional<Error>& write_refusal) {
  // An index of a damaged database may lack what a decision looks for.
  if (write_refusal && write_refusal->code == ErrorCode::kDataLoss) {
    for (const std::shared_ptr<Request>& request : batch) {
      if (request->Start()) request->Finish(*write_refusal);
    }
    return;
  }
  // The decisions of a batch read one state, and what it has written.
  if (const Result<void> begun = Begin(); !begun.ok()) {
    for (const std::shared_ptr<Request>& request : batch) {
      if (request->Start()) request->Finish(begun.error());
    }
    return Abandon(begun.error());
  }
  for (const std::shared_ptr<Request>& request : batch) {
    if (request->Start()) Decide(request, write_refusal);
  }
  if (!wrote_) return Rollback();
  // One sync of the disk for all of them.
  if (Result<void> committed = Commit(); !committed.ok()) {
    return Abandon(committed.error());
  }
  health_.Worked();
  const Burst burst;
  for (const Waiting& waiting : waiting_) waiting.request->Finish({});
  waiting_.clear();
}

void Committer::Probe() {
  Result<void> probed = Begin();
  if (probed.ok()) probed = Commit();
  if (probed.ok()) return health_.Worked();
  Abandon(probed.error());
}

void Committer::Decide(const std::shared_ptr<Request>& request,
                       const std::optional<Error>& write_refusal) {
  SqliteFacts facts(writer_);
  Changes changes;
  std::optional<Error> failure;
  // One faulty decision must not end the thread on which all others are written.
  try {
    changes = request->decide()(facts);
  } catch (const std::exception& exception) {
    failure = Error{ErrorCode::kInternal, "the decision failed: " + std::string(exception.what())};
  }
  request->Decided();
  if (facts.error()) {
    failure = facts.error();
    Note(*failure);
    // SQLite takes the transaction back when one of its reads meets a broken disk.
    if (!writer_.InTransaction()) Abandon(*failure);
  }
  if (!failure) {
    if (Result<void> sound = CheckChanges(changes); !sound.ok()) failure = std::move(sound).error();
  }
  if (failure) return request->Finish(*std::move(failure));
  if (changes.empty()) {
    if (!wrote_) return request->Finish({});
    waiting_.push_back({request, {}});
    return;
  }
  if (write_refusal) return request->Finish(*write_refusal);
  if (Result<void> written = Write(changes); !written.ok()) {
    return request->Finish(std::move(written));
  }
  waiting_.push_back({request, std::move(changes)});
}

Result<void> Committer::Begin() {
  wrote_ = false;
  return writer_.Run("BEGIN IMMEDIATE");
}

// Writes inside the batch's transaction, or leaves that as it was.
Result<void> Committer::Write(const Changes& changes) {
  Result<void> outcome = writer_.InTransaction() ? Result<void>() : Begin();
  wrote_ = true;
  if (outcome.ok()) outcome = WriteChanges(writer_, changes);
  if (outcome.ok()) return {};
  // A broken constraint is about these changes alone, anything else about the whole batch.
  if (outcome.error().code != ErrorCode::kInternal) {
    Abandon(outcome.error());
  } else if (const Result<void> again = WriteAgain(); !again.ok()) {
    Abandon(again.error());
  }
  return outcome;
}

// Takes the transaction back and writes what the batch had written before the last request.
// Instead of savepoints, which each request would pay for: broken constraints are bugs, and rare.
Result<void> Committer::WriteAgain() {
  Rollback();
  TRUCE_RETURN_IF_ERROR(Begin());
  for (const Waiting& waiting : waiting_) {
    if (waiting.changes.empty()) continue;
    wrote_ = true;
    TRUCE_RETURN_IF_ERROR(WriteChanges(writer_, waiting.changes));
  }
  return {};
}

Result<void> Committer::Commit() {
  TRUCE_RETURN_IF_ERROR(writer_.Run("UPDATE OR ROLLBACK commits SET count = count + 1"));
  return writer_.Run("COMMIT");
}

void Committer::Rollback() {
  wrote_ = false;
  if (!writer_.InTransaction()) return;
  if (const Result<void> done = writer_.Run("ROLLBACK"); !done.ok()) Note(done.error());
}

// Takes the whole batch back and tells all that wait for it.
void Committer::Abandon(const Error& error) {
  Note(error);
  Rollback();
  for (const Waiting& waiting : waiting_) waiting.request->Finish(error);
  waiting_.clear();
}

// Notes what an error says about the store. A broken constraint is about the request alone.
void Committer::Note(const Error& error) {
  if (error.code == ErrorCode::kDataLoss) health_.Damaged(error);
  if (error.code == ErrorCode::kUnavailable) health_.Failed(error);
}

}  // namespace truce
