// How much of the heap is in use, for tests of what something costs.
#ifndef TRUCE_TESTS_SUPPORT_BYTES_IN_USE_H_
#define TRUCE_TESTS_SUPPORT_BYTES_IN_USE_H_

#include <malloc.h>

#include <cstddef>

namespace truce::testing {

// A sanitizer's allocator counts elsewhere: there it measures nothing.
inline std::size_t BytesInUse() {
  const struct mallinfo2 now = mallinfo2();
  return now.uordblks + now.hblkhd;
}

}  // namespace truce::testing

#endif  // TRUCE_TESTS_SUPPORT_BYTES_IN_USE_H_
