// Two servers of one cluster: whichever is asked, the answer is the leader's, and what reviews say
// at the other one reaches it.
#include "webhook/serve/shared/cluster_answers.h"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "registry/store/memory/memory_store.h"
#include "tests/support/fake_clock.h"
#include "tests/support/fake_cluster_reports.h"
#include "tests/support/faulty_store.h"
#include "webhook/serve/shared/exchange.h"

namespace truce {
namespace cluster_answers_test {

Timestamp Noon() { return *ParseTimestamp("2026-11-25T12:00:00Z"); }
Deadline Soon() { return In(std::chrono::seconds(20)); }

// A server, but for what it watches, which the test says.
struct Server final : LeadingServer, AskedServer {
  Server(Store& registry, const Clock& time, Logger& logger)
      : clock(time),
        mutes(registry, time),
        inbox(time),
        store(registry),
        exchange({registry, time, logger, inbox, reviews, watched, mutes, *this}),
        answers({registry, time, policy, "prod", inbox, watched, watched, *this}) {}

  Store* LeadingStore() override { return leads ? &store : nullptr; }
  void TakeUp(const ReviewNews& news) override { taken.Add(news); }
  std::optional<SharedReports> Gather() override { return gathered; }
  bool AnswersItself() const override { return leads; }
  Result<NameReport> NamesIn(std::vector<FollowedKind> kinds) override {
    surveyed = std::move(kinds);
    return NameReport{};
  }

  const Clock& clock;
  bool leads = false;
  FakeClusterReports watched{Noon()};
  MuteBook mutes;
  const InForce<AdmissionPolicy> policy{std::make_shared<const AdmissionPolicy>()};
  ReviewInbox reviews;
  LeaderInbox inbox;
  Store& store;
  ReviewNews taken;
  std::optional<SharedReports> gathered;
  std::vector<FollowedKind> surveyed;
  Exchange exchange;
  ClusterAnswers answers;
};

class ClusterAnswersTest : public ::testing::Test {
 protected:
  ClusterAnswersTest() {
    leader_.leads = true;
    LiveFinding finding;
    finding.detector = Detector::kTagWar;
    finding.subject = "a";
    finding.mode = Mode::kEnforce;
    finding.id = FindingId(finding.detector, finding.subject);
    leader_.watched.findings = {finding};
    leader_.watched.coverage.kinds = 7;
    leader_.watched.wars = {{.key = {"k"}, .writes = 3}};
    leader_.watched.brake.held_back = 4;
    SharedReports reports;
    reports.findings = leader_.watched.findings;
    reports.coverage = leader_.watched.coverage;
    reports.wars = leader_.watched.wars;
    reports.brake = leader_.watched.brake;
    reports.watched.complete = true;
    reports.watched.kinds = 7;
    FollowedKind kind;
    kind.selection.kind.kind = "Bucket";
    reports.inhabited = {kind};
    leader_.gathered = reports;
  }

  // What a caller at the other server is answered while the leader goes on.
  template <typename Answer>
  std::optional<Answer> AskWhileTheLeaderGoesOn(const std::function<Answer()>& ask) {
    std::optional<Answer> answer;
    std::atomic<bool> is_done{false};
    std::thread asking([&] {
      answer = ask();
      is_done.store(true);
    });
    while (!is_done.load()) leader_.exchange.Step();
    asking.join();
    return answer;
  }

  FakeClock clock_{Noon()};
  SystemClock log_clock_;
  Logger logger_{{}, log_clock_};
  MemoryStore store_;
  testing::FaultyStore faulty_{store_};
  Server leader_{store_, clock_, logger_};
  Server other_{faulty_, clock_, logger_};
};

TEST_F(ClusterAnswersTest, BothTellWhatTheLeaderWatches) {
  EXPECT_TRUE(other_.answers.Findings().empty());
  EXPECT_EQ(other_.answers.AsOf(), Timestamp{}) << "nobody told yet";
  leader_.exchange.Step();
  clock_.Advance(ReportReader::kKept);
  for (Server* server : {&leader_, &other_}) {
    ClusterAnswers& answers = server->answers;
    EXPECT_EQ(answers.Findings(), leader_.watched.findings);
    EXPECT_EQ(answers.Coverage(), leader_.watched.coverage);
    EXPECT_EQ(answers.Wars(), leader_.watched.wars);
    EXPECT_EQ(answers.Brake().value().held_back, 4U);
    EXPECT_EQ(answers.AsOf(), std::nullopt);
  }
  const BaselineReport baseline = other_.answers.Baseline().value();
  EXPECT_EQ(baseline.cluster, "prod");
  EXPECT_TRUE(baseline.complete);
  EXPECT_EQ(baseline.kinds, 7U);
  EXPECT_EQ(baseline.at, clock_.Now());
  EXPECT_EQ(baseline.wars, leader_.watched.wars);
  EXPECT_EQ(baseline.findings.at(Severity::kCritical), 1U);
  EXPECT_TRUE(other_.answers.Names().ok());
  ASSERT_EQ(other_.surveyed.size(), 1U) << "it lists the cluster itself";
  EXPECT_EQ(other_.surveyed.front().selection.kind.kind, "Bucket");
}

TEST_F(ClusterAnswersTest, OldReportsSayOfWhenTheyAre) {
  leader_.exchange.Step();
  const Timestamp told = clock_.Now();
  clock_.Advance(kReportsFresh);
  EXPECT_EQ(other_.answers.AsOf(), std::nullopt);
  clock_.Advance(std::chrono::seconds(1));
  EXPECT_EQ(other_.answers.AsOf(), told);
  EXPECT_EQ(leader_.answers.AsOf(), std::nullopt);
  EXPECT_EQ(other_.answers.Findings().size(), 1U) << "better old than none";
}

// What it watches itself is not whole yet.
TEST_F(ClusterAnswersTest, ANewLeaderTellsWhatTheFormerOneToldUntilItHasLooked) {
  leader_.exchange.Step();
  leader_.leads = false;
  other_.leads = true;
  other_.watched.as_of = Timestamp{};
  EXPECT_EQ(other_.answers.Findings(), leader_.watched.findings);
  EXPECT_EQ(other_.answers.AsOf(), std::nullopt);
  other_.watched.as_of.reset();
  EXPECT_TRUE(other_.answers.Findings().empty());
  // The first one ever has nobody before it.
  MemoryStore empty;
  Server first(empty, clock_, logger_);
  first.leads = true;
  first.watched.as_of = Timestamp{};
  first.watched.findings = leader_.watched.findings;
  EXPECT_EQ(first.answers.Findings().size(), 1U);
  EXPECT_EQ(first.answers.AsOf(), std::nullopt);
}

TEST_F(ClusterAnswersTest, WhatReviewsSayReachesTheLeaderOnce) {
  other_.reviews.Admitted({"s3.aws.upbound.io", "Bucket"});
  other_.exchange.box().CheckAdmitted({"uid-1"});
  other_.exchange.box().DeletionAsked({"prod", "g", "Claim", "team-a", "x"});
  faulty_.FailNextApply({ErrorCode::kUnavailable, "away"});
  other_.exchange.Step();
  leader_.exchange.Step();
  EXPECT_TRUE(leader_.taken.empty());
  other_.exchange.Step();
  leader_.exchange.Step();
  EXPECT_EQ(leader_.taken.reviews.admitted.size(), 1U);
  EXPECT_EQ(leader_.taken.checks, std::set<Uid>{{"uid-1"}});
  EXPECT_EQ(leader_.taken.deletions.size(), 1U);
  leader_.taken = {};
  other_.exchange.Step();
  leader_.exchange.Step();
  EXPECT_TRUE(leader_.taken.empty());
  EXPECT_TRUE(other_.taken.empty());
}

// The inbox of the one that leads is its own watch's.
TEST_F(ClusterAnswersTest, WhoBecomesTheLeaderTakesUpItsOwnNews) {
  other_.exchange.box().CheckAdmitted({"uid-1"});
  other_.reviews.Admitted({"s3.aws.upbound.io", "Bucket"});
  leader_.leads = false;
  other_.leads = true;
  other_.exchange.Step();
  EXPECT_EQ(other_.taken.checks, std::set<Uid>{{"uid-1"}});
  EXPECT_EQ(other_.reviews.Take().admitted.size(), 1U);
}

TEST_F(ClusterAnswersTest, OrdersAreCarriedOutByTheLeader) {
  const GroupKind kind{"s3.aws.upbound.io", "Bucket"};
  const auto released = AskWhileTheLeaderGoesOn<Result<std::uint64_t>>([&] {
    return other_.answers.ReleaseBrake(kind, {"alice", "looked"});
  });
  ASSERT_TRUE(released->ok()) << released->error().message;
  EXPECT_EQ(released->value(), 11U);
  EXPECT_EQ(leader_.watched.released, kind);
  EXPECT_EQ(leader_.watched.actor, "alice");
  EXPECT_EQ(other_.watched.actor, "");
  const auto begun = AskWhileTheLeaderGoesOn<Result<RecoveryView>>([&] {
    return other_.answers.StartRecovery({"bob", "restored"});
  });
  EXPECT_TRUE(begun->ok());
  EXPECT_EQ(leader_.watched.recovery.reason, "restored");
  leader_.watched.refusal = Error{ErrorCode::kNotFound, "no such kind is followed"};
  const auto refused = AskWhileTheLeaderGoesOn<Result<std::uint64_t>>([&] {
    return other_.answers.ReleaseBrake(kind, {"alice", "looked"});
  });
  ASSERT_FALSE(refused->ok());
  EXPECT_EQ(refused->error(), *leader_.watched.refusal);
}

TEST_F(ClusterAnswersTest, AServerThatEndsLetsNobodyWait) {
  other_.exchange.Stop();
  const auto released = other_.answers.ReleaseBrake(std::nullopt, {"alice", "looked"});
  ASSERT_FALSE(released.ok());
  EXPECT_EQ(released.error().code, ErrorCode::kUnavailable);
}

TEST_F(ClusterAnswersTest, AMuteHoldsAtBoth) {
  Mute mute = MuteOf(leader_.watched.findings.front());
  mute.until = clock_.Now() + std::chrono::hours(1);
  mute.reason = "known";
  mute.by = "alice";
  ASSERT_TRUE(leader_.mutes.Add(mute, Soon()).ok());
  EXPECT_FALSE(other_.mutes.Hides(leader_.watched.findings.front()));
  other_.exchange.Step();
  EXPECT_TRUE(other_.mutes.Hides(leader_.watched.findings.front()));
}

}  // namespace cluster_answers_test
}  // namespace truce
