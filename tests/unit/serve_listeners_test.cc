// How the files that a process may open are shared out among the listeners.
#include "webhook/serve/listeners.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>

namespace truce {
namespace serve_listeners_test {

TEST(ConnectionShares, LeaveFilesForEverythingElse) {
  struct Row {
    std::size_t open_files;
    std::int64_t wanted;
    int admission;
    int other;
  };
  for (const Row& row : {Row{1'073'741'816, 1024, 1024, 64},
                         {SIZE_MAX, 65'536, 65'536, 64},
                         {65'536, 65'536, 63'488, 64},
                         {4096, 1024, 1024, 64},
                         {1024, 1024, 512, 32},
                         {1024, 100, 100, 32},
                         {256, 1024, 128, 8},
                         {20, 1024, 16, 8}}) {
    const ConnectionShares shares = SharesOf(row.open_files, row.wanted);
    EXPECT_EQ(shares.admission, row.admission) << row.open_files;
    EXPECT_EQ(shares.other, row.other) << row.open_files;
  }
}

}  // namespace serve_listeners_test
}  // namespace truce
