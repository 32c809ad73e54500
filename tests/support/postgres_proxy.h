// PostgresProxy: the way to a PostgreSQL server, which breaks where a test says.
#ifndef TRUCE_TESTS_SUPPORT_POSTGRES_PROXY_H_
#define TRUCE_TESTS_SUPPORT_POSTGRES_PROXY_H_

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "registry/base/guarded.h"
#include "tests/support/temporary_folder.h"

namespace truce::testing {

// Listens on a socket in a folder of its own and passes everything on, message by message.
// Thread-safe.
class PostgresProxy final {
 public:
  // What becomes of a COMMIT.
  enum class Fate : std::uint8_t {
    kCutBefore,  // the server never gets it: the connection ends
    kCutAfter,   // the server did it; its answer is lost with the connection
    kRollback,   // the server did it, and seems to say ROLLBACK
  };

  // `url`: of a database on a socket, in libpq's form "host=… port=…".
  explicit PostgresProxy(const std::string& url);
  ~PostgresProxy();
  PostgresProxy(const PostgresProxy&) = delete;
  PostgresProxy& operator=(const PostgresProxy&) = delete;

  // The same database by this way.
  const std::string& url() const { return url_; }

  // The next `count` COMMITs of whatever connection.
  void Let(Fate fate, int count);
  // Round trips that were asked for since the last call.
  std::uint64_t TakeRoundTrips() { return round_trips_.exchange(0); }

 private:
  struct Order {
    Fate fate = Fate::kCutBefore;
    int count = 0;
  };
  class Pipe;

  void Accept();
  // Whether one of the next COMMITs has this fate; counts it.
  bool Meets(Fate fate);

  TemporaryFolder folder_;
  std::string target_;  // the server's socket
  std::string url_;
  int listener_ = -1;
  std::atomic<bool> ending_{false};
  std::atomic<std::uint64_t> round_trips_{0};
  Guarded<Order> order_;
  std::thread accepter_;  // last: it uses all of the above
};

}  // namespace truce::testing

#endif  // TRUCE_TESTS_SUPPORT_POSTGRES_PROXY_H_
