// AuditKeeper: bounds the audit log by age and length; it first exports lines that go, where
// wanted.
#ifndef TRUCE_WEBHOOK_UPKEEP_AUDIT_KEEPER_H_
#define TRUCE_WEBHOOK_UPKEEP_AUDIT_KEEPER_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "registry/base/clock.h"
#include "registry/base/result.h"
#include "registry/store/store.h"

namespace truce {

// How long lines are kept; 0: without bound.
struct AuditRetention {
  std::chrono::milliseconds age_max{};
  std::int64_t lines_max = 0;
};

// External synchronization.
class AuditKeeper final {
 public:
  // Lines of one segment; fewer are never let go.
  static constexpr std::size_t kSegmentLines = 5000;

  // Segments become files "audit-<first>-<last>.ndjson" of `folder`, which each step makes where it
  // is missing, one line of JSON each as GET /audit writes it; no files when it is empty.
  // References must outlive it.
  AuditKeeper(Store& store, const Clock& clock, std::string folder)
      : store_(store), clock_(clock), folder_(std::move(folder)) {}

  // Lets the lines of the oldest segment go, if all of them are older than the retention allows or
  // more lines follow it than it allows. Its file is whole and on the disk before; after a crash
  // between the two it is written again. True: it did. A line of the audit log records it. Errors:
  // those of the store; kUnavailable (file or folder cannot be written: nothing went).
  Result<bool> Step(const AuditRetention& retention, Deadline deadline);

 private:
  Store& store_;
  const Clock& clock_;
  const std::string folder_;
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_UPKEEP_AUDIT_KEEPER_H_
