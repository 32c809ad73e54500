// The certificates in use: loaded from files, watched, swapped whole, and only for good ones.
#ifndef TRUCE_CERTS_CERTIFICATE_STORE_H_
#define TRUCE_CERTS_CERTIFICATE_STORE_H_

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "certs/certificate.h"
#include "certs/self_signed.h"
#include "registry/base/clock.h"
#include "registry/base/result.h"

namespace truce {

// The certificates of a listener. `client` is null when no client CA is configured.
struct CertificateSnapshot {
  std::shared_ptr<const CertificatePair> pair;
  std::shared_ptr<const ClientAuthority> client;

  bool operator==(const CertificateSnapshot&) const = default;
};

struct CertificateEvent {
  enum class Kind {
    kSwapped,       // new certificates are in use
    kRejected,      // the files hold something bad; the old ones stay in use. Told once per content
    kNewAuthority,  // self-made: the one that was there ends soon or was damaged, and is replaced
  };
  Kind kind;
  std::string message;  // one sentence: the loaded files, or the reason for none
};

struct CertificateStoreOptions {
  // Either self-made certificates, renewed in place …
  std::optional<SelfSignedOptions> self_signed;
  // … or two files that others write (a mounted Secret, cert-manager, an administrator).
  std::filesystem::path certificate_file;
  std::filesystem::path key_file;

  std::filesystem::path client_ca_file;   // empty: no client certificates
  std::vector<std::string> client_names;  // empty: every name that the CA issued

  // Files are compared by content, so an update through a symbolic link (kubelet) is seen like any
  // other.
  std::chrono::milliseconds poll_interval{5000};
  // Called by the polling thread (or the caller of Poll). Optional.
  std::function<void(const CertificateEvent&)> on_event;
};

// Thread-safe.
class CertificateStore final {
 public:
  // Loads and checks everything, then polls in a thread of its own (none when poll_interval is 0).
  // Errors: kInvalidArgument (a file is missing, unreadable, or bad; names it); as
  // EnsureSelfSigned. `clock` must outlive the store.
  static Result<std::unique_ptr<CertificateStore>> Open(CertificateStoreOptions options,
                                                        const Clock& clock);

  ~CertificateStore();
  CertificateStore(const CertificateStore&) = delete;
  CertificateStore& operator=(const CertificateStore&) = delete;

  // The certificates to serve with now. Never blocks on I/O.
  CertificateSnapshot Current() const;

  // Renews (self-made), reads the files and swaps if they changed and are good, as the polling
  // thread does. Errors: as Open; the certificates in use then stay.
  Result<void> Poll();

 private:
  struct Impl;
  explicit CertificateStore(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

}  // namespace truce

#endif  // TRUCE_CERTS_CERTIFICATE_STORE_H_
