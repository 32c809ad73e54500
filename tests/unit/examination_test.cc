// What `truce doctor` tells of a server itself.
#include "webhook/api/examination.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/support/fake_clock.h"
#include "tests/support/memory_store.h"

namespace truce {
namespace examination_test {

class ExaminationTest : public ::testing::Test {
 protected:
  std::vector<Checkup> Named(const std::string& name) {
    std::vector<Checkup> found =
        ExamineInstallation(server_, std::chrono::steady_clock::now() + std::chrono::seconds(1));
    std::erase_if(found, [&](const Checkup& each) { return each.name != name; });
    return found;
  }

  FakeClock clock_{Timestamp{}};
  MemoryStore store_;
  Health health_;
  ExaminedServer server_{store_, health_, clock_, clock_.Now() + std::chrono::hours(24 * 90)};
};

TEST_F(ExaminationTest, WarnsOfServersThatRenewOneSecret) {
  EXPECT_TRUE(Named("keepers").empty());
  server_.has_two_keepers = true;
  const auto warned = Named("keepers");
  ASSERT_EQ(warned.size(), 1U);
  EXPECT_EQ(warned[0].state, Checkup::State::kWarning);
  EXPECT_EQ(warned[0].what, kTwoKeepers);
  EXPECT_EQ(warned[0].remedy, kOneKeeper);
}

TEST_F(ExaminationTest, WarnsOfWhateverSuspendsRefusals) {
  server_.mode = Mode::kAudit;
  ASSERT_EQ(Named("refusals").size(), 1U);
  EXPECT_EQ(Named("refusals")[0].state, Checkup::State::kOk);
  EXPECT_EQ(Named("refusals")[0].what, "nothing suspends them; the mode is audit");
  server_.suspensions = {{SuspensionCause::kOverride, "an override", "incident", "end it"}};
  ASSERT_EQ(Named("refusals").size(), 1U);
  EXPECT_EQ(Named("refusals")[0].state, Checkup::State::kWarning);
  EXPECT_EQ(Named("refusals")[0].what, "an override; because: incident");
}

TEST_F(ExaminationTest, AServerWithoutAClusterSaysSo) {
  const auto told = Named("cluster");
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told[0].state, Checkup::State::kWarning);
}

TEST_F(ExaminationTest, ACertificateIsToldBeforeItEnds) {
  EXPECT_EQ(Named("certificate")[0].state, Checkup::State::kOk);
  clock_.Advance(std::chrono::hours(24 * 89));
  EXPECT_EQ(Named("certificate")[0].state, Checkup::State::kWarning);
  clock_.Advance(std::chrono::hours(24 * 2));
  EXPECT_EQ(Named("certificate")[0].state, Checkup::State::kFailed);
}

}  // namespace examination_test
}  // namespace truce
