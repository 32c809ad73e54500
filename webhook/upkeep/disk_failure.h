// A disk that failed: it ends the process, and the next one reports when that was.
#ifndef TRUCE_WEBHOOK_UPKEEP_DISK_FAILURE_H_
#define TRUCE_WEBHOOK_UPKEEP_DISK_FAILURE_H_

#include <optional>
#include <string>

#include "registry/base/clock.h"
#include "registry/base/result.h"
#include "registry/store/store.h"
#include "webhook/log/log.h"
#include "webhook/metrics/metrics.h"

namespace truce {

// Notes in DIR/disk.failure that the disk failed at this time, in place of an earlier one. A disk
// that fails may take no note. Errors: kUnavailable.
Result<void> NoteDiskFailure(const std::string& data_dir, Timestamp time);

// When it failed last. Nothing when it never did, or the note cannot be read.
std::optional<Timestamp> LastDiskFailure(const std::string& data_dir);

class DiskFailures final {
 public:
  // All must outlive the object.
  DiskFailures(const Store& store, Logger& logger, const Clock& clock)
      : store_(store), logger_(logger), clock_(clock) {}

  // Reads the note of the last process.
  void Begin(const std::string& data_dir);
  // True when the process must end and start anew; says so in the log, and notes it.
  bool MustEnd(const std::string& data_dir);
  // When it failed last, as the last process noted it; nothing: never. Thread-safe once begun.
  std::optional<Timestamp> last() const { return last_; }
  void WriteMetrics(MetricWriter& writer) const;

 private:
  const Store& store_;
  Logger& logger_;
  const Clock& clock_;
  std::optional<Timestamp> last_;
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_UPKEEP_DISK_FAILURE_H_
