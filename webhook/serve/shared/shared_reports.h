// SharedReports: the reports that only the leader of several servers can make, for all of them: the
// settings "shared.reports", which the leader writes after a change, and "shared.mark", the time of
// the last report.
#ifndef TRUCE_WEBHOOK_SERVE_SHARED_SHARED_REPORTS_H_
#define TRUCE_WEBHOOK_SERVE_SHARED_SHARED_REPORTS_H_

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "registry/base/clock.h"
#include "registry/base/result.h"
#include "webhook/api/cluster_routes.h"
#include "webhook/findings/coverage.h"
#include "webhook/findings/findings_book.h"
#include "webhook/findings/tag_war.h"
#include "webhook/findings/texts/report_baseline.h"
#include "webhook/watch/kinds.h"

namespace truce {

class Store;

// A value.
struct SharedReports {
  std::vector<TagWar> wars;
  std::vector<LiveFinding> findings;  // by detector, then subject
  CoverageReport coverage;
  BaselineReport watched;  // the watch's own part of the baseline (Detectors::Watched)
  std::vector<FollowedKind>
      inhabited;  // kinds that have objects, or may have: selection.kind, role
  BrakeView brake;
  std::vector<RecoveryView::Wait> waits;  // of recovery mode
};

// At most kReportsBytesMax: of findings the least severe are left out, of gaps the last.
inline constexpr std::size_t kReportsBytesMax = 4 * 1024 * 1024;
std::string ToText(const SharedReports& reports);
// The readable parts of it; nothing: it is no such text.
std::optional<SharedReports> ReportsFromText(std::string_view text);

// The leader's side. External synchronization.
class ReportPublisher final {
 public:
  static constexpr std::chrono::seconds kEvery{5};
  // So often the mark alone is written, so that others know that nothing changed.
  static constexpr std::chrono::seconds kMarkEvery{20};

  explicit ReportPublisher(const Clock& clock) : clock_(clock) {}

  // To be called each second: asks `gather` when it is due, and writes what it says where that
  // changed; nothing: it is not known yet. The longer it is the rarer: 100 KiB for each second.
  // Errors: those of the store; kConflict: another server is the leader. Then all of it is due.
  Result<void> Step(Store& store, const std::function<std::optional<SharedReports>()>& gather,
                    Deadline deadline);

 private:
  Result<void> Write(Store& store, const std::string* reports, Deadline deadline);

  const Clock& clock_;
  std::string written_;  // the text that the registry has
  std::string id_;       // of it
  Deadline due_{};
  Deadline mark_due_{};
};

// Everybody's. Thread-safe.
class ReportReader final {
 public:
  // A read answer is used again for so long.
  static constexpr std::chrono::seconds kKept{1};

  // References must outlive it.
  ReportReader(const Store& store, const Clock& clock) : store_(store), clock_(clock) {}

  struct Reading {
    std::shared_ptr<const SharedReports> reports;  // never null
    Timestamp at{};                                // their time; the epoch: there are none
  };
  // As the leader wrote them last; as read before where the store does not answer. Blocks for 2 s
  // at most.
  Reading Latest() const;

 private:
  struct Kept {
    Reading reading{std::make_shared<const SharedReports>(), {}};
    std::string id;
    std::optional<Timestamp> read;
  };
  void Refresh(Timestamp now) const;

  const Store& store_;
  const Clock& clock_;
  mutable std::mutex mutex_;  // held while it reads, so that one reads for all
  mutable Kept kept_;         // under mutex_
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_SERVE_SHARED_SHARED_REPORTS_H_
