// A certificate with its key and chain, checked before anyone serves it.
#ifndef TRUCE_CERTS_CERTIFICATE_H_
#define TRUCE_CERTS_CERTIFICATE_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "registry/base/clock.h"
#include "registry/base/result.h"

// OpenSSL's types, named here so that its headers stay out of ours.
struct x509_st;
struct x509_store_st;
struct evp_pkey_st;

namespace truce {

// A leaf certificate, its private key and the certificates that follow the leaf in its file.
// Immutable, hence thread-safe.
class CertificatePair final {
 public:
  // Reads and checks PEM text: `chain` (leaf first, then any number of intermediates) and `key`.
  // Errors: kInvalidArgument, one sentence naming `origin`: not PEM, no certificate, key of another
  //   certificate, not yet valid, expired. The key is never part of a message.
  static Result<std::shared_ptr<const CertificatePair>> Parse(std::string_view chain,
                                                              std::string_view key,
                                                              std::string_view origin,
                                                              Timestamp now);

  ~CertificatePair();
  CertificatePair(const CertificatePair&) = delete;
  CertificatePair& operator=(const CertificatePair&) = delete;

  Timestamp not_after() const;
  // DNS names and IP addresses of the leaf's subject alternative name, as text.
  const std::vector<std::string>& names() const;
  // SHA-256 of the leaf, lower-case hex.
  const std::string& fingerprint() const;

  // For code that speaks OpenSSL; owned by this object.
  x509_st* leaf() const;
  evp_pkey_st* key() const;
  const std::vector<x509_st*>& chain() const;  // certificates after the leaf

 private:
  struct State;
  explicit CertificatePair(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

// Decides whether a client certificate may connect: issued by one of these authorities, to one of
// these names. Immutable, hence thread-safe.
class ClientAuthority final {
 public:
  // Reads PEM text of one or more CA certificates. With no `allowed_names` every name is allowed.
  // Errors: kInvalidArgument as for CertificatePair::Parse.
  static Result<std::shared_ptr<const ClientAuthority>> Parse(
      std::string_view authorities, std::vector<std::string> allowed_names,
      std::string_view origin);

  ~ClientAuthority();
  ClientAuthority(const ClientAuthority&) = delete;
  ClientAuthority& operator=(const ClientAuthority&) = delete;

  // The first name of a *verified* certificate that is allowed: DNS names, URIs and e-mail
  // addresses of its SAN in their order, then its common name. Empty when none is.
  std::string AllowedName(x509_st* verified) const;

  // Owned by this object.
  x509_store_st* store() const;
  const std::vector<x509_st*>& authorities() const;

 private:
  struct State;
  explicit ClientAuthority(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace truce

#endif  // TRUCE_CERTS_CERTIFICATE_H_
