// How many files and sockets the process may have open: RLIMIT_NOFILE.
#ifndef TRUCE_REGISTRY_BASE_OPEN_FILES_H_
#define TRUCE_REGISTRY_BASE_OPEN_FILES_H_

#include <cstddef>

namespace truce {

// The limit in force, after the soft limit was raised to the hard one, as far as the system lets.
// The soft one is often 1,024, which is for programs that still call select(2).
std::size_t RaiseOpenFilesMax();

}  // namespace truce

#endif  // TRUCE_REGISTRY_BASE_OPEN_FILES_H_
