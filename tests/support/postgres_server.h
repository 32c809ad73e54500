// PostgresServer: a PostgreSQL server of the test program's own, from the distribution's package.
#ifndef TRUCE_TESTS_SUPPORT_POSTGRES_SERVER_H_
#define TRUCE_TESTS_SUPPORT_POSTGRES_SERVER_H_

#include <libpq-fe.h>
#include <sys/types.h>

#include <string>

#include "tests/support/temporary_folder.h"

namespace truce::testing {

// Listens on a socket in a folder of its own, and with TLS on a free port of 127.0.0.1; ends with
// its object. User truce needs no password on the socket; everybody else, and all on the port, do.
// Where it cannot be had or started the program aborts and says why: no test is skipped. External
// synchronization.
class PostgresServer final {
 public:
  PostgresServer();
  ~PostgresServer();
  PostgresServer(const PostgresServer&) = delete;
  PostgresServer& operator=(const PostgresServer&) = delete;

  // One for the whole program, started when first asked for.
  static PostgresServer& Shared();

  // The URL of a fresh database.
  std::string MakeDatabase();
  // The URL of a database that is there.
  std::string UrlOf(const std::string& database) const;
  // The same over TCP, as `user` with its password.
  std::string TcpUrlOf(const std::string& database, const std::string& user) const;
  // The file with the authority of the server's certificate, which is for 127.0.0.1.
  std::string authority_file() const { return (folder_.path() / "ca.pem").string(); }

 private:
  void Start();
  void WriteAccess();
  void WriteCertificate();

  TemporaryFolder folder_;
  pid_t pid_ = -1;
  int port_ = 0;
  int databases_ = 0;
};

// Somebody who works on a database past the store.
class Outsider final {
 public:
  explicit Outsider(const std::string& url);
  ~Outsider();
  Outsider(const Outsider&) = delete;
  Outsider& operator=(const Outsider&) = delete;

  // The SQLSTATE of what failed; empty: nothing did.
  std::string Run(const std::string& sql);

 private:
  PGconn* connection_;
};

}  // namespace truce::testing

#endif  // TRUCE_TESTS_SUPPORT_POSTGRES_SERVER_H_
