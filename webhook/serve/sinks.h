// Sinks of the reports about reviews: one log line and the counters.
#ifndef TRUCE_WEBHOOK_SERVE_SINKS_H_
#define TRUCE_WEBHOOK_SERVE_SINKS_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "policies/policy.h"
#include "policies/review_record.h"
#include "registry/base/guarded.h"
#include "webhook/findings/watched_cluster.h"
#include "webhook/log/log.h"
#include "webhook/metrics/metrics.h"
#include "webhook/watch/review_inbox.h"

namespace truce {

// One structured line per review; of the same refusal to a composite controller the first three and
// then each doubling, with their number. Thread-safe.
class LogSink final : public ReviewSink {
 public:
  explicit LogSink(Logger& logger) : logger_(logger) {}
  void OnReview(const ReviewRecord& record) override;

 private:
  Logger& logger_;
};

// Counts reviews, causes of unknown verdicts and findings; and denials, but of dry runs, by the
// namespace of the refused object. Thread-safe.
class ReviewMetrics final : public ReviewSink {
 public:
  // Further namespaces count as "other": whoever may create namespaces makes no series without end.
  static constexpr std::size_t kNamespacesMax = 200;

  explicit ReviewMetrics(Metrics& metrics) : metrics_(metrics) {}
  void OnReview(const ReviewRecord& record) override;
  // How many reviews were answered, of whatever verdict.
  std::uint64_t count() const { return count_.load(std::memory_order_relaxed); }
  // truce_denials_total{object_namespace}; empty: of what has no namespace.
  void WriteMetrics(MetricWriter& writer) const;

 private:
  Metrics& metrics_;
  std::atomic<std::uint64_t> count_{0};
  Guarded<std::map<std::string, std::uint64_t, std::less<>>> denials_;
};

// Tells of what composite controllers ask to delete; not of dry runs, and not of what Truce refuses
// itself. Thread-safe, as `policy` and `tell` must be.
class DeletionSink final : public ReviewSink {
 public:
  DeletionSink(const InForce<AdmissionPolicy>& policy, std::function<void(const Slot&)> tell)
      : policy_(policy), tell_(std::move(tell)) {}
  void OnReview(const ReviewRecord& record) override;

 private:
  const InForce<AdmissionPolicy>& policy_;
  const std::function<void(const Slot&)> tell_;
};

// Tells of service accounts that no setting names and that did what only a provider does: which
// one, and to which object. Thread-safe.
class ProviderActSink final : public ReviewSink {
 public:
  ProviderActSink(const InForce<AdmissionPolicy>& policy,
                  std::function<void(const ProviderAct&)> tell)
      : policy_(policy), tell_(std::move(tell)) {}
  void OnReview(const ReviewRecord& record) override;

 private:
  const InForce<AdmissionPolicy>& policy_;
  const std::function<void(const ProviderAct&)> tell_;
};

// Tells the watch what reviews say of the cluster: kinds that have declarations now, reservations
// whose proof is due, objects that may be created without us. Thread-safe.
class WatchSink final : public ReviewSink {
 public:
  // `wake` is called when something was put into `inbox`; it must not block.
  WatchSink(ReviewInbox& inbox, std::string cluster, std::function<void()> wake)
      : inbox_(inbox), cluster_(std::move(cluster)), wake_(std::move(wake)) {}
  void OnReview(const ReviewRecord& record) override;

 private:
  ReviewInbox& inbox_;
  const std::string cluster_;
  const std::function<void()> wake_;
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_SERVE_SINKS_H_
