#include "certs/certificate.h"

#include <openssl/err.h>

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "certs/openssl_handle.h"
#include "registry/base/text.h"

namespace truce {
namespace {

Error Bad(std::string_view origin, std::string_view why) {
  return Error{ErrorCode::kInvalidArgument, std::string(origin) + ": " + std::string(why)};
}

std::string Fingerprint(const X509* certificate) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  if (X509_digest(certificate, EVP_sha256(), digest.data(), &size) != 1) return {};
  return HexOf(std::span(digest).first(size));
}

std::vector<X509*> Pointers(const std::vector<CertificateHandle>& handles, size_t from) {
  std::vector<X509*> pointers;
  for (size_t i = from; i < handles.size(); ++i) pointers.push_back(handles[i].get());
  return pointers;
}

std::string_view Text(const ASN1_STRING* text) {
  const void* data = ASN1_STRING_get0_data(text);
  return {static_cast<const char*>(data), static_cast<size_t>(ASN1_STRING_length(text))};
}

// The names of a client, the most specific first.
std::vector<std::string> ClientNames(const X509* certificate) {
  std::vector<std::string> names;
  auto* list = static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr));
  for (int i = 0; i < sk_GENERAL_NAME_num(list); ++i) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(list, i);
    if (name->type == GEN_DNS) names.emplace_back(Text(name->d.dNSName));
    if (name->type == GEN_URI) names.emplace_back(Text(name->d.uniformResourceIdentifier));
    if (name->type == GEN_EMAIL) names.emplace_back(Text(name->d.rfc822Name));
  }
  GENERAL_NAMES_free(list);
  const X509_NAME* subject = X509_get_subject_name(certificate);
  const int at = X509_NAME_get_index_by_NID(subject, NID_commonName, -1);
  if (at >= 0) {
    names.emplace_back(Text(X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at))));
  }
  // A name with a NUL or control character is nobody's: some reader would cut it short.
  std::erase_if(names, [](const std::string& name) { return name.empty() || HasControl(name); });
  return names;
}

}  // namespace

struct CertificatePair::State {
  std::vector<CertificateHandle> certificates;  // the leaf, then its chain
  KeyHandle key;
  std::vector<X509*> chain;
  std::vector<std::string> names;
  std::string fingerprint;
};

CertificatePair::CertificatePair(std::unique_ptr<State> state) : state_(std::move(state)) {}

CertificatePair::~CertificatePair() = default;

Result<std::shared_ptr<const CertificatePair>> CertificatePair::Parse(std::string_view chain,
                                                                      std::string_view key,
                                                                      std::string_view origin,
                                                                      Timestamp now) {
  auto state = std::make_unique<State>();
  state->certificates = ReadCertificates(chain);
  if (state->certificates.empty()) return Bad(origin, "not a certificate in PEM form");
  state->key = ReadKey(key);
  if (state->key == nullptr)
    return Bad(origin, "the key is not an unencrypted private key in PEM form");
  X509* leaf = state->certificates.front().get();
  const bool match = X509_check_private_key(leaf, state->key.get()) == 1;
  ERR_clear_error();
  if (!match) return Bad(origin, "the key belongs to another certificate");
  for (size_t i = 1; i < state->certificates.size(); ++i) {
    X509* issuer = state->certificates[i].get();
    const int verdict = X509_check_issued(issuer, state->certificates[i - 1].get());
    if (verdict != X509_V_OK) {
      return Bad(origin,
                 "certificate " + std::to_string(i + 1) + " did not issue the one before it");
    }
  }
  if (NotAfter(leaf) <= now) {
    return Bad(origin, "the certificate expired at " + FormatTimestamp(NotAfter(leaf)));
  }
  if (NotBefore(leaf) > now) {
    return Bad(origin, "the certificate is not valid before " + FormatTimestamp(NotBefore(leaf)));
  }
  state->chain = Pointers(state->certificates, 1);
  state->names = AlternativeNames(leaf);
  state->fingerprint = Fingerprint(leaf);
  return std::shared_ptr<const CertificatePair>(new CertificatePair(std::move(state)));
}

Timestamp CertificatePair::not_after() const { return NotAfter(leaf()); }
const std::vector<std::string>& CertificatePair::names() const { return state_->names; }
const std::string& CertificatePair::fingerprint() const { return state_->fingerprint; }
X509* CertificatePair::leaf() const { return state_->certificates.front().get(); }
EVP_PKEY* CertificatePair::key() const { return state_->key.get(); }
const std::vector<X509*>& CertificatePair::chain() const { return state_->chain; }

struct ClientAuthority::State {
  std::vector<CertificateHandle> certificates;
  std::vector<X509*> authorities;
  StoreHandle store;
  std::vector<std::string> allowed_names;
};

ClientAuthority::ClientAuthority(std::unique_ptr<State> state) : state_(std::move(state)) {}

ClientAuthority::~ClientAuthority() = default;

Result<std::shared_ptr<const ClientAuthority>> ClientAuthority::Parse(
    std::string_view authorities, std::vector<std::string> allowed_names, std::string_view origin) {
  auto state = std::make_unique<State>();
  state->certificates = ReadCertificates(authorities);
  state->authorities = Pointers(state->certificates, 0);
  state->store.reset(X509_STORE_new());
  state->allowed_names = std::move(allowed_names);
  if (state->certificates.empty()) return Bad(origin, "not a certificate in PEM form");
  for (X509* authority : state->authorities) {
    if (X509_check_ca(authority) == 0) return Bad(origin, "not a certificate of an authority");
    if (X509_STORE_add_cert(state->store.get(), authority) != 1) {
      return Bad(origin, "the certificate cannot be used");
    }
  }
  return std::shared_ptr<const ClientAuthority>(new ClientAuthority(std::move(state)));
}

std::string ClientAuthority::AllowedName(X509* verified) const {
  const std::vector<std::string>& allowed = state_->allowed_names;
  for (std::string& name : ClientNames(verified)) {
    if (allowed.empty() || std::find(allowed.begin(), allowed.end(), name) != allowed.end()) {
      return std::move(name);
    }
  }
  return {};
}

X509_STORE* ClientAuthority::store() const { return state_->store.get(); }
const std::vector<X509*>& ClientAuthority::authorities() const { return state_->authorities; }

}  // namespace truce
