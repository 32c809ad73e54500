#include "registry/store/postgres/libpq.h"

#include <dlfcn.h>

#include <string>
#include <string_view>

#include "registry/base/one_line.h"
#include "registry/base/text.h"

namespace truce {
namespace {

constexpr const char* kFile = "libpq.so.5";

struct Loaded {
  Libpq calls;
  std::string problem;  // empty: all of it is there
};

template <typename Call>
void Find(void* library, const char* name, Call& call, const char*& missing) {
  // The one way that dlsym has.
  call = reinterpret_cast<Call>(::dlsym(library, name));
  if (call == nullptr) missing = name;
}

Loaded Load() {
  Loaded loaded;
  void* library = ::dlopen(kFile, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* why = ::dlerror();
    loaded.problem = why == nullptr ? kFile : why;
    return loaded;
  }
  Libpq& pq = loaded.calls;
  const char* missing = nullptr;
  Find(library, "PQclear", pq.clear, missing);
  Find(library, "PQcmdStatus", pq.cmd_status, missing);
  Find(library, "PQconnectPoll", pq.connect_poll, missing);
  Find(library, "PQconnectStartParams", pq.connect_start_params, missing);
  Find(library, "PQconnectionNeedsPassword", pq.connection_needs_password, missing);
  Find(library, "PQconninfoFree", pq.conninfo_free, missing);
  Find(library, "PQconninfoParse", pq.conninfo_parse, missing);
  Find(library, "PQconsumeInput", pq.consume_input, missing);
  Find(library, "PQenterPipelineMode", pq.enter_pipeline_mode, missing);
  Find(library, "PQerrorMessage", pq.error_message, missing);
  Find(library, "PQexitPipelineMode", pq.exit_pipeline_mode, missing);
  Find(library, "PQfinish", pq.finish, missing);
  Find(library, "PQflush", pq.flush, missing);
  Find(library, "PQfreemem", pq.freemem, missing);
  Find(library, "PQgetResult", pq.get_result, missing);
  Find(library, "PQgetisnull", pq.getisnull, missing);
  Find(library, "PQgetlength", pq.getlength, missing);
  Find(library, "PQgetvalue", pq.getvalue, missing);
  Find(library, "PQisBusy", pq.is_busy, missing);
  Find(library, "PQntuples", pq.ntuples, missing);
  Find(library, "PQpipelineSync", pq.pipeline_sync, missing);
  Find(library, "PQresultErrorField", pq.result_error_field, missing);
  Find(library, "PQresultErrorMessage", pq.result_error_message, missing);
  Find(library, "PQresultStatus", pq.result_status, missing);
  Find(library, "PQsendQuery", pq.send_query, missing);
  Find(library, "PQsendQueryParams", pq.send_query_params, missing);
  Find(library, "PQsetNoticeReceiver", pq.set_notice_receiver, missing);
  Find(library, "PQsetnonblocking", pq.setnonblocking, missing);
  Find(library, "PQsocket", pq.socket, missing);
  Find(library, "PQsslInUse", pq.ssl_in_use, missing);
  Find(library, "PQstatus", pq.status, missing);
  if (missing != nullptr) {
    loaded.problem.append(kFile).append(" is older than version 14, it has no ").append(missing);
  }
  return loaded;
}

// Stays loaded: connections may be closed as late as the process ends.
const Loaded& Library() {
  static const Loaded loaded = Load();
  return loaded;
}

}  // namespace

Result<void> LoadLibpq() {
  const Loaded& library = Library();
  if (library.problem.empty()) return {};
  return Error{ErrorCode::kInvalidArgument,
               "PostgreSQL's client library cannot be loaded: " + library.problem +
                   "; install the package libpq5 (postgresql-libs, libpq)"};
}

const Libpq& Pq() { return Library().calls; }

std::string PqLine(const char* said) {
  std::string_view text = said == nullptr ? "" : said;
  text = text.substr(0, text.find('\n'));
  return text.empty() ? "no reason given" : Folded(text);
}

}  // namespace truce
