// Rule foreign-attachment.
//
// Spec: a declaration of an attachment (a bucket's policy, versioning or notification, a queue's
// policy, a role's policy, a record of a zone, …) whose parent resource has an owner of another
// party is refused, unless that owner shares the resource with the attachment's party at level
// attach; that a share ends soon is told as a warning, and one that has ended lets what relied on
// it go on with a warning. The parent is told by name, or by a reference once the registry or the
// provider resolves it. Two equal attachments are a matter of duplicate-ownership, in both modes of
// attachment. Parameters: none; mode "mode" and "typeModes" by the attachment's type, at most warn
// where its row in the catalogue is not researched. Vectors: tests/unit/policies_attachment_test.cc
// (owners are no facts of an object).
#include "policies/foreign_attachment.h"

#include "policies/name_rules.h"
#include "policies/people.h"
#include "registry/ownership/rows.h"

namespace truce {
namespace {

bool IsSlotParty(const PartyId& party) { return party.text.starts_with("slot:"); }

// Cluster-scoped objects that people write by hand are parties of their own each, although one team
// usually writes a bucket and its policy. Composites and claims are evidence; these are not.
bool IsByHand(const Slot& root, const Wording& wording) {
  return root.ns.empty() && wording.catalogue->FindKind(root.group, root.kind) != nullptr;
}

std::string OwnerInWords(const Owner& holder, Disclosure level) {
  if (level == Disclosure::kTaken) return "which belongs to somebody else";
  const Slot& root = holder.root;
  const bool named = !holder.service.empty() && holder.service != root.name &&
                     holder.service != root.ns + "/" + root.name;
  std::string out = "which is owned by ";
  if (level == Disclosure::kService) {
    out += named ? "service " + Quoted(holder.service) : std::string("another service");
  } else {
    if (named) out += "service " + Quoted(holder.service) + ", ";
    out += OneLine(ObjectForPeople(root), kShownTextBytesMax);
  }
  if (!holder.contact.empty())
    out += " (contact " + OneLine(holder.contact, kShownTextBytesMax) + ")";
  return out;
}

}  // namespace

std::optional<Finding> ForeignAttachment(const UseFacts& facts, const Wording& wording) {
  const Owner& holder = *facts.holder;
  const DeclaredResource& attachment = *facts.use;
  if (holder.root == *wording.root || OneParty(holder.party, facts.party, *facts.parties))
    return std::nullopt;
  const Standing standing = StandingOf(facts, ShareLevel::kAttach);
  if (standing == Standing::kShared) return std::nullopt;
  if (standing == Standing::kEndsSoon || (standing == Standing::kEnded && facts.existed)) {
    return ShareEnds(Rule::kForeignAttachment, facts, standing == Standing::kEnded, wording);
  }
  if (facts.existed) return std::nullopt;
  const std::string type = TypeForPeople(attachment.identity.type);
  const std::string parent = ResourceInWords(holder);
  Finding out;
  out.rule = Rule::kForeignAttachment;
  out.mode = Mode::kEnforce;
  const bool by_hand = IsSlotParty(holder.party) && IsSlotParty(facts.party) &&
                       IsByHand(holder.root, wording) && IsByHand(*wording.root, wording);
  if (by_hand) {
    const std::string_view service = DeclaredService(*wording.object);
    out.mode = !service.empty() && service == holder.service ? Mode::kAudit : Mode::kWarn;
  }
  out.resource = type + " of " + parent;
  out.key = attachment.key;
  out.cause = "This " + type + " writes into " + parent + ", " +
              OwnerInWords(holder, wording.disclosure) + ".";
  out.remedy = "Use your own " + TypeForPeople(holder.identity.type) + ", or ask " +
               (wording.disclosure == Disclosure::kTaken || holder.contact.empty()
                    ? std::string("the owner")
                    : OneLine(holder.contact, kShownTextBytesMax)) +
               " to run: " + ShareCommand(holder, facts.party, ShareLevel::kAttach);
  AddLink(holder, wording, out);
  out.warning = OneLine("truce: " + type + " writes into " + TypeForPeople(holder.identity.type) +
                            " " + OneLine(holder.name, 63) + " of another owner",
                        kWarningBytesMax);
  return out;
}

}  // namespace truce
