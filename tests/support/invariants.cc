#include "tests/support/invariants.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "registry/ownership/rows.h"
#include "tests/support/store_contents.h"

namespace truce {
namespace {

using Breaches = std::vector<std::string>;

struct Index {
  std::map<KeyText, const Owner*> owners;
  std::map<KeyText, std::vector<const Row*>> rows;
  std::map<Uid, const Object*> objects;
};

bool ManagesFor(const Row* row, const Slot& root) { return Manages(*row) && row->root == root; }

void CheckOwners(const StoreContents& contents, const Index& index, Breaches& breaches) {
  std::set<PublicId> ids;
  for (const Owner& owner : contents.owners) {
    if (!ids.insert(owner.id).second)
      breaches.push_back("I1: public id used twice: " + owner.id.text);
    const auto found = index.rows.find(owner.key);
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
      breaches.push_back("owner of " + owner.key.text +
                         (managed ? " has rows and a record" : " has neither rows nor a record"));
    }
    if (managed && reserved_only != (owner.state == HolderState::kReserved)) {
      breaches.push_back("derived state of " + owner.key.text + " disagrees with its rows");
    }
  }
  if (index.owners.size() != contents.owners.size()) breaches.push_back("I1: a key has two owners");
}

void CheckRows(const StoreContents& contents, const Index& index, Breaches& breaches) {
  std::set<RowId> ids;
  for (const Row& row : contents.rows) {
    const std::string what = row.id.key.text + " of " + row.id.uid.text;
    if (!ids.insert(row.id).second) breaches.push_back("two rows with one id: " + what);
    if (Manages(row) && !index.owners.contains(row.id.key)) {
      breaches.push_back("managed key without owner: " + what);
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
  std::set<std::pair<PublicId, Slot>> granted;
  for (const AuditEntry& entry : contents.audit) {
    if (entry.cause.empty())
      breaches.push_back("I12: audit entry without cause: " + entry.key.text);
    if (Grants(entry.action)) granted.emplace(entry.id, entry.root);
  }
  for (const Owner& owner : contents.owners) {
    if (!granted.contains({owner.id, owner.root})) {
      breaches.push_back("I12: ownership without audited grant: " + owner.key.text);
    }
  }
}

void CheckAgreements(const StoreContents& contents, const Index& index, Breaches& breaches) {
  std::set<std::pair<AgreementKind, KeyText>> single;
  for (const Agreement& agreement : contents.agreements) {
    const auto owner = index.owners.find(agreement.key);
    if (owner == index.owners.end()) {
      breaches.push_back("agreement without owner: " + agreement.key.text);
      continue;
    }
    const bool is_share = agreement.kind == AgreementKind::kShare;
    if (!is_share && !single.emplace(agreement.kind, agreement.key).second) {
      breaches.push_back("two of " + std::string(Name(agreement.kind)) + ": " + agreement.key.text);
    }
    const bool is_transfer = agreement.kind == AgreementKind::kTransfer;
    if (is_transfer && agreement.accepted && agreement.successor != owner->second->successor) {
      breaches.push_back("accepted transfer is not the owner's word: " + agreement.key.text);
    }
  }
}

// A key or name whose account is known: 12 digits in the third field.
bool IsLocated(std::string_view text) {
  constexpr std::size_t kAccountDigits = 12;
  for (int fields = 0; fields < 2; ++fields) {
    const std::size_t end = text.find('|');
    if (end == std::string_view::npos) return false;
    text.remove_prefix(end + 1);
  }
  const std::string_view account = text.substr(0, text.find('|'));
  return account.size() == kAccountDigits &&
         account.find_first_not_of("0123456789") == std::string_view::npos;
}

void CheckNames(const StoreContents& contents, const Index& index, Breaches& breaches) {
  const auto exists = [&](const KeyText& key) {
    return index.owners.contains(key) || index.rows.contains(key);
  };
  std::set<KeyText> names;
  std::set<KeyText> located;
  for (const ResourceName& name : contents.names) {
    if (!names.insert(name.name).second) breaches.push_back("I13: name twice: " + name.name.text);
    if (exists(name.name)) breaches.push_back("I13: a name is a key too: " + name.name.text);
    if (!exists(name.key)) breaches.push_back("I13: name without resource: " + name.name.text);
    if (name.sort != NameSort::kLocated) continue;
    if (IsLocated(name.key.text) || !located.insert(name.key).second) {
      breaches.push_back("I17: two located names: " + name.key.text);
    }
  }
}

}  // namespace

std::vector<std::string> CheckInvariants(const StoreContents& contents) {
  Index index;
  for (const Owner& owner : contents.owners) index.owners.emplace(owner.key, &owner);
  for (const Row& row : contents.rows) index.rows[row.id.key].push_back(&row);
  for (const Object& object : contents.objects) index.objects.emplace(object.uid, &object);
  Breaches breaches;
  CheckOwners(contents, index, breaches);
  CheckRows(contents, index, breaches);
  CheckAudit(contents, breaches);
  CheckAgreements(contents, index, breaches);
  CheckNames(contents, index, breaches);
  std::sort(breaches.begin(), breaches.end());
  return breaches;
}

}  // namespace truce
