// A thousand rotations of a self-managed installation under load: no handshake fails, whichever of
// the bundles that were published last a client verifies with.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "certs/certificate_store.h"
#include "registry/base/guarded.h"
#include "tests/support/fake_clock.h"
#include "tests/support/http_fixture.h"
#include "tests/support/memory_cluster_api.h"
#include "tests/support/temporary_folder.h"
#include "webhook/publish/installation_keeper.h"
#include "webhook/wire/base64.h"

namespace truce {
namespace certificate_rotation_test {

using std::chrono::minutes;
using std::chrono::seconds;

constexpr int kClients = 2;
const ServedKind kSecrets{"", "v1", "Secret", "secrets", true};
const ServedKind kWebhooks{"admissionregistration.k8s.io", "v1", "ValidatingWebhookConfiguration",
                           "validatingwebhookconfigurations", false};

// 12 in every run, every second one of the authority; TRUCE_ROTATIONS=1000 for the whole thousand.
int Rotations() {
  const char* const wanted = std::getenv("TRUCE_ROTATIONS");
  return wanted == nullptr ? 12 : std::atoi(wanted);
}

class CertificateRotation : public testing::Test {
 protected:
  void Note(const KeeperEvent& event) {
    if (event.kind != KeeperEvent::Kind::kCertificates || store_ == nullptr) return;
    EXPECT_TRUE(store_->Poll().ok());
  }

  CertificateRotation() {
    std::ofstream(folder_.path() / "admission.secret") << "0123456789abcdef0123456789abcdef\n";
    api_.Put(kSecrets, "ns", R"({"kind":"Secret","metadata":{"name":"truce-self"}})");
    api_.Put(kWebhooks, "", R"({"kind":"ValidatingWebhookConfiguration",
        "metadata":{"name":"truce"},"webhooks":[{"name":"declarations.truce.dev",
        "clientConfig":{"service":{"name":"truce","namespace":"ns"}}}]})");
    options_.secret_namespace = "ns";
    options_.secret_name = "truce-self";
    options_.webhook = "truce";
    options_.directory = folder_.path() / "certs";
    options_.path_secret_file = folder_.path() / "admission.secret";
    // An authority lives as long as two leaves, so every second rotation is one of the authority.
    options_.rules.leaf_life = std::chrono::hours(1);
    options_.rules.authority_life = std::chrono::hours(2);
    keeper_.emplace(options_, KeeperPorts{api_, clock_, [] { return FollowedPolicy(); },
                                          [this](const KeeperEvent& event) { Note(event); }});
    Step();
    CertificateStoreOptions certificates;
    certificates.certificate_file = options_.directory / "tls.crt";
    certificates.key_file = options_.directory / "tls.key";
    certificates.poll_interval = std::chrono::milliseconds(0);
    store_ = CertificateStore::Open(certificates, clock_).value();
    HttpServerOptions options = LoopbackOptions();
    options.certificates = store_.get();
    server_ = StartServer(std::move(options), EchoRoutes());
  }

  void Step() {
    ASSERT_TRUE(keeper_->Step(std::chrono::steady_clock::now() + seconds(5)).ok());
    const auto object = nlohmann::json::parse(api_.Object(kWebhooks, "", "truce"));
    const std::string text = object["webhooks"][0]["clientConfig"]["caBundle"];
    const std::string bundle = DecodeBase64(text).value_or("");
    bundles_.With([&](auto& bundles) {
      bundles = {bundles[1].empty() ? bundle : bundles[1], bundle};
    });
  }

  // A handshake and a request after the other, alternately with the present bundle and the one
  // before, as API servers do that have not heard of a change yet.
  void Load(int client) {
    ClientTls tls;
    tls.authority_file = folder_.path() / ("client-" + std::to_string(client));
    tls.clock = &clock_;
    for (std::size_t round = 0; !stop_; ++round) {
      const bool lags = lagging_ && round % 2 == 0;
      std::ofstream(tls.authority_file)
          << bundles_.With([&](const auto& bundles) { return bundles[lags ? 0 : 1]; });
      auto connection = HttpClient::ConnectTls(server_->port(), tls);
      const bool ok = connection != nullptr && connection->Ask(Request("GET", "/ok")).has_value();
      if (!ok) ++failed_;
      ++rounds_[static_cast<std::size_t>(client)];
    }
  }

  // Until each client has begun and ended a handshake since the call: none spans two changes.
  void LetClientsCatchUp() {
    for (const std::atomic<int>& rounds : rounds_) {
      const int before = rounds;
      ASSERT_TRUE(Eventually([&] { return rounds >= before + 2; }));
    }
  }

  TemporaryFolder folder_;
  FakeClock clock_{SystemClock().Now()};
  MemoryClusterApi api_;
  KeeperOptions options_;
  std::unique_ptr<CertificateStore> store_;
  std::optional<InstallationKeeper> keeper_;
  std::unique_ptr<HttpServer> server_;
  Guarded<std::array<std::string, 2>> bundles_;  // after the last step but one, after the last
  std::atomic<bool> lagging_{false};
  std::atomic<bool> stop_{false};
  std::atomic<int> failed_{0};
  std::array<std::atomic<int>, kClients> rounds_{};
};

TEST_F(CertificateRotation, FailsNoHandshake) {
  std::vector<std::jthread> clients;
  for (int i = 0; i < kClients; ++i) clients.emplace_back([this, i] { Load(i); });
  std::string serving = store_->Current().pair->fingerprint();
  int rotations = 0;
  for (int round = 0; rotations < Rotations() && failed_ == 0; ++round) {
    ASSERT_LT(round, 3 * Rotations());
    clock_.Advance(minutes(45));
    lagging_ = true;  // for less than the settling time
    Step();
    LetClientsCatchUp();
    lagging_ = false;
    LetClientsCatchUp();
    clock_.Advance(seconds(31));
    Step();
    LetClientsCatchUp();
    const std::string now = store_->Current().pair->fingerprint();
    if (now != serving) ++rotations;
    serving = now;
  }
  stop_ = true;
  clients.clear();
  EXPECT_EQ(failed_, 0);
  EXPECT_EQ(rotations, Rotations());
}

}  // namespace certificate_rotation_test
}  // namespace truce
