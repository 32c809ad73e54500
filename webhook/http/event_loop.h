// One epoll, and threads that take turns at leading it: one leads, and computes. A leader that
// begins to wait (BlockingRegion) hands the lead to another thread.
#ifndef TRUCE_WEBHOOK_HTTP_EVENT_LOOP_H_
#define TRUCE_WEBHOOK_HTTP_EVENT_LOOP_H_

#include <algorithm>
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
  kNothing,   // it was posted, its descriptor can be written to, or its time has come
  kReadable,  // something came
  kHungUp,    // the peer will send no more (earlier bytes may still be unread)
  kHandled,   // posted: a thread that had lost the lead has done its work
};

// Calls by id: a late report of one that has ended finds nobody.
class EventLoop final {
 public:
  using OnEvent = std::function<void(std::uint64_t id, Report report)>;
  // The id that is called when the time has come for which WakeAt asked.
  static constexpr std::uint64_t kTimeId = 0;

  // Starts the first thread, all of that name; there will be at most `threads_max`. `on_event` is
  // called by the leading thread only, hence one call at a time, and its shared data needs no lock,
  // until the call itself enters a BlockingRegion: from then on it must touch only its own. Errors:
  // kUnavailable (the system refuses a descriptor or a thread).
  static Result<std::unique_ptr<EventLoop>> Start(std::string name, int threads_max,
                                                  OnEvent on_event);
  ~EventLoop() { Stop(); }
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  // Reports `descriptor` edge-triggered (readable, writable, hung up) as `id`, which is not
  // kTimeId, until it is closed. False: the system refused.
  bool Watch(int descriptor, std::uint64_t id);

  // Calls `id` after the next poll. Thread-safe; never blocks.
  void Post(std::uint64_t id, Report report);
  // Joins all threads; events not yet delivered are dropped. Waits for calls that still run.
  // Thread-safe.
  void Stop();
  // Thread-safe.
  int threads() const;
  // Whether the calling thread leads: after a call that may wait, it may not.
  bool IsLed() const;

  // The rest is for the leader.

  // Calls `id` after the others that wait already, mostly before the next poll.
  void Again(std::uint64_t id) { ready_.push_back({id, Report::kNothing}); }
  // Calls kTimeId then, unless it is asked for earlier.
  void WakeAt(Deadline time) { wake_at_ = std::min(wake_at_, time); }

 private:
  EventLoop(std::string name, int threads_max, OnEvent on_event);

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
  std::deque<Event> ready_;
  int taken_ = 0;  // of them, since the last poll
  Deadline wake_at_ = Deadline::max();
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_HTTP_EVENT_LOOP_H_
