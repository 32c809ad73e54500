// What one decision can break is checked where it hands its changes out: the invariants by number
// (registry/ownership/DESIGN.md).
#include <algorithm>
#include <string>
#include <utility>

#include "registry/ownership/ledger.h"
#include "registry/ownership/names.h"

namespace truce {

void Ledger::Breach(std::string_view invariant, const std::string& what) {
  if (!breach_.empty()) return;
  breach_ = "invariant ";
  breach_.append(invariant).append(" would be broken: ").append(what);
}

bool Ledger::IsAudited(const PublicId& id, std::initializer_list<AuditAction> actions) const {
  return std::any_of(audit_.begin(), audit_.end(), [&](const AuditEntry& entry) {
    return entry.id == id && !entry.cause.empty() &&
           std::find(actions.begin(), actions.end(), entry.action) != actions.end();
  });
}

// `rows`: all of the key.
void Ledger::CheckKey(const KeyText& key, const std::vector<const Row*>& rows, const Owner* owner) {
  bool managed = false;
  for (const Row* row : rows) {
    if (!Manages(*row)) continue;
    if (owner == nullptr) return Breach("I14", "a managed key without owner: " + key.text);
    managed = managed || row->root == owner->root;
  }
  if (owner == nullptr) return;
  if (owner->key != key || owner->id.empty())
    return Breach("I1", "an owner elsewhere: " + key.text);
  if (managed != (owner->record == Record::kNone)) {
    Breach("I1", (managed ? "an owner with rows and a record: " : "an owner without either: ") +
                     key.text);
  }
}

void Ledger::CheckRows() {
  for (const auto& entry : rows_) {
    const RowId& id = entry.first;
    const std::optional<Row>& row = entry.second;
    if (row) {
      const auto object = objects_.find(id.uid);
      if (object == objects_.end()) continue;
      const bool fits =
          object->second && object->second->root == row->root && object->second->slot == row->slot;
      if (!fits) Breach("I7", "a row of another object: " + id.key.text);
    } else if (!ending_.contains(id.uid)) {
      // Nobody spoke of that life: its row may only have moved.
      const bool moved = std::any_of(rows_.begin(), rows_.end(), [&](const auto& other) {
        return other.second && other.first.uid == id.uid;
      });
      if (!moved && FindStored(id)) Breach("I7", "a row ended by another life: " + id.key.text);
    }
  }
}

void Ledger::CheckOwner(const KeyText& key, const std::optional<Owner>& owner) {
  using enum AuditAction;
  const auto stored = facts_.OwnerOf(key);
  if (owner && stored && owner->id == stored->id) {
    if (owner->root != stored->root &&
        !IsAudited(owner->id, {kGranted, kTransferred, kMoved, kPassed, kAdministered})) {
      Breach("I12", "another root without a cause: " + key.text);
    }
    if (owner->party != stored->party &&
        !IsAudited(owner->id, {kTransferred, kMoved, kPassed, kAdministered})) {
      Breach("I15", "another party without a transfer: " + key.text);
    }
    return;
  }
  if (owner && !IsAudited(owner->id, {kGranted, kTransferred, kMoved, kPassed, kAdministered})) {
    Breach("I12", "a grant without a cause: " + key.text);
  }
  if (!stored || rekeys_) return;
  const bool moved = std::any_of(owners_.begin(), owners_.end(), [&](const auto& other) {
    return other.second && other.second->id == stored->id;
  });
  if (moved) return;
  if (!IsAudited(stored->id, {kReleased, kMoved, kAdministered}) &&
      !freeing_.contains(stored->id)) {
    Breach("I12", "a release without a cause: " + key.text);
  }
  if (stored->real && !freeing_.contains(stored->id))
    Breach("I16", "freed without a witness: " + key.text);
}

void Ledger::CheckNames() {
  const auto stands = [&](const KeyText& key) { return HasOwner(key) || !RowsOfKey(key).empty(); };
  for (const auto& [text, name] : names_) {
    if (!name) {
      const auto stored = facts_.FurtherName(text);
      const bool is_name = stored && stored->sort != NameSort::kFormerId;
      if (is_name && !rekeys_ && stands(stored->key) && !stands(text)) {
        Breach("I14", "a name lost while its resource lives: " + text.text);
      }
      continue;
    }
    if (stands(text)) Breach("I13", "a name of two resources: " + text.text);
    if (!stands(name->key)) Breach("I13", "a name of nothing: " + text.text);
    if (name->sort != NameSort::kLocated) continue;
    const std::vector<ResourceName> all = FurtherNamesOf(name->key);
    const auto located = std::count_if(all.begin(), all.end(), [](const ResourceName& each) {
      return each.sort == NameSort::kLocated;
    });
    if (located > 1 || SortOf(name->key) == NameSort::kLocated) {
      Breach("I17", "two located names: " + name->key.text);
    }
  }
}

}  // namespace truce
