// Detector foreign-attachment: attachments to resources of others that nobody allowed. One hand may
// have written both: then it is none. It ends with the attachment, by a share, or by a hand-over.
// Mode warn.
#include "policies/sharing_rules.h"
#include "registry/ownership/agreements.h"
#include "webhook/findings/examiner.h"

namespace truce {
namespace {

// The owner of the resource into which `row`, of the attachment that `owner` owns, writes unasked.
std::optional<Owner> ForeignParent(const Row& row, const Owner& owner, const PassPlace& at) {
  const AdmissionPolicy& policy = at.policy;
  DeclaredResource attachment;
  attachment.identity = row.identity;
  attachment.further_account = owner.identity.account;
  auto parent = ParentOwner(attachment, *policy.catalogue, at.facts);
  const PartyId party = PartyOf(row.root);
  if (!parent || parent->root == row.root || OneParty(parent->party, party, policy.parties) ||
      MayBeOneHand(*parent, row.root, *policy.catalogue)) {
    return std::nullopt;
  }
  const std::vector<Agreement> agreements = at.facts.AgreementsOf(parent->id);
  const Agreement* share = ShareFor(agreements, party, ShareLevel::kAttach, policy.parties);
  if (share != nullptr && HoldsAt(*share, at.now)) return std::nullopt;
  return parent;
}

LiveFinding UnsharedUse(const Row& row, const Owner& owner, const Owner& parent) {
  LiveFinding out{.detector = Detector::kForeignAttachment,
                  .subject = owner.key.text,
                  .key = owner.key,
                  .objects = {row.slot, parent.root},
                  .resource = ResourceForPeople(owner),
                  .since = std::max(row.at, parent.since)};
  const std::string object = FullNameOf(row.slot);
  out.cause = object + " writes into " + ResourceForPeople(parent) + ", which is owned by " +
              FullNameOf(parent.root) + " and not shared with it.";
  out.evidence = object + " since " + FormatTimestamp(row.at) + "; " + FullNameOf(parent.root) +
                 " owns it since " + FormatTimestamp(parent.since);
  out.remedy = "Where it may, the owner runs " +
               ShareCommand(parent, PartyOf(row.root), ShareLevel::kAttach) + ". Else delete " +
               object + ", which takes away in AWS what it wrote.";
  return out;
}

std::optional<LiveFinding> UnsharedAttachment(const Owner& owner, const PassPlace& at) {
  const TypeSpec* type = at.policy.catalogue->FindType(owner.identity.type);
  if (type == nullptr || !type->attachment) return std::nullopt;
  for (const Row& row : at.facts.RowsOf(owner.id)) {
    // A reserved attachment may never come.
    if (!Manages(row) || row.id.state != RowState::kSeen) continue;
    if (const auto parent = ForeignParent(row, owner, at)) return UnsharedUse(row, owner, *parent);
  }
  return std::nullopt;
}

}  // namespace

constinit const DetectorInfo kForeignAttachmentInfo{
    "foreign-attachment",
    Severity::kWarning,
    "An object writes into a resource of another owner, who does not share it.",
    "The registry's rows: an attachment (a bucket policy, a policy of a role) that an object "
    "manages, and the owner of the resource that it names, who is of another party and shares "
    "nothing with it at level attach. It was declared before that resource had an owner, or a "
    "mode of the rule let it in.",
    Make<ByPass<Detector::kForeignAttachment, UnsharedAttachment>>,
    "ForeignAttachment",
    NamesOthers::kAnywhere};

}  // namespace truce
