#include "registry/base/worker.h"

namespace truce {

void Worker::Start() {
  thread_ = std::thread([this] { Run(); });
}

void Worker::Stop() {
  {
    const std::lock_guard lock(mutex_);
    is_stopping_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Worker::Wake() {
  {
    const std::lock_guard lock(mutex_);
    is_woken_ = true;
  }
  changed_.notify_all();
}

bool Worker::Settle(Deadline deadline) {
  std::unique_lock lock(mutex_);
  const auto is_settled = [this] { return !is_busy_ && !is_woken_; };
  changed_.wait_until(lock, deadline, [&] { return is_stopping_ || is_settled(); });
  return is_settled();
}

bool Worker::is_stopping() const {
  const std::lock_guard lock(mutex_);
  return is_stopping_;
}

void Worker::Run() {
  std::unique_lock lock(mutex_);
  while (!is_stopping_) {
    is_woken_ = false;
    is_busy_ = true;
    lock.unlock();
    const Rest rest = turn_();
    lock.lock();
    is_busy_ = false;
    changed_.notify_all();
    changed_.wait_until(lock, rest.earliest, [this] { return is_stopping_; });
    const auto must_go_on = [this] { return is_stopping_ || is_woken_; };
    // The library adds to a deadline, which overflows at the largest one.
    if (rest.due == Deadline::max()) {
      changed_.wait(lock, must_go_on);
    } else {
      changed_.wait_until(lock, rest.due, must_go_on);
    }
  }
}

}  // namespace truce
