// Rule foreign-attachment: a declaration that writes into another owner's resource.
#ifndef TRUCE_POLICIES_FOREIGN_ATTACHMENT_H_
#define TRUCE_POLICIES_FOREIGN_ATTACHMENT_H_

#include <optional>
#include <span>
#include <string>

#include "policies/finding.h"
#include "policies/rules.h"
#include "registry/base/clock.h"
#include "registry/identity/identity.h"
#include "registry/ownership/agreement.h"
#include "registry/ownership/rows.h"

namespace truce {

// Facts of one attachment. The pointees must live during the call only.
struct AttachmentFacts {
  const DeclaredResource* attachment = nullptr;  // of a type with an attachment
  const Owner* holder = nullptr;                 // of the resource that it writes into
  PartyId party;                                 // of the attachment's root
  std::span<const Agreement> agreements;         // of the holder's key
  bool existed = false;  // the declaration wrote into that resource before this version
  Timestamp now{};
};

// Nothing when the attachment's party owns the resource, shares its root, or may attach. A share
// that ends within kShareNotice warns. One that has ended refuses new attachments and warns those
// that existed; without any share those that existed are none of this rule's business. Otherwise a
// finding in mode enforce, which the caller lowers to the configured mode; at most a warning while
// both were written by hand, cluster-scoped: then nothing tells whether their authors are two
// (audit when both name one service).
std::optional<Finding> ForeignAttachment(const AttachmentFacts& facts, const Wording& wording);

}  // namespace truce

#endif  // TRUCE_POLICIES_FOREIGN_ATTACHMENT_H_
