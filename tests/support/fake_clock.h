// A clock that stands still until it is set.
#ifndef TRUCE_TESTS_SUPPORT_FAKE_CLOCK_H_
#define TRUCE_TESTS_SUPPORT_FAKE_CLOCK_H_

#include <atomic>

#include "registry/base/clock.h"

namespace truce {

// Thread-safe.
class FakeClock final : public Clock {
 public:
  explicit FakeClock(Timestamp now) : now_(now) {}
  Timestamp Now() const override { return now_.load(); }
  void Set(Timestamp now) { now_.store(now); }
  void Advance(std::chrono::milliseconds step) { now_.store(now_.load() + step); }

 private:
  std::atomic<Timestamp> now_;
};

}  // namespace truce

#endif  // TRUCE_TESTS_SUPPORT_FAKE_CLOCK_H_
