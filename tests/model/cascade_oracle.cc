// What must hold: the checks of a cascade world, by what really is.
#include <algorithm>
#include <utility>

#include "registry/identity/successors.h"
#include "registry/ownership/grant.h"
#include "registry/ownership/names.h"
#include "tests/model/cascade_world.h"
#include "tests/support/audit_only_grew.h"

namespace truce {
namespace {

// Contents are compared and proved whole at every so many steps; decisions always are.
constexpr unsigned kWholeEvery = 16;

bool IsProvisionalAccount(const std::string& name) { return name.find("|?") != std::string::npos; }

// Only a status told the name of whoever has it.
bool IsObserved(const KeyText& name, const Facts& facts) {
  const auto named = facts.Named(name);
  return named && named->observed;
}

bool Has(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool CanAct(const Thing& thing) {
  return thing.intent == Intent::kDeletes ||
         (thing.intent == Intent::kManages && !thing.terminating);
}

}  // namespace

bool CascadeWorld::IsCurrent(const std::string& config) const {
  return views_.at(config).seen == configs_.at(config);
}

void CascadeWorld::Excuse(const Thing& thing) {
  const auto resource = cloud_.find(TargetOf(thing));
  if (resource != cloud_.end()) resource->second.exempt = true;
}

// S2: what the registry knows of another party's living resource is granted only by that one's
// word.
void CascadeWorld::CheckGranted(Thing& thing, const Slot& root) {
  if (thing.intent == Intent::kObserves) return;
  // Declared anew by its party the resource is not handed over any more.
  const auto handed =
      handed_.find(thing.managed() ? TargetOf(thing) : std::string(kBucketType) + " " + thing.name);
  if (handed != handed_.end() && thing.slot != handed->second.first.slot &&
      thing.slot != handed->second.second.slot) {
    handed_.erase(handed);
  }
  for (const std::string& name : NamesOf(thing, profile_.guarded)) {
    if (reserved_ && !thing.exempt && Spelt(name) == OutsideBucket().resource.key()) {
      Fails("S2: " + ForPeople(thing.slot) + " was granted a name that is reserved");
    }
    const auto known = known_.find(name);
    if (known == known_.end() || !cloud_.contains(known->second.target)) continue;
    const std::string target = known->second.target;
    CloudResource& resource = cloud_.at(target);
    if (resource.exempt || resource.party == thing.party || resource.alone == thing.slot) continue;
    if (bound_ever_.contains(resource.party) && bound_ever_.contains(thing.party)) {
      thing.licensed = true;
      continue;
    }
    bool taken = false;  // by configuration, before: see CheckKnown
    Read([&](const Facts& facts) {
      taken = known->second.observed && !IsObserved(Spelt(name), facts);
    });
    if (taken) continue;
    const auto owner = registry_->OwnerNamed(Spelt(name));
    const std::set<std::string>& words = words_[target];
    const bool named = std::any_of(words.begin(), words.end(), [&](const std::string& word) {
      return NamesSuccessor(word, root.cluster, root);
    });
    const bool handed_over = named && owner && owner->root == root;
    if (handed_over) {
      Say(target + " is handed over to " + thing.party);
      resource.party = thing.party;
      words_.erase(target);
      std::erase_if(known_, [&](const auto& entry) { return entry.second.target == target; });
    } else if (!thing.exempt) {
      Fails("S2: " + ForPeople(thing.slot) + " was granted " + name + " of " + resource.party);
    }
  }
}

// S1 at admission: no other one that could be known manages what it really means.
void CascadeWorld::CheckAdmitted(Thing& thing) {
  const std::string target = TargetOf(thing);
  if (target.empty() || thing.intent == Intent::kObserves) return;
  const std::vector<std::string> mine = NamesOf(thing, profile_.guarded);
  for (const auto& [slot, other] : things_) {
    if (slot == thing.slot || other.exempt || !CanAct(other) || TargetOf(other) != target) continue;
    std::vector<std::string> known;
    if (IsCurrent(other.config)) known = NamesOf(other, profile_.guarded);
    bool recorded = false;
    bool located = false;  // the registry has the name that its newest status tells
    const KeyText told = Spelt(LocatedNameOf(other));
    Read([&, theirs = other.uid](const Facts& facts) {
      for (const std::string& uid : {thing.uid, theirs}) {
        for (const Row& row : facts.RowsOfUid({uid})) {
          const auto owner = facts.OwnerOf(row.id.resource);
          const auto named = facts.Named(told);
          recorded = recorded || (owner && owner->root != row.root);
          located = located || (uid == theirs && row.id.state == RowState::kSeen && owner &&
                                named && named->resource == owner->id);
        }
      }
    });
    if (!other.shown.empty() && !located) known = NamesOf(other, false);
    const bool shared = std::any_of(mine.begin(), mine.end(),
                                    [&](const std::string& name) { return Has(known, name); });
    if (!shared || recorded) {
      thing.exempt = true;
    } else if (!thing.exempt) {
      Fails("S1: " + ForPeople(thing.slot) + " was admitted beside " + ForPeople(slot) + ": " +
            target);
    }
  }
}

// S3: what no rule can be a reason to refuse.
void CascadeWorld::CheckRefused(const Thing* old, const Thing& next, const Decision& decision) {
  const bool adds = old == nullptr || next.name != old->name || next.config != old->config ||
                    next.id != old->id || next.intent > old->intent;
  if (!adds) Fails("S3: an update that adds nothing was refused: " + ForPeople(next.slot));
  for (const Clash& clash : decision.denied) {
    if (clash.holder.root == decision.root && clash.reason != ClashReason::kSibling) {
      Fails("S3: the holder itself was refused: " + ForPeople(next.slot));
    }
    if (profile_.guarded || !moving_.empty()) continue;
    bool told = false;
    Read([&](const Facts& facts) {
      for (const std::string& name : NamesOf(next, false)) {
        const auto owner = OwnerByName(Spelt(name), facts);
        const bool held = owner && owner->id == clash.holder.id;
        told = told || (held && !IsObserved(Spelt(name), facts));
      }
    });
    if (!told && next.managed()) {
      Fails("S3: a status alone refused " + ForPeople(next.slot) + " " + clash.holder.key.text);
    }
  }
}

// S2 at the provider: what belongs to another party is neither adopted nor deleted.
void CascadeWorld::CheckForeign(const Thing& thing, const std::string& verb) {
  const std::string target = TargetOf(thing);
  const CloudResource& resource = cloud_.at(target);
  if (resource.party == thing.party || resource.exempt || thing.exempt || thing.licensed) return;
  if (resource.alone == thing.slot) return;
  // Its owner's word, given before the registry knew that it exists.
  const std::set<std::string>& words = words_[target];
  const bool named = std::any_of(words.begin(), words.end(), [&](const std::string& word) {
    return NamesSuccessor(word, thing.slot.cluster, thing.slot);
  });
  if (named) return;
  if (bound_ever_.contains(resource.party) && bound_ever_.contains(thing.party)) return;
  const bool could_know = !thing.has_account() || resource.by.contains(thing.first) ||
                          (resource.seen && Has(thing.judged, LocatedNameOf(thing)));
  if (!could_know) return;
  Fails("S2: " + ForPeople(thing.slot) + " " + verb + " " + target + " of " + resource.party);
}

// The located name of what it really means; the only one of what needs no account.
std::string CascadeWorld::LocatedNameOf(const Thing& thing) const {
  const std::vector<std::string> names = NamesOf(thing, false);
  if (names.empty() || !thing.has_account()) return names.empty() ? "" : names.front();
  return WithAccount({names.front()}, configs_.at(thing.config).account).text;
}

// S4: the resources whose end the last version shows, when it really is gone and nothing stood in
// the way of seeing that.
std::vector<ResourceId> CascadeWorld::ClearEnds(const Thing& last) const {
  std::vector<ResourceId> ids;
  const auto alive = last_alive_.find(last.uid);
  const bool shows = last.managed() && last.intent == Intent::kDeletes && last.terminating &&
                     (last.deleting || (last.let_go && !unsettled_.contains(last.uid))) &&
                     !last.forged && !last.moved && !disturbed_.contains(last.uid) &&
                     !cloud_.contains(TargetOf(last)) && alive != last_alive_.end();
  // By which policy it was told to delete must have been seen before it said so.
  const bool same = shows && alive->second.name == last.name && alive->second.id == last.id &&
                    alive->second.intent == last.intent;
  if (!same) return ids;
  const std::uint64_t config = configs_.at(last.config).version;
  const auto view = first_views_.find(last.uid);
  const bool kept = IsCurrent(last.config) && view != first_views_.end() &&
                    view->second == config && config < last.born &&
                    alive->second.config == last.config;
  const std::string& account = views_.at(last.config).account;
  const bool told = account.empty() || account == configs_.at(last.config).account;
  if (last.has_account() && !(kept && told)) return ids;
  // What is said to be deleted is, wherever its name needs no account; not what is not found.
  const bool found_nothing_there =
      config <= alive->second.version && alive->second.config == last.config;
  if (!last.deleting && !found_nothing_there) return ids;
  Read([&](const Facts& facts) {
    const auto owner = OwnerByName(Spelt(NamesOf(last).back()), facts);
    if (!owner || owner->record != Record::kNone) return;
    for (const Row& row : facts.RowsOfUid({last.uid})) {
      if (row.id.resource != owner->id) return;  // in conflict elsewhere
    }
    for (const Row& row : facts.RowsOf(owner->id)) {
      const bool mine = row.id.uid.text == last.uid && row.root == owner->root;
      const bool other = !mine && row.managed && Manages(row);
      if (other) return ids.clear();
      if (mine && row.id.state == RowState::kSeen) ids.push_back(owner->id);
    }
  });
  return ids;
}

void CascadeWorld::CheckFreed(const std::vector<ResourceId>& ids, const Thing& last) {
  const auto owner = registry_->OwnerNamed(Spelt(NamesOf(last).back()));
  if (!owner || std::find(ids.begin(), ids.end(), owner->id) == ids.end()) return;
  if (owner->record != Record::kNone || owner->real) {
    Fails("S4: " + owner->key.text + " ended before our eyes, and is held");
  }
}

void CascadeWorld::NoteHeir(const std::string& target, const std::string& successor) {
  for (const char* party : {"p0", "p1", "p2"}) {
    const std::string part = std::string("/") + party + "/";
    if (successor.find(part) != std::string::npos) heirs_[target].insert(party);
  }
}

// An annotation is the owner's word when a version brings it.
void CascadeWorld::NoteWord(const Thing& thing) {
  std::string& before = words_seen_[thing.uid];
  if (before == thing.transfer_to) return;
  before = thing.transfer_to;
  Read([&](const Facts& facts) {
    const auto object = facts.ObjectByUid({thing.uid});
    const Slot root = object ? object->root : thing.slot;
    const auto note_thing = [&](const Thing& each) {
      const auto other = facts.ObjectByUid({each.uid});
      if (!other || other->root != root) return;
      words_[TargetOf(each)] = {thing.transfer_to};
      NoteHeir(TargetOf(each), thing.transfer_to);
    };
    for (const auto& [uid, each] : last_seen_) note_thing(each);
    for (const auto& [slot, each] : things_) note_thing(each);
    for (const auto& [name, known] : known_) {
      const auto owner = OwnerByName(Spelt(name), facts);
      const bool holds = owner && owner->root == root;  // what it left orphaned, too
      if (holds) words_[known.target].insert(thing.transfer_to);
      if (holds) NoteHeir(known.target, thing.transfer_to);
    }
  });
}

void CascadeWorld::CheckManagers() {
  std::map<std::string, const Thing*> managers;
  for (const auto& [slot, thing] : things_) {
    const std::string target = TargetOf(thing);
    if (target.empty() || thing.exempt || !CanAct(thing)) continue;
    const auto [at, added] = managers.try_emplace(target, &thing);
    if (added) continue;
    Fails("S1: " + target + " is managed by " + ForPeople(at->second->slot) + " and " +
          ForPeople(slot));
  }
}

void CascadeWorld::CheckKnown(const Facts& facts) {
  for (auto at = known_.begin(); at != known_.end();) {
    auto& [name, known] = *at;
    const auto resource = cloud_.find(known.target);
    if (resource == cloud_.end() || resource->second.exempt) {
      at = known_.erase(at);
      continue;
    }
    ++at;
    const auto owner = OwnerByName(Spelt(name), facts);
    if (!owner && known.observed) continue;  // configuration took it, and ended: below
    if (!owner) {
      Fails("S2: " + name + " was freed while " + known.target + " lives");
      continue;
    }
    const auto is_of = [&](const std::string& party) {
      return owner->party.text == "ns:local/" + party;
    };
    if (IsProvisionalAccount(name) || known.parties.contains(owner->party.text) ||
        is_of(resource->second.party)) {
      continue;
    }
    // Configuration takes what is known from a status alone (W5).
    if (known.observed && !IsObserved(Spelt(name), facts)) continue;
    // The chain that it belongs to is joined from below, and has no party yet.
    const auto top = things_.find(owner->root);
    if (top != things_.end() && top->second.party == resource->second.party) {
      known.parties.insert(owner->party.text);  // also when that top is gone
      continue;
    }
    const std::set<std::string>& heirs = heirs_[known.target];
    const auto heir = std::find_if(heirs.begin(), heirs.end(), is_of);
    if (heir != heirs.end()) {
      resource->second.party = *heir;
      continue;
    }
    const bool bound = bound_ever_.contains(resource->second.party) &&
                       std::any_of(bound_ever_.begin(), bound_ever_.end(), is_of);
    if (!bound)
      Fails("S2: " + name + " of " + resource->second.party + " went to " + owner->party.text);
  }
}

void CascadeWorld::NoteKnown(const Facts& facts) {
  for (const auto& [slot, thing] : things_) {
    const auto resource = cloud_.find(TargetOf(thing));
    const auto seen = last_seen_.find(thing.uid);
    const bool lives = thing.managed() && resource != cloud_.end() && seen != last_seen_.end();
    if (!lives || thing.exempt || thing.forged || thing.intent == Intent::kObserves) continue;
    if (resource->second.party != thing.party || resource->second.exempt) continue;
    const std::vector<std::string> shown = NamesOf(seen->second);
    for (const std::string& name : NamesOf(thing, profile_.guarded)) {
      const bool true_name =
          IsProvisionalAccount(name) ? IsCurrent(thing.config) : name == LocatedNameOf(thing);
      const auto owner = OwnerByName(Spelt(name), facts);
      if (!true_name || !owner || !owner->real || owner->record != Record::kNone) continue;
      if (!Has(shown, name)) continue;
      const std::vector<Row> rows = facts.RowsOf(owner->id);
      const bool holds =
          std::any_of(rows.begin(), rows.end(), [&, uid = thing.uid](const Row& row) {
            return row.id.uid.text == uid && row.id.state == RowState::kSeen &&
                   row.root == owner->root;
          });
      const bool observed = IsObserved(Spelt(name), facts);
      if (!holds || (observed && !profile_.guarded)) continue;
      known_.try_emplace(name, Known{resource->first, {owner->party.text}, observed});
      resource->second.seen = resource->second.seen || !IsProvisionalAccount(name);
    }
  }
}

bool CascadeWorld::CheckStep() {
  if (!store_->complaint().empty()) Fails("S5: " + store_->complaint());
  CheckManagers();
  Read([&](const Facts& facts) {
    CheckKnown(facts);
    NoteKnown(facts);
  });
  // Who was named unseen has it once the registry says so.
  for (const auto& [target, both] : handed_) {
    const auto resource = cloud_.find(target);
    const auto owner = registry_->OwnerNamed(Spelt(NamesOf(both.second).front()));
    if (resource != cloud_.end() && owner && owner->root == both.second.slot) {
      resource->second.party = both.second.party;
    }
  }
  if (++steps_ % kWholeEvery == 0) CheckWhole();
  return broken_.empty();
}

void CascadeWorld::CheckWhole() {
  StoreContents after = registry_->Contents();
  for (const std::string& breach : CheckInvariants(after)) Fails("S5: " + breach);
  if (!testing::AuditOnlyGrew(before_, after)) Fails("S5: the audit log was changed");
  before_ = std::move(after);
}

// Whom the old owner named unseen owns it, if it still says so, and both are as they were.
void CascadeWorld::CheckHandedOver() {
  for (const auto& [target, both] : handed_) {
    const Thing& old = both.first;
    const Thing& heir = both.second;
    const Thing* before = Find(old.slot);
    const Thing* now = Find(heir.slot);
    const bool stands = before != nullptr && now != nullptr && before->uid == old.uid &&
                        now->uid == heir.uid && before->transfer_to == old.transfer_to &&
                        before->intent == Intent::kObserves && now->name == heir.name &&
                        now->intent != Intent::kObserves && !now->terminating;
    const bool alone = std::ranges::none_of(things_, [&](const auto& entry) {
      return entry.first != heir.slot && entry.second.name == heir.name &&
             entry.second.intent != Intent::kObserves;
    });
    if (!stands || !alone) continue;
    const auto owner = registry_->OwnerNamed(Spelt(NamesOf(heir).front()));
    if (!owner || owner->root != heir.slot) {
      Fails("Q: " + target + " is not handed over to " + ForPeople(heir.slot));
    }
  }
}

// When quiet.
void CascadeWorld::CheckState() {
  CheckStep();
  CheckWhole();
  CheckHandedOver();
  for (const Row& row : before_.rows) {
    const Thing* thing = Find(row.slot);
    const bool stands = thing != nullptr && thing->uid == row.id.uid.text &&
                        (!Manages(row) || thing->intent != Intent::kObserves);
    if (!stands || row.id.state != RowState::kSeen) {
      Fails("Q: phantom row of " + ForPeople(row.slot) + " on " + row.id.resource.text);
    }
  }
  Read([&](const Facts& facts) { CheckThings(facts); });
}

// What it hangs on names it, too: its claim, or, of a nested one that a restore left with a label
// alone, a composite. Without that it is a chain by itself, which takes nothing along (W3).
bool CascadeWorld::IsBoundBack(const Thing& composite) const {
  if (composite.composed && !composite.controller) {
    return std::any_of(things_.begin(), things_.end(), [&](const auto& entry) {
      const Thing& other = entry.second;
      return other.sort == Thing::Sort::kComposite && other.slot.name == composite.label &&
             std::find(other.refs.begin(), other.refs.end(), composite.slot) != other.refs.end();
    });
  }
  if (!composite.claim) return true;
  const auto claim = things_.find(*composite.claim);
  return claim != things_.end() && std::find(claim->second.refs.begin(), claim->second.refs.end(),
                                             composite.slot) != claim->second.refs.end();
}

void CascadeWorld::CheckThings(const Facts& facts) {
  for (const auto& [slot, thing] : things_) {
    const auto object = facts.ObjectByUid({thing.uid});
    if (!object) {
      Fails("Q: " + ForPeople(slot) + " is not known");
      continue;
    }
    for (const std::string& name : NamesOf(thing, profile_.guarded)) {
      if (thing.intent == Intent::kObserves || thing.exempt) break;
      const auto owner = OwnerByName(Spelt(name), facts);
      const std::vector<Row> rows = facts.RowsOfUid({thing.uid});
      // By configuration another one may have, or have had, a name that this one's status tells.
      if (!IsProvisionalAccount(name) && thing.has_account() &&
          views_.at(thing.config).account.empty()) {
        continue;
      }
      const bool has = owner && std::any_of(rows.begin(), rows.end(), [&](const Row& row) {
                         return row.id.resource == owner->id && row.id.state == RowState::kSeen;
                       });
      if (!has) Fails("Q: " + ForPeople(slot) + " has no row on " + name);
    }
    if (!thing.controller) continue;
    const Thing* above = Find(thing.controller->second);
    const bool linked =
        above != nullptr && above->uid == thing.controller->first &&
        std::find(above->refs.begin(), above->refs.end(), slot) != above->refs.end() &&
        above->party == thing.party && !thing.exempt && IsBoundBack(*above);
    const auto top = linked ? facts.ObjectByUid({above->uid}) : std::nullopt;
    if (top && top->root != object->root) {
      Fails("Q: the chain is broken at " + ForPeople(slot) + ": " + ForPeople(object->root));
    }
  }
}

std::string CascadeWorld::State() const {
  std::string text;
  const StoreContents contents = registry_->Contents();
  for (const Owner& owner : contents.owners) {
    text += "  owner of " + owner.id.text + ", " + owner.key.text + ": " + ForPeople(owner.root) +
            ", " + owner.party.text + ", " + std::string(Name(owner.record)) +
            (owner.record_reason.empty() ? "" : " (" + owner.record_reason + ")") +
            (owner.real ? ", real" : "") + ", in " + owner.identity.account + "\n";
  }
  for (const ResourceName& name : contents.names) {
    text += "  name " + name.name.text + " of " + name.resource.text +
            (name.observed ? ", observed" : "") + "\n";
  }
  for (const Row& row : contents.rows) {
    text += "  row of " + row.id.uid.text + " " + ForPeople(row.slot) + " at " +
            row.id.resource.text + ", " + std::string(Name(row.id.state)) + ", root " +
            ForPeople(row.root) + "\n";
  }
  for (const Object& object : contents.objects) {
    text += "  object " + object.uid.text + " " + ForPeople(object.slot) + ", root " +
            ForPeople(object.root) + ", parent " +
            (object.parent ? ForPeople(*object.parent) + " " + object.parent_uid.text : "-") +
            ", " + object.link + "\n";
  }
  for (const AuditEntry& entry : contents.audit) {
    text += "  " + std::string(Name(entry.action)) + " " + entry.id.text + ", " + entry.key.text +
            ", root " + ForPeople(entry.root) + ", " + entry.uid.text + ": " + entry.cause + "\n";
  }
  for (const auto& [slot, thing] : things_) {
    text += "  lives: " + ForPeople(slot) + " " + thing.uid + " means " + TargetOf(thing) +
            (thing.exempt ? ", exempt" : "") + "\n";
  }
  for (const auto& [target, resource] : cloud_) {
    text += "  exists: " + target + " of " + resource.party + (resource.exempt ? ", exempt" : "") +
            "\n";
  }
  return text;
}

}  // namespace truce
