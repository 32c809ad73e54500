#include "webhook/findings/foreign_attachments.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "policies/people.h"
#include "policies/policy.h"
#include "policies/sharing_rules.h"
#include "registry/ownership/agreements.h"
#include "registry/ownership/facts.h"
#include "registry/ownership/rows.h"
#include "webhook/findings/conflicts.h"

namespace truce {
namespace {

std::string SlotInWords(const Slot& slot) { return OneLine(ForPeople(slot), kShownBytesMax); }

// The owner of the resource into which `row`, of the attachment that `owner` owns, writes unasked.
std::optional<Owner> ForeignParent(const Row& row, const Owner& owner,
                                   const AdmissionPolicy& policy, const Facts& facts,
                                   Timestamp now) {
  DeclaredResource attachment;
  attachment.identity = row.identity;
  attachment.further_account = owner.identity.account;
  auto parent = ParentOwner(attachment, *policy.catalogue, facts);
  const PartyId party = PartyOf(row.root);
  if (!parent || parent->root == row.root || OneParty(parent->party, party, policy.parties) ||
      MayBeOneHand(*parent, row.root, *policy.catalogue)) {
    return std::nullopt;
  }
  const std::vector<Agreement> agreements = facts.AgreementsOf(parent->id);
  const Agreement* share = ShareFor(agreements, party, ShareLevel::kAttach, policy.parties);
  if (share != nullptr && HoldsAt(*share, now)) return std::nullopt;
  return parent;
}

LiveFinding UnsharedUse(const Row& row, const Owner& owner, const Owner& parent) {
  LiveFinding out{.detector = Detector::kForeignAttachment,
                  .subject = owner.key.text,
                  .key = owner.key,
                  .objects = {row.slot, parent.root},
                  .resource = ResourceForPeople(owner),
                  .since = std::max(row.at, parent.since)};
  const std::string object = SlotInWords(row.slot);
  out.cause = object + " writes into " + ResourceForPeople(parent) + ", which is owned by " +
              SlotInWords(parent.root) + " and not shared with it.";
  out.evidence = object + " since " + FormatTimestamp(row.at) + "; " + SlotInWords(parent.root) +
                 " owns it since " + FormatTimestamp(parent.since);
  out.remedy = "Where it may, the owner runs " +
               ShareCommand(parent, PartyOf(row.root), ShareLevel::kAttach) + ". Else delete " +
               object + ", which takes away in AWS what it wrote.";
  return out;
}

}  // namespace

std::vector<LiveFinding> FindForeignAttachments(std::span<const Owner> owners,
                                                const AdmissionPolicy& policy, const Facts& facts,
                                                Timestamp now) {
  std::vector<LiveFinding> out;
  for (const Owner& owner : owners) {
    const TypeSpec* type = policy.catalogue->FindType(owner.identity.type);
    if (type == nullptr || !type->attachment) continue;
    for (const Row& row : facts.RowsOf(owner.id)) {
      // What is only reserved may never come.
      if (!Manages(row) || row.id.state != RowState::kSeen) continue;
      if (const auto parent = ForeignParent(row, owner, policy, facts, now)) {
        out.push_back(UnsharedUse(row, owner, *parent));
        break;
      }
    }
  }
  return out;
}

}  // namespace truce
