// What the page's views ask besides: counts, denials and what became of them, lineage, endings.
#include <gtest/gtest.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/support/rest_fixture.h"
#include "tests/support/store_contents.h"
#include "tests/support/validate_now.h"
#include "webhook/api/rest/operations.h"

namespace truce {
namespace api_views_test {

using nlohmann::json;

class ApiViewsTest : public RestTest {
 protected:
  // A review of a claim, whatever comes of it.
  bool Try(const std::string& ns, const std::string& name, const std::string& bucket) {
    HttpRequest request;
    request.body = BodyOf(Claim(ns, name, bucket, "service-b"));
    return json::parse(ValidateNow(recorded_service_, request).body)["response"]["allowed"];
  }
};

TEST_F(ApiViewsTest, TheMatrixCountsServicesByTypeAndAccount) {
  Declare("team-a", "one", "service-a");
  Declare("team-a", "two", "service-a");
  Declare("team-b", "three", "service-b");
  const json matrix = Get("/api/v1/matrix");
  EXPECT_TRUE(matrix.at("complete"));
  EXPECT_EQ(matrix.at("columns").at(0), json({{"name", "s3/Bucket"}, {"count", 3}}));
  ASSERT_EQ(matrix.at("rows").size(), 2U);
  EXPECT_EQ(matrix.at("rows").at(0).at("service"), "service-a") << "the most first";
  EXPECT_EQ(matrix.at("rows").at(0).at("cells").at(0),
            json({{"column", "s3/Bucket"}, {"count", 2}, {"contested", 0}}));
  EXPECT_EQ(Get("/api/v1/matrix", {{"by", "account"}}).at("columns").at(0).at("name"), "");
  EXPECT_EQ(Get("/api/v1/matrix", {{"account", "111122223333"}}).at("rows").size(), 0U);
  Get("/api/v1/matrix", {{"by", "x"}}, 400);
}

TEST_F(ApiViewsTest, MoreServicesThanAMatrixShowsAreCut) {
  for (std::size_t i = 0; i <= kMatrixRowsMax; ++i) {
    const std::string number = std::to_string(i);
    Declare("team-a", "bucket-" + number, "service-" + number);
  }
  const json matrix = Get("/api/v1/matrix");
  EXPECT_EQ(matrix.at("rows").size(), kMatrixRowsMax);
  EXPECT_FALSE(matrix.at("complete"));
}

TEST_F(ApiViewsTest, ADenialSaysWhatTheRefusedDidThen) {
  Declare("team-a", "prod-artifacts", "service-a");
  EXPECT_FALSE(Try("team-b", "mine", "prod-artifacts"));
  json denial = Get("/api/v1/denials").at("items").at(0);
  EXPECT_EQ(denial.at("then"), json({{"outcome", "none"}, {"resource", nullptr}}));
  const std::string at = "/api/v1/denials/" + denial.at("id").get<std::string>();
  EXPECT_EQ(Get(at), denial);
  EXPECT_TRUE(Try("team-b", "mine", "other-artifacts"));
  const json then = Get(at).at("then");
  EXPECT_EQ(then.at("outcome"), "another");
  EXPECT_EQ(then.at("resource").at("name"), "other-artifacts");
  Get("/api/v1/denials/aaaaaaaaaa", {}, 404);
}

TEST_F(ApiViewsTest, WhoMayNotReadIsToldWhatIsToldOfNobodysId) {
  Declare("team-a", "prod-artifacts", "service-a");
  EXPECT_FALSE(Try("team-b", "mine", "prod-artifacts"));
  const std::string id = IdOf("prod-artifacts");
  const std::string denial = Get("/api/v1/denials").at("items").at(0).at("id");
  const json chain = Get("/api/v1/lineage/" + id);
  ASSERT_EQ(chain.at("objects").size(), 1U);
  EXPECT_EQ(chain.at("objects").at(0).at("intent"), "deletes");
  user_ = "robot";
  const json unknown = Get("/api/v1/lineage/aaaaaaaaaaaaa", {}, 404);
  EXPECT_EQ(Get("/api/v1/lineage/" + id, {}, 404), unknown);
  for (const char* path : {"/api/v1/overview", "/api/v1/matrix", "/api/v1/denials"}) {
    Get(path, {}, 403);
  }
  Get("/api/v1/denials/" + denial, {}, 403);
  reviews_.allowed = {"robot get ownerships in namespace team-a",
                      "robot list ownerships in namespace team-b"};
  Get("/api/v1/lineage/" + id);
  Get("/api/v1/denials/" + denial);
}

TEST_F(ApiViewsTest, WhatLivesSpeaksForARootThatIsGone) {
  Declare("team-a", "prod-artifacts", "service-a");
  const std::string path = "/api/v1/lineage/" + IdOf("prod-artifacts");
  EXPECT_EQ(Get(path).at("speaker").at("name"), "prod-artifacts");
  const StoreContents before = ContentsOf(store_).value();
  Row row = before.rows.front();
  Object below = before.objects.front();
  Changes changes;
  changes.drop_rows = {row.id};
  changes.drop_objects = {below.uid};
  below.parent = below.slot;
  below.slot.kind = row.slot.kind = "Bucket";
  below.uid = row.id.uid = {"below"};
  changes.put_rows = {row};
  changes.put_objects = {below};
  const auto decide = [&](const Facts& /*facts*/) { return changes; };
  ASSERT_TRUE(
      store_.Apply({}, decide, std::chrono::steady_clock::now() + std::chrono::minutes{1}).ok());
  EXPECT_EQ(Get(path).at("speaker").at("kind"), "Bucket");
}

TEST_F(ApiViewsTest, AnEndedOwnershipSaysWhenAndWhy) {
  Declare("team-a", "prod-artifacts", "service-a");
  const std::string id = IdOf("prod-artifacts");
  Get("/api/v1/endings/" + id, {}, 404);
  const HttpResponse released =
      Call("POST", "/api/v1/resources/" + id + ":release", R"({"reason": "moved"})", "*");
  ASSERT_EQ(released.status, 200) << released.body;
  const json ending = Get("/api/v1/endings/" + id);
  EXPECT_EQ(ending.at("root").at("namespace"), "team-a");
  EXPECT_NE(ending.at("cause").get<std::string>().find("moved"), std::string::npos);
  user_ = "robot";
  Get("/api/v1/endings/" + id, {}, 404);
  reviews_.allowed = {"robot get ownerships in namespace team-a"};
  Get("/api/v1/endings/" + id);
  Get("/api/v1/endings/x", {}, 404);
}

}  // namespace api_views_test
}  // namespace truce
