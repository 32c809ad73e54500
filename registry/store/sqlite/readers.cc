#include "registry/store/sqlite/readers.h"

#include <utility>

#include "registry/base/threads.h"

namespace truce {

Readers::Readers(ConnectionOptions options, std::size_t size_max)
    : options_(std::move(options)), size_max_(size_max) {}

Result<void> Readers::Run(const std::function<Result<void>(Connection&)>& read, Deadline deadline) {
  TRUCE_ASSIGN_OR_RETURN(std::unique_ptr<Connection> connection, Take(deadline));
  const auto end = [this](Connection* used) {
    std::unique_ptr<Connection> owned(used);
    // A connection that cannot end its snapshot would keep the log from ever shrinking.
    if (owned->InTransaction() && !owned->Run("ROLLBACK").ok()) owned.reset();
    GiveBack(std::move(owned));
  };
  const std::unique_ptr<Connection, decltype(end)> lent(connection.release(), end);
  TRUCE_RETURN_IF_ERROR(lent->Run("BEGIN"));
  return read(*lent);
}

Result<std::unique_ptr<Connection>> Readers::Take(Deadline deadline) {
  std::unique_lock lock(mutex_);
  if (std::chrono::steady_clock::now() >= deadline) {
    return Error{ErrorCode::kDeadlineExceeded, "the deadline passed before the read's turn"};
  }
  if (idle_.empty() && open_ == size_max_) {
    BlockingRegion blocking;
    const bool free =
        freed_.wait_until(lock, deadline, [this] { return !idle_.empty() || open_ < size_max_; });
    if (!free) {
      return Error{ErrorCode::kDeadlineExceeded, "no free connection for reading in time"};
    }
  }
  if (!idle_.empty()) {
    std::unique_ptr<Connection> connection = std::move(idle_.back());
    idle_.pop_back();
    return connection;
  }
  ++open_;
  lock.unlock();
  Result<std::unique_ptr<Connection>> opened = Connection::Open(options_);
  if (!opened.ok()) GiveBack(nullptr);
  return opened;
}

void Readers::GiveBack(std::unique_ptr<Connection> connection) {
  {
    std::lock_guard lock(mutex_);
    if (connection == nullptr) {
      --open_;
    } else {
      idle_.push_back(std::move(connection));
    }
  }
  freed_.notify_one();
}

}  // namespace truce
