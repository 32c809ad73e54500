#include "webhook/http/event_loop.h"

#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <system_error>
#include <utility>

namespace truce {
namespace {

// Events that are taken from one poll, and those that are called before the next one: as many as
// that leads to, one for each event and one for its reply.
constexpr int kBatchMax = 32;
constexpr int kTakenMax = 2 * kBatchMax;

thread_local const EventLoop* led_by_thread = nullptr;

// Until then, in epoll_wait's milliseconds; never too few, and one look an hour at least.
int MillisecondsUntil(Deadline time) {
  using std::chrono::milliseconds;
  const Deadline now = std::chrono::steady_clock::now();
  if (time <= now) return 0;
  constexpr milliseconds kLongest = std::chrono::hours(1);
  if (time - now >= kLongest) return static_cast<int>(kLongest.count());
  return static_cast<int>(std::chrono::ceil<milliseconds>(time - now).count());
}

Report ReportOf(std::uint32_t events) {
  if ((events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0) return Report::kHungUp;
  return (events & EPOLLIN) != 0 ? Report::kReadable : Report::kNothing;
}

}  // namespace

EventLoop::EventLoop(std::string name, int threads_max, OnEvent on_event)
    : name_(std::move(name)),
      threads_max_(static_cast<std::size_t>(threads_max)),
      on_event_(std::move(on_event)),
      observer_([this](bool enters) {
        if (enters && IsLed()) HandOver();
      }),
      epoll_(::epoll_create1(EPOLL_CLOEXEC)),
      wake_(std::make_shared<const Descriptor>(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))),
      waker_(std::make_shared<const Waker>([wake = wake_] {
        const std::uint64_t one = 1;
        static_cast<void>(!::write(wake->get(), &one, sizeof one));
      })) {}

Result<std::unique_ptr<EventLoop>> EventLoop::Start(std::string name, int threads_max,
                                                    OnEvent on_event) {
  std::unique_ptr<EventLoop> loop(new EventLoop(std::move(name), threads_max, std::move(on_event)));
  // Edge-triggered: each write is reported, and nobody need read.
  if (!loop->Watch(loop->wake_->get(), kTimeId)) {
    return Error{ErrorCode::kUnavailable,
                 "set up polling: " + std::generic_category().message(errno)};
  }
  const std::lock_guard lock(loop->mutex_);
  if (!loop->AddThread()) return Error{ErrorCode::kUnavailable, "the system gives no thread"};
  return loop;
}

bool EventLoop::Watch(int descriptor, std::uint64_t id) {
  epoll_event event{};
  // All of it from the start: the awaited events change with each reply, and cost no call.
  event.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
  event.data.u64 = id;
  return ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, descriptor, &event) == 0;
}

void EventLoop::Post(std::uint64_t id, Report report) {
  {
    const std::lock_guard lock(mutex_);
    posted_.push_back({id, report});
  }
  if (asleep_.exchange(false)) WakeAfterBurst(waker_);
}

void EventLoop::Stop() {
  std::vector<std::thread> threads;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    threads.swap(threads_);
  }
  changed_.notify_all();
  (*waker_)();
  for (std::thread& thread : threads) thread.join();
}

int EventLoop::threads() const {
  const std::lock_guard lock(mutex_);
  return static_cast<int>(threads_.size());
}

bool EventLoop::IsLed() const { return led_by_thread == this; }

// False: there are enough, or the system gives none.
bool EventLoop::AddThread() {
  if (threads_.size() >= threads_max_) return false;
  try {
    threads_.emplace_back([this] { Run(); });
  } catch (const std::exception&) {
    return false;
  }
  return true;
}

void EventLoop::Run() {
  ::pthread_setname_np(::pthread_self(), name_.c_str());
  ObserveBlocking(&observer_);
  std::unique_lock lock(mutex_);
  for (;;) {
    ++idle_;
    changed_.wait(lock, [this] { return stopping_ || !is_led_; });
    --idle_;
    if (stopping_) return;
    is_led_ = true;
    lock.unlock();
    led_by_thread = this;
    while (IsLed() && Turn()) {
    }
    led_by_thread = nullptr;
    lock.lock();
  }
}

// Nobody leads while every thread waits and there can be no other: then the first that comes back.
void EventLoop::HandOver() noexcept {
  led_by_thread = nullptr;
  const std::lock_guard lock(mutex_);
  is_led_ = false;
  if (idle_ > 0) {
    changed_.notify_one();
  } else if (!stopping_) {
    AddThread();
  }
}

// Makes one call, or polls. False when the loop stops.
bool EventLoop::Turn() {
  if (ready_.empty() || taken_ == kTakenMax) return Poll();
  ++taken_;
  const Event event = ready_.front();
  ready_.pop_front();
  on_event_(event.id, event.report);
  return true;
}

bool EventLoop::Poll() {
  taken_ = 0;
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return false;
    ready_.insert(ready_.end(), posted_.begin(), posted_.end());
    posted_.clear();
    asleep_.store(ready_.empty());  // under the lock: a later post sees it
  }
  const int timeout = ready_.empty() ? MillisecondsUntil(wake_at_) : 0;
  std::array<epoll_event, kBatchMax> events{};
  const int count = ::epoll_wait(epoll_.get(), events.data(), kBatchMax, timeout);
  asleep_.store(false);
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = events[static_cast<std::size_t>(i)];
    if (event.data.u64 != kTimeId) ready_.push_back({event.data.u64, ReportOf(event.events)});
  }
  if (wake_at_ != Deadline::max() && wake_at_ <= std::chrono::steady_clock::now()) {
    wake_at_ = Deadline::max();
    Again(kTimeId);
  }
  return true;
}

}  // namespace truce
