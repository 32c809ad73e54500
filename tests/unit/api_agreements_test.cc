// The REST API's handlers for what is agreed about a resource: shares, transfers, protection; their
// lists and rights.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "registry/ownership/names.h"
#include "registry/ownership/rows.h"
#include "tests/support/rest_fixture.h"

namespace truce {
namespace api_agreements_test {

using namespace std::chrono_literals;
using nlohmann::json;

TEST_F(RestTest, SharesAreGivenByWhoMay) {
  Declare("team-a", "artifacts", "storage");
  const std::string id = IdOf("artifacts");
  const auto share = [&](const std::string& more) {
    return R"({"resource":")" + id + R"(","namespace":"team-b","level":"attach","reason":"r")" +
           more + "}";
  };
  const std::string path = "/api/v1/shares";
  user_ = "ann";
  EXPECT_EQ(Call("POST", path, share("")).status, 403);
  reviews_.allowed.insert("ann create ownerships/share in namespace team-a");
  const HttpResponse made = Call("POST", path, share(""));
  ASSERT_EQ(made.status, 201) << made.body;
  const json given = json::parse(made.body);
  EXPECT_EQ(given.at("to"), "namespace team-b");
  EXPECT_EQ(given.at("by"), "ann (Kubernetes token) from 192.0.2.7");
  for (const char* bad : {R"(,"until":"2000-01-01T00:00:00Z")", R"(,"until":"tomorrow")",
                          R"(,"cluster":"a/b")", R"(,"object":"x")", R"(,"color":"red")"}) {
    EXPECT_EQ(Call("POST", path, share(bad)).status, 400) << bad;
  }
  EXPECT_EQ(Call("POST", path, share(""), "\"stale\"").status, 412);
  user_ = "bob";
  const std::string at = path + "/" + given.at("id").get<std::string>();
  EXPECT_EQ(Call("GET", at).status, 403);
  EXPECT_EQ(Ask(path, {{"to", "team-b"}}).status, 403);
  reviews_.allowed.insert("bob list ownerships in namespace team-b");
  EXPECT_EQ(Get(path, {{"to", "team-b"}}).at("items").size(), 1U);
  EXPECT_EQ(Call("DELETE", at, "", "*").status, 403);
  user_.clear();
  EXPECT_EQ(Get(path, {{"to", "team-c"}}).at("items").size(), 0U);
  EXPECT_EQ(Get(path, {{"resource", id}, {"namespace", "team-a"}}).at("items").size(), 1U);
  EXPECT_EQ(Call("DELETE", at).status, 428);
  EXPECT_EQ(Call("DELETE", at, "", HeaderOf(made, "ETag")).status, 200);
  EXPECT_EQ(Call("DELETE", at, "", "*").status, 404);
}

TEST_F(RestTest, ListsWhatAServiceObserves) {
  Declare("team-a", "artifacts", "storage");
  Declare("team-b", "reports", "reporting");
  const auto observe = [&](const std::string& uid, const std::string& service) {
    const auto decide = [&](const Facts& facts) {
      Changes changes;
      const Slot slot{"local", "s3.aws.upbound.io", "Bucket", "", "reader-" + uid};
      changes.put_objects.push_back({.uid = {uid}, .slot = slot, .root = slot, .service = service});
      for (const RowState state : {RowState::kReserved, RowState::kSeen}) {
        const auto owner = OwnerByName({"s3/Bucket|aws|||name=artifacts"}, facts);
        Row row{.id = {owner->id, {uid}, state}, .slot = slot};
        row.root = slot;
        row.intent = Intent::kObserves;
        row.identity = owner->identity;
        changes.put_rows.push_back(row);
      }
      return changes;
    };
    const Deadline soon = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    ASSERT_TRUE(store_.Apply({}, decide, soon).ok());
  };
  observe("u1", "reporting");
  observe("u2", "storage");
  observe("u3", "dashboards");
  const json reporting = Get("/api/v1/services/reporting");
  ASSERT_EQ(reporting.at("observed").size(), 1U);
  EXPECT_EQ(reporting.at("observed")[0].at("resource").at("name"), "artifacts");
  EXPECT_EQ(reporting.at("observed")[0].at("observer").at("name"), "reader-u1");
  EXPECT_EQ(reporting.at("observedComplete"), true);
  EXPECT_TRUE(Get("/api/v1/services/storage").at("observed").empty()) << "its own";
  EXPECT_EQ(Get("/api/v1/services/dashboards").at("observed").size(), 1U) << "owns nothing";
  Get("/api/v1/services/nobody", {}, 404);
}

TEST_F(RestTest, ListsWhatIsSharedAndWhatAServiceUses) {
  Declare("team-a", "artifacts", "storage");
  Declare("team-a", "backups", "storage");
  Declare("team-b", "reports", "reporting");
  const auto share = [&](const char* bucket, const char* until) {
    const std::string body = R"({"resource":")" + IdOf(bucket) +
                             R"(","namespace":"team-b","level":"observe","reason":"reads it")" +
                             until + "}";
    ASSERT_EQ(Call("POST", "/api/v1/shares", body).status, 201);
  };
  share("artifacts", "");
  share("backups", R"(,"until":"2026-11-21T20:00:00Z")");
  const auto names = [&](const char* shared) {
    std::string text;
    const json page = Get("/api/v1/resources", {{"shared", shared}});
    for (const json& item : page.at("items")) {
      text += item.at("name").get<std::string>() + " ";
    }
    return text;
  };
  EXPECT_EQ(names("true"), "artifacts backups ");
  EXPECT_EQ(names("false"), "reports ");
  const std::string offer =
      R"({"resource":")" + IdOf("backups") + R"(","namespace":"team-b","reason":"theirs by now"})";
  ASSERT_EQ(Call("POST", "/api/v1/transfers", offer).status, 201);
  const json user = Get("/api/v1/services/reporting");
  EXPECT_EQ(user.at("used").size(), 2U);
  ASSERT_EQ(user.at("pendingOffers").size(), 1U);
  EXPECT_EQ(user.at("pendingOffers")[0].at("resource").at("name"), "backups");
  const json owner = Get("/api/v1/services/storage");
  EXPECT_EQ(owner.at("used").size(), 0U);
  EXPECT_EQ(owner.at("pendingOffers").size(), 1U);
  clock_.Advance(std::chrono::hours{24 * 365});
  EXPECT_EQ(names("true"), "artifacts ") << "a share that ended is none";
}

TEST_F(RestTest, SortsByEachColumnWithoutLosingAny) {
  for (int i = 0; i < 7; ++i) Declare("team-a", "bucket-" + std::to_string(i), "storage");
  for (const char* order : {"type", "account", "region"}) {
    std::set<std::string> seen;
    std::vector<std::pair<std::string, std::string>> query = {{"sort", order}, {"limit", "3"}};
    for (bool more = true; more;) {
      const json page = Get("/api/v1/resources", query);
      for (const json& item : page.at("items")) EXPECT_TRUE(seen.insert(item.at("id")).second);
      more = page.contains("nextCursor");
      if (more) query = {{"sort", order}, {"limit", "3"}, {"cursor", page.at("nextCursor")}};
    }
    EXPECT_EQ(seen.size(), 7U) << order;
  }
}

TEST_F(RestTest, ListsOfAgreementsGoByPages) {
  Declare("team-a", "artifacts", "storage");
  const std::string id = IdOf("artifacts");
  for (int i = 0; i < 5; ++i) {
    const std::string body = R"({"resource":")" + id + R"(","namespace":"n)" + std::to_string(i) +
                             R"(","level":"observe","reason":"r"})";
    ASSERT_EQ(Call("POST", "/api/v1/shares", body).status, 201);
  }
  std::set<std::string> seen;
  std::vector<std::pair<std::string, std::string>> query = {{"limit", "2"}};
  for (int pages = 1;; ++pages) {
    const json page = Get("/api/v1/shares", query);
    for (const json& item : page.at("items")) EXPECT_TRUE(seen.insert(item.at("id")).second);
    if (!page.contains("nextCursor")) break;
    ASSERT_LT(pages, 4);
    query = {{"limit", "2"}, {"cursor", page.at("nextCursor")}};
  }
  EXPECT_EQ(seen.size(), 5U);
  Get("/api/v1/transfers", {{"cursor", query.back().second}}, 400);
}

TEST_F(RestTest, EachSideOfATransferNeedsItsOwnRight) {
  Declare("team-a", "artifacts", "storage");
  const std::string id = IdOf("artifacts");
  const std::string path = "/api/v1/transfers";
  const auto offer = [&](const std::string& more) {
    return R"({"resource":")" + id + R"(","namespace":"team-b","reason":"r")" + more + "}";
  };
  user_ = "ann";
  EXPECT_EQ(Call("POST", path, offer("")).status, 403);
  reviews_.allowed.insert("ann create ownerships/transfer in namespace team-a");
  const HttpResponse made = Call("POST", path, offer(""));
  ASSERT_EQ(made.status, 201) << made.body;
  EXPECT_EQ(Call("POST", path, offer(R"(,"force":"true","successor":"Bucket/team-b/x")")).status,
            403)
      << "speaking for both sides needs the right everywhere";
  const std::string at = path + "/" + json::parse(made.body).at("id").get<std::string>();
  const std::string accepts = R"({"successor":"Bucket/team-b/x"})";
  EXPECT_EQ(Call("POST", at + ":accept", accepts, "*").status, 403);
  user_ = "bob";
  reviews_.allowed.insert("bob update ownerships/transfer in namespace team-b");
  EXPECT_EQ(Call("POST", at + ":accept", accepts).status, 428);
  EXPECT_EQ(Call("POST", at + ":accept", R"({"successor":"x"})", "*").status, 400);
  EXPECT_EQ(Call("POST", at + ":accept", accepts, HeaderOf(made, "ETag")).status, 200);
  EXPECT_EQ(Call("POST", at + ":withdraw", R"({"reason":"r"})", "*").status, 403);
  EXPECT_EQ(Call("POST", at + ":explode", R"({"reason":"r"})", "*").status, 404);
  user_.clear();
  EXPECT_EQ(Get("/api/v1/resources/" + id).at("transfer").at("state"), "accepted");
  EXPECT_EQ(Get("/api/v1/resources/" + id).at("successor"), "Bucket/team-b/x");
  EXPECT_EQ(Call("POST", at + ":withdraw", R"({"reason":"r"})", "*").status, 200);
  EXPECT_EQ(Get("/api/v1/resources/" + id).at("successor"), "");
  EXPECT_EQ(Call("POST", path, offer(R"(,"force":"yes")")).status, 400);
  EXPECT_EQ(Call("POST", path, offer(R"(,"force":"true","successor":"Bucket/team-b/x")")).status,
            201);
}

// A refusal names the right and the namespace; below full disclosure no id tells a namespace.
TEST_F(RestTest, ARefusalNamesTheRightToWhoMayKnow) {
  Declare("team-a", "artifacts", "storage");
  const std::string id = IdOf("artifacts");
  const std::string given = R"({"resource":")" + id + R"(","namespace":"team-b","reason":"r")";
  const std::string share = given + R"(,"level":"attach"})";
  const std::string shared = json::parse(Call("POST", "/api/v1/shares", share).body).at("id");
  const std::string offered =
      json::parse(Call("POST", "/api/v1/transfers", given + "}").body).at("id");
  user_ = "Jane";
  const auto refused = [&](const std::string& method, const std::string& path,
                           const std::string& body) {
    const HttpResponse response = Call(method, path, body, "*");
    EXPECT_EQ(response.status, 403) << path;
    return json::parse(response.body);
  };
  const std::string reason = R"({"reason":"r"})";
  const std::vector<std::array<std::string, 3>> calls = {
      {"POST", "/api/v1/resources/" + id + ":release", reason},
      {"POST", "/api/v1/resources/" + id + ":protect", reason},
      {"POST", "/api/v1/resources/" + id + ":unprotect", reason},
      {"POST", "/api/v1/shares", share},
      {"GET", "/api/v1/shares/" + shared, ""},
      {"DELETE", "/api/v1/shares/" + shared, ""},
      {"POST", "/api/v1/transfers", given + "}"},
      {"GET", "/api/v1/transfers/" + offered, ""},
      {"POST", "/api/v1/transfers/" + offered + ":accept", "{}"},
      {"POST", "/api/v1/transfers/" + offered + ":withdraw", reason}};
  const json first = refused(calls[0][0], calls[0][1], calls[0][2]);
  EXPECT_EQ(first.at("detail"),
            "user \"Jane\" may not create ownerships/release in namespace team-a");
  EXPECT_EQ(first.at("remedy"),
            "ask whoever administers Truce, or the namespace, for verb create on "
            "ownerships/release in API group truce.dev");
  EXPECT_EQ(refused("GET", "/api/v1/audit", "").at("detail"),
            "user \"Jane\" may not list audit in all namespaces");
  ChangePolicy([](AdmissionPolicy& policy) { policy.disclosure = Disclosure::kService; });
  for (const auto& [method, path, body] : calls) {
    const std::string detail = refused(method, path, body).at("detail");
    EXPECT_EQ(detail.find("team-"), std::string::npos) << path << ": " << detail;
    EXPECT_TRUE(detail.ends_with(" in the namespace that it belongs to")) << detail;
  }
}

TEST_F(RestTest, ProtectionIsAuditedAndConditional) {
  Declare("team-a", "artifacts", "storage");
  const std::string at = "/api/v1/resources/" + IdOf("artifacts");
  const std::string tag = HeaderOf(Call("GET", at), "ETag");
  EXPECT_EQ(Call("POST", at + ":protect", R"({"reason":"data"})").status, 428);
  EXPECT_EQ(Call("POST", at + ":protect", R"({"reason":"data"})", tag).status, 200);
  EXPECT_EQ(Call("POST", at + ":protect", R"({"reason":"data"})", tag).status, 412)
      << "the tag changes with what is agreed";
  EXPECT_EQ(Get(at).at("protection").at("reason"), "data");
  EXPECT_EQ(Get(at).at("history").at(0).at("cause"), "protected against deletion: data");
  EXPECT_TRUE(Get(at).at("protection").at("hindrances").empty());
  user_ = "eve";
  EXPECT_EQ(Call("POST", at + ":unprotect", R"({"reason":"r"})", "*").status, 403);
  user_.clear();
  EXPECT_EQ(Call("POST", at + ":unprotect", R"({"reason":"r"})", "*").status, 200);
  EXPECT_EQ(Get(at).at("protection"), nullptr);
}

}  // namespace api_agreements_test
}  // namespace truce
