#include "registry/store/postgres/connection.h"

#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <utility>

namespace truce {
namespace {

// Of truce.put: a pooler has connected this client to another server.
constexpr std::string_view kElsewhere = "TR002";

// Tells the caller by the SQLSTATE of a failed statement what to do.
ErrorCode CodeOf(std::string_view state) {
  const std::string_view kind = state.substr(0, 2);
  if (kind == "23") return ErrorCode::kInternal;                                  // a constraint
  if (state == "55P03") return ErrorCode::kDeadlineExceeded;                      // a lock's wait
  if (state == "TR001") return ErrorCode::kConflict;                              // truce.take
  if (state == "XX001" || state == "XX002") return ErrorCode::kDataLoss;          // damage
  if (kind == "42" || kind == "22" || kind == "0A") return ErrorCode::kInternal;  // our SQL
  return ErrorCode::kUnavailable;
}

}  // namespace

int MillisecondsUntil(Deadline deadline) {
  using std::chrono::milliseconds;
  const auto left =
      std::chrono::ceil<milliseconds>(deadline - std::chrono::steady_clock::now()).count();
  constexpr std::int64_t kMax = 60'000;  // poll's argument is an int; the caller asks again
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, kMax));
}

std::string LockWaitOf(Deadline deadline) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
      deadline - std::chrono::steady_clock::now());
  return std::to_string(std::max<std::int64_t>(1, left.count() - left.count() / 10));
}

std::string_view PgColumns::Text(int column) const {
  const int at = first_ + column;
  return {Pq().getvalue(answer_, row_, at),
          static_cast<std::size_t>(Pq().getlength(answer_, row_, at))};
}

std::int64_t PgColumns::Integer(int column) const {
  const std::string_view text = Text(column);
  std::int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

bool PgColumns::IsNull(int column) const {
  return Pq().getisnull(answer_, row_, first_ + column) != 0;
}

namespace {

// PostgreSQL 17 and proxies send records of 16 KiB. libpq may have less room, and the rest of a
// record then lies in OpenSSL, unknown to poll().
constexpr int kTlsMilliseconds = 20;

// Not for all connections at once.
Deadline SomeTenMinutes() {
  constexpr std::chrono::seconds kLeast{480};
  const Deadline now = std::chrono::steady_clock::now();
  return now + kLeast + std::chrono::milliseconds(now.time_since_epoch().count() % 240'000);
}

}  // namespace

PgLink::PgLink(PGconn* connection) : connection_(connection), old_from_(SomeTenMinutes()) {}

bool PgLink::may_repeat() const {
  // Serialization failure, deadlock; lock not available, which is a wait that took too long.
  return state_ == "40001" || state_ == "40P01" || state_ == "55P03" || state_ == kElsewhere;
}

void PgLink::OnNotice(void* self, const PGresult* notice) {
  const char* severity = Pq().result_error_field(notice, PG_DIAG_SEVERITY_NONLOCALIZED);
  if (severity != nullptr && std::string_view(severity) == "WARNING") {
    static_cast<PgLink*>(self)->warned_ = true;
  }
}

bool PgLink::TakeWarning() { return std::exchange(warned_, false); }

Error PgLink::Lost(std::string_view what) {
  usable_ = false;
  lost_ = true;
  state_.clear();
  return {ErrorCode::kUnavailable,
          std::string(what) + ": " + PqLine(Pq().error_message(connection_.get()))};
}

Error PgLink::FailureOf(const PGresult* answer) {
  const char* state = Pq().result_error_field(answer, PG_DIAG_SQLSTATE);
  state_ = state == nullptr ? "" : state;
  if (state_ == kElsewhere) lost_ = true;
  const char* message = Pq().result_error_field(answer, PG_DIAG_MESSAGE_PRIMARY);
  if (message == nullptr) message = Pq().result_error_message(answer);
  return {CodeOf(state_), "PostgreSQL: " + PqLine(message)};
}

Result<void> PgLink::Wait(bool write, Deadline deadline) {
  pollfd waiting{};
  waiting.fd = Pq().socket(connection_.get());
  waiting.events = static_cast<short>(write ? POLLIN | POLLOUT : POLLIN);
  while (true) {
    if (std::chrono::steady_clock::now() >= deadline) {
      usable_ = false;
      state_.clear();
      return Error{ErrorCode::kDeadlineExceeded, "PostgreSQL did not answer in time"};
    }
    const int wait = MillisecondsUntil(deadline);
    const int ready = poll(&waiting, 1, has_tls_ ? std::min(wait, kTlsMilliseconds) : wait);
    if (ready > 0 || (ready == 0 && has_tls_)) return {};
    if (ready < 0 && errno != EINTR) return Lost("waiting for PostgreSQL");
  }
}

Result<void> PgLink::Send(const std::vector<PgStatement>& statements) {
  std::vector<const char*> values;
  for (const PgStatement& statement : statements) {
    values.clear();
    for (const auto& parameter : statement.parameters) {
      values.push_back(parameter ? parameter->c_str() : nullptr);
    }
    if (Pq().send_query_params(connection_.get(), statement.sql.c_str(),
                               static_cast<int>(values.size()), nullptr, values.data(), nullptr,
                               nullptr, 0) != 1) {
      return Lost("asking PostgreSQL");
    }
  }
  if (Pq().pipeline_sync(connection_.get()) != 1) return Lost("asking PostgreSQL");
  return {};
}

Result<void> PgLink::Flush(Deadline deadline) {
  while (true) {
    const int flushed = Pq().flush(connection_.get());
    if (flushed == 0) return {};
    if (flushed < 0) return Lost("asking PostgreSQL");
    TRUCE_RETURN_IF_ERROR(Wait(true, deadline));
    if (Pq().consume_input(connection_.get()) != 1) return Lost("reading from PostgreSQL");
  }
}

Result<PGresult*> PgLink::Next(Deadline deadline) {
  while (Pq().is_busy(connection_.get()) == 1) {
    TRUCE_RETURN_IF_ERROR(Wait(false, deadline));
    if (Pq().consume_input(connection_.get()) != 1) return Lost("reading from PostgreSQL");
  }
  PGresult* answer = Pq().get_result(connection_.get());
  if (answer == nullptr && Pq().status(connection_.get()) != CONNECTION_OK) {
    return Lost("reading from PostgreSQL");
  }
  return answer;
}

Result<void> PgLink::DropUnread(Deadline deadline) {
  while (unread_ > 0) {
    TRUCE_ASSIGN_OR_RETURN(PGresult * answer, Next(deadline));
    if (answer == nullptr) continue;
    if (Pq().result_status(answer) == PGRES_PIPELINE_SYNC) --unread_;
    Pq().clear(answer);
  }
  return {};
}

Result<std::vector<PgAnswer>> PgLink::Ask(const std::vector<PgStatement>& statements,
                                          Deadline deadline) {
  const Deadline began = std::chrono::steady_clock::now();
  auto answers = RoundTrip(statements, deadline);
  if (observer_) observer_({.round_trip = std::chrono::steady_clock::now() - began});
  return answers;
}

Result<std::vector<PgAnswer>> PgLink::RoundTrip(const std::vector<PgStatement>& statements,
                                                Deadline deadline) {
  TRUCE_RETURN_IF_ERROR(Send(statements));
  TRUCE_RETURN_IF_ERROR(Flush(deadline));
  TRUCE_RETURN_IF_ERROR(DropUnread(deadline));
  std::vector<PgAnswer> answers;
  std::optional<Error> failed;
  bool after_null = false;
  while (true) {
    TRUCE_ASSIGN_OR_RETURN(PGresult * next, Next(deadline));
    // One ends the answers to a statement; a second one would come for ever.
    if (next == nullptr && after_null) return Lost("reading from PostgreSQL");
    after_null = next == nullptr;
    if (next == nullptr) continue;
    PgAnswer answer(next);
    switch (Pq().result_status(next)) {
      case PGRES_PIPELINE_SYNC:
        if (failed) return *std::move(failed);
        return answers;
      case PGRES_TUPLES_OK:
      case PGRES_COMMAND_OK: answers.push_back(std::move(answer)); break;
      case PGRES_PIPELINE_ABORTED: break;
      case PGRES_EMPTY_QUERY:
      case PGRES_COPY_OUT:
      case PGRES_COPY_IN:
      case PGRES_BAD_RESPONSE:
      case PGRES_NONFATAL_ERROR:
      case PGRES_FATAL_ERROR:
      case PGRES_COPY_BOTH:
      case PGRES_SINGLE_TUPLE:
      default:
        if (!failed) failed = FailureOf(next);
        if (Pq().status(connection_.get()) != CONNECTION_OK) {
          usable_ = false;
          lost_ = true;
          return *std::move(failed);
        }
        break;
    }
  }
}

// The pipeline takes single statements only: it rests meanwhile.
Result<void> PgLink::RunScript(const std::string& sql, Deadline deadline) {
  TRUCE_RETURN_IF_ERROR(DropUnread(deadline));
  PGconn* connection = connection_.get();
  if (Pq().exit_pipeline_mode(connection) != 1 || Pq().send_query(connection, sql.c_str()) != 1) {
    return Lost("asking PostgreSQL");
  }
  TRUCE_RETURN_IF_ERROR(Flush(deadline));
  std::optional<Error> failed;
  while (true) {
    TRUCE_ASSIGN_OR_RETURN(PGresult * next, Next(deadline));
    if (next == nullptr) break;
    const PgAnswer answer(next);
    const ExecStatusType status = Pq().result_status(next);
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK && !failed) {
      failed = FailureOf(next);
    }
  }
  if (Pq().enter_pipeline_mode(connection) != 1) return Lost("asking PostgreSQL");
  if (failed) return *std::move(failed);
  return {};
}

void PgLink::Tell(const PgStatement& statement) {
  if (!usable_) return;
  const Result<void> sent = Send({statement});
  if (!sent.ok()) return;
  ++unread_;
  // Bytes that the socket does not take now go with the next Ask.
  if (Pq().flush(connection_.get()) < 0) static_cast<void>(Lost("asking PostgreSQL"));
}

}  // namespace truce
