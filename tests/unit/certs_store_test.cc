// Certificates are checked before they are used, and a bad one never replaces a good one.
#include <gtest/gtest.h>

#include <condition_variable>
#include <fstream>
#include <mutex>

#include "certs/certificate_store.h"
#include "tests/support/certificates.h"
#include "tests/support/fake_clock.h"
#include "tests/support/temporary_folder.h"

namespace truce {
namespace certs_store_test {

const Timestamp kNow = *ParseTimestamp("2026-11-21T08:00:00Z");
constexpr std::chrono::hours kDay{24};

TestCertificate Valid() {
  TestCertificate wanted;
  wanted.alternative_names = "DNS:localhost";
  wanted.from = kNow - kDay;
  wanted.until = kNow + 30 * kDay;
  return wanted;
}

TestCertificate Authority() {
  TestCertificate wanted = Valid();
  wanted.common_name = "test authority";
  wanted.authority = true;
  return wanted;
}

void Write(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path, std::ios::trunc) << text;
}

class CertificateFilesTest : public testing::Test {
 protected:
  void WritePair(const PemPair& pair) {
    Write(options_.certificate_file, pair.certificate);
    Write(options_.key_file, pair.key);
  }
  std::unique_ptr<CertificateStore> Open() {
    auto store = CertificateStore::Open(options_, clock_);
    EXPECT_TRUE(store.ok()) << (store.ok() ? "" : store.error().message);
    return store.ok() ? std::move(store).value() : nullptr;
  }
  static std::string Fingerprint(const CertificateStore& store) {
    return store.Current().pair->fingerprint();
  }

  TemporaryFolder folder_;
  FakeClock clock_{kNow};
  std::vector<CertificateEvent> events_;
  CertificateStoreOptions options_ = [this] {
    CertificateStoreOptions options;
    options.certificate_file = folder_.path() / "tls.crt";
    options.key_file = folder_.path() / "tls.key";
    options.poll_interval = std::chrono::milliseconds(0);
    options.on_event = [this](const CertificateEvent& event) { events_.push_back(event); };
    return options;
  }();
};

TEST_F(CertificateFilesTest, EachKindOfBadPairIsRefusedWithItsOwnSentence) {
  const PemPair authority = IssueForTest(Authority());
  const PemPair good = IssueForTest(Valid(), authority);
  const PemPair other = IssueForTest(Valid(), authority);
  TestCertificate expired = Valid();
  expired.until = kNow;
  TestCertificate future = Valid();
  future.from = kNow + kDay;
  struct Row {
    const char* reason;
    PemPair pair;
    const char* message;
  };
  const std::vector<Row> rows = {
      {"empty certificate", {"", good.key}, "not a certificate in PEM form"},
      {"nonsense", {"hello", good.key}, "not a certificate in PEM form"},
      {"half a certificate",
       {good.certificate.substr(0, 200), good.key},
       "not a certificate in PEM form"},
      {"half a chain",
       {good.certificate + authority.certificate.substr(0, 200), good.key},
       "not a certificate in PEM form"},
      {"empty key",
       {good.certificate, ""},
       "the key is not an unencrypted private key in PEM form"},
      {"half a key",
       {good.certificate, good.key.substr(0, 100)},
       "the key is not an unencrypted private key in PEM form"},
      {"key of another", {good.certificate, other.key}, "the key belongs to another certificate"},
      {"expired", IssueForTest(expired, authority),
       "the certificate expired at 2026-11-21T08:00:00Z"},
      {"not yet valid", IssueForTest(future, authority),
       "the certificate is not valid before 2026-11-22T08:00:00Z"},
      {"foreign chain",
       {good.certificate + IssueForTest(Authority()).certificate + other.certificate, good.key},
       "certificate 2 did not issue the one before it"},
  };
  const std::string origin = "certificate \"" + options_.certificate_file.string() +
                             "\" with key \"" + options_.key_file.string() + "\": ";
  for (const Row& row : rows) {
    WritePair(row.pair);
    auto refused = CertificateStore::Open(options_, clock_);
    ASSERT_FALSE(refused.ok()) << row.reason;
    EXPECT_EQ(refused.error().code, ErrorCode::kInvalidArgument) << row.reason;
    EXPECT_EQ(refused.error().message, origin + row.message) << row.reason;
  }
}

TEST_F(CertificateFilesTest, MissingFilesAreNamed) {
  auto refused = CertificateStore::Open(options_, clock_);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(refused.error().message,
            "read \"" + options_.certificate_file.string() + "\": No such file or directory");
}

TEST_F(CertificateFilesTest, ChainsOfSeveralCertificatesLoad) {
  const PemPair root = IssueForTest(Authority());
  const PemPair intermediate = IssueForTest(Authority(), root);
  const PemPair leaf = IssueForTest(Valid(), intermediate);
  WritePair({leaf.certificate + intermediate.certificate + root.certificate, leaf.key});
  EXPECT_EQ(Open()->Current().pair->chain().size(), 2U);
}

TEST_F(CertificateFilesTest, GoodPairsAreSwappedInAndBadOnesAreToldOnce) {
  WritePair(IssueForTest(Valid()));
  auto store = Open();
  const std::string first = Fingerprint(*store);
  EXPECT_TRUE(store->Poll().ok());
  EXPECT_TRUE(events_.empty()) << "nothing changed";

  const PemPair second = IssueForTest(Valid());
  Write(options_.certificate_file, second.certificate);  // the key is still the old one
  EXPECT_FALSE(store->Poll().ok());
  EXPECT_FALSE(store->Poll().ok());
  EXPECT_EQ(Fingerprint(*store), first);
  ASSERT_EQ(events_.size(), 1U) << "told once";
  EXPECT_EQ(events_[0].kind, CertificateEvent::Kind::kRejected);

  Write(options_.key_file, second.key);
  EXPECT_TRUE(store->Poll().ok());
  EXPECT_NE(Fingerprint(*store), first);
  ASSERT_EQ(events_.size(), 2U);
  EXPECT_EQ(events_[1].kind, CertificateEvent::Kind::kSwapped);

  std::filesystem::remove(options_.key_file);
  EXPECT_FALSE(store->Poll().ok());
  ASSERT_EQ(events_.size(), 3U);
  Write(options_.key_file, second.key);
  EXPECT_TRUE(store->Poll().ok());
  EXPECT_EQ(events_.size(), 3U) << "back to what is in use: no event";
}

TEST_F(CertificateFilesTest, AMountedSecretIsSeenThroughItsSwappedLink) {
  const auto version = [&](const char* name) {
    const std::filesystem::path path = folder_.path() / name;
    std::filesystem::create_directory(path);
    const PemPair pair = IssueForTest(Valid());
    Write(path / "tls.crt", pair.certificate);
    Write(path / "tls.key", pair.key);
  };
  version("..1");
  version("..2");
  std::filesystem::create_symlink("..1", folder_.path() / "..data");
  for (const char* name : {"tls.crt", "tls.key"}) {
    std::filesystem::create_symlink(std::filesystem::path("..data") / name, folder_.path() / name);
  }
  auto store = Open();
  const std::string first = Fingerprint(*store);
  std::filesystem::create_symlink("..2", folder_.path() / "..data_tmp");
  std::filesystem::rename(folder_.path() / "..data_tmp", folder_.path() / "..data");
  EXPECT_TRUE(store->Poll().ok());
  EXPECT_NE(Fingerprint(*store), first);
}

TEST_F(CertificateFilesTest, ThePollingThreadSeesChangesByItself) {
  WritePair(IssueForTest(Valid()));
  std::mutex mutex;
  std::condition_variable swapped;
  bool seen = false;
  options_.poll_interval = std::chrono::milliseconds(5);
  options_.on_event = [&](const CertificateEvent& event) {
    const std::lock_guard<std::mutex> lock(mutex);
    seen = seen || event.kind == CertificateEvent::Kind::kSwapped;
    swapped.notify_all();
  };
  auto store = Open();
  WritePair(IssueForTest(Valid()));
  std::unique_lock<std::mutex> lock(mutex);
  EXPECT_TRUE(swapped.wait_for(lock, std::chrono::seconds(20), [&] { return seen; }));
}

TEST_F(CertificateFilesTest, ClientAuthoritiesAreReloadedWithTheirNames) {
  WritePair(IssueForTest(Valid()));
  options_.client_ca_file = folder_.path() / "clients.crt";
  options_.client_names = {"kube-apiserver", "spiffe://example.org/admission"};
  EXPECT_FALSE(CertificateStore::Open(options_, clock_).ok()) << "the file is missing";
  const PemPair leaf = IssueForTest(Valid());
  Write(options_.client_ca_file, leaf.certificate);
  EXPECT_FALSE(CertificateStore::Open(options_, clock_).ok()) << "a leaf is no authority";
  const PemPair authority = IssueForTest(Authority());
  Write(options_.client_ca_file, authority.certificate);
  auto store = Open();
  const auto before = store->Current().client;
  ASSERT_NE(before, nullptr);
  Write(options_.client_ca_file, authority.certificate + IssueForTest(Authority()).certificate);
  EXPECT_TRUE(store->Poll().ok());
  EXPECT_EQ(store->Current().client->authorities().size(), 2U);
  Write(options_.client_ca_file, "");
  EXPECT_FALSE(store->Poll().ok());
  EXPECT_EQ(store->Current().client->authorities().size(), 2U);
}

TEST_F(CertificateFilesTest, SelfMadeCertificatesRenewWhileInUse) {
  options_.self_signed = SelfSignedOptions{.directory = folder_.path() / "certs"};
  auto store = Open();
  const std::string first = Fingerprint(*store);
  clock_.Advance(61 * kDay);
  EXPECT_TRUE(store->Poll().ok());
  EXPECT_NE(Fingerprint(*store), first);
  ASSERT_EQ(events_.size(), 1U);
  EXPECT_EQ(events_[0].kind, CertificateEvent::Kind::kSwapped);
}

TEST_F(CertificateFilesTest, AnAuthorityInThePlaceOfADamagedOneIsTold) {
  options_.self_signed = SelfSignedOptions{.directory = folder_.path() / "certs"};
  Open();
  Open();
  EXPECT_TRUE(events_.empty()) << "the first one replaces none";
  Write(folder_.path() / "certs/ca.key", "damaged");
  Open();
  ASSERT_EQ(events_.size(), 1U);
  EXPECT_EQ(events_[0].kind, CertificateEvent::Kind::kNewAuthority);
}

TEST(ClientAuthority, NamesComeFromTheSanBeforeTheCommonName) {
  TestCertificate authority_wanted = Authority();
  const PemPair authority = IssueForTest(authority_wanted);
  TestCertificate wanted = Valid();
  wanted.common_name = "cn";
  wanted.alternative_names = "DNS:a.example.org,URI:spiffe://b,email:c@example.org";
  const PemPair client = IssueForTest(wanted, authority);
  auto pair = CertificatePair::Parse(client.certificate, client.key, "client", kNow);
  ASSERT_TRUE(pair.ok());
  const auto name = [&](std::vector<std::string> allowed) {
    auto made = ClientAuthority::Parse(authority.certificate, std::move(allowed), "ca");
    return made.value()->AllowedName(pair.value()->leaf());
  };
  EXPECT_EQ(name({}), "a.example.org");
  EXPECT_EQ(name({"cn"}), "cn");
  EXPECT_EQ(name({"cn", "spiffe://b"}), "spiffe://b");
  EXPECT_EQ(name({"A.example.org"}), "");
}

}  // namespace certs_store_test
}  // namespace truce
