#include "registry/ownership/lists/key_copy.h"

#include <algorithm>
#include <set>
#include <utility>

#include "registry/base/name_table.h"
#include "registry/ownership/grant.h"
#include "registry/ownership/invariants.h"
#include "registry/ownership/ledger.h"

namespace truce {
namespace {

using Objects = std::map<Uid, Object>;

// Chains are far shorter; a loop of links ends here.
constexpr int kChainMax = 32;

void AddChain(const Uid& uid, const Facts& facts, Objects& objects) {
  std::optional<Object> object = facts.ObjectByUid(uid);
  for (int steps = 0; object && steps < kChainMax; ++steps) {
    const std::optional<Slot> parent = object->parent;
    const Uid parent_uid = object->parent_uid;
    Uid own = object->uid;
    if (!objects.emplace(std::move(own), *std::move(object)).second || !parent) return;
    object = parent_uid.empty() ? facts.ObjectBySlot(*parent) : facts.ObjectByUid(parent_uid);
  }
}

// Each object once, in its youngest version.
Objects ObjectsOf(const std::vector<KeyCopy>& copies) {
  Objects objects;
  for (const KeyCopy& copy : copies) {
    for (const Object& object : copy.objects) {
      const auto [known, is_new] = objects.emplace(object.uid, object);
      if (!is_new && known->second.at < object.at) known->second = object;
    }
  }
  return objects;
}

// As the store holds it, as far as the invariants look.
void AddTo(StoreContents& contents, const KeyCopy& copy) {
  contents.rows.insert(contents.rows.end(), copy.rows.begin(), copy.rows.end());
  contents.agreements.insert(contents.agreements.end(), copy.agreements.begin(),
                             copy.agreements.end());
  contents.names.insert(contents.names.end(), copy.names.begin(), copy.names.end());
  if (!copy.owner) return;
  Owner owner = *copy.owner;
  const bool is_seen = std::any_of(copy.rows.begin(), copy.rows.end(), [&](const Row& row) {
    return Manages(row) && row.root == owner.root && row.id.state == RowState::kSeen;
  });
  owner.state = is_seen ? HolderState::kHeld : HolderState::kReserved;
  // An owner without a line would be a breach of I12, which the import itself mends.
  contents.audit.push_back({.action = AuditAction::kAdministered,
                            .key = owner.key,
                            .id = owner.id,
                            .root = owner.root,
                            .cause = "taken"});
  contents.owners.push_back(std::move(owner));
}

// The id of an owner or agreement that the registry gave to something else.
bool IdIsTaken(const KeyCopy& copy, const KeysOfId& ids, const Facts& facts) {
  for (const Agreement& agreement : copy.agreements) {
    if (facts.AgreementById(agreement.id)) return true;
  }
  if (!copy.owner) return false;
  const auto found = ids.find(copy.owner->id);
  if (found == ids.end()) return false;
  return std::any_of(found->second.begin(), found->second.end(), [&](const KeyText& key) {
    const auto owner = facts.OwnerOf(key);
    return owner && owner->id == copy.owner->id;
  });
}

bool ObjectIsOther(const KeyCopy& copy, const Facts& facts) {
  return std::any_of(copy.objects.begin(), copy.objects.end(), [&](const Object& object) {
    const auto known = facts.ObjectByUid(object.uid);
    return known && (known->slot != object.slot || known->root != object.root);
  });
}

// The first of the copy's names that is one of another resource here.
std::optional<KeyText> TakenName(const KeyCopy& copy, const Facts& facts) {
  if (facts.FurtherName(copy.key)) return copy.key;
  for (const ResourceName& name : copy.names) {
    const auto known = facts.FurtherName(name.name);
    const bool further = known && known->key != copy.key;
    if (further || facts.HasOwner(name.name) || !facts.RowsOfKey(name.name).empty()) {
      return name.name;
    }
  }
  return std::nullopt;
}

CopyPlan::Line LineOf(const KeyCopy& copy, const KeysOfId& ids, const Facts& facts) {
  CopyPlan::Line line;
  line.holder = facts.OwnerOf(copy.key);
  const KeyCopy present = CopyOf(copy.key, facts);
  const bool is_same = present.owner == copy.owner && present.rows == copy.rows &&
                       present.agreements == copy.agreements && present.names == copy.names;
  // Asked again after a time-out, an import must not call its own work a conflict.
  if (is_same && (present.owner || !present.rows.empty())) {
    line.action = CopyAction::kOwned;
    return line;
  }
  line.action = CopyAction::kConflicting;
  if (present.owner && copy.owner && present.owner->id == copy.owner->id) {
    line.why = "the registry holds it in another state";
  } else if (present.owner) {
    line.why = "owned by " + ForPeople(present.owner->root);
  } else if (!present.rows.empty()) {
    line.why = "declared by " + ForPeople(present.rows.front().slot);
  } else if (const auto name = TakenName(copy, facts)) {
    line.why = "another resource has its name " + name->text;
  } else if (IdIsTaken(copy, ids, facts)) {
    line.why = "its id stands for something else";
  } else if (ObjectIsOther(copy, facts)) {
    line.why = "an object of it is known with another root";
  } else {
    line.action = CopyAction::kNew;
  }
  return line;
}

}  // namespace

std::string_view Name(CopyAction action) {
  static constexpr NameTable<CopyAction::kConflicting> kWords("new", "owned", "conflicting");
  return kWords.Of(action);
}

KeyCopy CopyOf(const KeyText& key, const Facts& facts) {
  KeyCopy copy;
  copy.key = key;
  copy.owner = facts.OwnerOf(key);
  copy.rows = facts.RowsOfKey(key);
  copy.agreements = facts.AgreementsOf(key);
  copy.names = facts.FurtherNamesOf(key);
  Objects objects;
  for (const Row& row : copy.rows) AddChain(row.id.uid, facts, objects);
  for (auto& [uid, object] : objects) copy.objects.push_back(std::move(object));
  if (!copy.owner) return copy;
  // What the other registry derives itself is not carried: its rules may differ.
  const Owner nothing;
  copy.owner->party = nothing.party;
  copy.owner->shape = nothing.shape;
  copy.owner->state = nothing.state;
  copy.owner->leaf = nothing.leaf;
  copy.owner->contested = nothing.contested;
  return copy;
}

std::optional<std::string> FaultOf(const std::vector<KeyCopy>& copies) {
  StoreContents contents;
  std::set<KeyText> keys;
  std::set<PublicId> agreements;
  for (const KeyCopy& copy : copies) {
    if (!keys.insert(copy.key).second) return "a key is listed twice: " + copy.key.text;
    if (!copy.owner && copy.rows.empty()) return "nothing is said of " + copy.key.text;
    for (const Agreement& each : copy.agreements) {
      if (!agreements.insert(each.id).second) return "an id is listed twice: " + each.id.text;
    }
    AddTo(contents, copy);
  }
  for (auto& [uid, object] : ObjectsOf(copies)) contents.objects.push_back(object);
  std::vector<std::string> breaches = CheckInvariants(contents);
  if (breaches.empty()) return std::nullopt;
  return std::move(breaches.front());
}

CopyPlan PlanCopies(const std::vector<KeyCopy>& copies, const KeysOfId& ids, const Facts& facts) {
  CopyPlan plan;
  plan.lines.reserve(copies.size());
  for (const KeyCopy& copy : copies) plan.lines.push_back(LineOf(copy, ids, facts));
  return plan;
}

Changes TakeCopies(const std::vector<KeyCopy>& copies, const CopyPlan& plan,
                   const std::string& actor, Ledger& ledger) {
  TRUCE_ASSERT(plan.lines.size() == copies.size());
  const Objects youngest = ObjectsOf(copies);
  Objects objects;
  for (std::size_t i = 0; i < copies.size(); ++i) {
    if (plan.lines[i].action != CopyAction::kNew) continue;
    const KeyCopy& copy = copies[i];
    for (const Row& row : copy.rows) ledger.PutRow(row);
    for (const Agreement& agreement : copy.agreements) ledger.PutAgreement(agreement);
    for (const ResourceName& name : copy.names) ledger.PutName(name);
    for (const Object& object : copy.objects) {
      if (!ledger.ObjectByUid(object.uid)) objects.insert(*youngest.find(object.uid));
    }
    AuditEntry entry{.action = AuditAction::kAdministered, .key = copy.key, .actor = actor};
    entry.cause = "taken from an export of a registry";
    if (copy.owner) {
      Owner owner = *copy.owner;
      owner.party = PartyOf(owner.root);
      owner.shape = ShapeOf(owner.key);
      entry.id = owner.id;
      entry.root = owner.root;
      ledger.PutOwner(std::move(owner));
    }
    ledger.Audit(std::move(entry));
  }
  Changes changes = ledger.Take();
  // Beside the ledger, which would make the change of these objects one of now.
  for (auto& [uid, object] : objects) changes.put_objects.push_back(std::move(object));
  return changes;
}

}  // namespace truce
