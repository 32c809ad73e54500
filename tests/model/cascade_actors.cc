// Who acts on their own: deletions and what cascades from them, Crossplane, the provider, the
// restorer.
#include <algorithm>
#include <utility>

#include "tests/model/cascade_world.h"

namespace truce {
namespace {

constexpr const char* kCollector = "system:serviceaccount:kube-system:generic-garbage-collector";

Slot ComposedSlot(const Thing& composite) {
  const Slot& slot = composite.slot;
  const std::string name = slot.name + "-" + composite.uid;
  if (composite.type == kQueueType) return {"local", "sqs.aws.upbound.io", "Queue", slot.ns, name};
  return {"local", "s3.aws.upbound.io", "Bucket", slot.ns, name};
}

}  // namespace

// --- deletion -----------------------------------------------------------------------------------

void CascadeWorld::Delete(const Slot& slot, const std::string& mode) {
  Thing* found = Find(slot);
  if (found == nullptr || found->terminating) return;
  Thing thing = *found;
  Say("delete " + ForPeople(slot) + ", " + mode);
  if (!registry_->Delete(FactsOf(thing)).allowed) Fails("S3: a DELETE was refused");
  std::vector<Slot> below;
  for (const Slot& ref : thing.refs) {
    const Thing* child = Find(ref);
    const bool owned =
        child != nullptr &&
        ((child->controller && child->controller->first == thing.uid) || child->claim == slot);
    if (owned) below.push_back(ref);
  }
  if (mode == "orphan") {
    for (const Slot& ref : below) {
      Thing child = *Find(ref);
      child.controller.reset();
      if (child.managed() && !Write(child, kCollector)) Fails("S3: the link's loss was refused");
      if (Find(ref)->controller) Put(child);
    }
    std::erase_if(below, [&](const Slot& ref) { return Find(ref)->managed(); });
  }
  if (thing.managed() && !thing.finalizer) {
    Remove(slot);
    return;
  }
  thing.terminating = true;
  Put(thing);
  for (const Slot& ref : below) Delete(ref, mode);
  if (!thing.managed() && (mode != "foreground" || below.empty())) Remove(slot);
}

void CascadeWorld::Collect() {
  for (const Slot& slot : SlotsWhere([](const Thing&) { return true; })) {
    const Thing* now = Find(slot);
    if (now == nullptr) continue;
    const auto lives = [&](const std::string& uid) {
      return std::any_of(things_.begin(), things_.end(),
                         [&](const auto& entry) { return entry.second.uid == uid; });
    };
    if (now->controller && !lives(now->controller->first)) Delete(slot, "background");
    now = Find(slot);
    if (now == nullptr || now->managed() || !now->terminating) continue;
    const bool blocked = std::any_of(now->refs.begin(), now->refs.end(), [&](const Slot& ref) {
      const Thing* child = Find(ref);
      return child != nullptr && (child->controller || child->claim);
    });
    if (!blocked) Remove(slot);
  }
}

// --- Crossplane ---------------------------------------------------------------------------------

void CascadeWorld::ComposeAny() {
  const auto slot = AnyWhere([](const Thing& thing) { return !thing.managed(); });
  if (slot) Compose(*slot);
}

void CascadeWorld::Compose(const Slot& slot) {
  Thing thing = *Find(slot);
  if (thing.terminating) return;
  const Thing* child = thing.refs.empty() ? nullptr : Find(thing.refs.front());
  if (child != nullptr && child->ready && !thing.ready) {
    thing.ready = true;
    Put(thing);
  }
  if (thing.sort == Thing::Sort::kClaim) {
    ComposeClaim(std::move(thing));
  } else if (!thing.name.empty()) {
    ComposeComposite(std::move(thing));
  }
}

void CascadeWorld::ComposeClaim(Thing claim) {
  if (claim.refs.empty()) {
    claim.refs = {{"local", "acme.example.org", "XStorage", "", claim.slot.ns + claim.slot.name}};
    Write(claim, scene::kCrossplane);
    return;
  }
  const Slot& slot = claim.refs.front();
  if (slot.kind != "XStorage" || Find(slot) != nullptr || claim.name.empty()) return;
  Thing composite;
  composite.sort = Thing::Sort::kComposite;
  composite.slot = slot;
  composite.party = claim.party;
  composite.type = claim.type;
  composite.name = claim.name;
  composite.claim = claim.slot;
  composite.label = slot.name;
  Write(composite, scene::kCrossplane);
}

void CascadeWorld::ComposeComposite(Thing composite) {
  if (composite.refs.empty()) {
    const bool nested = !composite.composed && composite.slot.ns.empty() && seed_ % 5 == 0;
    Slot slot = ComposedSlot(composite);
    if (nested) slot = {"local", "acme.example.org", "XStorage", "", composite.slot.name + "-n"};
    composite.refs = {std::move(slot)};
    Write(composite, scene::kCrossplane);
    return;
  }
  const Slot& slot = composite.refs.front();
  const std::pair controller{composite.uid, composite.slot};
  if (const Thing* child = Find(slot)) {
    const bool joins = child->composed && !child->controller && child->party == composite.party;
    if (!joins) return;
    Thing next = *child;
    next.controller = controller;
    Write(next, scene::kCrossplane);
    return;
  }
  Thing child;
  child.slot = slot;
  if (slot.kind == "XStorage") child.sort = Thing::Sort::kComposite;
  child.party = composite.party;
  child.type = composite.type;
  child.name = composite.name;
  child.controller = controller;
  child.composed = true;
  child.label = composite.composed ? composite.label : composite.slot.name;
  if (child.managed())
    child.intent = dice_.Of({Intent::kManages, Intent::kDeletes, Intent::kDeletes});
  Write(child, scene::kCrossplane);
}

// --- the provider -------------------------------------------------------------------------------

void CascadeWorld::ProvideAny() {
  const auto slot = AnyWhere([](const Thing& thing) { return thing.managed(); });
  if (slot) Provide(*slot);
}

void CascadeWorld::Provide(const Slot& slot) {
  const Thing* thing = Find(slot);
  if (thing == nullptr || !thing->managed()) return;
  if (thing->terminating) {
    ProvideEnd(*thing);
  } else {
    ProvideLife(*thing);
  }
}

// As a provider does it: observe, delete what exists, look again, then let go.
void CascadeWorld::ProvideEnd(Thing thing) {
  const std::string target = TargetOf(thing);
  if (thing.intent == Intent::kDeletes && cloud_.contains(target)) {
    CheckForeign(thing, "deletes");
    if (thing.type == kQueueType) thing.shown = configs_.at(thing.config).account;
    thing.wrote = version_ + 1;
    if (thing.deleting) {
      cloud_.erase(target);
      Say("provider deletes " + target);
    }
    thing.deleting = true;
    Put(std::move(thing));
    return;
  }
  Thing next = thing;
  next.finalizer = false;
  if (!registry_->Update(FactsOf(thing), FactsOf(next), scene::kProvider).allowed) {
    Fails("S3: a provider may not let go of " + ForPeople(thing.slot));
  }
  Say("provider lets go of " + ForPeople(thing.slot));
  const auto seen = last_seen_.find(thing.uid);
  const bool settled = seen != last_seen_.end() && seen->second.version == thing.version;
  things_.at(thing.slot).let_go = settled && thing.ready && thing.finalizer;
  Remove(thing.slot);
}

void CascadeWorld::ProvideLife(Thing thing) {
  const bool group = thing.type == kGroupType;
  if (thing.intent == Intent::kObserves) return;
  if (!group && thing.name.empty()) {
    if (thing.reference.empty()) return;
    thing.name = thing.reference;
    Write(thing, scene::kProvider);
    return;
  }
  if (!thing.finalizer) {
    thing.finalizer = true;
    Put(std::move(thing));
    return;
  }
  std::string target = TargetOf(thing);
  if (!cloud_.contains(target)) {
    if (group && !thing.id.empty()) return;
    if (!thing.announced) {
      thing.announced = true;
      if (!Write(thing, scene::kProvider)) {
        Fails("S3: a provider's own update of " + ForPeople(thing.slot) + " was refused");
      }
      return;
    }
    const std::string id = "sg-" + std::to_string(ids_ + 1);
    if (group) {
      ++ids_;
      target = std::string(kGroupType) + " " + id;
    }
    CloudResource made{.party = thing.party, .exempt = thing.exempt};
    if (thing.alone) made.alone = thing.slot;
    cloud_[target] = std::move(made);
    Say("provider creates " + target + " for " + ForPeople(thing.slot));
    if (dice_.Chance(0.3)) return;  // its status is written later
    if (group) {
      thing.id = id;
      if (!Write(thing, scene::kProvider, true)) {
        Fails("S3: a late name of " + ForPeople(thing.slot) + " was refused");
      }
      return;
    }
  }
  CheckForeign(thing, "adopts");
  CloudResource& resource = cloud_.at(target);
  if (thing.has_account() && resource.party == thing.party && !thing.exempt) {
    resource.by.insert(NamesOf(thing).front());
  }
  thing.ready = true;
  thing.wrote = version_ + 1;
  thing.forged = false;
  if (thing.type == kQueueType) thing.shown = configs_.at(thing.config).account;
  Put(std::move(thing));
}

// --- the restorer -------------------------------------------------------------------------------

// A claim, or namespaced composite, and all below it, is lost.
void CascadeWorld::LoseChain() {
  if (!backup_.empty()) return;
  const auto top = AnyWhere([](const Thing& thing) {
    return !thing.managed() && !thing.slot.ns.empty() && !thing.name.empty();
  });
  if (!top) return;
  std::vector<Thing> chain;
  for (const Thing* at = Find(*top); at != nullptr; at = Find(at->refs.front())) {
    if (at->exempt || at->terminating) return;
    if (!chain.empty()) {
      const Thing& above = chain.back();
      const bool linked =
          at->claim == above.slot || (at->controller && at->controller->first == above.uid);
      if (!linked) return;
    }
    chain.push_back(*at);
    if (at->managed()) break;
    if (at->refs.empty()) return;
  }
  if (chain.empty() || !chain.back().managed()) return;
  Say("lost with all below it: " + ForPeople(*top));
  for (const Thing& thing : chain) Remove(thing.slot);
  lost_ = chain;
  backup_ = std::move(chain);
}

// Velero's shape: no owner references, no status, in any order. `last`: what is refused now was
// refused before, with all of the chain there that could be.
void CascadeWorld::Restore(bool all, bool last) {
  std::vector<Thing> left = backup_;
  for (std::size_t i = left.size(); i > 1; --i) std::swap(left[i - 1], left[dice_.Pick(i)]);
  if (!all && left.size() > 1) left.resize(1);
  for (const Thing& lost : left) {
    Thing thing;
    thing.sort = lost.sort;
    thing.slot = lost.slot;
    thing.party = lost.party;
    thing.type = lost.type;
    thing.name = lost.name;
    thing.config = lost.config;
    thing.intent = lost.intent;
    thing.composed = lost.composed;
    thing.label = lost.label;
    thing.claim = lost.claim;
    thing.refs = lost.refs;
    thing.finalizer = lost.finalizer;
    thing.announced = lost.announced;
    thing.transfer_to = lost.transfer_to;
    // Its composite may not be there, or may be a chain by itself: then its party is its own place.
    thing.alone =
        thing.managed() && thing.composed &&
        std::none_of(things_.begin(), things_.end(), [&](const auto& entry) {
          const Thing& other = entry.second;
          return other.sort == Thing::Sort::kComposite && IsBoundBack(other) &&
                 std::find(other.refs.begin(), other.refs.end(), thing.slot) != other.refs.end();
        });
    const bool stands = Find(lost.slot) != nullptr;
    if (stands || Write(thing, scene::kRestorer, true)) {
      std::erase_if(backup_, [&](const Thing& each) { return each.slot == lost.slot; });
      continue;
    }
    if (!last) continue;
    // Refused for good only where another one manages it, or owns it by now; or what it hung on was
    // deleted or made anew meanwhile, and composes another object; or where nothing was made yet,
    // so that nothing was remembered; or where the composite means something else than what it
    // composed.
    const auto in_chain = [&](const Slot& slot) {
      return std::any_of(lost_.begin(), lost_.end(),
                         [&](const Thing& each) { return each.slot == slot; });
    };
    const bool others = std::any_of(things_.begin(), things_.end(), [&](const auto& entry) {
      const Thing& other = entry.second;
      return other.managed() && other.name == lost.name && other.type == lost.type &&
             (!in_chain(other.slot) || other.party != lost.party);
    });
    const Thing* top = Find(lost_.front().slot);
    bool hangs = lost.slot == lost_.front().slot || (top != nullptr && !top->terminating);
    if (lost.managed()) {
      const Thing* above = Find(lost_[lost_.size() - 2].slot);
      hangs = hangs && above != nullptr &&
              std::find(above->refs.begin(), above->refs.end(), lost.slot) != above->refs.end();
    }
    const auto owner = registry_->OwnerNamed(Spelt(NamesOf(lost_.back()).front()));
    const bool theirs =
        !owner || (owner->root == lost_.front().slot &&
                   (owner->real || (owner->record == Record::kOrphaned &&
                                    owner->party.text == "ns:local/" + lost.party)));
    const bool one_name = lost.name.empty() || lost.name == lost_.back().name;
    if (hangs && !others && theirs && one_name)
      Fails("S3: the restore of " + ForPeople(lost.slot) + " was refused");
  }
}

}  // namespace truce
