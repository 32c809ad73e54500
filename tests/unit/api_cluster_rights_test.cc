// Reports, recovery and brake over the API: who may, and what the audit log keeps of it.
#include <gtest/gtest.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/fake_cluster_reports.h"
#include "tests/support/rest_fixture.h"
#include "webhook/api/cluster_routes.h"
#include "webhook/api/rest/operations.h"
#include "webhook/api/review_books.h"
#include "webhook/api/use_log.h"
#include "webhook/findings/conflicts.h"

namespace truce {
namespace api_cluster_rights_test {

using nlohmann::json;

const std::vector<std::string> kReads = {
    "/api/v1/conflicts", "/api/v1/coverage", "/api/v1/baseline", "/api/v1/names",
    "/api/v1/trial",     "/api/v1/recovery", "/api/v1/brake"};

class ClusterRightsTest : public RestTest {
 protected:
  ClusterRightsTest() {
    const ClusterPorts ports{[](const KeyText&, std::size_t) { return ConflictPage(); }, &cluster_,
                             &cluster_};
    router_ = Router::Make(ClusterRoutes(rest_, ports, trials_, uses_)).value();
    user_ = "ann";
  }

  // The causes of what `actor` did, the oldest first.
  std::vector<std::string> AuditOf(const std::string& actor) {
    std::vector<std::string> causes;
    const auto look = [&](const AllFacts& facts) {
      causes.clear();
      for (const AuditLine& line : facts.AuditLines({}, 1000)) {
        if (line.entry.actor == actor) causes.push_back(line.entry.cause);
      }
    };
    EXPECT_TRUE(store_.Read(look, Deadline::max()).ok());
    return causes;
  }

  FakeClusterReports cluster_{clock_.Now()};
  TrialBook trials_{store_, clock_};
  UseLog uses_{store_, clock_};
};

TEST_F(ClusterRightsTest, ReadsNeedGetOnOwnershipsInAllNamespaces) {
  reviews_.allowed = {"ann list ownerships", "ann get ownerships in namespace team-a",
                      "ann update recovery", "ann update brake"};
  for (const std::string& path : kReads) EXPECT_EQ(Call("GET", path).status, 403) << path;
  reviews_.allowed = {"ann get ownerships"};
  for (const std::string& path : kReads) EXPECT_EQ(Call("GET", path).status, 200) << path;
  for (const std::string& path : kReads) {
    EXPECT_EQ(Ask(path, {{"nonsense", "1"}}).status, 400) << path;
  }
}

TEST_F(ClusterRightsTest, CommandsNeedUpdateOfTheirOwnResource) {
  struct Row {
    std::string path;
    std::string right;
    std::string other;
  };
  const std::string body = R"({"reason":"restored","force":true})";
  for (const Row& row : {Row{"/api/v1/recovery/start", "ann update recovery", "ann update brake"},
                         Row{"/api/v1/recovery/finish", "ann update recovery", "ann update brake"},
                         Row{"/api/v1/brake/release", "ann update brake", "ann update recovery"}}) {
    cluster_.actor.clear();
    reviews_.allowed = {row.other, "ann get ownerships", "ann list ownerships"};
    EXPECT_EQ(Call("POST", row.path, body).status, 403) << row.path;
    EXPECT_EQ(cluster_.actor, "") << row.path;
    reviews_.allowed = {row.right};
    EXPECT_EQ(Call("POST", row.path, body).status, 200) << row.path;
    EXPECT_EQ(cluster_.actor, "ann (Kubernetes token) from 192.0.2.7") << row.path;
  }
}

TEST_F(ClusterRightsTest, AReasonIsOneLine) {
  reviews_.allowed = {"ann update recovery", "ann update brake"};
  for (const std::string reason : {"", "two\\nlines", "\\u0000"}) {
    const std::string body = "{\"reason\":\"" + reason + "\"}";
    EXPECT_EQ(Call("POST", "/api/v1/recovery/start", body).status, 400) << body;
    EXPECT_EQ(Call("POST", "/api/v1/brake/release", body).status, 400) << body;
  }
}

TEST_F(ClusterRightsTest, WhoReadsAReportStandsInTheAuditLogOnceInTenMinutes) {
  reviews_.allowed = {"ann get ownerships", "bob get ownerships"};
  const std::string ann = "ann (Kubernetes token) from 192.0.2.7";
  for (int i = 0; i < 3; ++i) {
    for (const std::string& path : kReads) Call("GET", path);
  }
  std::vector<std::string> expected;
  for (const char* name :
       {"conflicts", "coverage", "baseline", "names", "trial", "recovery", "brake"}) {
    expected.push_back(std::string("read the report ") + name);
  }
  EXPECT_EQ(AuditOf(ann), expected);
  user_ = "bob";
  Call("GET", "/api/v1/coverage");
  EXPECT_EQ(AuditOf("bob (Kubernetes token) from 192.0.2.7").size(), 1U);
  user_ = "ann";
  clock_.Advance(std::chrono::minutes(9));
  Call("GET", "/api/v1/coverage");
  EXPECT_EQ(AuditOf(ann).size(), expected.size());
  clock_.Advance(std::chrono::minutes(1));
  Call("GET", "/api/v1/coverage");
  EXPECT_EQ(AuditOf(ann).size(), expected.size() + 1);
}

TEST_F(ClusterRightsTest, WhatWasNotShownIsNoUse) {
  reviews_.allowed = {"ann get ownerships"};
  cluster_.names = Error{ErrorCode::kUnavailable, "no answer"};
  EXPECT_EQ(Call("GET", "/api/v1/names").status, 503);
  EXPECT_TRUE(AuditOf("ann (Kubernetes token) from 192.0.2.7").empty());
}

TEST_F(ClusterRightsTest, TheClusterIsListedForOneAtATime) {
  reviews_.allowed = {"ann get ownerships"};
  int meanwhile = 0;
  cluster_.on_names = [&] { meanwhile = Call("GET", "/api/v1/baseline").status; };
  EXPECT_EQ(Call("GET", "/api/v1/names").status, 200);
  EXPECT_EQ(meanwhile, 429);
  EXPECT_EQ(Call("GET", "/api/v1/baseline").status, 200);
}

}  // namespace api_cluster_rights_test
}  // namespace truce
