// PostgresObserver: who counts what the PostgreSQL store does.
#ifndef TRUCE_REGISTRY_STORE_POSTGRES_OBSERVER_H_
#define TRUCE_REGISTRY_STORE_POSTGRES_OBSERVER_H_

#include <chrono>
#include <cstdint>

namespace truce {

// Why a decision began anew.
enum class PgRepeat : std::uint8_t {
  kContention,  // a deadlock, or a lock that was waited for too long
  kConnection,  // its connection was lost before it was committed
  kDoubt,       // it was not known what its commit did
};

// Port. Called from the store's threads; must not block and outlives the store.
class PostgresObserver {
 public:
  virtual ~PostgresObserver() = default;
  virtual void OnRoundTrip(std::chrono::nanoseconds took) = 0;
  virtual void OnRepeat(PgRepeat why) = 0;
  // A commit was in doubt; `found_out`: its caller was told what became of it all the same.
  virtual void OnDoubt(bool found_out) = 0;
  // A decision or look runs more often than any should (kRunsUsual).
  virtual void OnManyRuns() = 0;
};

}  // namespace truce

#endif  // TRUCE_REGISTRY_STORE_POSTGRES_OBSERVER_H_
