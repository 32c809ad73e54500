// How threads share the processors: a pool's inputs, the thread to wake, the order.
#ifndef TRUCE_REGISTRY_BASE_THREADS_H_
#define TRUCE_REGISTRY_BASE_THREADS_H_

#include <functional>
#include <memory>
#include <vector>

namespace truce {

// A pool that keeps one thread running per processor and starts another when one waits. Must not
// throw.
using BlockingObserver = std::function<void(bool enters)>;

// Makes `observer` (null for none) the one of the calling thread. It must outlive that.
void ObserveBlocking(const BlockingObserver* observer) noexcept;

// Put around a wait for another thread or a device (a durable commit, a remote call), outside any
// lock. Cheap on a thread without an observer. May be nested. External synchronization: one thread.
class BlockingRegion {
 public:
  BlockingRegion() noexcept;
  ~BlockingRegion();
  BlockingRegion(const BlockingRegion&) = delete;
  BlockingRegion& operator=(const BlockingRegion&) = delete;

 private:
  const BlockingObserver* observer_;
};

// Wakes those who sleep. Never blocks or throws. Idempotent as long as nobody has woken up.
using Waker = std::function<void()>;

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
  friend void WakeAfterBurst(const std::shared_ptr<const Waker>& waker);
  std::vector<std::shared_ptr<const Waker>> wakers_;
};

// Wakes when the calling thread's burst ends, or at once when it has none.
void WakeAfterBurst(const std::shared_ptr<const Waker>& waker);

// Of the calling thread, for the rest of its life. Best effort: where the system refuses, the
// thread goes on as before.

// It does not interrupt running threads when it has something to do: for one that works in batches,
// which are larger when those who bring it work may finish first.
void WorkInBatches();

// It gets about a tenth of what others get of a busy processor, and all of an idle one: for work
// that nobody waits for.
void WorkInBackground();

}  // namespace truce

#endif  // TRUCE_REGISTRY_BASE_THREADS_H_
