// News reach a webhook once, whatever fails on the way.
#include "webhook/publish/notifier.h"

#include <gtest/gtest.h>

#include <chrono>
#include <deque>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "registry/store/administration.h"
#include "tests/support/fake_clock.h"
#include "tests/support/fake_cluster_reports.h"
#include "tests/support/faulty_store.h"
#include "tests/support/memory_store.h"
#include "tests/support/temporary_folder.h"

namespace truce {
namespace notifier_test {

using std::chrono::hours;
using std::chrono::seconds;

Deadline Soon() { return In(seconds(20)); }

class NotifierTest : public ::testing::Test {
 protected:
  NotifierTest() {
    WriteUrl("https://hooks.example.org/services/secret\n");
    Begin();
  }

  void WriteUrl(const std::string& url) { std::ofstream(url_file_) << url; }

  // A server of the registry, as one that has just started.
  void Begin(NotifyForm form = NotifyForm::kSlack) {
    notifier_.emplace(
        NotifierPorts{store_,
                      clock_,
                      logger_,
                      denials_,
                      &found_,
                      url_file_,
                      {form, "prod", ""},
                      [this](const NotifyUrl& url, const std::string& body, const Clock&) {
                        asked_.push_back(url.target);
                        bodies_.push_back(body);
                        if (answers_.empty()) return Posted{};
                        Posted answer = answers_.front();
                        answers_.pop_front();
                        return answer;
                      }});
    ASSERT_TRUE(notifier_->Reread().ok());
    notifier_->SetLeads(true);
  }

  void Refuse(const std::string& key, const std::string& object = "one") {
    Finding refusal;
    refusal.rule = Rule::kDuplicateOwnership;
    refusal.mode = Mode::kEnforce;
    refusal.key = KeyText{key};
    refusal.cause = key + " is taken.";
    const std::vector<Finding> findings = {refusal};
    ReviewRecord record;
    record.verdict = Verdict::kDenied;
    record.findings = findings;
    record.kind = "Bucket";
    record.name = object;
    record.user = "alice";
    denials_.OnReview(record);
  }

  void Find(const std::string& subject, Mode mode = Mode::kWarn) {
    LiveFinding finding;
    finding.detector = Detector::kTagWar;
    finding.subject = subject;
    finding.mode = mode;
    finding.cause = subject + " is odd.";
    finding.id = FindingId(finding.detector, subject);
    finding.first_seen = clock_.Now();
    found_.findings.push_back(std::move(finding));
  }

  // The messages since the last time, after one look.
  std::vector<std::string> Look() {
    bodies_.clear();
    const Worker::Rest rest = notifier_->Step();
    rest_ = rest.due - std::chrono::steady_clock::now();
    return bodies_;
  }
  // Whether the one message of a look tells of exactly these causes.
  ::testing::AssertionResult Tells(const std::vector<std::string>& subjects) {
    const std::vector<std::string> bodies = Look();
    const std::size_t wanted = subjects.empty() ? 0 : 1;
    if (bodies.size() != wanted) {
      return ::testing::AssertionFailure() << bodies.size() << " messages";
    }
    std::size_t at = 0;
    for (const std::string& subject : subjects) {
      at = bodies[0].find(subject + " is ", at);
      if (at == std::string::npos) return ::testing::AssertionFailure() << bodies[0];
    }
    std::size_t lines = 0;
    for (at = 0;
         (at = bodies.empty() ? std::string::npos : bodies[0].find("•", at)) != std::string::npos;
         ++at) {
      ++lines;
    }
    if (lines != subjects.size()) return ::testing::AssertionFailure() << bodies[0];
    return ::testing::AssertionSuccess();
  }

  double Metric(const std::string& outcome) const {
    MetricWriter writer;
    notifier_->WriteMetrics(writer);
    const std::string text = std::move(writer).Take();
    const std::string series = "truce_notifications_total{outcome=\"" + outcome + "\"} ";
    return std::stod(text.substr(text.find(series) + series.size()));
  }

  TemporaryFolder folder_;
  const std::string url_file_ = (folder_.path() / "url").string();
  FakeClock clock_{*ParseTimestamp("2026-11-29T12:00:00Z")};
  Logger logger_{{}, clock_};
  MemoryStore memory_;
  testing::FaultyStore store_{memory_};
  DenialBook denials_{store_, clock_};
  FakeClusterReports found_{clock_.Now()};
  std::deque<Posted> answers_;
  std::vector<std::string> asked_;   // targets
  std::vector<std::string> bodies_;  // of the last look
  Deadline::duration rest_{};
  std::optional<Notifier> notifier_;
};

TEST_F(NotifierTest, EachIsToldOnceTheGravestFirst) {
  EXPECT_TRUE(Tells({}));
  EXPECT_LE(rest_, Notifier::kEvery);
  Refuse("a");
  Find("b", Mode::kAudit);
  Find("c", Mode::kEnforce);
  EXPECT_TRUE(Tells({"c", "a", "b"}));
  EXPECT_GT(rest_, Notifier::kEvery) << "a burst makes two messages";
  EXPECT_LE(rest_, Notifier::kBetween);
  EXPECT_TRUE(Tells({}));
  clock_.Advance(seconds(60));
  Refuse("a");
  Refuse("d");
  EXPECT_TRUE(Tells({"d"}));
  EXPECT_EQ(Metric("sent"), 4);
  EXPECT_EQ(Metric("dropped"), 0);
  EXPECT_EQ(Metric("failed"), 0);
}

TEST_F(NotifierTest, AfterARestartAndWithAnotherLeaderNothingIsToldAgain) {
  Refuse("a");
  Find("b");
  EXPECT_TRUE(Tells({"b", "a"}));
  Begin();
  Refuse("c");
  EXPECT_TRUE(Tells({"c"}));
}

TEST_F(NotifierTest, OnlyTheLeaderTells) {
  notifier_->SetLeads(false);
  Refuse("a");
  EXPECT_TRUE(Tells({}));
  notifier_->SetLeads(true);
  EXPECT_TRUE(Tells({"a"}));
}

TEST_F(NotifierTest, ADenialThatGoesOnIsToldOnceADay) {
  Refuse("a");
  EXPECT_TRUE(Tells({"a"}));
  for (int hour = 1; hour < 24; ++hour) {
    clock_.Advance(hours(1));
    Refuse("a");
    EXPECT_TRUE(Tells({})) << hour;
  }
  clock_.Advance(hours(1));
  EXPECT_TRUE(Tells({"a"}));
  clock_.Advance(hours(24));
  EXPECT_TRUE(Tells({})) << "nothing came since";
}

TEST_F(NotifierTest, AFindingThatStaysIsToldOnceAndOneThatComesAndGoesOnceADay) {
  Find("stays");
  Find("returns");
  EXPECT_TRUE(Tells({"stays", "returns"}));
  for (int hour = 1; hour < 24; ++hour) {
    clock_.Advance(hours(1));
    found_.findings.back().first_seen = clock_.Now();
    EXPECT_TRUE(Tells({})) << hour;
  }
  clock_.Advance(hours(1));
  EXPECT_TRUE(Tells({"returns"}));
  clock_.Advance(hours(100));
  EXPECT_TRUE(Tells({}));
}

TEST_F(NotifierTest, StatesAreNoNews) {
  Find("old");
  clock_.Advance(Notifier::kDay);
  Find("new");
  EXPECT_TRUE(Tells({"new"}));
  EXPECT_EQ(Metric("dropped"), 0) << "nobody waited for it";
}

TEST_F(NotifierTest, AMutedFindingIsNotToldBeforeItsMuteEnds) {
  Find("muted");
  Mute mute = MuteOf(found_.findings[0]);
  mute.until = found_.clock.Now() + hours(2);
  mute.reason = "known";
  ASSERT_TRUE(found_.mutes.Add(mute, Soon()).ok());
  EXPECT_TRUE(Tells({}));
  ASSERT_TRUE(found_.mutes.End(mute.detector, mute.subject, "alice", Soon()).ok());
  EXPECT_TRUE(Tells({"muted"}));
}

TEST_F(NotifierTest, WhatIsNotTakenIsTriedLaterAndLater) {
  Refuse("a");
  for (int times = 0; times < 12; ++times) answers_.push_back({"hooks.example.org answered 500"});
  auto longest = std::chrono::milliseconds(2000);
  for (int times = 0; times < 12; ++times) {
    EXPECT_TRUE(Tells({"a"}));
    EXPECT_GT(rest_, longest / 2 - seconds(1)) << times;
    EXPECT_LE(rest_, longest) << times;
    longest = std::min<std::chrono::milliseconds>(longest * 2, std::chrono::minutes(5));
  }
  EXPECT_EQ(notifier_->trouble(), "hooks.example.org answered 500");
  Refuse("b");
  EXPECT_TRUE(Tells({"b", "a"})) << "what came meanwhile goes with it";
  EXPECT_EQ(notifier_->trouble(), "");
  EXPECT_EQ(Metric("failed"), 12);
  EXPECT_EQ(Metric("sent"), 2);
  Refuse("c");
  answers_.push_back({"hooks.example.org answered 500"});
  EXPECT_TRUE(Tells({"c"}));
  EXPECT_LE(rest_, seconds(2)) << "it begins anew";
}

TEST_F(NotifierTest, ARetryAfterIsObeyed) {
  Refuse("a");
  answers_.push_back({"hooks.example.org answered 429", seconds(90)});
  EXPECT_TRUE(Tells({"a"}));
  EXPECT_GT(rest_, seconds(89));
}

TEST_F(NotifierTest, WhatNobodyTakesForADayIsDropped) {
  Refuse("a");
  Find("b");
  answers_ = {{"no answer in time"}, {"no answer in time"}};
  EXPECT_TRUE(Tells({"b", "a"}));
  clock_.Advance(hours(23));
  Refuse("c");
  EXPECT_TRUE(Tells({"b", "c", "a"}));
  clock_.Advance(hours(1));
  EXPECT_TRUE(Tells({"c"}));
  EXPECT_EQ(Metric("dropped"), 2);
}

TEST_F(NotifierTest, WhatAMessageOnlyCountsIsDropped) {
  for (std::size_t i = 0; i < kNoticeNewsMax + 113; ++i) Find("f" + std::to_string(i));
  ASSERT_EQ(Look().size(), 1U);
  EXPECT_NE(bodies_[0].find("and 113 more"), std::string::npos);
  EXPECT_TRUE(Tells({}));
  EXPECT_EQ(Metric("sent"), static_cast<double>(kNoticeNewsMax));
  EXPECT_EQ(Metric("dropped"), 113);
}

TEST_F(NotifierTest, AProgramGetsAllAtOnce) {
  Begin(NotifyForm::kJson);
  for (std::size_t i = 0; i < 2 * kNoticeNewsMax + 1; ++i) Find("f" + std::to_string(i));
  std::size_t items = 0;
  for (int message = 0; message < 3; ++message) {
    ASSERT_EQ(Look().size(), 1U);
    EXPECT_LE(rest_, seconds(0));
    items += nlohmann::json::parse(bodies_[0])["items"].size();
  }
  EXPECT_EQ(items, 2 * kNoticeNewsMax + 1);
  EXPECT_TRUE(Look().empty());
  EXPECT_EQ(Metric("dropped"), 0);
}

TEST_F(NotifierTest, WithoutTheRegistryNothingIsTold) {
  Refuse("a");
  store_.FailNextRead({ErrorCode::kUnavailable, "away"});
  EXPECT_TRUE(Tells({}));
  EXPECT_TRUE(Tells({"a"}));
}

TEST_F(NotifierTest, WhatCouldNotBeNotedIsKnownUntilItCan) {
  Refuse("a");
  store_.BreakWrites({ErrorCode::kUnavailable, "full"});
  EXPECT_TRUE(Tells({"a"}));
  EXPECT_TRUE(Tells({}));
  store_.Mend();
  EXPECT_TRUE(Tells({}));
  Begin();
  EXPECT_TRUE(Tells({}));
}

TEST_F(NotifierTest, TheTableKeepsADay) {
  Refuse("a");
  EXPECT_TRUE(Tells({"a"}));
  clock_.Advance(hours(25));
  Refuse("b");
  EXPECT_TRUE(Tells({"b"}));
  const auto kept = ReadTable(store_, kNotifiedTable, Soon());
  ASSERT_TRUE(kept.ok());
  ASSERT_EQ(kept.value().size(), 1U);
  EXPECT_EQ(kept.value()[0], (Notified{"denial", denials_.All()[0].id, clock_.Now()}));
}

TEST_F(NotifierTest, AnotherUrlIsTakenOverAndABadOneIsNot) {
  WriteUrl("https://hooks.example.org/other?a=b");
  ASSERT_TRUE(notifier_->Reread().ok());
  WriteUrl("secret");
  const Result<void> bad = notifier_->Reread();
  ASSERT_FALSE(bad.ok());
  EXPECT_EQ(bad.error().message,
            "notifyUrlFile: \"" + url_file_ +
                "\" does not hold the URL of a webhook; write https://HOST[:PORT]/PATH into it, "
                "alone on a line");
  Refuse("a");
  EXPECT_TRUE(Tells({"a"}));
  EXPECT_EQ(asked_, std::vector<std::string>{"/other?a=b"});
}

TEST_F(NotifierTest, ItsThreadTriesAnotherUrlAtOnce) {
  const auto reaches = [this](const std::string& outcome) {
    const Deadline deadline = Soon();
    while (Metric(outcome) < 1 && std::chrono::steady_clock::now() < deadline) {
      std::this_thread::yield();
    }
    return Metric(outcome) == 1;
  };
  Refuse("a");
  answers_.push_back({"hooks.example.org answered 429", seconds(300)});
  notifier_->Start();
  EXPECT_TRUE(reaches("failed"));
  WriteUrl("https://hooks.example.org/other");
  ASSERT_TRUE(notifier_->Reread().ok());
  EXPECT_TRUE(reaches("sent"));
  notifier_->Stop();
  EXPECT_EQ(asked_, (std::vector<std::string>{"/services/secret", "/other"}));
}

TEST_F(NotifierTest, UrlsInFiles) {
  struct Case {
    std::string text;
    std::string host;  // empty: refused
    std::uint16_t port = 443;
    std::string target = {};
  };
  const Case cases[] = {
      {"https://hooks.example.org/a/b", "hooks.example.org", 443, "/a/b"},
      {" https://hooks.example.org:8443/a?sig=%2Fx&sv=1.0 \r\n", "hooks.example.org", 8443,
       "/a?sig=%2Fx&sv=1.0"},
      {"https://hooks.example.org", "hooks.example.org", 443, "/"},
      {"https://hooks.example.org?a=b", "hooks.example.org", 443, "/?a=b"},
      {"https://[fd00::1]/a", "fd00::1", 443, "/a"},
      {"http://127.0.0.1:8080/a", "127.0.0.1", 8080, "/a"},
      {"http://localhost/a", "localhost", 80, "/a"},
      {"", ""},
      {"hooks.example.org/a", ""},
      {"http://hooks.example.org/a", ""},
      {"ftp://hooks.example.org/a", ""},
      {"https:///a", ""},
      {"https://user:xoxb@hooks.example.org/a", ""},
      {"https://hooks.example.org/a#b", ""},
      {"https://hooks.example.org/a b", ""},
      {"https://hooks.example.org/a\nhttps://hooks.example.org/b", ""},
      {"https://hooks.example.org/\xc3\xa4", ""},
      {"https://hooks.example.org/" + std::string(5000, 'a'), ""},
  };
  for (const Case& each : cases) {
    WriteUrl(each.text);
    const Result<NotifyUrl> read = ReadNotifyUrl(url_file_);
    ASSERT_EQ(read.ok(), !each.host.empty()) << each.text;
    if (!read.ok()) {
      EXPECT_EQ(read.error().code, ErrorCode::kInvalidArgument);
      EXPECT_EQ(read.error().message.find("xoxb"), std::string::npos);
      continue;
    }
    EXPECT_EQ(read.value().address.host, each.host);
    EXPECT_EQ(read.value().address.port, each.port);
    EXPECT_EQ(read.value().target, each.target);
  }
  EXPECT_EQ(ReadNotifyUrl("/nowhere/url").error().code, ErrorCode::kNotFound);
}

}  // namespace notifier_test
}  // namespace truce
