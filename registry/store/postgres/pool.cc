#include "registry/store/postgres/pool.h"

#include <utility>

namespace truce {

Result<std::unique_ptr<PgPool::Loan>> PgPool::Borrow(Deadline deadline) {
  {
    std::unique_lock lock(mutex_);
    const auto free = [this] { return !idle_.empty() || open_ < size_max_; };
    if (!freed_.wait_until(lock, deadline, free)) {
      return Error{ErrorCode::kDeadlineExceeded,
                   "the deadline passed before a connection to PostgreSQL was free"};
    }
    if (!idle_.empty()) {
      std::unique_ptr<PgLink> link = std::move(idle_.back());
      idle_.pop_back();
      return std::make_unique<Loan>(*this, std::move(link));
    }
    ++open_;
  }
  auto link = PgLink::Connect(target_, deadline);
  if (link.ok()) return std::make_unique<Loan>(*this, std::move(link).value());
  Return(nullptr);
  return std::move(link).error();
}

void PgPool::Return(std::unique_ptr<PgLink> link) {
  const std::lock_guard lock(mutex_);
  if (link != nullptr && link->usable() && !link->is_old()) {
    idle_.push_back(std::move(link));
  } else {
    --open_;
  }
  freed_.notify_one();
}

}  // namespace truce
