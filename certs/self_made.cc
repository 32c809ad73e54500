#include "certs/self_made.h"

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/rand.h>

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "certs/openssl_handle.h"
#include "registry/base/text.h"

namespace truce {
namespace {

// Clocks of clients may be late, and this one may be set back.
constexpr std::chrono::hours kBackdated{24};
constexpr int kSerialBits =
    127;  // RFC 5280 asks for at most 20 bytes; CAs for at least 64 random bits
constexpr size_t kCommonNameBytesMax = 64;
// The newest authority and those that clients may still know instead of it.
constexpr size_t kAuthoritiesMax = 4;

// A certificate with the key that signs or serves under it.
struct Identity {
  CertificateHandle certificate;
  KeyHandle key;
};

Error Failed(std::string_view what) {
  ERR_clear_error();
  return Error{ErrorCode::kInternal, "make certificate: " + std::string(what)};
}

bool IsAddress(const std::string& name) {
  std::array<unsigned char, 16> bytes{};
  return ::inet_pton(AF_INET, name.c_str(), bytes.data()) == 1 ||
         ::inet_pton(AF_INET6, name.c_str(), bytes.data()) == 1;
}

// A DNS name, possibly with a wildcard as its first label, or an address.
bool IsName(const std::string& name) {
  if (IsAddress(name)) return true;
  if (name.empty() || name.size() > 253 || name.front() == '.' || name.back() == '.') return false;
  const std::string_view rest = std::string_view(name).substr(name.rfind("*.", 0) == 0 ? 2 : 0);
  return !rest.empty() && rest.find("..") == rest.npos &&
         std::all_of(rest.begin(), rest.end(),
                     [](char c) { return IsAlnum(c) || c == '-' || c == '.' || c == '_'; });
}

Result<std::vector<std::string>> WantedNames(const SelfMadeRules& rules) {
  std::vector<std::string> names = {"localhost", "127.0.0.1", "::1"};
  for (const std::string& name : rules.names) {
    if (!IsName(name)) {
      return Error{ErrorCode::kInvalidArgument,
                   "certificate name \"" + name + "\" is neither a DNS name nor an address"};
    }
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names;
}

// "DNS:a,IP:b", the form that OpenSSL's extension parser takes. Names were checked: no comma.
std::string AlternativeNameText(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) {
    if (!text.empty()) text += ',';
    text += IsAddress(name) ? "IP:" : "DNS:";
    text += name;
  }
  return text;
}

bool AddExtension(X509* certificate, X509* issuer, int kind, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str());
  if (extension == nullptr) return false;
  const bool added = X509_add_ext(certificate, extension, -1) == 1;
  X509_EXTENSION_free(extension);
  return added;
}

bool SetSubject(X509* certificate, std::string_view common_name) {
  const std::string shortened(common_name.substr(0, kCommonNameBytesMax));
  const auto* bytes = reinterpret_cast<const unsigned char*>(shortened.c_str());
  X509_NAME* subject = X509_get_subject_name(certificate);
  return X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8, bytes, -1, -1, 0) == 1;
}

bool SetSerial(X509* certificate) {
  BIGNUM* number = BN_new();
  const bool set = number != nullptr && BN_rand(number, kSerialBits, BN_RAND_TOP_ONE, 0) == 1 &&
                   BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate)) != nullptr;
  BN_free(number);
  return set;
}

bool SetLife(X509* certificate, Timestamp from, Timestamp until) {
  const auto seconds = [](Timestamp time) {
    return std::chrono::floor<std::chrono::seconds>(time).time_since_epoch().count();
  };
  return ASN1_TIME_set(X509_getm_notBefore(certificate), seconds(from)) != nullptr &&
         ASN1_TIME_set(X509_getm_notAfter(certificate), seconds(until)) != nullptr;
}

struct Request {
  std::string common_name;
  std::vector<std::string> names;  // empty: an authority
  Timestamp from;
  Timestamp until;
};

bool AddExtensions(X509* certificate, X509* issuer, const Request& request) {
  const bool authority = request.names.empty();
  if (!AddExtension(certificate, issuer, NID_subject_key_identifier, "hash")) return false;
  if (authority) {
    return AddExtension(certificate, issuer, NID_basic_constraints, "critical,CA:TRUE,pathlen:0") &&
           AddExtension(certificate, issuer, NID_key_usage, "critical,keyCertSign,cRLSign");
  }
  return AddExtension(certificate, issuer, NID_basic_constraints, "critical,CA:FALSE") &&
         AddExtension(certificate, issuer, NID_key_usage, "critical,digitalSignature") &&
         AddExtension(certificate, issuer, NID_ext_key_usage, "serverAuth") &&
         AddExtension(certificate, issuer, NID_authority_key_identifier, "keyid:always") &&
         AddExtension(certificate, issuer, NID_subject_alt_name,
                      AlternativeNameText(request.names));
}

// Makes a key and a certificate for it, signed by `issuer`, or by itself when that is null.
Result<Identity> Issue(const Request& request, const Identity* issuer) {
  Identity made;
  made.key.reset(EVP_EC_gen("P-256"));
  made.certificate.reset(X509_new());
  if (made.key == nullptr || made.certificate == nullptr) return Failed("no key");
  X509* certificate = made.certificate.get();
  const Identity& signer = issuer != nullptr ? *issuer : made;
  const bool filled =
      X509_set_version(certificate, X509_VERSION_3) == 1 && SetSerial(certificate) &&
      SetLife(certificate, request.from, request.until) &&
      SetSubject(certificate, request.common_name) &&
      X509_set_pubkey(certificate, made.key.get()) == 1 &&
      X509_set_issuer_name(certificate, X509_get_subject_name(signer.certificate.get())) == 1 &&
      AddExtensions(certificate, signer.certificate.get(), request);
  if (!filled) return Failed("malformed field");
  if (X509_sign(certificate, signer.key.get(), EVP_sha256()) == 0) return Failed("signature");
  return made;
}

// The given texts, read: empty handles for missing or unusable ones.
struct Present {
  std::vector<CertificateHandle> authorities;  // the first one is ours when the key matches it
  KeyHandle authority_key;
  CertificateHandle leaf;
  KeyHandle leaf_key;
};

Present Read(const SelfMadeCertificates& given) {
  Present present;
  present.authorities = ReadCertificates(given.authorities);
  present.authority_key = ReadKey(given.authority_key);
  std::vector<CertificateHandle> leaves = ReadCertificates(given.certificate);
  if (!leaves.empty()) present.leaf = std::move(leaves.front());
  present.leaf_key = ReadKey(given.key);
  return present;
}

bool Matches(X509* certificate, EVP_PKEY* key) {
  const bool match =
      certificate != nullptr && key != nullptr && X509_check_private_key(certificate, key) == 1;
  ERR_clear_error();
  return match;
}

bool Signed(X509* leaf, X509* authority) {
  const bool is_signed = X509_verify(leaf, X509_get0_pubkey(authority)) == 1;
  ERR_clear_error();
  return is_signed;
}

// The authority may sign a leaf of full life.
bool AuthorityIsGood(const Present& present, const SelfMadeRules& rules, Timestamp now) {
  if (present.authorities.empty()) return false;
  X509* authority = present.authorities.front().get();
  return Matches(authority, present.authority_key.get()) && X509_check_ca(authority) == 1 &&
         NotAfter(authority) >= now + rules.leaf_life;
}

// Clients that know one of the authorities accept it.
bool LeafIsUsable(const Present& present, const std::vector<std::string>& names, Timestamp now) {
  X509* leaf = present.leaf.get();
  if (!Matches(leaf, present.leaf_key.get())) return false;
  const bool ours = std::any_of(
      present.authorities.begin(), present.authorities.end(),
      [&](const CertificateHandle& authority) { return Signed(leaf, authority.get()); });
  return ours && NotBefore(leaf) <= now && now < NotAfter(leaf) && AlternativeNames(leaf) == names;
}

// A third of its life is left, or an authority signed it that is not the newest.
bool LeafIsDue(const Present& present, const SelfMadeRules& rules, Timestamp now) {
  X509* leaf = present.leaf.get();
  return !Signed(leaf, present.authorities.front().get()) ||
         now >= NotAfter(leaf) - std::chrono::milliseconds(rules.leaf_life) / 3;
}

bool Names(std::string_view bundle, X509* authority) {
  const std::vector<CertificateHandle> known = ReadCertificates(bundle);
  return std::any_of(known.begin(), known.end(), [&](const CertificateHandle& one) {
    return X509_cmp(one.get(), authority) == 0;
  });
}

Result<void> RenewAuthority(const SelfMadeRules& rules, Timestamp now, Present& present) {
  Request request;
  request.common_name = "Truce authority " + FormatTimestamp(now);
  request.from = Timestamp();  // made by a clock that is ahead it is valid all the same
  request.until = now + std::max(rules.authority_life, 2 * rules.leaf_life);
  TRUCE_ASSIGN_OR_RETURN(Identity made, Issue(request, nullptr));
  // Clients that trust the bundle go on trusting leaves of the old authorities. One that ended goes
  // with the others: this clock may be ahead.
  present.authorities.insert(present.authorities.begin(), std::move(made.certificate));
  if (present.authorities.size() > kAuthoritiesMax) present.authorities.resize(kAuthoritiesMax);
  present.authority_key = std::move(made.key);
  return {};
}

Result<Identity> MakeLeaf(const SelfMadeRules& rules, const std::vector<std::string>& names,
                          Timestamp now, Present& present) {
  Request request;
  request.common_name = "truce";
  request.names = names;
  request.from = now - kBackdated;
  request.until = now + rules.leaf_life;
  const Identity issuer{std::move(present.authorities.front()), std::move(present.authority_key)};
  return Issue(request, &issuer);
}

}  // namespace

Result<SelfMadeRenewal> RenewSelfMade(const SelfMadeCertificates& given, const SelfMadeRules& rules,
                                      std::optional<std::string_view> trusted, Timestamp now) {
  TRUCE_ASSIGN_OR_RETURN(const std::vector<std::string> names, WantedNames(rules));
  Present present = Read(given);
  SelfMadeRenewal renewal;
  renewal.certificates = given;
  if (!AuthorityIsGood(present, rules, now)) {
    TRUCE_RETURN_IF_ERROR(RenewAuthority(rules, now, present));
    renewal.new_authority = true;
    renewal.certificates.authorities.clear();
    for (const CertificateHandle& authority : present.authorities) {
      renewal.certificates.authorities += ToPem(authority.get());
    }
    renewal.certificates.authority_key = ToPem(present.authority_key.get());
  }
  if (LeafIsUsable(present, names, now)) {
    if (!LeafIsDue(present, rules, now)) return renewal;
    renewal.waits_for_trust =
        trusted.has_value() && !Names(*trusted, present.authorities.front().get());
    if (renewal.waits_for_trust) return renewal;
  }
  TRUCE_ASSIGN_OR_RETURN(const Identity leaf, MakeLeaf(rules, names, now, present));
  renewal.new_leaf = true;
  renewal.certificates.certificate = ToPem(leaf.certificate.get());
  renewal.certificates.key = ToPem(leaf.key.get());
  return renewal;
}

std::optional<Timestamp> AuthorityEnd(std::string_view authorities) {
  const std::vector<CertificateHandle> known = ReadCertificates(authorities);
  if (known.empty()) return std::nullopt;
  return NotAfter(known.front().get());
}

bool IsCompleteSelfMade(const SelfMadeCertificates& given) {
  const Present present = Read(given);
  if (present.authorities.empty()) return false;
  return Matches(present.authorities.front().get(), present.authority_key.get()) &&
         Matches(present.leaf.get(), present.leaf_key.get());
}

}  // namespace truce
