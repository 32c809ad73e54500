#include "tests/support/certificates.h"

#include <openssl/evp.h>
#include <openssl/x509v3.h>

#include <atomic>
#include <utility>

#include "certs/openssl_handle.h"
#include "registry/base/assert.h"

namespace truce {
namespace {

void Add(X509* certificate, X509* issuer, int kind, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str());
  TRUCE_ASSERT(extension != nullptr);
  X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
}

void SetTime(ASN1_TIME* to, Timestamp time) {
  ASN1_TIME_set(to, std::chrono::floor<std::chrono::seconds>(time).time_since_epoch().count());
}

}  // namespace

PemPair IssueForTest(const TestCertificate& wanted, const PemPair& issuer) {
  static std::atomic<long> serial{1};
  const KeyHandle key(EVP_EC_gen("P-256"));
  const CertificateHandle made(X509_new());
  X509* certificate = made.get();
  CertificateHandle issuer_certificate;
  KeyHandle issuer_key;
  if (!issuer.certificate.empty()) {
    issuer_certificate = std::move(ReadCertificates(issuer.certificate).front());
    issuer_key = ReadKey(issuer.key);
  }
  X509* signer = issuer_certificate != nullptr ? issuer_certificate.get() : certificate;
  X509_set_version(certificate, X509_VERSION_3);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate), serial++);
  SetTime(X509_getm_notBefore(certificate), wanted.from);
  SetTime(X509_getm_notAfter(certificate), wanted.until);
  const auto* name = reinterpret_cast<const unsigned char*>(wanted.common_name.c_str());
  X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate), "CN", MBSTRING_UTF8, name, -1, -1,
                             0);
  X509_set_pubkey(certificate, key.get());
  X509_set_issuer_name(certificate, X509_get_subject_name(signer));
  Add(certificate, signer, NID_basic_constraints,
      wanted.authority ? "critical,CA:TRUE" : "critical,CA:FALSE");
  Add(certificate, signer, NID_subject_key_identifier, "hash");
  Add(certificate, signer, NID_authority_key_identifier, "keyid");
  if (!wanted.alternative_names.empty()) {
    Add(certificate, signer, NID_subject_alt_name, wanted.alternative_names);
  }
  X509_sign(certificate, issuer_key != nullptr ? issuer_key.get() : key.get(), EVP_sha256());
  return {ToPem(certificate), ToPem(key.get())};
}

}  // namespace truce
