#include "registry/ownership/names.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "registry/identity/draft.h"
#include "registry/identity/evidence.h"
#include "registry/identity/values.h"
#include "registry/ownership/grant.h"
#include "registry/ownership/ledger.h"
#include "registry/ownership/merge.h"
#include "registry/ownership/rows.h"

namespace truce {
namespace {

// Nothing else is spelt so: keys and names of AWS's have bars.
constexpr std::string_view kFormerIdPrefix = "id:";

// No account needs an escape.
bool IsLocated(const KeyText& name) {
  return IsAccount(AccountFieldIn(name)) && !IsAssignedName(name);
}

// The names of a declaration and how it knows them.
struct DeclaredName {
  const KeyText* text = nullptr;
  bool observed = false;
};

class NamesOf {
 public:
  explicit NamesOf(const DeclaredResource& resource) {
    if (!resource.key.empty()) names_[count_++] = {&resource.key, false};
    for (const FurtherName& name : resource.further) {
      if (count_ < names_.size()) names_[count_++] = {&name.text, name.observed};
    }
  }
  const DeclaredName* begin() const { return names_.data(); }
  const DeclaredName* end() const { return names_.data() + count_; }

 private:
  std::array<DeclaredName, 1 + kFurtherNamesMax> names_;
  std::size_t count_ = 0;
};

// Of the resource's own; null: it has none.
const KeyText* LocatedNameOf(const DeclaredResource& resource) {
  for (const DeclaredName& name : NamesOf(resource)) {
    if (IsLocated(*name.text)) return name.text;
  }
  return nullptr;
}

std::optional<KeyText> LocatedNameAt(const KeyText& key, const Ledger& ledger) {
  if (IsLocated(key)) return key;
  if (const auto owner = ledger.OwnerOf(key)) return LocatedName(*owner);
  for (ResourceName& name : ledger.FurtherNamesOf(key)) {  // it is only observed
    if (name.sort == NameSort::kLocated) return std::move(name.name);
  }
  return std::nullopt;
}

bool Differ(const std::optional<KeyText>& a, const KeyText* b) {
  return a && b != nullptr && *a != *b;
}

// IsAside: as a key the located name would count as if configuration told it.
KeyText AsideOf(const KeyText& name, const KeyText& located) {
  return WithAccount(name, ProvisionalAccountIn(name) + "/" + AccountIn(located));
}

// Under what the resource at the provisional account `name`, which is another one's from now on, is
// kept: under its located name, if more than a status tells that.
KeyText KeptUnder(const KeyText& name, const KeyText& located, const Ledger& ledger) {
  const auto further = ledger.FurtherName(located);
  const bool observed = further && further->key == name && further->observed;
  return observed ? AsideOf(name, located) : located;
}

bool IsObserved(const DeclaredResource& resource, const KeyText& name) {
  return name != resource.key &&
         std::all_of(resource.further.begin(), resource.further.end(),
                     [&](const FurtherName& each) { return each.text != name || each.observed; });
}

}  // namespace

NameSort SortOf(const KeyText& name) {
  if (IsAssignedName(name)) return NameSort::kAssigned;
  return IsLocated(name) ? NameSort::kLocated : NameSort::kDeclared;
}

KeyText FormerIdName(const PublicId& id) {
  KeyText name{std::string(kFormerIdPrefix)};
  name.text += id.text;
  return name;
}

std::optional<PublicId> FormerIdOf(const ResourceName& name) {
  if (name.sort != NameSort::kFormerId) return std::nullopt;
  return PublicId{name.name.text.substr(std::min(kFormerIdPrefix.size(), name.name.text.size()))};
}

void KeepFormerId(const PublicId& id, const KeyText& key, Ledger& ledger) {
  ledger.PutName({.name = FormerIdName(id),
                  .key = key,
                  .sort = NameSort::kFormerId,
                  .observed = false,
                  .at = ledger.now()});
  std::vector<ResourceName> ids = ledger.FurtherNamesOf(key);
  std::erase_if(ids, [](const ResourceName& name) { return name.sort != NameSort::kFormerId; });
  std::stable_sort(ids.begin(), ids.end(),
                   [](const ResourceName& a, const ResourceName& b) { return a.at > b.at; });
  // The links that go stale are those that were given out longest ago.
  for (std::size_t i = kFormerIdsMax; i < ids.size(); ++i) ledger.DropName(ids[i].name);
}

std::optional<KeyText> ResourceOf(const KeyText& name, const Ledger& ledger) {
  if (ledger.HasOwner(name)) return name;
  if (auto further = ledger.FurtherName(name)) return std::move(further->key);
  if (!ledger.RowsOfKey(name).empty()) return name;
  return std::nullopt;
}

std::optional<Owner> OwnerByName(const KeyText& name, const Facts& facts) {
  if (auto owner = facts.OwnerOf(name)) return owner;
  const auto further = facts.FurtherName(name);
  return further ? facts.OwnerOf(further->key) : std::nullopt;
}

bool Facts::IsTaken(const KeyText& name) const { return OwnerByName(name, *this).has_value(); }

std::optional<Owner> OwnerByNames(const DeclaredResource& resource, const Facts& facts) {
  for (const DeclaredName& name : NamesOf(resource)) {
    if (auto owner = OwnerByName(*name.text, facts)) return owner;
  }
  return std::nullopt;
}

std::optional<KeyText> LocatedName(const Owner& owner) {
  if (!IsAccount(owner.identity.account) || AccountIn(owner.key).empty()) return std::nullopt;
  if (IsAssignedName(owner.key)) return std::nullopt;
  return WithAccount(owner.key, owner.identity.account);
}

bool InAnotherAccount(const DeclaredResource& resource, const Owner& owner) {
  return Differ(LocatedName(owner), LocatedNameOf(resource));
}

void AwaitNames(const MovingAccounts& moving, ObjectFacts& object) {
  if (moving.empty()) return;
  for (DeclaredResource& resource : object.resources) {
    resource.awaited.clear();
    for (const DeclaredName& name : NamesOf(resource)) {
      if (name.observed || !IsLocated(*name.text)) continue;
      const auto provisional_accounts = moving.find(AccountIn(*name.text));
      if (provisional_accounts == moving.end()) continue;
      for (const std::string& provisional_account : provisional_accounts->second) {
        resource.awaited.push_back(WithAccount(*name.text, provisional_account));
      }
    }
  }
}

std::vector<MeantResource> ResourcesMeant(const DeclaredResource& resource, const Ledger& ledger) {
  std::vector<MeantResource> meant;
  const KeyText* const located = LocatedNameOf(resource);
  for (const DeclaredName& name : NamesOf(resource)) {
    auto key = ResourceOf(*name.text, ledger);
    if (!key) continue;
    const bool by_configuration =
        located != nullptr && *located == resource.key && SortOf(*name.text) == NameSort::kDeclared;
    if (by_configuration) {
      const auto owner = ledger.OwnerOf(*key);
      const bool is_managed = owner && owner->record == Record::kNone;
      // The provisional account leads to another account by now: what nobody manages there was left
      // behind.
      if (!is_managed && Differ(LocatedNameAt(*key, ledger), located)) continue;
    }
    const auto further = *key == *name.text ? std::nullopt : ledger.FurtherName(*name.text);
    const bool observed = name.observed || (further && further->observed);
    const auto at = std::find_if(meant.begin(), meant.end(),
                                 [&](const MeantResource& other) { return other.key == *key; });
    if (at == meant.end()) {
      meant.push_back({*std::move(key), observed});
    } else {
      at->observed = at->observed && observed;
    }
  }
  for (const KeyText& name : resource.awaited) {
    const auto key = ResourceOf(name, ledger);
    const auto is_it = [&](const MeantResource& other) { return other.key == key; };
    // What is only observed there is nobody's.
    if (!key || !ledger.HasOwner(*key) || std::any_of(meant.begin(), meant.end(), is_it)) continue;
    if (!Differ(LocatedNameAt(*key, ledger), located)) meant.push_back({*key, false});
  }
  if (auto key = WithoutAccount(resource.key); key && ledger.HasOwner(*key)) {
    meant.push_back({*std::move(key), false});
  }
  return meant;
}

std::vector<MeantResource> ResourcesConcerned(const DeclaredResource& resource,
                                              const Ledger& ledger) {
  std::vector<MeantResource> concerned = ResourcesMeant(resource, ledger);
  const KeyText* const located = LocatedNameOf(resource);
  for (const KeyText& name : resource.awaited) {
    const auto key = ResourceOf(name, ledger);
    if (!key || !Differ(LocatedNameAt(*key, ledger), located)) continue;
    const std::string provisional_account = AccountIn(name);
    const std::vector<Row> rows = ledger.RowsOfKey(*key);
    const bool lives = std::any_of(rows.begin(), rows.end(), [&](const Row& row) {
      return Manages(row) && row.identity.account == provisional_account;
    });
    if (lives) concerned.push_back({*key, false, true});
  }
  return concerned;
}

namespace {

// When this life was first recorded to declare anything; now, when it was not yet.
Timestamp FirstRecorded(const Uid& uid, const Ledger& ledger) {
  Timestamp first = ledger.now();
  for (const Row& row : ledger.RowsOfUid(uid)) first = std::min(first, row.at);
  return first;
}

// Another root's object, or a younger one that was seen in the place of this one, declares the
// resource at `key` by the provisional account `name`.
bool OthersDeclareBy(const KeyText& name, const KeyText& key, const Object& object,
                     const Ledger& ledger) {
  const std::string account = AccountIn(name);
  const Timestamp born = FirstRecorded(object.uid, ledger);
  const std::vector<Row> rows = ledger.RowsOfKey(key);
  return std::any_of(rows.begin(), rows.end(), [&](const Row& row) {
    if (!Manages(row) || row.identity.account != account) return false;
    const bool replaced = row.slot == object.slot && row.id.uid != object.uid && row.at > born;
    return row.root != object.root || (replaced && row.id.state == RowState::kSeen);
  });
}

bool HasOtherId(const KeyText& key, const KeyText& id, const Ledger& ledger) {
  if (IsAssignedName(key)) return key != id;
  const std::vector<ResourceName> names = ledger.FurtherNamesOf(key);
  return std::any_of(names.begin(), names.end(), [&](const ResourceName& name) {
    return name.sort == NameSort::kAssigned && name.name != id;
  });
}

// Ids of what was made anew under one name; a tenant may write any number of them.
constexpr std::ptrdiff_t kIdsMax = 8;

// The root owns it, or does as soon as it declares it.
bool IsOf(const Owner& owner, const Slot& root, const Ledger& ledger) {
  if (owner.root == root || NamesSuccessor(owner, root)) return true;
  return owner.record != Record::kNone && ledger.OneParty(owner.party, PartyOf(root));
}

// An id that nobody has joins its declarant's resource, never one that another owner has.
bool TakesId(const KeyText& key, const Slot& root, const Ledger& ledger) {
  const auto owner = ledger.OwnerOf(key);
  if (owner && !IsOf(*owner, root, ledger)) return false;
  const std::vector<ResourceName> names = ledger.FurtherNamesOf(key);
  return std::count_if(names.begin(), names.end(), [](const ResourceName& name) {
           return name.sort == NameSort::kAssigned;
         }) < kIdsMax;
}

// Reservations at `from` that were made by the provisional account `account` are made at `to` as
// well, since the account goes there.
void ReserveToo(const KeyText& from, const KeyText& to, const std::string& account,
                Ledger& ledger) {
  for (Row& row : ledger.RowsOfKey(from)) {
    const bool by_it = row.identity.account == account && Manages(row);
    if (!by_it || row.id.state != RowState::kReserved) continue;
    row.id.key = to;
    if (!ledger.FindRow(row.id)) ledger.PutRow(std::move(row));
  }
}

// Where a declaration's resource is kept, and its own located name; null: it has none.
struct Home {
  const KeyText& key;
  const KeyText* located;
};

void JoinName(const DeclaredName& declared, const Home& at_home, const Object& object,
              Ledger& ledger) {
  const KeyText& home = at_home.key;
  const Slot& root = object.root;
  const KeyText& name = *declared.text;
  if (name.empty() || name == home) return;
  const auto at = ResourceOf(name, ledger);
  const bool assigned = IsAssignedName(name);
  if (!at) {
    if (!assigned || TakesId(home, root, ledger)) PutFurther(name, home, declared.observed, ledger);
    return;
  }
  const auto further = *at == name ? std::nullopt : ledger.FurtherName(name);
  if (*at == home) {
    if (further && further->observed && !declared.observed) PutFurther(name, home, false, ledger);
    return;
  }
  const auto there = LocatedNameAt(*at, ledger);
  const auto here = LocatedNameAt(home, ledger);
  if (Differ(there, here ? &*here : at_home.located)) {
    if (assigned || IsLocated(name) || OthersDeclareBy(name, *at, object, ledger)) return;
    const KeyText kept = KeptUnder(name, *there, ledger);
    // What it would be kept under instead is another owner's: the provisional account stays.
    if (*at == name && ResourceOf(kept, ledger).value_or(*at) != *at) return;
    ReserveToo(*at, home, AccountIn(name), ledger);
    if (*at == name) RenameKey(name, kept, ledger);
    PutFurther(name, home, false, ledger);
    return;
  }
  // Two resources of AWS never have one id, so one that has another is another.
  if (assigned && HasOtherId(home, name, ledger)) return;
  const auto holder = ledger.OwnerOf(*at);
  const auto owner = ledger.OwnerOf(home);
  // What was only observed at home becomes the declarant's.
  const bool merges =
      !holder ||
      (owner ? MayMerge(*owner, *holder, ledger)
             : holder->root == root && holder->record != Record::kImported && SameParts(home, *at));
  if (merges) Merge(*at, home, ledger);
}

// The located name is known: people see the account, and it tells two resources apart.
void NoteAccount(const KeyText& key, const KeyText& located, Ledger& ledger) {
  auto owner = ledger.OwnerOf(key);
  if (!owner || IsAccount(owner->identity.account)) return;
  const auto at = ResourceOf(located, ledger);
  if (at != key) return;
  owner->identity.account = AccountIn(located);
  ledger.PutOwner(*std::move(owner));
}

// Configuration is stronger evidence than a status that anybody may write: a located name that
// another party has from that alone is taken from it. Else he could hold any account's names.
void TakeObserved(const KeyText& name, const Slot& root, Ledger& ledger) {
  if (ledger.parties().statuses_guarded) return;
  const auto further = ledger.FurtherName(name);
  if (!further || !further->observed) return;
  auto owner = ledger.OwnerOf(further->key);
  if (!owner || owner->root == root || ledger.OneParty(owner->party, PartyOf(root))) return;
  if (NamesSuccessor(*owner, root)) return;
  ledger.DropName(name);
  if (IsLocated(name)) {
    owner->identity.account = ProvisionalAccountIn(owner->key);
    owner->arn.clear();
  }
  AuditNames(*owner, "only a status gave it the name " + name.text, ledger);
  ledger.PutOwner(*std::move(owner));
}

}  // namespace

namespace {

// Fields that name nothing known make no name of another owner's resource, though an id is told
// with them: only its own id tells that they are of it.
bool IsHome(const KeyText& key, const DeclaredResource& resource, const Slot& root,
            const Ledger& ledger) {
  if (Differ(LocatedNameAt(key, ledger), LocatedNameOf(resource))) return false;
  if (ResourceOf(resource.key, ledger) == key) return true;
  if (!IsAssignedName(key)) return !IsAssignedName(resource.key) && SameParts(key, resource.key);
  const auto owner = ledger.OwnerOf(key);
  return owner && IsOf(*owner, root, ledger);
}

// The owner of what is kept at `key` without an account declares it in one.
bool TellsAccount(const DeclaredResource& resource, const KeyText& key, const Slot& root,
                  const Ledger& ledger) {
  if (WithoutAccount(resource.key) != key) return false;
  const auto owner = ledger.OwnerOf(key);
  return owner && IsOf(*owner, root, ledger);
}

// Under what the declared resource is kept where another one has the name that its fields say.
KeyText InsteadOf(const DeclaredResource& resource, const KeyText& located) {
  return IsObserved(resource, located) ? AsideOf(resource.key, located) : located;
}

// The key of the resource that takes the declaration's free names. One known by its id alone is
// kept under what the fields say from now on; one without an account under its owner's.
KeyText HomeOf(const DeclaredResource& resource, const Slot& root, Ledger& ledger) {
  const auto located = LocatedNameOf(resource);
  for (const MeantResource& each : ResourcesMeant(resource, ledger)) {
    if (!IsHome(each.key, resource, root, ledger)) continue;
    const bool by_id = IsAssignedName(each.key);
    if (!by_id && !TellsAccount(resource, each.key, root, ledger)) return each.key;
    if (each.key == resource.key) return each.key;
    const auto is_taken = [&](const KeyText& key) {
      return ResourceOf(key, ledger).value_or(each.key) != each.key;
    };
    KeyText key = is_taken(resource.key) && located ? InsteadOf(resource, *located) : resource.key;
    if (is_taken(key)) return each.key;
    RenameKey(each.key, key, ledger);
    if (by_id) PutFurther(each.key, key, each.observed, ledger);
    if (auto owner = ledger.OwnerOf(key)) {
      owner->identity = resource.identity;
      owner->name = resource.name;
      ledger.PutOwner(*std::move(owner));
    }
    return key;
  }
  // What has the declared name is another resource, or it would have been home.
  if (!located || !ResourceOf(resource.key, ledger)) return resource.key;
  KeyText key = InsteadOf(resource, *located);
  if (key == *located) return key;
  const auto aside = ledger.OwnerOf(key);
  // Another root left something by the same words.
  if (aside && !IsOf(*aside, root, ledger)) {
    key = WithAccount(key, AccountIn(key) + "/" + ledger.NewId().text);
  }
  // At once: it tells the resource apart from the one that has the declared name.
  if (!ResourceOf(*located, ledger)) PutFurther(*located, key, true, ledger);
  return key;
}

}  // namespace

KeyText JoinNames(const DeclaredResource& resource, const Object& object, Ledger& ledger) {
  const KeyText* const located = LocatedNameOf(resource);
  for (const DeclaredName& name : NamesOf(resource)) {
    const bool told = !name.observed && (*name.text == resource.key || IsAssignedName(*name.text));
    if (told && SortOf(*name.text) != NameSort::kDeclared)
      TakeObserved(*name.text, object.root, ledger);
  }
  KeyText home = HomeOf(resource, object.root, ledger);
  for (const DeclaredName& name : NamesOf(resource)) {
    JoinName(name, {home, located}, object, ledger);
    // At once: it tells the resource apart from those that the names after it belong to.
    if (located) NoteAccount(home, *located, ledger);
  }
  return home;
}

bool LocateResource(const KeyText& key, std::string_view account, Ledger& ledger) {
  auto owner = ledger.OwnerOf(key);
  if (IsAssignedName(key)) return false;  // its fields are not known: they tell the account later
  const KeyText located = WithAccount(key, account);
  if (!owner || located == key) return false;
  // Two located names are two resources (I17).
  if (const auto known = LocatedName(*owner); known && *known != located) return false;
  TakeObserved(located, owner->root, ledger);
  const auto at = ResourceOf(located, ledger);
  if (!at || *at == key) {
    const auto further = ledger.FurtherName(located);
    if (further && !further->observed) return false;
    PutFurther(located, key, false, ledger);
    NoteAccount(key, located, ledger);
    return true;
  }
  auto other = ledger.OwnerOf(*at);
  if (!other || MayMerge(*other, *owner, ledger)) {
    Merge(key, *at, ledger);
    NoteAccount(*at, located, ledger);
    return true;
  }
  bool changed = false;
  for (Row row : ledger.RowsOfKey(key)) {
    row.id.key = *at;
    // Of two owners nothing merges: who declares the one has a row at the other, too.
    if (!Manages(row) || ledger.FindRow(row.id)) continue;
    const bool is_record =
        other->record == Record::kOrphaned || other->record == Record::kTransferring;
    if (is_record && row.root == other->root) {
      other->record = Record::kNone;
      other->record_reason.clear();
      AuditNames(*other, "declared again by another name", ledger);
      ledger.PutOwner(*other);
    }
    if (row.root != other->root) {
      ledger.Audit({.action = AuditAction::kConflict,
                    .key = *at,
                    .id = other->id,
                    .root = row.root,
                    .slot = row.slot,
                    .uid = row.id.uid,
                    .cause = "its account became known",
                    .actor = "names"});
    }
    ledger.PutRow(std::move(row));
    changed = true;
  }
  return changed;
}

KeyText TakeProvisionalAccount(const KeyText& name, const KeyText& key, Ledger& ledger) {
  const auto located = LocatedNameAt(key, ledger);
  if (!located) return key;
  KeyText kept = KeptUnder(name, *located, ledger);
  // Where its located name is another's, the provisional account is all that it can be kept under.
  if (ResourceOf(kept, ledger).value_or(key) != key) return key;
  if (key == name) {
    RenameKey(name, kept, ledger);
    return kept;
  }
  if (const auto further = ledger.FurtherName(name); further && further->key == key) {
    ledger.DropName(name);
  }
  return key;
}

}  // namespace truce
