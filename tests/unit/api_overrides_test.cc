// Overrides made while the server runs: rights, bounds, the audit log, what holds after a restart.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "registry/ownership/rows.h"
#include "tests/support/admission_fixture.h"
#include "webhook/api/override_book.h"
#include "webhook/api/rest/operations.h"
#include "webhook/http/router.h"

namespace truce {
namespace api_overrides_test {

using nlohmann::json;

class OverridesTest : public AdmissionFixture {
 protected:
  HttpResponse Call(const std::string& method, const std::string& path, const std::string& body,
                    const std::string& token = "") {
    const Router router = Router::Make(OverrideRoutes(rest_, book_)).value();
    const auto match = router.Find(method, path);
    HttpRequest request;
    request.method = method;
    request.path = path;
    request.body = body;
    request.remote_address = token.empty() ? "unix" : "192.0.2.7";
    const std::string authorization = "Bearer " + token;
    if (!token.empty()) request.headers.push_back({"authorization", authorization});
    return *match.route->handler(request);
  }
  HttpResponse Make(const std::string& body) { return Call("POST", "/api/v1/overrides", body); }
  std::string InHours(int hours) const {
    return FormatTimestamp(clock_.Now() + std::chrono::hours(hours));
  }
  json List() {
    return json::parse(Call("GET", "/api/v1/overrides", "").body, nullptr, false).at("items");
  }
  static Deadline Soon() { return std::chrono::steady_clock::now() + std::chrono::seconds(10); }

  DenialBook denials_{store_, clock_};
  ApiAccess access_{nullptr, nullptr};
  IdSource random_ids_ = RandomIds();
  const InForce<AdmissionPolicy>& policy_view_ = service_.in_force();
  RestApi rest_{{store_, clock_, random_ids_, policy_view_, access_, denials_, "1.2.3"}};
  std::vector<Override> told_;
  OverrideBook book_{store_, clock_, random_ids_,
                     [this](const std::vector<Override>& now) { told_ = now; }};
};

TEST_F(OverridesTest, HoldUntilTheirTimeAndAreAudited) {
  const std::string until = InHours(2);
  const HttpResponse made =
      Make(R"({"namespace":"team-a","until":")" + until + R"(","reason":"incident 4711"})");
  ASSERT_EQ(made.status, 201) << made.body;
  const std::string id = json::parse(made.body).at("id");
  ASSERT_EQ(told_.size(), 1U);
  EXPECT_EQ(told_[0].ns, "team-a");
  EXPECT_EQ(List().at(0).at("until"), until);
  const auto audit = Contents().audit;
  ASSERT_EQ(audit.size(), 1U);
  EXPECT_EQ(audit[0].action, AuditAction::kAdministered);
  EXPECT_EQ(audit[0].cause, "override of namespace team-a until " + until + ": incident 4711");
  EXPECT_EQ(audit[0].actor, "operator");

  // Another process on the same registry.
  std::vector<Override> told_again;
  OverrideBook again(store_, clock_, random_ids_,
                     [&](const std::vector<Override>& now) { told_again = now; });
  ASSERT_TRUE(again.Load(Soon()).ok());
  EXPECT_EQ(told_again, told_);

  clock_.Advance(std::chrono::hours(3));
  EXPECT_TRUE(List().empty());
  EXPECT_EQ(Call("DELETE", "/api/v1/overrides/" + id, "").status, 404);
}

TEST_F(OverridesTest, EndBeforeTheirTime) {
  const HttpResponse made =
      Make(R"({"name":"prod-x","until":")" + InHours(1) + R"(","reason":"r"})");
  const std::string id = json::parse(made.body).at("id");
  EXPECT_EQ(Call("DELETE", "/api/v1/overrides/" + id, "").status, 200);
  EXPECT_TRUE(told_.empty());
  EXPECT_TRUE(List().empty());
  EXPECT_EQ(Contents().audit.back().cause, "override of name prod-x ended");
  EXPECT_EQ(Call("DELETE", "/api/v1/overrides/" + id, "").status, 404);
}

TEST_F(OverridesTest, BadOnesAreRefused) {
  const std::string until = InHours(1);
  const auto with = [&](const std::string& rest) {
    return R"({"until":")" + until + R"(","reason":"r")" + rest + "}";
  };
  for (const std::string& body :
       {std::string(), std::string("[]"), with(""), with(R"(,"name":"a","group":"b")"),
        with(R"(,"name":"")"), with(R"(,"name":1)"), with(R"(,"name":"a","x":"y")"),
        with(R"(,"name":"a\nb")"), R"({"name":"a","reason":"r","until":"soon"})" + std::string(),
        R"({"name":"a","reason":"r","until":")" + InHours(-1) + R"("})",
        R"({"name":"a","reason":"r","until":")" + InHours(24 * 8) + R"("})",
        R"({"name":"a","until":")" + until + R"("})"}) {
    EXPECT_EQ(Make(body).status, 400) << body;
  }
  EXPECT_TRUE(told_.empty());
  EXPECT_TRUE(Contents().audit.empty());
  EXPECT_EQ(Call("POST", "/api/v1/overrides", with(R"(,"name":"a")"), "nobody").status, 401);
}

TEST_F(OverridesTest, TooManyAreRefused) {
  const Override what{"x", "", "", "", clock_.Now() + std::chrono::hours(1), "r"};
  for (std::size_t i = 0; i < OverrideBook::kOverridesMax; ++i) {
    ASSERT_TRUE(book_.Add(what, "a", Soon()).ok());
  }
  EXPECT_EQ(Make(R"({"name":"a","until":")" + InHours(1) + R"(","reason":"r"})").status, 409);
  clock_.Advance(std::chrono::hours(2));
  EXPECT_EQ(Make(R"({"name":"a","until":")" + InHours(1) + R"(","reason":"r"})").status, 201);
}

TEST_F(OverridesTest, AFullDiskKeepsWhatHeld) {
  ASSERT_EQ(Make(R"({"name":"a","until":")" + InHours(1) + R"(","reason":"r"})").status, 201);
  store_.FailNextApply({ErrorCode::kUnavailable, "disk full"});
  EXPECT_EQ(Make(R"({"name":"b","until":")" + InHours(1) + R"(","reason":"r"})").status, 503);
  EXPECT_EQ(List().size(), 1U);
}

}  // namespace api_overrides_test
}  // namespace truce
