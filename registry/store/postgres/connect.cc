#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "registry/store/postgres/connection.h"
#include "registry/store/postgres/host_finder.h"

namespace truce {
namespace {

// The time that one of several hosts has before the next one is tried.
constexpr std::chrono::seconds kHostTime{2};
// Where distributions keep the authorities that everybody trusts.
constexpr const char* kAuthorities = "/etc/ssl/certs/ca-certificates.crt";

// The addresses that a URL holds.
struct Addresses {
  std::vector<std::string> hosts;
  std::vector<std::string> numeric;  // as many, or none
  std::vector<std::string> ports;    // as many, or one for all, or none
};

std::vector<std::string> Split(std::string_view list) {
  std::vector<std::string> parts;
  if (list.empty()) return parts;
  while (true) {
    const std::size_t comma = list.find(',');
    parts.emplace_back(list.substr(0, comma));
    if (comma == std::string_view::npos) return parts;
    list.remove_prefix(comma + 1);
  }
}

// Empty: the usual one.
bool IsPort(std::string_view text) {
  std::uint16_t port = 1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  return text.empty() || (error == std::errc() && end == text.data() + text.size() && port != 0);
}

Result<Addresses> AddressesOf(const std::string& url) {
  char* wrong = nullptr;
  PQconninfoOption* options = Pq().conninfo_parse(url.c_str(), &wrong);
  if (options == nullptr) {
    Error error{ErrorCode::kInvalidArgument, "the store's URL cannot be read: " + PqLine(wrong) +
                                                 "; write postgres://USER@HOST:PORT/NAME"};
    Pq().freemem(wrong);
    return error;
  }
  Addresses addresses;
  for (const PQconninfoOption* option = options; option->keyword != nullptr; ++option) {
    const std::string_view keyword = option->keyword;
    const std::string_view value = option->val == nullptr ? "" : option->val;
    if (keyword == "host") addresses.hosts = Split(value);
    if (keyword == "hostaddr") addresses.numeric = Split(value);
    if (keyword == "port") addresses.ports = Split(value);
  }
  Pq().conninfo_free(options);
  // Before anybody looks for a host.
  for (const std::string& port : addresses.ports) {
    if (IsPort(port)) continue;
    return Error{ErrorCode::kInvalidArgument, "the store's URL cannot be read: \"" + port +
                                                  "\" is no port; write "
                                                  "postgres://USER@HOST:PORT/NAME"};
  }
  return addresses;
}

// Nobody but this machine hears what is said there.
bool IsLocal(std::string_view host) {
  return host.empty() || host.starts_with('/') || host.starts_with('@') || host == "localhost" ||
         host.starts_with("127.") || host == "::1";
}

// libpq would ask the resolver itself, and wait for it.
bool IsName(const std::string& host) {
  in6_addr address{};
  return !host.empty() && !host.starts_with('/') && !host.starts_with('@') &&
         ::inet_pton(AF_INET, host.c_str(), &address) != 1 &&
         ::inet_pton(AF_INET6, host.c_str(), &address) != 1;
}

HostFinder& Finder() {
  static HostFinder finder;
  return finder;
}

// The one of several at this place; of one alone, that.
std::string At(const std::vector<std::string>& list, std::size_t index) {
  return list.size() == 1 ? list[0] : index < list.size() ? list[index] : std::string();
}

// The parameters of one attempt, in libpq's form: of two values the later one counts.
class Parameters {
 public:
  void Add(const char* name, std::string value) {
    names_.push_back(name);
    values_.push_back(std::move(value));
  }
  PGconn* Start() {
    std::vector<const char*> values;
    for (const std::string& value : values_) values.push_back(value.c_str());
    names_.push_back(nullptr);
    values.push_back(nullptr);
    return Pq().connect_start_params(names_.data(), values.data(), 1);
  }

 private:
  std::vector<const char*> names_;
  std::vector<std::string> values_;
};

Parameters ParametersOf(const std::string& url, const Addresses& addresses, std::size_t index) {
  Parameters parameters;
  const bool several = addresses.hosts.size() > 1;
  const std::string host = At(addresses.hosts, index);
  // Defaults, which the URL may replace: a server's name is proved, a dead one is noticed in
  // seconds.
  parameters.Add("fallback_application_name", "truce");
  parameters.Add("keepalives_idle", "3");
  parameters.Add("keepalives_interval", "3");
  parameters.Add("keepalives_count", "3");
  parameters.Add("tcp_user_timeout", "5000");
  if (!IsLocal(host)) {
    if (std::getenv("PGSSLMODE") == nullptr) parameters.Add("sslmode", "verify-full");
    if (std::getenv("PGSSLROOTCERT") == nullptr && ::access(kAuthorities, R_OK) == 0) {
      parameters.Add("sslrootcert", kAuthorities);
    }
  }
  if (several) parameters.Add("target_session_attrs", "read-write");
  parameters.Add("dbname", url);
  if (several) {
    parameters.Add("host", host);
    if (!addresses.numeric.empty()) parameters.Add("hostaddr", At(addresses.numeric, index));
    if (!addresses.ports.empty()) parameters.Add("port", At(addresses.ports, index));
  }
  return parameters;
}

// The server, for messages. libpq knows no name of a host that it got as an address: then the
// URL's.
std::string ServerAt(const Addresses& addresses, std::size_t index) {
  const std::string host = At(addresses.hosts, index);
  const bool is_found = addresses.numeric.empty() && IsName(host);
  return is_found ? "PostgreSQL at \"" + host + "\"" : "PostgreSQL";
}

// How to mend what libpq complains of; empty where it says enough.
std::string_view RemedyOf(std::string_view text, bool needs_password) {
  const auto says = [&](std::string_view part) { return text.find(part) != text.npos; };
  if (needs_password) return "; give it in storePasswordFile or by storePasswordCommand";
  if (says("authentication failed")) {
    return "; look at the URL's user, and at storePasswordFile or storePasswordCommand";
  }
  if (says("does not support SSL")) {
    return "; turn TLS on there, or say sslmode=disable in the URL to go without";
  }
  if (says("certificate") || says("SSL")) {
    return "; sslrootcert=FILE in the URL names the authority of the server's certificate";
  }
  if (says("Connection refused")) return "; is PostgreSQL running there, and is it the URL's host?";
  if (says("read-only")) return "; name the primary in the URL";
  if (says("does not exist")) return "; make it first";
  return "";
}

// The same, and where the host is: libpq tries its addresses in turn, each under the host's name,
// which is what the server's certificate must say.
Result<Parameters> Prepare(const std::string& url, const Addresses& addresses, std::size_t index,
                           Deadline deadline) {
  Parameters parameters = ParametersOf(url, addresses, index);
  const std::string host = At(addresses.hosts, index);
  if (!addresses.numeric.empty() || !IsName(host)) return parameters;
  const auto found = Finder().Find(host, deadline);
  if (!found.ok()) {
    return Error{found.error().code, "connecting to PostgreSQL: " + found.error().message};
  }
  std::string names;
  std::string numeric;
  for (const std::string& address : found.value()) {
    const char* comma = names.empty() ? "" : ",";
    names.append(comma).append(host);
    numeric.append(comma).append(address);
  }
  parameters.Add("host", std::move(names));
  parameters.Add("hostaddr", std::move(numeric));
  return parameters;
}

// Waits for what PQconnectPoll asks for.
bool PollFor(int socket, PostgresPollingStatusType wanted, Deadline deadline) {
  pollfd waiting{};
  waiting.fd = socket;
  waiting.events = static_cast<short>(wanted == PGRES_POLLING_READING ? POLLIN : POLLOUT);
  while (std::chrono::steady_clock::now() < deadline) {
    const int ready = poll(&waiting, 1, MillisecondsUntil(deadline));
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return false;
  }
  return false;
}

}  // namespace

Result<std::unique_ptr<PgLink>> PgLink::Begin(PGconn* started, const std::string& server,
                                              Deadline deadline) {
  std::unique_ptr<PgLink> link(new PgLink(started));
  if (started == nullptr) return Error{ErrorCode::kUnavailable, "out of memory"};
  Pq().set_notice_receiver(started, &PgLink::OnNotice, link.get());
  PostgresPollingStatusType wanted = PGRES_POLLING_WRITING;
  while (Pq().status(started) != CONNECTION_BAD && wanted != PGRES_POLLING_OK) {
    if (wanted == PGRES_POLLING_FAILED) break;
    if (!PollFor(Pq().socket(started), wanted, deadline)) {
      return Error{ErrorCode::kDeadlineExceeded,
                   "the deadline passed while connecting to " + server};
    }
    wanted = Pq().connect_poll(started);
  }
  if (Pq().status(started) != CONNECTION_OK) {
    std::string said = PqLine(Pq().error_message(started));
    said += RemedyOf(said, Pq().connection_needs_password(started) == 1);
    return Error{ErrorCode::kUnavailable, "connecting to " + server + ": " + said};
  }
  if (Pq().setnonblocking(started, 1) != 0 || Pq().enter_pipeline_mode(started) != 1) {
    return Error{ErrorCode::kUnavailable, PqLine(Pq().error_message(started))};
  }
  link->has_tls_ = Pq().ssl_in_use(started) == 1;
  return link;
}

Result<std::unique_ptr<PgLink>> PgLink::Connect(const PgTarget& target, Deadline deadline) {
  TRUCE_RETURN_IF_ERROR(LoadLibpq());
  TRUCE_ASSIGN_OR_RETURN(const Addresses addresses, AddressesOf(target.url));
  std::string password;
  if (target.password) {
    TRUCE_ASSIGN_OR_RETURN(password, target.password(deadline));
  }
  const std::size_t hosts = std::max<std::size_t>(1, addresses.hosts.size());
  std::string problem;
  for (std::size_t i = 0; i < hosts; ++i) {
    const auto now = std::chrono::steady_clock::now();
    const Deadline until = i + 1 < hosts ? std::min(deadline, now + kHostTime) : deadline;
    auto parameters = Prepare(target.url, addresses, i, until);
    if (parameters.ok() && !password.empty()) parameters.value().Add("password", password);
    auto link = parameters.ok() ? Begin(parameters.value().Start(), ServerAt(addresses, i), until)
                                : Result<std::unique_ptr<PgLink>>(std::move(parameters).error());
    if (link.ok()) link.value()->observer_ = target.observer;
    if (link.ok() || hosts == 1) return link;
    problem = link.error().message;
    if (now >= deadline) return std::move(link).error();
  }
  return Error{ErrorCode::kUnavailable, "none of the URL's " + std::to_string(hosts) +
                                            " hosts can be used; the last one: " + problem};
}

}  // namespace truce
