// Finding: the result of one rule about one declaration, in words.
#ifndef TRUCE_POLICIES_FINDING_H_
#define TRUCE_POLICIES_FINDING_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "registry/base/one_line.h"
#include "registry/identity/values.h"
#include "registry/ownership/terms.h"

namespace truce {

// Every rule there is. Ids are stable, because metrics, logs and configuration use them.
enum class Rule : std::uint8_t {
  kDuplicateOwnership,    // "duplicate-ownership"
  kResourceName,          // "resource-name"
  kReservationCap,        // "reservation-cap"
  kUnclearDeclaration,    // "unclear-declaration"
  kForeignAttachment,     // "foreign-attachment"
  kObserverWithoutShare,  // "observer-without-share"
  kAccountParty,          // "account-party"
  kAwsName,               // "aws-name"
  kNamingConvention,      // "naming-convention"
  kDeletionProtection,    // "deletion-protection"
  kStatusNames,           // "status-names"
  kRerolledNames,         // "rerolled-names"
  kQuota,                 // "quota"
  kOrphaningUpdate,       // "orphaning-update"
  kRestoredTwin,          // "restored-twin"
  kRestoredDelete,        // "restored-delete"
  kCompositionChange,     // "composition-change"
  kCompositeNotSeen,      // "composite-not-seen"
  kClaimBinding,          // "claim-binding"
  kClaimTakeover,         // "claim-takeover"
};
inline constexpr std::size_t kRuleCount = 20;
std::string_view Name(Rule rule);
std::optional<Rule> RuleFromName(std::string_view name);

// All texts are one line without control characters, whatever the object holds.
struct Finding {
  Rule rule = Rule::kDuplicateOwnership;
  Mode mode = Mode::kEnforce;
  Mode at_most = Mode::kEnforce;  // by any configuration: kWarn if it only warns in any mode
  std::string resource;           // its subject: S3 bucket "prod-artifacts"
  std::string cause;              // one sentence: the fault
  std::string remedy;             // for the reader
  std::string suggestion;         // the name that the remedy proposes; empty: none
  std::string link;               // a URL; empty: none
  std::string warning;            // the cause for a warning header: at most kWarningBytesMax bytes
  KeyText key;                    // empty where there is none

  bool operator==(const Finding&) const = default;
};

// Limits of a warning (AdmissionReview v1): longer ones are cut by API servers, anywhere.
inline constexpr std::size_t kWarningBytesMax = 120;
inline constexpr std::size_t kWarningsBytesMax = 4096;
// Denial texts end up in conditions, headers and chat messages.
inline constexpr std::size_t kMessageBytesMax = 8192;

// Makes all texts of `finding` such, by OneLine: whatever a rule took from an object.
void MakePrintable(Finding& finding);

// The text of a denial for `findings` (not empty): cause, remedy, link of each, a line each, and at
// its end the rule in brackets, "[aws-name]"; with several a first line that names all resources,
// or the one name to take instead where all of them propose it. The first line makes sense alone,
// and the lines can be joined by spaces. At most kMessageBytesMax bytes: findings that do not fit
// are counted.
std::string DenialText(std::span<const Finding> findings);

// The warnings of `findings`, without repetitions, together at most kWarningsBytesMax bytes.
std::vector<std::string> Warnings(std::span<const Finding> findings);

}  // namespace truce

#endif  // TRUCE_POLICIES_FINDING_H_
