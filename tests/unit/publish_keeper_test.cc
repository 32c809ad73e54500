// A self-managed installation: what it keeps in its Secret and its webhook configuration.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "certs/self_signed.h"
#include "certs/trust.h"
#include "registry/base/file.h"
#include "tests/support/fake_clock.h"
#include "tests/support/memory_cluster_api.h"
#include "tests/support/temporary_folder.h"
#include "webhook/kube/late_api.h"
#include "webhook/publish/installation_keeper.h"
#include "webhook/wire/base64.h"
#include "webhook/wire/endpoints.h"

namespace truce {
namespace publish_keeper_test {

using Json = nlohmann::json;
using std::chrono::hours;
using std::chrono::seconds;

const ServedKind kSecrets{"", "v1", "Secret", "secrets", true};
const ServedKind kWebhooks{"admissionregistration.k8s.io", "v1", "ValidatingWebhookConfiguration",
                           "validatingwebhookconfigurations", false};
const std::string kLocalPath = "0123456789abcdef0123456789abcdef";

// As the chart renders it: no bundle, no path.
std::string Rendered() {
  const auto entry = [](const std::string& name, const std::string& operation) {
    return Json{{"name", name},
                {"failurePolicy", "Ignore"},
                {"clientConfig", {{"service", {{"name", "truce"}, {"namespace", "ns"}}}}},
                {"rules", {{{"operations", {operation}}, {"apiGroups", {"s3.aws.upbound.io"}}}}}};
  };
  return Json{{"kind", "ValidatingWebhookConfiguration"},
              {"metadata", {{"name", "truce"}}},
              {"webhooks",
               {entry("declarations.truce.dev", "CREATE"), entry("deletions.truce.dev", "DELETE"),
                entry("checks.truce.dev", "CREATE"), entry("strangers.example.org", "CREATE")}}}
      .dump();
}

class Keeper : public testing::Test {
 protected:
  void Note(const KeeperEvent& event) {
    switch (event.kind) {
      case KeeperEvent::Kind::kCertificates: ++told_; return;
      case KeeperEvent::Kind::kPathSecret: told_secrets_.push_back(LocalPath()); return;
      case KeeperEvent::Kind::kPathPublished: told_secrets_.push_back("published"); return;
      case KeeperEvent::Kind::kDone:
      case KeeperEvent::Kind::kTrouble:
      case KeeperEvent::Kind::kTroubleOver: events_.push_back(event);
    }
  }

  Keeper() {
    WritePath(kLocalPath);
    api_.Put(kSecrets, "ns", R"({"kind":"Secret","metadata":{"name":"truce-self"}})");
    api_.Put(kWebhooks, "", Rendered());
    options_.secret_namespace = "ns";
    options_.secret_name = "truce-self";
    options_.webhook = "truce";
    options_.directory = folder_.path() / "certs";
    options_.path_secret_file = folder_.path() / "admission.secret";
    options_.rules.names = {"truce.ns.svc"};
    options_.rules.authority_life = hours(24 * 365 * 10);
    Restart();
  }

  void WritePath(const std::string& secret) {
    std::ofstream(folder_.path() / "admission.secret") << secret << "\n";
  }

  // A new process.
  void Restart() {
    keeper_.emplace(options_, KeeperPorts{late_api_, clock_,
                                          [this] {
                                            return FollowedPolicy{groups_, status_};
                                          },
                                          [this](const KeeperEvent& event) { Note(event); }});
  }

  void Step() {
    const auto kept = keeper_->Step(std::chrono::steady_clock::now() + seconds(5));
    ASSERT_TRUE(kept.ok()) << kept.error().message;
  }

  OwnedSecret Secret() {
    auto secret = ReadOwnedSecret(api_.Object(kSecrets, "ns", "truce-self"));
    EXPECT_TRUE(secret.ok());
    return secret.ok() ? secret.value() : OwnedSecret();
  }
  SelfMadeCertificates Served() { return ReadSelfMade(options_.directory); }
  Json Webhooks() { return Json::parse(api_.Object(kWebhooks, "", "truce"))["webhooks"]; }
  Json Entry(const std::string& name) {
    for (const Json& entry : Webhooks()) {
      if (entry["name"] == name) return entry;
    }
    return nullptr;
  }
  std::string Bundle(const std::string& name = "declarations.truce.dev") {
    return DecodeBase64(Entry(name)["clientConfig"].value("caBundle", "")).value_or("");
  }
  bool ServedIsTrusted() {
    const auto served = Served();
    const auto pair = CertificatePair::Parse(served.certificate, served.key, "test", clock_.Now());
    return pair.ok() && BundleTrusts(Bundle(), *pair.value());
  }
  void LoseFolder() {
    std::filesystem::remove_all(options_.directory);
    WritePath("ffffffffffffffffffffffffffffffff");
  }
  // Lets the authority come to its end, and publishes the next one.
  void RenewAuthority() {
    clock_.Advance(hours(24 * 365 * 10) - hours(24 * 80));
    Step();
  }

  TemporaryFolder folder_;
  FakeClock clock_{*ParseTimestamp("2026-11-21T08:00:00Z")};
  MemoryClusterApi api_;
  bool reachable_ = true;
  LateApi late_api_{[this]() -> Result<ClusterApi*> {
    if (reachable_) return &api_;
    return Error{ErrorCode::kUnavailable, "not reached"};
  }};
  MappedGroups groups_{{}, true};
  std::optional<StatusGuard> status_;
  std::string LocalPath() { return ReadSmallFile(options_.path_secret_file).value().substr(0, 32); }
  std::string PathOfDeclarations() {
    return Entry("declarations.truce.dev")["clientConfig"]["service"].value("path", "");
  }

  int told_ = 0;
  std::vector<std::string> told_secrets_;
  std::vector<KeeperEvent> events_;
  KeeperOptions options_;
  std::optional<InstallationKeeper> keeper_;
};

TEST_F(Keeper, FillsAnEmptySecretAndPublishesBundleAndPath) {
  Step();
  EXPECT_TRUE(IsCompleteSelfMade(Secret().certificates));
  EXPECT_EQ(Secret().certificates, Served());
  EXPECT_EQ(Secret().path_secret, kLocalPath);
  EXPECT_TRUE(ServedIsTrusted());
  const auto path = [&](const std::string& name) {
    return Entry(name)["clientConfig"]["service"].value("path", "");
  };
  EXPECT_EQ(path("declarations.truce.dev"), Of(PathsOf(kLocalPath), Endpoint::kDeclarations));
  EXPECT_EQ(path("deletions.truce.dev"), Of(PathsOf(kLocalPath), Endpoint::kDeletions));
  EXPECT_EQ(path("checks.truce.dev"), Of(PathsOf(kLocalPath), Endpoint::kChecks));
  EXPECT_EQ(Entry("strangers.example.org"), Json::parse(Rendered())["webhooks"][3]);
  const auto writes = api_.writes();
  Step();
  EXPECT_EQ(api_.writes(), writes) << "idempotent";
  EXPECT_EQ(told_, 1);
}

// New ones at each start and every hour: accepted here before anybody is told of them.
TEST_F(Keeper, SecretsOfPathsRotate) {
  Step();
  EXPECT_EQ(told_secrets_, std::vector<std::string>{"published"});
  clock_.Advance(std::chrono::minutes(59));
  told_secrets_.clear();
  Step();
  EXPECT_EQ(Secret().path_secret, kLocalPath);
  EXPECT_EQ(told_secrets_, std::vector<std::string>{"published"});
  clock_.Advance(std::chrono::minutes(1));
  told_secrets_.clear();
  Step();
  const std::string second = Secret().path_secret;
  EXPECT_NE(second, kLocalPath);
  EXPECT_EQ(LocalPath(), second);
  EXPECT_EQ(PathOfDeclarations(), Of(PathsOf(second), Endpoint::kDeclarations));
  EXPECT_EQ(told_secrets_, (std::vector<std::string>{second, "published"}));
  told_secrets_.clear();
  Restart();
  Step();
  const std::string third = Secret().path_secret;
  EXPECT_NE(third, second);
  EXPECT_EQ(told_secrets_, (std::vector<std::string>{third, "published"}));
  EXPECT_EQ(PathOfDeclarations(), Of(PathsOf(third), Endpoint::kDeclarations));
}

TEST_F(Keeper, MakesTheSecretWhereItMay) {
  api_.Remove(kSecrets, "ns", "truce-self");
  Step();
  EXPECT_EQ(Secret().certificates, Served());
}

TEST_F(Keeper, RepairsWhatOthersChanged) {
  Step();
  const Json good = Webhooks();
  struct Row {
    const char* reason;
    std::function<void(Json&)> damage;
  };
  const std::vector<Row> rows = {
      {"a lost bundle", [](Json& all) { all[0]["clientConfig"].erase("caBundle"); }},
      {"a foreign bundle", [](Json& all) { all[2]["clientConfig"]["caBundle"] = "Zm9v"; }},
      {"a lost path", [](Json& all) { all[1]["clientConfig"]["service"].erase("path"); }},
      {"rendered anew", [](Json& all) { all = Json::parse(Rendered())["webhooks"]; }},
  };
  for (const Row& row : rows) {
    Json object = Json::parse(api_.Object(kWebhooks, "", "truce"));
    row.damage(object["webhooks"]);
    api_.Put(kWebhooks, "", object.dump());
    clock_.Advance(std::chrono::minutes(10));
    Step();
    EXPECT_EQ(Webhooks(), good) << row.reason;
  }
}

TEST_F(Keeper, WhoKeepsWritingIsNotFoughtInALoop) {
  Step();
  const auto foreign = [&] {
    Json object = Json::parse(api_.Object(kWebhooks, "", "truce"));
    object["webhooks"][0]["clientConfig"]["caBundle"] = "Zm9v";
    object["metadata"]["managedFields"] = Json::parse(R"([
        {"manager":"helm","time":"2026-11-21T09:00:00Z","fieldsV1":{"f:webhooks":{}}},
        {"manager":"cainjector","time":"2026-11-21T08:00:00Z","fieldsV1":{"f:caBundle":{}}},
        {"manager":"truce","time":"2026-11-21T10:00:00Z","fieldsV1":{"f:caBundle":{}}}])");
    api_.Put(kWebhooks, "", object.dump());
    const auto writes = api_.writes();
    Step();
    return api_.writes() - writes;
  };
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(foreign(), 1U) << "a slip is put right at once";
    EXPECT_EQ(keeper_->Rival(), "");
  }
  events_.clear();
  for (int i = 0; i < 50; ++i) EXPECT_EQ(foreign(), 0U);
  EXPECT_EQ(keeper_->Rival(), "cainjector");
  ASSERT_EQ(events_.size(), 1U) << "told once";
  EXPECT_EQ(events_[0].kind, KeeperEvent::Kind::kTrouble);
  EXPECT_EQ(events_[0].message,
            "somebody else (cainjector) keeps writing what Truce writes into webhook configuration "
            "truce; it is put right once a minute");
  clock_.Advance(seconds(60));
  EXPECT_EQ(foreign(), 1U) << "once a minute";
  EXPECT_EQ(foreign(), 0U);
  // Peace.
  events_.clear();
  clock_.Advance(std::chrono::minutes(10));
  EXPECT_EQ(foreign(), 1U);
  EXPECT_EQ(keeper_->Rival(), "");
  ASSERT_EQ(events_.size(), 2U);
  EXPECT_EQ(events_[1].kind, KeeperEvent::Kind::kTroubleOver);
  // What Truce itself has to tell does not wait for anybody.
  clock_.Advance(std::chrono::minutes(48) + seconds(50));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(foreign(), 1U);
  EXPECT_EQ(foreign(), 0U);
  clock_.Advance(seconds(10));
  EXPECT_EQ(foreign(), 2U) << "Secret and configuration, with the secret of the next hour";
  EXPECT_EQ(PathOfDeclarations(), Of(PathsOf(Secret().path_secret), Endpoint::kDeclarations));
}

TEST_F(Keeper, GroupsOfMappingsGetEntriesOfTheirOwn) {
  groups_ = {{"platform.example.org", "s3.aws.upbound.io"}, true};
  Step();
  const Json mapped = Entry("mapped-declarations.truce.dev");
  EXPECT_EQ(mapped["rules"][0]["apiGroups"], Json({"platform.example.org"}));
  EXPECT_EQ(mapped["clientConfig"], Entry("declarations.truce.dev")["clientConfig"]);
  EXPECT_EQ(Entry("mapped-deletions.truce.dev")["rules"][0]["operations"], Json({"DELETE"}));
  EXPECT_EQ(Entry("declarations.truce.dev")["rules"],
            Json::parse(Rendered())["webhooks"][0]["rules"]);

  groups_ = {{}, false};  // a restart: the rules are not all known yet
  Step();
  EXPECT_EQ(Entry("mapped-declarations.truce.dev"), mapped);
  groups_ = {{"other.example.org"}, false};
  Step();
  EXPECT_EQ(Entry("mapped-declarations.truce.dev")["rules"][0]["apiGroups"],
            Json({"other.example.org", "platform.example.org"}));
  groups_ = {{}, true};
  Step();
  EXPECT_EQ(Webhooks().size(), 5U) << "those installed, and the one for Compositions";
}

TEST_F(Keeper, CompositionsGetAnEntryThatNobodyWaitsFor) {
  Step();
  const Json made = Entry("compositions.truce.dev");
  EXPECT_EQ(made["failurePolicy"], "Ignore");
  EXPECT_EQ(made["clientConfig"]["service"]["path"],
            Of(PathsOf(kLocalPath), Endpoint::kCompositions));
  EXPECT_EQ(Bundle("compositions.truce.dev"), Bundle());
  EXPECT_EQ(made["rules"], Json::parse(R"([{"operations":["UPDATE"],"apiVersions":["*"],
      "resources":["compositions"],"scope":"Cluster",
      "apiGroups":["apiextensions.crossplane.io"]}])"));
  EXPECT_EQ(made["matchConditions"], Json::parse(R"([{"name":"changes-the-spec",
                             "expression":"object.spec != oldObject.spec"}])"));
  const auto writes = api_.writes();
  Step();
  EXPECT_EQ(api_.writes(), writes) << "idempotent";
}

TEST_F(Keeper, DeletionsAreAlwaysSent) {
  Step();
  Json object = Json::parse(api_.Object(kWebhooks, "", "truce"));
  object["webhooks"].erase(1);
  object["webhooks"][0]["failurePolicy"] = "Fail";
  api_.Put(kWebhooks, "", object.dump());
  Step();
  const Json made = Entry("deletions.truce.dev");
  EXPECT_EQ(made["failurePolicy"], "Ignore");
  EXPECT_EQ(made["rules"][0]["operations"], Json({"DELETE"}));
  EXPECT_EQ(made["rules"][0]["apiGroups"], Json({"s3.aws.upbound.io"}));
  Json client = made["clientConfig"];
  EXPECT_TRUE(client["service"]["path"].get<std::string>().starts_with("/validate-deletion/"));
  client["service"]["path"] = Entry("declarations.truce.dev")["clientConfig"]["service"]["path"];
  EXPECT_EQ(client, Entry("declarations.truce.dev")["clientConfig"]);
  const auto writes = api_.writes();
  Step();
  EXPECT_EQ(api_.writes(), writes) << "idempotent";

  // Whoever sends them in another entry of Truce's has what is needed.
  object = Json::parse(api_.Object(kWebhooks, "", "truce"));
  object["webhooks"].erase(object["webhooks"].size() - 1);
  object["webhooks"][0]["rules"][0]["operations"] = {"CREATE", "DELETE"};
  api_.Put(kWebhooks, "", object.dump());
  Step();
  EXPECT_TRUE(Entry("deletions.truce.dev").is_null());
}

TEST_F(Keeper, EndsOfDeletionsGetAnEntryThatNobodyWaitsFor) {
  groups_ = {{"platform.example.org"}, true};
  Step();
  EXPECT_TRUE(Entry("finalizers.truce.dev").is_null()) << "all updates are sent";
  Json object = Json::parse(api_.Object(kWebhooks, "", "truce"));
  Json& declarations = object["webhooks"][0];
  declarations["failurePolicy"] = "Fail";
  declarations["rules"][0]["operations"] = {"CREATE", "UPDATE"};
  const Json own = {{"name", "exclude-0"}, {"expression", "!(request.name == 'mine')"}};
  declarations["matchConditions"] = {
      {{"name", "changes-a-declaration"}, {"expression", kUpdateCondition}}, own};
  api_.Put(kWebhooks, "", object.dump());
  Step();
  const Json made = Entry("finalizers.truce.dev");
  EXPECT_EQ(made["failurePolicy"], "Ignore");
  EXPECT_EQ(made["clientConfig"], Entry("declarations.truce.dev")["clientConfig"])
      << "its reviews count";
  EXPECT_EQ(made["rules"][0]["operations"], Json({"UPDATE"}));
  EXPECT_EQ(made["rules"][0]["apiGroups"], Json({"s3.aws.upbound.io"}));
  ASSERT_EQ(made["matchConditions"].size(), 3U);
  EXPECT_EQ(made["matchConditions"][0], own);
  EXPECT_EQ(made["matchConditions"][1]["expression"], kFinalizersCondition);
  EXPECT_EQ(made["matchConditions"][2]["expression"], OtherUpdatesCondition());
  const Json mapped = Entry("mapped-finalizers.truce.dev");
  EXPECT_EQ(mapped["failurePolicy"], "Ignore");
  EXPECT_EQ(mapped["rules"][0]["apiGroups"], Json({"platform.example.org"}));
  const auto writes = api_.writes();
  Step();
  EXPECT_EQ(api_.writes(), writes) << "idempotent";
  clock_.Advance(hours(1));  // new secrets of the paths
  Step();
  EXPECT_EQ(Entry("finalizers.truce.dev")["clientConfig"]["service"]["path"], PathOfDeclarations());
}

TEST_F(Keeper, StatusesGetAnEntryThatFollowsTheSettings) {
  Step();
  EXPECT_TRUE(Entry("status.truce.dev").is_null()) << "not asked for";
  status_ = StatusGuard{{"system:serviceaccount:crossplane-system:provider-*"},
                        {"system:serviceaccount:velero:velero"},
                        {"ec2.aws.upbound.io", "s3.aws.upbound.io"}};
  Step();
  const Json made = Entry("status.truce.dev");
  EXPECT_EQ(made["failurePolicy"], "Ignore");
  EXPECT_EQ(made["clientConfig"]["service"]["path"], Of(PathsOf(kLocalPath), Endpoint::kStatus));
  EXPECT_EQ(Bundle("status.truce.dev"), Bundle());
  EXPECT_EQ(made["rules"], Json::parse(R"([{"operations":["UPDATE"],"apiVersions":["*"],
      "resources":["*/status"],"scope":"*","apiGroups":["s3.aws.upbound.io"]}])"));
  ASSERT_EQ(made["matchConditions"].size(), 2U);
  EXPECT_EQ(made["matchConditions"][1], (Json{{"name", "not-restorers"},
                                              {"expression",
                                               "!request.userInfo.username.matches('(?s)^(?:"
                                               "system:serviceaccount:velero:velero)$')"}}));
  const auto writes = api_.writes();
  Step();
  EXPECT_EQ(api_.writes(), writes) << "idempotent";

  // A changed setting, and a changed condition, are put right; the rest of the entry is others'.
  Json object = Json::parse(api_.Object(kWebhooks, "", "truce"));
  object["webhooks"].back()["matchConditions"][0]["expression"] = "false";
  object["webhooks"].back()["timeoutSeconds"] = 3;
  api_.Put(kWebhooks, "", object.dump());
  status_->restorers.clear();
  Step();
  const Json repaired = Entry("status.truce.dev");
  EXPECT_EQ(repaired["matchConditions"], Json::array({made["matchConditions"][0]}));
  EXPECT_EQ(repaired["timeoutSeconds"], 3);
  // Switched off: an entry that answers "allowed" harms nobody.
  status_.reset();
  Step();
  EXPECT_EQ(Entry("status.truce.dev"), repaired);
}

// What the chart renders and what Truce writes must be one text, or they would repair each other.
TEST_F(Keeper, TheChartRendersTheSameConditions) {
  std::ifstream file(std::string(TRUCE_SOURCE_DIR) + "/tests/golden/chart-truce.yaml");
  const std::string rendered((std::istreambuf_iterator<char>(file)), {});
  const std::vector<std::string> providers = {
      "system:serviceaccount:crossplane-system:provider-*",
      "system:serviceaccount:crossplane-system:upbound-provider-*",
      "system:serviceaccount:ack-system:ack-*-controller"};
  const std::vector<std::string> restorers = {"system:serviceaccount:velero:velero",
                                              "system:serviceaccount:velero:velero-server",
                                              "system:serviceaccount:velero:*-velero-server"};
  for (const auto& [name, expression] : StatusConditions(providers, restorers)) {
    EXPECT_NE(rendered.find("- name: " + name + "\n        expression: \"" + expression + "\"\n"),
              std::string::npos)
        << expression;
  }
  // As test_chart_render.py has it.
  const std::vector<std::string> odd = {"oidc:o'neil\\x", "a.b*c"};
  EXPECT_EQ(StatusConditions(odd, {}).front().second,
            R"(!request.userInfo.username.matches('(?s)^(?:oidc:o\'neil\\\\x|a\\.b.*c)$'))");
}

TEST_F(Keeper, ALeafIsRenewedAtTwoThirdsOfItsLife) {
  Step();
  const std::string leaf = Served().certificate;
  clock_.Advance(hours(24 * 59));
  Step();
  EXPECT_EQ(Served().certificate, leaf);
  clock_.Advance(hours(24 * 2));
  Step();
  EXPECT_NE(Served().certificate, leaf);
  EXPECT_EQ(Secret().certificates, Served());
  EXPECT_TRUE(ServedIsTrusted());
}

TEST_F(Keeper, ANewAuthorityIsPublishedBeforeItsLeafIsServed) {
  Step();
  const std::string old_bundle = Bundle();
  // The present leaf outlives its renewal by an authority that ends with it.
  clock_.Advance(hours(24 * 365 * 10) - hours(24 * 91));
  Step();
  clock_.Advance(hours(24 * 2));
  const SelfMadeCertificates before = Served();
  Step();
  EXPECT_EQ(Served().certificate, before.certificate) << "the old leaf is served on";
  EXPECT_NE(Bundle(), old_bundle);
  EXPECT_TRUE(Bundle().ends_with(old_bundle)) << "old and new authority overlap";
  EXPECT_TRUE(ServedIsTrusted());
  clock_.Advance(seconds(29));
  Step();
  EXPECT_EQ(Served().certificate, before.certificate) << "API servers learn of it asynchronously";
  Restart();  // which does not remember when it was published
  Step();
  EXPECT_EQ(Served().certificate, before.certificate);
  clock_.Advance(seconds(31));
  Step();
  EXPECT_NE(Served().certificate, before.certificate);
  EXPECT_TRUE(ServedIsTrusted());
  EXPECT_EQ(Secret().certificates, Served());
}

TEST_F(Keeper, AClockThatWasAheadIsNotWaitedFor) {
  Step();
  constexpr hours kYears{24 * 365 * 5};
  clock_.Advance(kYears);
  Step();
  const SelfMadeCertificates before = Served();
  Json object = Json::parse(api_.Object(kSecrets, "ns", "truce-self"));
  object["data"]["ca.key"] = EncodeBase64("damaged");
  api_.Put(kSecrets, "ns", object.dump());
  std::ofstream(options_.directory / "ca.key") << "damaged";
  Step();
  EXPECT_EQ(Served().certificate, before.certificate);
  EXPECT_NE(Bundle(), before.authorities) << "a new authority, published";
  const std::string path = Secret().path_secret;

  clock_.Advance(-kYears);
  Step();
  clock_.Advance(hours(1));
  Step();
  EXPECT_NE(Secret().path_secret, path) << "the hour of the secrets is over";
  const std::string leaf = Served().certificate;
  clock_.Advance(hours(24 * 61));
  Step();
  EXPECT_NE(Served().certificate, leaf) << "the new authority signs";
  EXPECT_TRUE(ServedIsTrusted());
}

TEST_F(Keeper, WithoutWebhookConfigurationNobodyWaits) {
  Step();
  api_.Remove(kWebhooks, "", "truce");
  Step();
  const std::string leaf = Served().certificate;
  RenewAuthority();
  Step();
  EXPECT_NE(Served().certificate, leaf);
  api_.Put(kWebhooks, "", Rendered());  // helm upgrade
  Step();
  EXPECT_TRUE(ServedIsTrusted());
}

TEST_F(Keeper, ALostFolderComesBackFromTheSecretAndTheOtherWayRound) {
  Step();
  const SelfMadeCertificates first = Served();
  LoseFolder();
  Restart();
  Step();
  EXPECT_EQ(Served(), first);
  EXPECT_EQ(LocalPath(), Secret().path_secret);
  EXPECT_EQ(told_secrets_[1], kLocalPath) << "what is registered is accepted first";

  api_.Put(kSecrets, "ns", R"({"kind":"Secret","metadata":{"name":"truce-self"}})");
  Restart();
  Step();
  EXPECT_EQ(Secret().certificates, first);
  EXPECT_EQ(Secret().path_secret, LocalPath());
}

TEST_F(Keeper, DamageInTheSecretIsNotTakenOver) {
  Step();
  const SelfMadeCertificates first = Served();
  Json object = Json::parse(api_.Object(kSecrets, "ns", "truce-self"));
  object["data"]["tls.key"] = "bm8ga2V5";
  object["data"]["admission.secret"] = "Li4vLi4=";
  api_.Put(kSecrets, "ns", object.dump());
  Step();
  EXPECT_EQ(Served(), first);
  EXPECT_EQ(Secret().certificates, first);
  EXPECT_EQ(Secret().path_secret, kLocalPath);
}

TEST_F(Keeper, ListensWhileTheClusterIsAwayAndCatchesUp) {
  reachable_ = false;
  Step();
  EXPECT_TRUE(IsCompleteSelfMade(Served()));
  const SelfMadeCertificates first = Served();
  reachable_ = true;
  Step();
  EXPECT_EQ(Secret().certificates, first) << "the first ones are as good as any";
  EXPECT_TRUE(ServedIsTrusted());
}

TEST_F(Keeper, TellsTroubleOnceAndItsEnd) {
  api_.SetFault([](std::string_view verb, std::string_view plural) -> std::optional<ApiError> {
    if (verb != "patch" || plural != "secrets") return std::nullopt;
    return ApiError{ApiErrorKind::kForbidden, 403, "no", std::nullopt};
  });
  Step();
  Step();
  ASSERT_EQ(events_.size(), 1U);
  EXPECT_EQ(events_[0].kind, KeeperEvent::Kind::kTrouble);
  EXPECT_EQ(
      events_[0].message,
      "cannot write its Secret (Secret ns/truce-self, webhook configuration truce): forbidden: no");
  EXPECT_TRUE(IsCompleteSelfMade(Served())) << "it listens all the same";
  EXPECT_EQ(Bundle(), "") << "nothing is published that the Secret does not hold";
  api_.SetFault(nullptr);
  Step();
  EXPECT_EQ(events_.back().kind, KeeperEvent::Kind::kTroubleOver);
  EXPECT_TRUE(ServedIsTrusted());
}

TEST_F(Keeper, AWriteInBetweenIsReadAgain) {
  int conflicts = 0;
  api_.SetFault([&](std::string_view verb, std::string_view) -> std::optional<ApiError> {
    if (verb != "patch" || conflicts++ > 0) return std::nullopt;
    return ApiError{ApiErrorKind::kConflict, 409, "modified", std::nullopt};
  });
  Step();
  Step();
  EXPECT_TRUE(ServedIsTrusted());
  for (const KeeperEvent& event : events_) {
    EXPECT_NE(event.kind, KeeperEvent::Kind::kTrouble) << event.message;
  }
}

TEST_F(Keeper, AGivenPathIsSomebodyElses) {
  options_.path_secret_file.clear();
  Restart();
  Step();
  EXPECT_FALSE(Entry("declarations.truce.dev")["clientConfig"]["service"].contains("path"));
  EXPECT_TRUE(ServedIsTrusted());
}

TEST(WebhookRepair, RefusesWhatIsNotIts) {
  for (const char* text :
       {"", "[]", "{}", R"({"metadata":{},"webhooks":[]})", R"({"metadata":{},"webhooks":[1]})",
        R"({"metadata":{},"webhooks":[{"name":"strangers.example.org"}]})"}) {
    const auto repair = RepairWebhook(text, {});
    ASSERT_FALSE(repair.ok()) << text;
    EXPECT_EQ(repair.error().code, ErrorCode::kInvalidArgument) << text;
  }
}

}  // namespace publish_keeper_test
}  // namespace truce
