// PgObserver: counts the acts of the PostgreSQL store.
#ifndef TRUCE_REGISTRY_STORE_POSTGRES_OBSERVER_H_
#define TRUCE_REGISTRY_STORE_POSTGRES_OBSERVER_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>

namespace truce {

// Why a decision began anew.
enum class PgRepeat : std::uint8_t {
  kContention,  // a deadlock, or a lock that was waited for too long
  kConnection,  // its connection was lost before it was committed
  kDoubt,       // it was not known what its commit did
};

// One of these.
struct PgEvent {
  std::optional<std::chrono::nanoseconds> round_trip = {};  // how long it took
  std::optional<PgRepeat> repeat = {};
  // A commit was in doubt; true: its caller learned the outcome all the same.
  std::optional<bool> doubt_found_out = {};
  bool many_runs = false;  // a decision or look runs more often than any should (kRunsUsual)
};

// Called from the store's threads; must not block. Empty: nobody counts.
using PgObserver = std::function<void(const PgEvent&)>;

}  // namespace truce

#endif  // TRUCE_REGISTRY_STORE_POSTGRES_OBSERVER_H_
