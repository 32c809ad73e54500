// ForwardedToken: what Truce is shown where the API server keeps Authorization to itself, renewed
// before it ends.
#ifndef TRUCE_WEBHOOK_CLI_SERVER_FORWARDED_TOKEN_H_
#define TRUCE_WEBHOOK_CLI_SERVER_FORWARDED_TOKEN_H_

#include <chrono>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "registry/base/clock.h"
#include "registry/base/result.h"

namespace truce {

struct FreshToken {
  std::string text;
  // Nothing: it is taken as it is, for ever.
  std::optional<Timestamp> expires;
};

// Thread-safe.
class ForwardedToken final {
 public:
  // Gets another one. Blocks at most until the deadline.
  using Fetch = std::function<Result<FreshToken>(Deadline)>;

  // Renewed that long before its end, or in the middle of a shorter life.
  static constexpr std::chrono::seconds kRenewBefore{60};
  // Between two attempts while an old one still holds.
  static constexpr std::chrono::seconds kTryAgainAfter{5};

  // `clock` must outlive it.
  ForwardedToken(Fetch fetch, const Clock& clock) : fetch_(std::move(fetch)), clock_(clock) {}

  // The token to show now, another one when it is time. While the old one holds, a renewal that
  // fails changes nothing. Errors: those of the fetch.
  Result<std::string> Current(Deadline deadline);

 private:
  const Fetch fetch_;
  const Clock& clock_;
  std::mutex mutex_;  // guards what follows, also while one is fetched
  std::optional<FreshToken> token_;
  Timestamp renew_at_{};
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_CLI_SERVER_FORWARDED_TOKEN_H_
