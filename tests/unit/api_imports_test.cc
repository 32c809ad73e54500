// POST /api/v1/imports: the plan, all or nothing, again and again the same, retiring.
// POST /api/v1/reservations: a name for a time.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "policies/quotas.h"
#include "registry/ownership/ledger.h"
#include "registry/ownership/lists/import.h"
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

class ReservationsTest : public ImportsTest {
 protected:
  HttpResponse Reserve(const std::string& source, const std::string& bucket, int minutes = 60) {
    return Ask({{"source", source}, {"type", "s3/Bucket"}, {"name", bucket}, {"minutes", minutes}});
  }
  HttpResponse LetGo(const std::string& source, const std::string& bucket) {
    return Ask({{"source", source}, {"type", "s3/Bucket"}, {"name", bucket}, {"release", true}});
  }
  HttpResponse Ask(const json& body) { return calls_.Post("/api/v1/reservations", body.dump()); }
  static std::string ActionOf(const HttpResponse& response) {
    return json::parse(response.body).value("action", response.body);
  }
  static std::string DetailOf(const HttpResponse& response) {
    return json::parse(response.body).value("detail", response.body);
  }
  // As a server does from time to time.
  std::size_t EndDue() {
    std::size_t ended = 0;
    const auto end = [&](const AllFacts& facts) {
      ended = 0;
      const IdSource ids = RandomIds();
      const PartyRules parties;
      Ledger ledger(facts, clock_.Now(), ids, parties);
      for (const ResourceId& id : DueReservations(facts, clock_.Now(), 10)) {
        if (EndReservation(id, ledger)) ++ended;
      }
      return ledger.Take();
    };
    EXPECT_TRUE(memory_.Apply({}, end, Deadline::max()).ok());
    return ended;
  }
  bool IsAllowed(const std::string& bucket) {
    Sent claim = Claim("team-a", bucket, bucket, "service-a");
    claim.review = "review-" + std::to_string(++reviews_);
    return Send(claim).allowed;
  }

 private:
  int reviews_ = 0;
};

TEST_F(ReservationsTest, ANameIsTakenForATime) {
  const HttpResponse made = Reserve("terraform:net", "prod-a");
  ASSERT_EQ(made.status, 200) << made.body;
  EXPECT_EQ(json::parse(made.body), json::parse(R"({"source":"terraform:net","action":"reserved",
      "type":"s3/Bucket","name":"prod-a","key":"s3/Bucket|aws|||name=prod-a",
      "until":"2026-11-21T09:00:00Z","warnings":[]})"));
  const Owner owner = OwnerOf("prod-a");
  EXPECT_EQ(owner.record, Record::kImported);
  EXPECT_FALSE(owner.real);
  EXPECT_EQ(Contents().audit.back().cause, "reserved until 2026-11-21T09:00:00Z: terraform:net");
  EXPECT_FALSE(IsAllowed("prod-a"));
  clock_.Advance(std::chrono::minutes(60) - std::chrono::milliseconds(1));
  EXPECT_EQ(EndDue(), 0U);
  EXPECT_FALSE(IsAllowed("prod-a"));
  clock_.Advance(std::chrono::milliseconds(1));
  EXPECT_EQ(EndDue(), 1U);
  EXPECT_EQ(Contents().audit.back().action, AuditAction::kReleased);
  EXPECT_EQ(Contents().audit.back().cause, "reserved until 2026-11-21T09:00:00Z, and not imported");
  EXPECT_EQ(EndDue(), 0U);
  EXPECT_TRUE(IsAllowed("prod-a"));
}

TEST_F(ReservationsTest, WhoHasTheNameIsTold) {
  ASSERT_TRUE(IsAllowed("prod-a"));
  const auto before = Contents();
  const HttpResponse taken = Reserve("terraform:net", "prod-a");
  EXPECT_EQ(taken.status, 409);
  EXPECT_EQ(DetailOf(taken),
            "S3 bucket \"prod-a\" is owned by service \"service-a\", declared by ObjectStorage "
            "team-a/prod-a in cluster \"local\", which Truce has not seen yet.");
  EXPECT_EQ(json::parse(taken.body).at("remedy"),
            "Choose another name, or ask service \"service-a\" to give it up.");
  EXPECT_EQ(LetGo("terraform:net", "prod-a").status, 409);
  EXPECT_EQ(Contents(), before);
  ASSERT_EQ(Reserve("terraform:net", "prod-b").status, 200);
  const HttpResponse theirs = Reserve("cdk:other", "prod-b");
  EXPECT_EQ(theirs.status, 409);
  EXPECT_EQ(DetailOf(theirs),
            "S3 bucket \"prod-b\" is reserved by Terraform (source terraform:net), until "
            "2026-11-21T09:00:00Z.");
  EXPECT_EQ(LetGo("cdk:other", "prod-b").status, 409);
  EXPECT_TRUE(OwnerOf("prod-b").until);
}

TEST_F(ReservationsTest, AgainItIsRenewed) {
  ASSERT_EQ(ActionOf(Reserve("terraform:net", "prod-a")), "reserved");
  const Owner first = OwnerOf("prod-a");
  const std::size_t lines = Contents().audit.size();
  EXPECT_EQ(ActionOf(Reserve("terraform:net", "prod-a")), "renewed");
  EXPECT_EQ(Contents().audit.size(), lines) << "the same time changes nothing";
  clock_.Advance(std::chrono::minutes(30));
  EXPECT_EQ(ActionOf(Reserve("terraform:net", "prod-a")), "renewed");
  const Owner renewed = OwnerOf("prod-a");
  EXPECT_EQ(renewed.id, first.id);
  EXPECT_EQ(renewed.since, first.since);
  EXPECT_EQ(renewed.until, *first.until + std::chrono::minutes(30));
  EXPECT_FALSE(renewed.real);
  EXPECT_EQ(Contents().audit.back().cause,
            "reserved anew until 2026-11-21T09:30:00Z: terraform:net");
}

TEST_F(ReservationsTest, TheImportThatFollowsConfirmsIt) {
  ASSERT_EQ(Reserve("terraform:net", "prod-a").status, 200);
  const ResourceId id = OwnerOf("prod-a").id;
  const json list = ListOf({"prod-a"});
  EXPECT_EQ(Plan(list).at("counts").at("changed"), 1);
  ASSERT_EQ(Apply(list).status, 200);
  const Owner owner = OwnerOf("prod-a");
  EXPECT_EQ(owner.id, id);
  EXPECT_FALSE(owner.until);
  EXPECT_TRUE(owner.real);
  EXPECT_EQ(owner.service, "network");
  EXPECT_EQ(Contents().audit.back().cause, "imported, as it was reserved: terraform:net");
  clock_.Advance(std::chrono::hours(48));
  EXPECT_EQ(EndDue(), 0U);
  const auto before = Contents();
  EXPECT_EQ(ActionOf(Reserve("terraform:net", "prod-a")), "owned");
  EXPECT_EQ(LetGo("terraform:net", "prod-a").status, 409);
  EXPECT_EQ(Contents(), before);
  json other = ListOf({"prod-a"});
  other["source"] = "terraform:other";
  EXPECT_EQ(Plan(other).at("counts").at("conflicting"), 1);
}

TEST_F(ReservationsTest, AListThatRetiresLeavesItAlone) {
  ASSERT_EQ(Apply(ListOf({"prod-b"})).status, 200);
  ASSERT_EQ(Reserve("terraform:net", "prod-a").status, 200);
  json none = ListOf({});
  none["retire"] = true;
  EXPECT_EQ(Plan(none).at("counts").at("retired"), 1);
  ASSERT_EQ(Apply(none).status, 200);
  EXPECT_TRUE(OwnerOf("prod-a").until);
  EXPECT_TRUE(OwnerOf("prod-b").key.empty());
}

TEST_F(ReservationsTest, ItsSourceLetsGoOfIt) {
  EXPECT_EQ(ActionOf(LetGo("terraform:net", "prod-a")), "free");
  ASSERT_EQ(Reserve("terraform:net", "prod-a").status, 200);
  EXPECT_EQ(ActionOf(LetGo("terraform:net", "prod-a")), "released");
  EXPECT_EQ(Contents().audit.back().cause, "no longer reserved by terraform:net");
  EXPECT_TRUE(IsAllowed("prod-a"));
}

TEST_F(ReservationsTest, WhoManagesItBesideInheritsIt) {
  ChangePolicy([](AdmissionPolicy& policy) { policy.modes.global = Mode::kWarn; });
  ASSERT_EQ(Reserve("terraform:net", "prod-a").status, 200);
  ASSERT_TRUE(IsAllowed("prod-a"));
  EXPECT_TRUE(OwnerOf("prod-a").contested);
  clock_.Advance(std::chrono::hours(1));
  EXPECT_EQ(EndDue(), 1U);
  const Owner owner = OwnerOf("prod-a");
  EXPECT_EQ(owner.root.ns, "team-a");
  EXPECT_FALSE(owner.until);
  EXPECT_EQ(owner.record, Record::kNone);
}

TEST_F(ReservationsTest, QuotasCountIt) {
  ChangePolicy([](AdmissionPolicy& policy) {
    policy.quotas = std::make_shared<const Quotas>(
        Quotas::Compile({{.type = "s3/Bucket", .max = 2, .warn_at = 100, .location = "here"}},
                        *policy.catalogue, policy.parties, "local")
            .value());
  });
  EXPECT_EQ(json::parse(Reserve("terraform:net", "prod-a").body).at("warnings").size(), 0U);
  EXPECT_EQ(json::parse(Reserve("terraform:net", "prod-b").body).at("warnings").size(), 1U);
  const auto before = Contents();
  const HttpResponse full = Reserve("terraform:net", "prod-c");
  EXPECT_EQ(full.status, 409);
  EXPECT_NE(DetailOf(full).find("beyond a quota"), std::string::npos) << full.body;
  EXPECT_EQ(Contents(), before);
  EXPECT_FALSE(IsAllowed("prod-c"));
  EXPECT_EQ(ActionOf(Reserve("terraform:net", "prod-a")), "renewed") << "what is there may stay";
  ASSERT_EQ(LetGo("terraform:net", "prod-b").status, 200);
  EXPECT_TRUE(IsAllowed("prod-c"));
}

TEST_F(ReservationsTest, BadBodiesSayWhatIsWrong) {
  const json good = {{"source", "a"}, {"type", "s3/Bucket"}, {"name", "prod-a"}, {"minutes", 60}};
  const std::string minutes = "\"minutes\" is not a number from 10 to 1440 (24 hours)";
  const std::vector<std::pair<json, std::string>> cases = {
      {{{"minutes", 9}}, minutes},
      {{{"minutes", 1441}}, minutes},
      {{{"minutes", "60"}}, minutes},
      {{{"minutes", 60.5}}, minutes},
      {{{"minutes", nullptr}}, minutes},
      {{{"release", true}}, "\"minutes\" and \"release\" exclude each other"},
      {{{"release", "yes"}}, "\"release\" is neither true nor false"},
      {{{"source", "a/b"}}, "\"source\" is not 1 to 128 of letters, digits, '-', '_', '.', ':'"},
      {{{"type", "no/Type"}}, "\"no/Type\": there is no such type"},
      {{{"type", ""}}, "it has no type"},
      {{{"name", 1}}, "\"name\" is not a line of text"},
      {{{"other", 1}}, "it has an unknown member; /openapi.yaml lists what it takes"},
  };
  for (const auto& [change, detail] : cases) {
    json body = good;
    body.update(change);
    const HttpResponse response = Ask(body);
    EXPECT_EQ(response.status, 400) << body;
    EXPECT_EQ(DetailOf(response), detail) << body;
  }
  EXPECT_EQ(calls_.Post("/api/v1/reservations", "[]").status, 400);
  EXPECT_TRUE(Contents().owners.empty());
}

TEST_F(ReservationsTest, AFullDiskReservesNothing) {
  store_.FailNextApply({ErrorCode::kUnavailable, "disk full"});
  EXPECT_EQ(Reserve("terraform:net", "prod-a").status, 503);
  EXPECT_TRUE(Contents().owners.empty());
}

}  // namespace api_imports_test
}  // namespace truce
