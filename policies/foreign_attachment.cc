// Rule foreign-attachment.
//
// Spec: a declaration of an attachment (a bucket's policy, versioning or notification, a queue's
// policy, a role's policy, a record of a zone, …) whose parent resource has an owner of another
// party is refused, unless that owner shares the resource with the attachment's party at level
// attach; a share that ends soon brings a warning, and one that has ended lets declarations that
// relied on it go on with a warning. One that was declared before anybody owned its parent keeps
// its place; a change of what it writes is judged as if it came now, the provider's and its end
// left out. The parent is known by name, or by a reference once the registry or the provider
// resolves it. Two equal attachments are a matter of duplicate-ownership, in both modes of
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
#include "registry/ownership/facts.h"
#include "registry/ownership/names.h"
#include "registry/ownership/rows.h"

namespace truce {
namespace {

bool IsSlotParty(const PartyId& party) { return party.text.starts_with("slot:"); }

// Composites and claims are evidence; these are not.
bool IsByHand(const Slot& root, const Catalogue& catalogue) {
  return root.ns.empty() && catalogue.FindKind(root.group, root.kind) != nullptr;
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

// The object wrote into the parent, and nobody let it, before `holder` had that.
bool CameBefore(const DeclaredResource& attachment, const Owner& holder, const RuleCase& c) {
  const std::optional<Owner> own = OwnerByNames(attachment, *c.facts);
  const std::vector<Row> rows = c.facts->RowsOfUid(c.object->uid);
  return own && std::ranges::any_of(rows, [&](const Row& row) {
           return row.id.resource == own->id && row.at < holder.since;
         });
}

// The update changes what the object writes, and is neither the provider's nor of a terminating
// object.
bool Rewrites(const RuleCase& c) {
  return c.rewrites && !c.object->terminating && !BringsWhatExists(c);
}

}  // namespace

std::optional<Owner> ParentOwner(const DeclaredResource& attachment, const Catalogue& catalogue,
                                 const Facts& facts) {
  const TypeSpec* type = catalogue.FindType(attachment.identity.type);
  if (type == nullptr || !type->attachment) return std::nullopt;
  for (const std::string* account : {&attachment.identity.account, &attachment.further_account}) {
    if (account == &attachment.further_account && account->empty()) break;
    ResourceIdentity identity = attachment.identity;
    identity.account = *account;
    const std::optional<KeyText> parent = ParentKeyOf(identity, *type, catalogue);
    auto owner = parent ? OwnerByName(*parent, facts) : std::nullopt;
    if (owner) return owner;
  }
  return std::nullopt;
}

bool WritesIntoOwn(const DeclaredResource& resource, const RuleCase& c) {
  const auto holder = ParentOwner(resource, *c.policy->catalogue, *c.facts);
  return holder && !IsOfOthers(*holder, c);
}

bool MayBeOneHand(const Owner& holder, const Slot& root, const Catalogue& catalogue) {
  return IsSlotParty(holder.party) && IsByHand(holder.root, catalogue) && IsByHand(root, catalogue);
}

std::vector<Finding> JudgeAttachments(const RuleCase& c) {
  std::vector<Finding> out;
  for (const DeclaredResource& resource : c.object->resources) {
    if (resource.intent == Intent::kObserves) continue;
    const TypeSpec* type = c.policy->catalogue->FindType(resource.identity.type);
    if (type == nullptr || !type->attachment) continue;
    const auto holder = ParentOwner(resource, *c.policy->catalogue, *c.facts);
    if (!holder || !IsOfOthers(*holder, c)) continue;
    const bool existed = WroteBefore(resource, *type, c) || IsOnRecord(c, resource.key());
    const bool anew = existed && Rewrites(c) && CameBefore(resource, *holder, c);
    KeepUse(c, {.use = &resource, .holder = &*holder, .existed = existed, .anew = anew},
            &ForeignAttachment, out);
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
  if (facts.existed && !facts.anew) return std::nullopt;
  const std::string type = TypeForPeople(attachment.identity.type);
  const std::string parent = ResourceInWords(holder);
  Finding out{.rule = Rule::kForeignAttachment};
  if (MayBeOneHand(holder, *wording.root, *wording.catalogue)) {
    const std::string_view service = DeclaredService(*wording.object);
    out.mode = !service.empty() && service == holder.service ? Mode::kAudit : Mode::kWarn;
  }
  out.resource = type + " of " + parent;
  out.key = attachment.key();
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
