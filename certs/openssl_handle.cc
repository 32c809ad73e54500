#include "certs/openssl_handle.h"

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/pem.h>

#include <array>
#include <climits>
#include <ctime>
#include <utility>

#include "registry/base/assert.h"

namespace truce {
namespace {

// A key with a pass phrase is refused instead of asking the terminal for it.
int NoPassPhrase(char* /*buffer*/, int /*size*/, int /*writing*/, void* /*argument*/) { return -1; }

std::string ContentsOf(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  return std::string(data, static_cast<size_t>(size));
}

Timestamp ToTimestamp(const ASN1_TIME* time) {
  std::tm parts{};
  if (time == nullptr || ASN1_TIME_to_tm(time, &parts) != 1) return Timestamp{};
  return Timestamp(std::chrono::seconds(::timegm(&parts)));
}

std::string_view View(const ASN1_STRING* text) {
  const void* data = ASN1_STRING_get0_data(text);
  return {static_cast<const char*>(data), static_cast<size_t>(ASN1_STRING_length(text))};
}

std::string AddressName(std::string_view bytes) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const int family = bytes.size() == 4 ? AF_INET : AF_INET6;
  if (bytes.size() != 4 && bytes.size() != 16) return {};
  ::inet_ntop(family, bytes.data(), text.data(), text.size());
  return text.data();
}

}  // namespace

BioHandle ReadFrom(std::string_view text) {
  if (text.size() > INT_MAX) return nullptr;
  return BioHandle(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

std::vector<CertificateHandle> ReadCertificates(std::string_view pem) {
  std::vector<CertificateHandle> found;
  const BioHandle bio = ReadFrom(pem);
  if (bio == nullptr) return found;
  ERR_clear_error();
  while (X509* next = PEM_read_bio_X509(bio.get(), nullptr, NoPassPhrase, nullptr)) {
    found.emplace_back(next);
  }
  // The only good end is that no further block begins.
  const unsigned long error = ERR_peek_last_error();
  const bool ended =
      ERR_GET_LIB(error) == ERR_LIB_PEM && ERR_GET_REASON(error) == PEM_R_NO_START_LINE;
  ERR_clear_error();
  if (!ended) found.clear();
  return found;
}

KeyHandle ReadKey(std::string_view pem) {
  const BioHandle bio = ReadFrom(pem);
  if (bio == nullptr) return nullptr;
  KeyHandle key(PEM_read_bio_PrivateKey(bio.get(), nullptr, NoPassPhrase, nullptr));
  ERR_clear_error();
  return key;
}

std::string ToPem(X509* certificate) {
  const BioHandle bio(BIO_new(BIO_s_mem()));
  if (bio == nullptr || PEM_write_bio_X509(bio.get(), certificate) != 1) return {};
  return ContentsOf(bio.get());
}

std::string ToPem(EVP_PKEY* key) {
  const BioHandle bio(BIO_new(BIO_s_mem()));
  if (bio == nullptr) return {};
  if (PEM_write_bio_PKCS8PrivateKey(bio.get(), key, nullptr, nullptr, 0, nullptr, nullptr) != 1) {
    return {};
  }
  return ContentsOf(bio.get());
}

BIO_METHOD* NewBioMethods(const char* name, int (*read)(BIO*, char*, int),
                          int (*write)(BIO*, const char*, int)) {
  BIO_METHOD* methods = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, name);
  TRUCE_ASSERT(methods != nullptr);
  BIO_meth_set_read(methods, read);
  BIO_meth_set_write(methods, write);
  // A TLS session asks to flush, and takes anything but 1 for a failure.
  BIO_meth_set_ctrl(methods, [](BIO* /*bio*/, int command, long /*number*/, void* /*pointer*/) {
    return command == BIO_CTRL_FLUSH ? 1L : 0L;
  });
  return methods;
}

Timestamp NotBefore(const X509* certificate) {
  return ToTimestamp(X509_get0_notBefore(certificate));
}

Timestamp NotAfter(const X509* certificate) { return ToTimestamp(X509_get0_notAfter(certificate)); }

std::vector<std::string> AlternativeNames(const X509* certificate) {
  std::vector<std::string> names;
  auto* list = static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr));
  for (int i = 0; i < sk_GENERAL_NAME_num(list); ++i) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(list, i);
    if (name->type == GEN_DNS) names.emplace_back(View(name->d.dNSName));
    if (name->type == GEN_IPADD) names.push_back(AddressName(View(name->d.iPAddress)));
  }
  GENERAL_NAMES_free(list);
  return names;
}

}  // namespace truce
