// Looks at single objects: how many wait for the API server at once.
#include "webhook/admission/live_objects.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <string_view>

#include "tests/support/memory_cluster_api.h"

namespace truce {
namespace live_objects_test {

const Slot kSlot{"local", "s3.aws.upbound.io", "Bucket", "", "artifacts"};

class LiveObjectsTest : public ::testing::Test {
 protected:
  // Whether somebody was asked: there is no such object.
  bool Looks(std::string_view asker) {
    return reader_.Read(asker, std::array{kSlot}, In(std::chrono::seconds(5))).size() == 1;
  }

  MemoryClusterApi api_;
  LiveObjectReader reader_{api_, [](const GroupKind& kind) {
                             return ServedKind{kind.group, "v1beta1", kind.kind, "buckets", false};
                           }};
};

// Each look begins while all before it wait for their answer, as when the API server hangs.
TEST_F(LiveObjectsTest, OneAskerLeavesPlacesToOthersAndAllAreBounded) {
  int waiting = 0;
  std::string asker = "team-a";
  const auto ask_on = [&](std::string_view, std::string_view) -> std::optional<ApiError> {
    ++waiting;
    if (Looks(asker)) return std::nullopt;
    EXPECT_TRUE(asker != "team-a" || waiting == kLooksOfOneAtOnce);
    asker = "team-" + std::to_string(waiting);
    if (waiting < kLooksAtOnce) {
      EXPECT_TRUE(Looks(asker)) << waiting;
    } else {
      EXPECT_FALSE(Looks(asker)) << "past the bound nobody waits";
    }
    return std::nullopt;
  };
  api_.SetFault(ask_on);
  EXPECT_TRUE(Looks(asker));
  EXPECT_EQ(waiting, kLooksAtOnce);
  api_.SetFault({});
  EXPECT_TRUE(Looks("team-a")) << "the places are free again";
}

}  // namespace live_objects_test
}  // namespace truce
