#include "webhook/http/event_loop.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <stop_token>
#include <string_view>
#include <system_error>
#include <utility>

#include "registry/base/assert.h"
#include "registry/base/threads.h"

namespace truce {
namespace {

// Events taken at once when one thread runs. With more threads one at a time, so that none lies in
// the queue of a busy thread while another sleeps.
constexpr int kBatchMax = 32;
// Posted events that are taken before somebody polls again, should there be more: as many as a
// batch leads to, one for each event and one for its reply.
constexpr int kTakenMax = 2 * kBatchMax;
// Seats given to a stuck loop stay until somebody polls again.
constexpr int kExtraMax = 64;
constexpr size_t kThreadNameBytesMax = 15;  // of the kernel

// Whether the thread computes, or would if there were a processor for it; false when it sleeps or
// waits for a device.
bool IsRunnable(int thread) {
  std::array<char, 64> path{};
  std::snprintf(path.data(), path.size(), "/proc/self/task/%d/stat", thread);
  const int file = ::open(path.data(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  std::array<char, 128> text{};
  const ssize_t size = ::read(file, text.data(), text.size());
  ::close(file);
  // "123 (name) R …": the name may hold anything.
  const std::string_view stat(text.data(), size < 0 ? 0 : static_cast<size_t>(size));
  const size_t name_end = stat.rfind(") ");
  return name_end != stat.npos && stat.substr(name_end + 2).starts_with('R');
}

// The entry of the calling thread; of no loop: null.
thread_local bool* lent_of_thread = nullptr;
thread_local const EventLoop* loop_of_thread = nullptr;

void NameThread(const std::string& name) {
  ::pthread_setname_np(::pthread_self(), name.substr(0, kThreadNameBytesMax).c_str());
}

}  // namespace

// A descriptor that makes the threads in epoll_wait return.
class EventLoop::WakeSignal final {
 public:
  WakeSignal() : descriptor_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}
  ~WakeSignal() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }

  int descriptor() const { return descriptor_; }

  void Wake() noexcept {
    if (raised_.exchange(true)) return;
    const uint64_t one = 1;
    static_cast<void>(!::write(descriptor_, &one, sizeof one));
  }
  // Whoever lowers it looks at the queue afterwards.
  void Lower() {
    uint64_t drained = 0;
    static_cast<void>(!::read(descriptor_, &drained, sizeof drained));
    raised_.store(false);
  }

 private:
  const int descriptor_;
  std::atomic<bool> raised_ = false;
};

EventLoop::EventLoop(EventLoopOptions options, int epoll, std::shared_ptr<WakeSignal> wake)
    : options_(std::move(options)),
      epoll_(epoll),
      wake_(std::move(wake)),
      waker_(std::make_shared<const Waker>([signal = wake_] { signal->Wake(); })),
      observer_([this](bool enters) { NoteBlocking(enters); }) {}

Result<std::unique_ptr<EventLoop>> EventLoop::Start(EventLoopOptions options,
                                                    std::function<void()> on_tick) {
  const int epoll = ::epoll_create1(EPOLL_CLOEXEC);
  const auto wake = std::make_shared<WakeSignal>();
  std::unique_ptr<EventLoop> loop(new EventLoop(std::move(options), epoll, wake));
  epoll_event event{};
  event.events = EPOLLIN;  // level-triggered: wakes every thread until it is lowered
  if (epoll < 0 || ::epoll_ctl(epoll, EPOLL_CTL_ADD, wake->descriptor(), &event) != 0) {
    return Error{ErrorCode::kUnavailable,
                 "set up polling: " + std::generic_category().message(errno)};
  }
  {
    const std::lock_guard<std::mutex> lock(loop->mutex_);
    while (loop->running_ < loop->options_.running_max) {
      const int before = loop->running_;
      loop->FillSeat();
      if (loop->running_ == before) break;
    }
    if (loop->running_ == 0) return Error{ErrorCode::kUnavailable, "the system gives no thread"};
  }
  loop->ticker_ = std::jthread([self = loop.get(), on_tick = std::move(on_tick)](
                                   const std::stop_token& stop) { self->Tick(on_tick, stop); });
  return loop;
}

EventLoop::~EventLoop() {
  Stop();
  if (epoll_ >= 0) ::close(epoll_);
}

bool EventLoop::Watch(int descriptor, EventSink& sink) {
  epoll_event event{};
  // All of it from the start: what is waited for changes with each reply, and costs no call.
  event.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
  event.data.ptr = &sink;
  return ::epoll_ctl(epoll_, EPOLL_CTL_ADD, descriptor, &event) == 0;
}

void EventLoop::Post(EventSink& sink, Report report) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    ready_.push_back({&sink, report});
  }
  if (polling_.load() > 0) WakeAfterBurst(waker_);
}

// Wakes nobody: who took the events before it looks at the queue again.
bool EventLoop::PostBehindOthers(EventSink& sink) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (ready_.empty()) return false;
  ready_.push_back({&sink, Report::kNothing});
  return true;
}

void EventLoop::Stop() {
  ticker_.request_stop();
  if (ticker_.joinable()) ticker_.join();
  std::list<Worker> threads;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
    threads.swap(threads_);
    ready_.clear();
  }
  parked_changed_.notify_all();
  wake_->Wake();
  for (Worker& worker : threads) worker.thread.join();
}

bool EventLoop::IsOwnThread() const { return loop_of_thread == this; }

int EventLoop::threads() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return static_cast<int>(threads_.size());
}

void EventLoop::NoteBlocking(bool enters) noexcept {
  const std::lock_guard<std::mutex> lock(mutex_);
  running_ += enters ? -1 : 1;
  *lent_of_thread = enters;
  if (enters) FillSeat();
}

// Gives one free seat to a parked thread, or to a new one. Without memory or threads the seat
// stays empty until somebody comes back.
void EventLoop::FillSeat() {
  const int seats = options_.running_max + extra_;
  if (stopping_ || running_ >= seats) return;
  if (parked_ > unparked_) {
    ++unparked_;
    ++running_;
    parked_changed_.notify_one();
    return;
  }
  const int threads_max = options_.running_max + options_.waiting_max + kExtraMax;
  if (static_cast<int>(threads_.size()) >= threads_max) return;
  try {
    Worker& worker = threads_.emplace_back();
    try {
      worker.thread = std::thread([this, &worker] { Run(worker); });
    } catch (...) {
      threads_.pop_back();
      throw;
    }
    ++running_;
  } catch (const std::exception&) {
    return;
  }
}

// How many threads that hold seats do not wait.
int EventLoop::Computing() {
  return static_cast<int>(std::count_if(threads_.begin(), threads_.end(), [](const Worker& worker) {
    return worker.id != 0 && !worker.lent && IsRunnable(worker.id);
  }));
}

void EventLoop::Run(Worker& self) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    self.id = ::gettid();
  }
  lent_of_thread = &self.lent;
  loop_of_thread = this;
  // Best effort; of this thread only, as Linux has it.
  if (options_.nice > 0) static_cast<void>(::setpriority(PRIO_PROCESS, 0, options_.nice));
  NameThread(options_.name);
  ObserveBlocking(&observer_);
  for (Event event = Next(); event.sink != nullptr; event = Next()) {
    progress_.fetch_add(1, std::memory_order_relaxed);
    event.sink->OnEvent(event.report);
  }
}

// The next sink to call; none when the loop stops.
EventLoop::Event EventLoop::Next() {
  for (;;) {
    bool wait = true;
    {
      std::unique_lock<std::mutex> lock(mutex_);
      if (running_ > options_.running_max + extra_ && !Park(lock)) return {};
      if (stopping_) return {};
      wait = ready_.empty();
      if (!wait && taken_ < kTakenMax) {
        ++taken_;
        const Event event = ready_.front();
        ready_.pop_front();
        return event;
      }
      taken_ = 0;
      polling_.fetch_add(1);  // under the lock: who posts after this sees it
    }
    const Event event = Poll(wait);
    polling_.fetch_sub(1);
    if (event.sink != nullptr) return event;
  }
}

// Gives up the seat and sleeps until another one is free. False when the loop stops.
bool EventLoop::Park(std::unique_lock<std::mutex>& lock) {
  --running_;
  ++parked_;
  parked_changed_.wait(lock, [this] { return unparked_ > 0 || stopping_; });
  --parked_;
  if (stopping_) return false;
  --unparked_;
  return true;
}

// Takes what is reported, or waits for it; returns the first and queues the others. None: look at
// the queue again.
EventLoop::Event EventLoop::Poll(bool wait) {
  std::array<epoll_event, kBatchMax> reports;
  const int batch = options_.running_max == 1 ? kBatchMax : 1;
  const int count = ::epoll_wait(epoll_, reports.data(), batch, wait ? -1 : 0);
  Event first;
  for (int i = 0; i < count; ++i) {
    const epoll_event& report = reports[static_cast<size_t>(i)];
    const bool hung_up = (report.events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0;
    const Event event{static_cast<EventSink*>(report.data.ptr),
                      hung_up ? Report::kHungUp : Report::kReady};
    if (event.sink == nullptr) {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (stopping_) continue;  // stays readable for the others
      wake_->Lower();
      continue;
    }
    if (first.sink == nullptr) {
      first = event;
      continue;
    }
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      ready_.push_back(event);
    }
    // Another thread that polls, as extra ones do, would not look at the queue: the report was
    // ours.
    if (polling_.load() > 1) wake_->Wake();
  }
  return first;
}

void EventLoop::Tick(const std::function<void()>& on_tick, const std::stop_token& stop) {
  NameThread(options_.name + "-tick");
  std::mutex mutex;
  std::condition_variable_any wake;
  std::unique_lock<std::mutex> lock(mutex);
  while (!stop.stop_requested()) {
    wake.wait_for(lock, stop, options_.tick, [] { return false; });
    if (stop.stop_requested()) return;
    on_tick();
    RescueStalled();
  }
}

// A handler that waits without saying so may hold every seat: nobody polls, and nothing has begun
// since the last tick. Then more threads get seats, each time twice as many. Not while as many
// compute as there are seats: what takes long is not stuck, and would only be slower with company.
void EventLoop::RescueStalled() {
  const uint64_t progress = progress_.load(std::memory_order_relaxed);
  const bool stalled = polling_.load() == 0 && progress == last_progress_;
  last_progress_ = progress;
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!stalled) {
    if (polling_.load() == 0) return;
    extra_ = 0;
    // Whoever was to take these may have met a wait on its way to them.
    if (!ready_.empty()) wake_->Wake();
    return;
  }
  if (running_ == 0 || Computing() >= options_.running_max) return;
  const int seats = std::min(kExtraMax, std::max(1, 2 * extra_));
  for (; extra_ < seats; FillSeat()) ++extra_;
}

}  // namespace truce
