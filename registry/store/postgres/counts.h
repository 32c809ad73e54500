// PgCounts: how many ownerships there are in which state, as the database had them lately.
#ifndef TRUCE_REGISTRY_STORE_POSTGRES_COUNTS_H_
#define TRUCE_REGISTRY_STORE_POSTGRES_COUNTS_H_

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

#include "registry/base/clock.h"
#include "registry/store/postgres/pool.h"
#include "registry/store/store.h"

namespace truce {

// Counted by a thread of its own, for those who ask are in a hurry: metrics are wanted most while
// the database does not answer. Thread-safe.
class PgCounts final {
 public:
  PgCounts(PgPool& pool, std::chrono::milliseconds age_max);
  // Waits for a count that runs.
  ~PgCounts();
  PgCounts(const PgCounts&) = delete;
  PgCounts& operator=(const PgCounts&) = delete;

  // At most `age_max` old; those of before where new ones take longer than two seconds.
  StoreCounts Get();

 private:
  void Keep();

  PgPool& pool_;
  const std::chrono::milliseconds age_max_;
  std::mutex mutex_;
  std::condition_variable changed_;
  StoreCounts counts_;               // guarded by mutex_
  std::optional<Deadline> counted_;  // guarded by mutex_
  bool wanted_ = false;              // guarded by mutex_
  bool ending_ = false;              // guarded by mutex_
  std::thread keeper_;               // last: it uses all of the above
};

}  // namespace truce

#endif  // TRUCE_REGISTRY_STORE_POSTGRES_COUNTS_H_
