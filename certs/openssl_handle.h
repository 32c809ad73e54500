// Owners of OpenSSL's objects; for .cc files only.
#ifndef TRUCE_CERTS_OPENSSL_HANDLE_H_
#define TRUCE_CERTS_OPENSSL_HANDLE_H_

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "registry/base/clock.h"

namespace truce {

template <auto kFree>
struct OpenSslFree {
  template <typename T>
  void operator()(T* object) const {
    kFree(object);
  }
};

using BioHandle = std::unique_ptr<BIO, OpenSslFree<&BIO_free_all>>;
using CertificateHandle = std::unique_ptr<X509, OpenSslFree<&X509_free>>;
using KeyHandle = std::unique_ptr<EVP_PKEY, OpenSslFree<&EVP_PKEY_free>>;
using StoreHandle = std::unique_ptr<X509_STORE, OpenSslFree<&X509_STORE_free>>;

// A read-only BIO over `text`, which must outlive it. Null when out of memory.
BioHandle ReadFrom(std::string_view text);

// Every certificate of PEM text, in order; empty when one of them is malformed or there is none.
std::vector<CertificateHandle> ReadCertificates(std::string_view pem);
// The private key of PEM text; null when there is none, it is malformed, or it needs a pass phrase.
KeyHandle ReadKey(std::string_view pem);

std::string ToPem(X509* certificate);
std::string ToPem(EVP_PKEY* key);

// How OpenSSL reaches what is no socket of its own: it gets bytes by `read` and gives them by
// `write`. For as long as the process lives; never null.
BIO_METHOD* NewBioMethods(const char* name, int (*read)(BIO*, char*, int),
                          int (*write)(BIO*, const char*, int));

Timestamp NotBefore(const X509* certificate);
Timestamp NotAfter(const X509* certificate);

// DNS names and addresses of the subject alternative name, as text, in order.
std::vector<std::string> AlternativeNames(const X509* certificate);

}  // namespace truce

#endif  // TRUCE_CERTS_OPENSSL_HANDLE_H_
