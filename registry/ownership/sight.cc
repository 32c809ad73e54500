#include "registry/ownership/sight.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "registry/ownership/grant.h"
#include "registry/ownership/names.h"

namespace truce {
namespace {

constexpr std::string_view kWatch = "watch";

// The oldest living manager besides `root`: time of the declaration, then creationTimestamp, then
// uid. One that can no longer write comes last, but still before nobody: no managed key is without
// owner.
std::optional<Row> OldestOther(const std::vector<Row>& rows, const Slot& root) {
  std::optional<Row> oldest;
  const auto rank = [](const Row& row) {
    return std::tuple(Passive(row), row.at, row.created.value_or(Timestamp::max()), row.id.uid);
  };
  for (const Row& row : rows) {
    if (!Manages(row) || row.root == root) continue;
    if (!oldest || rank(row) < rank(*oldest)) oldest = row;
  }
  return oldest;
}

// The same among those for which the owner's party acts.
std::optional<Row> OldestOfParty(std::vector<Row> rows, const Owner& owner, const Ledger& ledger) {
  std::erase_if(rows, [&](const Row& row) { return ledger.PartyFor(row.root) != owner.party; });
  return OldestOther(rows, owner.root);
}

// The same among those that the owner named as its successor.
std::optional<Row> OldestSuccessor(std::vector<Row> rows, const Owner& owner) {
  std::erase_if(rows, [&](const Row& row) { return !NamesSuccessor(owner.successor, row.root); });
  return OldestOther(rows, owner.root);
}

AuditEntry Entry(AuditAction action, const Owner& owner, const Row& row, const std::string& cause) {
  return {.action = action,
          .key = owner.key,
          .id = owner.id,
          .root = owner.root,
          .slot = row.slot,
          .uid = row.id.uid,
          .cause = cause,
          .actor = std::string(kWatch)};
}

void PassTo(const Row& heir, const std::string& cause, Owner owner, Ledger& ledger) {
  const bool chosen = NamesSuccessor(owner.successor, heir.root);
  owner.root = heir.root;
  owner.party = ledger.PartyFor(heir.root);
  owner.since = ledger.now();
  owner.successor.clear();
  // The heir managed the resource all along: whatever became of it, it may exist.
  owner.real = true;
  if (auto top = ledger.ObjectBySlot(heir.root)) {
    owner.service = top->service;
    owner.contact = top->contact;
  }
  ledger.Audit(
      Entry(chosen ? AuditAction::kTransferred : AuditAction::kPassed, owner, heir, cause));
  ledger.PutOwner(std::move(owner));
}

}  // namespace

void EndRow(const RowId& id, End end, const std::string& cause, Ledger& ledger) {
  const auto row = ledger.FindRow(id);
  if (!row) return;
  ledger.DropRow(id);
  auto owner = ledger.OwnerOf(id.key);
  if (!owner || owner->root != row->root || !Manages(*row) || owner->record != Record::kNone)
    return;
  const std::vector<Row> rest = ledger.RowsOfKey(id.key);
  if (RootManages(rest, owner->root)) return;  // ownership ends with the last row of its chain
  if (end == End::kUnproved && owner->real) {
    // The successor, or the party through another chain, declares it already.
    const auto again = owner->successor.empty() ? OldestOfParty(rest, *owner, ledger)
                                                : OldestSuccessor(rest, *owner);
    if (again) {
      PassTo(*again, cause, *std::move(owner), ledger);
      return;
    }
    owner->record = owner->successor.empty() ? Record::kOrphaned : Record::kTransferring;
    owner->record_reason = cause;
    ledger.Audit(Entry(AuditAction::kOrphaned, *owner, *row, cause));
    ledger.PutOwner(*std::move(owner));
    return;
  }
  ledger.Audit(Entry(AuditAction::kReleased, *owner, *row, cause));
  if (const auto heir = OldestOther(rest, owner->root)) {
    PassTo(*heir, cause, *std::move(owner), ledger);
    return;
  }
  ledger.DropOwner(id.key);
}

namespace {

// A resource as a version of an object declares it.
struct SeenDeclaration {
  const ObjectFacts& object;
  const DeclaredResource& resource;
  const Grantee& grantee;
  bool real;  // the resource is known to exist
};

// Gives the object the ownership of the resource at `key`, which it manages, where nobody else has
// it.
void Acquire(const KeyText& key, const SeenDeclaration& seen, Ledger& ledger) {
  const auto& [object, resource, grantee, real] = seen;
  auto owner = ledger.OwnerOf(key);
  if (!owner) {
    GrantNew(key, resource, grantee, ledger);
  } else if (owner->record != Record::kNone && owner->record != Record::kImported &&
             owner->party == grantee.party) {
    GrantInPlace(*std::move(owner), resource, grantee, ledger);
  } else if (owner->record == Record::kTransferring &&
             NamesSuccessor(owner->successor, grantee.object.root)) {
    GrantToSuccessor(*std::move(owner), resource, grantee, ledger);
  }
  owner = ledger.OwnerOf(key);
  if (owner->root == grantee.object.root) {
    owner->real = owner->real || real;
    if (!resource.arn.empty() && Describes(resource, *owner)) owner->arn = resource.arn;
    ledger.PutOwner(*std::move(owner));
  }
}

// The seen row at `key`; keeps the time of the first declaration.
void PutSeen(const KeyText& key, const SeenDeclaration& seen, Ledger& ledger) {
  const auto& [object, resource, grantee, real] = seen;
  Row row;
  row.id = {key, object.uid, RowState::kSeen};
  row.slot = object.slot;
  row.root = grantee.object.root;
  row.intent = resource.intent;
  row.terminating = object.terminating;
  row.managed = object.managed;
  row.identity = DeclaredIdentity(resource);
  row.created = object.created;
  row.at = ledger.now();
  const auto before = ledger.FindRow(row.id);
  const auto reserved = ledger.FindRow({key, object.uid, RowState::kReserved});
  if (before) {
    row.at = before->at;
  } else if (reserved) {
    row.at = reserved->at;
  }
  const auto owner = ledger.OwnerOf(key);
  const bool conflict = owner && Manages(row) && owner->root != row.root;
  if (conflict && !before && !reserved) AuditConflict(*owner, grantee, ledger);
  ledger.PutRow(std::move(row));
}

// Composites and claims that name an object which names them back become its ancestors.
void AdoptNamed(const ObjectFacts& object, const Object& placed, Ledger& ledger) {
  for (const std::string& name : placed.names) {
    const auto slot = SlotFromText(object.slot.cluster + "/" + name);
    auto child = slot ? ledger.ObjectBySlot(*slot) : std::nullopt;
    if (!child || child->parent == placed.slot) continue;
    const bool by_controller = child->link == "uid:" + placed.uid.text;
    const bool by_claim = child->link == "claim:" + placed.slot.group + "/" + placed.slot.kind +
                                             "/" + placed.slot.ns + "/" + placed.slot.name;
    const bool restored = child->link == "composed" && !child->parent;
    if (!by_controller && !by_claim && !restored) continue;
    child->parent = placed.slot;
    child->parent_uid = placed.uid;
    ledger.PutObject(*child);
    MoveChain(*child, placed.root, "adopted by " + ForPeople(placed.slot), ledger);
  }
}

// What an object declares, by the keys of the resources that it means.
using DeclaredAt = std::map<KeyText, const DeclaredResource*>;

DeclaredAt DeclaredBy(const ObjectFacts& object, const Ledger& ledger) {
  DeclaredAt declared;
  for (const DeclaredResource& resource : object.resources) {
    if (resource.key.empty()) continue;
    for (MeantResource& meant : ResourcesMeant(resource, ledger)) {
      declared.emplace(std::move(meant.key), &resource);
    }
  }
  return declared;
}

const DeclaredResource* At(const DeclaredAt& declared, const KeyText& key) {
  const auto at = declared.find(key);
  return at == declared.end() ? nullptr : at->second;
}

// The version is one in which the row is true.
bool SeesRow(const DeclaredAt& declared, const Row& row) {
  const DeclaredResource* resource = At(declared, row.id.key);
  return resource != nullptr && (!Manages(row) || resource->intent != Intent::kObserves);
}

bool Confirms(const ObjectFacts& object, const Row& reserved) {
  if (!reserved.base) return true;
  return object.version && *object.version > *reserved.base;
}

}  // namespace

void OutOfSight(const Uid& uid, Ledger& ledger) {
  for (const Row& row : ledger.RowsOfUid(uid)) {
    auto owner = ledger.OwnerOf(row.id.key);
    if (!owner || owner->real || owner->root != row.root || !Manages(row)) continue;
    owner->real = true;
    ledger.PutOwner(*std::move(owner));
  }
}

namespace {

// Records where the object stands by what is known now.
Object PutPlace(const ObjectFacts& object, Ledger& ledger) {
  const auto known = ledger.ObjectByUid(object.uid);
  Object placed = Place(object, Evidence::kFoundInPlace, known, ledger);
  if (known && known->root != placed.root) {
    MoveChain(*known, placed.root, "lineage changed", ledger);
  }
  ledger.PutObject(placed);
  if (!known) GatherChildren(placed, "its parent became known", ledger);
  return placed;
}

void SeeObserver(const SeenDeclaration& seen, Ledger& ledger) {
  std::vector<MeantResource> meant = ResourcesMeant(seen.resource, ledger);
  if (meant.empty()) meant.push_back({seen.resource.key, false});
  for (const MeantResource& each : meant) {
    const auto row = ledger.FindRow({each.key, seen.object.uid, RowState::kSeen});
    if (row && Manages(*row)) EndRow(row->id, End::kUnproved, "demoted to Observe", ledger);
    PutSeen(each.key, seen, ledger);
  }
}

void SeeManager(const SeenDeclaration& seen, Ledger& ledger) {
  const KeyText home = JoinNames(seen.resource, seen.grantee.object.root, ledger);
  Acquire(home, seen, ledger);
  PutSeen(home, seen, ledger);
  for (const MeantResource& meant : ResourcesMeant(seen.resource, ledger)) {
    if (meant.key == home) continue;
    Acquire(meant.key, seen, ledger);
    PutSeen(meant.key, seen, ledger);
  }
}

}  // namespace

void Meet(const ObjectFacts& object, Ledger& ledger) {
  AdoptNamed(object, PutPlace(object, ledger), ledger);
}

void See(const ObjectFacts& object, bool out_of_sight, Ledger& ledger) {
  if (out_of_sight) OutOfSight(object.uid, ledger);
  const Object placed = PutPlace(object, ledger);
  const PartyId party = ledger.PartyFor(placed.root);
  const Grantee grantee{placed, party, "seen without reservation", std::string(kWatch), {}};
  for (const DeclaredResource& resource : object.resources) {
    if (resource.key.empty() || resource.partial) continue;
    const SeenDeclaration seen{object, resource, grantee, object.real || out_of_sight};
    if (resource.intent == Intent::kObserves) {
      SeeObserver(seen, ledger);
    } else {
      SeeManager(seen, ledger);
    }
  }
  const DeclaredAt declared = DeclaredBy(object, ledger);
  for (const Row& row : ledger.RowsOfUid(object.uid)) {
    const bool has = SeesRow(declared, row);
    if (row.id.state == RowState::kSeen && !has) {
      EndRow(row.id, End::kUnproved, "no longer declared", ledger);
    } else if (row.id.state == RowState::kReserved && has && Confirms(object, row)) {
      EndRow(row.id, End::kUnproved, "confirmed", ledger);  // the seen row stands for it
    }
  }
  if (!object.transfer_to.empty() && placed.root == placed.slot) {
    NameSuccessor(object, placed.root, ledger);
  }
  AdoptNamed(object, placed, ledger);
}

std::vector<Row> RowsBelow(const Uid& uid, const Slot& slot, const Ledger& ledger) {
  std::vector<Row> rows;
  std::vector<std::pair<Uid, Slot>> open = {{uid, slot}};
  std::set<Uid> met = {uid};
  while (!open.empty()) {
    const auto [at, place] = std::move(open.back());
    open.pop_back();
    for (Row& row : ledger.RowsOfUid(at)) {
      if (Manages(row)) rows.push_back(std::move(row));
    }
    if (met.size() >= kBelowMax) continue;
    for (const Object& child : ledger.ChildrenOf(place)) {
      if (met.insert(child.uid).second) open.emplace_back(child.uid, child.slot);
    }
  }
  return rows;
}

void NameSuccessor(const ObjectFacts& object, const Slot& root, Ledger& ledger) {
  std::set<KeyText> keys;
  for (const Row& row : RowsBelow(object.uid, object.slot, ledger)) keys.insert(row.id.key);
  for (const auto& [key, resource] : DeclaredBy(object, ledger)) keys.insert(key);
  for (const KeyText& key : keys) {
    auto owner = ledger.OwnerOf(key);
    if (!owner || owner->root != root || owner->successor == object.transfer_to) continue;
    owner->successor = object.transfer_to;
    ledger.PutOwner(*std::move(owner));
  }
}

void SeeDeleted(const ObjectFacts& last, bool crd_terminating, Ledger& ledger) {
  const auto object = ledger.ObjectByUid(last.uid);
  const bool stripped = object && object->stripped;
  const bool witnessed = last.terminating && last.deleting && !stripped && !crd_terminating;
  const DeclaredAt all = DeclaredBy(last, ledger);
  std::vector<Row> rows = ledger.RowsOfUid(last.uid);
  for (const Row& row : rows) {
    auto owner = ledger.OwnerOf(row.id.key);
    const DeclaredResource* declared = At(all, row.id.key);
    if (owner && owner->root == row.root && last.real && declared != nullptr &&
        declared->intent != Intent::kObserves && !owner->real) {
      owner->real = true;
      ledger.PutOwner(*std::move(owner));
    }
  }
  // Reservations first: the end of what was seen decides whether the key becomes free.
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
    return a.id.state == RowState::kReserved && b.id.state == RowState::kSeen;
  });
  for (const Row& row : rows) {
    const DeclaredResource* declared = At(all, row.id.key);
    const auto owner = ledger.OwnerOf(row.id.key);
    const bool free = witnessed && declared != nullptr && declared->intent == Intent::kDeletes &&
                      !(owner && InAnotherAccount(*declared, *owner));
    EndRow(row.id, free ? End::kWitnessed : End::kUnproved,
           free ? "deleted, and its resource with it"
                : "deleted without proof that its resource is gone",
           ledger);
  }
  ledger.DropObject(last.uid);
}

namespace {

// A life that ended, or never began, leaves nothing behind but its rows.
void ForgetIfEmpty(const Uid& uid, Ledger& ledger) {
  if (ledger.RowsOfUid(uid).empty()) ledger.DropObject(uid);
}

}  // namespace

void Prove(const RowId& reserved, const Proof& proof, Ledger& ledger) {
  if (proof.answer == Proof::Answer::kUnknown) return;
  const auto row = ledger.FindRow(reserved);
  if (!row) return;
  const bool same_life =
      proof.answer == Proof::Answer::kLive && proof.object && proof.object->uid == reserved.uid;
  if (same_life && Confirms(*proof.object, *row)) See(*proof.object, false, ledger);
  EndRow(reserved, End::kUnproved,
         same_life ? "proved: confirmed or not declared" : "proved: never created", ledger);
  if (!same_life) ForgetIfEmpty(reserved.uid, ledger);
}

void Absent(const RowId& seen, Ledger& ledger) {
  if (!ledger.FindRow(seen)) return;
  OutOfSight(seen.uid, ledger);
  EndRow(seen, End::kUnproved, "absent from the cluster, end not witnessed", ledger);
  ForgetIfEmpty(seen.uid, ledger);
}

std::size_t ConfirmByOperator(const Slot& slot, const std::string& actor, Ledger& ledger) {
  const auto object = ledger.ObjectBySlot(slot);
  if (!object) return 0;
  std::size_t confirmed = 0;
  for (Row row : ledger.RowsOfUid(object->uid)) {
    if (row.id.state != RowState::kReserved) continue;
    ledger.DropRow(row.id);
    row.id.state = RowState::kSeen;
    row.review = {};
    row.digest.clear();
    row.base.reset();
    row.user.clear();
    auto owner = ledger.OwnerOf(row.id.key);
    if (owner && owner->root == row.root && Manages(row)) {
      owner->real =
          true;  // nobody will watch it: a name once confirmed is released by command only
      ledger.Audit({.action = AuditAction::kAdministered,
                    .key = row.id.key,
                    .id = owner->id,
                    .root = owner->root,
                    .slot = slot,
                    .uid = row.id.uid,
                    .cause = "confirmed by operator",
                    .actor = actor});
      ledger.PutOwner(*std::move(owner));
    }
    ledger.PutRow(std::move(row));
    ++confirmed;
  }
  return confirmed;
}

bool ReleaseByOperator(const KeyText& key, const std::string& actor, const std::string& reason,
                       Ledger& ledger) {
  auto owner = ledger.OwnerOf(key);
  if (!owner) return false;
  ledger.Audit({.action = AuditAction::kReleased,
                .key = key,
                .id = owner->id,
                .root = owner->root,
                .cause = "released by operator: " + reason,
                .actor = actor});
  const std::vector<Row> rows = ledger.RowsOfKey(key);
  for (const Row& row : rows) {
    if (row.root == owner->root) ledger.DropRow(row.id);
  }
  if (const auto heir = OldestOther(rows, owner->root)) {
    PassTo(*heir, "released by operator: " + reason, *std::move(owner), ledger);
  } else {
    ledger.DropOwner(key);
  }
  return true;
}

bool Import(Owner imported, const std::string& actor, Ledger& ledger) {
  const auto at = ResourceOf(imported.key, ledger);
  if (at && (*at != imported.key || ledger.OwnerOf(*at))) return false;
  imported.record = Record::kImported;
  imported.real = true;
  imported.since = ledger.now();
  imported.shape = ShapeOf(imported.key);
  if (imported.id.empty()) imported.id = ledger.NewId();
  ledger.Audit({.action = AuditAction::kAdministered,
                .key = imported.key,
                .id = imported.id,
                .root = imported.root,
                .cause = "imported: " + imported.record_reason,
                .actor = actor});
  ledger.PutOwner(std::move(imported));
  return true;
}

}  // namespace truce
