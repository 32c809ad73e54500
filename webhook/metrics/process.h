// What the kernel knows about this process, as metrics.
#ifndef TRUCE_WEBHOOK_METRICS_PROCESS_H_
#define TRUCE_WEBHOOK_METRICS_PROCESS_H_

#include "webhook/metrics/metrics.h"

namespace truce {

// Writes process_* gauges from /proc/self; leaves out what cannot be read.
void WriteProcessMetrics(MetricWriter& writer);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_METRICS_PROCESS_H_
