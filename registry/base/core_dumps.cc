#include "registry/base/core_dumps.h"

#include <sys/prctl.h>
#include <sys/resource.h>

namespace truce {

void ForbidCoreDumps() {
  // The limit as well: where dumps go to a program, the flag alone is not asked everywhere.
  const rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);
  prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

}  // namespace truce
