// Backoff: how long to wait before the next attempt. Exponential, with jitter, repeatable by seed.
#ifndef TRUCE_WEBHOOK_KUBE_BACKOFF_H_
#define TRUCE_WEBHOOK_KUBE_BACKOFF_H_

#include <chrono>
#include <cstdint>
#include <optional>

namespace truce {

struct BackoffOptions {
  std::chrono::milliseconds first{500};
  std::chrono::milliseconds longest{30'000};

  bool operator==(const BackoffOptions&) const = default;
};

// A sequence of waits. The n-th is drawn evenly from [half, whole] of first·2ⁿ, at most `longest`:
// clients that failed together do not come back together. The same seed gives the same waits.
// External synchronization.
class Backoff final {
 public:
  explicit Backoff(BackoffOptions options, std::uint64_t seed)
      : options_(options), random_(seed), ceiling_(options.first) {}

  // The wait before the next attempt, never shorter than what the server asked for (Retry-After).
  std::chrono::milliseconds Next(std::optional<std::chrono::milliseconds> asked = std::nullopt);

  // An attempt succeeded: the next failure waits for `first` again.
  void Reset() {
    ceiling_ = options_.first;
    failures_ = 0;
  }

  // Attempts that failed since the last Reset.
  int failures() const { return failures_; }

 private:
  BackoffOptions options_;
  std::uint64_t random_;
  std::chrono::milliseconds ceiling_;
  int failures_ = 0;
};

// `period` ± a fifth, drawn from `seed`: so that repeated acts do not gather at one instant.
std::chrono::milliseconds Spread(std::chrono::milliseconds period, std::uint64_t seed);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_KUBE_BACKOFF_H_
