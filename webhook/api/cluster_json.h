// How conflicts, findings and reports about a cluster look in JSON; shapes in cluster_routes.h.
#ifndef TRUCE_WEBHOOK_API_CLUSTER_JSON_H_
#define TRUCE_WEBHOOK_API_CLUSTER_JSON_H_

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "registry/base/clock.h"
#include "webhook/findings/coverage.h"
#include "webhook/findings/findings_book.h"
#include "webhook/findings/mute_book.h"
#include "webhook/findings/name_census.h"
#include "webhook/wire/json_writer.h"

namespace truce {

struct BaselineReport;
struct Conflict;
struct Suspension;
struct TagWar;

// Each writes one value.
void WriteConflict(const Conflict& conflict, const TagWar* war, JsonWriter& json);
void WriteFinding(const LiveFinding& finding, JsonWriter& json);
// The same, with what the rule finds, how that is proved, and what mutes it; `mute` may be null.
void WriteExplained(const LiveFinding& finding, const Mute* mute, JsonWriter& json);
void WriteMute(const Mute& mute, JsonWriter& json);

// The member "findings": a list of those about any of `keys`, at most 100.
void WriteFindingsOf(std::vector<LiveFinding> findings, const std::vector<KeyText>& keys,
                     JsonWriter& json);

// The age of an answer, as ClusterReports::AsOf says it, where it is old; else nothing. As field
// "asOf" of an object that is open, and as a line before a text for people.
void WriteAsOf(const std::optional<Timestamp>& as_of, JsonWriter& json);
std::string WithAsOf(const std::optional<Timestamp>& as_of, std::string text);

std::string CoverageJson(const CoverageReport& report, const std::vector<Suspension>& suspended,
                         const std::optional<Timestamp>& as_of);
std::string BaselineJson(const BaselineReport& report, const std::optional<Timestamp>& as_of);
std::string NamesJson(const NameReport& report);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_API_CLUSTER_JSON_H_
