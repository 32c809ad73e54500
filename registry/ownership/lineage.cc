#include "registry/ownership/lineage.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "registry/ownership/grant.h"

namespace truce {
namespace {

std::string RefText(const ObjectRef& ref) {
  return ref.group + "/" + ref.kind + "/" + ref.ns + "/" + ref.name;
}

// The slot as a resourceRef names it: without the cluster.
std::string NameInRefs(const Slot& slot) {
  return slot.group + "/" + slot.kind + "/" + slot.ns + "/" + slot.name;
}

Slot SlotOf(const ObjectRef& ref, const std::string& cluster, const std::string& ns) {
  return {cluster, ref.group, ref.kind, ns, ref.name};
}

// What the object's resourceRef(s) name; a namespaced composite's refs carry no namespace: it is
// its own.
std::vector<std::string> NamesOf(const ObjectFacts& object) {
  std::vector<std::string> names;
  for (ObjectRef ref : object.lineage.resources) {
    // A name with a control character names nothing that Kubernetes could hold.
    if (ref.name.empty() || RefText(ref).find_first_of("\n\r") != std::string::npos) continue;
    if (ref.ns.empty() && !object.slot.ns.empty() && !object.lineage.claim) {
      // A claim's resourceRef names a cluster-scoped composite; a namespaced composite names its
      // own namespace. Which of the two this is, the fields alone do not tell: both readings are
      // kept.
      names.push_back(RefText(ref));
      ref.ns = object.slot.ns;
    }
    names.push_back(RefText(ref));
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

bool Names(const Object& object, const Slot& slot) {
  return std::binary_search(object.names.begin(), object.names.end(), NameInRefs(slot));
}

struct Parent {
  Slot slot;
  Uid uid;
};

std::optional<Parent> ByController(const ObjectFacts& object, Evidence evidence,
                                   const Ledger& ledger) {
  const ObjectRef& controller = *object.lineage.controller;
  const auto known = ledger.ObjectByUid(controller.uid);
  const bool same_thing = known && known->slot.group == controller.group &&
                          known->slot.kind == controller.kind &&
                          known->slot.name == controller.name;
  if (evidence == Evidence::kFoundInPlace) {
    if (!same_thing || !Names(*known, object.slot)) return std::nullopt;
  }
  if (same_thing) return Parent{known->slot, known->uid};
  return Parent{SlotOf(controller, object.slot.cluster, object.slot.ns), controller.uid};
}

std::optional<Parent> ByClaim(const ObjectFacts& object, Evidence evidence, const Ledger& ledger) {
  const ObjectRef& claim = *object.lineage.claim;
  const Slot slot = SlotOf(claim, object.slot.cluster, claim.ns);
  const auto known = ledger.ObjectBySlot(slot);
  if (evidence == Evidence::kFoundInPlace && (!known || !Names(*known, object.slot))) {
    return std::nullopt;
  }
  return Parent{slot, known ? known->uid : Uid{}};
}

std::optional<Parent> StatedParent(const ObjectFacts& object, Evidence evidence,
                                   const Ledger& ledger) {
  if (evidence == Evidence::kOrdinaryRequest) return std::nullopt;
  if (object.lineage.controller) return ByController(object, evidence, ledger);
  if (object.lineage.claim) return ByClaim(object, evidence, ledger);
  return std::nullopt;
}

Slot RootBelow(const Slot& parent, const Uid& parent_uid, const Ledger& ledger) {
  auto known = parent_uid.empty() ? std::nullopt : ledger.ObjectByUid(parent_uid);
  if (!known) known = ledger.ObjectBySlot(parent);
  return known ? known->root : parent;
}

}  // namespace

std::string LinkOf(const ObjectFacts& object) {
  if (object.lineage.controller) return "uid:" + object.lineage.controller->uid.text;
  if (object.lineage.claim) return "claim:" + RefText(*object.lineage.claim);
  return object.lineage.composed ? "composed" : "";
}

Object Place(const ObjectFacts& object, Evidence evidence, const std::optional<Object>& known,
             const Ledger& ledger) {
  Object placed;
  placed.uid = object.uid;
  placed.slot = object.slot;
  placed.link = LinkOf(object);
  placed.names = NamesOf(object);
  placed.service = object.service;
  placed.contact = object.contact;
  placed.root = object.slot;
  if (known) {
    placed.stripped = known->stripped;
    placed.at = known->at;
  }
  if (known && known->link == placed.link && known->parent) {
    placed.parent = known->parent;
    placed.parent_uid = known->parent_uid;
    // The root of record stays, also while the parent is gone (Adoption).
    placed.root = known->root;
  } else if (const auto parent = StatedParent(object, evidence, ledger)) {
    placed.parent = parent->slot;
    placed.parent_uid = parent->uid;
    placed.root = RootBelow(parent->slot, parent->uid, ledger);
  }
  return placed;
}

std::vector<Slot> ChainOf(const Object& object, const Ledger& ledger) {
  std::vector<Slot> chain{object.slot};
  std::optional<Object> at = object;
  while (at && at->parent && chain.size() < kChainLengthMax) {
    chain.push_back(*at->parent);
    auto next = at->parent_uid.empty() ? std::nullopt : ledger.ObjectByUid(at->parent_uid);
    if (!next) next = ledger.ObjectBySlot(*at->parent);
    at = std::move(next);
  }
  if (chain.back() != object.root) chain.push_back(object.root);
  return chain;
}

bool AllowedTogether(const std::vector<Slot>& chain, const Row& b, const Ledger& ledger) {
  if (chain.front() == b.slot) return true;
  if (chain.back() != b.root) return false;
  if (std::find(chain.begin(), chain.end(), b.slot) != chain.end()) return true;
  const auto object = ledger.ObjectByUid(b.id.uid);
  if (!object) return chain.front() == b.root;
  const std::vector<Slot> other = ChainOf(*object, ledger);
  return std::find(other.begin(), other.end(), chain.front()) != other.end();
}

namespace {

// `object` and everything below it, each once.
std::vector<Object> Subtree(const Object& object, const Ledger& ledger) {
  std::vector<Object> all{object};
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Slot parent = all[i].slot;  // `all` grows below
    for (Object& child : ledger.ChildrenOf(parent)) {
      const bool listed =
          std::any_of(all.begin(), all.end(), [&](const Object& o) { return o.uid == child.uid; });
      if (!listed) all.push_back(std::move(child));
    }
  }
  return all;
}

void DescribeTop(Owner& owner, const Ledger& ledger) {
  if (const auto top = ledger.ObjectBySlot(owner.root)) {
    owner.service = top->service;
    owner.contact = top->contact;
  }
}

// The key that was left orphaned is `to`'s: as if the chain were declared anew under it.
void EndRecord(Owner owner, const Slot& to, const std::string& cause, Ledger& ledger) {
  const PartyId party = ledger.PartyFor(to);
  const bool handed_over = party != owner.party;
  if (owner.root != to) owner.since = ledger.now();
  owner.root = to;
  owner.party = party;
  DescribeTop(owner, ledger);
  owner.record = Record::kNone;
  owner.record_reason.clear();
  owner.successor.clear();
  ledger.Audit({.action = handed_over ? AuditAction::kTransferred : AuditAction::kGranted,
                .key = owner.key,
                .id = owner.id,
                .root = owner.root,
                .slot = owner.root,
                .cause = cause,
                .actor = "lineage"});
  ledger.PutOwner(std::move(owner));
}

// Of what an object declares, from one root to another.
struct RootChange {
  const Slot& from;
  const Slot& to;
  const std::string& cause;
};

// The ownership follows when no managing row of the old root is left behind.
void MoveOwner(const KeyText& key, const RootChange& change, Ledger& ledger) {
  const auto& [from, to, cause] = change;
  auto owner = ledger.OwnerOf(key);
  if (!owner || owner->record == Record::kImported) return;
  const std::vector<Row> rows = ledger.RowsOfKey(key);
  if (owner->record != Record::kNone) {
    // Orphaned, and its party or its successor manages it again.
    const bool may =
        owner->root == to || owner->party == ledger.PartyFor(to) ||
        (owner->record == Record::kTransferring && NamesSuccessor(owner->successor, to));
    if (may && RootManages(rows, to)) EndRecord(*std::move(owner), to, cause, ledger);
    return;
  }
  if (owner->root != from) return;
  if (RootManages(rows, from) || !RootManages(rows, to)) return;
  owner->root = to;
  owner->party = ledger.PartyFor(to);
  DescribeTop(*owner, ledger);
  ledger.Audit({.action = AuditAction::kMoved,
                .key = key,
                .id = owner->id,
                .root = to,
                .slot = from,
                .cause = cause,
                .actor = "lineage"});
  ledger.PutOwner(*std::move(owner));
}

}  // namespace

void GatherChildren(const Object& object, const std::string& cause, Ledger& ledger) {
  if (object.root == object.slot) return;
  for (const Object& child : ledger.ChildrenOf(object.slot)) {
    const bool same_life = child.parent_uid.empty() || child.parent_uid == object.uid;
    if (same_life && child.root == object.slot) MoveChain(child, object.root, cause, ledger);
  }
}

void MoveChain(const Object& object, const Slot& root, const std::string& cause, Ledger& ledger) {
  for (Object& moved : Subtree(object, ledger)) {
    const Slot from = moved.root;
    if (from == root) continue;
    moved.root = root;
    const Uid uid = moved.uid;
    ledger.PutObject(std::move(moved));
    for (Row& row : ledger.RowsOfUid(uid)) {
      row.root = root;
      const KeyText key = row.id.key;
      ledger.PutRow(std::move(row));
      MoveOwner(key, {from, root, cause}, ledger);
    }
  }
}

}  // namespace truce
