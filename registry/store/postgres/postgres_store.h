// PostgresStore: the registry in a PostgreSQL database, which several programs may share.
#ifndef TRUCE_REGISTRY_STORE_POSTGRES_POSTGRES_STORE_H_
#define TRUCE_REGISTRY_STORE_POSTGRES_POSTGRES_STORE_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "registry/base/clock.h"
#include "registry/base/result.h"
#include "registry/store/postgres/lease.h"
#include "registry/store/postgres/target.h"
#include "registry/store/store.h"

namespace truce {

// The least that the server's synchronous_standby_names must say.
enum class StandbyNeed : std::uint8_t { kNone, kWanted, kRequired };

struct PostgresOptions {
  std::string url;                   // as libpq takes it: "postgres://USER@HOST:PORT/NAME"
  PasswordSource password = {};      // as PgTarget's
  std::size_t connections_max = 20;  // shared by decisions and reads, opened when needed
  std::size_t workers = 16;          // threads that run what is submitted, each by one of these
  StandbyNeed standby = StandbyNeed::kNone;
  std::size_t queue_max = 4'096;  // submitted decisions that wait; more are refused
  std::chrono::milliseconds counts_age_max{60'000};  // Counts may be as old as this
  std::chrono::seconds lease_time{15};               // after which another server may become active
  PgObserver observer = {};
};

// On whose behalf something is decided.
enum class PgWriter : std::uint8_t { kReview, kWatch };

// Truth is in the database: nothing is kept in memory, so several stores on one database are one
// registry. A decision locks what it reads and writes, by advisory locks (schema/postgres), and
// takes two round trips where its hints name all of that; one that changes nothing takes one.
// Apply and Read run on the caller's thread, Submit on threads of the store. Thread-safe.
class PostgresStore final : public Store {
 public:
  // Connects, checks the server (ProbeServer) and brings the schema up (MigratePostgres). Errors:
  // kInvalidArgument, with what to do; kUnavailable; kDeadlineExceeded.
  static Result<std::unique_ptr<PostgresStore>> Open(PostgresOptions options, Deadline deadline);
  // Runs submitted decisions, gives the lease back, then ends.
  ~PostgresStore() override;

  // Makes this the active server of the registry, under a name that is its alone, or one of all
  // that say the same `shared` and write the same tables; nothing: it is. With `shared`, asking
  // announces this server: servers that say something else go to standby for it, unless they differ
  // behind " of ": this server waits for those; an answer names one that did not yet, or that
  // announced itself later. From then on decisions and reads fail with kConflict, and FatalFailure
  // tells so, once another one has become active that does not share with it. Without it any number
  // of stores decide beside each other. Errors: kUnavailable, kDeadlineExceeded. Once it succeeded
  // it is not called again; no decision runs meanwhile.
  Result<std::optional<OtherServer>> BecomeActive(const std::string& holder,
                                                  const std::optional<std::string>& shared,
                                                  Deadline deadline);
  // A server that says another word than this one has become active, or wants to: until that one
  // is gone this store gave its lease back, and decides and reads nothing (kUnavailable).
  // Thread-safe once it is active.
  bool is_standby() const;
  // Makes this server, which is active, the one that watches the cluster; nothing: it is. From then
  // on `watch_store` decides, until another one has taken the watch over or it is given back. Waits
  // for decisions of the former one's watch that run, not for its reviews. Errors: kUnavailable,
  // kDeadlineExceeded. Not called again while it holds the watch. Thread-safe.
  Result<std::optional<OtherServer>> TakeWatch(const std::string& holder, Deadline deadline);
  // So that the next one need not wait for the lease's end. Thread-safe.
  void GiveWatchBack();
  // The same registry for the watch: reads as this store, but its decisions fail with kConflict
  // while this server does not hold the watch, and once another one took it over, whatever this
  // server's clock says. Lives as long as this store.
  Store& watch_store();
  // How many of the last changes that it acknowledged the database no longer has, as was found
  // since the last call: it was failed over to a standby that was behind, or restored. 0: none.
  std::uint64_t TakeMissing();
  // Under which this server is active; 0: it is not. Thread-safe once it is active.
  std::int64_t epoch() const;
  // As PgLease's. Thread-safe once it is active.
  std::chrono::milliseconds clock_difference() const;
  // How many other servers are active beside this one, as of some seconds ago. Thread-safe once it
  // is active.
  std::int64_t servers_beside() const;
  // Whether commits wait for a standby. Thread-safe.
  bool has_standby() const;
  // The durability that the server gives a commit, where that is less than the standby that is
  // asked for; or nothing.
  std::optional<std::string> DurabilityWarning() const;

  Result<void> Apply(const Locks& locks, const DecideFn& decide, Deadline deadline) override;
  void Submit(const Locks& locks, DecideFn decide, Deadline deadline, OnDone done) override;
  using Store::Read;
  Result<void> Read(const Locks& hints, const ReadFn& read, Deadline deadline) const override;
  bool is_remote() const override { return true; }
  // As the database had them at most `counts_age_max` ago; the last known ones while it is away.
  StoreCounts Counts() const override;
  Result<void> Health() const override;
  std::optional<Error> FatalFailure() const override;

 private:
  class Impl;
  PostgresStore(std::shared_ptr<Impl> impl, PgWriter writer);

  const std::shared_ptr<Impl> impl_;
  const PgWriter writer_;
  std::unique_ptr<PostgresStore> watch_store_;  // over the same; null: this is it
};

}  // namespace truce

#endif  // TRUCE_REGISTRY_STORE_POSTGRES_POSTGRES_STORE_H_
