// Who may call the API: static tokens, Kubernetes tokens, client certificates, nobody.
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "registry/base/text.h"
#include "webhook/api/auth/api_access.h"
#include "webhook/api/auth/cached_reviews.h"
#include "webhook/api/auth/cluster_reviews.h"
#include "webhook/kube/late_api.h"

namespace truce {
namespace api_auth_test {

using nlohmann::json;

constexpr char kAliceToken[] = "a-token-of-alice-0001";

std::string LineOf(const std::string& token, const std::string& role, const std::string& name) {
  return HexOf(Sha256(token)) + " " + role + " " + name + "\n";
}

// ---- digests and static tokens

TEST(Digests, AreTheKnownOnes) {
  EXPECT_EQ(HexOf(Sha256("abc")),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(HexOf(HmacSha256("Jefe", "what do ya want for nothing?")),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  EXPECT_EQ(DigestFromHex(HexOf(Sha256("abc"))), Sha256("abc"));
  EXPECT_EQ(DigestFromHex("zz"), std::nullopt);
  EXPECT_EQ(DigestFromHex(std::string(63, 'a') + "g"), std::nullopt);
  EXPECT_NE(RandomBytes(16), RandomBytes(16));
}

TEST(StaticTokensFile, HoldsNamesAndRoles) {
  const std::string text = "# who\n\n" + LineOf(kAliceToken, "admin", "alice") +
                           LineOf("old", "viewer", "bob") + "  " + LineOf("new", "viewer", "bob");
  const auto tokens = StaticTokens::Parse(text, "tokens");
  ASSERT_TRUE(tokens.ok()) << tokens.error().message;
  EXPECT_EQ(tokens.value().size(), 3U);
  const auto alice = tokens.value().Find(kAliceToken);
  ASSERT_TRUE(alice.has_value());
  EXPECT_EQ(alice->name, "alice");
  EXPECT_EQ(alice->role, ApiRole::kAdmin);
  EXPECT_EQ(tokens.value().Find("old")->name, "bob");
  EXPECT_EQ(tokens.value().Find("new")->name, "bob");
  EXPECT_FALSE(tokens.value().Find("").has_value());
  EXPECT_FALSE(tokens.value().Find(HexOf(Sha256(kAliceToken))).has_value());
}

TEST(StaticTokensFile, SaysWhatIsWrongWithoutTheDigest) {
  const std::string digest = HexOf(Sha256("x"));
  const std::vector<std::pair<std::string, std::string>> bad = {
      {"token viewer bob", "tokens:1: the line does not begin with the 64 hex digits of a SHA-256"},
      {"\n" + digest + " boss bob",
       "tokens:2: 'boss' is not a role; use one of viewer, auditor, admin"},
      {digest + " viewer", "tokens:1: the name is missing behind the role"},
      {digest + " viewer bob smith", "tokens:1: the name must be one word"},
      {digest + " viewer b\xC3\xB6", "tokens:1: the name must be printable ASCII"},
  };
  for (const auto& [text, message] : bad) {
    const auto tokens = StaticTokens::Parse(text, "tokens");
    ASSERT_FALSE(tokens.ok()) << text;
    EXPECT_EQ(tokens.error().message, message);
  }
  std::string many;
  for (int i = 0; i <= 1000; ++i) many += LineOf(std::to_string(i), "viewer", "v");
  EXPECT_FALSE(StaticTokens::Parse(many, "tokens").ok());
}

// ---- authentication

class FakeTokens final : public TokenReviewer {
 public:
  Result<std::optional<KubernetesUser>> FindUser(const std::string& token,
                                                 const std::string& source, Deadline) override {
    if (on_review) on_review(source);
    ++asked;
    if (down) return Error{ErrorCode::kUnavailable, "the API server did not answer"};
    const auto found = users.find(token);
    if (found == users.end()) return std::optional<KubernetesUser>();
    return std::optional<KubernetesUser>(found->second);
  }
  std::map<std::string, KubernetesUser> users;
  std::function<void(const std::string&)> on_review;
  bool down = false;
  int asked = 0;
};

class FakeAccess final : public AccessReviewer {
 public:
  Result<bool> Allowed(const KubernetesUser& user, const Permission& permission,
                       Deadline) override {
    ++asked;
    if (down) return Error{ErrorCode::kUnavailable, "the API server did not answer"};
    return allowed.count(user.name + " " + ToText(permission)) > 0;
  }
  std::map<std::string, int> allowed;
  bool down = false;
  int asked = 0;
};

class AccessTest : public ::testing::Test {
 protected:
  AccessTest() {
    auto rules = std::make_shared<AccessRules>();
    rules->tokens = StaticTokens::Parse(LineOf(kAliceToken, "admin", "alice"), "tokens").value();
    rules->clients["ci.example.org"] = ApiRole::kViewer;
    access_.SetRules(rules);
    tokens_.users["robot"] = {"system:serviceaccount:team-a:robot", "u1", {"g1"}, {}};
  }

  static HttpRequest Request(const std::string& authorization) {
    HttpRequest request;
    request.remote_address = "192.0.2.7";
    if (!authorization.empty()) Header() = authorization;
    if (!authorization.empty()) request.headers.push_back({"authorization", Header()});
    return request;
  }
  static std::string& Header() {
    static std::string header;
    return header;
  }
  Caller Known(const HttpRequest& request) {
    auto found = access_.Authenticate(request);
    EXPECT_TRUE(std::holds_alternative<Caller>(found));
    return std::holds_alternative<Caller>(found) ? std::get<Caller>(found) : Caller{};
  }
  ProblemType Refused(const HttpRequest& request) {
    auto found = access_.Authenticate(request);
    EXPECT_TRUE(std::holds_alternative<Problem>(found));
    return std::holds_alternative<Problem>(found) ? std::get<Problem>(found).type
                                                  : ProblemType::kInternal;
  }
  bool Allows(const Caller& caller, const Permission& permission) {
    const auto allowed = access_.Allows(caller, permission, {});
    EXPECT_TRUE(allowed.ok());
    return allowed.ok() && allowed.value();
  }

  FakeTokens tokens_;
  FakeAccess reviews_;
  ApiAccess access_{&tokens_, &reviews_};
};

constexpr Permission kRead{"ownerships", "", "list", ""};
constexpr Permission kReadAudit{"audit", "", "list", ""};
constexpr Permission kRelease{"ownerships", "release", "create", "team-a"};

TEST_F(AccessTest, TheSocketIsTheOperator) {
  HttpRequest request = Request("Bearer nonsense");
  request.remote_address = "unix";
  const Caller caller = Known(request);
  EXPECT_EQ(caller.kind, CallerKind::kOperator);
  EXPECT_EQ(ActorOf(caller), "operator");
  EXPECT_TRUE(Allows(caller, kRelease));
}

TEST_F(AccessTest, AStaticTokenHasItsRole) {
  const Caller caller = Known(Request(std::string("bearer ") + kAliceToken));
  EXPECT_EQ(ActorOf(caller), "alice (static token) from 192.0.2.7");
  EXPECT_TRUE(Allows(caller, kRelease));
  EXPECT_EQ(tokens_.asked, 0);
}

TEST_F(AccessTest, AKubernetesTokenSpeaksThroughTheApiServer) {
  const Caller caller = Known(Request("Bearer robot"));
  EXPECT_EQ(caller.kind, CallerKind::kKubernetes);
  EXPECT_EQ(ActorOf(caller),
            "system:serviceaccount:team-a:robot (Kubernetes token) from 192.0.2.7");
  EXPECT_FALSE(Allows(caller, kRelease));
  reviews_
      .allowed["system:serviceaccount:team-a:robot create ownerships/release in namespace team-a"];
  EXPECT_TRUE(Allows(caller, kRelease));
  Permission elsewhere = kRelease;
  elsewhere.ns = "team-b";
  EXPECT_FALSE(Allows(caller, elsewhere));
}

TEST_F(AccessTest, WhoCannotBeToldIsNotLetIn) {
  tokens_.down = true;
  EXPECT_EQ(Refused(Request("Bearer robot")), ProblemType::kUnavailable);
  tokens_.down = false;
  const Caller caller = Known(Request("Bearer robot"));
  reviews_.down = true;
  const auto allowed = access_.Allows(caller, kRead, {});
  ASSERT_FALSE(allowed.ok());
  EXPECT_EQ(allowed.error().code, ErrorCode::kUnavailable);
}

TEST_F(AccessTest, BadCredentialsAreNotNoCredentials) {
  auto rules = std::make_shared<AccessRules>();
  rules->anonymous_read = true;
  access_.SetRules(rules);
  const Caller nobody = Known(Request(""));
  EXPECT_EQ(nobody.kind, CallerKind::kAnonymous);
  EXPECT_TRUE(Allows(nobody, kRead));
  EXPECT_FALSE(Allows(nobody, kReadAudit));
  EXPECT_FALSE(Allows(nobody, kRelease));
  for (const char* field : {"Bearer wrong", "Bearer", "Bearer ", "Basic YTpi", "Bearer a b"}) {
    EXPECT_EQ(Refused(Request(field)), ProblemType::kUnauthenticated) << field;
  }
  EXPECT_EQ(Refused(Request("Bearer " + std::string(20000, 'a'))), ProblemType::kUnauthenticated);
}

TEST_F(AccessTest, NobodyIsRefusedUnlessConfigured) {
  EXPECT_EQ(Refused(Request("")), ProblemType::kUnauthenticated);
}

TEST_F(AccessTest, ClientCertificatesHaveTheRoleOfTheirName) {
  HttpRequest request = Request("");
  request.client_name = "ci.example.org";
  const Caller caller = Known(request);
  EXPECT_EQ(ActorOf(caller), "ci.example.org (client certificate) from 192.0.2.7");
  EXPECT_TRUE(Allows(caller, kRead));
  EXPECT_FALSE(Allows(caller, kReadAudit));
  request.client_name = "other.example.org";
  EXPECT_EQ(Refused(request), ProblemType::kUnauthenticated);
}

// ---- proxies that sign people in

class ProxyTest : public AccessTest {
 protected:
  ProxyTest() {
    auto rules = std::make_shared<AccessRules>();
    rules->tokens = StaticTokens::Parse(LineOf(kAliceToken, "admin", "alice"), "tokens").value();
    rules->clients["ci.example.org"] = ApiRole::kViewer;
    rules->proxies = {"oauth2-proxy"};
    rules->user_field = "x-forwarded-user";
    rules->groups_field = "x-forwarded-groups";
    rules->anonymous_read = true;
    access_.SetRules(rules);
  }

  // Of a caller that shows the certificate `client`, or none.
  static HttpRequest From(const char* client, std::vector<HttpField> fields) {
    HttpRequest request = Request("");
    if (client != nullptr) request.client_name = client;
    request.headers = std::move(fields);
    return request;
  }
};

TEST_F(ProxyTest, WhomItNamesIsAUserOfKubernetesWhoReads) {
  const Caller caller = Known(From("oauth2-proxy", {{"x-forwarded-user", "ann@example.org"},
                                                    {"x-forwarded-groups", "team-a, auditors,"}}));
  EXPECT_EQ(caller.kind, CallerKind::kProxied);
  EXPECT_EQ(ActorOf(caller), "ann@example.org (signed in by a proxy) from 192.0.2.7");
  EXPECT_EQ(caller.user.name, "ann@example.org");
  EXPECT_EQ(caller.user.groups,
            (std::vector<std::string>{"team-a", "auditors", "system:authenticated"}));
  EXPECT_FALSE(Allows(caller, kRead));
  reviews_.allowed["ann@example.org " + ToText(kRead)];
  reviews_.allowed["ann@example.org " + ToText(kRelease)];
  EXPECT_TRUE(Allows(caller, kRead));
  // A browser could be led to send it.
  EXPECT_FALSE(Allows(caller, kRelease));
  reviews_.down = true;
  const auto unknown = access_.Allows(caller, kRead, {});
  ASSERT_FALSE(unknown.ok());
  EXPECT_EQ(unknown.error().code, ErrorCode::kUnavailable);
}

TEST_F(ProxyTest, NobodyElseSaysWhoCalls) {
  const HttpField user{"x-forwarded-user", "ann@example.org"};
  const HttpField groups{"x-forwarded-groups", "team-a"};
  for (const char* client : {static_cast<const char*>(nullptr), "ci.example.org", "stranger"}) {
    EXPECT_EQ(Refused(From(client, {user})), ProblemType::kUnauthenticated);
    EXPECT_EQ(Refused(From(client, {groups})), ProblemType::kUnauthenticated);
    EXPECT_EQ(Refused(From(client, {user, user})), ProblemType::kUnauthenticated);
  }
  // Who shows a token is who the token says.
  HttpRequest token = Request(std::string("Bearer ") + kAliceToken);
  token.headers.push_back(user);
  EXPECT_EQ(Known(token).name, "alice");
  EXPECT_EQ(Known(From("ci.example.org", {})).kind, CallerKind::kCertificate);
  EXPECT_EQ(Known(From(nullptr, {})).kind, CallerKind::kAnonymous);
}

TEST_F(ProxyTest, WhatItNamesBadlyIsNobody) {
  const std::string many(kProxiedGroupsMax * 2, ',');
  std::string groups;
  for (std::size_t i = 0; i <= kProxiedGroupsMax; ++i) groups += "g" + std::to_string(i) + ",";
  const std::string long_name(kProxiedNameBytesMax + 1, 'a');
  for (const std::string_view user :
       {std::string_view(""), std::string_view("system:admin"),
        std::string_view("system:serviceaccount:team-a:robot"), std::string_view("ann smith"),
        std::string_view("b\xC3\xB6"), std::string_view(long_name)}) {
    EXPECT_EQ(Refused(From("oauth2-proxy", {{"x-forwarded-user", user}})),
              ProblemType::kUnauthenticated)
        << user;
  }
  EXPECT_EQ(Refused(From("oauth2-proxy", {})), ProblemType::kUnauthenticated);
  const HttpField ann{"x-forwarded-user", "ann"};
  for (const std::string_view list : {std::string_view("team-a,system:masters"),
                                      std::string_view("a b"), std::string_view(groups)}) {
    EXPECT_EQ(Refused(From("oauth2-proxy", {ann, {"x-forwarded-groups", list}})),
              ProblemType::kUnauthenticated)
        << list;
  }
  // What the browser wrote stands beside what the proxy writes.
  EXPECT_EQ(Refused(From("oauth2-proxy", {{"x-forwarded-user", "eve"}, ann})),
            ProblemType::kUnauthenticated);
  EXPECT_EQ(Known(From("oauth2-proxy", {ann, {"x-forwarded-groups", many}})).user.groups.size(),
            1U);
}

TEST_F(AccessTest, WithoutAClusterOnlyStaticTokensCount) {
  ApiAccess access(nullptr, nullptr);
  auto found = access.Authenticate(Request("Bearer robot"));
  ASSERT_TRUE(std::holds_alternative<Problem>(found));
  EXPECT_EQ(std::get<Problem>(found).type, ProblemType::kUnauthenticated);
}

TEST(Roles, EachIncludesTheOneBefore) {
  EXPECT_EQ(RoleFor(kRead), ApiRole::kViewer);
  EXPECT_EQ(RoleFor({"checks", "", "create", "team-a"}), ApiRole::kViewer);
  EXPECT_EQ(RoleFor(kReadAudit), ApiRole::kAuditor);
  EXPECT_EQ(RoleFor(kRelease), ApiRole::kAdmin);
  EXPECT_EQ(RoleFor({"overrides", "", "create", ""}), ApiRole::kAdmin);
}

// ---- the memory of reviews

class MemoryTest : public ::testing::Test {
 protected:
  Deadline now_{};
  FakeTokens tokens_;
  FakeAccess reviews_;
  CachedTokenReviewer cached_{tokens_, [this] { return now_; }};
  CachedAccessReviewer cached_access_{reviews_, [this] { return now_; }};
};

TEST_F(MemoryTest, AGoodTokenIsBelievedForAMinuteABadOneForTenSeconds) {
  tokens_.users["robot"] = {"robot", "", {}, {}};
  EXPECT_TRUE(cached_.FindUser("robot", "192.0.2.7", {}).value().has_value());
  EXPECT_FALSE(cached_.FindUser("bad", "192.0.2.7", {}).value().has_value());
  tokens_.users.clear();
  now_ += std::chrono::seconds(9);
  EXPECT_TRUE(cached_.FindUser("robot", "192.0.2.7", {}).value().has_value());
  EXPECT_FALSE(cached_.FindUser("bad", "192.0.2.7", {}).value().has_value());
  EXPECT_EQ(tokens_.asked, 2);
  now_ += std::chrono::seconds(1);
  EXPECT_FALSE(cached_.FindUser("bad", "192.0.2.7", {}).value().has_value());
  EXPECT_EQ(tokens_.asked, 3);
  now_ += std::chrono::seconds(50);
  EXPECT_FALSE(cached_.FindUser("robot", "192.0.2.7", {}).value().has_value()) << "revoked";
}

TEST_F(MemoryTest, FailuresAreNotRemembered) {
  tokens_.down = true;
  EXPECT_FALSE(cached_.FindUser("robot", "192.0.2.7", {}).ok());
  tokens_.down = false;
  tokens_.users["robot"] = {"robot", "", {}, {}};
  EXPECT_TRUE(cached_.FindUser("robot", "192.0.2.7", {}).value().has_value());
}

// The questions of one source wait for each other's answers, here inside each other.
TEST_F(MemoryTest, AStrangersTokensLeaveOthersTheirPlaces) {
  for (const auto& pair : std::vector<std::pair<std::string, std::string>>{
           {"192.0.2.66", "192.0.2.7"}, {"2001:db8:1:2::66", "2001:db8:1:3::66"}}) {
    const std::string& flood = pair.first;
    const std::string& other = pair.second;
    int refused = 0;
    int deep = 0;
    tokens_.on_review = [&](const std::string& source) {
      if (source == other) return;
      ++deep;
      const Result<std::optional<KubernetesUser>> more =
          cached_.FindUser("random" + flood + std::to_string(deep), flood, {});
      if (more.ok()) return;
      EXPECT_EQ(more.error().code, ErrorCode::kResourceExhausted);
      ++refused;
      EXPECT_TRUE(cached_.FindUser("robot" + other, other, {}).ok()) << "another source";
    };
    EXPECT_TRUE(cached_.FindUser("random" + flood, flood, {}).ok());
    EXPECT_EQ(deep, kQuestionsOfOneAtOnce) << flood;
    EXPECT_EQ(refused, 1);
  }
  // One network of IPv6 is one source.
  int deep = 0;
  tokens_.on_review = [&](const std::string&) {
    ++deep;
    static_cast<void>(
        cached_.FindUser("r" + std::to_string(deep), "2001:db8::" + std::to_string(deep), {}).ok());
  };
  EXPECT_TRUE(cached_.FindUser("r", "2001:db8::ffff", {}).ok());
  EXPECT_EQ(deep, kQuestionsOfOneAtOnce);
}

TEST_F(MemoryTest, TheMemoryIsBounded) {
  for (int i = 0; i < 10000; ++i) {
    EXPECT_FALSE(cached_.FindUser("bad" + std::to_string(i), "192.0.2.7", {}).value().has_value());
  }
  EXPECT_EQ(tokens_.asked, 10000);
}

TEST_F(MemoryTest, PermissionsAreRememberedByUserAndQuestion) {
  const KubernetesUser robot{"robot", "u", {"g"}, {{"k", {"v"}}}};
  KubernetesUser other = robot;
  other.groups = {"g", "admins"};
  reviews_.allowed["robot list ownerships"];
  EXPECT_TRUE(cached_access_.Allowed(robot, kRead, {}).value());
  EXPECT_TRUE(cached_access_.Allowed(robot, kRead, {}).value());
  EXPECT_EQ(reviews_.asked, 1);
  EXPECT_TRUE(cached_access_.Allowed(other, kRead, {}).value());
  EXPECT_FALSE(cached_access_.Allowed(robot, kReadAudit, {}).value());
  EXPECT_EQ(reviews_.asked, 3);
}

// ---- the API server's answers

class FakeCluster final : public ClusterApi {
 public:
  ApiResult<std::string> Create(const ServedKind& kind, std::string_view, std::string_view object,
                                Deadline) override {
    asked = std::string(object);
    path = PathOf(kind);
    if (error) return *error;
    return answer;
  }
  ApiResult<Discovery> Discover(Deadline) override { return Unused(); }
  ApiResult<std::string> Get(const ServedKind&, std::string_view, std::string_view,
                             Deadline) override {
    return Unused();
  }
  ApiResult<ListPage> List(const ListQuery&, Deadline) override { return Unused(); }
  ApiResult<std::string> Patch(const PatchTarget&, std::string_view, Deadline) override {
    return Unused();
  }
  ApiResult<std::string> Delete(const ServedKind&, std::string_view, std::string_view,
                                Deadline) override {
    return Unused();
  }
  static ApiError Unused() { return {}; }

  std::optional<ApiError> error;
  std::string answer;
  std::string asked;
  std::string path;
};

TEST(TokenReviews, AskForTheAudienceAndCheckIt) {
  FakeCluster cluster;
  ClusterTokenReviewer reviewer(cluster);
  cluster.answer =
      R"({"status":{"authenticated":true,"audiences":["truce"],"user":{"username":"robot","uid":"u",
          "groups":["g1","g2"],"extra":{"k":["v"]}}}})";
  const auto user = reviewer.FindUser("secret", "192.0.2.7", {});
  ASSERT_TRUE(user.ok());
  ASSERT_TRUE(user.value().has_value());
  EXPECT_EQ(*user.value(), (KubernetesUser{"robot", "u", {"g1", "g2"}, {{"k", {"v"}}}}));
  EXPECT_EQ(cluster.path, "/apis/authentication.k8s.io/v1/tokenreviews");
  const json asked = json::parse(cluster.asked);
  EXPECT_EQ(asked.at("spec"), json::parse(R"({"token":"secret","audiences":["truce"]})"));
  // Good, but for the API server only, or for somebody else.
  for (const char* audiences : {"", R"("audiences":[],)", R"("audiences":["other"],)"}) {
    cluster.answer = std::string(R"({"status":{"authenticated":true,)") + audiences +
                     R"("user":{"username":"robot"}}})";
    EXPECT_FALSE(reviewer.FindUser("secret", "192.0.2.7", {}).value().has_value()) << audiences;
  }
  cluster.answer = R"({"status":{"error":"token expired"}})";
  EXPECT_FALSE(reviewer.FindUser("secret", "192.0.2.7", {}).value().has_value());
}

TEST(TokenReviews, EverythingElseIsNobodyKnows) {
  FakeCluster cluster;
  ClusterTokenReviewer reviewer(cluster);
  for (const char* answer :
       {"", "[]", "{}", R"({"status":1})",
        R"({"status":{"authenticated":true,"audiences":["truce"]}})",
        R"({"status":{"authenticated":true,"audiences":["truce"],"user":{"username":""}}})"}) {
    cluster.answer = answer;
    EXPECT_FALSE(reviewer.FindUser("secret", "192.0.2.7", {}).ok()) << answer;
  }
  cluster.error = ApiError{ApiErrorKind::kUnreachable, 0, "no route", {}};
  const auto user = reviewer.FindUser("secret", "192.0.2.7", {});
  ASSERT_FALSE(user.ok());
  EXPECT_EQ(user.error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(user.error().message.find("secret"), std::string::npos);
}

TEST(TokenReviews, NobodyKnowsBeforeTheClusterWasReached) {
  LateApi nowhere([]() -> Result<ClusterApi*> {
    return Error{ErrorCode::kUnavailable, "not reached"};
  });
  ClusterTokenReviewer tokens(nowhere);
  EXPECT_EQ(tokens.FindUser("secret", "192.0.2.7", {}).error().code, ErrorCode::kUnavailable);
  ClusterAccessReviewer access(nowhere);
  EXPECT_EQ(access.Allowed({}, kRelease, {}).error().code, ErrorCode::kUnavailable);
}

TEST(AccessReviews, AskInTheWordsOfTruce) {
  FakeCluster cluster;
  ClusterAccessReviewer reviewer(cluster);
  const KubernetesUser robot{"robot", "u", {"g"}, {{"k", {"v"}}}};
  cluster.answer = R"({"status":{"allowed":true}})";
  EXPECT_TRUE(reviewer.Allowed(robot, kRelease, {}).value());
  const json spec = json::parse(cluster.asked).at("spec");
  EXPECT_EQ(spec, json::parse(R"({"user":"robot","uid":"u","groups":["g"],"extra":{"k":["v"]},
      "resourceAttributes":{"group":"truce.dev","resource":"ownerships","subresource":"release",
      "verb":"create","namespace":"team-a"}})"));
  cluster.answer = R"({"status":{"allowed":true,"denied":true}})";
  EXPECT_FALSE(reviewer.Allowed(robot, kRelease, {}).value());
  cluster.answer = R"({"status":{"allowed":false}})";
  EXPECT_FALSE(reviewer.Allowed(robot, kRelease, {}).value());
  cluster.answer = "{}";
  EXPECT_FALSE(reviewer.Allowed(robot, kRelease, {}).ok());
  cluster.error = ApiError{ApiErrorKind::kTimeout, 0, "", {}};
  EXPECT_EQ(reviewer.Allowed(robot, kRelease, {}).error().code, ErrorCode::kDeadlineExceeded);
}

}  // namespace api_auth_test
}  // namespace truce
