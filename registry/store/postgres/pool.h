// PgPool: connections to PostgreSQL, opened when first needed and shared.
#ifndef TRUCE_REGISTRY_STORE_POSTGRES_POOL_H_
#define TRUCE_REGISTRY_STORE_POSTGRES_POOL_H_

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "registry/base/clock.h"
#include "registry/base/result.h"
#include "registry/store/postgres/connection.h"

namespace truce {

// Thread-safe. Must outlive its loans.
class PgPool {
 public:
  // Looks at a new connection before anybody uses it; an error refuses it.
  using GreetFn = std::function<Result<void>(PgLink&, Deadline)>;

  PgPool(PgTarget target, std::size_t size_max, GreetFn greet = nullptr)
      : target_(std::move(target)), size_max_(size_max), greet_(std::move(greet)) {}

  // A connection that nobody else uses; given back when destroyed, dropped when it is of no more
  // use. When it was lost, those that lie idle are dropped too: they lead to the same server.
  class Loan {
   public:
    Loan(PgPool& pool, std::unique_ptr<PgLink> link) : pool_(pool), link_(std::move(link)) {}
    ~Loan() { pool_.Return(std::move(link_)); }
    Loan(const Loan&) = delete;
    Loan& operator=(const Loan&) = delete;

    PgLink& link() { return *link_; }

   private:
    PgPool& pool_;
    std::unique_ptr<PgLink> link_;
  };

  const PgTarget& target() const { return target_; }

  // Waits for a free connection, or opens one, until `deadline`. Where the server gives no more,
  // those that are in use are waited for. Errors: kDeadlineExceeded, kUnavailable,
  // kInvalidArgument.
  Result<std::unique_ptr<Loan>> Borrow(Deadline deadline);

  // Runs `read`, which changes nothing, on a connection; anew on another one where that was lost:
  // one that lay idle may have been for long. Errors: those of Borrow and of `read`.
  using LinkFn = std::function<Result<void>(PgLink&)>;
  Result<void> Read(const LinkFn& read, Deadline deadline);

 private:
  Result<std::unique_ptr<PgLink>> OpenOne(Deadline deadline);
  void Return(std::unique_ptr<PgLink> link);
  const PgTarget target_;
  const std::size_t size_max_;
  const GreetFn greet_;
  std::mutex mutex_;
  std::condition_variable freed_;
  std::vector<std::unique_ptr<PgLink>> idle_;  // guarded by mutex_
  std::size_t open_ = 0;                       // guarded by mutex_
};

}  // namespace truce

#endif  // TRUCE_REGISTRY_STORE_POSTGRES_POOL_H_
