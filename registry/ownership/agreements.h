// Agreements: shares with other parties, marks against deletion, transfers of an ownership from one
// party to another.
#ifndef TRUCE_REGISTRY_OWNERSHIP_AGREEMENTS_H_
#define TRUCE_REGISTRY_OWNERSHIP_AGREEMENTS_H_

#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "registry/base/result.h"
#include "registry/identity/identity.h"
#include "registry/ownership/terms.h"

namespace truce {

class Ledger;
struct Owner;
struct Row;

// The caller, how known and from where; and the reason. Both are in the audit log.
struct ByWhom {
  std::string actor;
  std::string reason;
};

struct ShareTerms {
  PartyId party;
  ShareLevel level = ShareLevel::kObserve;
  std::optional<Timestamp> until;  // first moment at which it no longer holds; none: for ever
};

// Users of a share get a warning when it ends sooner than this.
inline constexpr std::chrono::hours kShareNotice{24 * 14};
// Parties that one resource is shared with at most.
inline constexpr std::size_t kSharesMax = 100;

// Shares the resource with a party; a share that the party has already is changed in
// place and keeps its id. Errors: kNotFound (nobody owns it), kInvalidArgument (the party owns
// it itself; `until` is past), kResourceExhausted (kSharesMax).
Result<Agreement> GiveShare(const ResourceId& resource, const ShareTerms& terms, const ByWhom& by,
                            Ledger& ledger);

// Ends a share. Declarations that rely on it go on: only new ones are decided without it. Errors:
// kNotFound.
Result<Agreement> EndShare(const PublicId& id, const ByWhom& by, Ledger& ledger);

// Marks the resource as not to be deleted, or takes the mark away; a protected one keeps
// its mark and gets the new reason. Errors: kNotFound (nobody owns it; it is not protected).
Result<Agreement> Protect(const ResourceId& resource, const ByWhom& by, Ledger& ledger);
Result<Agreement> Unprotect(const ResourceId& resource, const ByWhom& by, Ledger& ledger);

// The share among `agreements` that lets `party` do what `level` says, ended or not; null when
// there is none.
const Agreement* ShareFor(std::span<const Agreement> agreements, const PartyId& party,
                          ShareLevel level, const PartyRules& rules);
// The mark against deletion among `agreements`; null when there is none.
const Agreement* ProtectionIn(std::span<const Agreement> agreements);

// "namespace team-b", "service payments", "Bucket.s3.aws.upbound.io artifacts".
std::string ForPeople(const PartyId& party);

// A hand-over goes from the owner's word to the successor's turn, without two managers and without
// losing the resource (W6). The owner names a successor, by annotation
// (HearWord in sight.h) or by an agreed transfer (here). That alone changes nobody's rights:
// the successor is admitted when nothing of the old chain can write or delete any more.

struct TransferTerms {
  PartyId party;  // to whom
  // "<kind>/<namespace>/<name>", "<kind>/<name>", of the party's cluster; empty: the receiver says.
  std::string successor;
  bool forced = false;  // an administrator speaks for both sides
};

// Offers the ownership of the resource. Within one party no acceptance is needed. An open offer to
// the same party is changed in place and keeps its id. Errors: kNotFound (nobody owns it);
// kInvalidArgument (no successor where nobody else will name one, it is not of the receiving party,
// it is the owner; a party of one object is its own successor); kConflict (imported; offered to
// another party; a successor is named already by annotation).
Result<Agreement> OfferTransfer(const ResourceId& resource, const TransferTerms& terms,
                                const ByWhom& by, Ledger& ledger);

// Accepts an offer; `successor` (may be empty when the offer names one) is the object that takes
// over. Repeating it changes nothing. Errors: kNotFound; kInvalidArgument as above; kConflict (the
// offer names another successor).
Result<Agreement> AcceptTransfer(const PublicId& id, const std::string& successor, const ByWhom& by,
                                 Ledger& ledger);

// Ends an offer, accepted or not: "declined" by the receiver, "withdrawn" by the owner. The owner
// stays. Errors: kNotFound.
Result<Agreement> EndTransfer(const PublicId& id, std::string_view how, const ByWhom& by,
                              Ledger& ledger);

// True when `text` can name a successor of `party`: right form, and of its namespace and cluster.
bool IsSuccessorOf(const std::string& text, const PartyId& party);

// One step of a hand-over, in the order in which they are taken.
struct Step {
  std::string text;
  bool done = false;

  bool operator==(const Step&) const = default;
};

// The field by which the deletion of the managed resource in `slot` leaves what it has in AWS:
// `spec.managementPolicies: ["Observe"]`; of the community's kinds, for which a flag must allow
// that one, `spec.deletionPolicy: Orphan`.
std::string KeepingField(const Slot& slot);
// Whether it is the latter.
bool IsKeptByPolicy(const Slot& slot);

// The first managing row of the owner's chain that can still write or delete, and the remedy, in
// words; empty when there is none.
std::string MissingStep(const std::vector<Row>& rows, const Slot& root);

// All steps from the owner's word to the successor's turn. `transfer` is the agreed one, if any.
// Without any word the first step is to give it.
std::vector<Step> StepsOf(const Owner& owner, const std::vector<Row>& rows,
                          const std::optional<Agreement>& transfer);

// The open transfer of the resource, if any.
std::optional<Agreement> TransferOf(const ResourceId& resource, const Ledger& ledger);

}  // namespace truce

#endif  // TRUCE_REGISTRY_OWNERSHIP_AGREEMENTS_H_
