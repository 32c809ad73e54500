// Self-made certificates: made once, renewed in time, repaired.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <functional>

#include "certs/certificate.h"
#include "certs/openssl_handle.h"
#include "certs/self_signed.h"
#include "registry/base/file.h"
#include "tests/support/certificates.h"
#include "tests/support/temporary_folder.h"

namespace truce {
namespace certs_self_signed_test {

using std::chrono::hours;

const Timestamp kNow = *ParseTimestamp("2026-11-21T08:00:00Z");
constexpr hours kDay{24};

std::string Read(const std::filesystem::path& path) {
  auto contents = ReadSmallFile(path);
  EXPECT_TRUE(contents.ok()) << path;
  return contents.ok() ? contents.value() : "";
}

class SelfSigned : public testing::Test {
 protected:
  CertificateFiles Ensure(Timestamp now) {
    auto files = EnsureSelfSigned(options_, now);
    EXPECT_TRUE(files.ok()) << (files.ok() ? "" : files.error().message);
    return files.ok() ? files.value() : CertificateFiles{};
  }
  std::shared_ptr<const CertificatePair> Load(Timestamp now) {
    auto pair = CertificatePair::Parse(Read(directory_ / "tls.crt"), Read(directory_ / "tls.key"),
                                       "test", now);
    EXPECT_TRUE(pair.ok()) << (pair.ok() ? "" : pair.error().message);
    return pair.ok() ? pair.value() : nullptr;
  }
  // Whether the leaf verifies under any certificate of ca.crt.
  bool LeafVerifies(const std::string& leaf_pem) {
    const auto leaf = ReadCertificates(leaf_pem);
    for (const auto& authority : ReadCertificates(Read(directory_ / "ca.crt"))) {
      if (X509_verify(leaf.front().get(), X509_get0_pubkey(authority.get())) == 1) return true;
    }
    return false;
  }

  TemporaryFolder folder_;
  std::filesystem::path directory_ = folder_.path() / "certs";
  SelfSignedOptions options_{.directory = directory_,
                             .names = {"truce.example.org", "192.0.2.7", "localhost"}};
};

TEST_F(SelfSigned, MakesAPairThatClientsCanVerify) {
  const CertificateFiles files = Ensure(kNow);
  EXPECT_TRUE(files.renewed);
  const auto pair = Load(kNow);
  EXPECT_EQ(pair->names(), (std::vector<std::string>{"localhost", "127.0.0.1", "::1",
                                                     "truce.example.org", "192.0.2.7"}));
  EXPECT_LE(NotBefore(pair->leaf()), kNow);
  EXPECT_EQ(pair->not_after(), kNow + 90 * kDay);
  EXPECT_TRUE(LeafVerifies(Read(files.certificate)));
  for (const char* name : {"tls.key", "ca.key"}) {
    struct stat status {};
    ASSERT_EQ(::stat((directory_ / name).c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0600U) << name;
  }
}

TEST_F(SelfSigned, IsIdempotentUntilTwoThirdsOfItsLife) {
  Ensure(kNow);
  const std::string leaf = Read(directory_ / "tls.crt");
  EXPECT_FALSE(Ensure(kNow + 59 * kDay).renewed);
  EXPECT_EQ(Read(directory_ / "tls.crt"), leaf);
  const std::string authority = Read(directory_ / "ca.crt");
  EXPECT_TRUE(Ensure(kNow + 61 * kDay).renewed);
  EXPECT_NE(Read(directory_ / "tls.crt"), leaf);
  EXPECT_EQ(Read(directory_ / "ca.crt"), authority) << "the authority outlives many leaves";
  EXPECT_TRUE(LeafVerifies(Read(directory_ / "tls.crt")));
}

TEST_F(SelfSigned, OldLeavesVerifyUnderARenewedAuthority) {
  options_.authority_life = hours(24 * 365 * 10);
  Ensure(kNow);
  const std::string old_leaf = Read(directory_ / "tls.crt");
  const Timestamp late = kNow + hours(24 * 365 * 10) - 60 * kDay;
  EXPECT_TRUE(Ensure(late).renewed);
  EXPECT_EQ(ReadCertificates(Read(directory_ / "ca.crt")).size(), 2U);
  EXPECT_TRUE(LeafVerifies(old_leaf));
  EXPECT_TRUE(LeafVerifies(Read(directory_ / "tls.crt")));
  EXPECT_GE(Load(late)->not_after(), late + 89 * kDay);
  // A clock that is ahead makes none that clients know go.
  Ensure(late + 365 * 10 * kDay);
  EXPECT_EQ(ReadCertificates(Read(directory_ / "ca.crt")).size(), 3U);
  EXPECT_TRUE(LeafVerifies(old_leaf));
}

// Whoever knows the authority verifies whatever this clock, or the clients', says.
TEST_F(SelfSigned, NoClockReplacesAnAuthority) {
  for (const hours made_at : {hours(0), hours(2), 20 * 365 * kDay}) {
    std::filesystem::remove_all(directory_);
    Ensure(kNow + made_at);
    const std::string authority = Read(directory_ / "ca.crt");
    for (const hours jump : {-hours(1), -hours(12), -3 * kDay, -30 * 365 * kDay, 50 * 365 * kDay}) {
      for (const Timestamp now : {kNow + jump, kNow}) {
        EXPECT_FALSE(Ensure(now).replaced_authority);
        EXPECT_EQ(Read(directory_ / "ca.crt"), authority) << made_at.count() << " " << jump.count();
        EXPECT_NE(Load(now), nullptr);
        EXPECT_TRUE(LeafVerifies(Read(directory_ / "tls.crt")));
      }
    }
    EXPECT_LE(NotBefore(ReadCertificates(authority).front().get()), kNow - 50 * 365 * kDay);
    EXPECT_LE(NotBefore(Load(kNow)->leaf()), kNow - hours(12)) << "a client's clock may be late";
  }
}

TEST_F(SelfSigned, AnAuthorityThatIsNotYetValidStays) {
  TestCertificate wanted;
  wanted.common_name = "somebody's";
  wanted.authority = true;
  wanted.from = kNow + std::chrono::minutes(5);
  wanted.until = kNow + 3650 * kDay;
  const PemPair authority = IssueForTest(wanted);
  std::filesystem::create_directories(directory_);
  std::ofstream(directory_ / "ca.crt") << authority.certificate;
  std::ofstream(directory_ / "ca.key") << authority.key;
  EXPECT_FALSE(Ensure(kNow).replaced_authority);
  EXPECT_EQ(Read(directory_ / "ca.crt"), authority.certificate);
  EXPECT_TRUE(LeafVerifies(Read(directory_ / "tls.crt")));
}

TEST_F(SelfSigned, NewNamesAndDamageLeadToANewLeaf) {
  struct Row {
    const char* reason;
    std::function<void()> damage;
  };
  const std::vector<Row> rows = {
      {"a new name", [&] { options_.names.push_back("new.example.org"); }},
      {"a lost key", [&] { std::filesystem::remove(directory_ / "tls.key"); }},
      {"half a certificate", [&] { std::ofstream(directory_ / "tls.crt") << "-----BEGIN CERT"; }},
      {"a lost authority", [&] { std::filesystem::remove(directory_ / "ca.crt"); }},
      {"a lost key of the authority", [&] { std::filesystem::remove(directory_ / "ca.key"); }},
      {"an empty authority", [&] { std::ofstream(directory_ / "ca.crt") << ""; }},
  };
  Ensure(kNow);
  for (const Row& row : rows) {
    row.damage();
    EXPECT_TRUE(Ensure(kNow).renewed) << row.reason;
    EXPECT_FALSE(Ensure(kNow).renewed) << row.reason;
    EXPECT_NE(Load(kNow), nullptr) << row.reason;
    EXPECT_TRUE(LeafVerifies(Read(directory_ / "tls.crt"))) << row.reason;
  }
}

TEST_F(SelfSigned, RefusesNamesThatNoCertificateCanCarry) {
  for (const char* name : {"", "a b", "a,DNS:evil", "a\n", "-\x01", ".a", "a..b", "*."}) {
    options_.names = {name};
    auto refused = EnsureSelfSigned(options_, kNow);
    ASSERT_FALSE(refused.ok()) << name;
    EXPECT_EQ(refused.error().code, ErrorCode::kInvalidArgument) << name;
  }
  options_.names = {"*.example.org", "2001:db8::7"};
  EXPECT_TRUE(EnsureSelfSigned(options_, kNow).ok());
}

TEST_F(SelfSigned, SaysWhichFolderCannotBeWritten) {
  std::ofstream(folder_.path() / "file") << "x";
  options_.directory = folder_.path() / "file" / "certs";
  auto refused = EnsureSelfSigned(options_, kNow);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(refused.error().message,
            "open folder \"" + options_.directory.string() + "\": Not a directory");
}

}  // namespace certs_self_signed_test
}  // namespace truce
