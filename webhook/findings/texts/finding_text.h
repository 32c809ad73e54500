// The reports of `truce findings`: all findings on a page, one with its proof, the mutes.
#ifndef TRUCE_WEBHOOK_FINDINGS_TEXTS_FINDING_TEXT_H_
#define TRUCE_WEBHOOK_FINDINGS_TEXTS_FINDING_TEXT_H_

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "webhook/findings/findings_book.h"
#include "webhook/findings/mute_book.h"

namespace truce {

// The worst first, then what lasts longest.
void SortForPeople(std::vector<LiveFinding>& findings);

// A line each; `muted`: how many more there are that somebody muted. `wide`: below it what is
// wrong, what was seen and what to do.
std::string FindingsText(std::span<const LiveFinding> findings, std::size_t muted, bool wide);

// Everything about one: the fault, since when, the proof, the objects, the remedy, and how to mute
// it or who did.
std::string FindingText(const LiveFinding& finding, const std::optional<Mute>& mute);

// A line each; an id is that of the finding.
std::string MutesText(std::span<const Mute> mutes);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_FINDINGS_TEXTS_FINDING_TEXT_H_
