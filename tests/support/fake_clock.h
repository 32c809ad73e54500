// FakeClock: wall-clock time that moves only when a test says so.
#ifndef TRUCE_TESTS_SUPPORT_FAKE_CLOCK_H_
#define TRUCE_TESTS_SUPPORT_FAKE_CLOCK_H_

#include <atomic>
#include <chrono>

#include "registry/base/clock.h"

namespace truce::testing {

// Thread-safe. Starts at 2026-11-21T08:00:00Z.
class FakeClock final : public Clock {
 public:
  Timestamp Now() const override { return Timestamp(std::chrono::milliseconds(now_.load())); }
  void Advance(std::chrono::milliseconds step) { now_ += step.count(); }
  void Set(Timestamp now) { now_ = now.time_since_epoch().count(); }

 private:
  std::atomic<std::chrono::milliseconds::rep> now_{1795248000000};
};

}  // namespace truce::testing

#endif  // TRUCE_TESTS_SUPPORT_FAKE_CLOCK_H_
