#include "tests/support/postgres_server.h"

#include <fcntl.h>
#include <grp.h>
#include <libpq-fe.h>
#include <netinet/in.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <sys/inotify.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <vector>

#include "registry/base/clock.h"
#include "tests/support/certificates.h"

namespace truce::testing {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void Die(const std::string& why) {
  std::fprintf(stderr, "no PostgreSQL server for the tests: %s\n", why.c_str());
  std::abort();
}

// Where the distribution has `program`, the newest version first.
std::string Program(const std::string& name) {
  for (const char* version : {"18", "17", "16", "15", "14"}) {
    std::string path = std::string("/usr/lib/postgresql/") + version + "/bin/" + name;
    if (fs::exists(path)) return path;
  }
  Die("install the package postgresql (.tools/setup.sh test does)");
}

// PostgreSQL refuses to run as root: then as the user that its package made.
const passwd* Servant() {
  if (::geteuid() != 0) return nullptr;
  const passwd* user = ::getpwnam("postgres");
  if (user == nullptr) Die("there is no user postgres, whom its package makes");
  return user;
}

// Starts a program whose output goes to `log`.
pid_t Run(const std::vector<std::string>& words, const std::string& log) {
  const passwd* servant = Servant();
  const pid_t child = ::fork();
  if (child < 0) Die("fork");
  if (child > 0) return child;
  const int out = ::open(log.c_str(), O_CREAT | O_WRONLY | O_APPEND, 0600);
  ::dup2(out, STDOUT_FILENO);
  ::dup2(out, STDERR_FILENO);
  if (servant != nullptr && (::setgroups(0, nullptr) != 0 || ::setgid(servant->pw_gid) != 0 ||
                             ::setuid(servant->pw_uid) != 0)) {
    ::_exit(127);
  }
  ::prctl(PR_SET_PDEATHSIG, SIGQUIT);  // a test that crashes leaves no server behind
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  ::execv(arguments[0], arguments.data());
  ::_exit(127);
}

void RunToItsEnd(const std::vector<std::string>& words, const std::string& log) {
  int status = 0;
  const pid_t child = Run(words, log);
  if (::waitpid(child, &status, 0) != child || status != 0) {
    std::string said;
    if (std::FILE* file = std::fopen(log.c_str(), "r")) {
      std::array<char, 4096> text{};
      said.assign(text.data(), std::fread(text.data(), 1, text.size(), file));
      std::fclose(file);
    }
    Die(words[0] + " failed: " + said);
  }
}

// A server writes into its postmaster.pid what it has come to: when that changes, it may answer.
class FolderWatch final {
 public:
  explicit FolderWatch(const std::string& folder) : inotify_(::inotify_init1(IN_CLOEXEC)) {
    constexpr std::uint32_t kChanges = IN_CREATE | IN_MODIFY | IN_MOVED_TO;
    if (::inotify_add_watch(inotify_, folder.c_str(), kChanges) < 0) Die("inotify of " + folder);
  }
  ~FolderWatch() { ::close(inotify_); }
  FolderWatch(const FolderWatch&) = delete;
  FolderWatch& operator=(const FolderWatch&) = delete;

  // False: nothing changed until then.
  bool WaitForChange(std::chrono::steady_clock::time_point deadline) {
    using std::chrono::milliseconds;
    const auto left = std::chrono::ceil<milliseconds>(deadline - std::chrono::steady_clock::now());
    pollfd waiting{inotify_, POLLIN, 0};
    if (left <= milliseconds(0) || ::poll(&waiting, 1, static_cast<int>(left.count())) <= 0) {
      return false;
    }
    std::array<char, 4096> events{};
    return ::read(inotify_, events.data(), events.size()) > 0;
  }

 private:
  const int inotify_;
};

int FreePort() {
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  const bool bound =
      ::bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0 &&
      ::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size) == 0;
  ::close(socket);
  if (!bound) Die("no free port");
  return ntohs(address.sin_port);
}

}  // namespace

PostgresServer::PostgresServer() {
  if (const passwd* servant = Servant()) {
    fs::permissions(folder_.path(),
                    fs::perms::owner_all | fs::perms::group_exec | fs::perms::others_exec);
    if (::chown(folder_.path().c_str(), servant->pw_uid, servant->pw_gid) != 0) Die("chown");
  }
  RunToItsEnd({Program("initdb"), "-D", (folder_.path() / "data").string(), "-U", "truce", "-A",
               "trust", "-E", "UTF8", "--locale=C.UTF-8", "-N"},
              (folder_.path() / "initdb.log").string());
  WriteAccess();
  WriteCertificate();
  port_ = FreePort();
  Start();
}

void PostgresServer::WriteAccess() {
  std::ofstream file(folder_.path() / "data" / "pg_hba.conf", std::ios::trunc);
  file << "local all truce trust\nlocal all all scram-sha-256\nhost all all 127.0.0.1/32 "
          "scram-sha-256\n";
  if (!file.flush()) Die("pg_hba.conf");
}

void PostgresServer::WriteCertificate() {
  const Timestamp now = SystemClock().Now();
  const std::chrono::hours day{24};
  const PemPair authority = IssueForTest(
      {.common_name = "authority", .authority = true, .from = now - day, .until = now + day});
  const PemPair pair = IssueForTest({.common_name = "postgres",
                                     .alternative_names = "IP:127.0.0.1",
                                     .from = now - day,
                                     .until = now + day},
                                    authority);
  const auto write = [&](const char* name, const std::string& text) {
    const fs::path path = folder_.path() / name;
    std::ofstream(path) << text;
    const passwd* servant = Servant();
    if (servant != nullptr && ::chown(path.c_str(), servant->pw_uid, servant->pw_gid) != 0) {
      Die("chown");
    }
    return path;
  };
  write("ca.pem", authority.certificate);
  write("server.pem", pair.certificate);
  fs::permissions(write("server.key", pair.key), fs::perms::owner_read | fs::perms::owner_write);
}

void PostgresServer::Start() {
  const std::string folder = folder_.path().string();
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  FolderWatch files(folder + "/data");
  pid_ =
      Run({Program("postgres"), "-D", folder + "/data", "-k", folder, "-p", std::to_string(port_),
           "-c", "listen_addresses=127.0.0.1", "-c", "max_connections=150", "-c",
           "shared_buffers=32MB", "-c", "ssl=on", "-c", "ssl_cert_file=" + folder + "/server.pem",
           "-c", "ssl_key_file=" + folder + "/server.key"},
          folder + "/server.log");
  while (PQping(UrlOf("postgres").c_str()) != PQPING_OK) {
    if (!files.WaitForChange(deadline)) Die("it does not answer (server.log)");
  }
}

PostgresServer::~PostgresServer() {
  ::kill(pid_, SIGQUIT);  // at once: nobody needs what it holds
  ::waitpid(pid_, nullptr, 0);
}

PostgresServer& PostgresServer::Shared() {
  static PostgresServer server;
  return server;
}

std::string PostgresServer::UrlOf(const std::string& database) const {
  return "host=" + folder_.path().string() + " port=" + std::to_string(port_) +
         " user=truce dbname=" + database;
}

std::string PostgresServer::TcpUrlOf(const std::string& database, const std::string& user) const {
  return "host=127.0.0.1 port=" + std::to_string(port_) + " user=" + user + " dbname=" + database;
}

std::string PostgresServer::MakeDatabase() {
  const std::string name = "test_" + std::to_string(++databases_);
  PGconn* connection = PQconnectdb(UrlOf("postgres").c_str());
  PGresult* made = PQexec(connection, ("CREATE DATABASE " + name).c_str());
  if (PQresultStatus(made) != PGRES_COMMAND_OK) Die(PQerrorMessage(connection));
  PQclear(made);
  PQfinish(connection);
  return UrlOf(name);
}

Outsider::Outsider(const std::string& url) : connection_(PQconnectdb(url.c_str())) {}

Outsider::~Outsider() { PQfinish(connection_); }

std::string Outsider::Run(const std::string& sql) {
  PGresult* answer = PQexec(connection_, sql.c_str());
  const char* state = PQresultErrorField(answer, PG_DIAG_SQLSTATE);
  std::string failed = state == nullptr ? "" : state;
  PQclear(answer);
  return failed;
}

}  // namespace truce::testing
