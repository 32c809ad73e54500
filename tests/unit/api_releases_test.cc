// POST /api/v1/releases: the plan of what is orphaned, all or nothing, or each by itself.
#include "registry/ownership/rows.h"
#include "webhook/api/rest/operations.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/support/admission_fixture.h"
#include "tests/support/operator_calls.h"

namespace truce {
namespace api_releases_test {

using nlohmann::json;

class ReleasesTest : public AdmissionFixture {
 protected:
  ReleasesTest() {
    for (const char* name : {"logs", "media", "backups"}) Put(name, Record::kOrphaned);
    Put("artifacts", Record::kNone);
  }

  void Put(const std::string& name, Record record, bool is_protected = false) {
    const auto decide = [&](const Facts&) {
      Owner owner;
      owner.key.text = "s3/Bucket|aws|||name=" + name;
      owner.id.text = (name + "aaaaaaaaaaaaa").substr(0, 13);
      owner.identity.type = "s3/Bucket";
      owner.name = name;
      owner.root = {"local", "platform.example.org", "ObjectStorage", "team-a", name};
      owner.party = {"ns:local/team-a"};
      owner.service = "storage";
      owner.record = record;
      Changes changes;
      changes.put_owners.push_back(owner);
      changes.put_names.push_back({.name = owner.key, .resource = owner.id});
      if (is_protected) {
        Agreement mark;
        mark.id.text = owner.id.text;
        mark.kind = AgreementKind::kProtection;
        mark.resource = owner.id;
        mark.reason = "customer data";
        changes.put_agreements.push_back(mark);
      }
      return changes;
    };
    ASSERT_TRUE(calls_.store()
                    .Apply({}, decide, std::chrono::steady_clock::now() + std::chrono::seconds(20))
                    .ok());
  }

  HttpResponse Give(const json& body, const std::string& if_match = "") {
    return calls_.Post("/api/v1/releases", body.dump(), if_match);
  }
  std::size_t Owned() const { return Contents().owners.size(); }

  const json plan_ = {{"service", "storage"}};
  const InForce<AdmissionPolicy>& policy_view_ = service_.in_force();
  OperatorCalls calls_{store_, clock_, policy_view_, ReleaseRoutes};
};

TEST_F(ReleasesTest, ThePlanHoldsWhatIsOrphanedAndWritesNothing) {
  const HttpResponse response = Give(plan_);
  ASSERT_EQ(response.status, 200) << response.body;
  const json plan = json::parse(response.body);
  EXPECT_EQ(plan.at("applied"), false);
  EXPECT_EQ(plan.at("complete"), true);
  ASSERT_EQ(plan.at("items").size(), 3U);
  EXPECT_EQ(plan.at("items")[0].at("result"), "planned");
  EXPECT_EQ(Owned(), 4U);
  EXPECT_EQ(json::parse(Give({{"service", "storage"}, {"name", "logs"}}).body)["items"].size(), 1U);
  EXPECT_TRUE(json::parse(Give({{"service", "nobody"}}).body)["items"].empty());
}

TEST_F(ReleasesTest, WholeIsAllOrNothingAndOnlyWhatWasPlanned) {
  const std::string tag = OperatorCalls::TagOf(Give(plan_));
  json apply = plan_;
  apply["apply"] = "whole";
  EXPECT_EQ(Give(apply, tag).status, 400) << "without a reason";
  apply["reason"] = "deleted by hand";
  EXPECT_EQ(Give(apply).status, 428);
  EXPECT_EQ(Give(apply, "\"other\"").status, 412);
  Put("further", Record::kOrphaned);
  EXPECT_EQ(Give(apply, tag).status, 412) << "one more than planned";
  EXPECT_EQ(Owned(), 5U);
  const HttpResponse done = Give(apply, OperatorCalls::TagOf(Give(plan_)));
  ASSERT_EQ(done.status, 200) << done.body;
  EXPECT_EQ(json::parse(done.body).at("released"), 4);
  EXPECT_EQ(Owned(), 1U) << "what is not orphaned stays";
  const AuditEntry last = Contents().audit.back();
  EXPECT_EQ(last.actor, "operator");
  EXPECT_EQ(last.cause, "released by operator: deleted by hand");
}

TEST_F(ReleasesTest, EachByItselfTellsTheResults) {
  json apply = plan_;
  apply["apply"] = "each";
  apply["reason"] = "r";
  const HttpResponse done = Give(apply, "*");
  ASSERT_EQ(done.status, 200) << done.body;
  const json result = json::parse(done.body);
  EXPECT_EQ(result.at("released"), 3);
  for (const json& item : result.at("items")) EXPECT_EQ(item.at("result"), "released");
  EXPECT_EQ(Owned(), 1U);
}

TEST_F(ReleasesTest, WhatIsProtectedStays) {
  Put("customers", Record::kOrphaned, true);
  const json plan = json::parse(Give(plan_).body);
  ASSERT_EQ(plan.at("items").size(), 4U);
  EXPECT_EQ(plan.at("items")[1].at("result"), "protected");
  EXPECT_EQ(plan.at("items")[1].at("detail"),
            "S3 bucket \"customers\" is protected: customer data; first lift the protection: "
            "`truce protect s3/Bucket/customers --off --reason '…'`");
  json apply = plan_;
  apply["apply"] = "whole";
  apply["reason"] = "r";
  EXPECT_EQ(Give(apply, "*").status, 409);
  EXPECT_EQ(Owned(), 5U);
  apply["apply"] = "each";
  const json result = json::parse(Give(apply, "*").body);
  EXPECT_EQ(result.at("released"), 3);
  EXPECT_EQ(result.at("items")[1].at("result"), "protected");
  EXPECT_EQ(Owned(), 2U);
}

TEST_F(ReleasesTest, BadRequestsAreRefused) {
  for (const json& body :
       {json::object(), json{{"reason", "r"}}, json{{"service", ""}}, json{{"type", "s3/Bukcet"}},
        json{{"service", "a"}, {"apply", "all"}, {"reason", "r"}}, json{{"state", "held"}},
        json{{"service", 7}}, json::array()}) {
    EXPECT_EQ(Give(body, "*").status, 400) << body;
  }
}

}  // namespace api_releases_test
}  // namespace truce
