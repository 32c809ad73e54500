// BodyGate: a few requests with large bodies at once; the others wait in their order.
#ifndef TRUCE_WEBHOOK_HTTP_BODY_GATE_H_
#define TRUCE_WEBHOOK_HTTP_BODY_GATE_H_

#include <deque>
#include <mutex>

namespace truce {

// Port: who passes. Told while the gate is locked: it neither blocks nor calls back.
class GateGuest {
 public:
  virtual ~GateGuest() = default;
  // From now on IsAdmitted is true. Not called for a caller that its own Enter admits.
  virtual void OnAdmitted() = 0;
};

// Thread-safe. A guest enters, and once admitted leaves; or it withdraws before.
class BodyGate final {
 public:
  // Before the first guest. At least 1.
  void SetSeats(int seats) { seats_ = seats; }

  // Admits `guest`, or lets it wait behind the others.
  void Enter(GateGuest& guest);
  // Of one that has entered and neither left nor withdrawn.
  bool IsAdmitted(const GateGuest& guest) const;
  // Waits no more. False: it is admitted, and must leave.
  bool Withdraw(const GateGuest& guest);
  // By an admitted guest, once: the next one is admitted.
  void Leave();

 private:
  int seats_ = 1;
  mutable std::mutex mutex_;
  int taken_ = 0;                   // guarded by mutex_, as all below
  std::deque<GateGuest*> waiting_;  // bounded by the listener's connections
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_HTTP_BODY_GATE_H_
