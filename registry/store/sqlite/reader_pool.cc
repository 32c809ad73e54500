#include "registry/store/sqlite/reader_pool.h"

#include <utility>

#include "registry/base/blocking.h"

namespace truce {

ReaderPool::ReaderPool(ConnectionOptions options, std::size_t size_max)
    : options_(std::move(options)), size_max_(size_max) {}

ReaderPool::Loan::Loan(ReaderPool& pool, std::unique_ptr<Connection> connection)
    : pool_(pool), connection_(std::move(connection)) {}

ReaderPool::Loan::~Loan() {
  const bool usable = !connection_->InTransaction() || connection_->Run(Sql::kRollback).ok();
  if (usable) {
    pool_.Return(std::move(connection_));
  } else {
    connection_.reset();
    pool_.Forget();
  }
}

// The first read fixes the snapshot.
Result<void> ReaderPool::Loan::Begin() {
  TRUCE_RETURN_IF_ERROR(connection_->Run(Sql::kBeginRead));
  TRUCE_ASSIGN_OR_RETURN(Statement count, connection_->Use(Sql::kCommitCount));
  TRUCE_ASSIGN_OR_RETURN(const bool found, count.Step());
  if (!found) return Error{ErrorCode::kDataLoss, "table commits is empty"};
  version_ = static_cast<std::uint64_t>(count.Integer(0));
  return {};
}

Result<std::unique_ptr<ReaderPool::Loan>> ReaderPool::Borrow(Deadline deadline) {
  TRUCE_ASSIGN_OR_RETURN(std::unique_ptr<Connection> connection, Take(deadline));
  if (connection == nullptr) {
    Result<std::unique_ptr<Connection>> opened = Connection::Open(options_);
    if (!opened.ok()) {
      Forget();
      return std::move(opened).error();
    }
    connection = std::move(opened).value();
  }
  auto loan = std::make_unique<Loan>(*this, std::move(connection));
  TRUCE_RETURN_IF_ERROR(loan->Begin());
  return loan;
}

// An idle connection, or null: the caller may open one.
Result<std::unique_ptr<Connection>> ReaderPool::Take(Deadline deadline) {
  std::unique_lock lock(mutex_);
  if (idle_.empty() && open_ == size_max_) {
    BlockingRegion blocking;
    const bool free =
        freed_.wait_until(lock, deadline, [this] { return !idle_.empty() || open_ < size_max_; });
    if (!free) {
      return Error{ErrorCode::kDeadlineExceeded, "no free connection for reading in time"};
    }
  }
  if (idle_.empty()) {
    ++open_;
    return std::unique_ptr<Connection>();
  }
  std::unique_ptr<Connection> connection = std::move(idle_.back());
  idle_.pop_back();
  return connection;
}

void ReaderPool::Return(std::unique_ptr<Connection> connection) {
  {
    std::lock_guard lock(mutex_);
    idle_.push_back(std::move(connection));
  }
  freed_.notify_one();
}

void ReaderPool::Forget() {
  {
    std::lock_guard lock(mutex_);
    --open_;
  }
  freed_.notify_one();
}

}  // namespace truce
