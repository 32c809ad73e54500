// PostgresStore: the registry in a PostgreSQL database, which several programs may share.
#ifndef TRUCE_REGISTRY_STORE_POSTGRES_POSTGRES_STORE_H_
#define TRUCE_REGISTRY_STORE_POSTGRES_POSTGRES_STORE_H_

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>

#include "registry/base/clock.h"
#include "registry/base/result.h"
#include "registry/store/store.h"

namespace truce {

struct PostgresOptions {
  std::string url;                  // as libpq takes it: "postgres://USER@HOST:PORT/NAME"
  std::size_t connections_max = 8;  // shared by decisions and reads
  std::size_t workers = 4;          // threads that run what is submitted
  std::size_t queue_max = 4'096;    // what is submitted and waits; more is refused
  std::chrono::milliseconds counts_age_max{60'000};  // Counts may be as old as this
};

// Truth is in the database: nothing is kept in memory, so several stores on one database are one
// registry. A decision locks what it reads and writes, by advisory locks (schema/postgres), and
// takes two round trips where its hints name all of that; one that changes nothing takes one.
// Apply and Read run on the caller's thread, Submit on threads of the store. Thread-safe.
class PostgresStore final : public Store {
 public:
  // Connects, checks the server (ProbeServer) and brings the schema up (MigratePostgres). Errors:
  // kInvalidArgument, with what to do; kUnavailable; kDeadlineExceeded.
  static Result<std::unique_ptr<PostgresStore>> Open(PostgresOptions options, Deadline deadline);
  // Runs what was submitted, then ends.
  ~PostgresStore() override;

  Result<void> Apply(const Locks& locks, const DecideFn& decide, Deadline deadline) override;
  void Submit(const Locks& locks, DecideFn decide, Deadline deadline, OnDone done) override;
  Result<void> Read(const ReadFn& read, Deadline deadline) const override;
  // As the database had them at most `counts_age_max` ago; the last known ones while it is away.
  StoreCounts Counts() const override;
  Result<StoreContents> Contents() const override;
  Result<void> Health() const override;

 private:
  class Impl;
  explicit PostgresStore(PostgresOptions options);

  std::unique_ptr<Impl> impl_;
};

}  // namespace truce

#endif  // TRUCE_REGISTRY_STORE_POSTGRES_POSTGRES_STORE_H_
