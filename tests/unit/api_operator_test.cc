// Requests that the operator socket alone answers: confirm, explain.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "tests/support/admission_fixture.h"
#include "tests/support/operator_calls.h"
#include "webhook/api/operator.h"

namespace truce {
namespace api_operator_test {

using nlohmann::json;

class OperatorTest : public AdmissionFixture {
 protected:
  HttpResponse Post(const std::string& path, const std::string& body) {
    const InForce<AdmissionPolicy>& policy = service_.in_force();
    return OperatorCalls(store_, clock_, policy, &OperatorRoutes).Post(path, body);
  }
  HttpResponse Confirm(const std::string& body) {
    return Post("/api/v1/reservations:confirm", body);
  }
  HttpResponse Explain(const std::string& body) { return Post("/api/v1/explain", body); }
};

constexpr char kClaimObject[] =
    R"({"object":{"group":"platform.example.org","kind":"ObjectStorage","namespace":"team-a","name":"artifacts"}})";

TEST_F(OperatorTest, ConfirmMakesAReservationSeen) {
  Send(Claim("team-a", "artifacts", "prod-artifacts", "service-a"));
  const HttpResponse response = Confirm(kClaimObject);
  EXPECT_EQ(response.status, 200) << response.body;
  EXPECT_EQ(json::parse(response.body), json::parse(R"({"confirmed":1})"));
  ASSERT_EQ(Contents().rows.size(), 1U);
  EXPECT_EQ(Contents().rows[0].id.state, RowState::kSeen);
  const HttpResponse again = Confirm(kClaimObject);
  EXPECT_EQ(again.status, 404);
  EXPECT_EQ(again.content_type, "application/problem+json");
}

TEST_F(OperatorTest, ConfirmByKey) {
  Send(Claim("team-a", "artifacts", "prod-artifacts", "service-a"));
  const std::string key = Contents().owners.at(0).key.text;
  EXPECT_EQ(Confirm(json{{"key", key}}.dump()).status, 200);
  EXPECT_EQ(Contents().rows[0].id.state, RowState::kSeen);
}

TEST_F(OperatorTest, ExplainTellsWhichRulesApply) {
  Send(Claim("team-a", "artifacts", "prod-artifacts", "service-a"));
  const HttpResponse response =
      Explain(R"({"apiVersion":"platform.example.org/v1","kind":"ObjectStorage",)"
              R"("metadata":{"namespace":"team-a","name":"artifacts"}})");
  ASSERT_EQ(response.status, 200) << response.body;
  EXPECT_NE(json::parse(response.body).at("text").get<std::string>(), "");
}

TEST_F(OperatorTest, ExplainSaysOfOwnershipWhatItsModeIs) {
  const HttpResponse response =
      Explain(R"({"apiVersion":"s3.aws.upbound.io/v1beta1","kind":"Bucket",)"
              R"("metadata":{"name":"files"},"spec":{"forProvider":{"region":"eu-west-1"}}})");
  ASSERT_EQ(response.status, 200) << response.body;
  const auto text = json::parse(response.body).at("text").get<std::string>();
  const std::string label = "\n  duplicate-ownership";
  const std::size_t line = text.find(label);
  ASSERT_NE(line, std::string::npos) << text;
  const std::size_t mode = text.find_first_not_of(' ', line + label.size());
  EXPECT_EQ(text.substr(mode, 7), "enforce") << text;
}

TEST_F(OperatorTest, MalformedRequestsAre400) {
  for (const char* body :
       {"", "x", "[]", "{}", R"({"key":1})", R"({"object":{}})", R"({"object":"x"})",
        R"({"object":{"kind":"K"}})", R"({"object":{"kind":"K","name":7}})"}) {
    const HttpResponse response = Confirm(body);
    EXPECT_EQ(response.status, 400) << body;
    EXPECT_EQ(json::parse(response.body).at("status"), 400);
  }
  for (const char* body : {"x", "{}", R"({"kind":"K"})"}) EXPECT_EQ(Explain(body).status, 400);
}

TEST_F(OperatorTest, AFaultOfTheStoreIs503) {
  store_.FailNextApply({ErrorCode::kUnavailable, "disk full"});
  const HttpResponse response = Confirm(kClaimObject);
  EXPECT_EQ(response.status, 503);
  const std::pair<std::string, std::string> retry("Retry-After", "1");
  EXPECT_EQ(std::ranges::count(response.headers, retry), 1);
}

}  // namespace api_operator_test
}  // namespace truce
