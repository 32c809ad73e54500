// Certificates that Truce makes for itself, as values: a long-lived authority and a short-lived
// leaf.
#ifndef TRUCE_CERTS_SELF_MADE_H_
#define TRUCE_CERTS_SELF_MADE_H_

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "registry/base/clock.h"
#include "registry/base/result.h"

namespace truce {

// All PEM; empty where there is none yet.
struct SelfMadeCertificates {
  std::string authorities;    // newest first: clients should trust these
  std::string authority_key;  // of the newest
  std::string certificate;    // the leaf
  std::string key;            // of the leaf

  bool operator==(const SelfMadeCertificates&) const = default;
};

struct SelfMadeRules {
  // Further names or addresses of the leaf, beside localhost, 127.0.0.1 and ::1.
  std::vector<std::string> names;
  std::chrono::hours authority_life{24 * 365 * 100};  // its end is no clock's to come near
  std::chrono::hours leaf_life{24 * 90};
};

struct SelfMadeRenewal {
  SelfMadeCertificates certificates;
  bool new_authority = false;
  bool new_leaf = false;
  bool waits_for_trust = false;  // the leaf is due, but clients do not know the new authority yet
};

// One step of keeping `given` in order (ECDSA P-256). Makes a new authority, valid since 1970, when
// the present one is missing, unusable, or would end before a leaf, but not because it is not valid
// yet: then this clock is late, and clients may know it. A new one goes before the older ones, four
// in all. Makes a new leaf at once when no client could accept the present one (missing, damaged,
// expired, not yet valid, other names, no authority of ours); and when it is due (a third of its
// life is left, or an older authority signed it), as soon as `trusted`, the bundle that clients
// verify with, names the newest authority; nothing: clients read `authorities` themselves.
// Idempotent: otherwise returns what was given. Pure but for its keys. Errors: kInvalidArgument (a
// name that no certificate can carry); kInternal.
Result<SelfMadeRenewal> RenewSelfMade(const SelfMadeCertificates& given, const SelfMadeRules& rules,
                                      std::optional<std::string_view> trusted, Timestamp now);

// End of the newest authority's validity; nothing for text without certificates.
std::optional<Timestamp> AuthorityEnd(std::string_view authorities);

// Whether all four parts are there and match, validity apart.
bool IsCompleteSelfMade(const SelfMadeCertificates& given);

}  // namespace truce

#endif  // TRUCE_CERTS_SELF_MADE_H_
