// Findings over the API: filters, pages, the proof, who may read what, mutes and who may make them.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "tests/support/rest_fixture.h"
#include "webhook/api/cluster_routes.h"
#include "webhook/api/rest/operations.h"
#include "webhook/findings/mute_book.h"
#include "webhook/findings/tag_war.h"
#include "webhook/findings/texts/report_baseline.h"

namespace truce {
namespace api_findings_test {

using nlohmann::json;

struct FakeReports final : ClusterReports {
  FakeReports(Store& store, const Clock& clock) : mutes(store, clock) {}
  std::vector<TagWar> Wars() const override { return {}; }
  // As the book gives them.
  std::vector<LiveFinding> Findings() const override {
    std::vector<LiveFinding> out = findings;
    std::sort(out.begin(), out.end(), [](const LiveFinding& a, const LiveFinding& b) {
      return std::tie(a.detector, a.subject) < std::tie(b.detector, b.subject);
    });
    return out;
  }
  MuteBook& Mutes() override { return mutes; }
  CoverageReport Coverage() const override { return {}; }
  Result<BaselineReport> Baseline() const override { return BaselineReport{}; }
  Result<NameReport> Names() override { return NameReport{}; }
  std::optional<Timestamp> AsOf() const override { return as_of; }

  std::optional<Timestamp> as_of;
  std::vector<LiveFinding> findings;
  MuteBook mutes;
};

LiveFinding About(Detector detector, const std::string& subject, Mode mode,
                  std::vector<std::string> namespaces) {
  LiveFinding finding;
  finding.detector = detector;
  finding.subject = subject;
  finding.id = FindingId(detector, subject);
  finding.mode = mode;
  finding.resource = "S3 bucket \"" + subject + "\"";
  finding.cause = "cause of " + subject;
  finding.evidence = "evidence of " + subject;
  finding.remedy = "remedy of " + subject;
  finding.first_seen = finding.last_seen = *ParseTimestamp("2026-11-21T07:00:00Z");
  finding.namespaces = std::move(namespaces);
  return finding;
}

class FindingsTest : public RestTest {
 protected:
  FindingsTest() {
    router_ = Router::Make(FindingRoutes(rest_, &reports_)).value();
    LiveFinding shared = About(Detector::kTagWar, "both", Mode::kEnforce, {"team-a", "team-b"});
    shared.objects = {{"prod", "g", "Bucket", "team-a", "one"},
                      {"prod", "g", "Bucket", "team-b", "two"}};
    shared.services = {"service-a", "service-b"};
    reports_.findings = {
        shared, About(Detector::kOwnershipConflict, "mine", Mode::kWarn, {"team-a"}),
        About(Detector::kOrphanedOwnership, "old", Mode::kAudit, {"team-b"}),
        About(Detector::kWebhookConfiguration, "truce/missing", Mode::kEnforce, {})};
  }
  std::vector<std::string> Subjects(Query query) {
    std::vector<std::string> out;
    const json page = Get("/api/v1/findings", std::move(query));
    for (const json& item : page.at("items")) out.push_back(item.at("subject"));
    return out;
  }
  std::string IdOf(std::size_t i) const {
    return FindingId(reports_.findings[i].detector, reports_.findings[i].subject);
  }
  HttpResponse Mute(std::size_t i, int hours = 1) {
    return Call("POST", "/api/v1/findings/" + IdOf(i) + ":mute",
                json{{"reason", "known"},
                     {"until", FormatTimestamp(clock_.Now() + std::chrono::hours(hours))}}
                    .dump());
  }
  int Unmute(std::size_t i) {
    return Call("POST", "/api/v1/findings/" + IdOf(i) + ":unmute", "{}").status;
  }

  FakeReports reports_{store_, clock_};
};

using Names = std::vector<std::string>;

TEST_F(FindingsTest, AreFiltered) {
  EXPECT_EQ(Subjects({}), (Names{"both", "mine", "truce/missing", "old"}));
  EXPECT_EQ(Subjects({{"rule", "tag-war"}}), Names{"both"});
  EXPECT_EQ(Subjects({{"namespace", "team-b"}}), (Names{"both", "old"}));
  EXPECT_EQ(Subjects({{"service", "service-b"}}), Names{"both"});
  EXPECT_EQ(Subjects({{"severity", "warning"}}), (Names{"both", "mine", "truce/missing"}));
  EXPECT_EQ(Subjects({{"severity", "critical"}, {"namespace", "team-a"}}), Names{"both"});
  for (const Query& bad :
       {Query{{"rule", "no-such"}}, Query{{"severity", "bad"}}, Query{{"output", "yaml"}},
        Query{{"limit", "0"}}, Query{{"cursor", "forged"}}, Query{{"nonsense", "1"}}}) {
    EXPECT_EQ(Ask("/api/v1/findings", bad).status, 400) << bad.front().first;
  }
}

TEST_F(FindingsTest, ComeInPages) {
  Query query{{"limit", "3"}};
  json page = Get("/api/v1/findings", query);
  ASSERT_EQ(page.at("items").size(), 3U);
  query.emplace_back("cursor", page.at("nextCursor"));
  // What ends meanwhile moves nothing.
  reports_.findings.erase(reports_.findings.begin());
  page = Get("/api/v1/findings", query);
  ASSERT_EQ(page.at("items").size(), 1U);
  EXPECT_EQ(page.at("items").at(0).at("subject"), "old");
  EXPECT_FALSE(page.contains("nextCursor"));
}

TEST_F(FindingsTest, ReportsForPeopleCarryTheirCount) {
  EXPECT_EQ(Get("/api/v1/findings", {{"output", "text"}}).at("count"), 4);
  EXPECT_EQ(Get("/api/v1/findings/" + IdOf(0), {{"output", "text"}}).at("count"), 1);
  EXPECT_EQ(Get("/api/v1/mutes", {{"output", "text"}}).at("count"), 0);
  EXPECT_FALSE(Get("/api/v1/findings", {}).contains("asOf"));
  reports_.as_of = clock_.Now();
  EXPECT_EQ(Get("/api/v1/findings", {}).at("asOf"), FormatTimestamp(clock_.Now()));
  const json old = Get("/api/v1/findings", {{"output", "text"}});
  EXPECT_TRUE(old.at("text").get<std::string>().starts_with("Of " + FormatTimestamp(clock_.Now())));
}

TEST_F(FindingsTest, OneIsExplainedByTheBeginOfItsId) {
  const json whole = Get("/api/v1/findings/" + IdOf(0));
  EXPECT_EQ(whole.at("severity"), "critical");
  EXPECT_EQ(whole.at("proof"), InfoOf(Detector::kTagWar).proof);
  EXPECT_TRUE(whole.at("mute").is_null());
  EXPECT_EQ(Get("/api/v1/findings/" + IdOf(0).substr(0, 4)), whole);
  EXPECT_EQ(Ask("/api/v1/findings/" + IdOf(0).substr(0, 3), {}).status, 400);
  EXPECT_EQ(Ask("/api/v1/findings/UPPERCASE", {}).status, 400);
  EXPECT_EQ(Ask("/api/v1/findings/aaaaaaaaaa", {}).status, 404);
  reports_.findings.push_back(reports_.findings[0]);
  EXPECT_EQ(Ask("/api/v1/findings/" + IdOf(0), {}).status, 400);
}

TEST_F(FindingsTest, WhoReadsOneNamespaceReadsItsFindings) {
  user_ = "carol";
  EXPECT_EQ(Ask("/api/v1/findings", {}).status, 403);
  EXPECT_EQ(Ask("/api/v1/mutes", {}).status, 403);
  EXPECT_EQ(Ask("/api/v1/findings/" + IdOf(1), {}).status, 404);
  reviews_.allowed = {"carol list ownerships in namespace team-a"};
  EXPECT_EQ(Subjects({{"namespace", "team-a"}}), (Names{"both", "mine"}));
  EXPECT_EQ(Ask("/api/v1/findings", {{"namespace", "team-b"}}).status, 403);
  EXPECT_EQ(Ask("/api/v1/findings/" + IdOf(1), {}).status, 200);
  EXPECT_EQ(Ask("/api/v1/findings/" + IdOf(2), {}).status, 404);
  EXPECT_EQ(Ask("/api/v1/findings/" + IdOf(3), {}).status, 404);
}

TEST_F(FindingsTest, OthersAreNamedAsFarAsDisclosureAllows) {
  user_ = "carol";
  reviews_.allowed = {"carol list ownerships in namespace team-a"};
  const auto cause = [&] {
    const json items = Get("/api/v1/findings", {{"namespace", "team-a"}}).at("items");
    const json one = Get("/api/v1/findings/" + IdOf(0));
    EXPECT_EQ(one.at("cause"), items.at(0).at("cause"));
    EXPECT_EQ(one.at("objects").size(), items.at(0).at("objects").size());
    EXPECT_EQ(items.at(1).at("cause"), "cause of mine");
    return items.at(0).at("cause").get<std::string>();
  };
  EXPECT_EQ(cause(), "cause of both");  // full, by default
  ChangePolicy([](AdmissionPolicy& policy) { policy.disclosure = Disclosure::kService; });
  EXPECT_NE(cause(), "cause of both");
  const json told = Get("/api/v1/findings/" + IdOf(0));
  EXPECT_EQ(told.at("namespaces"), json({"team-a"}));
  EXPECT_EQ(told.at("services"), json::array());
  EXPECT_EQ(told.at("evidence"), "");
  ASSERT_EQ(told.at("objects").size(), 1U);
  EXPECT_EQ(told.at("objects").at(0).at("name"), "one");
  reviews_.allowed.insert("carol get ownerships in namespace team-b");
  EXPECT_EQ(cause(), "cause of both");
}

TEST_F(FindingsTest, AMuteHidesUntilItsTimeAndIsListed) {
  const HttpResponse made = Mute(1);
  ASSERT_EQ(made.status, 201) << made.body;
  EXPECT_EQ(json::parse(made.body).at("by"), "operator");
  EXPECT_EQ(Subjects({}), (Names{"both", "truce/missing", "old"}));
  EXPECT_EQ(Get("/api/v1/findings").at("muted"), 1);
  EXPECT_EQ(Get("/api/v1/findings", {{"namespace", "team-b"}}).at("muted"), 0);
  EXPECT_EQ(Get("/api/v1/mutes").at("items"), json::array({json::parse(made.body)}));
  EXPECT_EQ(Get("/api/v1/mutes", {{"rule", "tag-war"}}).at("items"), json::array());
  EXPECT_EQ(Get("/api/v1/mutes", {{"namespace", "team-b"}}).at("items"), json::array());
  EXPECT_EQ(Get("/api/v1/findings/" + IdOf(1)).at("mute").at("reason"), "known");
  // Worse than it was.
  reports_.findings[1].mode = Mode::kEnforce;
  EXPECT_EQ(Get("/api/v1/findings").at("muted"), 0);
  reports_.findings[1].mode = Mode::kWarn;
  clock_.Advance(std::chrono::hours(2));
  EXPECT_EQ(Subjects({{"rule", "ownership-conflict"}}), Names{"mine"});
  EXPECT_EQ(Get("/api/v1/mutes").at("items"), json::array());
  EXPECT_EQ(Unmute(1), 404);
}

TEST_F(FindingsTest, AMuteEndsBeforeItsTimeAlsoWhenNothingIsFoundAnyMore) {
  ASSERT_EQ(Mute(1).status, 201);
  const std::string id = IdOf(1);
  reports_.findings.clear();
  EXPECT_EQ(Call("POST", "/api/v1/findings/" + id + ":unmute", "{}").status, 200);
  EXPECT_EQ(Call("POST", "/api/v1/findings/" + id + ":unmute", "{}").status, 404);
}

TEST_F(FindingsTest, WhoSpeaksForEveryNamespaceConcernedMayMute) {
  user_ = "carol";
  reviews_.allowed = {"carol list ownerships"};
  for (std::size_t i = 0; i < reports_.findings.size(); ++i) EXPECT_EQ(Mute(i).status, 403) << i;
  reviews_.allowed.insert("carol create checks in namespace team-a");
  EXPECT_EQ(Mute(1).status, 201);
  EXPECT_EQ(Mute(0).status, 403);  // team-b too
  EXPECT_EQ(Mute(3).status, 403);  // the installation's
  reviews_.allowed.insert("carol create checks in namespace team-b");
  EXPECT_EQ(Mute(0).status, 201);
  EXPECT_EQ(Unmute(0), 200);
  reviews_.allowed.erase("carol create checks in namespace team-a");
  EXPECT_EQ(Unmute(1), 403);
  EXPECT_EQ(Call("POST", "/api/v1/findings/aaaaaaaaaa:unmute", "{}").status, 403);
  reviews_.allowed.insert("carol create findings/mute");
  EXPECT_EQ(Mute(3).status, 201);
  EXPECT_EQ(Unmute(1), 200);
  // The service account of the namespace, who may only read there.
  user_ = "system:serviceaccount:team-a:ci";
  reviews_.allowed = {user_ + " list ownerships in namespace team-a"};
  EXPECT_EQ(Mute(1).status, 201);
  EXPECT_EQ(Mute(2).status, 404);
}

TEST_F(FindingsTest, BadMutesAreRefused) {
  const std::string at = "/api/v1/findings/" + IdOf(1);
  const std::string until = FormatTimestamp(clock_.Now() + std::chrono::hours(1));
  for (const json& body :
       {json::object(), json{{"until", until}}, json{{"until", "soon"}, {"reason", "r"}},
        json{{"until", until}, {"reason", ""}}, json{{"until", until}, {"reason", "a\nb"}},
        json{{"until", until}, {"reason", std::string(513, 'r')}},
        json{{"until", until}, {"reason", "r"}, {"more", "x"}},
        json{{"until", FormatTimestamp(clock_.Now())}, {"reason", "r"}},
        json{{"until", FormatTimestamp(clock_.Now() + std::chrono::hours(24 * 91))},
             {"reason", "r"}}}) {
    EXPECT_EQ(Call("POST", at + ":mute", body.dump()).status, 400) << body;
  }
  EXPECT_EQ(Call("POST", at + ":silence", "{}").status, 404);
  EXPECT_EQ(Call("POST", at, "{}").status, 404);
  EXPECT_EQ(Get("/api/v1/mutes").at("items"), json::array());
}

TEST_F(FindingsTest, WithoutClusterListsAreEmpty) {
  router_ = Router::Make(FindingRoutes(rest_, nullptr)).value();
  EXPECT_EQ(Get("/api/v1/findings"), json::parse(R"({"items":[],"muted":0})"));
  EXPECT_EQ(Get("/api/v1/mutes"), json::parse(R"({"items":[]})"));
  EXPECT_EQ(Ask("/api/v1/findings/aaaaaaaaaa", {}).status, 404);
  EXPECT_EQ(Mute(0).status, 404);
  EXPECT_EQ(Unmute(0), 404);
}

}  // namespace api_findings_test
}  // namespace truce
