// Core dumps: none of a process that holds secrets.
#ifndef TRUCE_REGISTRY_BASE_CORE_DUMPS_H_
#define TRUCE_REGISTRY_BASE_CORE_DUMPS_H_

namespace truce {

// From now on a crash leaves no image of the memory, and no other process of the same user may read
// it (/proc/PID/mem, ptrace). Best effort: nothing that fails here would be a reason not to run.
void ForbidCoreDumps();

}  // namespace truce

#endif  // TRUCE_REGISTRY_BASE_CORE_DUMPS_H_
