#include "tests/support/invariants.h"

#include <algorithm>
#include <map>
#include <set>

#include "registry/ownership/names.h"
#include "registry/ownership/rows.h"
#include "tests/support/store_contents.h"

namespace truce {
namespace {

using Breaches = std::vector<std::string>;

struct Index {
  std::map<ResourceId, const Owner*> owners;
  std::map<ResourceId, std::vector<const Row*>> rows;
  std::map<ResourceId, std::vector<ResourceName>> names;
  std::map<Uid, const Object*> objects;

  bool IsThere(const ResourceId& id) const { return owners.contains(id) || rows.contains(id); }
  // The name that people are shown; empty: there is none.
  KeyText Best(const ResourceId& id) const {
    const auto found = names.find(id);
    return found == names.end() ? KeyText() : BestOf(found->second);
  }
};

bool ManagesFor(const Row* row, const Slot& root) { return Manages(*row) && row->root == root; }

void CheckOwners(const StoreContents& contents, const Index& index, Breaches& breaches) {
  for (const Owner& owner : contents.owners) {
    const std::string what = owner.id.text + " (" + owner.key.text + ")";
    const auto found = index.rows.find(owner.id);
    bool managed = false;
    bool reserved_only = true;
    if (found != index.rows.end()) {
      for (const Row* row : found->second) {
        if (!ManagesFor(row, owner.root)) continue;
        managed = true;
        reserved_only = reserved_only && row->id.state == RowState::kReserved;
      }
    }
    const bool record = owner.record != Record::kNone;
    if (managed == record) {
      breaches.push_back("owner of " + what +
                         (managed ? " has rows and a record" : " has neither rows nor a record"));
    }
    if (managed && reserved_only != (owner.state == HolderState::kReserved)) {
      breaches.push_back("derived state of " + what + " disagrees with its rows");
    }
    if (owner.key != index.Best(owner.id)) {
      breaches.push_back("shown by another name than its best one: " + what);
    }
    if (owner.shape != ShapeOf(owner.key)) breaches.push_back("derived shape of " + what);
  }
  if (index.owners.size() != contents.owners.size()) {
    breaches.push_back("I1: a resource has two owners");
  }
}

void CheckObserved(const StoreContents& contents, const Index& index, Breaches& breaches) {
  std::set<ResourceId> observed;
  for (const ObservedResource& each : contents.observed) {
    const std::string what = each.id.text + " (" + each.key.text + ")";
    if (!observed.insert(each.id).second) breaches.push_back("observed twice: " + what);
    if (index.owners.contains(each.id)) breaches.push_back("owned and only observed: " + what);
    if (!index.rows.contains(each.id)) breaches.push_back("observed by nobody: " + what);
    if (each.key != index.Best(each.id)) {
      breaches.push_back("shown by another name than its best one: " + what);
    }
  }
  for (const auto& [id, rows] : index.rows) {
    if (!index.owners.contains(id) && !observed.contains(id)) {
      breaches.push_back("rows of neither an owner's nor an observed resource: " + id.text);
    }
  }
}

void CheckRows(const StoreContents& contents, const Index& index, Breaches& breaches) {
  std::set<RowId> ids;
  for (const Row& row : contents.rows) {
    const std::string what = row.id.resource.text + " of " + row.id.uid.text;
    if (!ids.insert(row.id).second) breaches.push_back("two rows with one id: " + what);
    if (Manages(row) && !index.owners.contains(row.id.resource)) {
      breaches.push_back("I14: managed resource without owner: " + what);
    }
    const auto object = index.objects.find(row.id.uid);
    if (object == index.objects.end()) {
      breaches.push_back("I7: row without object: " + what);
    } else {
      if (object->second->root != row.root)
        breaches.push_back("row and object differ in root: " + what);
      if (object->second->slot != row.slot)
        breaches.push_back("row and object differ in slot: " + what);
    }
  }
}

bool Grants(AuditAction action) {
  return action != AuditAction::kConflict && action != AuditAction::kReleased &&
         action != AuditAction::kOrphaned;
}

void CheckAudit(const StoreContents& contents, Breaches& breaches) {
  std::set<std::pair<ResourceId, Slot>> granted;
  for (const AuditEntry& entry : contents.audit) {
    if (entry.cause.empty())
      breaches.push_back("I12: audit entry without cause: " + entry.key.text);
    if (Grants(entry.action)) granted.emplace(entry.id, entry.root);
  }
  for (const Owner& owner : contents.owners) {
    if (owner.until && (owner.record != Record::kImported || owner.real)) {
      breaches.push_back("reserved for a time, but no list's, or real: " + owner.key.text);
    }
    if (!granted.contains({owner.id, owner.root})) {
      breaches.push_back("I12: ownership without audited grant: " + owner.key.text);
    }
  }
}

void CheckAgreements(const StoreContents& contents, const Index& index, Breaches& breaches) {
  std::set<std::pair<AgreementKind, ResourceId>> single;
  for (const Agreement& agreement : contents.agreements) {
    const std::string& what = agreement.resource.text;
    const auto owner = index.owners.find(agreement.resource);
    if (owner == index.owners.end()) {
      breaches.push_back("agreement without owner: " + what);
      continue;
    }
    const bool is_share = agreement.kind == AgreementKind::kShare;
    if (!is_share && !single.emplace(agreement.kind, agreement.resource).second) {
      breaches.push_back("two of " + std::string(Name(agreement.kind)) + ": " + what);
    }
    const bool is_transfer = agreement.kind == AgreementKind::kTransfer;
    if (is_transfer && agreement.accepted && agreement.successor != owner->second->successor) {
      breaches.push_back("accepted transfer is not the owner's word: " + what);
    }
  }
}

void CheckNames(const StoreContents& contents, const Index& index, Breaches& breaches) {
  std::set<NameId> ids;
  std::map<ResourceId, KeyText> located;
  for (const ResourceName& name : contents.names) {
    if (!ids.insert(IdOf(name)).second) breaches.push_back("I13: name twice: " + name.name.text);
    if (!index.IsThere(name.resource)) {
      breaches.push_back("I13: name without resource: " + name.name.text);
    }
    if (name.sort != NameSort::kLocated) continue;
    // The same text in two spellings is one name: a catalogue's pass is under way.
    if (located.emplace(name.resource, name.name).first->second != name.name) {
      breaches.push_back("I17: two located names: " + name.resource.text);
    }
  }
  std::set<ResourceId> there;
  for (const auto& [id, owner] : index.owners) there.insert(id);
  for (const auto& [id, rows] : index.rows) there.insert(id);
  for (const ResourceId& id : there) {
    if (index.Best(id).empty()) breaches.push_back("I14: resource without a name: " + id.text);
  }
}

}  // namespace

std::vector<std::string> CheckInvariants(const StoreContents& contents) {
  Index index;
  for (const Owner& owner : contents.owners) index.owners.emplace(owner.id, &owner);
  for (const Row& row : contents.rows) index.rows[row.id.resource].push_back(&row);
  for (const ResourceName& name : contents.names) index.names[name.resource].push_back(name);
  for (const Object& object : contents.objects) index.objects.emplace(object.uid, &object);
  Breaches breaches;
  CheckOwners(contents, index, breaches);
  CheckObserved(contents, index, breaches);
  CheckRows(contents, index, breaches);
  CheckAudit(contents, breaches);
  CheckAgreements(contents, index, breaches);
  CheckNames(contents, index, breaches);
  std::sort(breaches.begin(), breaches.end());
  return breaches;
}

}  // namespace truce
