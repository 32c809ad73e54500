#include "registry/ownership/rekey.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "registry/ownership/grant.h"
#include "registry/ownership/ledger.h"
#include "registry/ownership/names.h"
#include "registry/ownership/rows.h"
#include "registry/ownership/sight.h"

namespace truce {
namespace {

// The account is that of the old key: an identity may know another one (DeclaredIdentity).
KeyText KeyAfter(const NewKey& new_key, ResourceIdentity identity, const KeyText& old) {
  if (SortOf(old) == NameSort::kAssigned) return old;  // no field spells it
  if (std::string account = AccountIn(old); !account.empty()) identity.account = std::move(account);
  const auto key = new_key(identity);
  return key ? *key : old;
}

// The part of the registry that the new keys touch: all rows and owners of changed keys and of
// their targets.
struct Affected {
  std::set<KeyText> keys;
  std::vector<Row> rows;  // in the order of their keys
  std::vector<Owner> owners;
};

Affected Load(std::set<KeyText> keys, const Ledger& ledger) {
  Affected affected{std::move(keys), {}, {}};
  for (const KeyText& key : affected.keys) {
    for (Row& row : ledger.RowsOfKey(key)) affected.rows.push_back(std::move(row));
    if (auto owner = ledger.OwnerOf(key)) affected.owners.push_back(*std::move(owner));
  }
  return affected;
}

// The keys that the resource at `key` gets, beside the one it has.
std::set<KeyText> TargetsOf(const KeyText& key, const std::vector<Row>& rows,
                            const std::optional<Owner>& owner, const NewKey& new_key) {
  std::set<KeyText> targets;
  const auto visit = [&](const ResourceIdentity& identity) {
    KeyText target = KeyAfter(new_key, identity, key);
    if (target != key) targets.insert(std::move(target));
  };
  for (const Row& row : rows) visit(row.identity);
  if (owner && owner->record != Record::kNone) visit(owner->identity);
  return targets;
}

Affected Collect(std::span<const KeyText> keys, const NewKey& new_key, const Ledger& ledger) {
  std::set<KeyText> affected;
  for (const KeyText& key : keys) {
    std::set<KeyText> targets = TargetsOf(key, ledger.RowsOfKey(key), ledger.OwnerOf(key), new_key);
    if (targets.empty()) continue;
    affected.insert(key);
    affected.merge(targets);
  }
  return Load(std::move(affected), ledger);
}

// Puts `row` under its new key; of two rows that become one the stronger intent and the older time
// stay.
void MergeRow(Row row, std::map<RowId, Row>& rows) {
  const auto [at, added] = rows.try_emplace(row.id, row);
  if (added) return;
  Row& kept = at->second;
  kept.intent = std::max(kept.intent, row.intent);
  kept.at = std::min(kept.at, row.at);
  kept.terminating = kept.terminating && row.terminating;
}

// Orders rows by their key, and against one.
struct ByKey {
  bool operator()(const Row& row, const KeyText& key) const { return row.id.key < key; }
  bool operator()(const KeyText& key, const Row& row) const { return key < row.id.key; }
};

// The new keys that `owner` can claim: where its root manages, or where its record stands. `rows`
// are in the order of their keys.
std::vector<KeyText> Targets(const Owner& owner, const std::vector<Row>& rows,
                             const NewKey& new_key) {
  const KeyText own = KeyAfter(new_key, owner.identity, owner.key);
  std::set<KeyText> targets;
  if (owner.record != Record::kNone) targets.insert(own);
  const auto [first, last] = std::equal_range(rows.begin(), rows.end(), owner.key, ByKey());
  for (auto row = first; row != last; ++row) {
    if (!Manages(*row) || row->root != owner.root) continue;
    targets.insert(KeyAfter(new_key, row->identity, row->id.key));
  }
  std::vector<KeyText> ordered(targets.begin(), targets.end());
  // The part that the ownership itself described keeps the public id.
  std::stable_partition(ordered.begin(), ordered.end(),
                        [&](const KeyText& key) { return key == own; });
  return ordered;
}

void AuditMove(const Owner& owner, const std::string& cause, Ledger& ledger) {
  ledger.Audit({.action = AuditAction::kMoved,
                .key = owner.key,
                .id = owner.id,
                .root = owner.root,
                .cause = cause,
                .actor = "catalogue"});
}

// A key that only conflicting rows brought along: the oldest of them owns it.
Owner OldestOwns(const KeyText& key, const std::vector<const Row*>& rows, Ledger& ledger) {
  const Row* oldest = *std::min_element(rows.begin(), rows.end(), [](const Row* a, const Row* b) {
    return std::tuple(a->at, a->id.uid) < std::tuple(b->at, b->id.uid);
  });
  Owner owner;
  owner.key = key;
  owner.id = ledger.NewId();
  owner.root = oldest->root;
  owner.party = PartyOf(oldest->root);
  owner.identity = oldest->identity;
  owner.name = oldest->identity.parts.empty() ? "" : oldest->identity.parts.back().second;
  owner.shape = ShapeOf(key);
  owner.since = oldest->at;
  owner.real = oldest->id.state == RowState::kSeen;
  if (const auto top = ledger.ObjectBySlot(owner.root)) {
    owner.service = top->service;
    owner.contact = top->contact;
  }
  return owner;
}

}  // namespace

NewKey KeysOf(const Catalogue& catalogue) {
  return [&catalogue](const ResourceIdentity& identity) -> std::optional<KeyText> {
    const TypeSpec* spec = catalogue.FindType(identity.type);
    return spec == nullptr ? std::nullopt : KeyAnew(identity, *spec);
  };
}

namespace {

// How `name` is spelt where its resource is kept under `key`.
KeyText SpeltFor(const KeyText& key, const ResourceName& name) {
  const bool by_fields = name.sort == NameSort::kDeclared || name.sort == NameSort::kLocated;
  return by_fields ? WithAccount(key, AccountIn(name.name)) : name.name;
}

// The further names of what stood at `old`, as they are spelt under `key`, where the public id
// goes.
std::vector<ResourceName> TakeNames(const KeyText& old, const KeyText& key, Ledger& ledger) {
  std::vector<ResourceName> names = ledger.FurtherNamesOf(old);
  for (ResourceName& name : names) {
    ledger.DropName(name.name);
    name.name = SpeltFor(key, name);
    name.key = key;
  }
  return names;
}

// What was a further name of another resource becomes a key, and is that one's no longer.
void FreeForKey(const KeyText& key, Ledger& ledger) {
  if (ledger.FurtherName(key)) ledger.DropName(key);
}

// Moves everything of `affected` to its new keys.
std::size_t Move(const Affected& affected, const NewKey& new_key, const std::string& cause,
                 Ledger& ledger) {
  std::map<RowId, Row> rows;
  for (Row row : affected.rows) {
    ledger.DropRow(row.id);
    row.id.key = KeyAfter(new_key, row.identity, row.id.key);
    MergeRow(std::move(row), rows);
  }
  std::map<KeyText, Owner> owners;
  std::vector<std::pair<PublicId, KeyText>> former;
  std::set<PublicId> fresh;  // ids that nobody was told
  std::vector<ResourceName> names;
  for (const Owner& owner : affected.owners) {
    ledger.DropOwner(owner.key);
    bool first = true;
    const std::vector<KeyText> targets = Targets(owner, affected.rows, new_key);
    if (!targets.empty() && targets.front() != owner.key) {
      std::vector<ResourceName> taken = TakeNames(owner.key, targets.front(), ledger);
      std::move(taken.begin(), taken.end(), std::back_inserter(names));
    }
    for (const KeyText& target : targets) {
      Owner moved = owner;
      moved.key = target;
      moved.shape = ShapeOf(target);
      // A public id names one resource: the others that this one splits into get ids of their own.
      if (!first) fresh.insert(moved.id = ledger.NewId());
      first = false;
      const auto [at, added] = owners.try_emplace(target, moved);
      const auto rank = [](const Owner& o) { return std::tuple(o.since, o.id); };
      if (added) continue;
      if (rank(moved) < rank(at->second)) std::swap(moved, at->second);
      if (!fresh.contains(moved.id)) former.emplace_back(std::move(moved.id), target);
    }
  }
  std::map<KeyText, std::vector<const Row*>> managers;
  for (const auto& [id, row] : rows) {
    if (Manages(row)) managers[id.key].push_back(&row);
  }
  for (const auto& [key, managing] : managers) {
    if (!owners.contains(key)) owners.emplace(key, OldestOwns(key, managing, ledger));
  }
  for (auto& [key, owner] : owners) {
    const Slot& root = owner.root;
    const auto found = managers.find(key);
    const bool managed = found != managers.end() &&
                         std::any_of(found->second.begin(), found->second.end(),
                                     [&root](const Row* row) { return row->root == root; });
    // Merged into a record of its own root: the living declaration stands.
    if (managed) owner.record = Record::kNone;
    AuditMove(owner, cause, ledger);
    FreeForKey(key, ledger);
    ledger.PutOwner(std::move(owner));
  }
  for (auto& [id, row] : rows) {
    FreeForKey(id.key, ledger);
    ledger.PutRow(std::move(row));
  }
  // A name that is taken there stays where it is.
  for (ResourceName& name : names) {
    if (name.name != name.key && !ResourceOf(name.name, ledger)) ledger.PutName(std::move(name));
  }
  for (const auto& [id, key] : former) KeepFormerId(id, key, ledger);
  return affected.keys.size();
}

}  // namespace

std::vector<KeyMove> MovesOf(std::span<const KeyText> keys, const NewKey& new_key,
                             const Facts& facts) {
  std::vector<KeyMove> moves;
  for (const KeyText& key : keys) {
    const std::vector<Row> rows = facts.RowsOfKey(key);
    const std::optional<Owner> owner = facts.OwnerOf(key);
    std::set<KeyText> touched = TargetsOf(key, rows, owner, new_key);
    const std::vector<ResourceName> names = facts.FurtherNamesOf(key);
    if (touched.empty()) continue;
    const std::vector<KeyText> targets =
        owner ? Targets(*owner, rows, new_key) : std::vector<KeyText>();
    for (const ResourceName& name : names) {
      touched.insert(name.name);
      if (!targets.empty()) touched.insert(SpeltFor(targets.front(), name));
    }
    touched.erase(key);
    moves.push_back({key, {touched.begin(), touched.end()}});
  }
  return moves;
}

void EntangledMoves::Add(const KeyMove& move) {
  const std::uint64_t key = HashOf(move.key);
  touched_.emplace_back(key, key);
  for (const KeyText& name : move.touched) touched_.emplace_back(HashOf(name), key);
}

void EntangledMoves::Close() {
  std::sort(touched_.begin(), touched_.end());
  for (std::size_t i = 1; i < touched_.size(); ++i) {
    const auto& [name, key] = touched_[i - 1];
    const auto& [next_name, next_key] = touched_[i];
    if (name == next_name && key != next_key) keys_.insert({key, next_key});
  }
  touched_ = {};
}

std::uint64_t EntangledMoves::HashOf(const KeyText& text) {
  return std::hash<std::string>()(text.text);
}

std::size_t Rekey(std::span<const KeyText> keys, const NewKey& new_key, const std::string& cause,
                  Ledger& ledger) {
  ledger.Rekeys();
  return Move(Collect(keys, new_key, ledger), new_key, cause, ledger);
}

namespace {

constexpr std::string_view kMoved = "its ProviderConfig ";
constexpr std::string_view kLeads = " leads to account ";
constexpr std::string_view kNow = " now";

// The rows of the resource at `key` that declare it by the provisional account, its owner's first,
// then the oldest.
std::vector<Row> DeclaringBy(const KeyText& key, const Owner& owner,
                             const std::string& provisional_account, const Ledger& ledger) {
  std::vector<Row> rows = ledger.RowsOfKey(key);
  // A row that stands here for an id alone, by other fields, tells nothing of where it lies.
  std::erase_if(rows, [&](const Row& row) {
    return row.identity.account != provisional_account ||
           row.identity.parts != owner.identity.parts;
  });
  const auto rank = [&](const Row& row) {
    return std::tuple(row.root != owner.root, row.at, row.id.uid);
  };
  std::sort(rows.begin(), rows.end(),
            [&](const Row& a, const Row& b) { return rank(a) < rank(b); });
  return rows;
}

// The resource at `key` lies in another account: what declares it by the provisional account
// declares the one in `change.to` now.
bool MoveDeclarations(KeyText key, const AccountChange& change, Ledger& ledger) {
  auto owner = ledger.OwnerOf(key);
  const auto located = owner ? LocatedName(*owner) : std::nullopt;
  if (!located || AccountIn(*located) == change.to) return false;
  const auto declares = [&](const Row& row) { return Manages(row); };
  std::vector<Row> rows = DeclaringBy(key, *owner, change.from, ledger);
  if (std::none_of(rows.begin(), rows.end(), declares)) return false;
  key = TakeProvisionalAccount(WithAccount(key, change.from), key, ledger);
  rows = DeclaringBy(key, *owner, change.from, ledger);
  std::erase_if(rows, [&](const Row& row) { return !declares(row); });
  const std::string reason = MovedReason(change);
  for (const Row& row : rows) DeclareIn(change.to, row, reason, ledger);
  // What is only reserved there ends by its proof. The owner's rows last: no conflict inherits what
  // it is about to leave.
  for (auto row = rows.rbegin(); row != rows.rend(); ++row) {
    if (row->id.state == RowState::kReserved) continue;
    ledger.MayEnd(row->id.uid);
    EndRow(row->id, End::kUnproved, reason, ledger);
  }
  return !rows.empty();
}

}  // namespace

std::string MovedReason(const AccountChange& change) {
  std::string reason(kMoved);
  return reason.append(change.from, 1).append(kLeads).append(change.to).append(kNow);
}

std::optional<AccountChange> ReadMovedReason(std::string_view reason) {
  const std::size_t leads = reason.rfind(kLeads);
  if (!reason.starts_with(kMoved) || !reason.ends_with(kNow) || leads == std::string_view::npos) {
    return std::nullopt;
  }
  const std::string_view config = reason.substr(0, leads).substr(kMoved.size());
  std::string_view account = reason.substr(leads + kLeads.size());
  account.remove_suffix(kNow.size());
  return AccountChange{"?" + std::string(config), std::string(account)};
}

std::string WhyNotMeant(const ObjectFacts& object, const Row& row) {
  for (const DeclaredResource& resource : object.resources) {
    const bool same = DeclaredIdentity(resource) == row.identity;
    if (!same || resource.identity.account == row.identity.account) continue;
    return MovedReason({row.identity.account, resource.identity.account});
  }
  return "no longer declared";
}

std::size_t LocateResources(std::span<const KeyText> keys, const AccountChange& change,
                            Ledger& ledger) {
  std::size_t changed = 0;
  for (const KeyText& key : keys) {
    const auto owner = ledger.OwnerOf(key);
    if (!owner) continue;
    const bool concerned = ProvisionalAccountIn(key) == change.from ||
                           !DeclaringBy(key, *owner, change.from, ledger).empty();
    if (!concerned) continue;
    if (MoveDeclarations(key, change, ledger) || LocateResource(key, change.to, ledger)) ++changed;
  }
  return changed;
}

}  // namespace truce
