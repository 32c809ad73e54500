// BodyGate: a few requests with large bodies at once; the others wait in their order.
#ifndef TRUCE_WEBHOOK_HTTP_BODY_GATE_H_
#define TRUCE_WEBHOOK_HTTP_BODY_GATE_H_

#include <deque>
#include <mutex>

#include "webhook/http/event_loop.h"

namespace truce {

// Thread-safe. A guest enters, and once admitted leaves; or it withdraws before.
class BodyGate final {
 public:
  // Before the first guest. `seats` is at least 1; `loop` must outlive it.
  void Open(int seats, EventLoop& loop) {
    seats_ = seats;
    loop_ = &loop;
  }

  // Admits `guest`, or lets it wait behind the others, to be called by the loop when it is
  // admitted.
  void Enter(EventSink& guest);
  // Of one that has entered and neither left nor withdrawn.
  bool IsAdmitted(const EventSink& guest) const;
  // Waits no more. False: it is admitted, and must leave.
  bool Withdraw(const EventSink& guest);
  // By an admitted guest, once: the next one is admitted.
  void Leave();

 private:
  int seats_ = 1;
  EventLoop* loop_ = nullptr;
  mutable std::mutex mutex_;
  int taken_ = 0;                   // guarded by mutex_, as all below
  std::deque<EventSink*> waiting_;  // bounded by the listener's connections
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_HTTP_BODY_GATE_H_
