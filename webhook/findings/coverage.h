// Detector not-covered, and the report `truce coverage`: what is not protected, and why. Pure.
#ifndef TRUCE_WEBHOOK_FINDINGS_COVERAGE_H_
#define TRUCE_WEBHOOK_FINDINGS_COVERAGE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "registry/base/clock.h"
#include "registry/identity/values.h"
#include "webhook/findings/ownership_gaps.h"
#include "webhook/findings/webhook_configuration.h"
#include "webhook/kube/cluster_api.h"

namespace truce {

struct AdmissionPolicy;

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

struct CoverageGap {
  GapReason reason = GapReason::kNoRule;
  std::string subject;        // "Bucket.s3.aws.upbound.io", "s3/Bucket", a ProviderConfig
  std::string why;            // one sentence
  std::string remedy;         // one sentence
  std::uint64_t objects = 0;  // concerned at present, as far as known

  bool operator==(const CoverageGap&) const = default;
};

// A served kind, and what is known of it.
struct CoverageKind {
  ServedKind kind;
  std::uint64_t objects = 0;
  std::string list_problem;  // why it cannot be listed; empty: it can
  // Of a kind that is read for detectors, whatever it declares: what they find by it.
  std::string_view watched_for = {};
  std::optional<Timestamp> failing_since = {};  // since then it cannot be listed or watched
};

// A claim kind of an XRD, and its composite kind.
struct CoverageClaim {
  ServedKind claim;
  GroupKind composite;
  std::uint64_t objects = 0;
};

// Everything the report looks at; pointees live during the call.
struct CoverageFacts {
  const AdmissionPolicy* policy = nullptr;  // never null: catalogue, mappings and modes are used
  Timestamp now{};
  std::span<const CoverageKind> kinds;    // all served kinds of providers' groups and mapped kinds
  std::span<const CoverageClaim> claims;  // all claim kinds
  std::span<const CoverageKind> defined;  // all kinds that XRDs define
  std::optional<ServedKind> composition;  // nothing: not served
  const WebhookConfiguration* webhook = nullptr;  // null: it does not exist
  ExpectedWebhook expected;                       // paths and name are used
  ProvisionalAccounts accounts;                   // CountProvisionalAccounts of all owners
  // Accounts of owned resources and of ProviderConfigs, with the number of resources in each that
  // accountParties binds to nobody; empty while it is not in use.
  std::map<std::string, std::uint64_t> unbound_accounts;
  std::map<GroupKind, Timestamp> unmapped;  // kinds whose rule is gone: until when they stay
};

struct CoverageReport {
  std::uint64_t kinds = 0;            // that can declare resources
  std::uint64_t protected_kinds = 0;  // of them those whose conflicts are denied
  std::vector<CoverageGap> gaps;      // by reason, then subject; kinds without object last
  // All API groups of claims and composites, sorted; and of them those whose reviews do not come to
  // Truce, or whose objects it cannot read.
  std::vector<std::string> xrd_groups;
  std::vector<std::string> missing_xrd_groups;
  // Of the entries that send CREATE: what becomes of declarations while Truce is away. Empty: none.
  std::string failure_policy;
  // Of the kind that failed first; nothing: all can be listed and watched.
  std::optional<Timestamp> failing_since;

  bool operator==(const CoverageReport&) const = default;
};

CoverageReport MakeCoverage(const CoverageFacts& facts);

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
