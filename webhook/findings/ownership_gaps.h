// Detectors orphaned-ownership, never-real, account-unknown, provider-config-moved,
// outside-endpoint: ownerships in the registry without a living object, or known only in part.
// Facts in, findings out.
#ifndef TRUCE_WEBHOOK_FINDINGS_OWNERSHIP_GAPS_H_
#define TRUCE_WEBHOOK_FINDINGS_OWNERSHIP_GAPS_H_

#include <chrono>
#include <compare>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "registry/base/clock.h"
#include "webhook/findings/findings_book.h"

namespace truce {

class Facts;
struct IdentityRules;
struct Owner;

// How long an object may take to become Ready, or to show an ARN: databases take most of an hour.
inline constexpr std::chrono::hours kNeverRealAfter{2};
// A reservation is proved after three minutes; one that lasts this long could not be proved.
inline constexpr std::chrono::minutes kReservedTooLong{15};

// Rule orphaned-ownership: a resource whose last declaration ended without proof that the resource
// is gone (record orphaned or transferring). Mode audit.
std::vector<LiveFinding> FindOrphaned(std::span<const Owner> owners);

// Rule never-real: a reservation that could not be proved for kReservedTooLong, or a declaration
// that exists for kNeverRealAfter and never showed an ARN, an id or Ready=True. Mode audit. Its
// texts say to look at objects that live only (SpeakerFor).
std::vector<LiveFinding> FindNeverReal(std::span<const Owner> owners, const Facts& facts,
                                       Timestamp now);

// Rule outside-endpoint: one finding for each ProviderConfig whose endpoint is not AWS. Mode warn:
// a host that leads to AWS all the same would evade every rule.
std::vector<LiveFinding> FindOutside(const IdentityRules& rules);

// Owned resources in AWS whose account is a provisional account, by ProviderConfig
// ("prod/aws.upbound.io/ ProviderConfig//default"): the text after "?" in the key's account.
using ProvisionalAccounts = std::map<std::string, std::uint64_t>;
void CountProvisionalAccounts(std::span<const Owner> owners,
                              ProvisionalAccounts& provisional_accounts);
// The ProviderConfig of such a text, for people: "ProviderConfig.aws.upbound.io default".
std::string ConfigForPeople(const std::string& config);

// Owned resources by account, where it is known.
using Accounted = std::map<std::string, std::uint64_t>;
void CountAccounts(std::span<const Owner> owners, Accounted& accounts);

// Orphaned resources that a ProviderConfig left behind in an account, by where it led and leads.
struct Move {
  std::string config;  // "prod/aws.upbound.io/ProviderConfig//default"
  std::string from;    // 12 digits
  std::string to;

  auto operator<=>(const Move&) const = default;
};
using Moves = std::map<Move, std::uint64_t>;
void CountMoved(std::span<const Owner> owners, Moves& moves);

// Rule provider-config-moved: one finding for each. Mode warn. It ends with the last resource that
// is declared again or released.
std::vector<LiveFinding> FindMoved(const Moves& moves);

// Rule account-unknown: one finding for each. Mode warn: equal names in one account may pass.
std::vector<LiveFinding> FindUnknownAccounts(const ProvisionalAccounts& provisional_accounts);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_FINDINGS_OWNERSHIP_GAPS_H_
