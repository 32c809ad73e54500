// Routes about a followed cluster: conflicts, coverage, baseline, recovery, brake.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "policies/suspensions.h"
#include "tests/support/fake_cluster_reports.h"
#include "tests/support/rest_fixture.h"
#include "webhook/api/cluster_routes.h"
#include "webhook/api/review_books.h"
#include "webhook/api/use_log.h"
#include "webhook/findings/conflicts.h"
#include "webhook/findings/mute_book.h"
#include "webhook/findings/tag_war.h"
#include "webhook/findings/texts/report_baseline.h"

namespace truce {
namespace api_cluster_routes_test {

using nlohmann::json;

const Timestamp kNow = *ParseTimestamp("2026-11-21T08:00:00Z");

Conflict SomeConflict(const std::string& name) {
  Conflict conflict;
  conflict.owner.key = {"s3/Bucket|aws|||name=" + name};
  conflict.owner.identity.type = "s3/Bucket";
  conflict.owner.name = name;
  conflict.owner.since = kNow;
  conflict.resource = "S3 bucket \"" + name + "\"";
  for (const char* root : {"a", "b"}) {
    ConflictSide side;
    side.root = {"prod", "s3.aws.upbound.io", "Bucket", "", root};
    side.since = kNow;
    side.incumbent = root[0] == 'a';
    side.objects = {{.slot = side.root, .uid = {root}, .seen = true, .since = kNow}};
    conflict.sides.push_back(side);
  }
  return conflict;
}

class ClusterRoutesTest : public RestTest {
 protected:
  ClusterRoutesTest() {
    ports_.reports = &cluster_;
    ports_.controls = &cluster_;
  }

  Result<ConflictPage> Conflicts(const KeyText& after, std::size_t limit) const {
    if (busy_) return Error{ErrorCode::kUnavailable, "busy"};
    ConflictPage page;
    for (const Conflict& conflict : conflicts_) {
      if (conflict.owner.key <= after) continue;
      if (page.conflicts.size() == limit) {
        page.last = page.conflicts.back().owner.key;
        break;
      }
      page.conflicts.push_back(conflict);
    }
    return page;
  }

  HttpResponse Call(const std::string& method, const std::string& path,
                    const std::string& body = "",
                    std::vector<std::pair<std::string, std::string>> query = {}) {
    if (!router_) router_ = Router::Make(ClusterRoutes(rest_, ports_, trials_, uses_)).value();
    HttpRequest request;
    request.method = method;
    request.path = path;
    request.body = body;
    request.query = std::move(query);
    return Send(std::move(request));
  }

  std::vector<Conflict> conflicts_;
  FakeClusterReports cluster_{kNow};
  bool busy_ = false;
  ClusterPorts ports_{
      [this](const KeyText& after, std::size_t limit) { return Conflicts(after, limit); }};
  TrialBook trials_{store_, clock_};
  UseLog uses_{store_, clock_};
};

TEST_F(ClusterRoutesTest, WithoutClusterEveryOtherRouteSaysSo) {
  ports_.reports = nullptr;
  ports_.controls = nullptr;
  for (const HttpRoute& route : ClusterRoutes(rest_, ports_, trials_, uses_)) {
    const HttpResponse response = Call(route.method, route.path, "{}");
    if (route.path == "/api/v1/conflicts" || route.path == "/api/v1/trial") {
      EXPECT_EQ(response.status, 200) << route.path;
      continue;
    }
    EXPECT_EQ(response.status, 404) << route.path;
    EXPECT_EQ(response.content_type, "application/problem+json");
    EXPECT_EQ(json::parse(response.body).at("detail"), "this server follows no cluster");
  }
}

TEST_F(ClusterRoutesTest, ConflictsInPages) {
  for (int i = 0; i < 5; ++i) conflicts_.push_back(SomeConflict(std::to_string(i)));
  TagWar war;
  war.key = conflicts_[1].owner.key;
  war.since = war.last = kNow;
  war.writes = 9;
  war.writes_per_minute = 10.76;
  cluster_.wars = {war};
  std::vector<std::string> names;
  std::string cursor;
  do {
    Query query = {{"limit", "2"}};
    if (!cursor.empty()) query.emplace_back("cursor", cursor);
    const auto response = Call("GET", "/api/v1/conflicts", "", query);
    ASSERT_EQ(response.status, 200) << response.body;
    const json page = json::parse(response.body);
    for (const json& item : page.at("items")) {
      names.push_back(item.at("resource").at("name"));
      EXPECT_EQ(item.at("war").is_null(), names.size() != 2);
      EXPECT_EQ(item.at("sides").size(), 2U);
      EXPECT_EQ(item.at("sides").at(0).at("incumbent"), true);
      EXPECT_EQ(item.at("steps").size(), 4U);
      EXPECT_TRUE(item.at("war").is_null() || item.at("war").at("writesPerMinute") == 10.8);
    }
    cursor = page.value("nextCursor", "");
  } while (!cursor.empty());
  EXPECT_EQ(names, (std::vector<std::string>{"0", "1", "2", "3", "4"}));
}

// As a server does that is not the one that watches, once that is gone.
TEST_F(ClusterRoutesTest, WhatIsOldSaysOfWhenItIs) {
  const std::vector<std::string> paths = {"/api/v1/conflicts", "/api/v1/coverage",
                                          "/api/v1/baseline", "/api/v1/brake"};
  for (const std::string& path : paths) {
    EXPECT_FALSE(json::parse(Call("GET", path).body).contains("asOf")) << path;
  }
  cluster_.as_of = kNow;
  for (const std::string& path : paths) {
    EXPECT_EQ(json::parse(Call("GET", path).body).at("asOf"), "2026-11-21T08:00:00Z") << path;
  }
  const auto text = [&](const std::string& path, const std::string& output) {
    const json report = json::parse(Call("GET", path, "", {{"output", output}}).body);
    return report.at("text").get<std::string>();
  };
  const std::string line =
      "Of 2026-11-21T08:00:00Z: since then no server has watched the cluster.\n";
  for (const std::string& path : {paths[0], paths[1], paths[2]}) {
    EXPECT_TRUE(text(path, "text").starts_with(line)) << text(path, "text");
  }
  EXPECT_FALSE(text("/api/v1/baseline", "junit").starts_with(line));
  cluster_.as_of = Timestamp{};
  EXPECT_TRUE(text("/api/v1/coverage", "text")
                  .starts_with("No server that watches the cluster has told of it yet.\n"));
}

TEST_F(ClusterRoutesTest, AnOrderThatNobodyTakesIsToBeRepeated) {
  cluster_.refusal = Error{ErrorCode::kUnavailable, "no server watches the cluster at present"};
  for (const char* path : {"/api/v1/recovery/start", "/api/v1/brake/release"}) {
    const HttpResponse response = Call("POST", path, R"({"reason":"restored"})");
    EXPECT_EQ(response.status, 503) << path;
    EXPECT_EQ(std::count(response.headers.begin(), response.headers.end(),
                         std::pair<std::string, std::string>("Retry-After", "1")),
              1)
        << path;
  }
}

TEST_F(ClusterRoutesTest, ReportsForPeopleCarryTheirCount) {
  EXPECT_EQ(json::parse(Call("GET", "/api/v1/conflicts", "", {{"output", "text"}}).body),
            json::parse(R"({"count":0,"text":"No conflicts: every resource has one owner.\n"})"));
  // Three pages of the list.
  for (int i = 0; i < 2001; ++i) conflicts_.push_back(SomeConflict(std::to_string(10000 + i)));
  const json all = json::parse(Call("GET", "/api/v1/conflicts", "", {{"output", "wide"}}).body);
  EXPECT_EQ(all.at("count"), 2001);
  conflicts_.resize(1001);  // still more than a page
  cluster_.coverage = {2,        1,   {{GapReason::kNoRule, "Queue.sqs", "w", "r", 0}}, {}, {},
                       "Ignore", kNow};
  const json coverage = json::parse(Call("GET", "/api/v1/coverage", "", {{"output", "text"}}).body);
  EXPECT_EQ(coverage.at("count"), 1);
  const json whole = json::parse(Call("GET", "/api/v1/coverage").body);
  EXPECT_EQ(whole.at("failurePolicy"), "Ignore");
  EXPECT_EQ(whole.at("failingSince"), FormatTimestamp(kNow));
  EXPECT_EQ(whole.at("gaps").at(0).at("reason"), "no-rule");
  cluster_.baseline.cluster = "prod";
  cluster_.baseline.conflicts = conflicts_;
  for (const char* output : {"text", "junit", "markdown"}) {
    const json report = json::parse(Call("GET", "/api/v1/baseline", "", {{"output", output}}).body);
    EXPECT_EQ(report.at("count"), 1001) << output;
  }
  EXPECT_EQ(json::parse(Call("GET", "/api/v1/baseline").body).at("conflicts").size(), 1001U);
}

TEST_F(ClusterRoutesTest, NamesStandAloneAndInTheBaseline) {
  NameReport names;
  names.counts = {{{"payments", "s3/Bucket"}, {1, 0, 1}}};
  names.conforming = names.violating = 1;
  names.violations = {{"payments", "s3/Bucket", "Bucket a", "a", "naming-convention", "audit",
                       "payments-prod-bucket"}};
  cluster_.names = names;
  const json alone = json::parse(Call("GET", "/api/v1/names").body);
  EXPECT_EQ(alone.at("violating"), 1);
  EXPECT_EQ(alone.at("items").at(0).at("conforming"), 1);
  EXPECT_EQ(alone.at("violations").at(0).at("suggested"), "payments-prod-bucket");
  const json text = json::parse(Call("GET", "/api/v1/names", "", {{"output", "text"}}).body);
  EXPECT_EQ(text.at("count"), 1);
  EXPECT_EQ(Call("GET", "/api/v1/names", "", {{"output", "junit"}}).status, 400);
  EXPECT_EQ(json::parse(Call("GET", "/api/v1/baseline").body).at("names"), alone);
  const json report = json::parse(Call("GET", "/api/v1/baseline", "", {{"output", "text"}}).body);
  EXPECT_EQ(report.at("count"), 0);  // conflicts
  cluster_.names = Error{ErrorCode::kUnavailable, "not now"};
  EXPECT_EQ(Call("GET", "/api/v1/names").status, 503);
  EXPECT_EQ(Call("GET", "/api/v1/baseline").status, 503);
}

TEST_F(ClusterRoutesTest, RecoveryStartsAndEnds) {
  EXPECT_EQ(json::parse(Call("GET", "/api/v1/recovery").body).at("active"), false);
  EXPECT_EQ(Call("POST", "/api/v1/recovery/start", "{}").status, 400);
  EXPECT_EQ(Call("POST", "/api/v1/recovery/start", R"({"reason":"restored"})").status, 200);
  EXPECT_EQ(json::parse(Call("GET", "/api/v1/recovery").body).at("reason"), "restored");
  EXPECT_EQ(Call("POST", "/api/v1/recovery/finish", R"({"force":"yes"})").status, 400);
  const HttpResponse refused = Call("POST", "/api/v1/recovery/finish", "{}");
  EXPECT_EQ(refused.status, 409);
  EXPECT_EQ(json::parse(refused.body).at("type"), "/problems/conflict");
  EXPECT_EQ(Call("POST", "/api/v1/recovery/finish", R"({"force":true})").status, 200);
}

TEST_F(ClusterRoutesTest, RecoverySaysWhichKindsItWaitsForAndWhy) {
  cluster_.recovery = {
      true, "restored", kNow, false, {{"Queue.sqs.aws.upbound.io", "forbidden: no right"}}};
  const json waiting = json::parse(Call("GET", "/api/v1/recovery").body).at("waiting");
  EXPECT_EQ(waiting, json::parse(R"([{"kind": "Queue.sqs.aws.upbound.io",
                                      "why": "forbidden: no right"}])"));
}

TEST_F(ClusterRoutesTest, CoverageBeginsWithWhatSuspendsRefusals) {
  ports_.suspensions = [] {
    return std::vector<Suspension>{{SuspensionCause::kRecovery, "what", "why", "remedy"}};
  };
  const json coverage = json::parse(Call("GET", "/api/v1/coverage").body);
  EXPECT_EQ(coverage.at("suspended").at(0).at("cause"), "recovery");
  const json text = json::parse(Call("GET", "/api/v1/coverage", "", {{"output", "text"}}).body);
  EXPECT_TRUE(text.at("text").get<std::string>().starts_with("SUSPENDED  what"));
}

TEST_F(ClusterRoutesTest, TheBrake) {
  cluster_.brake.nominated = 31;
  cluster_.brake.held_back = 11;
  cluster_.brake.frozen = {{"Bucket.s3.aws.upbound.io", "403"}};
  cluster_.brake.waiting = {{"Queue.sqs.aws.upbound.io", 11, kNow}};
  const json brake = json::parse(Call("GET", "/api/v1/brake").body);
  EXPECT_EQ(brake.at("heldBack"), 11);
  EXPECT_EQ(brake.at("frozen").at(0).at("reason"), "403");
  EXPECT_EQ(brake.at("waiting").at(0).at("since"), "2026-11-21T08:00:00Z");
  for (const char* bad : {"", "{}", "[]", "x", R"({"reason":"r","kind":"Bucket"})",
                          R"({"reason":"r","kind":".g"})", R"({"reason":7})"}) {
    EXPECT_EQ(Call("POST", "/api/v1/brake/release", bad).status, 400) << bad;
  }
  const HttpResponse response =
      Call("POST", "/api/v1/brake/release", R"({"reason":"r","kind":"Bucket.s3.aws.upbound.io"})");
  EXPECT_EQ(json::parse(response.body), json::parse(R"({"released":11})"));
  EXPECT_EQ(cluster_.released, (GroupKind{"s3.aws.upbound.io", "Bucket"}));
}

TEST_F(ClusterRoutesTest, BadQuestions) {
  for (const char* limit : {"0", "-1", "x", "1x", ""}) {
    EXPECT_EQ(Call("GET", "/api/v1/conflicts", "", {{"limit", limit}}).status, 400) << limit;
  }
  EXPECT_EQ(Call("GET", "/api/v1/conflicts", "", {{"limit", "9999"}}).status, 200);
  EXPECT_EQ(Call("GET", "/api/v1/conflicts", "", {{"output", "xml"}}).status, 400);
  busy_ = true;
  EXPECT_EQ(Call("GET", "/api/v1/conflicts").status, 503);
  EXPECT_EQ(Call("GET", "/api/v1/conflicts", "", {{"output", "text"}}).status, 503);
}

}  // namespace api_cluster_routes_test
}  // namespace truce
