// Rule foreign-attachment.
//
// Spec: a declaration of an attachment (a bucket's policy, versioning or notification, a queue's
// policy, a role's policy, a record of a zone, …) whose parent resource has an owner of another
// party is refused, unless that owner shares the resource with the attachment's party at level
// attach; that a share ends soon is told as a warning, and one that has ended lets what relied on
// it go on with a warning. The parent is told by name, or by a reference once the registry or the
// provider resolves it. Two equal attachments are a matter of duplicate-ownership, in both modes of
// attachment. Parameters: none; mode "mode" and "typeModes" by the attachment's type, at most warn
// where its row in the catalogue is not researched. Vectors: tests/unit/admission_sharing_test.cc
// (owners are no facts of an object).
#include <algorithm>

#include "policies/name_rules.h"
#include "policies/people.h"
#include "policies/policy.h"
#include "policies/question.h"
#include "policies/rule_case.h"
#include "policies/sharing_rules.h"
#include "registry/ownership/names.h"
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
  if (!holder.contact.empty()) out += " (contact " + Said(holder.contact) + ")";
  return out;
}

// The owner of the resource into which an attachment writes, by any of that one's names.
std::optional<Owner> ParentOwner(const DeclaredResource& resource, const TypeSpec& type,
                                 const RuleCase& c) {
  for (const std::string* account : {&resource.identity.account, &resource.further_account}) {
    if (account == &resource.further_account && account->empty()) break;
    ResourceIdentity identity = resource.identity;
    identity.account = *account;
    const std::optional<KeyText> parent = ParentKeyOf(identity, type, *c.policy->catalogue);
    auto owner = parent ? OwnerByName(*parent, *c.facts) : std::nullopt;
    if (owner) return owner;
  }
  return std::nullopt;
}

// The object wrote before into the resource that `attachment`, of `type`, writes into.
bool WroteBefore(const DeclaredResource& attachment, const TypeSpec& type, const RuleCase& c) {
  if (c.old_object == nullptr) return false;
  const Catalogue& catalogue = *c.policy->catalogue;
  const std::optional<KeyText> parent = ParentKeyOf(attachment.identity, type, catalogue);
  const auto& old = c.old_object->resources;
  return std::any_of(old.begin(), old.end(), [&](const DeclaredResource& each) {
    const TypeSpec* of = catalogue.FindType(each.identity.type);
    return each.intent != Intent::kObserves && of != nullptr &&
           ParentKeyOf(each.identity, *of, catalogue) == parent;
  });
}

}  // namespace

std::vector<Finding> JudgeAttachments(const RuleCase& c) {
  std::vector<Finding> out;
  for (const DeclaredResource& resource : c.object->resources) {
    if (resource.intent == Intent::kObserves) continue;
    const TypeSpec* type = c.policy->catalogue->FindType(resource.identity.type);
    if (type == nullptr || !type->attachment) continue;
    const std::optional<Owner> holder = ParentOwner(resource, *type, c);
    if (!holder || !IsOfOthers(*holder, c)) continue;
    const bool existed = WroteBefore(resource, *type, c) || IsOnRecord(c, resource.key);
    KeepUse(c, {.use = &resource, .holder = &*holder, .existed = existed}, &ForeignAttachment, out);
  }
  return out;
}

std::optional<Finding> ForeignAttachment(const UseFacts& facts, const Wording& wording) {
  const Owner& holder = *facts.holder;
  const DeclaredResource& attachment = *facts.use;
  const Standing standing = StandingOf(facts, ShareLevel::kAttach);
  if (standing == Standing::kShared) return std::nullopt;
  if (standing == Standing::kEndsSoon || (standing == Standing::kEnded && facts.existed)) {
    return ShareEnds(Rule::kForeignAttachment, facts, standing == Standing::kEnded, wording);
  }
  if (facts.existed) return std::nullopt;
  const std::string type = TypeForPeople(attachment.identity.type);
  const std::string parent = ResourceInWords(holder);
  Finding out{.rule = Rule::kForeignAttachment};
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
  out.remedy =
      "Use your own " + TypeForPeople(holder.identity.type) + ", or ask " +
      (wording.disclosure == Disclosure::kTaken || holder.contact.empty() ? std::string("the owner")
                                                                          : Said(holder.contact)) +
      " to run: " + ShareCommand(holder, facts.party, ShareLevel::kAttach);
  AddLink(holder, wording, out);
  out.warning = OneLine("truce: " + type + " writes into " + TypeForPeople(holder.identity.type) +
                            " " + OneLine(holder.name, 63) + " of another owner",
                        kWarningBytesMax);
  return out;
}

}  // namespace truce
