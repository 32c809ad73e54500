// Link: one connection to PostgreSQL whose every wait has a deadline.
#ifndef TRUCE_REGISTRY_STORE_POSTGRES_CONNECTION_H_
#define TRUCE_REGISTRY_STORE_POSTGRES_CONNECTION_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "registry/base/clock.h"
#include "registry/base/result.h"
#include "registry/store/postgres/libpq.h"
#include "registry/store/postgres/target.h"

namespace truce {

// The present row of an answer, for the readers of registry/store/columns.h. A view: valid while
// its answer is.
class PgColumns {
 public:
  // Column 0 of the view is column `first` of the answer.
  PgColumns(const PGresult* answer, int row, int first)
      : answer_(answer), row_(row), first_(first) {}

  std::string_view Text(int column) const;
  std::int64_t Integer(int column) const;  // 0 where there is none
  bool IsNull(int column) const;

 private:
  const PGresult* answer_;
  int row_;
  int first_;
};

// The rows that one statement answered.
class PgAnswer {
 public:
  explicit PgAnswer(PGresult* answer) : answer_(answer) {}

  int row_count() const { return Pq().ntuples(answer_.get()); }
  PgColumns Row(int row, int first = 0) const { return {answer_.get(), row, first}; }
  // "COMMIT", "ROLLBACK", "SELECT 3": the act, which may differ from the command.
  std::string_view tag() const { return Pq().cmd_status(answer_.get()); }

 private:
  struct Clear {
    void operator()(PGresult* answer) const { Pq().clear(answer); }
  };
  std::unique_ptr<PGresult, Clear> answer_;
};

// A statement with its parameters, as texts; nothing: NULL.
struct PgStatement {
  std::string sql;
  std::vector<std::optional<std::string>> parameters;
};

// The time that poll() may wait: until the deadline, a minute at most.
int MillisecondsUntil(Deadline deadline);

// Milliseconds that the server may wait for a lock, as a parameter: so little less than the
// deadline that its refusal still arrives.
std::string LockWaitOf(Deadline deadline);

// Connects, asks, and never waits past a deadline: libpq's calls that block are not used.
// External synchronization.
class PgLink {
 public:
  // Where the URL says nothing else: the server's certificate and name are verified unless it is on
  // this machine, and a connection that went dead is noticed within some ten seconds. Errors, one
  // line with what to do: kUnavailable (nobody answers, or refuses), kInvalidArgument (the URL
  // cannot be read, or there is no libpq), kDeadlineExceeded.
  static Result<std::unique_ptr<PgLink>> Connect(const PgTarget& target, Deadline deadline);

  // Sends all statements at once and gives an answer for each: one round trip. After the first that
  // fails the server does none of the rest. Errors: kUnavailable, kInternal (a constraint, or SQL
  // that the server does not take), kDataLoss, kDeadlineExceeded. When the link is not usable
  // afterwards it is open what was done.
  Result<std::vector<PgAnswer>> Ask(const std::vector<PgStatement>& statements, Deadline deadline);

  // Sends without waiting for the answers, which the next Ask waits for and drops. For the end of a
  // transaction that wrote nothing.
  void Tell(const PgStatement& statement);

  // Runs statements that have no parameters, one after the other, in the transaction that is open.
  // Errors: as Ask.
  Result<void> RunScript(const std::string& sql, Deadline deadline);

  // False: of no more use: the connection is lost, or an answer did not come in time.
  bool usable() const { return usable_; }
  // The server closed it, nobody answers there, or it leads to another server than it did.
  bool is_lost() const { return lost_; }
  // It lives for some ten minutes: then a new password, or a moved primary, takes effect.
  bool is_old() const { return std::chrono::steady_clock::now() > old_from_; }
  // Whether the transaction of the last failure may work when it is done anew: another one was in
  // its way, or the connection leads elsewhere.
  bool may_repeat() const;
  // Whether what failed last was not allowed to this user.
  bool was_denied() const { return state_ == "42501"; }
  const PgObserver& observer() const { return observer_; }
  // Whether the server warned since the last call.
  bool TakeWarning();

 private:
  struct Finish {
    void operator()(PGconn* connection) const { Pq().finish(connection); }
  };
  explicit PgLink(PGconn* connection);

  // Brings what was started to its end; `server` is what errors call it.
  static Result<std::unique_ptr<PgLink>> Begin(PGconn* started, const std::string& server,
                                               Deadline deadline);
  static void OnNotice(void* self, const PGresult* notice);
  Result<std::vector<PgAnswer>> RoundTrip(const std::vector<PgStatement>& statements,
                                          Deadline deadline);
  Error Lost(std::string_view what);
  Error FailureOf(const PGresult* answer);
  // Waits until the socket can be read (or written, where that is asked for too); with TLS at most
  // for a moment, for what OpenSSL has of a record that was longer than libpq's room.
  Result<void> Wait(bool write, Deadline deadline);
  Result<void> Send(const std::vector<PgStatement>& statements);
  Result<void> Flush(Deadline deadline);
  // The next answer of the pipeline; null: the end of one statement's answers.
  Result<PGresult*> Next(Deadline deadline);
  // Drops the answers to statements of Tell.
  Result<void> DropUnread(Deadline deadline);

  std::unique_ptr<PGconn, Finish> connection_;
  PgObserver observer_;
  const Deadline old_from_;
  bool has_tls_ = false;
  bool usable_ = true;
  bool lost_ = false;
  bool warned_ = false;
  std::string state_;       // SQLSTATE of the last failure; empty: not the server's
  std::size_t unread_ = 0;  // statements whose answers nobody waited for
};

}  // namespace truce

#endif  // TRUCE_REGISTRY_STORE_POSTGRES_CONNECTION_H_
