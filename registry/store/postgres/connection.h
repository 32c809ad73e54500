// Link: one connection to PostgreSQL whose every wait has a deadline.
#ifndef TRUCE_REGISTRY_STORE_POSTGRES_CONNECTION_H_
#define TRUCE_REGISTRY_STORE_POSTGRES_CONNECTION_H_

#include <libpq-fe.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "registry/base/clock.h"
#include "registry/base/result.h"

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

  int row_count() const { return PQntuples(answer_.get()); }
  PgColumns Row(int row, int first = 0) const { return {answer_.get(), row, first}; }
  // "COMMIT", "ROLLBACK", "SELECT 3": what was done, which need not be what was asked.
  std::string_view tag() const { return PQcmdStatus(answer_.get()); }

 private:
  struct Clear {
    void operator()(PGresult* answer) const { PQclear(answer); }
  };
  std::unique_ptr<PGresult, Clear> answer_;
};

// A statement with its parameters, as texts; nothing: NULL.
struct PgStatement {
  std::string sql;
  std::vector<std::optional<std::string>> parameters;
};

// Connects, asks, and never waits past a deadline: libpq's calls that block are not used, except
// that a host's name is resolved while connecting. External synchronization.
class PgLink {
 public:
  // `url`: as libpq takes it. Errors: kUnavailable (nobody answers, refused), kInvalidArgument (the
  // URL cannot be read), kDeadlineExceeded.
  static Result<std::unique_ptr<PgLink>> Connect(const std::string& url, Deadline deadline);

  // Sends all statements at once and gives an answer for each: one round trip. After the first that
  // fails the server does none of the rest. Errors: kUnavailable, kInternal (a constraint, or SQL
  // that the server does not take), kDataLoss, kDeadlineExceeded. When the link is not usable
  // afterwards it is open what was done.
  Result<std::vector<PgAnswer>> Ask(const std::vector<PgStatement>& statements, Deadline deadline);

  // Sends without waiting for the answers, which the next Ask waits for and drops. For what ends a
  // transaction that wrote nothing.
  void Tell(const PgStatement& statement);

  // Runs statements that have no parameters, one after the other, in the transaction that is open.
  // Errors: as Ask.
  Result<void> RunScript(const std::string& sql, Deadline deadline);

  // False: the connection is lost.
  bool usable() const { return usable_; }
  // Whether the transaction of the last failure may work when it is done anew: another one was in
  // its way.
  bool may_repeat() const;
  // Whether the server warned since the last call.
  bool TakeWarning();

 private:
  struct Finish {
    void operator()(PGconn* connection) const { PQfinish(connection); }
  };
  explicit PgLink(PGconn* connection) : connection_(connection) {}

  static void OnNotice(void* self, const PGresult* notice);
  Error Lost(std::string_view what);
  Error FailureOf(const PGresult* answer);
  // Waits until the socket can be read (or written, where that is asked for too).
  Result<void> Wait(bool write, Deadline deadline);
  Result<void> Send(const std::vector<PgStatement>& statements);
  Result<void> Flush(Deadline deadline);
  // The next answer of the pipeline; null: the end of one statement's answers.
  Result<PGresult*> Next(Deadline deadline);
  // Drops the answers of what was told.
  Result<void> DropTold(Deadline deadline);

  std::unique_ptr<PGconn, Finish> connection_;
  bool usable_ = true;
  bool warned_ = false;
  std::string state_;     // SQLSTATE of the last failure; empty: not the server's
  std::size_t told_ = 0;  // statements whose answers nobody waited for
};

}  // namespace truce

#endif  // TRUCE_REGISTRY_STORE_POSTGRES_CONNECTION_H_
