// The report `truce conflicts`, for people.
#ifndef TRUCE_WEBHOOK_FINDINGS_REPORT_CONFLICTS_H_
#define TRUCE_WEBHOOK_FINDINGS_REPORT_CONFLICTS_H_

#include <span>
#include <string>

#include "webhook/findings/conflicts.h"
#include "webhook/findings/tag_war.h"

namespace truce {

// The war at `key`, or null.
const TagWar* WarAt(std::span<const TagWar> wars, const KeyText& key);

// A line per conflict: resource, owner of record, who manages it too, since when, and whether they
// fight now. `wide`: below it for each what deleting does and the steps that end it.
std::string ConflictsText(std::span<const Conflict> conflicts, std::span<const TagWar> wars,
                          bool wide);

// What one conflict means and how it ends, as a numbered list.
std::string ConflictText(const Conflict& conflict, const TagWar* war);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_FINDINGS_REPORT_CONFLICTS_H_
