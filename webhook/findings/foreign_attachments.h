// Detector foreign-attachment: attachments to resources of others that nobody allowed. Facts in,
// findings out.
#ifndef TRUCE_WEBHOOK_FINDINGS_FOREIGN_ATTACHMENTS_H_
#define TRUCE_WEBHOOK_FINDINGS_FOREIGN_ATTACHMENTS_H_

#include <span>
#include <vector>

#include "registry/base/clock.h"
#include "webhook/findings/findings_book.h"

namespace truce {

struct AdmissionPolicy;
struct Owner;
class Facts;

// Of `owners` each attachment that an object manages whose parent another party owns, unless that
// shares it at level attach at `now`, or one hand may have written both. Mode warn. It ends with
// the attachment, by a share, or by a hand-over.
std::vector<LiveFinding> FindForeignAttachments(std::span<const Owner> owners,
                                                const AdmissionPolicy& policy, const Facts& facts,
                                                Timestamp now);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_FINDINGS_FOREIGN_ATTACHMENTS_H_
