// Self-made certificates in a folder.
#ifndef TRUCE_CERTS_SELF_SIGNED_H_
#define TRUCE_CERTS_SELF_SIGNED_H_

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "certs/self_made.h"
#include "registry/base/clock.h"
#include "registry/base/result.h"

namespace truce {

struct SelfSignedOptions {
  std::filesystem::path directory;  // made when missing, mode 0700
  // Further names or addresses of the leaf, beside localhost, 127.0.0.1 and ::1.
  std::vector<std::string> names;
  std::chrono::hours authority_life{24 * 365 * 100};
  std::chrono::hours leaf_life{24 * 90};
};

struct CertificateFiles {
  std::filesystem::path authority;    // ca.crt: the authority's certificates, newest first
  std::filesystem::path certificate;  // tls.crt: the leaf
  std::filesystem::path key;          // tls.key, mode 0600
  bool renewed = false;               // something was written by this call
  // An authority was written in the place of another one: clients that trust only the old one must
  // learn of it.
  bool replaced_authority = false;

  bool operator==(const CertificateFiles&) const = default;
};

// Makes sure that `directory` holds ca.crt, ca.key, tls.crt and tls.key (ECDSA P-256): makes what
// is missing or unusable, renews the leaf at two thirds of its life, when its names changed, or
// when the authority that signed it is not ours any more; renews the authority before a leaf would
// outlive it and keeps the old one in ca.crt. Idempotent: otherwise writes
// nothing. Durable on return: each file is replaced whole (temporary file, fsync, rename, fsync of
// the folder). Errors: kInvalidArgument (a name that no certificate can carry); kUnavailable (the
// folder cannot be
//   read or written; names file and cause). Thread-safe, also against another process (locks the
//   folder).
Result<CertificateFiles> EnsureSelfSigned(const SelfSignedOptions& options, Timestamp now);

// The contents of the folder; empty parts for missing or unreadable files.
SelfMadeCertificates ReadSelfMade(const std::filesystem::path& directory);

// Makes the folder (mode 0700) hold `certificates`; replaces only files that differ, durably.
// Errors: kUnavailable. Thread-safe, also against another process.
Result<void> WriteSelfMade(const std::filesystem::path& directory,
                           const SelfMadeCertificates& certificates);

}  // namespace truce

#endif  // TRUCE_CERTS_SELF_SIGNED_H_
