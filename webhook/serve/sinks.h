// What becomes of the reports about reviews: one log line and the counters.
#ifndef TRUCE_WEBHOOK_SERVE_SINKS_H_
#define TRUCE_WEBHOOK_SERVE_SINKS_H_

#include "webhook/admission/sink.h"
#include "webhook/log/log.h"
#include "webhook/metrics/metrics.h"

namespace truce {

// One structured line per review. Thread-safe.
class LogSink final : public ReviewSink {
 public:
  explicit LogSink(Logger& logger) : logger_(logger) {}
  void OnReview(const ReviewRecord& record) noexcept override;

 private:
  Logger& logger_;
};

// Counts reviews, causes of unknown verdicts and findings. Thread-safe.
class MetricsSink final : public ReviewSink {
 public:
  explicit MetricsSink(Metrics& metrics) : metrics_(metrics) {}
  void OnReview(const ReviewRecord& record) noexcept override;

 private:
  Metrics& metrics_;
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_SERVE_SINKS_H_
