#include "webhook/metrics/metrics.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "registry/base/assert.h"
#include "webhook/metrics/metric_list.h"

namespace truce {
namespace {

// A label's value, escaped.
void AppendEscaped(std::string& out, std::string_view text) {
  for (const char c : text) {
    if (c == '\\') {
      out += "\\\\";
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '"') {
      out += "\\\"";
    } else {
      out += c;
    }
  }
}

void AppendNumber(std::string& out, double value) {
  if (std::isinf(value)) {
    out += value > 0 ? "+Inf" : "-Inf";
    return;
  }
  std::array<char, 32> text{};
  const bool is_long = value != 0 && (std::abs(value) < 1e-9 || std::abs(value) >= 1e18);
  const auto format = is_long ? std::chars_format::scientific : std::chars_format::fixed;
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value, format).ptr;
  out.append(text.data(), static_cast<std::size_t>(end - text.data()));
}

double Seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

// process_*, from the kernel; unreadable values are left out.
void WriteProcessMetrics(MetricWriter& writer) {
  rusage usage{};
  if (::getrusage(RUSAGE_SELF, &usage) == 0) {
    writer.Family("process_cpu_seconds_total");
    writer.Sample(Seconds(usage.ru_utime) + Seconds(usage.ru_stime));
  }
  // Second field of statm: resident pages.
  FILE* statm = std::fopen("/proc/self/statm", "re");
  if (statm == nullptr) return;
  unsigned long total_pages = 0;
  unsigned long resident_pages = 0;
  const int read_count = std::fscanf(statm, "%lu %lu", &total_pages, &resident_pages);
  std::fclose(statm);
  if (read_count != 2) return;
  writer.Family("process_resident_memory_bytes");
  writer.Sample(static_cast<double>(resident_pages) * static_cast<double>(::sysconf(_SC_PAGESIZE)));
}

}  // namespace

void MetricWriter::Family(std::string_view name) {
  family_ = name;
  const MetricInfo& info = MetricOf(name);
  out_.append("# HELP ").append(name).append(" ").append(info.help);
  out_.append("\n# TYPE ").append(name).append(" ").append(info.type).append("\n");
}

void MetricWriter::Sample(Labels labels, double value, std::string_view suffix) {
  out_.append(family_).append(suffix);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    out_.append(i == 0 ? "{" : ",").append(labels[i].first).append("=\"");
    AppendEscaped(out_, labels[i].second);
    out_ += '"';
  }
  out_.append(labels.empty() ? " " : "} ");
  AppendNumber(out_, value);
  out_ += '\n';
}

void Counter::Add(std::uint64_t count) { value_.fetch_add(count, std::memory_order_relaxed); }

template <typename Series>
MetricFamily<Series>::MetricFamily(std::string_view name, std::vector<MetricLabel> labels)
    : name_(name), labels_(std::move(labels)) {
  std::size_t count = 1;
  for (const MetricLabel& label : labels_) {
    TRUCE_ASSERT(!label.values.empty());
    count *= label.values.size();
  }
  series_.resize(count);
}

template <typename Series>
std::size_t MetricFamily<Series>::IndexOf(std::initializer_list<std::string_view> values) const {
  std::size_t index = 0;
  std::size_t position = 0;
  for (const std::string_view value : values) {
    if (position == labels_.size()) break;
    const auto& known = labels_[position++].values;
    const auto found = std::find(known.begin(), known.end(), value);
    const auto offset =
        found == known.end() ? known.size() - 1 : static_cast<std::size_t>(found - known.begin());
    index = index * known.size() + offset;
  }
  return position == labels_.size() && values.size() == position ? index : series_.size() - 1;
}

template <typename Series>
Series& MetricFamily<Series>::At(std::initializer_list<std::string_view> values) {
  return series_[IndexOf(values)];
}

template <typename Series>
const Series& MetricFamily<Series>::At(std::initializer_list<std::string_view> values) const {
  return series_[IndexOf(values)];
}

template <typename Series>
void MetricFamily<Series>::Write(MetricWriter& writer) const {
  writer.Family(name_);
  for (std::size_t i = 0; i < series_.size(); ++i) {
    std::vector<std::pair<std::string_view, std::string_view>> labels(labels_.size());
    std::size_t rest = i;
    for (std::size_t l = labels_.size(); l-- > 0;) {
      const auto& values = labels_[l].values;
      labels[l] = {labels_[l].name, values[rest % values.size()]};
      rest /= values.size();
    }
    writer.Sample(labels, static_cast<double>(series_[i].value()));
  }
}

template class MetricFamily<Counter>;
template class MetricFamily<Gauge>;

void Histogram::Observe(std::int64_t nanoseconds) {
  const auto positive = static_cast<std::uint64_t>(std::max<std::int64_t>(nanoseconds, 0));
  const double seconds = static_cast<double>(positive) / 1e9;
  std::size_t bucket = 0;
  while (bucket < kBoundsSeconds.size() && seconds > kBoundsSeconds[bucket]) ++bucket;
  buckets_[bucket].fetch_add(1, std::memory_order_relaxed);
  sum_nanoseconds_.fetch_add(positive, std::memory_order_relaxed);
}

void Histogram::Write(MetricWriter& writer) const {
  writer.Family(name_);
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < buckets_.size(); ++i) {
    total += buckets_[i].load(std::memory_order_relaxed);
    std::string bound;
    AppendNumber(bound, i < kBoundsSeconds.size() ? kBoundsSeconds[i] : INFINITY);
    const std::array<std::pair<std::string_view, std::string_view>, 1> labels = {
        std::pair<std::string_view, std::string_view>{"le", bound}};
    writer.Sample(labels, static_cast<double>(total), "_bucket");
  }
  const auto sum = sum_nanoseconds_.load(std::memory_order_relaxed);
  writer.Sample({}, static_cast<double>(sum) / 1e9, "_sum");
  writer.Sample({}, static_cast<double>(total), "_count");
}

Metrics::Metrics(const Options& options)
    : version_(options.version),
      reviews_("truce_admission_reviews_total",
               {{"operation", {"CREATE", "UPDATE", "DELETE", "CONNECT", "none"}},
                {"verdict", {"allowed", "denied", "answered", "unknown", "bad_request"}}}),
      unknown_("truce_unknown_total", {{"cause", {kUnknownCauses.begin(), kUnknownCauses.end()}}}),
      review_seconds_("truce_admission_seconds"),
      findings_(
          "truce_admission_findings_total",
          {{"rule", options.rules.empty() ? std::vector<std::string_view>{"other"} : options.rules},
           {"mode", {"audit", "warn", "enforce"}}}),
      conflicts_("truce_conflicts", {}),
      ownerships_("truce_ownerships", {{"state", {"reserved", "held", "orphaned", "imported"}}}) {}

void Metrics::CountReview(std::string_view operation, std::string_view verdict,
                          std::int64_t nanoseconds) {
  reviews_.At({operation, verdict}).Add();
  review_seconds_.Observe(nanoseconds);
}

void Metrics::CountUnknown(std::string_view cause, std::uint64_t count) {
  unknown_.At({cause}).Add(count);
}

void Metrics::CountFinding(std::string_view rule, std::string_view mode) {
  findings_.At({rule, mode}).Add();
}

void Metrics::SetConflicts(std::int64_t count) { conflicts_.At({}).Set(count); }

void Metrics::SetOwnerships(std::string_view state, std::int64_t count) {
  ownerships_.At({state}).Set(count);
}

void Metrics::AddCollector(Collector collect) {
  collectors_.With([&](auto& collectors) { collectors.push_back(std::move(collect)); });
}

void Metrics::RemoveCollectors() {
  collectors_.With([](auto& collectors) { collectors.clear(); });
}

std::string Metrics::Render() const {
  MetricWriter writer;
  writer.Family("truce_build_info");
  const std::array<std::pair<std::string_view, std::string_view>, 1> version = {
      std::pair<std::string_view, std::string_view>{"version", version_}};
  writer.Sample(version, 1);
  reviews_.Write(writer);
  unknown_.Write(writer);
  review_seconds_.Write(writer);
  findings_.Write(writer);
  conflicts_.Write(writer);
  ownerships_.Write(writer);
  WriteProcessMetrics(writer);
  collectors_.With([&](const auto& collectors) {
    for (const Collector& collect : collectors) collect(writer);
  });
  return std::move(writer).Take();
}

}  // namespace truce
