// RegistryNumbers: numbers for alerts that no store counts: shares that end soon, the audit log.
#ifndef TRUCE_WEBHOOK_UPKEEP_REGISTRY_NUMBERS_H_
#define TRUCE_WEBHOOK_UPKEEP_REGISTRY_NUMBERS_H_

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "registry/base/clock.h"
#include "registry/base/result.h"
#include "registry/store/store.h"
#include "webhook/metrics/metrics.h"

namespace truce {

// Count is for one thread, WriteMetrics for any.
class RegistryNumbers final {
 public:
  // How long before its end a share counts.
  static constexpr std::chrono::hours kEndsSoon{24 * 7};
  // Of more agreements than this the first ones are counted.
  static constexpr std::size_t kSharesLookedMax = 100'000;

  // References must outlive it.
  RegistryNumbers(const Store& store, const Clock& clock) : store_(store), clock_(clock) {}

  // Counts; `lines_max` is how long the audit log may become, 0: there is no bound. On an error the
  // former counts stay. Errors: those of the store.
  Result<void> Count(std::int64_t lines_max, Deadline deadline);

  // truce_shares_ending, truce_audit_lines_kept, truce_audit_lines_total, truce_audit_lines_max
  void WriteMetrics(MetricWriter& writer) const;

 private:
  const Store& store_;
  const Clock& clock_;
  std::atomic<std::uint64_t> shares_ending_{0};
  std::atomic<std::uint64_t> lines_kept_{0};
  std::atomic<std::uint64_t> lines_total_{0};
  std::atomic<std::int64_t> lines_max_{0};
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_UPKEEP_REGISTRY_NUMBERS_H_
