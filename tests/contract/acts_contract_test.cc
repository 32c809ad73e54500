// Every act of people and of OwnershipGrants, on every store, with ids as the program draws them.
#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/contract/every_store.h"
#include "tests/support/admission_fixture.h"
#include "tests/support/operator_calls.h"
#include "tests/support/store_contents.h"
#include "tests/support/validate_now.h"
#include "webhook/api/rest/operations.h"
#include "webhook/publish/ownership_grants.h"

namespace truce::testing {
namespace acts_contract_test {

using nlohmann::json;

std::vector<HttpRoute> AllRoutes(const OperationPorts& ports) {
  std::vector<HttpRoute> routes = ports.rest.Routes();
  for (HttpRoute& route : OperationRoutes(ports)) routes.push_back(std::move(route));
  return routes;
}

class ActsContract : public AdmissionFixture, public ::testing::WithParamInterface<Named> {
 protected:
  ActsContract() { service().SetReady(true); }
  // Decisions run a few times each, whatever they ask for.
  ~ActsContract() override {
    const auto* strict = dynamic_cast<const StrictStore*>(&kind_->store());
    if (strict == nullptr) return;
    EXPECT_EQ(strict->effort().long_ones, 0U);
  }

  AdmissionService& service() { return own_service_; }

  void Declare(const std::string& ns, const std::string& bucket) {
    Sent sent = Claim(ns, bucket, bucket, "storage");
    sent.uid = "uid-" + bucket;
    sent.review = "review-" + bucket;
    HttpRequest request;
    request.body = BodyOf(sent);
    const json answer = json::parse(ValidateNow(service(), request).body);
    ASSERT_EQ(answer["response"]["allowed"], true) << answer;
  }
  std::string IdOf(const std::string& bucket) {
    const HttpResponse found =
        calls_.Get("/api/v1/resources:lookup", {{"type", "s3/Bucket"}, {"name", bucket}});
    return json::parse(found.body).at("resources").at(0).at("id");
  }
  json Post(const std::string& path, const json& body, int status,
            const std::string& if_match = "*") {
    const HttpResponse done = calls_.Post(path, body.dump(), if_match);
    EXPECT_EQ(done.status, status) << path << " " << done.body;
    return json::parse(done.body, nullptr, false);
  }
  std::vector<Agreement> Agreements() const {
    return ContentsOf(kind_->store()).value().agreements;
  }

  const std::unique_ptr<StoreKind> kind_ = GetParam().make();
  const InForce<AdmissionPolicy>& policy_ = service_.in_force();
  OperatorCalls calls_{kind_->store(), clock_, policy_, AllRoutes};
  AdmissionService own_service_{AdmissionPorts{calls_.store(), clock_, RandomIds(), {}},
                                service_.policy()};
};

TEST_P(ActsContract, AShareIsGivenAndEnds) {
  Declare("team-a", "artifacts");
  const json share = {{"resource", IdOf("artifacts")},
                      {"namespace", "team-b"},
                      {"level", "attach"},
                      {"reason", "reads it"}};
  const std::string id = Post("/api/v1/shares", share, 201).at("id");
  ASSERT_EQ(Agreements().size(), 1U);
  EXPECT_EQ(Agreements()[0].id.text, id);
}

TEST_P(ActsContract, AProtectionIsGivenAndTakenAway) {
  Declare("team-a", "artifacts");
  const std::string path = "/api/v1/resources/" + IdOf("artifacts");
  Post(path + ":protect", {{"reason", "customers"}}, 200);
  ASSERT_EQ(Agreements().size(), 1U);
  Post(path + ":unprotect", {{"reason", "moved"}}, 200);
  EXPECT_TRUE(Agreements().empty());
}

TEST_P(ActsContract, ATransferIsOfferedAndAccepted) {
  Declare("team-a", "artifacts");
  const json offer = {
      {"resource", IdOf("artifacts")}, {"namespace", "team-b"}, {"reason", "theirs by now"}};
  const std::string id = Post("/api/v1/transfers", offer, 201).at("id");
  Post("/api/v1/transfers/" + id + ":accept",
       {{"successor", "ObjectStorage.platform.example.org/team-b/artifacts"}, {"reason", "ours"}},
       200);
  ASSERT_EQ(Agreements().size(), 1U);
  EXPECT_TRUE(Agreements()[0].accepted);
}

TEST_P(ActsContract, AResourceIsReleasedAListImportedTheRegistryExported) {
  Declare("team-a", "artifacts");
  Declare("team-a", "backups");
  Post("/api/v1/resources/" + IdOf("artifacts") + ":release", {{"reason", "gone"}}, 200);
  const json list = {
      {"source", "terraform:net"},
      {"resources", {{{"type", "s3/Bucket"}, {"name", "prod-a"}, {"service", "network"}}}},
      {"apply", true}};
  Post("/api/v1/imports", list, 200);
  json kept = json::parse(calls_.Get("/api/v1/registry", {{"limit", "1000"}}).body);
  EXPECT_EQ(kept.at("items").size(), 2U) << kept;
}

TEST_P(ActsContract, ANameIsReservedRenewedImportedAndLetGo) {
  const auto reserve = [&](const char* name, json more) {
    more.update({{"source", "terraform:net"}, {"type", "s3/Bucket"}, {"name", name}});
    return Post("/api/v1/reservations", more, 200).at("action").get<std::string>();
  };
  EXPECT_EQ(reserve("prod-a", {{"minutes", 60}}), "reserved");
  EXPECT_EQ(reserve("prod-b", {{"minutes", 60}}), "reserved");
  clock_.Advance(std::chrono::minutes(1));
  EXPECT_EQ(reserve("prod-a", {{"minutes", 60}}), "renewed");
  EXPECT_EQ(reserve("prod-b", {{"release", true}}), "released");
  EXPECT_EQ(reserve("prod-b", {{"release", true}}), "free");
  Post("/api/v1/imports",
       {{"source", "terraform:net"},
        {"resources", {{{"type", "s3/Bucket"}, {"name", "prod-a"}}}},
        {"apply", true}},
       200);
  EXPECT_EQ(reserve("prod-a", {{"minutes", 60}}), "owned");
  const StoreContents contents = ContentsOf(kind_->store()).value();
  ASSERT_EQ(contents.owners.size(), 1U);
  EXPECT_FALSE(contents.owners[0].until);
  EXPECT_TRUE(contents.owners[0].real);
}

TEST_P(ActsContract, AnOwnershipGrantIsCarriedOutAndTakenBack) {
  Declare("team-a", "artifacts");
  OwnObject object;
  object.kind = {"truce.dev", "v1alpha1", "OwnershipGrant", "ownershipgrants", true};
  object.ns = "team-a";
  object.name = "files";
  object.uid = "uid-files";
  object.generation = 1;
  object.spec = ParseYaml(
                    "resource: {type: s3/Bucket, name: artifacts}\n"
                    "shares: [{namespace: team-b, level: attach, reason: r}]\n"
                    "protection: {reason: customers}",
                    "spec")
                    .value();
  OwnershipGrants grants{{calls_.store(), clock_, policy_, "local"}};
  grants.SetComplete();
  const auto verdicts = grants.Take(std::vector{object});
  ASSERT_EQ(verdicts.size(), 1U);
  EXPECT_TRUE(verdicts[0].accepted) << verdicts[0].message;
  EXPECT_EQ(Agreements().size(), 2U);
  grants.Take({});
  EXPECT_TRUE(Agreements().empty());
}

INSTANTIATE_TEST_SUITE_P(Stores, ActsContract, EveryStore(), NameOfStore);

}  // namespace acts_contract_test
}  // namespace truce::testing
