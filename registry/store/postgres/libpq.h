// Libpq: PostgreSQL's client library, loaded when it is first needed: a server with another store
// need not have it.
#ifndef TRUCE_REGISTRY_STORE_POSTGRES_LIBPQ_H_
#define TRUCE_REGISTRY_STORE_POSTGRES_LIBPQ_H_

#include <libpq-fe.h>

#include <string>

#include "registry/base/result.h"

namespace truce {

// The library's function `name`; null: it has none, and LoadLibpq says so.
class PqSymbol final {
 public:
  explicit PqSymbol(const char* name);
  template <typename Call>
  // NOLINTNEXTLINE(google-explicit-constructor): the one way that dlsym has.
  operator Call() const {
    return reinterpret_cast<Call>(found_);
  }

 private:
  void* found_ = nullptr;
};

// Its functions, called as in its documentation but for the prefix. Immutable once loaded.
struct Libpq {
  decltype(&PQclear) clear = PqSymbol("PQclear");
  decltype(&PQcmdStatus) cmd_status = PqSymbol("PQcmdStatus");
  decltype(&PQconnectPoll) connect_poll = PqSymbol("PQconnectPoll");
  decltype(&PQconnectStartParams) connect_start_params = PqSymbol("PQconnectStartParams");
  decltype(&PQconnectionNeedsPassword) connection_needs_password =
      PqSymbol("PQconnectionNeedsPassword");
  decltype(&PQconninfoFree) conninfo_free = PqSymbol("PQconninfoFree");
  decltype(&PQconninfoParse) conninfo_parse = PqSymbol("PQconninfoParse");
  decltype(&PQconsumeInput) consume_input = PqSymbol("PQconsumeInput");
  decltype(&PQenterPipelineMode) enter_pipeline_mode = PqSymbol("PQenterPipelineMode");
  decltype(&PQerrorMessage) error_message = PqSymbol("PQerrorMessage");
  decltype(&PQexitPipelineMode) exit_pipeline_mode = PqSymbol("PQexitPipelineMode");
  decltype(&PQfinish) finish = PqSymbol("PQfinish");
  decltype(&PQflush) flush = PqSymbol("PQflush");
  decltype(&PQfreemem) freemem = PqSymbol("PQfreemem");
  decltype(&PQgetResult) get_result = PqSymbol("PQgetResult");
  decltype(&PQgetisnull) getisnull = PqSymbol("PQgetisnull");
  decltype(&PQgetlength) getlength = PqSymbol("PQgetlength");
  decltype(&PQgetvalue) getvalue = PqSymbol("PQgetvalue");
  decltype(&PQisBusy) is_busy = PqSymbol("PQisBusy");
  decltype(&PQntuples) ntuples = PqSymbol("PQntuples");
  decltype(&PQpipelineSync) pipeline_sync = PqSymbol("PQpipelineSync");
  decltype(&PQresultErrorField) result_error_field = PqSymbol("PQresultErrorField");
  decltype(&PQresultErrorMessage) result_error_message = PqSymbol("PQresultErrorMessage");
  decltype(&PQresultStatus) result_status = PqSymbol("PQresultStatus");
  decltype(&PQsendQuery) send_query = PqSymbol("PQsendQuery");
  decltype(&PQsendQueryParams) send_query_params = PqSymbol("PQsendQueryParams");
  decltype(&PQsetNoticeReceiver) set_notice_receiver = PqSymbol("PQsetNoticeReceiver");
  decltype(&PQsetnonblocking) setnonblocking = PqSymbol("PQsetnonblocking");
  decltype(&PQsocket) socket = PqSymbol("PQsocket");
  decltype(&PQsslInUse) ssl_in_use = PqSymbol("PQsslInUse");
  decltype(&PQstatus) status = PqSymbol("PQstatus");
};

// Loads the library, once. Errors: kInvalidArgument: it is not there, or older than 14; which
// package has it is said. Thread-safe.
Result<void> LoadLibpq();

// After LoadLibpq was ok, as it was where a connection or an answer exists.
const Libpq& Pq();

// The first line of what the library or a server says, without control characters.
std::string PqLine(const char* said);

}  // namespace truce

#endif  // TRUCE_REGISTRY_STORE_POSTGRES_LIBPQ_H_
