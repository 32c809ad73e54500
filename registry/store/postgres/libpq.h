// Libpq: PostgreSQL's client library, loaded when it is first needed: whoever keeps the registry
// elsewhere need not have it.
#ifndef TRUCE_REGISTRY_STORE_POSTGRES_LIBPQ_H_
#define TRUCE_REGISTRY_STORE_POSTGRES_LIBPQ_H_

#include <libpq-fe.h>

#include <string>

#include "registry/base/result.h"

namespace truce {

// Its functions, called as in its documentation but for the prefix. Immutable once loaded.
struct Libpq {
  decltype(&PQclear) clear = nullptr;
  decltype(&PQcmdStatus) cmd_status = nullptr;
  decltype(&PQconnectPoll) connect_poll = nullptr;
  decltype(&PQconnectStartParams) connect_start_params = nullptr;
  decltype(&PQconnectionNeedsPassword) connection_needs_password = nullptr;
  decltype(&PQconninfoFree) conninfo_free = nullptr;
  decltype(&PQconninfoParse) conninfo_parse = nullptr;
  decltype(&PQconsumeInput) consume_input = nullptr;
  decltype(&PQenterPipelineMode) enter_pipeline_mode = nullptr;
  decltype(&PQerrorMessage) error_message = nullptr;
  decltype(&PQexitPipelineMode) exit_pipeline_mode = nullptr;
  decltype(&PQfinish) finish = nullptr;
  decltype(&PQflush) flush = nullptr;
  decltype(&PQfreemem) freemem = nullptr;
  decltype(&PQgetResult) get_result = nullptr;
  decltype(&PQgetisnull) getisnull = nullptr;
  decltype(&PQgetlength) getlength = nullptr;
  decltype(&PQgetvalue) getvalue = nullptr;
  decltype(&PQisBusy) is_busy = nullptr;
  decltype(&PQntuples) ntuples = nullptr;
  decltype(&PQpipelineSync) pipeline_sync = nullptr;
  decltype(&PQresultErrorField) result_error_field = nullptr;
  decltype(&PQresultErrorMessage) result_error_message = nullptr;
  decltype(&PQresultStatus) result_status = nullptr;
  decltype(&PQsendQuery) send_query = nullptr;
  decltype(&PQsendQueryParams) send_query_params = nullptr;
  decltype(&PQsetNoticeReceiver) set_notice_receiver = nullptr;
  decltype(&PQsetnonblocking) setnonblocking = nullptr;
  decltype(&PQsocket) socket = nullptr;
  decltype(&PQsslInUse) ssl_in_use = nullptr;
  decltype(&PQstatus) status = nullptr;
};

// Loads the library, once. Errors: kInvalidArgument: it is not there, or older than 14; which
// package has it is said. Thread-safe.
Result<void> LoadLibpq();

// After LoadLibpq was ok, which it was for whoever holds a connection or an answer.
const Libpq& Pq();

// The first line of what the library or a server says, without control characters.
std::string PqLine(const char* said);

}  // namespace truce

#endif  // TRUCE_REGISTRY_STORE_POSTGRES_LIBPQ_H_
