// Agreement: what was settled about a resource beside its ownership: shares, offered hand-overs,
// protections (design section 4). A plain value.
#ifndef TRUCE_REGISTRY_OWNERSHIP_AGREEMENT_H_
#define TRUCE_REGISTRY_OWNERSHIP_AGREEMENT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "registry/base/clock.h"
#include "registry/identity/values.h"

namespace truce {

enum class AgreementKind : std::uint8_t {
  kShare,       // another party may observe the resource, or attach to it
  kTransfer,    // the ownership is offered to another party, or to another root of the same one
  kProtection,  // the resource must not be deleted
};
std::string_view Name(AgreementKind kind);  // "share", "transfer", "protection"

// What an owner grants to another party; each level includes those before it.
enum class ShareLevel : std::uint8_t {
  kObserve,  // may be read
  kAttach,   // attachments may name the resource
};
std::string_view Name(ShareLevel level);
std::optional<ShareLevel> ShareLevelFromName(std::string_view name);

// Agreements belong to the key: they move when it is re-keyed and end with its ownership.
struct Agreement {
  PublicId id;
  AgreementKind kind = AgreementKind::kShare;
  KeyText key;
  PartyId party;                            // who may, or to whom; empty for a protection
  ShareLevel level = ShareLevel::kObserve;  // of a share
  bool accepted = true;   // false: a transfer that the receiver has not accepted yet
  std::string successor;  // of a transfer: "<kind>/<namespace>/<name>"; empty: not named yet
  std::string reason;
  std::string actor;  // who made it, how known, from where
  Timestamp at{};
  std::optional<Timestamp> until;  // of a share: first moment at which it no longer holds

  bool operator==(const Agreement&) const = default;
};

// The time alone.
inline bool HoldsAt(const Agreement& agreement, Timestamp now) {
  return !agreement.until || now < *agreement.until;
}

}  // namespace truce

#endif  // TRUCE_REGISTRY_OWNERSHIP_AGREEMENT_H_
