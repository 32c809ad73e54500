// PostgresServer: a PostgreSQL server of the test program's own, from the distribution's package.
#ifndef TRUCE_TESTS_SUPPORT_POSTGRES_SERVER_H_
#define TRUCE_TESTS_SUPPORT_POSTGRES_SERVER_H_

#include <sys/types.h>

#include <string>

#include "tests/support/temporary_folder.h"

namespace truce::testing {

// Listens on a socket in a folder of its own, and ends with its object. Where it cannot be had or
// started the program aborts and says why: no test is skipped. External synchronization.
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

 private:
  void Start();

  TemporaryFolder folder_;
  pid_t pid_ = -1;
  int databases_ = 0;
};

}  // namespace truce::testing

#endif  // TRUCE_TESTS_SUPPORT_POSTGRES_SERVER_H_
