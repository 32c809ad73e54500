// The REST API's handlers on a memory store: lists and cursors, one resource, lookup, release,
// checks, audit; and who may see what.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>

#include "registry/ownership/ledger.h"
#include "registry/ownership/names.h"
#include "registry/ownership/sight.h"
#include "tests/support/rest_fixture.h"
#include "tests/support/store_samples.h"
#include "tests/support/validate_now.h"
#include "webhook/api/rest/openapi.h"
#include "webhook/api/rest/queries.h"

namespace truce {
namespace api_rest_test {

using namespace std::chrono_literals;
using nlohmann::json;

TEST_F(RestTest, ListsEverythingByPages) {
  for (int i = 0; i < 25; ++i) {
    Declare("team-a", "bucket-" + std::to_string(100 + i), i % 2 == 0 ? "even" : "odd");
  }
  std::set<std::string> seen;
  std::vector<std::pair<std::string, std::string>> query = {{"limit", "10"}};
  int pages = 0;
  while (true) {
    const json page = Get("/api/v1/resources", query);
    for (const json& item : page.at("items")) EXPECT_TRUE(seen.insert(item.at("name")).second);
    ++pages;
    if (!page.contains("nextCursor")) break;
    // A write between two pages moves nothing.
    Declare("team-a", "aaa-" + std::to_string(pages), "late");
    query = {{"limit", "10"}, {"cursor", page.at("nextCursor")}};
  }
  EXPECT_EQ(pages, 3);
  EXPECT_EQ(seen.size(), 25U);
  EXPECT_EQ(Get("/api/v1/resources", {{"service", "odd"}}).at("items").size(), 12U);
  EXPECT_EQ(Get("/api/v1/resources", {{"name", "bucket-103"}}).at("items").size(), 1U);
  EXPECT_EQ(Get("/api/v1/resources", {{"state", "held"}}).at("items").size(), 0U);
  EXPECT_EQ(
      Get("/api/v1/resources", {{"type", "s3/Bucket"}, {"namespace", "team-b"}}).at("items").size(),
      0U);
}

TEST_F(RestTest, FindsByTheBeginningOrAPartOfAName) {
  for (const char* name : {"orders-a", "orders-b", "old-orders", "else"}) {
    Declare("team-a", name, "orders");
  }
  Declare("team-b", "orders-of-b", "other");
  // More than one search may look at, of another service, namespace and type.
  constexpr std::size_t kMany = 10'000;
  Changes changes;
  for (std::size_t i = 0; i < kMany; ++i) {
    Owner owner = testing::SampleOwner("many-orders-" + std::to_string(i), "u");
    owner.id = {"id-" + std::to_string(i)};
    owner.key = {"sqs/Queue|aws||us-west-2|name=" + owner.name};
    owner.root.ns = "far";
    owner.identity.type = "sqs/Queue";
    changes.put_names.push_back({.name = owner.key, .resource = owner.id});
    changes.put_owners.push_back(std::move(owner));
  }
  ASSERT_TRUE(testing::Write(store_, changes).ok());
  const auto found = [&](Query query) {
    std::set<std::string> names;
    const json page = Get("/api/v1/resources", std::move(query));
    for (const json& item : page.at("items")) names.insert(item.at("name"));
    return names;
  };
  using Names = std::set<std::string>;
  const Names of_team_a = {"old-orders", "orders-a", "orders-b"};
  for (const char* sort : {"key", "name"}) {
    EXPECT_EQ(found({{"name", "orders-*"}, {"sort", sort}}),
              (Names{"orders-a", "orders-b", "orders-of-b"}));
    EXPECT_EQ(found({{"name", "ORDERS-*"}, {"namespace", "team-a"}, {"sort", sort}}),
              (Names{"orders-a", "orders-b"}));
    EXPECT_EQ(found({{"name", "*RDER*"}, {"service", "orders"}, {"sort", sort}}), of_team_a);
    EXPECT_EQ(found({{"name", "*order*"}, {"namespace", "team-a"}, {"sort", sort}}), of_team_a);
    EXPECT_EQ(found({{"name", "*ders*b"}, {"type", "s3/Bucket"}, {"sort", sort}}),
              (Names{"orders-b", "orders-of-b"}));
  }
  EXPECT_EQ(found({{"name", "ORDERS-A"}}), Names{});
  EXPECT_EQ(found({{"name", "*orders*"}, {"state", "orphaned"}}), Names{});
  // By pages, and without an index: what looks at too many is refused, if nothing leads there.
  const json first = Get("/api/v1/resources", {{"name", "o*"}, {"limit", "3"}});
  EXPECT_EQ(first.at("items").size(), 3U);
  const std::string cursor = first.at("nextCursor");
  EXPECT_EQ(found({{"name", "o*"}, {"limit", "3"}, {"cursor", cursor}}).size(), 1U);
  EXPECT_EQ(found({{"name", "*-orders-77"}, {"type", "sqs/Queue"}}), Names{"many-orders-77"});
  const json refused = Get("/api/v1/resources", {{"name", "*orders-77"}}, 400);
  EXPECT_NE(refused.at("detail").get<std::string>().find("add service, namespace or type"),
            std::string::npos);
  Get("/api/v1/resources", {{"name", "*orders-77"}, {"region", "us-west-2"}}, 400);
  EXPECT_EQ(Get("/api/v1/resources", {{"name", "*"}}).at("items").size(), 100U);
  // Other lists than that of all are short.
  Changes fewer;
  for (const Owner& owner : changes.put_owners) fewer.drop_owners.push_back(owner.id);
  for (const ResourceName& name : changes.put_names) fewer.drop_names.push_back(truce::IdOf(name));
  ASSERT_TRUE(testing::Write(store_, fewer).ok());
  EXPECT_EQ(found({{"name", "*ders-*"}}), (Names{"orders-a", "orders-b", "orders-of-b"}));
}

TEST_F(RestTest, SortsAndSealsCursors) {
  for (const char* name : {"bbb", "aaa", "ccc"}) Declare("team-a", name, std::string("s-") + name);
  const json first = Get("/api/v1/resources", {{"sort", "name"}, {"limit", "2"}});
  EXPECT_EQ(first.at("items").at(0).at("name"), "aaa");
  EXPECT_EQ(first.at("items").at(1).at("name"), "bbb");
  const std::string cursor = first.at("nextCursor");
  const json second = Get("/api/v1/resources", {{"sort", "name"}, {"cursor", cursor}});
  ASSERT_EQ(second.at("items").size(), 1U);
  EXPECT_EQ(second.at("items").at(0).at("name"), "ccc");
  // Behind "-" the last first, over pages, by any column.
  const json last = Get("/api/v1/resources", {{"sort", "-name"}, {"limit", "2"}});
  EXPECT_EQ(last.at("items").at(0).at("name"), "ccc");
  const json then =
      Get("/api/v1/resources", {{"sort", "-name"}, {"cursor", last.at("nextCursor")}});
  ASSERT_EQ(then.at("items").size(), 1U);
  EXPECT_EQ(then.at("items").at(0).at("name"), "aaa");
  EXPECT_EQ(Get("/api/v1/resources", {{"sort", "contested"}}).at("items").size(), 3U);
  // Another question, a forged one, one of another list.
  Get("/api/v1/resources", {{"sort", "service"}, {"cursor", cursor}}, 400);
  std::string forged = cursor;
  forged[50] = forged[50] == 'A' ? 'B' : 'A';
  Get("/api/v1/resources", {{"sort", "name"}, {"cursor", forged}}, 400);
  Get("/api/v1/services", {{"cursor", cursor}}, 400);
  Get("/api/v1/audit", {{"cursor", cursor}}, 400);
  Get("/api/v1/resources", {{"cursor", ""}}, 400);
}

TEST_F(RestTest, BadParametersAre400) {
  for (const Query& query :
       {Query{{"limit", "0"}}, Query{{"limit", "-1"}}, Query{{"limit", "x"}}, Query{{"limit", ""}},
        Query{{"frob", "1"}}, Query{{"name", "a"}, {"name", "b"}}, Query{{"sort", "size"}},
        Query{{"state", "gone"}}, Query{{"type", "s3/Nothing"}}, Query{{"contested", "maybe"}},
        Query{{"name", std::string(3000, 'a')}}, Query{{"name", "a\nb"}},
        Query{{"name", "\xff"}}}) {
    const json problem = Get("/api/v1/resources", query, 400);
    EXPECT_EQ(problem.at("type"), "/problems/malformed");
    EXPECT_FALSE(problem.at("remedy").get<std::string>().empty());
  }
  EXPECT_EQ(Get("/api/v1/resources", {{"limit", "99999999999999999999"}}).at("items").size(), 0U);
  Get("/api/v1/resources/nonsense", {}, 404);
  Get("/api/v1/resources/aaaaaaaaaaaaa", {}, 404);
  Get("/api/v1/nothing", {}, 404);
}

TEST_F(RestTest, OneResourceWithItsHistory) {
  Declare("team-a", "prod-artifacts", "service-a");
  const std::string id = IdOf("prod-artifacts");
  const HttpResponse response = Call("GET", "/api/v1/resources/" + id);
  ASSERT_EQ(response.status, 200) << response.body;
  const json resource = json::parse(response.body);
  EXPECT_EQ(resource.at("service"), "service-a");
  EXPECT_EQ(resource.at("declarations").size(), 1U);
  EXPECT_EQ(resource.at("consumers").size(), 0U);
  EXPECT_EQ(resource.at("history").at(0).at("action"), "granted");
  EXPECT_TRUE(resource.at("historyComplete"));
  EXPECT_FALSE(HeaderOf(response, "ETag").empty());
  EXPECT_FALSE(HeaderOf(response, "X-Request-Id").empty());
}

TEST_F(RestTest, DenialsStandAtTheResource) {
  Declare("team-a", "prod-artifacts", "service-a");
  Sent second = Claim("team-b", "mine", "prod-artifacts", "service-b");
  for (int i = 0; i < 2; ++i) {
    HttpRequest request;
    request.body = BodyOf(second);
    ValidateNow(recorded_service_, request);
  }
  const json denials = Get("/api/v1/denials").at("items");
  ASSERT_EQ(denials.size(), 1U);
  EXPECT_EQ(denials.at(0).at("count"), 2);
  EXPECT_EQ(denials.at(0).at("object").at("namespace"), "team-b");
  EXPECT_EQ(Get("/api/v1/denials", {{"namespace", "team-a"}}).at("items").size(), 0U);
  EXPECT_EQ(Get("/api/v1/resources/" + IdOf("prod-artifacts")).at("denials").size(), 1U);
}

TEST_F(RestTest, LookupTellsWhetherItIsFree) {
  Declare("team-a", "prod-artifacts", "service-a");
  EXPECT_TRUE(Get("/api/v1/resources:lookup", {{"type", "s3/Bucket"}, {"name", "x"}}).at("free"));
  const json taken = Get("/api/v1/resources:lookup", {{"name", "prod-artifacts"}});
  EXPECT_FALSE(taken.at("free"));
  const std::string key = taken.at("resources").at(0).at("key");
  EXPECT_FALSE(Get("/api/v1/resources:lookup", {{"key", key}}).at("free"));
  const std::string arn = taken.at("resources").at(0).at("arn");
  ASSERT_FALSE(arn.empty());
  EXPECT_FALSE(Get("/api/v1/resources:lookup", {{"arn", arn}}).at("free"));
  Get("/api/v1/resources:lookup", {}, 400);
}

TEST_F(RestTest, WhatIsNotUnderstoodIsNeverFree) {
  Declare("team-a", "prod-artifacts", "service-a");
  const std::string path = "/api/v1/resources:lookup";
  for (const Query& query : std::vector<Query>{
           {{"arn", "notanarn"}},
           {{"arn", "arn:nonsense"}},
           {{"resource", "arn:aws:nosuchservice:::x"}},
           {{"resource", "arn:aws:nosuchservice:us-east-1:111111111111:x"}},
           {{"resource", "https://example.org/x"}},
           {{"resource", "nokind/prod-artifacts"}},
           {{"resource", "no/Type/prod-artifacts"}},
           {{"resource", "s3/Nope|aws|||name=prod-artifacts"}},
           {{"key", "s3/Bucket"}},
           {{"key", "prod-artifacts"}},
           {{"name", "x"}, {"account", "12"}},
           {{"name", "x"}, {"region", "us-east1"}},
           {{"name", "x"}, {"type", "s3/Nothing"}},
           {{"resource", "x"}, {"name", "x"}},
           {{"resource", "x"}, {"namespace", "team-a"}},
           {{"type", "s3/Bucket"}},
       }) {
    const json problem = Get(path, query, 400);
    EXPECT_FALSE(problem.at("remedy").get<std::string>().empty());
  }
  const json unknown = Get(path, {{"resource", "nokind/prod-artifacts"}}, 400);
  EXPECT_EQ(unknown.at("remedy"),
            "name it by its name, TYPE/NAME (s3/Bucket/NAME), ARN, URL, an id that AWS gave "
            "(sg-0a1b2c3d), a name or id that truce describe prints, or by an object that declares "
            "it: KIND/NAME or KIND.GROUP/NAME, with its namespace");
  EXPECT_TRUE(Get(path, {{"resource", "prod-nothing"}}).at("free"));
  EXPECT_TRUE(Get(path, {{"resource", "bucket/prod-nothing"}}).at("free"));
  EXPECT_TRUE(Get(path, {{"resource", "arn:aws:s3:::prod-nothing"}}).at("free"));
  EXPECT_TRUE(Get(path, {{"resource", "/aws/lambda/x"}}).at("free"));
}

TEST_F(RestTest, FindsAResourceByAnyOfItsNames) {
  Declare("team-a", "prod-artifacts", "service-a");
  DeclareObject(Bucket("my-logs", "prod-logs"));
  Sent queue = Managed("sqs", "Queue", "q", R"({"name":"jobs","region":"us-east-1"})");
  queue.metadata = R"(,"annotations":{"crossplane.io/external-name":)"
                   R"("https://sqs.us-east-1.amazonaws.com/111111111111/jobs"})";
  DeclareObject(queue);
  Sent group = Managed("ec2", "SecurityGroup", "web",
                       R"({"name":"Web","vpcId":"vpc-12345678","region":"us-east-1"})");
  group.metadata = R"(,"annotations":{"crossplane.io/external-name":"sg-0a1b2c3d"})";
  DeclareObject(group);
  DeclareObject(Managed("sqs", "Queue", "late", R"({"name":"late","region":"us-east-1"})"));
  const auto found = [&](const std::string& word, const std::string& ns = "") {
    Query query = {{"resource", word}};
    if (!ns.empty()) query.emplace_back("namespace", ns);
    std::string names;
    const json answer = Get("/api/v1/resources:lookup", query);
    EXPECT_EQ(answer.at("free"), answer.at("resources").empty());
    for (const json& each : answer.at("resources")) {
      names += each.at("name").get<std::string>() + (each.at("certain") ? " " : "? ");
    }
    return names;
  };
  EXPECT_EQ(found("prod-artifacts"), "prod-artifacts ");
  EXPECT_EQ(found("s3/bucket/prod-artifacts"), "prod-artifacts ");
  EXPECT_EQ(found("bucket/prod-artifacts"), "prod-artifacts ") << "a bucket of that name";
  EXPECT_EQ(found("objectstorage/prod-artifacts"), "prod-artifacts ") << "the claim";
  EXPECT_EQ(found("ObjectStorage.platform.example.org/prod-artifacts", "team-a"),
            "prod-artifacts ");
  EXPECT_EQ(found("bucket/my-logs"), "prod-logs ");
  EXPECT_EQ(found("buckets.s3.aws.upbound.io/my-logs"), "prod-logs ");
  EXPECT_EQ(found("bucket/prod-logs"), "prod-logs ");
  EXPECT_EQ(found("arn:aws:s3:::prod-logs"), "prod-logs ");
  EXPECT_EQ(found("s3/Bucket|aws|||name=prod-logs"), "prod-logs ");
  EXPECT_EQ(found("https://sqs.us-east-1.amazonaws.com/111111111111/jobs"), "jobs ");
  EXPECT_EQ(found("arn:aws:sqs:us-east-1:111111111111:jobs"), "jobs ");
  EXPECT_EQ(found("https://sqs.us-east-1.amazonaws.com/222222222222/jobs"), "");
  EXPECT_EQ(found("arn:aws:sqs:us-east-1:222222222222:late"), "late? ") << "nobody knows";
  EXPECT_EQ(found("sg-0a1b2c3d"), "vpc-12345678/Web ");
  EXPECT_EQ(found("VPC-12345678/web"), "vpc-12345678/Web ") << "AWS folds the case";
  EXPECT_EQ(found("JOBS"), "") << "AWS does not";
  DeclareObject(Managed("route53", "Zone", "Z2FDTNDATAQYW2", R"({"name":"example.org"})"));
  Sent record =
      Managed("route53", "Record", "www", R"({"name":"www","type":"A","zoneId":"Z0123456789ABC"})");
  DeclareObject(record);
  record = Managed("route53", "Record", "api",
                   R"({"name":"API.example.com","type":"A","zoneId":"Z0123456789ABC"})");
  DeclareObject(record);
  EXPECT_EQ(found("api.example.com"), "API.example.com ");
  EXPECT_EQ(found("Api.Example.com."), "API.example.com ");
  EXPECT_EQ(found("route53/Record/api.example.com"), "API.example.com ");
  EXPECT_EQ(found("www.example.com"), "") << "nobody declares its zone";
  Sent zone = Managed("route53", "Zone", "com", R"({"name":"example.com"})");
  zone.metadata = R"(,"annotations":{"crossplane.io/external-name":"Z0123456789ABC"})";
  DeclareObject(zone);
  EXPECT_EQ(found("www.example.com"), "www ");
  EXPECT_EQ(found("WWW.example.com."), "www ");
  EXPECT_EQ(found("www.example.org"), "");
  EXPECT_EQ(found(IdOf("prod-logs")), "prod-logs ");
  Get("/api/v1/resources:lookup", {{"resource", "objectstorage/x"}}, 404);
  Get("/api/v1/resources:lookup", {{"resource", "bucket/my-logs"}, {"namespace", "team-a"}});
  // By every name that is shown.
  const std::string jobs =
      Get("/api/v1/resources:lookup", {{"name", "jobs"}}).at("resources").at(0).at("id");
  const json whole = Get("/api/v1/resources/" + jobs);
  EXPECT_EQ(whole.at("whyNotFree").get<std::string>().find("reserved for Queue"), 0U);
  EXPECT_EQ(whole.at("names").size(), 2U);
  for (const json& name : whole.at("names")) EXPECT_EQ(found(name.at("name")), "jobs ");
}

TEST_F(RestTest, AnObjectsNameTellsStrangersNothing) {
  Declare("team-a", "prod-artifacts", "service-a");
  DeclareObject(Bucket("my-logs", "prod-logs"));
  user_ = "robot";
  const std::string path = "/api/v1/resources:lookup";
  EXPECT_TRUE(Get(path, {{"resource", "bucket/my-logs"}}).at("free"));
  Get(path, {{"resource", "objectstorage/prod-artifacts"}}, 404);
  reviews_.allowed.insert("robot get ownerships in namespace team-a");
  EXPECT_FALSE(Get(path, {{"resource", "objectstorage/prod-artifacts"}}).at("free"));
}

TEST_F(RestTest, AnIdFromBeforeAMergeFindsTheResource) {
  Declare("team-a", "prod-artifacts", "service-a");
  const std::string id = IdOf("prod-artifacts");
  const std::string former = "abcdefghijkl2";
  const auto keep = [&](const Facts& facts) {
    static const PartyRules kRules;
    Ledger ledger(facts, clock_.Now(), random_ids_, kRules);
    KeepFormerId({former}, {id}, ledger);
    return ledger.Take();
  };
  ASSERT_TRUE(store_.Apply({}, keep, std::chrono::steady_clock::now() + 5s).ok());
  const json whole = Get("/api/v1/resources/" + former);
  EXPECT_EQ(whole.at("id"), id);
  EXPECT_EQ(whole.at("formerIds"), json::array({former}));
  EXPECT_EQ(whole.at("names").size(), 1U) << "it is no name of AWS's";
  const json found = Get("/api/v1/resources:lookup", {{"resource", former}});
  EXPECT_EQ(found.at("resources").at(0).at("id"), id);
  const std::string tag = HeaderOf(Call("GET", "/api/v1/resources/" + former), "ETag");
  const std::string path = "/api/v1/resources/" + former + ":release";
  EXPECT_EQ(Call("POST", path, R"({"reason":"r"})", tag).status, 200);
  Get("/api/v1/resources/" + former, {}, 404);
}

TEST_F(RestTest, StrangersLearnWhatDisclosureAllows) {
  Declare("team-a", "prod-artifacts", "service-a");
  const std::string id = IdOf("prod-artifacts");
  user_ = "robot";
  Get("/api/v1/resources", {}, 403);
  Get("/api/v1/audit", {}, 403);
  json seen = Get("/api/v1/resources/" + id);
  EXPECT_TRUE(seen.at("redacted"));
  EXPECT_EQ(seen.at("service"), "service-a");
  EXPECT_EQ(seen.at("root").at("namespace"), "team-a") << "as the refusal told";
  ChangePolicy([](AdmissionPolicy& policy) { policy.disclosure = Disclosure::kService; });
  seen = Get("/api/v1/resources/" + id);
  EXPECT_TRUE(seen.contains("service") && seen.contains("contact") && !seen.contains("root"));
  ChangePolicy([](AdmissionPolicy& policy) { policy.disclosure = Disclosure::kTaken; });
  seen = Get("/api/v1/resources:lookup", {{"name", "prod-artifacts"}}).at("resources").at(0);
  EXPECT_EQ(seen,
            json::parse(
                R"({"type":"s3/Bucket","name":"prod-artifacts","redacted":true,"certain":true})"));
  reviews_.allowed.insert("robot get ownerships in namespace team-a");
  EXPECT_FALSE(Get("/api/v1/resources/" + id).at("redacted"));
  reviews_.allowed.insert("robot list ownerships in namespace team-a");
  EXPECT_EQ(Get("/api/v1/resources", {{"namespace", "team-a"}}).at("items").size(), 1U);
}

TEST_F(RestTest, ReleaseNeedsRightStateAndReason) {
  Declare("team-a", "prod-artifacts", "service-a");
  const std::string id = IdOf("prod-artifacts");
  const std::string path = "/api/v1/resources/" + id + ":release";
  const std::string tag = HeaderOf(Call("GET", "/api/v1/resources/" + id), "ETag");
  const std::string reason = R"({"reason":"moved away"})";
  EXPECT_EQ(Call("POST", path, reason).status, 428);
  EXPECT_EQ(Call("POST", path, reason, "\"other\"").status, 412);
  EXPECT_EQ(Call("POST", path, "{}", tag).status, 400);
  EXPECT_EQ(Call("POST", path, R"({"reason":"a\nb"})", tag).status, 400);
  EXPECT_EQ(Call("POST", path, R"({"reason":"a","force":1})", tag).status, 400);
  EXPECT_EQ(Call("POST", path, std::string(100, '['), tag).status, 400);
  EXPECT_EQ(Call("POST", "/api/v1/resources/" + id + ":frob", reason, tag).status, 404);
  user_ = "robot";
  EXPECT_EQ(Call("POST", path, reason, tag).status, 403);
  reviews_.allowed.insert("robot create ownerships/release in namespace team-a");
  EXPECT_EQ(Call("POST", path, reason, tag).status, 200);
  user_.clear();
  EXPECT_EQ(Call("POST", path, reason, tag).status, 404);
  const json lines = Get("/api/v1/audit", {{"id", id}}).at("items");
  ASSERT_GE(lines.size(), 2U);
  EXPECT_EQ(lines.at(0).at("actor"), "robot (Kubernetes token) from 192.0.2.7");
  EXPECT_EQ(lines.at(0).at("cause"), "released by operator: moved away");
  EXPECT_TRUE(Get("/api/v1/resources:lookup", {{"name", "prod-artifacts"}}).at("free"));
}

TEST_F(RestTest, AReleaseByTheOperatorFreesTheName) {
  Declare("team-a", "prod-artifacts", "service-a");
  const std::string path = "/api/v1/resources/" + IdOf("prod-artifacts") + ":release";
  const HttpResponse response = Call("POST", path, R"({"reason":"moved"})", "*");
  ASSERT_EQ(response.status, 200) << response.body;
  const json released = json::parse(response.body).at("released");
  EXPECT_EQ(released.at("type"), "s3/Bucket");
  EXPECT_EQ(released.at("name"), "prod-artifacts");
  EXPECT_EQ(released.at("service"), "service-a");
  EXPECT_EQ(released.at("state"), "reserved");
  EXPECT_EQ(released.at("root").at("namespace"), "team-a");
  const json line = Get("/api/v1/audit", {{"action", "released"}}).at("items").at(0);
  EXPECT_EQ(line.at("actor"), "operator");
  EXPECT_EQ(line.at("cause"), "released by operator: moved");
  Declare("team-b", "prod-artifacts", "service-b");
}

// What the watch shows of the owner's chain is told, with the two ways.
TEST_F(RestTest, AReleaseOfWhatLivesOrIsProtectedIsRefused) {
  Declare("team-a", "prod-artifacts", "service-a");
  ChangePolicy([](AdmissionPolicy& policy) { policy.watched = true; });
  const KeyText key{"s3/Bucket|aws|||name=prod-artifacts"};
  const auto confirm = [&](const Facts& facts) {
    const PartyRules parties;
    Ledger ledger(facts, clock_.Now(), random_ids_, parties);
    ConfirmByOperator(facts.RowsOf(facts.Named(key)->resource).at(0).slot, "watch", ledger);
    return ledger.Take();
  };
  ASSERT_TRUE(store_.Apply({}, confirm, std::chrono::steady_clock::now() + 5s).ok());
  const std::string path = "/api/v1/resources/" + IdOf("prod-artifacts") + ":";
  const std::string reason = R"({"reason":"moved"})";
  const auto refusal = [&] {
    const HttpResponse response = Call("POST", path + "release", reason, "*");
    EXPECT_EQ(response.status, 409) << response.body;
    return json::parse(response.body);
  };
  json problem = refusal();
  EXPECT_EQ(problem.at("detail"),
            "ObjectStorage team-a/prod-artifacts manages S3 bucket \"prod-artifacts\" and lives: "
            "released, the name would be anybody's");
  EXPECT_EQ(
      problem.at("remedy"),
      "end it: take it out of ObjectStorage team-a/prod-artifacts when what that composes only "
      "observes; or hand it over: `truce transfer "
      "s3/Bucket/prod-artifacts --to NAMESPACE --successor KIND/NAMESPACE/NAME --force "
      "--reason '…'`");
  EXPECT_EQ(Call("POST", path + "protect", R"({"reason":"customer data"})", "*").status, 200);
  problem = refusal();
  EXPECT_EQ(problem.at("detail"), "S3 bucket \"prod-artifacts\" is protected: customer data");
  EXPECT_EQ(problem.at("remedy"),
            "first lift the protection: `truce protect s3/Bucket/prod-artifacts --off --reason "
            "'…'`");
  ASSERT_EQ(Call("POST", path + "unprotect", reason, "*").status, 200);
  // Nobody can read the kind (E7), or another cluster is followed here: a command alone ends it.
  ChangePolicy([](AdmissionPolicy& policy) {
    policy.unwatched = {{"platform.example.org", "ObjectStorage"}};
  });
  EXPECT_EQ(Call("POST", path + "release", reason, "*").status, 200);
}

TEST_F(RestTest, ANameThatFitsSeveralIsToldApartByItsRegion) {
  for (const char* region : {"eu-west-1", "us-west-2"}) {
    Sent queue = Managed("sqs", "Queue", std::string("in-") + region,
                         R"({"name":"orders","region":")" + std::string(region) + R"("})");
    queue.metadata = R"(,"annotations":{"crossplane.io/external-name":"orders"})";
    DeclareObject(queue);
  }
  const std::string path = "/api/v1/resources:lookup";
  Query query = {{"type", "sqs/Queue"}, {"name", "orders"}};
  EXPECT_EQ(Get(path, query).at("resources").size(), 2U);
  query.emplace_back("region", "eu-west-1");
  EXPECT_EQ(Get(path, query).at("resources").size(), 1U);
}

TEST_F(RestTest, ServicesAreCounted) {
  Declare("team-a", "one", "service-a");
  Declare("team-a", "two", "service-a");
  Declare("team-b", "three", "service-b");
  const json page = Get("/api/v1/services", {{"limit", "1"}});
  EXPECT_EQ(page.at("items"), json::parse(R"([{"service":"service-a","ownerships":2}])"));
  const json next = Get("/api/v1/services", {{"limit", "5"}, {"cursor", page.at("nextCursor")}});
  EXPECT_EQ(next.at("items").at(0).at("service"), "service-b");
  const json service = Get("/api/v1/services/service-a");
  EXPECT_EQ(service.at("byType"), json::parse(R"({"s3/Bucket":2})"));
  EXPECT_TRUE(service.at("complete"));
  Get("/api/v1/services/nobody", {}, 404);
}

TEST_F(RestTest, TheAuditLogIsFilteredPagedAndExported) {
  for (int i = 0; i < 5; ++i) Declare("team-a", "bucket-" + std::to_string(i), "service-a");
  const json newest = Get("/api/v1/audit", {{"limit", "2"}});
  ASSERT_EQ(newest.at("items").size(), 2U);
  EXPECT_GT(newest.at("items").at(0).at("number"), newest.at("items").at(1).at("number"));
  std::string text;
  std::vector<std::pair<std::string, std::string>> query = {
      {"format", "ndjson"}, {"order", "oldest"}, {"limit", "2"}};
  for (int pages = 0; pages < 9; ++pages) {
    const HttpResponse response = Ask("/api/v1/audit", query);
    ASSERT_EQ(response.status, 200) << response.body;
    text += response.body;
    const std::string next = HeaderOf(response, "X-Next-Cursor");
    if (next.empty()) break;
    query = {{"format", "ndjson"}, {"order", "oldest"}, {"limit", "2"}, {"cursor", next}};
  }
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 5);
  EXPECT_EQ(Get("/api/v1/audit", {{"action", "released"}}).at("items").size(), 0U);
  EXPECT_EQ(Get("/api/v1/audit", {{"since", "2027-01-01T00:00:00Z"}}).at("items").size(), 0U);
  Get("/api/v1/audit", {{"action", "frob"}}, 400);
  Get("/api/v1/audit", {{"since", "yesterday"}}, 400);
}

TEST_F(RestTest, ChecksSayWhatAdmissionWould) {
  Declare("team-a", "prod-artifacts", "service-a");
  const auto bucket = [](const std::string& name, const std::string& external) {
    return json{{"apiVersion", "s3.aws.upbound.io/v1beta2"},
                {"kind", "Bucket"},
                {"metadata",
                 {{"name", name}, {"annotations", {{"crossplane.io/external-name", external}}}}},
                {"spec", {{"forProvider", {{"region", "eu-west-1"}}}}}};
  };
  const json body = {
      {"items", {bucket("a", "prod-artifacts"), bucket("b", "free-one"), bucket("c", "free-one")}}};
  const auto before = Contents();
  const HttpResponse response = Call("POST", "/api/v1/checks", body.dump());
  ASSERT_EQ(response.status, 200) << response.body;
  const json answer = json::parse(response.body);
  EXPECT_EQ(answer.at("verdict"), "denied");
  EXPECT_EQ(answer.at("items").at(0).at("verdict"), "denied");
  EXPECT_EQ(answer.at("items").at(0).at("findings").at(0).at("rule"), "duplicate-ownership");
  EXPECT_EQ(answer.at("items").at(1).at("verdict"), "allowed");
  EXPECT_EQ(answer.at("items").at(2).at("verdict"), "denied");
  EXPECT_EQ(Contents(), before);
  for (
      const char* bad :
      {"", "[]", "{}", R"({"items":1})", R"({"items":[1]})", R"({"items":[{}]})",
       R"({"items":[],"x":1})", R"({"items":[],"namespace":1})",
       R"({"items":[{"apiVersion":"v1","kind":"K","metadata":{}}]})", R"({"items":[],"items":[]})",
       R"({"items":[{"apiVersion":"v1","kind":"K","metadata":{"name":"n"},"x":{"a":1,"a":2}}]})"}) {
    EXPECT_EQ(Call("POST", "/api/v1/checks", bad).status, 400) << bad;
  }
  user_ = "robot";
  EXPECT_EQ(Call("POST", "/api/v1/checks", body.dump()).status, 403);
}

const char* const kOneCheck =
    R"({"namespace":"team-a","items":[{"apiVersion":"s3.aws.m.upbound.io/v1beta1","kind":"Bucket",)"
    R"("metadata":{"name":"a","annotations":{"crossplane.io/external-name":"a"}},"spec":{}}]})";

// I8.
TEST_F(RestTest, WhoDoesNotSpeakForANamespaceIsToldNothingInItsName) {
  Declare("team-a", "prod-artifacts", "artifacts");
  const auto status_for = [&](const std::string& ns, const std::string& user) {
    user_ = user;
    const json body = {{"items",
                        {{{"apiVersion", "platform.example.org/v1alpha1"},
                          {"kind", "ObjectStorage"},
                          {"metadata", {{"name", "other"}, {"namespace", ns}}},
                          {"spec", {{"parameters", {{"name", "prod-artifacts"}}}}}}}}};
    const HttpResponse response = Call("POST", "/api/v1/checks", body.dump());
    if (ns != "team-a" || response.status != 200) {
      EXPECT_EQ(response.body.find("artifacts/"), std::string::npos) << response.body;
      EXPECT_EQ(response.body.find("team-a/prod"), std::string::npos) << response.body;
    }
    return response.status;
  };
  ChangePolicy([](AdmissionPolicy& policy) { policy.disclosure = Disclosure::kTaken; });
  recorded_service_.SetPolicy(service_.policy());
  EXPECT_EQ(status_for("team-a", "system:serviceaccount:team-a:default"), 200);
  EXPECT_EQ(status_for("team-b", "system:serviceaccount:team-b:default"), 200);
  EXPECT_EQ(status_for("team-a", "system:serviceaccount:team-b:default"), 403);
  EXPECT_EQ(status_for("team-a", "system:serviceaccount:team-a"), 403);
  EXPECT_EQ(status_for("team-a", "system:serviceaccount::team-a:x"), 403);
  EXPECT_EQ(status_for("team-a", "ann"), 403);
  reviews_.allowed = {"ann create checks in namespace team-a"};
  EXPECT_EQ(status_for("team-a", "ann"), 200);
  EXPECT_EQ(status_for("team-b", "ann"), 403);
}

// A forged link makes no stranger one of the chain: no parent of the manifest says who may listen.
TEST_F(RestTest, AManifestOfAForeignChainHearsWhatAStrangerHears) {
  Declare("team-a", "prod-artifacts", "artifacts");
  ChangePolicy([](AdmissionPolicy& policy) { policy.disclosure = Disclosure::kTaken; });
  recorded_service_.SetPolicy(service_.policy());
  user_ = "system:serviceaccount:team-b:default";
  const std::string body =
      R"({"items":[{"apiVersion":"s3.aws.upbound.io/v1beta1","kind":"Bucket","metadata":{"name":"b",)"
      R"("labels":{"crossplane.io/composite":"prod-artifacts"},"annotations":{)"
      R"("crossplane.io/external-name":"prod-artifacts",)"
      R"("crossplane.io/composition-resource-name":"bucket"}},)"
      R"("spec":{"claimRef":{"apiVersion":"platform.example.org/v1alpha1","kind":"ObjectStorage",)"
      R"("namespace":"team-a","name":"prod-artifacts"}}}]})";
  const HttpResponse response = Call("POST", "/api/v1/checks", body);
  EXPECT_EQ(response.status, 200) << response.body;
  EXPECT_EQ(json::parse(response.body).at("items").at(0).at("findings").at(0).at("cause"),
            "S3 bucket \"prod-artifacts\" is already taken.");
  EXPECT_EQ(response.body.find("team-a"), std::string::npos) << response.body;
}

TEST_F(RestTest, ChecksEndAtTheirDeadline) {
  HttpRequest request;
  request.method = "POST";
  request.path = "/api/v1/checks";
  request.body = kOneCheck;
  request.deadline = std::chrono::steady_clock::now() - std::chrono::seconds(1);
  const HttpResponse response = Send(std::move(request));
  EXPECT_EQ(response.status, 503);
  EXPECT_EQ(json::parse(response.body).at("detail"), "the time was over after 0 items");
}

TEST_F(RestTest, ACallerHasOneCheckAtATime) {
  reviews_.allowed = {"robot create checks in namespace team-a",
                      "other create checks in namespace team-a"};
  int same = 0;
  int other = 0;
  user_ = "robot";
  reviews_.on_ask = [&] {
    same = Call("POST", "/api/v1/checks", kOneCheck).status;
    user_ = "other";
    other = Call("POST", "/api/v1/checks", kOneCheck).status;
  };
  EXPECT_EQ(Call("POST", "/api/v1/checks", kOneCheck).status, 200);
  EXPECT_EQ(same, 429);
  EXPECT_EQ(other, 200);
  user_ = "robot";
  EXPECT_EQ(Call("POST", "/api/v1/checks", kOneCheck).status, 200) << "the turn is over";
}

// Names of some types differ by case alone: a grant or a release means the one it spells.
TEST(ResourceFilter, APatternFitsInEitherCaseForWhoLooksOnly) {
  Owner owner;
  owner.name = "Orders-prod";
  EXPECT_TRUE(Fits(owner, {.name = "orders-*", .any_case = true}));
  EXPECT_FALSE(Fits(owner, {.name = "orders-*"}));
  EXPECT_TRUE(Fits(owner, {.name = "Orders-*"}));
  EXPECT_FALSE(Fits(owner, {.name = "orders-prod", .any_case = true}));
}

TEST_F(RestTest, AFaultOfTheStoreIs503) {
  Declare("team-a", "prod-artifacts", "service-a");
  store_.FailNextRead({ErrorCode::kUnavailable, "busy"});
  const HttpResponse response = Call("GET", "/api/v1/resources");
  EXPECT_EQ(response.status, 503);
  EXPECT_EQ(HeaderOf(response, "Retry-After"), "1");
}

TEST_F(RestTest, AboutTheServer) {
  user_ = "robot";
  EXPECT_EQ(Get("/api/v1/version").at("version"), "1.2.3");
  EXPECT_GT(Get("/api/v1/types").at("items").size(), 100U);
  EXPECT_EQ(Get("/api/v1/refusals"), json::parse(R"({"mode": "enforce", "suspended": []})"));
  EXPECT_EQ(Call("GET", "/openapi.yaml").body, OpenApiText());
}

// The specification says of itself that it is whole.
TEST_F(RestTest, EveryRouteIsDescribed) {
  const std::string text(OpenApiText());
  for (const HttpRoute& route : AllRoutes()) {
    if (route.path == "/api/") continue;  // answers for what does not exist
    const std::string_view end = route.match == RouteMatch::kPrefix ? "{" : ":\n";
    const std::string path = std::string("\n  ").append(route.path).append(end);
    EXPECT_NE(text.find(path), std::string::npos) << route.method << " " << route.path;
  }
}

}  // namespace api_rest_test
}  // namespace truce
