// The operator socket's handlers: confirm, release, lookup.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/support/admission_fixture.h"
#include "webhook/api/operator.h"

namespace truce {
namespace api_operator_test {

using nlohmann::json;

class OperatorTest : public AdmissionFixture {
 protected:
  HttpResponse Call(const std::string& method, const std::string& path, const std::string& body,
                    std::vector<std::pair<std::string, std::string>> query = {}) {
    const auto routes = OperatorRoutes(
        {store_, clock_, [] { return PublicId{"b"}; }, [this] { return service_.policy(); }});
    for (const HttpRoute& route : routes) {
      if (route.method != method || route.path != path) continue;
      HttpRequest request;
      request.method = method;
      request.path = path;
      request.body = body;
      request.query = std::move(query);
      return route.handler(request);
    }
    return PlainText(404, "no route");
  }
  HttpResponse Confirm(const std::string& body) { return Call("POST", "/api/v1/confirm", body); }
  HttpResponse Release(const std::string& body) { return Call("POST", "/api/v1/release", body); }
  HttpResponse Lookup(std::vector<std::pair<std::string, std::string>> query) {
    return Call("GET", "/api/v1/resources/lookup", "", std::move(query));
  }

  static std::string Queue(const std::string& region) {
    return R"({"region":")" + region + R"("})";
  }
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

TEST_F(OperatorTest, ReleaseFreesTheName) {
  Send(Claim("team-a", "artifacts", "prod-artifacts", "service-a"));
  const HttpResponse response =
      Release(R"({"type":"s3/Bucket","name":"prod-artifacts","reason":"moved"})");
  ASSERT_EQ(response.status, 200) << response.body;
  const json released = json::parse(response.body).at("released");
  EXPECT_EQ(released.at("type"), "s3/Bucket");
  EXPECT_EQ(released.at("name"), "prod-artifacts");
  EXPECT_EQ(released.at("service"), "service-a");
  EXPECT_EQ(released.at("state"), "reserved");
  EXPECT_EQ(released.at("root").at("namespace"), "team-a");
  EXPECT_TRUE(Send(Claim("team-b", "artifacts", "prod-artifacts", "service-b")).allowed);
  bool told = false;
  for (const AuditEntry& entry : Contents().audit) {
    told = told || entry.cause.find("moved") != std::string::npos;
  }
  EXPECT_TRUE(told);
}

TEST_F(OperatorTest, LookupByKeyAndByName) {
  Send(Claim("team-a", "artifacts", "prod-artifacts", "service-a"));
  const HttpResponse by_name = Lookup({{"type", "s3/Bucket"}, {"name", "prod-artifacts"}});
  ASSERT_EQ(by_name.status, 200) << by_name.body;
  const json resource = json::parse(by_name.body).at("resources").at(0);
  EXPECT_EQ(resource.at("declarations").size(), 1U);
  EXPECT_EQ(resource.at("since"), "2026-11-21T08:00:00Z");
  const HttpResponse by_key = Lookup({{"key", resource.at("key").get<std::string>()}});
  EXPECT_EQ(by_key.body, by_name.body);
  EXPECT_EQ(Lookup({{"type", "s3/Bucket"}, {"name", "other"}}).status, 404);
  EXPECT_EQ(Lookup({{"key", "none"}}).status, 404);
  EXPECT_EQ(Lookup({{"type", "s3/Nothing"}, {"name", "x"}}).status, 400);
  EXPECT_EQ(Lookup({{"type", "s3/Bucket"}}).status, 400);
  EXPECT_EQ(Lookup({}).status, 400);
}

TEST_F(OperatorTest, ANameThatFitsSeveralIsNotReleased) {
  const auto queue = [](const std::string& object, const std::string& region) {
    Sent sent = Managed("sqs", "Queue", object, Queue(region));
    sent.spec.replace(sent.spec.find("\"region\""), 0, R"("name":"orders",)");
    sent.metadata = R"(,"annotations":{"crossplane.io/external-name":"orders"})";
    return sent;
  };
  ASSERT_TRUE(Send(queue("one", "eu-west-1")).allowed);
  ASSERT_TRUE(Send(queue("two", "us-west-2")).allowed);
  const auto found = Lookup({{"type", "sqs/Queue"}, {"name", "orders"}});
  ASSERT_EQ(found.status, 200) << found.body;
  ASSERT_EQ(json::parse(found.body).at("resources").size(), 2U) << found.body;
  const HttpResponse both = Release(R"({"type":"sqs/Queue","name":"orders","reason":"r"})");
  EXPECT_EQ(both.status, 409);
  EXPECT_EQ(json::parse(both.body).at("keys").size(), 2U);
  EXPECT_EQ(
      Release(R"({"type":"sqs/Queue","name":"orders","region":"eu-west-1","reason":"r"})").status,
      200);
  EXPECT_EQ(Contents().owners.size(), 1U);
}

TEST_F(OperatorTest, MalformedRequestsAre400) {
  for (const char* body :
       {"", "x", "[]", "{}", R"({"key":1})", R"({"object":{}})", R"({"object":"x"})",
        R"({"object":{"kind":"K"}})", R"({"object":{"kind":"K","name":7}})"}) {
    const HttpResponse response = Confirm(body);
    EXPECT_EQ(response.status, 400) << body;
    EXPECT_EQ(json::parse(response.body).at("status"), 400);
  }
  for (const char* body : {"x", "{}", R"({"reason":"r"})", R"({"key":"k"})",
                           R"({"type":"s3/Bucket","reason":"r"})", R"({"key":"k","reason":1})"}) {
    EXPECT_EQ(Release(body).status, 400) << body;
  }
  EXPECT_EQ(Release(R"({"key":"k","reason":"r"})").status, 404);
}

TEST_F(OperatorTest, AFaultOfTheStoreIs503) {
  store_.FailNextApply({ErrorCode::kUnavailable, "disk full"});
  const HttpResponse response = Confirm(kClaimObject);
  EXPECT_EQ(response.status, 503);
  EXPECT_EQ(response.headers.size(), 1U);
  store_.FailNextRead({ErrorCode::kDataLoss, "damaged"});
  EXPECT_EQ(Lookup({{"key", "k"}}).status, 500);
}

}  // namespace api_operator_test
}  // namespace truce
