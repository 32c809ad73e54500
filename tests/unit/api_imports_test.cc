// POST /api/v1/imports: the plan, all or nothing, again and again the same, retiring.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "registry/ownership/rows.h"
#include "tests/support/admission_fixture.h"
#include "tests/support/operator_calls.h"
#include "webhook/api/rest/operations.h"

namespace truce {
namespace api_imports_test {

using nlohmann::json;

class ImportsTest : public AdmissionFixture {
 protected:
  HttpResponse Give(const json& body, const std::string& if_match = "") {
    return calls_.Post(kPath, body.dump(), if_match);
  }
  json Plan(const json& body) {
    const HttpResponse response = Give(body);
    EXPECT_EQ(response.status, 200) << response.body;
    return json::parse(response.body, nullptr, false);
  }
  json ListOf(std::initializer_list<const char*> buckets) {
    json resources = json::array();
    for (const char* name : buckets) {
      resources.push_back({{"type", "s3/Bucket"}, {"name", name}, {"service", "network"}});
    }
    return {{"source", "terraform:net"}, {"resources", resources}};
  }
  // Empty when nobody owns it.
  Owner OwnerOf(const std::string& bucket) const {
    for (Owner& owner : Contents().owners) {
      if (owner.name == bucket) return std::move(owner);
    }
    return {};
  }
  HttpResponse Apply(json body) {
    body["apply"] = true;
    return Give(body, "*");
  }

  static constexpr char kPath[] = "/api/v1/imports";
  const InForce<AdmissionPolicy>& policy_view_ = service_.in_force();
  OperatorCalls calls_{store_, clock_, policy_view_, ImportRoutes};
};

TEST_F(ImportsTest, PlanThenWholeThenNothingMore) {
  const json list = ListOf({"prod-a", "prod-b"});
  const auto before = Contents();
  const HttpResponse plan = Give(list);
  EXPECT_EQ(json::parse(plan.body).at("counts").at("new"), 2);
  EXPECT_EQ(Contents(), before);
  json apply = list;
  apply["apply"] = true;
  EXPECT_EQ(Give(apply).status, 428);
  EXPECT_EQ(Give(apply, "\"other\"").status, 412);
  EXPECT_EQ(Contents(), before);
  ASSERT_EQ(Give(apply, OperatorCalls::TagOf(plan)).status, 200);
  const auto after = Contents();
  ASSERT_EQ(after.owners.size(), 2U);
  EXPECT_EQ(after.owners[0].record, Record::kImported);
  EXPECT_EQ(after.owners[0].service, "network");
  EXPECT_EQ(after.audit.size(), 2U);
  EXPECT_EQ(Plan(list).at("counts").at("owned"), 2);
  EXPECT_EQ(Apply(list).status, 200);
  EXPECT_EQ(Contents(), after);
  const json sources = json::parse(calls_.Get(kPath).body);
  EXPECT_EQ(sources.at("items"), json::parse(R"([{"source":"terraform:net","resources":2}])"));
}

TEST_F(ImportsTest, ADeclarationThatWouldAdoptOneIsRefused) {
  ASSERT_EQ(Apply(ListOf({"prod-a"})).status, 200);
  EXPECT_FALSE(Send(Claim("team-a", "x", "prod-a", "service-a")).allowed);
}

TEST_F(ImportsTest, ConflictsRefuseTheWholeListUnlessSkipped) {
  ASSERT_TRUE(Send(Claim("team-a", "x", "prod-a", "service-a")).allowed);
  const auto before = Contents();
  json list = ListOf({"prod-a", "prod-b"});
  const json plan = Plan(list);
  EXPECT_EQ(plan.at("counts").at("conflicting"), 1);
  EXPECT_EQ(plan.at("items").at(0).at("service"), "service-a");
  EXPECT_EQ(Apply(list).status, 409);
  EXPECT_EQ(Contents(), before);
  list["skip"] = {"conflicting"};
  EXPECT_EQ(Apply(list).status, 200);
  EXPECT_EQ(Contents().owners.size(), 2U);
  EXPECT_TRUE(OwnerOf("prod-a").contested) << "the list claims it";
  EXPECT_EQ(memory_.Counts().conflicts, 1U);
  json none = ListOf({"prod-b"});
  none["retire"] = true;
  EXPECT_EQ(Plan(none).at("counts").at("retired"), 1);
  EXPECT_EQ(Apply(none).status, 200);
  EXPECT_FALSE(OwnerOf("prod-a").contested);
  json other = ListOf({"prod-b"});
  other["source"] = "terraform:other";
  EXPECT_EQ(Plan(other).at("counts").at("conflicting"), 1);
}

TEST_F(ImportsTest, WhatCannotBeToldIsSaid) {
  json list = ListOf({"prod-a"});
  list["resources"].push_back({{"type", "no/Type"}, {"name", "x"}, {"address", "a.b"}});
  list["resources"].push_back({{"type", "sqs/Queue"}, {"name", "jobs"}});
  list["resources"].push_back({{"type", "s3/Bucket"}, {"name", "x\xE2\x80\x8By"}});
  list["resources"].push_back({{"type", "s3/Bucket"}, {"problem", "why not"}});
  const json plan = Plan(list);
  EXPECT_EQ(plan.at("counts").at("unknown"), 4);
  EXPECT_EQ(plan.at("items").at(1).at("why"), "there is no such type");
  EXPECT_EQ(plan.at("items").at(4).at("why"), "why not");
  EXPECT_EQ(Apply(list).status, 409);
  EXPECT_TRUE(Contents().owners.empty());
  list["skip"] = {"unknown"};
  EXPECT_EQ(Apply(list).status, 200);
  EXPECT_EQ(Contents().owners.size(), 1U);
}

TEST_F(ImportsTest, APartThatIsEmptyIsNotSaid) {
  json list = {{"source", "terraform:dns"}, {"resources", json::array()}};
  list["resources"].push_back({{"type", "route53/Record"},
                               {"parts",
                                {{"zoneId", "Z0123456789ABC"},
                                 {"name", "www.example.org"},
                                 {"type", "A"},
                                 {"setIdentifier", ""}}}});
  list["resources"].push_back(
      {{"type", "elbv2/LBTargetGroupAttachment"},
       {"region", "eu-west-1"},
       {"account", "123456789012"},
       {"parts",
        {{"targetGroupArn",
          "arn:aws:elasticloadbalancing:eu-west-1:123456789012:targetgroup/shop/0123456789abcdef"},
         {"targetId", "i-0123456789abcdef0"},
         {"port", ""},
         {"availabilityZone", ""}}}});
  list["resources"].push_back({{"type", "s3/Bucket"}, {"parts", {{"name", ""}}}});
  const json plan = Plan(list);
  EXPECT_EQ(plan.at("counts").at("new"), 2) << plan;
  EXPECT_EQ(plan.at("items").at(2).at("action"), "unknown") << plan;
}

TEST_F(ImportsTest, ABadResourceIsNamed) {
  const auto detail = [this](const json& resource) {
    json list = ListOf({"prod-a"});
    list["resources"].push_back(resource);
    return json::parse(Give(list).body).value("detail", "");
  };
  EXPECT_EQ(detail({{"type", "s3/Bucket"}, {"name", "a\nb"}, {"address", "aws_s3_bucket.b"}}),
            "resources[1] (aws_s3_bucket.b): \"name\" is not a line of text");
  EXPECT_EQ(detail({{"type", "s3/Bucket"}, {"parts", {{"name", 1}}}}),
            "resources[1]: \"parts\" holds something that is not a line of text");
}

TEST_F(ImportsTest, RetiresWhatVanishedOfItsOwnSourceOnly) {
  ASSERT_EQ(Apply(ListOf({"prod-a", "prod-b"})).status, 200);
  json other = ListOf({"prod-c"});
  other["source"] = "terraform:other";
  ASSERT_EQ(Apply(other).status, 200);
  json less = ListOf({"prod-b"});
  EXPECT_EQ(Plan(less).at("counts").at("retired"), 0);
  less["retire"] = true;
  EXPECT_EQ(Plan(less).at("counts").at("retired"), 1);
  ASSERT_EQ(Apply(less).status, 200);
  EXPECT_EQ(Contents().owners.size(), 2U);
  EXPECT_EQ(Contents().audit.back().cause, "released by operator: no longer in terraform:net");
}

TEST_F(ImportsTest, WhatIsProtectedIsNotRetired) {
  ASSERT_EQ(Apply(ListOf({"prod-a", "prod-b"})).status, 200);
  Agreement mark;
  mark.id = {"aaaaaaaaaaaaa"};
  mark.kind = AgreementKind::kProtection;
  mark.resource = OwnerOf("prod-a").id;
  mark.reason = "customer data";
  const auto protect = [&](const Facts&) {
    Changes changes;
    changes.put_agreements.push_back(mark);
    return changes;
  };
  ASSERT_TRUE(calls_.store().Apply({}, protect, Deadline::max()).ok());
  json none = ListOf({});
  none["retire"] = true;
  const json plan = Plan(none);
  EXPECT_EQ(plan.at("counts").at("retired"), 1);
  EXPECT_EQ(plan.at("items").at(1).at("action"), "kept");
  EXPECT_EQ(plan.at("items").at(1).at("name"), "prod-a");
  ASSERT_EQ(Apply(none).status, 200);
  ASSERT_EQ(Contents().owners.size(), 1U);
  EXPECT_EQ(Contents().owners.at(0).name, "prod-a");
}

TEST_F(ImportsTest, AChangeIsWrittenAndKeepsTheId) {
  json list = ListOf({"prod-a"});
  ASSERT_EQ(Apply(list).status, 200);
  const ResourceId id = Contents().owners.at(0).id;
  list["resources"][0]["service"] = "storage";
  EXPECT_EQ(Plan(list).at("counts").at("changed"), 1);
  ASSERT_EQ(Apply(list).status, 200);
  EXPECT_EQ(Contents().owners.at(0).service, "storage");
  EXPECT_EQ(Contents().owners.at(0).id, id);
}

TEST_F(ImportsTest, BadBodies) {
  for (const char* body :
       {"", "[]", "{}", R"({"source":"a"})", R"({"source":"a/b","resources":[]})",
        R"({"source":"","resources":[]})", R"({"source":1,"resources":[]})",
        R"({"source":"a","resources":{}})", R"({"source":"a","resources":[1]})",
        R"({"source":"a","resources":[{"x":"y"}]})", R"({"source":"a","resources":[{"type":1}]})",
        R"({"source":"a","resources":[{"parts":[]}]})",
        R"({"source":"a","resources":[{"parts":{"name":1}}]})",
        R"({"source":"a","resources":[],"skip":"unknown"})",
        R"({"source":"a","resources":[],"skip":["all"]})",
        R"({"source":"a","resources":[],"apply":"yes"})",
        R"({"source":"a","resources":[],"other":1})",
        R"({"source":"a","resources":[{"type":"s3/Bucket","name":"a\nb"}]})"}) {
    EXPECT_EQ(calls_.Post(kPath, body).status, 400) << body;
  }
}

TEST_F(ImportsTest, AFullDiskImportsNothing) {
  store_.FailNextApply({ErrorCode::kUnavailable, "disk full"});
  EXPECT_EQ(Apply(ListOf({"prod-a"})).status, 503);
  EXPECT_TRUE(Contents().owners.empty());
}

}  // namespace api_imports_test
}  // namespace truce
