// Certificates for tests: an authority of its own, and what it issues.
#ifndef TRUCE_TESTS_SUPPORT_CERTIFICATES_H_
#define TRUCE_TESTS_SUPPORT_CERTIFICATES_H_

#include <memory>
#include <string>
#include <vector>

#include "registry/base/clock.h"

namespace truce {

struct PemPair {
  std::string certificate;
  std::string key;
};

struct TestCertificate {
  std::string common_name = "test";
  std::string alternative_names;  // OpenSSL's form: "DNS:localhost,URI:spiffe://a"; empty: none
  bool authority = false;
  Timestamp from;
  Timestamp until;
};

// Issues `wanted`, signed by `issuer` (an authority's pair), or by itself when that is empty.
PemPair IssueForTest(const TestCertificate& wanted, const PemPair& issuer = {});

}  // namespace truce

#endif  // TRUCE_TESTS_SUPPORT_CERTIFICATES_H_
