#include "registry/base/priority.h"

#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

namespace truce {
namespace {

constexpr int kBackgroundNice = 10;

}  // namespace

void WorkInBatches() {
  const sched_param none{};
  static_cast<void>(::pthread_setschedparam(::pthread_self(), SCHED_BATCH, &none));
}

// Linux keeps the nice value for each thread, and takes a thread's id for that of a process.
void WorkInBackground() {
  static_cast<void>(::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), kBackgroundNice));
}

}  // namespace truce
