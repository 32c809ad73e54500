// CPU time of the calling thread: what else runs on the machine does not count.
#ifndef TRUCE_TESTS_SUPPORT_CPU_TIME_H_
#define TRUCE_TESTS_SUPPORT_CPU_TIME_H_

#include <ctime>

namespace truce::testing {

inline double CpuSeconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

}  // namespace truce::testing

#endif  // TRUCE_TESTS_SUPPORT_CPU_TIME_H_
