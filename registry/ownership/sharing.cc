#include "registry/ownership/sharing.h"

#include <algorithm>
#include <utility>

namespace truce {
namespace {

Error NobodyOwns() { return {ErrorCode::kNotFound, "nobody owns that resource"}; }

std::string InWords(const Agreement& share) {
  std::string out =
      "with " + ForPeople(share.party) + " at level " + std::string(Name(share.level));
  if (share.until) out += " until " + FormatTimestamp(*share.until);
  return out;
}

}  // namespace

void AuditAct(const Owner& owner, std::string cause, const ByWhom& by, Ledger& ledger) {
  if (!by.reason.empty()) cause += ": " + by.reason;
  ledger.Audit({.action = AuditAction::kAdministered,
                .key = owner.key,
                .id = owner.id,
                .root = owner.root,
                .cause = std::move(cause),
                .actor = by.actor});
}

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

Result<Agreement> GiveShare(const KeyText& key, const ShareTerms& terms, const ByWhom& by,
                            Ledger& ledger) {
  const auto owner = ledger.OwnerOf(key);
  if (!owner) return NobodyOwns();
  if (ledger.OneParty(owner->party, terms.party)) {
    return Error{ErrorCode::kInvalidArgument, ForPeople(terms.party) + " owns the resource itself"};
  }
  if (terms.until && *terms.until <= ledger.now()) {
    return Error{ErrorCode::kInvalidArgument, "the time until which it is shared is past"};
  }
  const std::vector<Agreement> present = ledger.AgreementsOf(key);
  Agreement share;
  if (const Agreement* given =
          ShareFor(present, terms.party, ShareLevel::kObserve, ledger.parties())) {
    share.id = given->id;
  } else {
    const auto count = std::count_if(present.begin(), present.end(), [](const Agreement& each) {
      return each.kind == AgreementKind::kShare;
    });
    if (static_cast<std::size_t>(count) >= kSharesMax) {
      return Error{ErrorCode::kResourceExhausted, "the resource is shared with " +
                                                      std::to_string(kSharesMax) +
                                                      " parties already; end a share first"};
    }
    share.id = ledger.NewId();
  }
  share.kind = AgreementKind::kShare;
  share.key = key;
  share.party = terms.party;
  share.level = terms.level;
  share.until = terms.until;
  share.reason = by.reason;
  share.actor = by.actor;
  share.at = ledger.now();
  AuditAct(*owner, "shared " + InWords(share), by, ledger);
  ledger.PutAgreement(share);
  return share;
}

Result<Agreement> EndShare(const PublicId& id, const ByWhom& by, Ledger& ledger) {
  auto share = ledger.AgreementById(id);
  if (!share || share->kind != AgreementKind::kShare) {
    return Error{ErrorCode::kNotFound, "there is no such share"};
  }
  ledger.DropAgreement(id);
  if (const auto owner = ledger.OwnerOf(share->key)) {
    AuditAct(*owner, "no longer shared " + InWords(*share), by, ledger);
  }
  return *std::move(share);
}

Result<Agreement> Protect(const KeyText& key, const ByWhom& by, Ledger& ledger) {
  const auto owner = ledger.OwnerOf(key);
  if (!owner) return NobodyOwns();
  const std::vector<Agreement> present = ledger.AgreementsOf(key);
  Agreement mark;
  const Agreement* given = ProtectionIn(present);
  mark.id = given == nullptr ? ledger.NewId() : given->id;
  mark.kind = AgreementKind::kProtection;
  mark.key = key;
  mark.reason = by.reason;
  mark.actor = by.actor;
  mark.at = ledger.now();
  AuditAct(*owner, "protected against deletion", by, ledger);
  ledger.PutAgreement(mark);
  return mark;
}

Result<Agreement> Unprotect(const KeyText& key, const ByWhom& by, Ledger& ledger) {
  const auto owner = ledger.OwnerOf(key);
  if (!owner) return NobodyOwns();
  const std::vector<Agreement> present = ledger.AgreementsOf(key);
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

}  // namespace truce
