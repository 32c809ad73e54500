#include "registry/ownership/declared_grant.h"

#include <algorithm>
#include <utility>

#include "registry/ownership/ledger.h"

namespace truce {
namespace {

void Add(std::string& message, const std::string& text) {
  if (!message.empty()) message += "; ";
  message += text;
}

void Refuse(GrantOutcome& outcome, const std::string& text) {
  outcome.accepted = false;
  Add(outcome.message, text);
}

// Says in words what it did.
Result<std::string> Share(const ResourceId& resource, const DeclaredGrant& grant,
                          const DeclaredShare& wanted, Ledger& ledger) {
  const std::string whom = ForPeople(wanted.terms.party);
  const std::vector<Agreement> present = ledger.AgreementsOf(resource);
  const Agreement* share =
      ShareFor(present, wanted.terms.party, ShareLevel::kObserve, ledger.parties());
  if (share != nullptr && share->actor != grant.actor && share->actor.starts_with(kDeclaredActor)) {
    return Error{ErrorCode::kConflict,
                 "it is shared with " + whom + " by " + share->actor + " already"};
  }
  if (wanted.terms.until && *wanted.terms.until <= ledger.now()) {
    return "the share with " + whom + " has ended";
  }
  const bool is_said = share != nullptr && share->actor == grant.actor &&
                       share->level == wanted.terms.level && share->until == wanted.terms.until &&
                       share->reason == wanted.reason;
  if (!is_said) {
    const auto given = GiveShare(resource, wanted.terms, {grant.actor, wanted.reason}, ledger);
    if (!given.ok()) return given.error();
  }
  return "shared with " + whom;
}

// Ends the shares that the grant gave and does not say any more.
void Unshare(const ResourceId& resource, const DeclaredGrant& grant, Ledger& ledger) {
  for (const Agreement& each : ledger.AgreementsOf(resource)) {
    if (each.kind != AgreementKind::kShare || each.actor != grant.actor) continue;
    const bool is_said = std::any_of(
        grant.shares.begin(), grant.shares.end(),
        [&](const DeclaredShare& one) { return ledger.OneParty(one.terms.party, each.party); });
    if (!is_said)
      static_cast<void>(EndShare(each.id, {grant.actor, "not declared any more"}, ledger));
  }
}

// The grant's own mark against deletion follows what it says.
void Mark(const ResourceId& resource, const DeclaredGrant& grant, Ledger& ledger,
          GrantOutcome& outcome) {
  const std::vector<Agreement> present = ledger.AgreementsOf(resource);
  const Agreement* mark = ProtectionIn(present);
  const bool is_own = mark != nullptr && mark->actor == grant.actor;
  if (!grant.protection) {
    if (is_own) {
      static_cast<void>(Unprotect(resource, {grant.actor, "not declared any more"}, ledger));
    }
    return;
  }
  if (mark != nullptr && !is_own) {
    // Taken over it would end with this object, against its giver's word.
    const bool is_declared = mark->actor.starts_with(kDeclaredActor);
    return Add(outcome.message, "already protected against deletion, by " +
                                    (is_declared ? mark->actor : "command") +
                                    "; this object leaves that as it is");
  }
  if (mark == nullptr || mark->reason != *grant.protection) {
    static_cast<void>(Protect(resource, {grant.actor, *grant.protection}, ledger));
  }
  Add(outcome.message, "protected against deletion");
}

void HandOver(const ResourceId& resource, const DeclaredGrant& grant, Ledger& ledger,
              GrantOutcome& outcome) {
  const auto open = TransferOf(resource, ledger);
  const bool is_said = grant.transfer && ledger.Setting(grant.transfer_mark).has_value();
  if (open && open->actor == grant.actor && !is_said) {
    static_cast<void>(
        EndTransfer(open->id, "withdrawn", {grant.actor, "not declared any more"}, ledger));
  }
  if (!grant.transfer) return;
  const std::string whom = ForPeople(grant.transfer->party);
  if (is_said && !open) {
    return Add(outcome.message, "the hand-over to " + whom +
                                    " was said once and is not repeated; remove transferTo");
  }
  if (!is_said) {
    const auto offer =
        OfferTransfer(resource, *grant.transfer, {grant.actor, grant.reason}, ledger);
    if (!offer.ok()) return Refuse(outcome, offer.error().message);
    ledger.PutSetting(grant.transfer_mark, FormatTimestamp(ledger.now()));
    return Add(outcome.message, "offered to " + whom);
  }
  Add(outcome.message, open->accepted ? "being handed over to " + open->successor
                                      : "offered to " + ForPeople(open->party));
}

}  // namespace

GrantOutcome CarryOut(const ResourceId& resource, const DeclaredGrant& grant, Ledger& ledger) {
  GrantOutcome outcome;
  const auto owner = ledger.OwnerOf(resource);
  if (!owner || !ledger.OneParty(owner->party, grant.party)) {
    if (grant.transfer && ledger.Setting(grant.transfer_mark)) {
      outcome.message = "handed over; this object says nothing any more";
      return outcome;
    }
    return {false,
            "nothing of it is in force: the resource is not owned by " + ForPeople(grant.party)};
  }
  Unshare(resource, grant, ledger);
  for (const DeclaredShare& share : grant.shares) {
    const auto shared = Share(resource, grant, share, ledger);
    if (shared.ok()) {
      Add(outcome.message, shared.value());
    } else {
      Refuse(outcome, shared.error().message);
    }
  }
  Mark(resource, grant, ledger, outcome);
  HandOver(resource, grant, ledger, outcome);
  return outcome;
}

void TakeBack(const ResourceId& resource, const std::string& actor, const PartyId& party,
              Ledger& ledger) {
  const auto owner = ledger.OwnerOf(resource);
  if (!owner || !ledger.OneParty(owner->party, party)) return;
  DeclaredGrant nothing;
  nothing.actor = actor;
  nothing.party = party;
  GrantOutcome unused;
  Unshare(resource, nothing, ledger);
  Mark(resource, nothing, ledger, unused);
  HandOver(resource, nothing, ledger, unused);
}

std::string DeclaringObject(const Agreement& agreement, const Owner& owner) {
  const std::string prefix = std::string(kDeclaredActor) + owner.root.cluster + "/";
  const bool is_owners = agreement.actor.starts_with(prefix + owner.root.ns + "/");
  return is_owners ? std::string(kDeclaredActor) + agreement.actor.substr(prefix.size())
                   : std::string();
}

}  // namespace truce
