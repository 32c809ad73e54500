// ReportKeeper: keeps the cluster's report objects as the findings are, on a thread of its own, so
// that nobody waits for the API server.
//
// It writes objects of the name kReportName only, those that differ, one after the other, and
// begins no more often than once in Options::every. It deletes reports of a former run that have no
// finding any more. A report that cannot be written is tried again with the next round.
#ifndef TRUCE_WEBHOOK_FINDINGS_REPORTS_REPORT_KEEPER_H_
#define TRUCE_WEBHOOK_FINDINGS_REPORTS_REPORT_KEEPER_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "registry/base/guarded.h"
#include "registry/base/worker.h"
#include "webhook/findings/reports/policy_report.h"
#include "webhook/kube/cluster_api.h"
#include "webhook/metrics/metrics.h"

namespace truce {

// Thread-safe.
class ReportKeeper final {
 public:
  struct Options {
    std::chrono::milliseconds every = std::chrono::seconds(30);
    // Told once when writing begins to fail (the error), and once when it works again (empty).
    // Called on the keeper's thread. Optional.
    std::function<void(const std::string&)> on_trouble;
  };
  // `api` must outlive the keeper. Starts the thread.
  ReportKeeper(ClusterApi& api, Options options);
  ~ReportKeeper() = default;  // as Stop
  ReportKeeper(const ReportKeeper&) = delete;
  ReportKeeper& operator=(const ReportKeeper&) = delete;

  // Ends the thread; `api` is not asked any more. Blocks at most for the call under way.
  // Idempotent.
  void Stop() { worker_.Stop(); }

  // The reports that there shall be, as ReportsOf gives them, in objects of these kinds; nothing:
  // the cluster has none. Never blocks.
  void Keep(std::optional<ReportKinds> kinds, std::map<std::string, std::string> reports);

  // truce_policy_reports_total{outcome="written|deleted|failed"}
  void WriteMetrics(MetricWriter& writer) const;

  // Waits until what was given last is written or has failed. False: not by `deadline`.
  bool Flush(Deadline deadline) { return worker_.Settle(deadline); }

 private:
  struct Wanted {
    std::optional<ReportKinds> kinds;
    std::map<std::string, std::string> reports;

    bool operator==(const Wanted&) const = default;
  };

  Worker::Rest Turn();
  // False: something failed that may work later.
  bool Round(const Wanted& wanted);
  bool FindOwn(const ReportKinds& kinds);
  std::optional<ApiError> Write(const ReportKinds& kinds, const std::string& ns,
                                const std::string& report);
  void Trouble(const std::string& message);

  ClusterApi& api_;
  const Options options_;

  Guarded<Wanted> wanted_;

  // Of the thread.
  std::optional<ReportKinds> kinds_;            // that `written_` is about
  std::map<std::string, std::string> written_;  // empty text: there is one, of a former run
  bool is_in_trouble_ = false;

  std::atomic<std::uint64_t> written_count_{0};
  std::atomic<std::uint64_t> deleted_count_{0};
  std::atomic<std::uint64_t> failed_count_{0};
  Worker worker_{[this] { return Turn(); }};
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_FINDINGS_REPORTS_REPORT_KEEPER_H_
