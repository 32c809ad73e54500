#include "registry/ownership/sight.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "registry/identity/evidence.h"
#include "registry/ownership/agreements.h"
#include "registry/ownership/grant.h"
#include "registry/ownership/ledger.h"
#include "registry/ownership/names.h"
#include "registry/ownership/rows.h"

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

// The same among those that declare what the owner's chain left: of the successor that it named,
// else of its party.
std::optional<Row> Waiting(const Owner& owner, const Ledger& ledger) {
  std::vector<Row> rows = ledger.RowsOf(owner.id);
  std::erase_if(rows, [&](const Row& row) {
    return owner.successor.empty() ? !ledger.OneParty(PartyOf(row.root), owner.party)
                                   : !NamesSuccessor(owner, row.root);
  });
  return OldestOther(rows, owner.root);
}

AuditEntry EntryOf(AuditAction action, const Owner& owner, const Row& row,
                   const std::string& cause) {
  AuditEntry entry = EntryOf(action, owner, cause, std::string(kWatch));
  entry.slot = row.slot;
  entry.uid = row.id.uid;
  return entry;
}

// The chain of `heir` becomes owner without having been granted anything.
void PassTo(const Row& heir, const std::string& cause, Owner owner, Ledger& ledger) {
  const bool chosen = NamesSuccessor(owner, heir.root);
  PutUnder(heir.root, owner, ledger);
  owner.since = ledger.now();
  owner.successor.clear();
  ledger.Audit(
      EntryOf(chosen ? AuditAction::kTransferred : AuditAction::kPassed, owner, heir, cause));
  ledger.PutOwner(std::move(owner));
}

// The resource is gone or never was, unless its oldest other manager makes or made it.
void Free(Owner owner, const std::string& cause, Ledger& ledger) {
  const std::vector<Row> rows = ledger.RowsOf(owner.id);
  const auto heir = OldestOther(rows, owner.root);
  if (!heir) return ledger.DropOwner(owner.id);
  // A managed heir made or adopted it all along; of a claim that says nothing (E1).
  owner.real = !owner.managed_once || RootHasManaged(rows, heir->root);
  PassTo(*heir, cause, std::move(owner), ledger);
}

}  // namespace

void PutSuccessor(Owner owner, const std::string& successor, Ledger& ledger) {
  owner.successor = successor;
  if (owner.record == Record::kOrphaned || owner.record == Record::kTransferring) {
    if (const auto heir = Waiting(owner, ledger)) {
      PassTo(*heir, "the owner's word", std::move(owner), ledger);
      return;
    }
    owner.record = successor.empty() ? Record::kOrphaned : Record::kTransferring;
  }
  ledger.PutOwner(std::move(owner));
}

void EndRow(const RowId& id, End end, const std::string& cause, Ledger& ledger) {
  const auto row = ledger.FindRow(id);
  if (!row) return;
  ledger.DropRow(id);
  auto owner = ledger.OwnerOf(id.resource);
  // Others' rows end without a word about the ownership, and a record needs no rows.
  if (!owner || owner->root != row->root || !Manages(*row) || owner->record != Record::kNone)
    return;
  // Out of sight: it may have come true, and its resource lives on.
  if (id.state == RowState::kReserved && row->base == Row::kNoWord) owner->real = true;
  const std::vector<Row> rest = ledger.RowsOf(id.resource);
  // The chain has lost a declaration: its slot may be restored later (R2).
  const bool lives = std::any_of(rest.begin(), rest.end(),
                                 [&](const Row& other) { return other.slot == row->slot; });
  if (!lives) RememberSlot(row->slot, *owner);
  if (end == End::kWitnessed && !RootHasManaged(rest, owner->root)) {
    owner->real = false;  // E2
    ledger.MayFree(owner->id);
  }
  // Ownership ends with the last row of its chain.
  if (RootManages(rest, owner->root)) return ledger.PutOwner(*std::move(owner));
  if (end != End::kUnproved || !owner->real) {
    ledger.Audit(EntryOf(AuditAction::kReleased, *owner, *row, cause));
    return Free(*std::move(owner), cause, ledger);
  }
  // Nobody saw it go: it may exist in AWS, and a name that is free would be taken (I16).
  if (const auto again = Waiting(*owner, ledger)) {
    return PassTo(*again, cause, *std::move(owner), ledger);
  }
  owner->record = owner->successor.empty() ? Record::kOrphaned : Record::kTransferring;
  owner->record_reason = cause;
  owner->since = ledger.now();
  ledger.Audit(EntryOf(AuditAction::kOrphaned, *owner, *row, cause));
  ledger.PutOwner(*std::move(owner));
}

bool WasCreated(const ObjectFacts& object, const Object& known) {
  return !object.created_marks.empty() && object.created_marks != known.unproven_marks;
}

bool HasProviderFinalizer(const ObjectFacts& object) {
  const std::string finalizer = FinalizerOf(object.slot.group, object.slot.kind);
  return std::ranges::count(object.finalizers, finalizer) > 0;
}

namespace {

// When the object was made, or its resource where that was earlier, by its provider's marks: a
// restored object is younger than its resource.
std::optional<Timestamp> MadeAt(const ObjectFacts& object, const Object& known) {
  std::optional<Timestamp> out = object.created;
  if (!out || !WasCreated(object, known)) return out;
  for (std::string_view rest = object.created_marks; !rest.empty();) {
    const std::size_t end = std::min(rest.find(' '), rest.size());
    if (const auto at = ParseTimestamp(rest.substr(0, end))) out = std::min(*out, *at);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return out;
}

// Whether its status speaks of another resource of its root: it was renamed, and its provider has
// not looked for the new name yet.
bool ShowsFormer(const ObjectFacts& object, const Object& placed, const Ledger& ledger) {
  if (object.shown_key.text.empty()) return false;
  const auto named = ledger.Named(object.shown_key);
  const auto owner = named ? ledger.OwnerOf(named->resource) : std::nullopt;
  return owner && owner->root == placed.root;
}

// A resource as a version of an object declares it.
struct SeenDeclaration {
  const ObjectFacts& object;
  const DeclaredResource& resource;
  const Grantee& grantee;
  bool real;          // the resource is known to exist
  bool sure = false;  // if it does, by what its ProviderConfig says now: no mark is due (IsSure)
  bool gap = false;   // versions before this one were not seen
};

// E8: whether the object made the resource by the present content of its ProviderConfig, judged by
// the facts before this version.
bool IsSure(const ObjectFacts& object, const ResourceId& id, const Slot& root,
            const Ledger& ledger) {
  if (object.deleting || object.account_fields.empty()) return false;
  if (object.fields_all_along) return true;
  const auto owner = ledger.OwnerOf(id);
  if (!owner) return false;
  if (owner->root == root && !owner->real) return true;  // it made nothing yet
  if (!object.fields_shown || !object.account_disagreement.empty()) return false;
  if (!LiesInAccount(id, ledger)) return true;
  // The account that is known of its ProviderConfig may be of before.
  const std::string& shown = object.shown_account;
  const std::string& known = owner->identity.account;
  return !shown.empty() && (shown == known || !IsAccount(known));
}

// Gives the object the ownership of the resource, which it manages, where nobody else has it.
void Acquire(const ResourceId& id, const SeenDeclaration& seen, Ledger& ledger) {
  const auto& [object, resource, grantee, real, sure, gap] = seen;
  auto owner = ledger.OwnerOf(id);
  if (!owner) {
    GrantNew(id, resource, grantee, ledger);
  } else if (IsForParty(*owner, grantee.object, ledger) &&
             // A row of its own root ends a record, whatever is beside it.
             (owner->root == grantee.object.root ||
              !HasSibling(*owner, grantee.object, object.managed, ledger))) {
    GrantInPlace(*std::move(owner), resource, grantee, ledger);
  } else if (owner->record == Record::kTransferring &&
             NamesSuccessor(*owner, grantee.object.root)) {
    GrantToSuccessor(*std::move(owner), resource, grantee, ledger);
  }
  owner = ledger.OwnerOf(id);
  if (owner->root == grantee.object.root) {
    owner->managed_once = owner->managed_once || object.managed;
    // Claims and composites say nothing once a managed resource declared it; they stay Ready (E1).
    const bool witnesses = object.managed || !owner->managed_once;
    owner->real = owner->real || (real && witnesses);
    if (!resource.arn.empty() && Describes(resource, id, ledger)) owner->arn = resource.arn;
    // Of a resource whose names have an account those tell it; of another one nothing else does.
    const bool tells = IsAccount(resource.identity.account) && !LiesInAccount(id, ledger) &&
                       Describes(resource, id, ledger) && !IsAccount(owner->identity.account);
    if (tells) owner->identity.account = resource.identity.account;
    ledger.PutOwner(*std::move(owner));
  }
}

// The seen row of the resource; keeps the time of the first declaration.
void PutSeen(const ResourceId& id, const SeenDeclaration& seen, Ledger& ledger) {
  const auto& [object, resource, grantee, real, sure, gap] = seen;
  Row row;
  row.id = {id, object.uid, RowState::kSeen};
  row.slot = object.slot;
  row.root = grantee.object.root;
  row.intent = resource.intent;
  row.terminating = object.terminating;
  row.managed = object.managed;
  row.identity = DeclaredIdentity(resource);
  row.created = MadeAt(object, grantee.object);
  row.at = ledger.now();
  const auto before = ledger.FindRow(row.id);
  const auto reserved = ledger.FindRow({id, object.uid, RowState::kReserved});
  row.account_fields = object.account_fields;
  if (before) {
    row.at = before->at;
    row.base = before->base;
    // While nobody reads ProviderConfigs nothing is known to have changed.
    if (row.account_fields.empty()) row.account_fields = before->account_fields;
    const bool kept = before->account_fields.empty() ||
                      before->account_fields == row.account_fields ||
                      (sure && !before->terminating);
    // Its provider may have let go by a policy that keeps the resource.
    const bool keeps = std::min(row.intent, before->intent) != Intent::kDeletes;
    if (!kept) row.account_fields = LiesInAccount(id, ledger) ? Row::kChanged : Row::kMoved;
    if (before->account_fields == Row::kChanged && !kept) row.account_fields = Row::kChanged;
    if (object.deleting && keeps) row.account_fields = Row::kChanged;
    if (object.terminating && (keeps || gap)) row.base = Row::kNoWord;
  } else {
    if (reserved) row.at = reserved->at;
    // First seen Deleting: in which account it deletes was never shown (E8).
    if (object.deleting) row.account_fields = Row::kChanged;
    if (object.terminating) row.base = Row::kNoWord;
  }
  const auto owner = ledger.OwnerOf(id);
  const bool conflict = owner && Manages(row) && owner->root != row.root;
  if (conflict && !before && !reserved) AuditConflict(*owner, grantee, ledger);
  ledger.PutRow(std::move(row));
}

// The declarations of an object, by the resources that they mean.
using DeclaredAt = std::map<ResourceId, const DeclaredResource*>;

DeclaredAt DeclaredBy(const ObjectFacts& object, const Ledger& ledger) {
  DeclaredAt declared;
  for (const DeclaredResource& resource : object.resources) {
    for (ResourceMatch& match : MatchesOf(resource, ledger)) {
      declared.emplace(std::move(match.id), &resource);
    }
  }
  return declared;
}

const DeclaredResource* At(const DeclaredAt& declared, const ResourceId& id) {
  const auto at = declared.find(id);
  return at == declared.end() ? nullptr : at->second;
}

bool Confirms(const ObjectFacts& object, const Row& reserved) {
  if (!reserved.base || *reserved.base == Row::kNoWord) return true;
  return object.version && *object.version > *reserved.base;
}

}  // namespace

void OutOfSight(const Uid& uid, Ledger& ledger) {
  ledger.MayEnd(uid);
  for (Row& row : ledger.RowsOfUid(uid)) {
    auto owner = ledger.OwnerOf(row.id.resource);
    if (!owner || owner->real || owner->root != row.root || !Manages(row)) continue;
    if (owner->managed_once && !row.managed) continue;
    if (row.id.state == RowState::kReserved && row.base && *row.base == 0) {
      row.base = Row::kNoWord;  // its proof tells
      ledger.PutRow(std::move(row));
      continue;
    }
    if (row.id.state == RowState::kReserved && row.base == Row::kNoWord) continue;
    owner->real = true;
    ledger.PutOwner(*std::move(owner));
  }
}

namespace {

// Records the object's place by present knowledge. Returns the object as placed, and its word as
// last known.
std::pair<Object, std::string> PutObjectOf(const ObjectFacts& object, Ledger& ledger) {
  const auto known = ledger.ObjectByUid(object.uid);
  Object placed = ObjectOf(object, Evidence::kBothSides, known, ledger);
  placed.transfer_to = object.transfer_to;
  PutPlaced(placed, known, known ? "lineage changed" : "its parent became known", ledger);
  return {std::move(placed), known ? known->transfer_to : ""};
}

void SeeObserver(const SeenDeclaration& seen, Ledger& ledger) {
  for (const ResourceMatch& each : MatchesOf(seen.resource, ledger)) {
    const auto row = ledger.FindRow({each.id, seen.object.uid, RowState::kSeen});
    if (row && Manages(*row)) EndRow(row->id, End::kUnproved, "demoted to Observe", ledger);
  }
  // Anew: the declaration no longer means a resource that is left orphaned in another account (N5).
  std::vector<ResourceMatch> matches = MatchesOf(seen.resource, ledger);
  if (matches.empty()) matches.push_back({ObserveNew(seen.resource, ledger)});
  for (const ResourceMatch& each : matches) PutSeen(each.id, seen, ledger);
}

void SeeManager(SeenDeclaration seen, Ledger& ledger) {
  const ResourceId target = JoinNames(seen.resource, seen.grantee.object, ledger);
  seen.sure = IsSure(seen.object, target, seen.grantee.object.root, ledger);
  Acquire(target, seen, ledger);
  PutSeen(target, seen, ledger);
  seen.sure = false;
  for (const ResourceMatch& match : MatchesOf(seen.resource, ledger)) {
    if (match.id == target) continue;
    Acquire(match.id, seen, ledger);
    PutSeen(match.id, seen, ledger);
  }
}

}  // namespace

void DeclareIn(const std::string& account, const Row& row, const std::string& cause,
               Ledger& ledger) {
  const auto object = ledger.ObjectByUid(row.id.uid);
  auto located = NameIn(account, row.id.resource, ledger);
  auto declared = NameIn(row.identity.account, row.id.resource, ledger);
  if (!object || !located || !declared) return;
  DeclaredResource resource;
  resource.identity = row.identity;
  resource.identity.account = account;
  resource.further_account = row.identity.account;
  resource.names = {{*std::move(located), false}, {*std::move(declared), false}};
  resource.intent = row.intent;
  const auto before = ledger.OwnerOf(row.id.resource);
  if (before) resource.name = before->name;
  // Resources that were found to be one may be two again: then each exists.
  const std::vector<ResourceName> names = ledger.NamesOf(row.id.resource);
  const bool real = before && before->real &&
                    std::any_of(names.begin(), names.end(), [](const ResourceName& name) {
                      return name.sort == NameSort::kFormerId;
                    });
  const ObjectFacts facts{.managed = row.managed};
  const Grantee grantee{*object, cause, std::string(kWatch), {}};
  const ResourceId target = JoinNames(resource, *object, ledger);
  Acquire(target, {facts, resource, grantee, real}, ledger);
  Row there = row;
  there.id.resource = target;
  there.account_fields.clear();  // the next sight tells them
  if (ledger.FindRow(there.id)) return;
  const auto owner = ledger.OwnerOf(target);
  if (owner && owner->root != row.root) AuditConflict(*owner, grantee, ledger);
  ledger.PutRow(std::move(there));
}

void Meet(const ObjectFacts& object, Ledger& ledger) {
  const auto [placed, said] = PutObjectOf(object, ledger);
  AdoptNamed(placed, ledger);
  HearWord(placed, said, ledger);
}

void See(const ObjectFacts& object, bool out_of_sight, Ledger& ledger) {
  ledger.MayEnd(object.uid);
  if (out_of_sight) OutOfSight(object.uid, ledger);
  const auto [placed, said] = PutObjectOf(object, ledger);
  const Grantee grantee{placed, "seen without reservation", std::string(kWatch), {}};
  const bool real = out_of_sight || WasCreated(object, placed) ||
                    (object.real && !ShowsFormer(object, placed, ledger));
  for (const DeclaredResource& resource : object.resources) {
    if (resource.key().empty() || resource.partial) continue;
    const SeenDeclaration seen{object, resource, grantee, real, false, out_of_sight};
    if (resource.intent == Intent::kObserves) {
      SeeObserver(seen, ledger);
    } else {
      SeeManager(seen, ledger);
    }
  }
  const DeclaredAt declared = DeclaredBy(object, ledger);
  for (const Row& row : ledger.RowsOfUid(object.uid)) {
    const DeclaredResource* const resource = At(declared, row.id.resource);
    // Whether the version is one in which the row is true.
    const bool has =
        resource != nullptr && (!Manages(row) || resource->intent != Intent::kObserves);
    if (row.id.state == RowState::kSeen && !has) {
      // A resource that it does not declare any more may exist for all that.
      EndRow(row.id, End::kUnproved, WhyNotDeclared(object, row), ledger);
    } else if (row.id.state == RowState::kReserved && has && Confirms(object, row)) {
      EndRow(row.id, End::kUnproved, "confirmed", ledger);  // the seen row replaces it
    }
  }
  AdoptNamed(placed, ledger);
  HearWord(placed, said, ledger);  // of chains that joined, too
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
    const auto open_below = [&](const Slot& parent) {
      for (const Object& child : ledger.ChildrenOf(parent)) {
        if (met.insert(child.uid).second) open.emplace_back(child.uid, child.slot);
      }
    };
    open_below(place);
    // Objects below one that is gone.
    const auto object = ledger.ObjectByUid(at);
    if (!object) continue;
    for (const std::string& name : object->names) {
      const auto named = SlotFromText(object->slot.cluster + "/" + name);
      if (named && !ledger.ObjectBySlot(*named)) open_below(*named);
    }
  }
  return rows;
}

void HearWord(const Object& object, const std::string& before, Ledger& ledger) {
  const std::string& word = object.transfer_to;
  // Only another word is news: agreements since then stay.
  if (word == before || SpeakerOf(object, ledger).uid != object.uid) return;
  const std::vector<ResourceId> orphans = ledger.OrphansOf(object.root);
  std::set<ResourceId> ids(orphans.begin(), orphans.end());
  for (const Row& row : RowsBelow(object.uid, object.slot, ledger)) ids.insert(row.id.resource);
  // A resource that it only observes by now may still be held for its root by others of its place:
  // lives that were admitted and perhaps never came.
  for (const Row& row : ledger.RowsOfUid(object.uid)) ids.insert(row.id.resource);
  for (const ResourceId& id : ids) {
    auto owner = ledger.OwnerOf(id);
    if (!owner || owner->root != object.root || owner->successor == word) continue;
    PutSuccessor(*std::move(owner), word, ledger);
  }
}

namespace {

// Whether one of the declaration's names that need no account is one of the resource's.
bool ShowsId(const DeclaredResource& declared, const ResourceId& id, const Ledger& ledger) {
  return std::ranges::any_of(declared.names, [&](const DeclaredName& name) {
    const auto named = ledger.Named(name.text);
    return AccountIn(name.text).empty() && named && named->resource == id;
  });
}

// E8: the last version speaks of this very resource: by a name that needs no account, by the
// account that its status shows, or by a ProviderConfig that was the same all along.
bool Shows(const ObjectFacts& last, const Owner& owner) {
  if (!last.account_disagreement.empty()) return false;
  if (!last.shown_account.empty()) return last.shown_account == owner.identity.account;
  return !last.account_fields.empty();
}

// The younger one in its place says for itself what it said.
void DropLife(const Uid& uid, Ledger& ledger) {
  const auto gone = ledger.ObjectByUid(uid);
  ledger.DropObject(uid);
  const auto next = gone ? ledger.ObjectBySlot(gone->slot) : std::nullopt;
  const bool follows = next && std::pair(gone->at, gone->uid) < std::pair(next->at, next->uid);
  if (follows) HearWord(*next, gone->transfer_to, ledger);
}

// A life that ended, or never began, leaves nothing behind but its rows.
void ForgetIfEmpty(const Uid& uid, Ledger& ledger) {
  if (ledger.RowsOfUid(uid).empty()) DropLife(uid, ledger);
}

// Whether `declared` names the resource by every id that AWS ever gave it.
bool NamesAllIds(const DeclaredResource& declared, const ResourceId& id, const Ledger& ledger) {
  const std::vector<ResourceName> names = ledger.NamesOf(id);
  return std::all_of(names.begin(), names.end(), [&](const ResourceName& name) {
    return name.sort != NameSort::kAssigned ||
           std::ranges::count(declared.names, name.name, &DeclaredName::text) > 0;
  });
}

// Its provider found nothing by what it looked for, and let go of the last version, or of one that
// other finalizers held.
bool LetGo(const Row& row, const ObjectFacts& last, const Ending& ending) {
  if (!row.base || row.base == Row::kNoWord || row.account_fields == Row::kMoved) return false;
  if (last.creation_open || last.is_end_unknown || !last.name_finding.empty()) return false;
  return !HasProviderFinalizer(last) || (ending.before && *ending.before <= *row.base);
}

}  // namespace

void SeeDeleted(const ObjectFacts& last, const Ending& ending, Ledger& ledger) {
  ledger.MayEnd(last.uid);
  const auto object = ledger.ObjectByUid(last.uid);
  // The last version may tell what none before did: names, an ARN, a parent.
  if (object) See(last, false, ledger);
  // A review of an older version was followed by another write: the finalizer that it took off came
  // back.
  const bool stripped =
      object && object->stripped && (!ending.before || *ending.before <= *object->stripped);
  const bool ended = last.managed && last.terminating && !stripped && !ending.crd_terminating &&
                     !ending.config_changed;
  const DeclaredAt all = DeclaredBy(last, ledger);
  std::vector<Row> rows = ledger.RowsOfUid(last.uid);
  // Reservations first: the end of the seen row decides whether the key becomes free.
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
    return a.id.state == RowState::kReserved && b.id.state == RowState::kSeen;
  });
  for (const Row& row : rows) {
    const ResourceId& id = row.id.resource;
    const DeclaredResource* declared = At(all, id);
    const auto owner = ledger.OwnerOf(id);
    const bool may_tell = ended && declared != nullptr && declared->intent == Intent::kDeletes &&
                          row.id.state == RowState::kSeen && row.account_fields != Row::kChanged &&
                          (row.account_fields != Row::kMoved || !LiesInAccount(id, ledger));
    // Whether its provider reported the resource of `row` gone.
    const bool is_configured =
        may_tell &&
        (last.deleting || (LetGo(row, last, ending) && NamesAllIds(*declared, id, ledger)));
    const bool free =
        is_configured && (!owner || (!InAnotherAccount(*declared, id, ledger) &&
                                     (ShowsId(*declared, id, ledger) || Shows(last, *owner))));
    const bool never_shown = owner && !owner->real;  // so the name becomes free all the same
    EndRow(row.id, free ? End::kWitnessed : End::kUnproved,
           free && last.deleting ? "deleted, and its resource with it"
           : free                ? "deleted, and its provider found no resource"
           : never_shown         ? "deleted before anything showed that its resource exists"
                                 : "deleted without proof that its resource is gone",
           ledger);
  }
  DropLife(last.uid, ledger);
}

void Prove(const RowId& reserved, const Proof& proof, Ledger& ledger) {
  // No answer is no proof: the row stays, and is asked about again.
  if (proof.answer == Proof::Answer::kUnknown) return;
  auto row = ledger.FindRow(reserved);
  if (!row) return;
  ledger.MayEnd(reserved.uid);
  // An object that had the place before it was asked for, and has it now, had it all along.
  const auto there = proof.object ? ledger.ObjectByUid(proof.object->uid) : std::nullopt;
  const bool taken = there && there->uid != reserved.uid && there->at <= row->at;
  if (row->base == Row::kNoWord && taken) {
    row->base = 0;
    ledger.PutRow(*row);
  }
  const bool same_life =
      proof.answer == Proof::Answer::kLive && proof.object && proof.object->uid == reserved.uid;
  EndRow(reserved, End::kUnproved,
         same_life ? "proved: confirmed or not declared" : "proved: never created", ledger);
  if (!same_life) ForgetIfEmpty(reserved.uid, ledger);
}

void Absent(const RowId& seen, Ledger& ledger) {
  if (!ledger.FindRow(seen)) return;
  // Nobody knows its acts since it was seen.
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
    auto owner = ledger.OwnerOf(row.id.resource);
    if (owner && owner->root == row.root && Manages(row)) {
      owner->real = true;  // nobody will watch it: by command only it is released
      AuditEntry entry =
          EntryOf(AuditAction::kAdministered, *owner, "confirmed by operator", actor);
      entry.slot = slot;
      entry.uid = row.id.uid;
      ledger.Audit(std::move(entry));
      ledger.PutOwner(*std::move(owner));
    }
    ledger.PutRow(std::move(row));
    ++confirmed;
  }
  return confirmed;
}

ReleaseOutcome ReleaseByOperator(const ResourceId& id, const ByWhom& by, const IsShown& is_shown,
                                 Ledger& ledger) {
  auto owner = ledger.OwnerOf(id);
  if (!owner) return {};
  ReleaseOutcome kept;
  const std::vector<Agreement> agreements = ledger.AgreementsOf(id);
  if (const Agreement* mark = ProtectionIn(agreements)) {
    kept.mark = *mark;
    return kept;
  }
  const std::vector<Row> rows = ledger.RowsOf(id);
  for (const Row& row : rows) {
    const bool lives = row.root == owner->root && Manages(row) && row.id.state == RowState::kSeen &&
                       is_shown(row.slot);
    // The managed resource is what must end first.
    if (lives && (!kept.living || row.managed)) {
      kept.living = {row.slot, row.managed, row.terminating};
    }
  }
  if (kept.living) return kept;
  const std::string cause = "released by operator: " + by.reason;
  ledger.Audit(EntryOf(AuditAction::kReleased, *owner, cause, by.actor));
  ledger.MayFree(owner->id);
  for (const Row& row : rows) {
    if (row.root != owner->root) continue;
    ledger.MayEnd(row.id.uid);
    ledger.DropRow(row.id);
  }
  Free(*std::move(owner), cause, ledger);
  return {.done = true, .mark = {}, .living = {}};
}

void Unreserve(Owner owner, const std::string& cause, const std::string& actor, Ledger& ledger) {
  TRUCE_ASSERT(owner.until);
  ledger.Audit(EntryOf(AuditAction::kReleased, owner, cause, actor));
  Free(std::move(owner), cause, ledger);
}

bool Import(const KeyText& name, Owner imported, const std::string& actor, Ledger& ledger) {
  const auto named = ledger.Named(name);
  // A list takes nothing from an owner, by whichever of its names; it takes a resource that is only
  // observed.
  if (named && ledger.OwnerOf(named->resource)) return false;
  if (named) {
    imported.id = named->resource;
  } else {
    if (imported.id.empty()) imported.id = ledger.NewResource();
    ledger.PutName(
        {.name = name, .resource = imported.id, .sort = SortOf(name), .at = ledger.now()});
  }
  imported.key = name;
  imported.record = Record::kImported;
  imported.real = !imported.until;
  imported.since = ledger.now();
  const std::string how =
      imported.until ? "reserved until " + FormatTimestamp(*imported.until) : "imported";
  ledger.Audit(
      EntryOf(AuditAction::kAdministered, imported, how + ": " + imported.record_reason, actor));
  ledger.PutOwner(std::move(imported));
  return true;
}

}  // namespace truce
