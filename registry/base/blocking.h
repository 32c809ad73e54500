// BlockingRegion: tells the thread pool that the calling thread is about to wait.
#ifndef TRUCE_REGISTRY_BASE_BLOCKING_H_
#define TRUCE_REGISTRY_BASE_BLOCKING_H_

namespace truce {

// Port: a pool that keeps one thread running per processor and starts another when one waits.
class BlockingObserver {
 public:
  virtual ~BlockingObserver() = default;
  virtual void EnterBlocking() noexcept = 0;
  virtual void LeaveBlocking() noexcept = 0;
};

// Makes `observer` (null for none) the one of the calling thread. It must outlive that.
void ObserveBlocking(BlockingObserver* observer) noexcept;

// Put around a wait for another thread or a device (a durable commit, a remote call), outside any
// lock. Cheap on a thread without an observer. May be nested. External synchronization: one thread.
class BlockingRegion {
 public:
  BlockingRegion() noexcept;
  ~BlockingRegion();
  BlockingRegion(const BlockingRegion&) = delete;
  BlockingRegion& operator=(const BlockingRegion&) = delete;

 private:
  BlockingObserver* observer_;
};

}  // namespace truce

#endif  // TRUCE_REGISTRY_BASE_BLOCKING_H_
