#include "registry/store/postgres/pool.h"

#include <chrono>
#include <optional>
#include <utility>

#include "registry/base/threads.h"
#include "registry/store/postgres/observer.h"

namespace truce {
namespace {

// The first that is found lost takes the other idle ones with it; then servers may be restarted.
constexpr int kReadsMax = 4;

}  // namespace

Result<std::unique_ptr<PgPool::Loan>> PgPool::Borrow(Deadline deadline) {
  std::optional<Error> refused;  // to open one more
  while (true) {
    {
      std::unique_lock lock(mutex_);
      const auto free = [&] {
        return !idle_.empty() || (refused ? open_ == 0 : open_ < size_max_);
      };
      const bool in_time = freed_.wait_until(lock, deadline, free);
      if (in_time && !idle_.empty()) {
        std::unique_ptr<PgLink> link = std::move(idle_.back());
        idle_.pop_back();
        return std::make_unique<Loan>(*this, std::move(link));
      }
      if (refused) return *std::move(refused);
      if (!in_time) {
        return Error{ErrorCode::kDeadlineExceeded,
                     "the deadline passed before a connection to PostgreSQL was free"};
      }
      ++open_;
    }
    auto link = OpenOne(deadline);
    if (link.ok()) return std::make_unique<Loan>(*this, std::move(link).value());
    Return(nullptr);
    if (link.error().code != ErrorCode::kUnavailable) return std::move(link).error();
    // The server takes no more: of those that are open one will be free.
    refused = std::move(link).error();
  }
}

Result<void> PgPool::Read(const LinkFn& read, Deadline deadline) {
  const BlockingRegion blocking;
  for (int reads = 1;; ++reads) {
    TRUCE_ASSIGN_OR_RETURN(const auto loan, Borrow(deadline));
    Result<void> done = read(loan->link());
    const bool again = !done.ok() && loan->link().is_lost() && reads < kReadsMax &&
                       std::chrono::steady_clock::now() < deadline;
    if (!again) return done;
    if (target_.observer) target_.observer({.repeat = PgRepeat::kConnection});
  }
}

Result<std::unique_ptr<PgLink>> PgPool::OpenOne(Deadline deadline) {
  TRUCE_ASSIGN_OR_RETURN(auto link, PgLink::Connect(target_, deadline));
  if (greet_) TRUCE_RETURN_IF_ERROR(greet_(*link, deadline));
  return link;
}

void PgPool::Return(std::unique_ptr<PgLink> link) {
  const std::lock_guard lock(mutex_);
  if (link != nullptr && link->is_lost()) {
    // The others lead to the same server, and would be found lost one call each.
    open_ -= idle_.size();
    idle_.clear();
  }
  if (link != nullptr && link->usable() && !link->is_lost() && !link->is_old()) {
    idle_.push_back(std::move(link));
  } else {
    --open_;
  }
  freed_.notify_all();
}

}  // namespace truce
