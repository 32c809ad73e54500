// Rule foreign-attachment: a declaration that writes into another owner's resource.
#ifndef TRUCE_POLICIES_FOREIGN_ATTACHMENT_H_
#define TRUCE_POLICIES_FOREIGN_ATTACHMENT_H_

#include <optional>

#include "policies/finding.h"
#include "policies/rules.h"
#include "policies/sharing_rules.h"

namespace truce {

// Nothing when the attachment's party owns the resource, shares its root, or may attach. A share
// that ends within kShareNotice warns. One that has ended refuses new attachments and warns those
// that existed; without any share those that existed are none of this rule's business. Otherwise a
// finding in mode enforce, which the caller lowers to the configured mode; at most a warning while
// both were written by hand, cluster-scoped: then nothing tells whether their authors are two
// (audit when both name one service).
std::optional<Finding> ForeignAttachment(const UseFacts& facts, const Wording& wording);

}  // namespace truce

#endif  // TRUCE_POLICIES_FOREIGN_ATTACHMENT_H_
