// Rule reservation-cap behind the webhook.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/admission_fixture.h"

namespace truce {
namespace reservation_cap_test {

class ReservationCap : public AdmissionFixture {};

TEST_F(ReservationCap, TheCapEndsReservationsWithoutObjects) {
  ChangePolicy([](AdmissionPolicy& policy) { policy.limits = {3, 100}; });
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(
        Send(Claim("team-a", "c" + std::to_string(i), "b" + std::to_string(i), "s")).allowed);
  }
  clock_.Advance(std::chrono::seconds(61));
  const Answered answer = Send(Claim("team-a", "c9", "b9", "s"));
  EXPECT_FALSE(answer.allowed);
  EXPECT_EQ(answer.code, 403);
  EXPECT_EQ(sink_.last().findings, (std::vector<std::string>{"reservation-cap enforce"}));
  EXPECT_TRUE(Send(Claim("team-b", "c9", "b9", "s")).allowed);
  ChangePolicy([](AdmissionPolicy& policy) { policy.modes.global = Mode::kAudit; });
  EXPECT_FALSE(Send(Claim("team-a", "c10", "b10", "s")).allowed) << "in every mode";
}

TEST_F(ReservationCap, WhoReachedItStillLearnsWhoseAResourceIs) {
  ChangePolicy([](AdmissionPolicy& policy) { policy.limits = {1, 1}; });
  ASSERT_TRUE(Send(Claim("team-a", "c1", "b1", "s")).allowed);
  ASSERT_TRUE(Send(Claim("team-b", "c2", "b2", "s")).allowed);
  EXPECT_FALSE(Send(Claim("team-a", "c3", "b2", "s")).allowed);
  EXPECT_EQ(sink_.last().findings, (std::vector<std::string>{"duplicate-ownership enforce"}));
  EXPECT_FALSE(Send(Claim("team-a", "c4", "b4", "s")).allowed);
  EXPECT_EQ(sink_.last().findings, (std::vector<std::string>{"reservation-cap enforce"}));
}

// What was answered once is answered again, though the first answer filled the namespace.
TEST_F(ReservationCap, ARepeatedReviewIsAllowedAgain) {
  ChangePolicy([](AdmissionPolicy& policy) { policy.limits = {1, 1}; });
  const Sent claim = Claim("team-a", "c1", "b1", "s");
  ASSERT_TRUE(Send(claim).allowed);
  EXPECT_TRUE(Send(claim).allowed);
}

TEST_F(ReservationCap, WhoIsTrustedIsNeitherLimitedNorCounted) {
  ChangePolicy([](AdmissionPolicy& policy) {
    policy.limits = {2, 2};
    policy.restorers = {"velero"};
  });
  for (int i = 0; i < 4; ++i) {
    Sent sent = Claim("team-a", "c" + std::to_string(i), "b" + std::to_string(i), "s");
    sent.user = "velero";
    ASSERT_TRUE(Send(sent).allowed) << i;
  }
  for (int i = 4; i < 6; ++i) {
    ASSERT_TRUE(
        Send(Claim("team-a", "c" + std::to_string(i), "b" + std::to_string(i), "s")).allowed);
  }
  EXPECT_FALSE(Send(Claim("team-a", "c9", "b9", "s")).allowed);
}

// 15: a kind that may not be listed: nobody is refused for it, nothing of it counts.
TEST_F(ReservationCap, TheCapLeavesOutKindsThatCannotBeRead) {
  ChangePolicy([](AdmissionPolicy& policy) { policy.limits = {3, 100}; });
  const auto claim = [](int i) {
    return Claim("team-a", "c" + std::to_string(i), "b" + std::to_string(i), "s");
  };
  const auto queue = [](int i) {
    Sent sent = Managed("sqs", "Queue", "q" + std::to_string(i), R"({"region":"eu-west-1"})");
    sent.spec.replace(sent.spec.find(R"("region")"), 0,
                      R"("name":"q)" + std::to_string(i) + R"(",)");
    sent.group = "sqs.aws.m.upbound.io";
    sent.ns = "team-a";
    return sent;
  };
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(Send(claim(i)).allowed);
  ASSERT_TRUE(Send(queue(0)).allowed);
  clock_.Advance(std::chrono::seconds(61));
  EXPECT_FALSE(Send(claim(3)).allowed);
  EXPECT_FALSE(Send(queue(1)).allowed);
  ChangePolicy([](AdmissionPolicy& policy) {
    policy.unwatched.insert({"platform.example.org", "ObjectStorage"});
  });
  EXPECT_TRUE(Send(claim(3)).allowed);
  for (int i = 1; i < 3; ++i) ASSERT_TRUE(Send(queue(i)).allowed);
  clock_.Advance(std::chrono::seconds(61));
  EXPECT_FALSE(Send(queue(3)).allowed) << "what is read is counted on";
}

}  // namespace reservation_cap_test
}  // namespace truce
