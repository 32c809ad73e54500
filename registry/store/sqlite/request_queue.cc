#include "registry/store/sqlite/request_queue.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "registry/base/blocking.h"

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
    // Without memory to be told, it learns nothing before its deadline.
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

Result<void> RequestQueue::Apply(const Decide& decide, Deadline deadline) {
  const auto request = std::make_shared<Request>(decide, deadline);
  TRUCE_RETURN_IF_ERROR(Queue(request));
  BlockingRegion blocking;
  return request->Wait();
}

void RequestQueue::Submit(Decide decide, Deadline deadline, OnDone done) {
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

}  // namespace truce
