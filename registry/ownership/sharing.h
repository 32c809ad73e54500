// Sharing: what an owner lets other parties do, and what nobody may delete (design section 4).
#ifndef TRUCE_REGISTRY_OWNERSHIP_SHARING_H_
#define TRUCE_REGISTRY_OWNERSHIP_SHARING_H_

#include <chrono>
#include <optional>
#include <span>
#include <string>

#include "registry/base/result.h"
#include "registry/ownership/ledger.h"

namespace truce {

// Who acts, how known and from where; and why. Both stand in the audit log.
struct ByWhom {
  std::string actor;
  std::string reason;
};

// Writes what was done about an ownership, and why, to the audit log (kAdministered).
void AuditAct(const Owner& owner, std::string cause, const ByWhom& by, Ledger& ledger);

struct ShareTerms {
  PartyId party;
  ShareLevel level = ShareLevel::kObserve;
  std::optional<Timestamp> until;  // first moment at which it no longer holds; none: for ever
};

// A share that ends sooner than this is told to those who rely on it.
inline constexpr std::chrono::hours kShareNotice{24 * 14};
// Parties that one resource is shared with at most.
inline constexpr std::size_t kSharesMax = 100;

// Shares the resource of `key` with a party; a share that the party has already is changed in
// place and keeps its id. Errors: kNotFound (nobody owns the key), kInvalidArgument (the party owns
// it itself; `until` is past), kResourceExhausted (kSharesMax).
Result<Agreement> GiveShare(const KeyText& key, const ShareTerms& terms, const ByWhom& by,
                            Ledger& ledger);

// Ends a share. What relies on it goes on: only new declarations are judged without it. Errors:
// kNotFound.
Result<Agreement> EndShare(const PublicId& id, const ByWhom& by, Ledger& ledger);

// Marks the resource of `key` as not to be deleted, or takes the mark away; a protected one keeps
// its mark and gets the new reason. Errors: kNotFound (nobody owns the key; it is not protected).
Result<Agreement> Protect(const KeyText& key, const ByWhom& by, Ledger& ledger);
Result<Agreement> Unprotect(const KeyText& key, const ByWhom& by, Ledger& ledger);

// The share among `agreements` that lets `party` do what `level` says, ended or not; null when
// there is none.
const Agreement* ShareFor(std::span<const Agreement> agreements, const PartyId& party,
                          ShareLevel level, const PartyRules& rules);
// The mark against deletion among `agreements`; null when there is none.
const Agreement* ProtectionIn(std::span<const Agreement> agreements);

// "namespace team-b", "service payments", "Bucket.s3.aws.upbound.io artifacts".
std::string ForPeople(const PartyId& party);

}  // namespace truce

#endif  // TRUCE_REGISTRY_OWNERSHIP_SHARING_H_
