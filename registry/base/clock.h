// Time: wall clock for what people read and rows keep, monotonic deadlines for what waits.
#ifndef TRUCE_REGISTRY_BASE_CLOCK_H_
#define TRUCE_REGISTRY_BASE_CLOCK_H_

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace truce {

// Wall-clock time, milliseconds, UTC.
using Timestamp = std::chrono::sys_time<std::chrono::milliseconds>;

// A point of the monotonic clock by which a call must have answered.
using Deadline = std::chrono::steady_clock::time_point;

// The deadline `time` from now.
inline Deadline In(std::chrono::milliseconds time) {
  return std::chrono::steady_clock::now() + time;
}

// "2026-11-21T07:52:08Z" (RFC 3339, UTC, whole seconds).
std::string FormatTimestamp(Timestamp time);

// Reads RFC 3339 with optional fraction and offset; nothing when `text` is not a valid time.
std::optional<Timestamp> ParseTimestamp(std::string_view text);

// Port: where wall-clock time comes from. Thread-safe. Never blocks.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual Timestamp Now() const = 0;
};

// The system's clock.
class SystemClock final : public Clock {
 public:
  Timestamp Now() const override;
};

}  // namespace truce

#endif  // TRUCE_REGISTRY_BASE_CLOCK_H_
