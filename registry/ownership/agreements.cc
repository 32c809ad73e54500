#include "registry/ownership/agreements.h"

#include <algorithm>
#include <utility>

#include "registry/base/result.h"
#include "registry/identity/successors.h"
#include "registry/ownership/grant.h"
#include "registry/ownership/ledger.h"
#include "registry/ownership/rows.h"
#include "registry/ownership/sight.h"

namespace truce {
namespace {

Error NobodyOwns() { return {ErrorCode::kNotFound, "nobody owns that resource"}; }

std::string InWords(const Agreement& share) {
  std::string out =
      "with " + ForPeople(share.party) + " at level " + std::string(Name(share.level));
  if (share.until) out += " until " + FormatTimestamp(*share.until);
  return out;
}

// Writes an act about an ownership, and its reason, to the audit log.
void AuditAct(const Owner& owner, std::string cause, const ByWhom& by, Ledger& ledger) {
  if (!by.reason.empty()) cause += ": " + by.reason;
  ledger.Audit(EntryOf(AuditAction::kAdministered, owner, std::move(cause), by.actor));
}

// Makes an agreement in the place of `former` and with its id, where there is such a one.
Agreement Made(AgreementKind kind, const Agreement* former, const ByWhom& by, Ledger& ledger) {
  Agreement agreement;
  agreement.id = former == nullptr ? ledger.NewId() : former->id;
  agreement.kind = kind;
  agreement.reason = by.reason;
  agreement.actor = by.actor;
  agreement.at = ledger.now();
  return agreement;
}

// The agreement of this kind, with its end in the audit log left to the caller.
Result<Agreement> Dropped(const PublicId& id, AgreementKind kind, Ledger& ledger) {
  auto agreement = ledger.AgreementById(id);
  if (!agreement || agreement->kind != kind) {
    return Error{ErrorCode::kNotFound, kind == AgreementKind::kShare ? "there is no such share"
                                                                     : "there is no such offer"};
  }
  ledger.DropAgreement(id);
  return *std::move(agreement);
}

}  // namespace

const Agreement* ShareFor(std::span<const Agreement> agreements, const PartyId& party,
                          ShareLevel level, const PartyRules& rules) {
  const auto found = std::find_if(agreements.begin(), agreements.end(), [&](const Agreement& each) {
    return each.kind == AgreementKind::kShare && each.level >= level &&
           OneParty(each.party, party, rules);
  });
  return found == agreements.end() ? nullptr : &*found;
}

const Agreement* ProtectionIn(std::span<const Agreement> agreements) {
  const auto found = std::find_if(agreements.begin(), agreements.end(), [](const Agreement& each) {
    return each.kind == AgreementKind::kProtection;
  });
  return found == agreements.end() ? nullptr : &*found;
}

Result<Agreement> GiveShare(const ResourceId& resource, const ShareTerms& terms, const ByWhom& by,
                            Ledger& ledger) {
  const auto owner = ledger.OwnerOf(resource);
  if (!owner) return NobodyOwns();
  if (ledger.OneParty(owner->party, terms.party)) {
    return Error{ErrorCode::kInvalidArgument, ForPeople(terms.party) + " owns the resource itself"};
  }
  if (terms.until && *terms.until <= ledger.now()) {
    return Error{ErrorCode::kInvalidArgument, "the time until which it is shared is past"};
  }
  const std::vector<Agreement> present = ledger.AgreementsOf(resource);
  const Agreement* given = ShareFor(present, terms.party, ShareLevel::kObserve, ledger.parties());
  const auto count = std::count_if(present.begin(), present.end(), [](const Agreement& each) {
    return each.kind == AgreementKind::kShare;
  });
  if (given == nullptr && static_cast<std::size_t>(count) >= kSharesMax) {
    return Error{ErrorCode::kResourceExhausted, "the resource is shared with " +
                                                    std::to_string(kSharesMax) +
                                                    " parties already; end a share first"};
  }
  Agreement share = Made(AgreementKind::kShare, given, by, ledger);
  share.resource = resource;
  share.party = terms.party;
  share.level = terms.level;
  share.until = terms.until;
  AuditAct(*owner, "shared " + InWords(share), by, ledger);
  ledger.PutAgreement(share);
  return share;
}

Result<Agreement> EndShare(const PublicId& id, const ByWhom& by, Ledger& ledger) {
  TRUCE_ASSIGN_OR_RETURN(Agreement share, Dropped(id, AgreementKind::kShare, ledger));
  if (const auto owner = ledger.OwnerOf(share.resource)) {
    AuditAct(*owner, "no longer shared " + InWords(share), by, ledger);
  }
  return share;
}

Result<Agreement> Protect(const ResourceId& resource, const ByWhom& by, Ledger& ledger) {
  const auto owner = ledger.OwnerOf(resource);
  if (!owner) return NobodyOwns();
  const std::vector<Agreement> present = ledger.AgreementsOf(resource);
  Agreement mark = Made(AgreementKind::kProtection, ProtectionIn(present), by, ledger);
  mark.resource = resource;
  AuditAct(*owner, "protected against deletion", by, ledger);
  ledger.PutAgreement(mark);
  return mark;
}

Result<Agreement> Unprotect(const ResourceId& resource, const ByWhom& by, Ledger& ledger) {
  const auto owner = ledger.OwnerOf(resource);
  if (!owner) return NobodyOwns();
  const std::vector<Agreement> present = ledger.AgreementsOf(resource);
  const Agreement* given = ProtectionIn(present);
  if (given == nullptr) return Error{ErrorCode::kNotFound, "the resource is not protected"};
  AuditAct(*owner, "no longer protected against deletion", by, ledger);
  ledger.DropAgreement(given->id);
  return *given;
}

std::string ForPeople(const PartyId& party) {
  const std::string& text = party.text;
  if (text.starts_with("ns:")) {
    const std::size_t slash = text.find('/');
    return "namespace " + (slash == std::string::npos ? text.substr(3) : text.substr(slash + 1));
  }
  if (text.starts_with("service:")) return "service " + text.substr(8);
  if (text.starts_with("slot:")) {
    if (const auto slot = SlotFromText(text.substr(5))) return ForPeople(*slot);
  }
  return text;
}

namespace {

Result<void> CheckSuccessor(const Owner& owner, const std::string& successor,
                            const PartyId& party) {
  if (!IsSuccessorOf(successor, party)) {
    return InvalidArgument(
        "\"" + successor + "\" names no object of " + ForPeople(party) +
        "; write <kind>/<namespace>/<name>, or <kind>/<name> of a cluster-scoped one");
  }
  if (NamesSuccessor(successor, owner.root.cluster, owner.root)) {
    return InvalidArgument("\"" + successor + "\" is the owner itself");
  }
  return {};
}

// The cluster of a namespace or an object; empty for a service, which may be in several.
std::string ClusterOf(const PartyId& party) {
  const std::size_t begin = party.text.find(':') + 1;
  if (party.text.starts_with("service:")) return {};
  return party.text.substr(begin, party.text.find('/') - begin);
}

// `successor`, which is of `party`, as `owner` says it: with its cluster where that is another one,
// and with its group where the party is one object and thereby says which: kinds of one name in two
// groups are two parties. Such a party needs no word.
std::string InFull(std::string successor, const PartyId& party, const Owner& owner) {
  const std::string cluster = ClusterOf(party);
  if (party.text.starts_with("slot:")) {
    const auto slot = SlotFromText(party.text.substr(5));
    if (slot && (successor.empty() || NamesSuccessor(successor, cluster, *slot))) {
      successor = slot->kind + (slot->group.empty() ? "" : "." + slot->group) + "/" + slot->name;
    }
  }
  return cluster.empty() ? successor
                         : SuccessorIn(owner.root.cluster, std::move(successor), cluster);
}

Error NoSuccessor(const PartyId& party) {
  return InvalidArgument("\"successor\" is missing: which object of " + ForPeople(party) +
                         " takes over, as <kind>/<namespace>/<name>");
}

}  // namespace

bool IsSuccessorOf(const std::string& text, const PartyId& party) {
  const auto parts = PartsOfSuccessor(text);
  if (!parts) return false;
  const std::string cluster = ClusterOf(party);
  if (party.text.starts_with("slot:")) {
    const auto slot = SlotFromText(party.text.substr(5));
    return slot && parts->ns.empty() && NamesSuccessor(text, cluster, *slot);
  }
  if (parts->ns.empty()) return false;
  if (!cluster.empty() && !parts->cluster.empty() && parts->cluster != cluster) return false;
  // A service may have several namespaces; the receiver's admission decides among them.
  return party.text.starts_with("service:") || party.text.ends_with("/" + parts->ns);
}

std::optional<Agreement> TransferOf(const ResourceId& resource, const Ledger& ledger) {
  for (Agreement& each : ledger.AgreementsOf(resource)) {
    if (each.kind == AgreementKind::kTransfer) return std::move(each);
  }
  return std::nullopt;
}

Result<Agreement> OfferTransfer(const ResourceId& resource, const TransferTerms& terms,
                                const ByWhom& by, Ledger& ledger) {
  const auto owner = ledger.OwnerOf(resource);
  if (!owner) return NobodyOwns();
  if (owner->record == Record::kImported) {
    return Error{ErrorCode::kConflict,
                 "the resource is owned outside the cluster; release it instead"};
  }
  // Within a party there is nobody else to ask.
  const bool at_once = terms.forced || ledger.OneParty(terms.party, owner->party);
  const std::string successor = InFull(terms.successor, terms.party, *owner);
  if (at_once && successor.empty()) return NoSuccessor(terms.party);
  if (!successor.empty()) {
    TRUCE_RETURN_IF_ERROR(CheckSuccessor(*owner, successor, terms.party));
  }
  const auto open = TransferOf(resource, ledger);
  // Whom it was offered to may be about to accept.
  if (open && open->party != terms.party && !terms.forced) {
    return Error{ErrorCode::kConflict,
                 "it is offered to " + ForPeople(open->party) + " already; withdraw that first"};
  }
  // The annotation would undo the offer with the next version of the owner that is seen (W6).
  if (!open && !terms.forced && !owner->successor.empty() && owner->successor != successor) {
    return Error{ErrorCode::kConflict, "annotation truce.dev/transfer-to of the owner names " +
                                           owner->successor + "; change it there"};
  }
  Agreement offer = Made(AgreementKind::kTransfer, open ? &*open : nullptr, by, ledger);
  offer.resource = resource;
  offer.party = terms.party;
  offer.accepted = at_once;
  offer.successor = successor;
  std::string cause = terms.forced ? "transfer forced to "
                      : at_once    ? "transfer to "
                                   : "offered to ";
  cause += ForPeople(terms.party);
  if (!successor.empty()) cause += ", successor " + successor;
  AuditAct(*owner, std::move(cause), by, ledger);
  ledger.PutAgreement(offer);
  if (at_once) {
    PutSuccessor(*owner, successor, ledger);
  } else if (open && open->accepted) {
    // The former terms were accepted.
    PutSuccessor(*owner, "", ledger);
  }
  return offer;
}

Result<Agreement> AcceptTransfer(const PublicId& id, const std::string& named, const ByWhom& by,
                                 Ledger& ledger) {
  auto offer = ledger.AgreementById(id);
  const auto owner = offer ? ledger.OwnerOf(offer->resource) : std::nullopt;
  if (!owner || offer->kind != AgreementKind::kTransfer) {
    return Error{ErrorCode::kNotFound, "there is no such offer"};
  }
  const std::string successor = InFull(named, offer->party, *owner);
  if (!successor.empty() && !offer->successor.empty() && successor != offer->successor) {
    return Error{ErrorCode::kConflict,
                 "the offer names " + offer->successor + " as the successor; ask the owner"};
  }
  // Said twice it is no error: the caller may not have heard the first answer.
  if (offer->accepted) return *std::move(offer);
  if (!successor.empty()) offer->successor = successor;
  if (offer->successor.empty()) return NoSuccessor(offer->party);
  TRUCE_RETURN_IF_ERROR(CheckSuccessor(*owner, offer->successor, offer->party));
  offer->accepted = true;
  AuditAct(*owner, "transfer accepted, successor " + offer->successor, by, ledger);
  ledger.PutAgreement(*offer);
  PutSuccessor(*owner, offer->successor, ledger);
  return *std::move(offer);
}

Result<Agreement> EndTransfer(const PublicId& id, std::string_view how, const ByWhom& by,
                              Ledger& ledger) {
  TRUCE_ASSIGN_OR_RETURN(Agreement offer, Dropped(id, AgreementKind::kTransfer, ledger));
  if (auto owner = ledger.OwnerOf(offer.resource)) {
    AuditAct(*owner, "offer to " + ForPeople(offer.party) + " " + std::string(how), by, ledger);
    // Another successor that the owner has named since then stays named.
    if (offer.accepted && owner->successor == offer.successor) {
      PutSuccessor(*std::move(owner), "", ledger);
    }
  }
  return offer;
}

bool IsKeptByPolicy(const Slot& slot) { return FlavourFor(slot.group).keeps_by_policy; }

std::string KeepingField(const Slot& slot) { return std::string(FlavourFor(slot.group).keeping); }

namespace {

// The step that must still be taken with `row` before another chain may manage its resource; empty:
// none.
std::string StepFor(const Row& row) {
  if (Passive(row)) return {};
  const std::string object = ForPeople(row.slot);
  if (row.id.state == RowState::kReserved) return "wait until " + object + " is settled";
  // Its other resources would go with it.
  if (!row.managed) {
    return "take the resource out of " + object + " when what it composes only observes";
  }
  if (row.intent == Intent::kManages) return "delete " + object + ", which keeps the resource";
  return "set " + KeepingField(row.slot) + " on " + object + ", which keeps the resource" +
         (IsKeptByPolicy(row.slot) ? ", then delete it" : "");
}

}  // namespace

std::string MissingStep(const std::vector<Row>& rows, const Slot& root) {
  for (const Row& row : rows) {
    if (!Manages(row) || row.root != root) continue;
    if (std::string step = StepFor(row); !step.empty()) return step;
  }
  return {};
}

std::vector<Step> StepsOf(const Owner& owner, const std::vector<Row>& rows,
                          const std::optional<Agreement>& transfer) {
  std::vector<Step> steps;
  const bool offered = transfer.has_value() || !owner.successor.empty();
  const std::string to = transfer                  ? ForPeople(transfer->party)
                         : owner.successor.empty() ? "the new owner"
                                                   : owner.successor;
  steps.push_back({"the owner offers it to " + to, offered});
  if (!transfer || !transfer->accepted || transfer->party != owner.party) {
    const bool accepted = !owner.successor.empty();
    const std::string who = transfer ? ForPeople(transfer->party) : std::string("the new owner");
    steps.push_back({accepted ? "the successor is named: " + owner.successor
                              : who + " accepts, and names the object that takes over",
                     accepted});
  }
  bool living = false;
  for (const Row& row : rows) {
    if (!Manages(row) || row.root != owner.root) continue;
    std::string text = StepFor(row);
    living = living || !text.empty();
    if (text.empty()) text = ForPeople(row.slot) + " is going, and keeps the resource";
    steps.push_back({std::move(text), Passive(row)});
  }
  if (!living) {
    steps.push_back({"nothing of the old owner can write or delete any more", true});
  }
  const std::string last = owner.successor.empty() ? std::string("the successor") : owner.successor;
  steps.push_back({"deploy " + last + " with the same name; it becomes the owner", false});
  return steps;
}

}  // namespace truce
