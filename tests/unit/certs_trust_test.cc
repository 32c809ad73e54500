// Which bundles make a client trust a server certificate.
#include <gtest/gtest.h>

#include "certs/trust.h"
#include "tests/support/certificates.h"

namespace truce {
namespace certs_trust_test {

const Timestamp kNow = *ParseTimestamp("2026-11-21T08:00:00Z");
const Timestamp kEnd = *ParseTimestamp("2027-11-21T08:00:00Z");

TEST(BundleTrustsTest, OnlyTheIssuersBundle) {
  const TestCertificate authority{
      .common_name = "ca", .authority = true, .from = kNow, .until = kEnd};
  const PemPair ours = IssueForTest(authority);
  const PemPair other = IssueForTest(authority);  // same name, another key
  const PemPair leaf = IssueForTest(
      {.common_name = "truce", .alternative_names = "DNS:truce", .from = kNow, .until = kEnd},
      ours);
  const auto pair = CertificatePair::Parse(leaf.certificate, leaf.key, "test", kNow);
  ASSERT_TRUE(pair.ok()) << pair.error().message;
  EXPECT_TRUE(BundleTrusts(ours.certificate, *pair.value()));
  EXPECT_TRUE(BundleTrusts(other.certificate + ours.certificate, *pair.value()));
  EXPECT_FALSE(BundleTrusts(other.certificate, *pair.value()));
  EXPECT_FALSE(BundleTrusts("", *pair.value()));
  EXPECT_FALSE(BundleTrusts("not PEM", *pair.value()));
}

}  // namespace certs_trust_test
}  // namespace truce
