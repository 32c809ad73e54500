#include "webhook/cli/server/forwarded_token.h"

#include <algorithm>

namespace truce {

Result<std::string> ForwardedToken::Current(Deadline deadline) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const Timestamp now = clock_.Now();
  const bool is_due = !token_ || (token_->expires && now >= renew_at_);
  if (!is_due) return token_->text;
  Result<FreshToken> fresh = fetch_(deadline);
  if (!fresh.ok()) {
    if (!token_ || now >= *token_->expires) return std::move(fresh).error();
    renew_at_ = now + kTryAgainAfter;
    return token_->text;
  }
  token_ = std::move(fresh).value();
  if (token_->expires) {
    const auto life = std::max(*token_->expires - now, Timestamp::duration{0});
    renew_at_ = *token_->expires - std::min<Timestamp::duration>(kRenewBefore, life / 2);
  }
  return token_->text;
}

}  // namespace truce
