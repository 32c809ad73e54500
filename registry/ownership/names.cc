#include "registry/ownership/names.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "registry/identity/draft.h"
#include "registry/identity/evidence.h"
#include "registry/identity/successors.h"
#include "registry/identity/values.h"
#include "registry/ownership/declared_grant.h"
#include "registry/ownership/grant.h"
#include "registry/ownership/ledger.h"
#include "registry/ownership/rows.h"
#include "registry/ownership/sight.h"

namespace truce {
namespace {

// Nothing else is spelt so: names of AWS's have bars.
constexpr std::string_view kFormerIdPrefix = "id:";
// Ids of resources made anew under one name; a tenant may write any number of them.
constexpr std::ptrdiff_t kIdsMax = 8;

// No account needs an escape.
bool IsLocated(const KeyText& name) {
  return IsAccount(AccountFieldIn(name)) && !IsAssignedName(name);
}

bool IsOfFields(const ResourceName& name) {
  return name.sort == NameSort::kDeclared || name.sort == NameSort::kLocated;
}

// Of the declaration's own; null: it has none.
const KeyText* LocatedNameOf(const DeclaredResource& resource) {
  for (const DeclaredName& name : resource.names) {
    if (IsLocated(name.text)) return &name.text;
  }
  return nullptr;
}

bool Differ(const std::optional<KeyText>& a, const KeyText* b) {
  return a && b != nullptr && *a != *b;
}

std::optional<ResourceId> ResourceNamed(const KeyText& name, const Ledger& ledger) {
  auto named = ledger.Named(name);
  if (!named) return std::nullopt;
  return std::move(named->resource);
}

bool IsManaged(const ResourceId& id, const Ledger& ledger) {
  const auto owner = ledger.OwnerOf(id);
  return owner && owner->record == Record::kNone;
}

// The root owns it, or does as soon as it declares it.
bool IsOf(const Owner& owner, const Slot& root, const Ledger& ledger) {
  if (owner.root == root || NamesSuccessor(owner, root)) return true;
  return owner.record != Record::kNone && ledger.OneParty(owner.party, PartyOf(root));
}

bool IsMine(const ResourceId& id, const Slot& root, const Ledger& ledger) {
  const auto owner = ledger.OwnerOf(id);
  return owner && IsOf(*owner, root, ledger);
}

void PutName(const KeyText& name, const ResourceId& id, bool observed, Ledger& ledger) {
  ledger.PutName({.name = name,
                  .resource = id,
                  .sort = SortOf(name),
                  .observed = observed,
                  .spelling = ledger.spelling(),
                  .at = ledger.now()});
}

// Writes the change of the names of `owner` to the audit log.
void AuditNames(const Owner& owner, std::string cause, Ledger& ledger) {
  ledger.Audit(EntryOf(AuditAction::kMoved, owner, std::move(cause), "names"));
}

// The resource's names of one kind, as two that are one have them in common: ids, or fields without
// their account.
std::set<KeyText> TextsOf(const ResourceId& id, bool of_fields, const Ledger& ledger) {
  std::set<KeyText> texts;
  for (ResourceName& name : ledger.NamesOf(id)) {
    if (of_fields && IsOfFields(name)) texts.insert(WithAccount(name.name, {}));
    if (!of_fields && name.sort == NameSort::kAssigned) texts.insert(std::move(name.name));
  }
  return texts;
}

bool HaveNothingInCommon(const std::set<KeyText>& a, const std::set<KeyText>& b) {
  if (a.empty() || b.empty()) return false;
  return std::none_of(a.begin(), a.end(), [&](const KeyText& text) { return b.contains(text); });
}

bool AreApart(const ResourceId& a, const ResourceId& b, const Ledger& ledger) {
  const auto located = LocatedName(b, ledger);
  if (Differ(LocatedName(a, ledger), located ? &*located : nullptr)) return true;
  return HaveNothingInCommon(TextsOf(a, true, ledger), TextsOf(b, true, ledger)) ||
         HaveNothingInCommon(TextsOf(a, false, ledger), TextsOf(b, false, ledger));
}

}  // namespace

NameSort SortOf(const KeyText& name) {
  if (IsAssignedName(name)) return NameSort::kAssigned;
  return IsLocated(name) ? NameSort::kLocated : NameSort::kDeclared;
}

KeyText BestOf(const std::vector<ResourceName>& names) {
  const ResourceName* best = nullptr;
  const auto rank = [](const ResourceName& name) {
    const int sort = name.sort == NameSort::kLocated ? 0 : name.sort == NameSort::kDeclared ? 1 : 2;
    return std::tuple(sort, name.at, name.name);
  };
  for (const ResourceName& name : names) {
    if (name.sort == NameSort::kFormerId) continue;
    if (best == nullptr || rank(name) < rank(*best)) best = &name;
  }
  return best == nullptr ? KeyText() : best->name;
}

KeyText FormerIdName(const ResourceId& id) {
  KeyText name{std::string(kFormerIdPrefix)};
  name.text += id.text;
  return name;
}

std::optional<ResourceId> FormerIdOf(const ResourceName& name) {
  if (name.sort != NameSort::kFormerId) return std::nullopt;
  return ResourceId{name.name.text.substr(std::min(kFormerIdPrefix.size(), name.name.text.size()))};
}

void KeepFormerId(const ResourceId& former, const ResourceId& now, Ledger& ledger) {
  ledger.PutName({.name = FormerIdName(former),
                  .resource = now,
                  .sort = NameSort::kFormerId,
                  .at = ledger.now()});
  std::vector<ResourceName> ids = ledger.NamesOf(now);
  std::erase_if(ids, [](const ResourceName& name) { return name.sort != NameSort::kFormerId; });
  std::stable_sort(ids.begin(), ids.end(),
                   [](const ResourceName& a, const ResourceName& b) { return a.at > b.at; });
  // The links that go stale are those that were given out longest ago.
  for (std::size_t i = kFormerIdsMax; i < ids.size(); ++i) ledger.DropName(IdOf(ids[i]));
}

std::optional<Owner> OwnerByName(const KeyText& name, const Facts& facts) {
  const auto named = facts.Named(name);
  return named ? facts.OwnerOf(named->resource) : std::nullopt;
}

bool Facts::IsTaken(const KeyText& name) const { return OwnerByName(name, *this).has_value(); }

std::optional<Owner> OwnerByNames(const DeclaredResource& resource, const Facts& facts) {
  for (const DeclaredName& name : resource.names) {
    if (auto owner = OwnerByName(name.text, facts)) return owner;
  }
  return std::nullopt;
}

std::optional<KeyText> LocatedName(const ResourceId& id, const Ledger& ledger) {
  for (ResourceName& name : ledger.NamesOf(id)) {
    if (name.sort == NameSort::kLocated) return std::move(name.name);
  }
  return std::nullopt;
}

bool LiesInAccount(const ResourceId& id, const Ledger& ledger) {
  const std::vector<ResourceName> names = ledger.NamesOf(id);
  return std::any_of(names.begin(), names.end(), [](const ResourceName& name) {
    return IsOfFields(name) && !AccountFieldIn(name.name).empty();
  });
}

bool InAnotherAccount(const DeclaredResource& resource, const ResourceId& id,
                      const Ledger& ledger) {
  return Differ(LocatedName(id, ledger), LocatedNameOf(resource));
}

bool Describes(const DeclaredResource& resource, const ResourceId& id, const Ledger& ledger) {
  const std::set<KeyText> fields = TextsOf(id, true, ledger);
  return fields.empty() || fields.contains(WithAccount(resource.key(), {}));
}

std::optional<KeyText> NameIn(std::string_view account, const ResourceId& id,
                              const Ledger& ledger) {
  for (const ResourceName& name : ledger.NamesOf(id)) {
    if (IsOfFields(name)) return WithAccount(name.name, account);
  }
  return std::nullopt;
}

void FillPendingNames(const MovingAccounts& moving, ObjectFacts& object) {
  if (moving.empty()) return;
  for (DeclaredResource& resource : object.resources) {
    resource.pending_names.clear();
    for (const DeclaredName& name : resource.names) {
      if (name.observed || !IsLocated(name.text)) continue;
      const auto provisional_accounts = moving.find(AccountIn(name.text));
      if (provisional_accounts == moving.end()) continue;
      for (const std::string& provisional_account : provisional_accounts->second) {
        resource.pending_names.push_back(WithAccount(name.text, provisional_account));
      }
    }
  }
}

std::vector<ResourceMatch> MatchesOf(const DeclaredResource& resource, const Ledger& ledger) {
  std::vector<ResourceMatch> matches;
  const auto find = [&](const ResourceId& id) {
    return std::find_if(matches.begin(), matches.end(),
                        [&](const ResourceMatch& each) { return each.id == id; });
  };
  const KeyText* const located = LocatedNameOf(resource);
  const bool is_configured = located != nullptr && *located == resource.key();
  for (const DeclaredName& name : resource.names) {
    auto named = ledger.Named(name.text);
    if (!named) continue;
    // N5: the provisional account leads elsewhere by now, and nobody manages what was left behind.
    if (is_configured && SortOf(name.text) == NameSort::kDeclared &&
        !IsManaged(named->resource, ledger) &&
        Differ(LocatedName(named->resource, ledger), located)) {
      continue;
    }
    const bool observed = name.observed || named->observed;
    const auto at = find(named->resource);
    if (at == matches.end()) {
      matches.push_back({std::move(named->resource), observed});
    } else {
      at->observed = at->observed && observed;
    }
  }
  for (const KeyText& name : resource.pending_names) {
    const auto id = ResourceNamed(name, ledger);
    // A resource that is only observed there is nobody's.
    if (!id || !ledger.OwnerOf(*id) || find(*id) != matches.end()) continue;
    if (!Differ(LocatedName(*id, ledger), located)) matches.push_back({*id, false});
  }
  if (const auto name = WithoutAccount(resource.key())) {
    const auto id = ResourceNamed(*name, ledger);
    if (id && ledger.OwnerOf(*id) && find(*id) == matches.end()) matches.push_back({*id, false});
  }
  return matches;
}

std::vector<ResourceMatch> MatchesAndPending(const DeclaredResource& resource,
                                             const Ledger& ledger) {
  std::vector<ResourceMatch> concerned = MatchesOf(resource, ledger);
  const KeyText* const located = LocatedNameOf(resource);
  for (const KeyText& name : resource.pending_names) {
    const auto id = ResourceNamed(name, ledger);
    if (!id || !Differ(LocatedName(*id, ledger), located)) continue;
    const std::string account = AccountIn(name);
    const std::vector<Row> rows = ledger.RowsOf(*id);
    const bool lives = std::any_of(rows.begin(), rows.end(), [&](const Row& row) {
      return Manages(row) && row.identity.account == account;
    });
    if (lives) concerned.push_back({*id, false, true});
  }
  return concerned;
}

// --- Two that are one ---------------------------------------------------------------------------

namespace {

bool MayMerge(const Owner& a, const Owner& b, const Ledger& ledger) {
  // A resource that is owned outside would become a tenant's by a name that he writes.
  if (a.record == Record::kImported || b.record == Record::kImported) return false;
  const bool record = a.record != Record::kNone || b.record != Record::kNone;
  return a.root == b.root || (record && ledger.OneParty(a.party, b.party));
}

void MoveRow(Row row, const ResourceId& to, Ledger& ledger) {
  ledger.DropRow(row.id);
  row.id.resource = to;
  if (const auto there = ledger.FindRow(row.id)) {
    // The right to delete it by one of the names is a right to delete it.
    row.intent = std::max(row.intent, there->intent);
    // The older one tells what its account depended on all along.
    const bool marked =
        there->account_fields == Row::kChanged ||
        (there->account_fields == Row::kMoved && row.account_fields != Row::kChanged);
    if (there->at < row.at || (there->at == row.at && marked)) {
      row.account_fields = there->account_fields;
    }
    if (row.id.state == RowState::kSeen) row.base = std::max(row.base, there->base);
    row.at = std::min(row.at, there->at);
    row.terminating = row.terminating && there->terminating;
  }
  ledger.PutRow(std::move(row));
}

// Where a resource has one agreement of a kind, that of `kept` stays, but for a mark against
// deletion: one by command outlives one of an object in Git.
void UniteAgreements(const ResourceId& gone, const ResourceId& kept, const ResourceId& id,
                     Ledger& ledger) {
  std::vector<Agreement> there = ledger.AgreementsOf(kept);
  for (Agreement& agreement : ledger.AgreementsOf(gone)) {
    const auto other = std::find_if(there.begin(), there.end(), [&](const Agreement& each) {
      if (each.kind != agreement.kind) return false;
      return agreement.kind != AgreementKind::kShare || each.party == agreement.party;
    });
    const bool replaces = other != there.end() && agreement.kind == AgreementKind::kProtection &&
                          other->actor.starts_with(kDeclaredActor) &&
                          !agreement.actor.starts_with(kDeclaredActor);
    if (other != there.end()) ledger.DropAgreement(replaces ? other->id : agreement.id);
    if (other != there.end() && !replaces) continue;
    if (replaces) there.erase(other);
    agreement.resource = id;
    ledger.PutAgreement(std::move(agreement));
  }
  for (Agreement& agreement : there) {
    if (agreement.resource == id) continue;
    agreement.resource = id;
    ledger.PutAgreement(std::move(agreement));
  }
}

// Of their owners' words the living one's counts, else that of `owner`; the present owner needs no
// word. An accepted transfer to somebody else ends.
void UniteWords(const Owner& gone, Owner& owner, Ledger& ledger) {
  const bool gone_lives = gone.record == Record::kNone && owner.record != Record::kNone;
  const Owner& first = gone_lives ? gone : owner;
  const Owner& second = gone_lives ? owner : gone;
  const std::string& cluster = first.root.cluster;
  std::string word = first.successor;
  if (word.empty()) word = SuccessorIn(cluster, second.successor, second.root.cluster);
  if (NamesSuccessor(word, cluster, first.root)) word.clear();
  for (const ResourceId& id : {gone.id, owner.id}) {
    for (const Agreement& each : ledger.AgreementsOf(id)) {
      const bool accepted = each.kind == AgreementKind::kTransfer && each.accepted;
      if (accepted && each.successor != word) ledger.DropAgreement(each.id);
    }
  }
  owner.successor = std::move(word);
}

// `target` and `other` are one. The owner of `target` stays, but for a record whose resource lives
// by the other. Returns the id that stays.
ResourceId Merge(const ResourceId& target, const ResourceId& other, Ledger& ledger) {
  auto kept = ledger.OwnerOf(target);
  const auto gone = ledger.OwnerOf(other);
  const bool target_stays = !gone || (kept && kept->since <= gone->since);
  const ResourceId& elder = target_stays ? target : other;
  const ResourceId& younger = target_stays ? other : target;
  if (gone && kept) UniteWords(*gone, *kept, ledger);
  const bool other_has_fields = !TextsOf(other, true, ledger).empty();
  UniteAgreements(other, target, elder, ledger);
  for (Row& row : ledger.RowsOf(younger)) MoveRow(std::move(row), elder, ledger);
  for (ResourceName& name : ledger.NamesOf(younger)) {
    name.resource = elder;
    ledger.PutName(std::move(name));
  }
  if (!kept || !gone) return elder;
  ledger.DropOwner(younger);
  ledger.MayFree(younger);
  Owner owner = *std::move(kept);
  owner.id = elder;
  if (owner.record != Record::kNone && gone->record == Record::kNone) {
    owner.root = gone->root;
    owner.service = gone->service;
    owner.contact = gone->contact;
  }
  if (RootManages(ledger.RowsOf(elder), owner.root)) {
    owner.record = Record::kNone;
    owner.record_reason.clear();
  }
  KeepFormerId(younger, elder, ledger);
  owner.since = std::min(owner.since, gone->since);
  owner.real = owner.real || gone->real;
  owner.managed_once = owner.managed_once || gone->managed_once;
  for (const Slot& slot : gone->left) RememberSlot(slot, owner);
  if (owner.arn.empty()) owner.arn = gone->arn;
  // A declaration of an id by the declarant's account does not say where the resource lies.
  const bool tells = !IsAccount(owner.identity.account) && other_has_fields;
  if (tells) owner.identity.account = gone->identity.account;
  AuditNames(owner, "found to be one resource with " + younger.text + " (" + gone->key.text + ")",
             ledger);
  ledger.PutOwner(std::move(owner));
  return elder;
}

// --- What a set of names means ------------------------------------------------------------------

// Configuration is stronger evidence than a status that anybody may write: else he could hold any
// account's names.
void TakeObserved(const KeyText& name, const Slot& root, Ledger& ledger) {
  if (ledger.parties().statuses_guarded) return;
  const auto named = ledger.Named(name);
  if (!named || !named->observed) return;
  auto owner = ledger.OwnerOf(named->resource);
  if (!owner || owner->root == root || ledger.OneParty(owner->party, PartyOf(root))) return;
  if (NamesSuccessor(*owner, root)) return;
  ledger.MayLose(name);
  ledger.DropName(IdOf(*named));
  AuditNames(*owner, "only a status gave it the name " + name.text, ledger);
  if (BestOf(ledger.NamesOf(owner->id)).empty()) {
    ledger.MayFree(owner->id);
    for (const Row& row : ledger.RowsOf(owner->id)) {
      ledger.MayEnd(row.id.uid);
      ledger.DropRow(row.id);
    }
    ledger.DropOwner(owner->id);
    return;
  }
  if (IsLocated(name)) {
    const std::vector<ResourceName> names = ledger.NamesOf(owner->id);
    owner->identity.account = AccountIn(BestOf(names));
    owner->arn.clear();
  }
  ledger.PutOwner(*std::move(owner));
}

// Another root's object, or a younger one that was seen in the place of this one, declares the
// resource by the provisional account of `name`.
bool OthersDeclareBy(const KeyText& name, const ResourceId& id, const Object& object,
                     const Ledger& ledger) {
  const std::string account = AccountIn(name);
  Timestamp born = ledger.now();  // when this life was first recorded to declare anything
  for (const Row& row : ledger.RowsOfUid(object.uid)) born = std::min(born, row.at);
  const std::vector<Row> rows = ledger.RowsOf(id);
  return std::any_of(rows.begin(), rows.end(), [&](const Row& row) {
    if (!Manages(row) || row.identity.account != account) return false;
    const bool replaced = row.slot == object.slot && row.id.uid != object.uid && row.at > born;
    return row.root != object.root || (replaced && row.id.state == RowState::kSeen);
  });
}

// Reservations at `from` by the provisional account are made at `to`, where its name goes, too.
void ReserveToo(const ResourceId& from, const ResourceId& to, const std::string& account,
                Ledger& ledger) {
  for (Row& row : ledger.RowsOf(from)) {
    const bool by_it = row.identity.account == account && Manages(row);
    if (!by_it || row.id.state != RowState::kReserved) continue;
    row.id.resource = to;
    if (!ledger.FindRow(row.id)) ledger.PutRow(std::move(row));
  }
}

ResourceId TargetOf(const DeclaredResource& resource, const Slot& root, Ledger& ledger) {
  const std::vector<ResourceMatch> matches = MatchesOf(resource, ledger);
  const std::vector<DeclaredName>& names = resource.names;
  for (const ResourceMatch& each : matches) {
    if (InAnotherAccount(resource, each.id, ledger)) continue;
    const auto is_found_by = [&](bool assigned) {
      return std::any_of(names.begin(), names.end(), [&](const DeclaredName& name) {
        return IsAssignedName(name.text) == assigned && ResourceNamed(name.text, ledger) == each.id;
      });
    };
    const bool by_id_alone = is_found_by(true) && !is_found_by(false);
    if (!by_id_alone || IsAssignedName(resource.key())) return each.id;
    // Fields that name nothing known make no name of another owner's resource, though an id comes
    // with them: only its own id proves that they are of it.
    if (IsMine(each.id, root, ledger) && Describes(resource, each.id, ledger)) return each.id;
  }
  const bool is_any_free = std::any_of(names.begin(), names.end(), [&](const DeclaredName& name) {
    return !ledger.Named(name.text);
  });
  return matches.empty() || is_any_free ? ledger.NewResource() : matches.front().id;
}

// An id that nobody has joins its declarant's resource, never one that another owner has.
bool TakesId(const ResourceId& id, const Slot& root, const Ledger& ledger) {
  if (ledger.OwnerOf(id) && !IsMine(id, root, ledger)) return false;
  const std::vector<ResourceName> names = ledger.NamesOf(id);
  return std::count_if(names.begin(), names.end(), [](const ResourceName& name) {
           return name.sort == NameSort::kAssigned;
         }) < kIdsMax;
}

struct Declarant {
  const Object& object;
  const KeyText* located;  // the declaration's; null: it has none
};

ResourceId JoinName(const DeclaredName& declared, const ResourceId& target,
                    const Declarant& declarant, Ledger& ledger) {
  const auto& [object, located] = declarant;
  const KeyText& name = declared.text;
  const bool assigned = IsAssignedName(name);
  const auto named = ledger.Named(name);
  if (!named) {
    if (!assigned || TakesId(target, object.root, ledger)) {
      PutName(name, target, declared.observed, ledger);
    }
    return target;
  }
  const ResourceId& at = named->resource;
  if (at == target) {
    if (named->observed && !declared.observed) {
      ResourceName configured = *named;
      configured.observed = false;
      ledger.PutName(std::move(configured));
    }
    return target;
  }
  const auto here = LocatedName(target, ledger);
  if (Differ(LocatedName(at, ledger), here ? &*here : located)) {
    if (assigned || IsLocated(name) || OthersDeclareBy(name, at, object, ledger)) return target;
    ReserveToo(at, target, AccountIn(name), ledger);
    if (const auto owner = ledger.OwnerOf(at)) {
      AuditNames(*owner, "its name " + name.text + " names another resource now", ledger);
    }
    ResourceName moved = *named;
    moved.resource = target;
    moved.observed = false;
    ledger.PutName(std::move(moved));
    return target;
  }
  if (AreApart(target, at, ledger)) return target;
  const auto holder = ledger.OwnerOf(at);
  const auto owner = ledger.OwnerOf(target);
  // A target that was only observed becomes the declarant's.
  const bool merges =
      !holder || (owner ? MayMerge(*owner, *holder, ledger)
                        : holder->root == object.root && holder->record != Record::kImported);
  return merges ? Merge(target, at, ledger) : target;
}

// The located name is known: people see the account.
void NoteAccount(const ResourceId& id, const KeyText& located, Ledger& ledger) {
  auto owner = ledger.OwnerOf(id);
  if (!owner || IsAccount(owner->identity.account)) return;
  if (ResourceNamed(located, ledger) != id) return;
  owner->identity.account = AccountIn(located);
  ledger.PutOwner(*std::move(owner));
}

}  // namespace

ResourceId JoinNames(const DeclaredResource& resource, const Object& object, Ledger& ledger) {
  const KeyText* const located = LocatedNameOf(resource);
  for (const DeclaredName& name : resource.names) {
    const bool is_configured =
        !name.observed && (name.text == resource.key() || IsAssignedName(name.text));
    if (is_configured && SortOf(name.text) != NameSort::kDeclared) {
      TakeObserved(name.text, object.root, ledger);
    }
  }
  ResourceId target = TargetOf(resource, object.root, ledger);
  for (const DeclaredName& name : resource.names) {
    target = JoinName(name, target, {object, located}, ledger);
    // At once: it tells the resource apart from those that the names after it belong to.
    if (located != nullptr) NoteAccount(target, *located, ledger);
  }
  // A name without account is of a catalogue that knew none: its owner tells the account now.
  if (const auto name = WithoutAccount(resource.key())) {
    const auto named = ledger.Named(*name);
    if (named && named->resource == target && IsMine(target, object.root, ledger)) {
      ledger.MayLose(*name);
      ledger.DropName(IdOf(*named));
    }
  }
  return target;
}

ResourceId ObserveNew(const DeclaredResource& resource, Ledger& ledger) {
  ResourceId id = ledger.NewResource();
  PutName(resource.key(), id, false, ledger);
  return id;
}

// --- An account that became known
// -----------------------------------------------------------------

namespace {

constexpr std::string_view kMoved = "its ProviderConfig ";
constexpr std::string_view kLeads = " leads to account ";
constexpr std::string_view kNow = " now";

// The rows of the owner's resource that declare it by the provisional account, the owner's first,
// then the oldest.
std::vector<Row> DeclaringBy(const Owner& owner, const std::string& account, const Ledger& ledger) {
  std::vector<Row> rows = ledger.RowsOf(owner.id);
  // A row that is here for an id alone, by other fields, says nothing about its account.
  std::erase_if(rows, [&](const Row& row) {
    return row.identity.account != account || row.identity.parts != owner.identity.parts;
  });
  const auto rank = [&](const Row& row) {
    return std::tuple(row.root != owner.root, row.at, row.id.uid);
  };
  std::sort(rows.begin(), rows.end(),
            [&](const Row& a, const Row& b) { return rank(a) < rank(b); });
  return rows;
}

// The resource lies in another account: declarations by the provisional account are of the one in
// `change.to` now.
bool MoveDeclarations(const Owner& owner, const AccountChange& change, Ledger& ledger) {
  const auto located = LocatedName(owner.id, ledger);
  if (!located || AccountIn(*located) == change.to) return false;
  std::vector<Row> rows = DeclaringBy(owner, change.from, ledger);
  std::erase_if(rows, [](const Row& row) { return !Manages(row); });
  if (rows.empty()) return false;
  const auto named = ledger.Named(WithAccount(*located, change.from));
  if (named && named->resource == owner.id) {
    ledger.MayLose(named->name);
    ledger.DropName(IdOf(*named));
  }
  const std::string reason = MovedReason(change);
  for (const Row& row : rows) DeclareIn(change.to, row, reason, ledger);
  // Rows that are only reserved there end by their proof. The owner's rows last: no conflict
  // inherits the resource that it is about to leave.
  for (auto row = rows.rbegin(); row != rows.rend(); ++row) {
    if (row->id.state == RowState::kReserved) continue;
    ledger.MayEnd(row->id.uid);
    EndRow(row->id, End::kUnproved, reason, ledger);
  }
  return true;
}

// Resources of two owners do not merge: the declarants of the one have a row at the other, too.
bool StandAt(const Owner& other, const ResourceId& id, Ledger& ledger) {
  bool changed = false;
  for (Row row : ledger.RowsOf(id)) {
    row.id.resource = other.id;
    if (!Manages(row) || ledger.FindRow(row.id)) continue;
    auto owner = ledger.OwnerOf(other.id);
    const bool is_record =
        owner->record == Record::kOrphaned || owner->record == Record::kTransferring;
    if (is_record && row.root == owner->root) {
      owner->record = Record::kNone;
      owner->record_reason.clear();
      AuditNames(*owner, "declared again by another name", ledger);
      ledger.PutOwner(*owner);
    }
    if (row.root != owner->root) {
      AuditEntry entry =
          EntryOf(AuditAction::kConflict, *owner, "its account became known", "names");
      entry.root = row.root;
      entry.slot = row.slot;
      entry.uid = row.id.uid;
      ledger.Audit(std::move(entry));
    }
    ledger.PutRow(std::move(row));
    changed = true;
  }
  return changed;
}

bool Locate(const Owner& owner, std::string_view account, Ledger& ledger) {
  const auto located = NameIn(account, owner.id, ledger);
  if (!located) return false;  // its fields are not known: they tell the account later
  const auto known = LocatedName(owner.id, ledger);
  if (known && *known != *located) return false;  // two located names are two resources (I17)
  TakeObserved(*located, owner.root, ledger);
  auto named = ledger.Named(*located);
  if (!named || named->resource == owner.id) {
    if (named && !named->observed) return false;
    if (!named) PutName(*located, owner.id, false, ledger);
    if (named) {
      named->observed = false;
      ledger.PutName(*std::move(named));
    }
    NoteAccount(owner.id, *located, ledger);
    return true;
  }
  const auto other = ledger.OwnerOf(named->resource);
  if (!other || (MayMerge(*other, owner, ledger) && !AreApart(other->id, owner.id, ledger))) {
    NoteAccount(Merge(named->resource, owner.id, ledger), *located, ledger);
    return true;
  }
  return StandAt(*other, owner.id, ledger);
}

}  // namespace

std::size_t LocateResources(std::span<const ResourceId> ids, const AccountChange& change,
                            Ledger& ledger) {
  std::size_t changed = 0;
  for (const ResourceId& id : ids) {
    const auto owner = ledger.OwnerOf(id);
    if (!owner) continue;
    const std::vector<ResourceName> names = ledger.NamesOf(id);
    const bool is_named_by = std::any_of(names.begin(), names.end(), [&](const ResourceName& name) {
      return name.sort == NameSort::kDeclared && AccountIn(name.name) == change.from;
    });
    if (!is_named_by && DeclaringBy(*owner, change.from, ledger).empty()) continue;
    if (MoveDeclarations(*owner, change, ledger) || Locate(*owner, change.to, ledger)) ++changed;
  }
  return changed;
}

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

std::string WhyNotDeclared(const ObjectFacts& object, const Row& row) {
  for (const DeclaredResource& resource : object.resources) {
    const bool same = DeclaredIdentity(resource) == row.identity;
    if (!same || resource.identity.account == row.identity.account) continue;
    return MovedReason({row.identity.account, resource.identity.account});
  }
  return "no longer declared";
}

// --- Another catalogue
// ----------------------------------------------------------------------------

namespace {

// A resource as another catalogue sees it: its names by fields, told apart by what they name.
struct Part {
  std::vector<Row> rows;
  bool has_record = false;
};
struct Parts {
  std::map<KeyText, Part> by_text;  // spelt under the account of the resource's best name
  std::vector<ResourceName> names;  // those by fields, as they are spelt now
  KeyText own;                      // the part that keeps the id; empty: no field spells a name
};

Parts PartsOf(const ResourceId& id, const Spelling& spelling, const Ledger& ledger) {
  Parts parts;
  std::vector<ResourceName> names = ledger.NamesOf(id);
  std::erase_if(names, [](const ResourceName& name) { return !IsOfFields(name); });
  if (names.empty()) return parts;
  const KeyText best = BestOf(names);
  // The located one first: it tells two of one text apart.
  std::stable_partition(names.begin(), names.end(),
                        [](const ResourceName& name) { return name.sort == NameSort::kLocated; });
  parts.names = std::move(names);
  const auto spelt = [&](ResourceIdentity identity) {
    // An identity may know another account than its name (DeclaredIdentity).
    if (std::string account = AccountIn(best); !account.empty()) {
      identity.account = std::move(account);
    }
    return spelling(identity).value_or(best);
  };
  for (Row& row : ledger.RowsOf(id)) {
    const KeyText text = spelt(row.identity);
    parts.by_text[text].rows.push_back(std::move(row));
  }
  const auto owner = ledger.OwnerOf(id);
  if (owner && owner->record != Record::kNone) {
    parts.own = spelt(owner->identity);
    parts.by_text[parts.own].has_record = true;
    return parts;
  }
  // The part that the ownership itself describes, where its root manages; else the first such one.
  const auto is_managed = [&](const Part& part) {
    return owner && RootManages(part.rows, owner->root);
  };
  if (owner) {
    const KeyText described = spelt(owner->identity);
    const auto found = parts.by_text.find(described);
    if (found != parts.by_text.end() && is_managed(found->second)) parts.own = described;
  }
  for (const auto& [text, part] : parts.by_text) {
    if (parts.own.empty() && (!owner || is_managed(part))) parts.own = text;
  }
  return parts;
}

// How `name` is spelt of the part that `text` names.
KeyText SpeltFor(const KeyText& text, const ResourceName& name) {
  const std::string account = AccountIn(name.name);
  return account.empty() || AccountFieldIn(text).empty() ? text : WithAccount(text, account);
}

bool IsSpeltOtherwise(const Parts& parts) {
  if (parts.own.empty()) return false;
  if (parts.by_text.size() > 1) return true;
  return std::any_of(parts.names.begin(), parts.names.end(), [&](const ResourceName& name) {
    return SpeltFor(parts.own, name) != name.name;
  });
}

// The resource that has `text` in the spelling of this pass: one that waits for the pass has it
// only where it keeps it.
std::optional<ResourceId> HolderOf(const KeyText& text, const Spelling& spelling,
                                   const Ledger& ledger) {
  for (ResourceName& named : ledger.Spelt(text)) {
    const Parts parts = PartsOf(named.resource, spelling, ledger);
    const bool keeps =
        named.spelling == ledger.spelling() || parts.own.empty() ||
        std::any_of(parts.names.begin(), parts.names.end(),
                    [&](const ResourceName& name) { return SpeltFor(parts.own, name) == text; });
    if (keeps) return std::move(named.resource);
  }
  return std::nullopt;
}

// Two accounts have two resources, also where a name that tells neither is spelt the same for both.
bool AreInTwoAccounts(const ResourceId& a, const ResourceId& b, const KeyText& text,
                      const Ledger& ledger) {
  const auto one = LocatedName(a, ledger);
  const auto two = LocatedName(b, ledger);
  return !AccountFieldIn(text).empty() && one && two && AccountIn(*one) != AccountIn(*two);
}

// Of the resources that its declarations mean now, the owner keeps the one of `rows`.
void FollowPart(const std::vector<Row>& rows, Owner& owner) {
  for (const Row& row : rows) {
    if (!Manages(row) || row.root != owner.root) continue;
    if (row.identity.parts == owner.identity.parts) return;
    std::string account = std::move(owner.identity.account);
    owner.identity = row.identity;
    if (IsAccount(account)) owner.identity.account = std::move(account);
    owner.name = row.identity.parts.empty() ? "" : row.identity.parts.back().second;
    owner.arn.clear();  // the next sight tells it
    return;
  }
}

void AuditPart(const Owner& owner, const KeyText& text, const std::string& cause, Ledger& ledger) {
  AuditEntry entry = EntryOf(AuditAction::kMoved, owner, cause, "catalogue");
  entry.key = text;
  ledger.Audit(std::move(entry));
}

// A part without a managing row of the owner's root: the oldest of its declarations owns it.
Owner OldestOwns(const std::vector<Row>& rows, Ledger& ledger) {
  const Row& oldest = *std::min_element(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
    return std::tuple(!Manages(a), a.at, a.id.uid) < std::tuple(!Manages(b), b.at, b.id.uid);
  });
  Owner owner;
  owner.root = oldest.root;
  owner.party = PartyOf(oldest.root);
  owner.identity = oldest.identity;
  owner.name = oldest.identity.parts.empty() ? "" : oldest.identity.parts.back().second;
  owner.since = oldest.at;
  owner.real = oldest.id.state == RowState::kSeen;
  owner.managed_once = RootHasManaged(rows, owner.root);
  DescribeRoot(owner.root, owner, ledger);
  return owner;
}

// The part of the resource `id` becomes a resource of its own. Returns its id.
ResourceId SplitOff(const ResourceId& id, const std::pair<const KeyText, Part>& spelt,
                    const std::string& cause, Ledger& ledger) {
  const Part& part = spelt.second;
  ResourceId fresh = ledger.NewResource();
  const auto owner = ledger.OwnerOf(id);
  const bool is_managed = std::any_of(part.rows.begin(), part.rows.end(), Manages);
  if (is_managed) {
    const bool is_owners = owner && RootManages(part.rows, owner->root);
    Owner own = is_owners ? *owner : OldestOwns(part.rows, ledger);
    own.id = fresh;
    FollowPart(part.rows, own);
    AuditPart(own, spelt.first, cause, ledger);
    ledger.PutOwner(std::move(own));
    for (Agreement agreement : is_owners ? ledger.AgreementsOf(id) : std::vector<Agreement>()) {
      agreement.id = ledger.NewId();
      agreement.resource = fresh;
      ledger.PutAgreement(std::move(agreement));
    }
  }
  for (const Row& row : part.rows) MoveRow(row, fresh, ledger);
  return fresh;
}

// Two resources are one by the new spelling. Of one owner they merge; else the elder's owner stays.
ResourceId Unite(const ResourceId& a, const ResourceId& b, Ledger& ledger) {
  const auto one = ledger.OwnerOf(a);
  const auto two = ledger.OwnerOf(b);
  if (!one || !two || MayMerge(*one, *two, ledger)) return Merge(a, b, ledger);
  const bool is_first = std::tuple(one->since, one->id) <= std::tuple(two->since, two->id);
  const ResourceId& elder = is_first ? a : b;
  const ResourceId& younger = is_first ? b : a;
  UniteAgreements(younger, elder, elder, ledger);
  for (Row& row : ledger.RowsOf(younger)) MoveRow(std::move(row), elder, ledger);
  for (ResourceName& name : ledger.NamesOf(younger)) {
    name.resource = elder;
    ledger.PutName(std::move(name));
  }
  ledger.DropOwner(younger);
  KeepFormerId(younger, elder, ledger);
  return elder;
}

}  // namespace

Spelling SpellingOf(const Catalogue& catalogue) {
  return [&catalogue](const ResourceIdentity& identity) -> std::optional<KeyText> {
    const TypeSpec* spec = catalogue.FindType(identity.type);
    return spec == nullptr ? std::nullopt : KeyAnew(identity, *spec);
  };
}

bool IsSpeltOtherwise(const ResourceId& id, const Spelling& spelling, const Ledger& ledger) {
  return IsSpeltOtherwise(PartsOf(id, spelling, ledger));
}

std::size_t Respell(std::span<const ResourceId> ids, const SpellingPass& pass, Ledger& ledger) {
  const Spelling& spelling = pass.spelling;
  ledger.Respells(pass.number);
  std::size_t changed = 0;
  // The resource that two became may have names that wait for the pass: it is looked at again.
  std::vector<ResourceId> waiting(ids.rbegin(), ids.rend());
  while (!waiting.empty()) {
    const ResourceId id = std::move(waiting.back());
    waiting.pop_back();
    const Parts parts = PartsOf(id, spelling, ledger);
    if (!IsSpeltOtherwise(parts)) continue;
    ++changed;
    // First the old names go: their texts may be another resource's in the new spelling.
    for (const ResourceName& name : parts.names) ledger.DropName(IdOf(name));
    if (auto owner = ledger.OwnerOf(id)) {
      AuditPart(*owner, parts.own, pass.cause, ledger);
      if (owner->record == Record::kNone) FollowPart(parts.by_text.at(parts.own).rows, *owner);
      ledger.PutOwner(*std::move(owner));
    }
    for (const auto& spelt_part : parts.by_text) {
      const KeyText& text = spelt_part.first;
      ResourceId at = text == parts.own ? id : SplitOff(id, spelt_part, pass.cause, ledger);
      for (const ResourceName& name : parts.names) {
        const KeyText spelt = SpeltFor(text, name);
        const auto holder = HolderOf(spelt, spelling, ledger);
        if (holder && *holder != at && !AreInTwoAccounts(*holder, at, spelt, ledger)) {
          at = Unite(*holder, at, ledger);
          waiting.push_back(at);
        }
        if (!holder) {
          ResourceName anew = name;
          anew.name = spelt;
          anew.resource = at;
          anew.sort = SortOf(spelt);
          anew.spelling = pass.number;
          ledger.PutName(std::move(anew));
        }
      }
    }
  }
  return changed;
}

}  // namespace truce
