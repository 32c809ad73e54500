// Metrics in Prometheus' text format: closed label sets, no allocation and no lock when counting.
#ifndef TRUCE_WEBHOOK_METRICS_METRICS_H_
#define TRUCE_WEBHOOK_METRICS_METRICS_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "registry/base/guarded.h"

namespace truce {

// Writes families and their samples. External synchronization.
class MetricWriter final {
 public:
  using Labels = std::span<const std::pair<std::string_view, std::string_view>>;

  // Begins a family of the list (metric_list.h).
  void Family(std::string_view name);
  // One sample of the present family; `suffix` is "" or, of histograms, "_bucket", "_sum",
  // "_count".
  void Sample(Labels labels, double value, std::string_view suffix = {});
  void Sample(double value) { Sample({}, value); }

  std::string Take() && { return std::move(out_); }

 private:
  std::string out_;
  std::string family_;
};

// Thread-safe; never blocks.
class Counter final {
 public:
  void Add(std::uint64_t count = 1);
  std::uint64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_{0};
};

// Thread-safe; never blocks.
class Gauge final {
 public:
  void Set(std::int64_t value) { value_.store(value, std::memory_order_relaxed); }
  std::int64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::int64_t> value_{0};
};

// A label and all values that it can have. A value that is not listed counts as the last one, which
// is "other" wherever callers can meet such values: label sets never grow with what users send.
struct MetricLabel {
  std::string_view name;
  std::vector<std::string_view> values;  // at least one
};

// One series per combination of the labels' values, all present from the start.
// Construction first, then thread-safe.
template <typename Series>
class MetricFamily final {
 public:
  MetricFamily(std::string_view name, std::vector<MetricLabel> labels);

  // The series of these values, in the order of the labels.
  Series& At(std::initializer_list<std::string_view> values);
  const Series& At(std::initializer_list<std::string_view> values) const;
  void Write(MetricWriter& writer) const;

 private:
  std::size_t IndexOf(std::initializer_list<std::string_view> values) const;

  std::string_view name_;
  std::vector<MetricLabel> labels_;
  std::deque<Series> series_;
};

extern template class MetricFamily<Counter>;
extern template class MetricFamily<Gauge>;

// Durations in fixed buckets from 100 µs to 10 s. Thread-safe; never blocks. The sum is kept in
// nanoseconds, exact for 292 years of busy time.
class Histogram final {
 public:
  static constexpr std::array<double, 15> kBoundsSeconds = {
      0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10};

  explicit Histogram(std::string_view name) : name_(name) {}
  void Observe(std::int64_t nanoseconds);
  void Write(MetricWriter& writer) const;

 private:
  std::string_view name_;
  std::array<std::atomic<std::uint64_t>, kBoundsSeconds.size() + 1> buckets_{};
  std::atomic<std::uint64_t> sum_nanoseconds_{0};
};

// Every metric of the program. Thread-safe.
class Metrics final {
 public:
  struct Options {
    std::string_view version;
    std::vector<std::string_view> rules;  // ids of the rules that can have findings
  };
  // Views in `options` must outlive the metrics.
  explicit Metrics(const Options& options);

  // One answered review. `operation`: CREATE, UPDATE, DELETE, CONNECT, none (no review); `verdict`:
  // allowed, denied, unknown, bad_request.
  void CountReview(std::string_view operation, std::string_view verdict, std::int64_t nanoseconds);
  // Why a verdict was unknown; one of kUnknownCauses, else it counts as "other".
  void CountUnknown(std::string_view cause, std::uint64_t count = 1);
  // One finding; `mode`: audit, warn, enforce.
  void CountFinding(std::string_view rule, std::string_view mode);
  // Resources that two sides have: managing chains, or one beside a record.
  void SetConflicts(std::int64_t count);
  // `state`: reserved, held, orphaned, imported.
  void SetOwnerships(std::string_view state, std::int64_t count);

  // Adds metrics that are read when they are asked for. `collect` may be called from any thread and
  // must not block; it must stay valid until RemoveCollectors().
  using Collector = std::function<void(MetricWriter&)>;
  void AddCollector(Collector collect);
  void RemoveCollectors();

  // The whole exposition, text format 0.0.4.
  std::string Render() const;

  static constexpr std::array<std::string_view, 10> kUnknownCauses = {
      "not_ready", "store_unavailable", "store_full", "store_damaged", "deadline",
      "overload",  "exception",         "internal",   "kind_unlisted", "other"};

 private:
  std::string_view version_;
  MetricFamily<Counter> reviews_;
  MetricFamily<Counter> unknown_;
  Histogram review_seconds_;
  MetricFamily<Counter> findings_;
  MetricFamily<Gauge> conflicts_;
  MetricFamily<Gauge> ownerships_;
  Guarded<std::vector<Collector>> collectors_;
};

// Media type of Render().
inline constexpr std::string_view kMetricsMediaType = "text/plain; version=0.0.4; charset=utf-8";

}  // namespace truce

#endif  // TRUCE_WEBHOOK_METRICS_METRICS_H_
