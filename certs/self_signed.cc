#include "certs/self_signed.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/rand.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <string_view>
#include <system_error>
#include <utility>

#include "certs/file.h"
#include "certs/openssl_handle.h"

namespace truce {
namespace {

using std::chrono::hours;
using std::chrono::minutes;

constexpr minutes kBackdated{5};  // clients' clocks may be late
constexpr int kSerialBits =
    127;  // RFC 5280 asks for at most 20 bytes; CAs for at least 64 random bits
constexpr size_t kCommonNameBytesMax = 64;

// A certificate with the key that signs or serves under it.
struct Identity {
  CertificateHandle certificate;
  KeyHandle key;
};

Error Failed(std::string_view what) {
  ERR_clear_error();
  return Error{ErrorCode::kInternal, "make certificate: " + std::string(what)};
}

// Held while the folder is looked at and written.
class FolderLock final {
 public:
  static Result<std::unique_ptr<FolderLock>> Take(const std::filesystem::path& folder) {
    std::error_code error;
    const bool made = std::filesystem::create_directories(folder, error);
    if (!error && made)
      std::filesystem::permissions(folder, std::filesystem::perms::owner_all, error);
    const int descriptor = error ? -1 : ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0 || ::flock(descriptor, LOCK_EX) != 0) {
      if (!error) error.assign(errno, std::generic_category());
      if (descriptor >= 0) ::close(descriptor);
      return Error{ErrorCode::kUnavailable,
                   "open folder \"" + folder.string() + "\": " + error.message()};
    }
    return std::unique_ptr<FolderLock>(new FolderLock(descriptor));
  }
  ~FolderLock() { ::close(descriptor_); }
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  explicit FolderLock(int descriptor) : descriptor_(descriptor) {}
  const int descriptor_;
};

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
         std::all_of(rest.begin(), rest.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '-' || c == '.' || c == '_';
         });
}

Result<std::vector<std::string>> WantedNames(const SelfSignedOptions& options) {
  std::vector<std::string> names = {"localhost", "127.0.0.1", "::1"};
  for (const std::string& name : options.names) {
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

// What the folder holds: empty handles for what is missing or unusable.
struct Folder {
  std::vector<CertificateHandle> authorities;  // the first one is ours when the key matches it
  KeyHandle authority_key;
  CertificateHandle leaf;
  KeyHandle leaf_key;
};

CertificateFiles FilesOf(const std::filesystem::path& directory) {
  return {directory / "ca.crt", directory / "tls.crt", directory / "tls.key", false};
}

std::filesystem::path AuthorityKeyOf(const std::filesystem::path& directory) {
  return directory / "ca.key";
}

std::string ContentsOrNothing(const std::filesystem::path& path) {
  auto contents = ReadSmallFile(path);
  return contents.ok() ? std::move(contents).value() : std::string();
}

Folder ReadFolder(const std::filesystem::path& directory) {
  const CertificateFiles files = FilesOf(directory);
  Folder folder;
  folder.authorities = ReadCertificates(ContentsOrNothing(files.authority));
  folder.authority_key = ReadKey(ContentsOrNothing(AuthorityKeyOf(directory)));
  std::vector<CertificateHandle> leaves = ReadCertificates(ContentsOrNothing(files.certificate));
  if (!leaves.empty()) folder.leaf = std::move(leaves.front());
  folder.leaf_key = ReadKey(ContentsOrNothing(files.key));
  return folder;
}

bool Matches(X509* certificate, EVP_PKEY* key) {
  const bool match =
      certificate != nullptr && key != nullptr && X509_check_private_key(certificate, key) == 1;
  ERR_clear_error();
  return match;
}

// The authority may sign a leaf of full life now.
bool AuthorityIsGood(const Folder& folder, const SelfSignedOptions& options, Timestamp now) {
  if (folder.authorities.empty()) return false;
  X509* authority = folder.authorities.front().get();
  return Matches(authority, folder.authority_key.get()) && X509_check_ca(authority) == 1 &&
         NotBefore(authority) <= now && NotAfter(authority) >= now + options.leaf_life;
}

bool LeafIsGood(const Folder& folder, const std::vector<std::string>& names, Timestamp now) {
  X509* leaf = folder.leaf.get();
  if (!Matches(leaf, folder.leaf_key.get())) return false;
  const bool ours = X509_verify(leaf, X509_get0_pubkey(folder.authorities.front().get())) == 1;
  ERR_clear_error();
  const Timestamp from = NotBefore(leaf);
  const auto life = NotAfter(leaf) - from;
  return ours && from <= now && now < from + life * 2 / 3 && AlternativeNames(leaf) == names;
}

Result<void> RenewAuthority(const SelfSignedOptions& options, Timestamp now, Folder& folder) {
  Request request;
  request.common_name = "Truce authority " + FormatTimestamp(now);
  request.from = now - kBackdated;
  request.until = now + std::max(options.authority_life, 2 * options.leaf_life);
  TRUCE_ASSIGN_OR_RETURN(Identity made, Issue(request, nullptr));
  // Clients that trust the file go on trusting leaves of the old authority.
  std::erase_if(folder.authorities,
                [&](const CertificateHandle& old) { return NotAfter(old.get()) <= now; });
  folder.authorities.insert(folder.authorities.begin(), std::move(made.certificate));
  folder.authority_key = std::move(made.key);
  std::string bundle;
  for (const CertificateHandle& authority : folder.authorities) bundle += ToPem(authority.get());
  const CertificateFiles files = FilesOf(options.directory);
  // The bundle first: a key without its certificate is noticed and replaced, the other way round
  // too.
  TRUCE_RETURN_IF_ERROR(ReplaceFile(files.authority, bundle, 0644));
  return ReplaceFile(AuthorityKeyOf(options.directory), ToPem(folder.authority_key.get()), 0600);
}

Result<void> RenewLeaf(const SelfSignedOptions& options, const std::vector<std::string>& names,
                       Timestamp now, Folder& folder) {
  Request request;
  request.common_name = "truce";
  request.names = names;
  request.from = now - kBackdated;
  request.until = now + options.leaf_life;
  Identity issuer{std::move(folder.authorities.front()), std::move(folder.authority_key)};
  TRUCE_ASSIGN_OR_RETURN(const Identity made, Issue(request, &issuer));
  const CertificateFiles files = FilesOf(options.directory);
  TRUCE_RETURN_IF_ERROR(ReplaceFile(files.key, ToPem(made.key.get()), 0600));
  return ReplaceFile(files.certificate, ToPem(made.certificate.get()), 0644);
}

}  // namespace

Result<CertificateFiles> EnsureSelfSigned(const SelfSignedOptions& options, Timestamp now) {
  TRUCE_ASSIGN_OR_RETURN(const std::vector<std::string> names, WantedNames(options));
  TRUCE_ASSIGN_OR_RETURN(const auto lock, FolderLock::Take(options.directory));
  Folder folder = ReadFolder(options.directory);
  CertificateFiles files = FilesOf(options.directory);
  if (!AuthorityIsGood(folder, options, now)) {
    TRUCE_RETURN_IF_ERROR(RenewAuthority(options, now, folder));
    files.renewed = true;
  }
  if (files.renewed || !LeafIsGood(folder, names, now)) {
    TRUCE_RETURN_IF_ERROR(RenewLeaf(options, names, now, folder));
    files.renewed = true;
  }
  return files;
}

}  // namespace truce
