// Detector not-covered, and the report `truce coverage`: the kinds that are not protected, and why.
// Pure.
#ifndef TRUCE_WEBHOOK_FINDINGS_COVERAGE_H_
#define TRUCE_WEBHOOK_FINDINGS_COVERAGE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "registry/base/clock.h"
#include "registry/identity/values.h"
#include "webhook/findings/findings_book.h"

namespace truce {

struct Surroundings;
struct WatchedCluster;

enum class GapReason : std::uint8_t {
  kNoWebhook,       // "no-webhook": the API server does not ask Truce at all
  kNoRule,          // "no-rule": the webhook's rules leave the kind out
  kXrdGroup,        // "xrd-group": they leave out an API group of claims and composites
  kExcluded,        // "excluded": a selector or match condition leaves requests out
  kStatusOpen,      // "status-unguarded": names known from a status alone warn
  kNotListed,       // "not-listed": its objects cannot be read; keys of its kinds are unknown
  kUnwatched,       // "unwatched": declared something once, and nobody reads its objects any more
  kUnknownKind,     // "unknown-kind": a provider's kind that the catalogue does not know
  kNoMapping,       // "no-mapping": a claim kind; conflicts show only when it is composed
  kAccountUnknown,  // "account-unknown": a ProviderConfig
  kAccountUnbound,  // "account-unbound": accountParties is in use and leaves the account out
  kWarnsOnly,       // "warns-only": a type or mode that does not deny
};
std::string_view Name(GapReason reason);
std::optional<GapReason> GapReasonFromName(std::string_view name);

struct CoverageGap {
  GapReason reason = GapReason::kNoRule;
  std::string subject;        // "Bucket.s3.aws.upbound.io", "s3/Bucket", a ProviderConfig
  std::string why;            // one sentence
  std::string remedy;         // one sentence
  std::uint64_t objects = 0;  // concerned at present, as far as known

  bool operator==(const CoverageGap&) const = default;
};

// By reason, then subject; kinds without object last.
void SortGaps(std::vector<CoverageGap>& gaps);

struct CoverageReport {
  std::uint64_t kinds = 0;            // that can declare resources
  std::uint64_t protected_kinds = 0;  // of them those whose conflicts are denied
  std::vector<CoverageGap> gaps;      // by reason, then subject; kinds without object last
  // All API groups of claims and composites, sorted; and of them those whose reviews do not come to
  // Truce, or whose objects it cannot read.
  std::vector<std::string> xrd_groups;
  std::vector<std::string> missing_xrd_groups;
  // Of the entries that send CREATE: the failure policy, which declarations meet while Truce is
  // away. Empty: none.
  std::string failure_policy;
  // Of the kind that failed first; nothing: all can be listed and watched.
  std::optional<Timestamp> failing_since;

  bool operator==(const CoverageReport&) const = default;
};

// Of a cluster as the detectors know it: all kinds that are followed or served.
CoverageReport CoverageOf(const WatchedCluster& cluster, const Surroundings& around, Timestamp now);

// True for kinds of AWS providers that declare cloud resources: their group begins with a service
// ("s3.aws.upbound.io", not "aws.upbound.io").
bool IsProviderKind(std::string_view group);

// The gaps as findings: mode warn when objects are concerned, else audit. Accounts have a detector
// of their own and are left out.
std::vector<LiveFinding> FindingsOf(const CoverageReport& report);

// How much is protected, then the gaps, those with one reason and one remedy together; lines of at
// most 100 columns, longer words apart. Not `all`: gaps that concern no object at present are only
// counted.
std::string CoverageText(const CoverageReport& report, bool all);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_FINDINGS_COVERAGE_H_
