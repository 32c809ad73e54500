#include "registry/base/threads.h"

#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "registry/base/assert.h"

namespace truce {
namespace {

thread_local const BlockingObserver* current_observer = nullptr;

}  // namespace

void ObserveBlocking(const BlockingObserver* observer) noexcept { current_observer = observer; }

// The observer is taken away for the duration, so a nested region tells the pool nothing twice.
BlockingRegion::BlockingRegion() noexcept : observer_(std::exchange(current_observer, nullptr)) {
  if (observer_ != nullptr) (*observer_)(true);
}

BlockingRegion::~BlockingRegion() {
  if (observer_ == nullptr) return;
  (*observer_)(false);
  current_observer = observer_;
}

namespace {

thread_local Burst* current = nullptr;

}  // namespace

Burst::Burst() noexcept {
  TRUCE_ASSERT(current == nullptr);
  current = this;
}

Burst::~Burst() {
  current = nullptr;
  for (const auto& waker : wakers_) (*waker)();
}

void WakeAfterBurst(const std::shared_ptr<const Waker>& waker) {
  if (current == nullptr) return (*waker)();
  auto& wakers = current->wakers_;
  if (std::find(wakers.begin(), wakers.end(), waker) == wakers.end()) wakers.push_back(waker);
}

namespace {

constexpr int kBackgroundNice = 10;

}  // namespace

void WorkInBatches() {
  const sched_param none{};
  static_cast<void>(::pthread_setschedparam(::pthread_self(), SCHED_BATCH, &none));
}

// Linux keeps the nice value for each thread, and takes a thread's id for that of a process.
void WorkInBackground() {
  static_cast<void>(::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), kBackgroundNice));
}

}  // namespace truce
