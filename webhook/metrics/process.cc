#include "webhook/metrics/process.h"

#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>

namespace truce {
namespace {

double Seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

}  // namespace

void WriteProcessMetrics(MetricWriter& writer) {
  rusage usage{};
  if (::getrusage(RUSAGE_SELF, &usage) == 0) {
    writer.Family("process_cpu_seconds_total", "counter", "CPU time used, in seconds.");
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
  writer.Family("process_resident_memory_bytes", "gauge", "Resident memory, in bytes.");
  writer.Sample(static_cast<double>(resident_pages) * static_cast<double>(::sysconf(_SC_PAGESIZE)));
}

}  // namespace truce
