// One epoll, and threads that take turns at leading it: one leads, and computes. A leader that
// begins to wait (BlockingRegion) hands the lead to another thread.
#ifndef TRUCE_WEBHOOK_HTTP_EVENT_LOOP_H_
#define TRUCE_WEBHOOK_HTTP_EVENT_LOOP_H_

#include <sys/epoll.h>

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "registry/base/clock.h"
#include "registry/base/descriptor.h"
#include "registry/base/result.h"
#include "registry/base/threads.h"

namespace truce {

// Why an id is called.
enum class Report : std::uint8_t {
  kNothing,   // it was posted, or its descriptor can be written to
  kReadable,  // something came
  kHungUp,    // the peer will send no more (earlier bytes may still be unread)
  kHandled,   // posted: a thread that had lost the lead has done its work
  kTime,      // posted: a deadline has passed
};

// Calls by id: a late report of one that has ended finds nobody.
class EventLoop final {
 public:
  using OnEvent = std::function<void(std::uint64_t id, Report report)>;
  // The time has come for which WakeAt asked.
  using OnTime = std::function<void(Deadline now)>;

  // Starts the first thread; there will be at most `threads_max`. Both functions are called by the
  // leading thread only, hence one call at a time, and their shared data needs no lock, until the
  // call itself enters a BlockingRegion: from then on it must touch only its own. Errors:
  // kUnavailable (the system refuses a descriptor or a thread).
  static Result<std::unique_ptr<EventLoop>> Start(std::string name, int threads_max,
                                                  OnEvent on_event, OnTime on_time);
  ~EventLoop() { Stop(); }
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  // Reports `descriptor` edge-triggered (readable, writable, hung up) as `id`, which is not 0,
  // until it is closed. False: the system refused.
  bool Watch(int descriptor, std::uint64_t id);

  // Calls `id` soon. Thread-safe; never blocks.
  void Post(std::uint64_t id, Report report);
  // Joins all threads; events not yet delivered are dropped. Waits for calls that still run.
  // Thread-safe.
  void Stop();
  // Thread-safe.
  int threads() const;
  // Whether the calling thread leads: after a call that may wait, it may not.
  bool IsLed() const;

  // The rest is for the leader.

  // Calls `id` after the others that wait already.
  void Again(std::uint64_t id, Report report = Report::kNothing) { ready_.push_back({id, report}); }
  // Whether others wait to be called.
  bool HasMore() const { return next_ < count_ || !ready_.empty(); }
  // Calls OnTime then, unless it is asked for earlier.
  void WakeAt(Deadline time) { wake_at_ = std::min(wake_at_, time); }

 private:
  EventLoop(std::string name, int threads_max, OnEvent on_event, OnTime on_time);

  bool AddThread();  // mutex held
  void Run();
  void HandOver() noexcept;
  bool Turn();
  bool Poll();

  struct Event {
    std::uint64_t id;
    Report report;
  };

  const std::string name_;
  const std::size_t threads_max_;
  const OnEvent on_event_;
  const OnTime on_time_;
  const BlockingObserver observer_;
  const Descriptor epoll_;
  const std::shared_ptr<const Descriptor> wake_;  // a late waker may outlive the loop
  const std::shared_ptr<const Waker> waker_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::thread> threads_;  // guarded by mutex_, as all below
  std::vector<Event> posted_;
  int idle_ = 0;  // threads that neither lead nor are at work
  bool is_led_ = false;
  bool stopping_ = false;

  std::atomic<bool> asleep_ = false;  // the leader, until somebody wakes it

  // Of the leader.
  static constexpr int kBatchMax = 32;
  std::array<epoll_event, kBatchMax> events_{};
  int count_ = 0;
  int next_ = 0;
  std::deque<Event> ready_;
  int taken_ = 0;  // of them, since the last poll
  Deadline wake_at_ = Deadline::max();
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_HTTP_EVENT_LOOP_H_
