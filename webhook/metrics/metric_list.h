// Every metric of the program, by name: the one place that says what each counts. The writer of a
// family names it, and `truce reference` prints the list.
#ifndef TRUCE_WEBHOOK_METRICS_METRIC_LIST_H_
#define TRUCE_WEBHOOK_METRICS_METRIC_LIST_H_

#include <span>
#include <string_view>

namespace truce {

struct MetricInfo {
  std::string_view name;
  std::string_view type;    // counter, gauge or histogram
  std::string_view labels;  // their names, for people: "rule, mode"
  std::string_view help;    // one line
};

// Sorted by name.
std::span<const MetricInfo> MetricList();

// The row of `name`, which must be there.
const MetricInfo& MetricOf(std::string_view name);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_METRICS_METRIC_LIST_H_
