// Two servers of one cluster: whichever is asked, the answer is the leader's, and what reviews say
// at the other one reaches it.
#include "webhook/api/shared_cluster.h"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/fake_clock.h"
#include "tests/support/fake_cluster_reports.h"
#include "tests/support/faulty_store.h"
#include "tests/support/memory_store.h"

namespace truce {
namespace shared_cluster_test {

Timestamp Noon() { return *ParseTimestamp("2026-11-25T12:00:00Z"); }
Deadline Soon() { return In(std::chrono::seconds(20)); }

// A server, but for what it watches, which the test says.
struct Server final : WatchingServer {
  Server(Store& registry, const Clock& time, Logger& logger)
      : mutes(registry, time),
        store(registry),
        shared({registry, time, logger, policy, "prod", reviews, mutes, watched, *this}) {}

  Store* LeadingStore() const override { return leads ? &store : nullptr; }
  void TakeUp(const ReviewNews& news) override { taken.Add(news); }
  WatchReports Gather() override { return gathered; }
  Result<NameReport> NamesIn(std::vector<FollowedKind> kinds) override {
    surveyed = std::move(kinds);
    return NameReport{};
  }

  bool leads = false;
  FakeClusterReports watched{Noon()};
  MuteBook mutes;
  const InForce<AdmissionPolicy> policy{std::make_shared<const AdmissionPolicy>()};
  ReviewInbox reviews;
  Store& store;
  ReviewNews taken;
  WatchReports gathered;
  std::vector<FollowedKind> surveyed;
  SharedCluster shared;
};

class SharedClusterTest : public ::testing::Test {
 protected:
  SharedClusterTest() {
    leader_.leads = true;
    LiveFinding finding;
    finding.detector = Detector::kTagWar;
    finding.subject = "a";
    finding.mode = Mode::kEnforce;
    finding.id = FindingId(finding.detector, finding.subject);
    finding.last_seen = finding.first_seen;
    WatchReports& reports = leader_.gathered;
    reports.findings = {finding};
    reports.coverage.kinds = 7;
    reports.wars = {{.key = {"k"}, .writes = 3}};
    reports.brake.held_back = 4;
    leader_.watched.brake.held_back = 4;
    reports.watched.complete = true;
    reports.watched.kinds = 7;
    FollowedKind kind;
    kind.selection.kind.kind = "Bucket";
    reports.inhabited = {kind};
    reports.looked = true;
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
    while (!is_done.load()) leader_.shared.Step();
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

TEST_F(SharedClusterTest, BothTellWhatTheLeaderWatches) {
  EXPECT_TRUE(other_.shared.Findings().empty());
  EXPECT_EQ(other_.shared.AsOf(), Timestamp{}) << "nobody told yet";
  leader_.shared.Step();
  for (Server* server : {&leader_, &other_}) {
    SharedCluster& answers = server->shared;
    EXPECT_EQ(answers.Findings(), leader_.gathered.findings);
    EXPECT_EQ(answers.Coverage(), leader_.gathered.coverage);
    EXPECT_EQ(answers.Wars(), leader_.gathered.wars);
    EXPECT_EQ(answers.Brake().value().held_back, 4U);
    EXPECT_EQ(answers.AsOf(), std::nullopt);
  }
  const BaselineReport baseline = other_.shared.Baseline().value();
  EXPECT_EQ(baseline.cluster, "prod");
  EXPECT_TRUE(baseline.complete);
  EXPECT_EQ(baseline.kinds, 7U);
  EXPECT_EQ(baseline.at, clock_.Now());
  EXPECT_EQ(baseline.wars, leader_.gathered.wars);
  EXPECT_EQ(baseline.findings.at(Severity::kCritical), 1U);
  EXPECT_TRUE(other_.shared.Names().ok());
  ASSERT_EQ(other_.surveyed.size(), 1U) << "it lists the cluster itself";
  EXPECT_EQ(other_.surveyed.front().selection.kind.kind, "Bucket");
}

TEST_F(SharedClusterTest, OldReportsSayOfWhenTheyAre) {
  leader_.shared.Step();
  const Timestamp told = clock_.Now();
  clock_.Advance(kReportsFresh);
  EXPECT_EQ(other_.shared.AsOf(), std::nullopt);
  clock_.Advance(std::chrono::seconds(1));
  EXPECT_EQ(other_.shared.AsOf(), told);
  EXPECT_EQ(other_.shared.Findings().size(), 1U) << "better old than none";
}

// Reports that people wait for are no older than the question, at the leader.
TEST_F(SharedClusterTest, ALeaderTellsCoverageBaselineAndNamesAsTheyAreNow) {
  leader_.shared.Step();
  leader_.gathered.coverage.kinds = 9;
  EXPECT_EQ(leader_.shared.Coverage().kinds, 9U);
  leader_.gathered.watched.kinds = 10;
  EXPECT_EQ(leader_.shared.Baseline().value().kinds, 10U);
  leader_.gathered.inhabited.emplace_back().selection.kind.kind = "Queue";
  EXPECT_TRUE(leader_.shared.Names().ok());
  EXPECT_EQ(leader_.surveyed.size(), 2U);
  EXPECT_EQ(other_.shared.Coverage().kinds, 9U);
}

// Its own watch is not whole yet.
TEST_F(SharedClusterTest, ANewLeaderKeepsTheReportsOfTheFormerOneUntilItHasLooked) {
  leader_.shared.Step();
  leader_.leads = false;
  other_.leads = true;
  other_.shared.Step();
  EXPECT_EQ(other_.shared.Findings(), leader_.gathered.findings);
  EXPECT_EQ(other_.shared.AsOf(), std::nullopt);
  other_.gathered.looked = true;
  other_.shared.Step();
  EXPECT_TRUE(other_.shared.Findings().empty());
  EXPECT_TRUE(leader_.shared.Findings().empty());
}

// It has nobody before it.
TEST_F(SharedClusterTest, TheFirstLeaderEverTellsWhatItSeesAtOnce) {
  leader_.gathered.looked = false;
  leader_.shared.Step();
  EXPECT_EQ(other_.shared.Findings(), leader_.gathered.findings);
  EXPECT_EQ(other_.shared.AsOf(), std::nullopt);
}

TEST_F(SharedClusterTest, ReportsOutliveARestart) {
  leader_.shared.Step();
  const Server next(store_, clock_, logger_);
  EXPECT_EQ(next.shared.Findings(), leader_.gathered.findings);
  EXPECT_EQ(next.shared.Coverage(), leader_.gathered.coverage);
}

TEST_F(SharedClusterTest, WhatWasReadStaysWhileTheStoreDoesNotAnswer) {
  leader_.shared.Step();
  EXPECT_EQ(other_.shared.Findings().size(), 1U);
  faulty_.FailNextRead({ErrorCode::kUnavailable, "away"});
  EXPECT_EQ(other_.shared.Findings().size(), 1U);
}

TEST_F(SharedClusterTest, WhatReviewsSayReachesTheLeaderOnce) {
  other_.reviews.Admitted({"s3.aws.upbound.io", "Bucket"});
  other_.shared.box().CheckAdmitted({"uid-1"});
  other_.shared.box().DeletionAsked({"prod", "g", "Claim", "team-a", "x"});
  faulty_.FailNextApply({ErrorCode::kUnavailable, "away"});
  other_.shared.Step();
  leader_.shared.Step();
  EXPECT_TRUE(leader_.taken.empty());
  other_.shared.Step();
  leader_.shared.Step();
  EXPECT_EQ(leader_.taken.reviews.admitted.size(), 1U);
  EXPECT_EQ(leader_.taken.checks, std::set<Uid>{{"uid-1"}});
  EXPECT_EQ(leader_.taken.deletions.size(), 1U);
  leader_.taken = {};
  other_.shared.Step();
  leader_.shared.Step();
  EXPECT_TRUE(leader_.taken.empty());
  EXPECT_TRUE(other_.taken.empty());
}

// The inbox of the one that leads is its own watch's.
TEST_F(SharedClusterTest, WhoBecomesTheLeaderTakesUpItsOwnNews) {
  other_.shared.box().CheckAdmitted({"uid-1"});
  other_.reviews.Admitted({"s3.aws.upbound.io", "Bucket"});
  leader_.leads = false;
  other_.leads = true;
  other_.shared.Step();
  EXPECT_EQ(other_.taken.checks, std::set<Uid>{{"uid-1"}});
  EXPECT_EQ(other_.reviews.Take().admitted.size(), 1U);
}

TEST_F(SharedClusterTest, OrdersAreCarriedOutByTheLeader) {
  const GroupKind kind{"s3.aws.upbound.io", "Bucket"};
  const auto released = AskWhileTheLeaderGoesOn<Result<std::uint64_t>>([&] {
    return other_.shared.ReleaseBrake(kind, {"alice", "looked"});
  });
  ASSERT_TRUE(released->ok()) << released->error().message;
  EXPECT_EQ(released->value(), 11U);
  EXPECT_EQ(leader_.watched.released, kind);
  EXPECT_EQ(leader_.watched.actor, "alice");
  EXPECT_EQ(other_.watched.actor, "");
  const auto begun = AskWhileTheLeaderGoesOn<Result<RecoveryView>>([&] {
    return other_.shared.StartRecovery({"bob", "restored"});
  });
  EXPECT_TRUE(begun->ok());
  EXPECT_EQ(leader_.watched.recovery.reason, "restored");
  leader_.watched.refusal = Error{ErrorCode::kNotFound, "no such kind is followed"};
  const auto refused = AskWhileTheLeaderGoesOn<Result<std::uint64_t>>([&] {
    return other_.shared.ReleaseBrake(kind, {"alice", "looked"});
  });
  ASSERT_FALSE(refused->ok());
  EXPECT_EQ(refused->error(), *leader_.watched.refusal);
}

TEST_F(SharedClusterTest, AServerThatEndsLetsNobodyWait) {
  other_.shared.Stop();
  const auto released = other_.shared.ReleaseBrake(std::nullopt, {"alice", "looked"});
  ASSERT_FALSE(released.ok());
  EXPECT_EQ(released.error().code, ErrorCode::kUnavailable);
}

TEST_F(SharedClusterTest, AMuteHoldsAtBoth) {
  Mute mute = MuteOf(leader_.gathered.findings.front());
  mute.until = clock_.Now() + std::chrono::hours(1);
  mute.reason = "known";
  mute.by = "alice";
  ASSERT_TRUE(leader_.mutes.Add(mute, Soon()).ok());
  EXPECT_FALSE(other_.mutes.Hides(leader_.gathered.findings.front()));
  other_.shared.Step();
  EXPECT_TRUE(other_.mutes.Hides(leader_.gathered.findings.front()));
}

}  // namespace shared_cluster_test
}  // namespace truce
