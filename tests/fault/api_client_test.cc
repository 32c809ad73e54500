// Calls of the API server: what they return, and what each fault of a server becomes.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <thread>

#include "tests/support/certificates.h"
#include "tests/support/scripted_api_session.h"
#include "tests/support/temporary_folder.h"
#include "webhook/kube/api_client.h"

namespace truce {
namespace api_client_test {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;

constexpr seconds kPatience{20};

class ApiClient : public testing::Test {
 protected:
  ApiClient() { Open(SettingsFor(*server_)); }

  void Open(ServerSettings settings, ApiClientOptions options = {}) {
    session_ = OpenSession(std::move(settings));
    api_ = MakeApiClient(session_, options);
  }

  void PutMany(int count) {
    server_->Change([&](ScriptedApiState& state) {
      for (int i = 0; i < count; ++i) state.Put(BucketKind(), ObjectJson("b" + std::to_string(i)));
    });
  }

  ApiResult<std::string> Get(const std::string& name) {
    return api_->Get(BucketKind(), "", name, In(kPatience));
  }

  ApiResult<ListPage> List(const ListQuery& query = {.selection = {.kind = BucketKind()}}) {
    return api_->List(query, In(kPatience));
  }

  void Fault(int status, const std::string& body, const std::string& fields = "",
             const std::string& type = "application/json") {
    ApiFault fault;
    fault.reply = ScriptedReply{status, body, type, fields};
    server_->AddFault(fault);
  }

  std::unique_ptr<ScriptedApiServer> server_ = ScriptedApiServer::Start();
  std::shared_ptr<ServerSession> session_;
  std::unique_ptr<ClusterApi> api_;
};

TEST_F(ApiClient, ReadsCreatesChangesAndDeletesObjects) {
  server_->Change([](ScriptedApiState& state) { state.AddKind(ClaimKind()); });
  const auto created = api_->Create(ClaimKind(), "team-a", ObjectJson("orders"), In(kPatience));
  ASSERT_TRUE(created.ok()) << created.error().message;
  EXPECT_NE(created.value().find(R"("namespace":"team-a")"), std::string::npos);

  const auto got = api_->Get(ClaimKind(), "team-a", "orders", In(kPatience));
  ASSERT_TRUE(got.ok()) << got.error().message;
  EXPECT_EQ(got.value(), created.value());

  ClusterApi::PatchTarget target{ClaimKind(), "team-a", "orders", ""};
  const auto patched = api_->Patch(target, R"({"spec":{"a":1}})", In(kPatience));
  ASSERT_TRUE(patched.ok()) << patched.error().message;
  EXPECT_NE(patched.value().find(R"("a":1)"), std::string::npos);

  EXPECT_TRUE(api_->Delete(ClaimKind(), "team-a", "orders", In(kPatience)).ok());
  const auto gone = api_->Get(ClaimKind(), "team-a", "orders", In(kPatience));
  ASSERT_FALSE(gone.ok());
  EXPECT_EQ(gone.error().kind, ApiErrorKind::kNoSuchObject);
}

TEST_F(ApiClient, BodiesOfAllSizesArriveAtOnce) {
  server_->Change([](ScriptedApiState& state) { state.AddKind(BucketKind()); });
  for (const std::size_t size : {1U, 1000U, 1100U, 100'000U, 2'000'000U}) {
    const std::string more = R"("text":")" + std::string(size, 'x') + "\"";
    const auto begin = steady_clock::now();
    const auto created = api_->Create(
        BucketKind(), "", ObjectJson("s" + std::to_string(size), "", more), In(kPatience));
    ASSERT_TRUE(created.ok()) << size << ": " << created.error().message;
    EXPECT_GT(created.value().size(), size);
    // The library's wait for an interim answer would take a second. (Sanitizers need longer for
    // the largest.)
    if (size <= 100'000U) {
      EXPECT_LT(steady_clock::now() - begin, milliseconds(900)) << size;
    }
  }
}

TEST_F(ApiClient, OneConnectionServesCallsInARow) {
  PutMany(1);
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(Get("b0").ok());
  EXPECT_EQ(server_->connections_accepted(), 1U);
}

TEST_F(ApiClient, AConnectionThatTheServerClosedIsReplaced) {
  PutMany(1);
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(Get("b0").ok());
    server_->CutConnections();
  }
  ASSERT_TRUE(Get("b0").ok());
}

TEST_F(ApiClient, CallsOfManyThreadsStayWithinTheBound) {
  PutMany(300);
  Open(SettingsFor(*server_), {.calls_max = 4});
  std::vector<std::jthread> threads;
  std::atomic<int> good = 0;
  for (int i = 0; i < 16; ++i) {
    threads.emplace_back([&] {
      for (int call = 0; call < 10; ++call) good += List().ok() ? 1 : 0;
    });
  }
  threads.clear();
  EXPECT_EQ(good, 160);
  EXPECT_LE(server_->connections_accepted(), 4U);
}

TEST_F(ApiClient, ListsPageByPage) {
  PutMany(25);
  ListQuery query{.selection = {.kind = BucketKind()}, .limit = 10};
  std::set<std::string> seen;
  std::string version;
  int pages = 0;
  do {
    const auto page = List(query);
    ASSERT_TRUE(page.ok()) << page.error().message;
    if (pages++ == 0) version = page.value().resource_version;
    EXPECT_EQ(page.value().resource_version, version);
    for (const std::string& object : page.value().objects) {
      EXPECT_EQ(object.front(), '{');
      EXPECT_EQ(object.back(), '}');
      seen.insert(object);
    }
    query.next = page.value().next;
  } while (!query.next.empty());
  EXPECT_EQ(pages, 3);
  EXPECT_EQ(seen.size(), 25U);
}

TEST_F(ApiClient, ListsMetadataOnlyAndBySelector) {
  server_->Put(BucketKind(), ObjectJson("a", "", R"("reason":"War")"));
  server_->Put(BucketKind(), ObjectJson("b", "", R"("reason":"Peace")"));
  const auto war = List({.selection = {.kind = BucketKind(), .field_selector = "reason=War"}});
  ASSERT_TRUE(war.ok());
  EXPECT_EQ(war.value().objects.size(), 1U);
  const auto metadata = List({.selection = {.kind = BucketKind(), .metadata_only = true}});
  ASSERT_TRUE(metadata.ok());
  ASSERT_EQ(metadata.value().objects.size(), 2U);
  EXPECT_EQ(metadata.value().objects[0].find("spec"), std::string::npos);
}

TEST_F(ApiClient, DiscoversKinds) {
  server_->Change([](ScriptedApiState& state) {
    state.AddKind(BucketKind());
    state.AddKind(ClaimKind());
    state.AddKind({"", "v1", "Event", "events", true});
    state.AddKind({"down.example.org", "v1", "Thing", "things", true});
  });
  const auto whole = api_->Discover(In(kPatience));
  ASSERT_TRUE(whole.ok()) << whole.error().message;
  EXPECT_EQ(whole.value().kinds.size(), 4U);
  EXPECT_TRUE(whole.value().failed_groups.empty());

  server_->Change([](ScriptedApiState& state) { state.SetStale("down.example.org", true); });
  const auto found = api_->Discover(In(kPatience));
  ASSERT_TRUE(found.ok()) << found.error().message;
  EXPECT_EQ(found.value().failed_groups, std::vector<std::string>{"down.example.org"});
  ASSERT_EQ(found.value().kinds.size(), 3U);
  EXPECT_EQ(found.value().kinds[0].kind.kind, "Event");
  EXPECT_EQ(found.value().kinds[1].kind, ClaimKind());
  EXPECT_EQ(found.value().kinds[2].kind, BucketKind());
  EXPECT_EQ(found.value().kinds[2].verbs.size(), 7U);
}

TEST_F(ApiClient, AServerOlderThanAggregatedDiscoveryIsAnError) {
  server_->Change([](ScriptedApiState& state) { state.SetOldDiscovery(true); });
  const auto found = api_->Discover(In(kPatience));
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.error().kind, ApiErrorKind::kMalformed);
}

TEST_F(ApiClient, DiscoveryOfADeadServerIsAnErrorNotAnEmptyAnswer) {
  ApiFault fault;
  fault.target = "/apis";
  fault.cut_after = 0;
  fault.times = -1;
  server_->AddFault(fault);
  const auto found = api_->Discover(In(kPatience));
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.error().kind, ApiErrorKind::kUnreachable);
}

std::string Status(int code, const std::string& reason, const std::string& details = "{}") {
  return StatusReply(code, reason, "words of the server", details).body;
}

TEST_F(ApiClient, EachRefusalHasItsKind) {
  struct Row {
    int status;
    std::string body;
    std::string type;
    ApiErrorKind kind;
    const char* reason;
  };
  const std::string json = "application/json";
  const std::string named = R"({"name":"b0","group":"s3.aws.upbound.io","kind":"buckets"})";
  const std::string other = R"({"name":"other","group":"s3.aws.upbound.io","kind":"buckets"})";
  const std::vector<Row> rows = {
      {403, Status(403, "Forbidden"), json, ApiErrorKind::kForbidden, "RBAC"},
      {403, "<html>no</html>", "text/html", ApiErrorKind::kForbidden, "a proxy's 403"},
      {404, Status(404, "NotFound", named), json, ApiErrorKind::kNoSuchObject, "the object"},
      {404, Status(404, "NotFound", other), json, ApiErrorKind::kNoSuchType, "another object"},
      {404, Status(404, "NotFound"), json, ApiErrorKind::kNoSuchType, "no details"},
      {404, "404 page not found\n", "text/plain", ApiErrorKind::kNoSuchType, "the type"},
      {404, "<html>", "text/html", ApiErrorKind::kNoSuchType, "some other server"},
      {409, Status(409, "Conflict"), json, ApiErrorKind::kConflict, "a version moved"},
      {409, Status(409, "AlreadyExists"), json, ApiErrorKind::kAlreadyExists, "exists"},
      {410, Status(410, "Expired"), json, ApiErrorKind::kExpired, "continue token too old"},
      {400, Status(400, "BadRequest"), json, ApiErrorKind::kInvalid, "bad request"},
      {422, Status(422, "Invalid"), json, ApiErrorKind::kInvalid, "invalid"},
      {429, Status(429, "TooManyRequests"), json, ApiErrorKind::kThrottled, "throttled"},
      {500, Status(500, "InternalError"), json, ApiErrorKind::kServer, "server"},
      {503, "", "text/plain", ApiErrorKind::kServer, "no endpoints"},
      {504, Status(504, "Timeout"), json, ApiErrorKind::kServer, "etcd is slow"},
      {302, "", "text/html", ApiErrorKind::kInvalid, "a redirect to a login page"},
      {200, "<html>login</html>", "text/html", ApiErrorKind::kMalformed, "a login page"},
      {200, R"({"kind":"Bucket","metadata":{"resour)", json, ApiErrorKind::kMalformed, "cut JSON"},
      {200, R"({"kind":"Bucket"})", json, ApiErrorKind::kMalformed, "no metadata"},
      {200, "[]", json, ApiErrorKind::kMalformed, "no object"},
      {200, "", json, ApiErrorKind::kMalformed, "nothing"},
  };
  PutMany(1);
  for (const Row& row : rows) {
    Fault(row.status, row.body, "Location: https://login.example.org/?next=x\r\n", row.type);
    const auto got = Get("b0");
    ASSERT_FALSE(got.ok()) << row.reason;
    EXPECT_EQ(Name(got.error().kind), Name(row.kind)) << row.reason;
    if (row.status != 200) {
      EXPECT_EQ(got.error().status, row.status) << row.reason;
    }
    EXPECT_FALSE(got.error().message.empty()) << row.reason;
    EXPECT_EQ(got.error().message.find('\n'), std::string::npos) << row.reason;
    ASSERT_TRUE(Get("b0").ok()) << "after: " << row.reason;
  }
}

TEST_F(ApiClient, RetryAfterIsReadAndBounded) {
  const std::vector<std::pair<std::string, std::optional<milliseconds>>> rows = {
      {"Retry-After: 7\r\n", seconds(7)},
      {"Retry-After: 100000\r\n", seconds(300)},
      {"Retry-After: soon\r\n", std::nullopt},
      {"", std::nullopt}};
  for (const auto& [field, expected] : rows) {
    Fault(429, Status(429, "TooManyRequests"), field);
    const auto got = Get("b0");
    ASSERT_FALSE(got.ok());
    EXPECT_EQ(got.error().retry_after, expected) << field;
  }
}

// No prefix of a list may pass for a whole one: what is missing would be released.
TEST_F(ApiClient, AListThatIsCutAnywhereIsNoList) {
  PutMany(3);
  const auto whole = List();
  ASSERT_TRUE(whole.ok());
  std::string body = R"({"apiVersion":"v1","items":[)";
  for (const std::string& object : whole.value().objects) {
    if (body.back() != '[') body += ",\n  ";
    body += object;
  }
  body += R"(],"kind":"BucketList","metadata":{"resourceVersion":"7"}})";
  Fault(200, body);
  const auto same = List();
  ASSERT_TRUE(same.ok()) << same.error().message;
  EXPECT_EQ(same.value().objects, whole.value().objects);
  for (std::size_t size = 0; size < body.size(); ++size) {
    Fault(200, body.substr(0, size));
    const auto page = List();
    ASSERT_FALSE(page.ok()) << size;
    EXPECT_EQ(page.error().kind, ApiErrorKind::kMalformed) << size;
  }
}

TEST_F(ApiClient, AnAnswerThatIsCutOnTheWayIsNoAnswer) {
  PutMany(20);
  for (const std::size_t size : {0U, 1U, 16U, 60U, 100U, 120U, 500U, 3000U}) {
    ApiFault fault;
    fault.cut_after = size;
    fault.times = 2;
    server_->AddFault(fault);
    const auto page = List();
    ASSERT_FALSE(page.ok()) << size;
    EXPECT_TRUE(page.error().kind == ApiErrorKind::kUnreachable ||
                page.error().kind == ApiErrorKind::kMalformed)
        << size << Name(page.error().kind);
    server_->ClearFaults();
  }
}

TEST_F(ApiClient, OddListsAreRefused) {
  const std::vector<std::pair<const char*, bool>> rows = {
      {R"({"kind":"BucketList","metadata":{"resourceVersion":"1"},"items":null})", true},
      {R"({"kind":"BucketList","metadata":{"resourceVersion":"1"},"items":[]})", true},
      {R"({"kind":"BucketList","metadata":{"resourceVersion":"1"}})", false},
      {R"({"kind":"BucketList","metadata":{},"items":[]})", false},
      {R"({"kind":"BucketList","metadata":{"resourceVersion":"1"},"items":[1]})", false},
      {R"({"kind":"BucketList","metadata":{"resourceVersion":"1"},"items":{}})", false},
      {R"({"kind":"BucketList","metadata":{"resourceVersion":"1"},"items":[]} x)", false}};
  for (const auto& [body, is_good] : rows) {
    Fault(200, body);
    EXPECT_EQ(List().ok(), is_good) << body;
  }
}

TEST_F(ApiClient, TooLargeAnAnswerIsRefusedWithoutBeingKept) {
  PutMany(200);
  Open(SettingsFor(*server_), {.response_bytes_max = 10'000});
  const auto page = List();
  ASSERT_FALSE(page.ok());
  EXPECT_EQ(page.error().kind, ApiErrorKind::kMalformed);
  EXPECT_NE(page.error().message.find("10000"), std::string::npos);
}

TEST_F(ApiClient, DeadlinesAreAbsolute) {
  PutMany(50);
  ApiFault hang;
  hang.hang = true;
  ApiFault slow;
  slow.bytes_per_tick = 1;
  for (const ApiFault& fault : {hang, slow}) {
    server_->AddFault(fault);
    const auto begin = steady_clock::now();
    const auto page = api_->List({.selection = {.kind = BucketKind()}}, In(milliseconds(300)));
    ASSERT_FALSE(page.ok());
    EXPECT_EQ(page.error().kind, ApiErrorKind::kTimeout);
    EXPECT_LT(steady_clock::now() - begin, seconds(5));
  }
}

TEST_F(ApiClient, ASlowAnswerWithinItsTimeIsWhole) {
  PutMany(5);
  ApiFault slow;
  slow.bytes_per_tick = 50;
  server_->AddFault(slow);
  const auto page = List();
  ASSERT_TRUE(page.ok()) << page.error().message;
  EXPECT_EQ(page.value().objects.size(), 5U);
}

TEST_F(ApiClient, NobodyListensIsUnreachable) {
  ServerSettings settings = SettingsFor(*server_);
  server_.reset();
  Open(std::move(settings));
  const auto got = Get("a");
  ASSERT_FALSE(got.ok());
  EXPECT_EQ(got.error().kind, ApiErrorKind::kUnreachable);
  EXPECT_NE(got.error().message.find("refused"), std::string::npos) << got.error().message;
}

TEST_F(ApiClient, AnUnknownNameIsUnreachable) {
  ServerSettings settings = SettingsFor(*server_);
  settings.address.host = "no-such-host.invalid";
  Open(std::move(settings));
  const auto got = Get("a");
  ASSERT_FALSE(got.ok());
  EXPECT_EQ(got.error().kind, ApiErrorKind::kUnreachable);
  EXPECT_NE(got.error().message.find("no-such-host.invalid"), std::string::npos);
}

TEST_F(ApiClient, NamesAreLookedUp) {
  PutMany(1);
  ServerSettings settings = SettingsFor(*server_);
  settings.address.host = "localhost";
  Open(std::move(settings));
  const auto got = Get("b0");
  ASSERT_TRUE(got.ok()) << got.error().message;
}

// Credentials.

TEST_F(ApiClient, ARotatedTokenIsReadAgainAndTheCallRepeatedOnce) {
  PutMany(1);
  const TemporaryFolder folder;
  const auto file = folder.path() / "token";
  std::ofstream(file) << "first\n";
  server_->SetToken("first");
  ServerSettings settings = SettingsFor(*server_);
  settings.user.token.file = file;
  Open(std::move(settings));
  ASSERT_TRUE(Get("b0").ok());

  server_->SetToken("second");
  std::ofstream(file) << "second\n";
  const auto got = Get("b0");
  ASSERT_TRUE(got.ok()) << got.error().message;

  server_->SetToken("third");
  const std::size_t before = server_->requests().size();
  const auto refused = Get("b0");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind, ApiErrorKind::kUnauthorized);
  EXPECT_EQ(server_->requests().size(), before + 2);
  EXPECT_EQ(refused.error().message.find("second"), std::string::npos);
}

TEST_F(ApiClient, ATokenFileIsReadAgainBeforeItExpires) {
  PutMany(1);
  const TemporaryFolder folder;
  const auto file = folder.path() / "token";
  std::ofstream(file) << "first";
  ServerSettings settings = SettingsFor(*server_);
  settings.user.token.file = file;
  session_ = OpenSession(std::move(settings), {.reread = milliseconds(20)});
  EXPECT_EQ(session_->Current()->token, "first");
  std::ofstream(file) << "second";
  const auto deadline = steady_clock::now() + kPatience;
  while (session_->Current()->token != "second" && steady_clock::now() < deadline) {
    std::this_thread::yield();
  }
  EXPECT_EQ(session_->Current()->token, "second");
  EXPECT_EQ(session_->trouble(), "");

  // A file that vanishes leaves the old token in use, and is told.
  std::filesystem::remove(file);
  while (session_->trouble().empty() && steady_clock::now() < deadline) std::this_thread::yield();
  EXPECT_NE(session_->trouble().find("token"), std::string::npos);
  EXPECT_EQ(session_->Current()->token, "second");
}

TEST_F(ApiClient, NoTokenGoesOverTheNetworkInClear) {
  static const SystemClock kClock;
  ServerSettings settings;
  settings.address = {false, "192.0.2.1", 80, ""};
  settings.user.token.text = "secret-token";
  const auto session = ServerSession::Open(settings, kClock, {});
  ASSERT_FALSE(session.ok());
  EXPECT_EQ(session.error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(session.error().message.find("secret-token"), std::string::npos);
}

TEST_F(ApiClient, ATokenWithALineEndInsideIsRefused) {
  static const SystemClock kClock;
  ServerSettings settings = SettingsFor(*server_);
  settings.user.token.text = "a\r\nX-Evil: 1";
  EXPECT_FALSE(ServerSession::Open(settings, kClock, {}).ok());
}

// TLS.

TestCertificate Valid(std::string name, std::string names) {
  TestCertificate wanted;
  wanted.common_name = std::move(name);
  wanted.alternative_names = std::move(names);
  wanted.from = SystemClock().Now() - std::chrono::hours(24);
  wanted.until = SystemClock().Now() + std::chrono::hours(24);
  return wanted;
}

class ApiClientTls : public testing::Test {
 protected:
  static PemPair Authority(const char* name) {
    TestCertificate wanted = Valid(name, "");
    wanted.authority = true;
    return IssueForTest(wanted);
  }

  // What a call says about a server with certificate `served`.
  ApiResult<std::string> Ask(const PemPair& served, ServerSettings change) {
    ScriptedApiOptions options;
    options.certificate = served.certificate;
    options.key = served.key;
    options.client_authority = client_authority_;
    const auto server = ScriptedApiServer::Start(options);
    server->Put(BucketKind(), ObjectJson("b0"));
    ServerSettings settings = SettingsFor(*server);
    change.address = settings.address;
    change.origin = "test";
    const auto session = OpenSession(std::move(change));
    if (session == nullptr) return ApiError{};
    return MakeApiClient(session, {})->Get(BucketKind(), "", "b0", In(kPatience));
  }

  ServerSettings Trusting(const PemPair& authority) {
    ServerSettings settings;
    settings.authority.text = authority.certificate;
    return settings;
  }

  const PemPair authority_ = Authority("cluster");
  std::string client_authority_;
};

TEST_F(ApiClientTls, TrustsWhatItsAuthorityIssuedToThatName) {
  const PemPair good = IssueForTest(Valid("api", "IP:127.0.0.1"), authority_);
  const auto got = Ask(good, Trusting(authority_));
  EXPECT_TRUE(got.ok()) << got.error().message;

  const auto foreign = Ask(good, Trusting(Authority("other")));
  ASSERT_FALSE(foreign.ok());
  EXPECT_EQ(foreign.error().kind, ApiErrorKind::kUnreachable);
  EXPECT_NE(foreign.error().message.find("certificate"), std::string::npos);

  const auto system = Ask(good, {});
  EXPECT_FALSE(system.ok());

  const PemPair other_name = IssueForTest(Valid("api", "DNS:kubernetes.default.svc"), authority_);
  const auto wrong = Ask(other_name, Trusting(authority_));
  ASSERT_FALSE(wrong.ok());
  EXPECT_NE(wrong.error().message.find("mismatch"), std::string::npos) << wrong.error().message;

  ServerSettings named = Trusting(authority_);
  named.tls_server_name = "kubernetes.default.svc";
  const auto right = Ask(other_name, named);
  EXPECT_TRUE(right.ok()) << right.error().message;

  ServerSettings careless;
  careless.verify = false;
  const auto any = Ask(other_name, careless);
  EXPECT_TRUE(any.ok()) << any.error().message;
}

// As kubectl: what is given is trusted, also when it is no authority.
TEST_F(ApiClientTls, TrustsAServersOwnCertificate) {
  const PemPair own = IssueForTest(Valid("api", "IP:127.0.0.1"));
  const auto got = Ask(own, Trusting(own));
  EXPECT_TRUE(got.ok()) << got.error().message;
  const auto other = Ask(IssueForTest(Valid("api", "IP:127.0.0.1")), Trusting(own));
  EXPECT_FALSE(other.ok());
}

TEST_F(ApiClientTls, ExpiredServersAreRefused) {
  TestCertificate old = Valid("api", "IP:127.0.0.1");
  old.until = SystemClock().Now() - std::chrono::hours(1);
  const auto got = Ask(IssueForTest(old, authority_), Trusting(authority_));
  ASSERT_FALSE(got.ok());
  EXPECT_NE(got.error().message.find("expired"), std::string::npos) << got.error().message;
}

TEST_F(ApiClientTls, ShowsItsClientCertificate) {
  const PemPair clients = Authority("clients");
  client_authority_ = clients.certificate;
  const PemPair served = IssueForTest(Valid("api", "IP:127.0.0.1"), authority_);
  const auto without = Ask(served, Trusting(authority_));
  EXPECT_FALSE(without.ok());
  const PemPair mine = IssueForTest(Valid("truce", ""), clients);
  ServerSettings settings = Trusting(authority_);
  settings.user.certificate.text = mine.certificate;
  settings.user.key.text = mine.key;
  const auto with = Ask(served, settings);
  EXPECT_TRUE(with.ok()) << with.error().message;
}

TEST_F(ApiClientTls, APlainServerBehindHttpsIsUnreachable) {
  const auto server = ScriptedApiServer::Start();
  ServerSettings settings = SettingsFor(*server);
  settings.address.tls = true;
  settings.verify = false;
  const auto session = OpenSession(settings);
  const auto got = MakeApiClient(session, {})->Get(BucketKind(), "", "a", In(seconds(2)));
  ASSERT_FALSE(got.ok());
  EXPECT_NE(got.error().kind, ApiErrorKind::kMalformed);
}

}  // namespace api_client_test
}  // namespace truce
