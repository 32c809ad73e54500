// Burst: notifications that belong together wake their receivers once, after the last of them.
#ifndef TRUCE_REGISTRY_BASE_BURST_H_
#define TRUCE_REGISTRY_BASE_BURST_H_

#include <memory>
#include <vector>

namespace truce {

// Port: wakes those who sleep.
class Waker {
 public:
  virtual ~Waker() = default;
  // Never blocks. Idempotent as long as nobody has woken up.
  virtual void Wake() noexcept = 0;
};

// Put around several notifications in a row, for less time than a receiver may wait. A receiver
// that wakes at the first of them would take the processor from the one that has more to say.
// Bursts are not nested. External synchronization: one thread.
class Burst {
 public:
  Burst() noexcept;
  ~Burst();  // wakes
  Burst(const Burst&) = delete;
  Burst& operator=(const Burst&) = delete;

 private:
  friend void WakeAfterBurst(const std::shared_ptr<Waker>& waker);
  std::vector<std::shared_ptr<Waker>> wakers_;
};

// Wakes when the calling thread's burst ends, or at once when it has none.
void WakeAfterBurst(const std::shared_ptr<Waker>& waker);

}  // namespace truce

#endif  // TRUCE_REGISTRY_BASE_BURST_H_
