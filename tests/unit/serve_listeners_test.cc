// How the files that a process may open are shared out among the listeners.
#include "webhook/serve/listeners.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

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

TEST(Readiness, SaysWhatTheServerLacksAndWithVerboseWhatSuspendsRefusals) {
  Health health;
  health.SetReady("store");
  std::string lacks;
  const auto ask = [&](std::vector<std::pair<std::string, std::string>> query) {
    for (const HttpRoute& route :
         ProbeRoutes({health, [] { return "recovery mode"; }, [&] { return lacks; }})) {
      if (route.path != "/readyz") continue;
      HttpRequest request;
      request.query = std::move(query);
      return *route.handler(request);
    }
    return HttpResponse{};
  };
  EXPECT_EQ(ask({}).body, "[+] store: ok\n");
  const HttpResponse verbose = ask({{"verbose", ""}});
  EXPECT_EQ(verbose.status, 200) << "it makes nobody unready";
  EXPECT_EQ(verbose.body, "[+] store: ok\n[i] refusals: recovery mode\n");
  lacks = "the volume is full";
  EXPECT_EQ(ask({}).status, 200);
  EXPECT_EQ(ask({}).body, "[+] store: ok\n[!] store: the volume is full\n");
}

}  // namespace serve_listeners_test
}  // namespace truce
