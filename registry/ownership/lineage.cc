#include "registry/ownership/lineage.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "registry/identity/successors.h"
#include "registry/identity/uids.h"
#include "registry/ownership/grant.h"
#include "registry/ownership/ledger.h"
#include "registry/ownership/names.h"
#include "registry/ownership/rows.h"
#include "registry/ownership/sight.h"

namespace truce {
namespace {

// How a link begins (LinkOf).
constexpr std::string_view kByController = "uid:";
constexpr std::string_view kByClaim = "claim:";
constexpr std::string_view kByLabel = "composed:";

std::optional<std::string_view> After(std::string_view prefix, std::string_view link) {
  if (!link.starts_with(prefix)) return std::nullopt;
  return link.substr(prefix.size());
}

// The slot as a resourceRef names it: without the cluster.
std::string NameInRefs(const Slot& slot) {
  return slot.group + "/" + slot.kind + "/" + slot.ns + "/" + slot.name;
}

Slot SlotOf(const ObjectRef& ref, const std::string& cluster, const std::string& ns) {
  return {cluster, ref.group, ref.kind, ns, ref.name};
}

std::string RefText(const ObjectRef& ref) { return NameInRefs(SlotOf(ref, "", ref.ns)); }

// The objects that the object's resourceRef(s) name. A composite in a namespace reaches objects of
// that one only, and its references need not repeat it.
std::vector<std::string> NamedBy(const ObjectFacts& object, bool composes) {
  std::vector<std::string> names;
  const auto add = [&](const ObjectRef& ref) {
    std::string text = RefText(ref);
    // A name with a control character names nothing that Kubernetes could hold.
    if (ref.name.empty() || text.find_first_of("\n\r") != std::string::npos) return;
    names.push_back(std::move(text));
  };
  if (object.lineage.composite) add(*object.lineage.composite);
  for (ObjectRef ref : object.lineage.resources) {
    if (!composes) break;
    if (ref.ns.empty()) ref.ns = object.slot.ns;
    if (object.slot.ns.empty() || ref.ns == object.slot.ns) add(ref);
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

// `object` and everything below it of one root, each once.
std::vector<Object> Subtree(const Object& object, const Ledger& ledger) {
  std::vector<Object> all{object};
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Slot parent = all[i].slot;  // `all` grows below
    for (Object& child : ledger.ChildrenOf(parent)) {
      const bool listed =
          std::any_of(all.begin(), all.end(), [&](const Object& o) { return o.uid == child.uid; });
      if (!listed && child.root == object.root) all.push_back(std::move(child));
    }
  }
  return all;
}

struct Parent {
  Slot slot;
  Uid uid;  // empty while only the slot is known
};

std::optional<Object> Known(const Parent& parent, const Ledger& ledger) {
  auto known = parent.uid.empty() ? std::nullopt : ledger.ObjectByUid(parent.uid);
  if (!known) known = ledger.ObjectBySlot(parent.slot);
  return known;
}

// A composite that no claim has takes the claim that it offers itself to (R5).
bool IsOffered(const Object& top, const Slot& claim, const Ledger& ledger) {
  return top.composes && top.link.empty() && !claim.ns.empty() &&
         (NamesSuccessor(top.transfer_to, top.slot.cluster, claim) || ledger.unbound_claimable());
}

std::optional<Parent> ParentByController(const ObjectFacts& object, Evidence evidence,
                                         const Ledger& ledger) {
  const ObjectRef& controller = *object.lineage.controller;
  const auto known = ledger.ObjectByUid(controller.uid);
  const bool same_thing = known && known->slot.group == controller.group &&
                          known->slot.kind == controller.kind &&
                          known->slot.name == controller.name;
  if (same_thing &&
      (evidence == Evidence::kController || (known->composes && Names(*known, object.slot)))) {
    return Parent{known->slot, known->uid};
  }
  if (evidence != Evidence::kController) return std::nullopt;
  return Parent{SlotOf(controller, object.slot.cluster, object.slot.ns), controller.uid};
}

std::optional<Parent> ParentByClaim(const ObjectFacts& object, Evidence evidence,
                                    const Ledger& ledger) {
  const ObjectRef& claim = *object.lineage.claim;
  const Slot slot = SlotOf(claim, object.slot.cluster, claim.ns);
  const auto known = ledger.ObjectBySlot(slot);
  if (evidence != Evidence::kController && (!known || !Names(*known, object.slot))) {
    return std::nullopt;
  }
  return Parent{slot, known ? known->uid : Uid{}};
}

// Whether the label names a composite of the chain of `composite`: nested ones carry that of the
// top.
bool LabelFits(std::string_view label, const Object& composite, const Ledger& ledger) {
  const std::vector<Slot> chain = ChainOf(composite, ledger);
  return !label.empty() && std::any_of(chain.begin(), chain.end(), [&](const Slot& slot) {
    const auto at = slot == composite.slot ? composite : ledger.ObjectBySlot(slot);
    return at && at->composes && slot.name == label;
  });
}

// The composite that names a restored object, looked for below the owners of its resources.
std::optional<Parent> ParentByLabel(const ObjectFacts& object, const Ledger& ledger) {
  for (const DeclaredResource& resource : object.resources) {
    const auto owner = OwnerByNames(resource, ledger.facts());
    if (!owner) continue;
    const auto top = ledger.ObjectBySlot(owner->root);
    std::vector<Object> below;
    if (top) {
      below = Subtree(*top, ledger);
    } else {
      // A restore may bring back the composite before its claim, or never the claim.
      for (const Object& child : ledger.ChildrenOf(owner->root)) {
        for (Object& each : Subtree(child, ledger)) below.push_back(std::move(each));
      }
    }
    for (const Object& each : below) {
      if (each.composes && each.slot != object.slot && Names(each, object.slot) &&
          LabelFits(object.lineage.label, each, ledger)) {
        return Parent{each.slot, each.uid};
      }
    }
  }
  return std::nullopt;
}

std::optional<Parent> StatedParent(const ObjectFacts& object, Evidence evidence,
                                   const Ledger& ledger) {
  if (object.lineage.controller) return ParentByController(object, evidence, ledger);
  if (object.lineage.claim) return ParentByClaim(object, evidence, ledger);
  return object.lineage.composed ? ParentByLabel(object, ledger) : std::nullopt;
}

// Whether `known` may come under `root`; `names_it`: by a parent that it named all along. W3:
// within the party, by a transfer, or when the chain has no party yet.
bool MayMove(const Object& known, const Slot& root, bool names_it, const Ledger& ledger) {
  const bool is_top = known.root == known.slot;
  if (is_top && !known.own_party && names_it) return true;
  if (is_top && IsOffered(known, root, ledger)) return true;
  const PartyId to = PartyOf(root);
  bool within = ledger.OneParty(PartyOf(known.root), to);
  bool transferred = false;
  for (const Row& row : RowsBelow(known.uid, known.slot, ledger)) {
    const auto owner = ledger.OwnerOf(row.id.resource);
    if (!owner || owner->root != known.root) continue;
    if (NamesSuccessor(*owner, root)) {
      transferred = true;
    } else {
      within = within && ledger.OneParty(owner->party, to);
      if (!within) return false;
    }
  }
  return within || transferred;
}

// Whether `known` stated this parent before: by the same link, or by the label that a restored
// object is left with.
bool NamedBefore(const Object& known, const std::string& link, const Parent& parent,
                 const Ledger& ledger) {
  if (known.link == link) return true;
  const auto composite = ledger.ObjectByUid(parent.uid);
  return composite && LabelFits(LabelOf(known), *composite, ledger);
}

}  // namespace

std::string LinkOf(const ObjectFacts& object) {
  const LineageFields& lineage = object.lineage;
  if (lineage.controller) return std::string(kByController) + lineage.controller->uid.text;
  if (lineage.claim) return std::string(kByClaim) + RefText(*lineage.claim);
  return lineage.composed ? std::string(kByLabel) + lineage.label : "";
}

std::optional<Uid> ControllerOf(const Object& object) {
  const auto uid = After(kByController, object.link);
  return uid ? std::optional(Uid{std::string(*uid)}) : std::nullopt;
}

std::optional<Slot> ClaimOf(const Object& object) {
  const auto claim = After(kByClaim, object.link);
  return claim ? SlotFromText(object.slot.cluster + "/" + std::string(*claim)) : std::nullopt;
}

bool OnlyLabelled(const Object& object) { return object.link.starts_with(kByLabel); }

std::string_view LabelOf(const Object& object) {
  return After(kByLabel, object.link).value_or(std::string_view());
}

bool Names(const Object& object, const Slot& slot) {
  return std::binary_search(object.names.begin(), object.names.end(), NameInRefs(slot));
}

Object ObjectOf(const ObjectFacts& object, Evidence evidence, const std::optional<Object>& known,
                const Ledger& ledger) {
  Object placed;
  placed.uid = object.uid;
  placed.slot = object.slot;
  placed.link = LinkOf(object);
  const bool by_controller = evidence != Evidence::kBothSides;
  placed.composes = object.composite || (known && known->composes) ||
                    (by_controller && !object.lineage.resources.empty());
  placed.names = NamedBy(object, placed.composes);
  placed.service = object.service;
  placed.contact = object.contact;
  placed.root = known ? known->root : object.slot;  // the root of record stays (E5)
  placed.own_party = known ? known->own_party : placed.link.empty();
  if (known) {
    placed.transfer_to = known->transfer_to;
    placed.unproven_marks = known->unproven_marks;
    placed.stripped = known->stripped;
    placed.at = known->at;
  }
  if (known && known->link == placed.link && known->parent) {
    placed.parent = known->parent;
    placed.parent_uid = known->parent_uid;
    return placed;
  }
  const auto parent = StatedParent(object, evidence, ledger);
  if (!parent) return placed;
  const auto above = Known(*parent, ledger);
  Slot root = above ? above->root : parent->slot;
  const bool names_it = known && NamedBefore(*known, placed.link, *parent, ledger);
  if (known && root != known->root && !MayMove(*known, root, names_it, ledger)) {
    // Else the next version would have named that parent all along. A label goes on telling whose
    // it is.
    if (OnlyLabelled(*known)) {
      placed.link = known->link;
    } else {
      placed.own_party = true;
    }
    return placed;
  }
  placed.parent = parent->slot;
  placed.parent_uid = parent->uid;
  placed.root = std::move(root);
  return placed;
}

std::vector<Slot> ChainOf(const Object& object, const Ledger& ledger) {
  std::vector<Slot> chain{object.slot};
  std::optional<Object> at = object;
  while (at && at->parent && chain.size() < kChainLengthMax) {
    chain.push_back(*at->parent);
    at = Known(Parent{*at->parent, at->parent_uid}, ledger);
  }
  if (chain.back() != object.root) chain.push_back(object.root);
  return chain;
}

Object SpeakerOf(const Object& object, const Ledger& ledger) {
  const std::vector<Slot> chain = ChainOf(object, ledger);
  for (auto slot = chain.rbegin(); *slot != object.slot; ++slot) {
    if (auto above = ledger.ObjectBySlot(*slot)) return *std::move(above);
  }
  return object;
}

bool Joins(const Object& top, const Object& parent, const Ledger& ledger) {
  if (top.slot == parent.slot || !Names(parent, top.slot)) return false;
  const bool names_it =
      ClaimOf(top) == parent.slot || (parent.composes && (ControllerOf(top) == parent.uid ||
                                                          LabelFits(LabelOf(top), parent, ledger)));
  if (!names_it && !IsOffered(top, parent.slot, ledger)) return false;
  return top.root == parent.root || MayMove(top, parent.root, names_it, ledger);
}

namespace {

// The object that `claim` names and whose name is `label`, which `below` carries.
std::optional<Slot> LabelledIn(const Object& claim, std::string_view label, const Slot& below) {
  if (claim.composes || label.empty()) return std::nullopt;
  if (!below.ns.empty() && below.ns != claim.slot.ns) return std::nullopt;
  for (const std::string& name : claim.names) {
    auto slot = SlotFromText(claim.slot.cluster + "/" + name);
    if (slot && slot->name == label) return slot;
  }
  return std::nullopt;
}

}  // namespace

bool NamedByMissing(const ObjectFacts& object, const Slot& root, const Ledger& ledger) {
  const auto claim = ledger.ObjectBySlot(root);
  const auto composite =
      claim ? LabelledIn(*claim, object.lineage.label, object.slot) : std::nullopt;
  return composite && !ledger.ObjectBySlot(*composite);
}

bool AwaitsClaim(const Object& top, const Object& claim, const Ledger& ledger) {
  if (top.root != top.slot || top.own_party || top.slot == claim.slot) return false;
  const auto slot = LabelledIn(claim, LabelOf(top), top.slot);
  const auto composite = slot ? ledger.ObjectBySlot(*slot) : std::nullopt;
  return slot && (!composite || Names(*composite, top.slot));
}

void AdoptNamed(const Object& parent, Ledger& ledger) {
  for (const std::string& name : parent.names) {
    const auto slot = SlotFromText(parent.slot.cluster + "/" + name);
    auto child = slot ? ledger.ObjectBySlot(*slot) : std::nullopt;
    // A parent that was accepted stays: a restored object's composite is the one it had.
    if (!child || child->parent || !Joins(*child, parent, ledger)) continue;
    child->parent = parent.slot;
    child->parent_uid = parent.uid;
    ledger.PutObject(*child);
    MoveChain(*child, parent.root, "adopted by " + ForPeople(parent.slot), ledger);
  }
}

namespace {

// The ownership of the resource of `row` follows it from the root `from`, when no managing row of
// that is left behind.
void MoveOwner(const Row& row, const Slot& from, const std::string& cause, Ledger& ledger) {
  const Slot& to = row.root;
  auto owner = ledger.OwnerOf(row.id.resource);
  if (!owner || owner->record == Record::kImported) return;
  const std::vector<Row> rows = ledger.RowsOf(row.id.resource);
  if (!RootManages(rows, to)) return;
  const bool is_record = owner->record != Record::kNone;
  if (is_record) {
    // Orphaned, and its party or its successor manages it again: as if it were declared anew.
    const bool may = owner->root == to || ledger.OneParty(owner->party, PartyOf(to)) ||
                     (owner->record == Record::kTransferring && NamesSuccessor(*owner, to));
    if (!may) return;
    if (owner->root != to) owner->since = ledger.now();
  } else {
    if (owner->root != from) return;
    // Part of the chain stayed: the ownership stays with it, and the part that left is a conflict.
    // An object whose place another one took is gone, though its deletion was not seen yet.
    const bool is_left = std::any_of(rows.begin(), rows.end(), [&](const Row& each) {
      if (!Manages(each) || each.root != from) return false;
      const auto there = ledger.ObjectBySlot(each.slot);
      return !there || there->uid == each.id.uid || there->root != to;
    });
    if (is_left) return;
  }
  const bool is_handed_over = PutUnder(to, *owner, ledger);
  if (is_record || is_handed_over) owner->successor.clear();
  AuditEntry entry = EntryOf(!is_record       ? AuditAction::kMoved
                             : is_handed_over ? AuditAction::kTransferred
                                              : AuditAction::kGranted,
                             *owner, cause, "lineage");
  entry.slot = is_record ? to : from;
  ledger.Audit(std::move(entry));
  ledger.PutOwner(*std::move(owner));
}

}  // namespace

void MoveChain(const Object& object, const Slot& root, const std::string& cause, Ledger& ledger) {
  for (Object& moved : Subtree(object, ledger)) {
    const Slot from = moved.root;
    if (from == root) continue;
    moved.root = root;
    const Uid uid = moved.uid;
    ledger.PutObject(std::move(moved));
    for (Row& row : ledger.RowsOfUid(uid)) {
      row.root = root;
      ledger.PutRow(row);
      MoveOwner(row, from, cause, ledger);
    }
  }
}

void PutPlaced(const Object& object, const std::optional<Object>& before, const std::string& cause,
               Ledger& ledger) {
  if (before && before->root != object.root) MoveChain(*before, object.root, cause, ledger);
  ledger.PutObject(object);
  // Its own root already: its children are under it.
  if (before || object.root == object.slot) return;
  for (const Object& child : ledger.ChildrenOf(object.slot)) {
    const bool same_life = child.parent_uid.empty() || child.parent_uid == object.uid;
    if (same_life && child.root == object.slot) MoveChain(child, object.root, cause, ledger);
  }
}

}  // namespace truce
