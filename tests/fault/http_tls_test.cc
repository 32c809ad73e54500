// TLS: what is spoken, who may speak, and certificates that change under load.
#include <gtest/gtest.h>
#include <openssl/ssl.h>

#include <atomic>
#include <fstream>
#include <thread>

#include "tests/support/certificates.h"
#include "tests/support/http_fixture.h"
#include "tests/support/temporary_folder.h"

namespace truce {
namespace http_tls_test {

using std::chrono::milliseconds;

constexpr std::chrono::hours kDay{24};

TestCertificate Valid(std::string common_name = "localhost", std::string names = "DNS:localhost") {
  TestCertificate wanted;
  wanted.common_name = std::move(common_name);
  wanted.alternative_names = std::move(names);
  wanted.from = SystemClock().Now() - kDay;
  wanted.until = SystemClock().Now() + 30 * kDay;
  return wanted;
}

TestCertificate Authority(const char* name) {
  TestCertificate wanted = Valid(name, "");
  wanted.authority = true;
  return wanted;
}

// Replaces a file whole, as an atomic writer does.
void Replace(const std::filesystem::path& path, const std::string& text) {
  const std::filesystem::path temporary = path.string() + ".new";
  std::ofstream(temporary) << text;
  std::filesystem::rename(temporary, path);
}

class HttpTls : public testing::Test {
 protected:
  HttpTls() {
    Replace(folder_.path() / "ca.crt", authority_.certificate);
    WritePair(IssueForTest(Valid(), authority_));
    certificates_.certificate_file = folder_.path() / "tls.crt";
    certificates_.key_file = folder_.path() / "tls.key";
    certificates_.poll_interval = milliseconds(0);
    tls_.authority_file = folder_.path() / "ca.crt";
  }

  void WritePair(const PemPair& pair) {
    Replace(folder_.path() / "tls.key", pair.key);
    Replace(folder_.path() / "tls.crt", pair.certificate);
  }

  void Start(HttpServerOptions options = LoopbackOptions()) {
    auto store = CertificateStore::Open(certificates_, clock_);
    ASSERT_TRUE(store.ok()) << store.error().message;
    store_ = std::move(store).value();
    options.certificates = store_.get();
    std::vector<HttpRoute> routes = EchoRoutes();
    routes.push_back(MakeRoute("GET", "/me", [](HttpRequest& request) {
      return PlainText(200, request.client_name.value_or("nobody"));
    }));
    server_ = StartServer(std::move(options), std::move(routes));
  }

  std::unique_ptr<HttpClient> Connect() { return HttpClient::ConnectTls(server_->port(), tls_); }

  // What a client with this certificate gets; 0 when it gets no reply at all.
  int StatusAs(const PemPair& client, std::string* body = nullptr) {
    ClientTls tls = tls_;
    tls.certificate_file = folder_.path() / "client.crt";
    tls.key_file = folder_.path() / "client.key";
    Replace(tls.certificate_file, client.certificate);
    Replace(tls.key_file, client.key);
    auto connection = HttpClient::ConnectTls(server_->port(), tls);
    if (connection == nullptr) return 0;
    const auto reply = connection->Ask(Request("GET", "/me"));
    if (reply.has_value() && body != nullptr) *body = reply->body;
    return reply.has_value() ? reply->status : 0;
  }

  SystemClock clock_;
  TemporaryFolder folder_;
  PemPair authority_ = IssueForTest(Authority("server authority"));
  CertificateStoreOptions certificates_;
  ClientTls tls_;
  std::unique_ptr<CertificateStore> store_;
  std::unique_ptr<HttpServer> server_;
};

TEST_F(HttpTls, SpeaksModernTlsOnly) {
  Start();
  struct Row {
    const char* reason;
    int version_max;
    const char* ciphers;
    bool accepted;
  };
  for (const Row& row :
       {Row{"TLS 1.3", 0, "", true}, Row{"TLS 1.2", TLS1_2_VERSION, "", true},
        Row{"TLS 1.2, AES-GCM", TLS1_2_VERSION, "ECDHE-ECDSA-AES128-GCM-SHA256", true},
        Row{"TLS 1.1", TLS1_1_VERSION, "ALL:@SECLEVEL=0", false},
        Row{"TLS 1.0", TLS1_VERSION, "ALL:@SECLEVEL=0", false},
        Row{"CBC", TLS1_2_VERSION, "ECDHE-ECDSA-AES128-SHA256:ECDHE-ECDSA-AES128-SHA", false},
        Row{"RSA key exchange", TLS1_2_VERSION, "AES128-GCM-SHA256:AES256-SHA", false},
        Row{"no authentication", TLS1_2_VERSION, "aNULL:@SECLEVEL=0", false},
        Row{"no encryption", TLS1_2_VERSION, "eNULL:@SECLEVEL=0", false}}) {
    ClientTls tls = tls_;
    tls.version_max = row.version_max;
    tls.ciphers = row.ciphers;
    auto client = HttpClient::ConnectTls(server_->port(), tls);
    EXPECT_EQ(client != nullptr, row.accepted) << row.reason;
    if (client == nullptr) continue;
    EXPECT_EQ(client->Ask(Request("GET", "/ok"))->status, 200) << row.reason;
  }
  EXPECT_EQ(server_->Counters().Rejected(HttpRejection::kHandshake), 6U);
}

// Whatever the client would rather have.
TEST_F(HttpTls, EncryptsWithTheFastestThatIsSafe) {
  Start();
  EXPECT_EQ(Connect()->Cipher(), "TLS_AES_128_GCM_SHA256");
  tls_.version_max = TLS1_2_VERSION;
  EXPECT_EQ(Connect()->Cipher(), "ECDHE-ECDSA-AES128-GCM-SHA256");
}

TEST_F(HttpTls, PlainHttpOnATlsPortIsClosed) {
  Start();
  auto client = HttpClient::Connect(server_->port());
  ASSERT_TRUE(client->Send(Request("GET", "/ok")));
  EXPECT_TRUE(client->WaitForEnd());
}

TEST_F(HttpTls, TheWholeChainIsSentAlsoAfterItChanged) {
  const PemPair first = IssueForTest(Authority("first intermediate"), authority_);
  const PemPair leaf = IssueForTest(Valid(), first);
  WritePair({leaf.certificate + first.certificate, leaf.key});
  Start();
  ASSERT_NE(Connect(), nullptr);
  EXPECT_EQ(Connect()->PeerChainSize(), 2U);
  const PemPair second = IssueForTest(Authority("second intermediate"), authority_);
  const PemPair next = IssueForTest(Valid(), second);
  WritePair({next.certificate + second.certificate, next.key});
  ASSERT_TRUE(store_->Poll().ok());
  ASSERT_NE(Connect(), nullptr) << "the new leaf verifies through the new intermediate";
}

TEST_F(HttpTls, RotationUnderLoadFailsNothingAndBadPairsStayOut) {
  Start();
  const std::string first = Connect()->PeerFingerprint();
  std::atomic<bool> stop = false;
  std::atomic<int> failed = 0;
  std::atomic<int> answered = 0;
  std::vector<std::jthread> callers;
  for (int t = 0; t < 4; ++t) {
    callers.emplace_back([&] {
      while (!stop) {
        auto client = Connect();
        for (int i = 0; i < 5; ++i) {
          const bool ok = client != nullptr && client->Ask(Request("GET", "/ok")).has_value();
          ++(ok ? answered : failed);
        }
      }
    });
  }
  auto kept = Connect();
  int swaps = 0;
  int rejections = 0;
  for (int round = 0; round < 60; ++round) {
    const PemPair pair = IssueForTest(Valid(), authority_);
    switch (round % 3) {
      case 0: WritePair(pair); break;
      case 1: Replace(folder_.path() / "tls.key", pair.key); break;            // half of an update
      default: WritePair({pair.certificate.substr(0, 300), pair.key}); break;  // half a file
    }
    ++(store_->Poll().ok() ? swaps : rejections);
    ASSERT_EQ(kept->Ask(Request("GET", "/ok"))->status, 200);
    const int before = answered;
    ASSERT_TRUE(Eventually([&] { return answered > before + 2 || failed > 0; }));
  }
  stop = true;
  callers.clear();
  EXPECT_EQ(failed, 0);
  EXPECT_GT(answered, 100);
  EXPECT_EQ(swaps, 20);
  EXPECT_EQ(rejections, 40);
  EXPECT_NE(Connect()->PeerFingerprint(), first);
  EXPECT_EQ(Connect()->PeerFingerprint(), store_->Current().pair->fingerprint());
}

class HttpClientCertificates : public HttpTls {
 protected:
  void StartWith(ClientAuth client_auth, std::vector<std::string> names) {
    Replace(folder_.path() / "clients.crt", clients_.certificate);
    certificates_.client_ca_file = folder_.path() / "clients.crt";
    certificates_.client_names = std::move(names);
    HttpServerOptions options = LoopbackOptions();
    options.client_auth = client_auth;
    Start(options);
  }

  PemPair clients_ = IssueForTest(Authority("client authority"));
  PemPair apiserver_ = IssueForTest(Valid("kube-apiserver", ""), clients_);
  PemPair stranger_ = IssueForTest(Valid("stranger", ""), clients_);
  PemPair forged_ = IssueForTest(Valid("kube-apiserver", ""), authority_);
};

TEST_F(HttpClientCertificates, RequiredMeansVerifiedAndAllowed) {
  StartWith(ClientAuth::kRequired, {"kube-apiserver"});
  std::string body;
  EXPECT_EQ(StatusAs(apiserver_, &body), 200);
  EXPECT_EQ(body, "kube-apiserver\n");
  EXPECT_EQ(StatusAs(stranger_), 403);
  EXPECT_EQ(StatusAs(forged_), 0) << "another authority's";
  TestCertificate expired = Valid("kube-apiserver", "");
  expired.until = clock_.Now() - std::chrono::hours(1);
  EXPECT_EQ(StatusAs(IssueForTest(expired, clients_)), 0);
  auto nobody = Connect();  // TLS 1.3 tells a client only after its own part is done
  EXPECT_TRUE(nobody == nullptr || !nobody->Ask(Request("GET", "/ok")).has_value());
  EXPECT_EQ(server_->Counters().Rejected(HttpRejection::kClientName), 1U);
  EXPECT_EQ(server_->Counters().Rejected(HttpRejection::kHandshake), 3U);
}

TEST_F(HttpClientCertificates, OptionalLetsHandlersDecide) {
  StartWith(ClientAuth::kOptional, {"kube-apiserver"});
  std::string body;
  EXPECT_EQ(StatusAs(apiserver_, &body), 200);
  EXPECT_EQ(body, "kube-apiserver\n");
  EXPECT_EQ(StatusAs(stranger_, &body), 200);
  EXPECT_EQ(body, "nobody\n");
  EXPECT_EQ(Connect()->Ask(Request("GET", "/me"))->body, "nobody\n");
  EXPECT_EQ(StatusAs(forged_), 0);
}

TEST_F(HttpClientCertificates, TheClientAuthorityIsReloadedForNewConnections) {
  StartWith(ClientAuth::kRequired, {});
  EXPECT_EQ(StatusAs(apiserver_), 200);
  Replace(folder_.path() / "clients.crt",
          IssueForTest(Authority("next client authority")).certificate);
  ASSERT_TRUE(store_->Poll().ok());
  EXPECT_EQ(StatusAs(apiserver_), 0);
  Replace(folder_.path() / "clients.crt", "nonsense");
  EXPECT_FALSE(store_->Poll().ok());
  EXPECT_EQ(StatusAs(apiserver_), 0) << "a bad file opens nothing";
}

}  // namespace http_tls_test
}  // namespace truce
