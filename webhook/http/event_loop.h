// Threads that share one epoll: as many run as there are processors, and one more for each that
// waits.
#ifndef TRUCE_WEBHOOK_HTTP_EVENT_LOOP_H_
#define TRUCE_WEBHOOK_HTTP_EVENT_LOOP_H_

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>

#include "registry/base/result.h"
#include "registry/base/threads.h"

namespace truce {

// What is known of the descriptor when a sink is called.
enum class Report : std::uint8_t {
  kNothing,  // the call was posted
  kReady,    // something came, or can be sent
  kHungUp,   // the peer will send no more (what it sent before may still be unread)
};

// Port: something with a descriptor. Called by any thread of the loop, by several at once.
class EventSink {
 public:
  virtual ~EventSink() = default;
  virtual void OnEvent(Report report) = 0;
};

struct EventLoopOptions {
  std::string name;     // of its threads
  int running_max = 1;  // threads that compute at once
  int waiting_max = 1;  // threads inside a BlockingRegion at once, which come on top
  int nice = 0;         // how much later than others its threads get a processor: setpriority(2)
  std::chrono::milliseconds tick{50};
};

// A thread that enters a BlockingRegion lends its seat to another one: parked or new. One that
// comes back finishes its event even when its seat is taken, and parks after it. So a handler that
// computes costs no thread switch, and one that waits stops nobody. Thread-safe.
class EventLoop final {
 public:
  // `on_tick` is called about every `tick` by a thread of its own, until Stop.
  static Result<std::unique_ptr<EventLoop>> Start(EventLoopOptions options,
                                                  std::function<void()> on_tick);
  ~EventLoop();  // as Stop
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  // Reports `descriptor` edge-triggered (readable, writable, hung up) until it is closed. `sink`
  // must outlive the loop: a report may come after the descriptor was closed. False: the system
  // refused.
  bool Watch(int descriptor, EventSink& sink);

  // Calls `sink` soon, with `report`. Never blocks. A sink that posts itself again, however
  // often, keeps nobody waiting: some of the other reports are delivered in between.
  void Post(EventSink& sink, Report report);
  // Calls `sink` after the events that wait already, with kNothing. False when none does. Never
  // blocks.
  bool PostBehindOthers(EventSink& sink);

  // Joins all threads; events not yet delivered are dropped. Waits for sinks that still run.
  void Stop();

  // Whether the calling thread is one of this loop.
  bool IsOwnThread() const;

  int threads() const;

 private:
  class WakeSignal;

  EventLoop(EventLoopOptions options, int epoll, std::shared_ptr<WakeSignal> wake);

  // Of the calling thread: it begins or has ended to wait in a BlockingRegion.
  void NoteBlocking(bool enters) noexcept;

  struct Worker;
  void Run(Worker& self);
  void Tick(const std::function<void()>& on_tick, const std::stop_token& stop);
  struct Event {
    EventSink* sink = nullptr;
    Report report = Report::kNothing;
  };
  Event Next();
  Event Poll(bool wait);
  bool Park(std::unique_lock<std::mutex>& lock);
  void FillSeat();  // mutex held
  int Computing();  // mutex held
  void RescueStalled();

  const EventLoopOptions options_;
  const int epoll_;
  const std::shared_ptr<WakeSignal> wake_;  // raised for good once the loop stops
  const std::shared_ptr<const Waker> waker_;
  const BlockingObserver observer_;

  mutable std::mutex mutex_;
  std::condition_variable parked_changed_;
  std::deque<Event> ready_;  // guarded by mutex_, as all below
  int taken_ = 0;            // of them, since somebody polled
  struct Worker {
    std::thread thread;
    int id = 0;         // of the kernel; 0: not begun
    bool lent = false;  // inside a BlockingRegion
  };
  std::list<Worker> threads_;
  int running_ = 0;  // threads neither parked nor waiting
  int parked_ = 0;
  int unparked_ = 0;  // parked threads that were told to go on
  int extra_ = 0;     // seats above running_max, while all running ones are stuck
  bool stopping_ = false;

  std::atomic<int> polling_ = 0;        // threads inside epoll_wait
  std::atomic<uint64_t> progress_ = 0;  // events begun
  uint64_t last_progress_ = 0;          // of the ticking thread
  std::jthread ticker_;
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_HTTP_EVENT_LOOP_H_
