// Rule foreign-attachment: a declaration that writes into another owner's resource.
#ifndef TRUCE_POLICIES_FOREIGN_ATTACHMENT_H_
#define TRUCE_POLICIES_FOREIGN_ATTACHMENT_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "policies/finding.h"
#include "policies/rules.h"
#include "registry/base/clock.h"
#include "registry/identity/identity.h"
#include "registry/ownership/rows.h"

namespace truce {

// What an owner grants to another party.
enum class ShareLevel : std::uint8_t {
  kObserve,  // may be read
  kAttach,   // attachments may name the resource
};

struct Share {
  KeyText key;
  PartyId party;
  ShareLevel level = ShareLevel::kObserve;
  std::string reason;
  std::optional<Timestamp> until;  // first moment at which it no longer holds

  bool operator==(const Share&) const = default;
};

// Facts of one attachment. The pointees must live during the call only.
struct AttachmentFacts {
  const DeclaredResource* attachment = nullptr;  // of a type with an attachment
  const Owner* holder = nullptr;                 // of the resource that it writes into
  PartyId party;                                 // of the attachment's root
  std::span<const Share> shares;                 // of the holder's key
  Timestamp now{};
};

// Nothing when the attachment's party owns the resource, shares its root, or may attach. Otherwise
// a finding in mode enforce, which the caller lowers to the configured mode; at most a warning
// while both were written by hand, cluster-scoped: then nothing tells whether their authors are two
// (audit when both name one service).
std::optional<Finding> ForeignAttachment(const AttachmentFacts& facts, const Wording& wording);

}  // namespace truce

#endif  // TRUCE_POLICIES_FOREIGN_ATTACHMENT_H_
