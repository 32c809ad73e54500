#include "tests/model/world.h"

#include <algorithm>
#include <array>

#include "registry/ownership/ledger.h"
#include "tests/support/audit_only_grew.h"

namespace truce {
namespace {

constexpr std::array<const char*, 2> kBuckets{"k", "l"};
constexpr std::chrono::seconds kTtl{180};

}  // namespace

World::World(Store& store, unsigned seed, Options options)
    : random_(seed), options_(options), registry_(store) {}

bool World::Chance(double share) { return std::uniform_real_distribution<>(0, 1)(random_) < share; }
int World::Pick(int count) { return std::uniform_int_distribution<>(0, count - 1)(random_); }
void World::Say(const std::string& what) { log_.push_back(what); }

ObjectFacts World::FactsOf(const Thing& thing) {
  ObjectFacts facts =
      scene::ManagedBucket(thing.slot, thing.uid, thing.bucket, thing.intent, thing.version);
  facts.terminating = thing.terminating;
  facts.real = thing.real;
  facts.deleting = thing.deleting;
  if (thing.finalizer) facts.finalizers = {"finalizer.managedresource.crossplane.io"};
  return facts;
}

void World::Put(Thing thing, bool deleted) {
  thing.version = ++version_;
  if (deleted) {
    cluster_.erase(thing.slot);
  } else {
    cluster_[thing.slot] = thing;
  }
  events_.emplace_back(std::move(thing), deleted);
}

void World::Remove(const Slot& slot) { Put(cluster_.at(slot), true); }

Decision World::Judge(const std::optional<Thing>& before, const Thing& after) {
  const Mode mode = Chance(options_.unenforced) ? Mode::kWarn : Mode::kEnforce;
  Decision decision = before ? registry_.Update(FactsOf(*before), FactsOf(after), "dev", mode)
                             : registry_.Create(FactsOf(after), "dev", mode);
  if (Chance(0.1)) {
    const StoreContents once = registry_.Contents();
    const Decision again = registry_.Ask(registry_.last_request());
    if (again.allowed != decision.allowed)
      broken_.push_back("a repeated review was answered otherwise");
    if (registry_.Contents() != once) broken_.push_back("a repeated review changed the registry");
  }
  return decision;
}

void World::Create(const Slot& slot, const std::string& bucket, Intent intent) {
  Thing thing;
  thing.slot = slot;
  thing.uid = "local/uid-" + std::to_string(++uids_);
  thing.bucket = bucket;
  thing.intent = intent;
  thing.finalizer = Chance(0.3);
  thing.exempt = Chance(options_.bypass);
  if (!thing.exempt) {
    const Decision decision = Judge(std::nullopt, thing);
    if (!decision.allowed) return;
    thing.exempt = !decision.conflicts.empty();
  }
  if (cluster_.contains(slot) || Chance(0.15)) {
    Say("create failed after admission: " + ForPeople(slot) + " " + bucket);
    return;
  }
  Say("create " + ForPeople(slot) + " " + bucket + " " + std::string(Name(intent)));
  Put(thing, false);
}

void World::Change(const Slot& slot, const std::string& bucket, Intent intent) {
  const auto found = cluster_.find(slot);
  if (found == cluster_.end()) return;
  const Thing before = found->second;
  Thing after = before;
  after.bucket = bucket;
  after.intent = intent;
  const bool adds =
      (bucket != before.bucket || intent > before.intent) && intent != Intent::kObserves;
  bool exempt = before.exempt;
  if (Chance(options_.bypass)) {
    exempt = exempt || adds;
  } else {
    const Decision decision = Judge(before, after);
    if (!decision.allowed) return;
    if (adds) exempt = !decision.conflicts.empty();
  }
  if (Chance(0.15)) {
    Say("update failed after admission: " + ForPeople(slot) + " " + bucket);
    return;
  }
  after.exempt = exempt;
  after.real = before.real && bucket == before.bucket;
  Say("update " + ForPeople(slot) + " " + bucket + " " + std::string(Name(intent)));
  Put(after, false);
}

void World::RemoveByUser(const Slot& slot) {
  const auto found = cluster_.find(slot);
  if (found == cluster_.end() || found->second.terminating) return;
  if (!registry_.Delete(FactsOf(found->second)).allowed)
    broken_.push_back("I10: a DELETE was denied");
  if (!found->second.finalizer) {
    Say("delete at once " + ForPeople(slot));
    Remove(slot);
    return;
  }
  Thing thing = found->second;
  thing.terminating = true;
  Say("delete with finalizer " + ForPeople(slot));
  Put(thing, false);
}

void World::StripFinalizer(const Slot& slot) {
  const auto found = cluster_.find(slot);
  if (found == cluster_.end() || !found->second.terminating) return;
  Thing after = found->second;
  after.finalizer = false;
  if (!registry_.Update(FactsOf(found->second), FactsOf(after)).allowed) {
    broken_.push_back("I10: an update of a terminating object that adds nothing was denied");
  }
  Say("finalizer stripped " + ForPeople(slot));
  cluster_[slot] = after;
  Remove(slot);
}

void World::CheckForeign(const Thing& thing, const std::string& rule) {
  const Data& data = cloud_.at(thing.bucket);
  if (data.party == thing.slot.ns || data.exempt || thing.exempt) return;
  broken_.push_back(rule + ": " + ForPeople(thing.slot) + " touches bucket " + thing.bucket +
                    " of " + data.party);
}

// As a provider does it: while terminating observe, delete what exists, look again, then let go.
void World::Provide(const Slot& slot) {
  const auto found = cluster_.find(slot);
  if (found == cluster_.end()) return;
  Thing thing = found->second;
  if (thing.terminating) {
    if (thing.intent == Intent::kDeletes && cloud_.contains(thing.bucket)) {
      CheckForeign(thing, "S3");
      cloud_.erase(thing.bucket);
      thing.deleting = true;
      Say("provider deletes bucket " + thing.bucket);
      Put(thing, false);
      return;
    }
    Thing after = thing;
    after.finalizer = false;
    (void)registry_.Update(FactsOf(thing), FactsOf(after), scene::kProvider);
    Say("provider lets go of " + ForPeople(slot));
    cluster_[slot] = after;
    Remove(slot);
    return;
  }
  if (thing.intent == Intent::kObserves) return;
  if (cloud_.contains(thing.bucket)) {
    CheckForeign(thing, "S2");
  } else {
    cloud_[thing.bucket] = {thing.slot.ns, thing.exempt};
    Say("provider creates bucket " + thing.bucket + " for " + ForPeople(slot));
  }
  thing.finalizer = true;
  thing.real = true;
  Put(thing, false);
}

void World::Deliver(const std::pair<Thing, bool>& event) {
  if (event.second) {
    registry_.SeeDeleted(FactsOf(event.first));
  } else {
    registry_.See(FactsOf(event.first));
  }
}

void World::Watch() {
  if (seen_ >= events_.size()) return;
  const auto& event = events_[seen_++];
  Deliver(event);
  if (Chance(0.1)) {  // I9: a duplicated event changes nothing
    const StoreContents once = registry_.Contents();
    Deliver(event);
    if (registry_.Contents() != once)
      broken_.push_back("I9: a duplicated event changed the registry");
  }
}

// History lost: events are skipped; absence nominates, a quorum GET releases.
void World::Relist() {
  std::set<std::string> changed;
  for (std::size_t i = seen_; i < events_.size(); ++i) changed.insert(events_[i].first.uid);
  seen_ = events_.size();
  for (const std::string& uid : changed) {
    registry_.Run([&](Ledger& ledger) { OutOfSight({uid}, ledger); });
  }
  for (const auto& [slot, thing] : cluster_)
    registry_.See(FactsOf(thing), changed.contains(thing.uid));
  for (const Row& row : registry_.Contents().rows) {
    if (row.id.state != RowState::kSeen) continue;
    const auto live = cluster_.find(row.slot);
    if (live == cluster_.end() || live->second.uid != row.id.uid.text) registry_.Absent(row.id);
  }
}

void World::Proofs(std::chrono::milliseconds older_than) {
  for (const Row& row : registry_.Contents().rows) {
    if (row.id.state != RowState::kReserved || registry_.now() - row.at < older_than) continue;
    const auto live = cluster_.find(row.slot);
    Proof proof;
    if (live == cluster_.end()) {
      proof.answer = Proof::Answer::kGone;
    } else {
      proof = {Proof::Answer::kLive, FactsOf(live->second)};
    }
    registry_.Prove(row.id, proof);
  }
}

std::optional<std::string> World::CheckStep() {
  std::map<std::string, int> managers;
  for (const auto& [slot, thing] : cluster_) {
    if (thing.intent != Intent::kObserves && !thing.exempt) ++managers[thing.bucket];
  }
  for (const auto& [bucket, count] : managers) {
    if (count > 1)
      broken_.push_back("S1: bucket " + bucket + " has " + std::to_string(count) + " managers");
  }
  StoreContents after = registry_.Contents();
  for (const std::string& breach : CheckInvariants(after)) broken_.push_back("S5: " + breach);
  if (!testing::AuditOnlyGrew(before_, after)) broken_.push_back("I12: the audit log was changed");
  before_ = std::move(after);
  if (broken_.empty()) return std::nullopt;
  return broken_.front();
}

std::optional<std::string> World::Step() {
  registry_.Advance(std::chrono::seconds{6});
  const Slot slot =
      scene::SlotOf("Bucket", "p" + std::to_string(Pick(3)), "slot" + std::to_string(Pick(2)));
  const std::string bucket = kBuckets[static_cast<std::size_t>(Pick(2))];
  const double x = std::uniform_real_distribution<>(0, 1)(random_);
  if (x < .14) {
    constexpr std::array kIntents{Intent::kObserves, Intent::kManages, Intent::kDeletes,
                                  Intent::kDeletes, Intent::kDeletes};
    Create(slot, bucket, kIntents[static_cast<std::size_t>(Pick(5))]);
  } else if (x < .22) {
    constexpr std::array kIntents{Intent::kObserves, Intent::kManages, Intent::kDeletes,
                                  Intent::kDeletes};
    Change(slot, bucket, kIntents[static_cast<std::size_t>(Pick(4))]);
  } else if (x < .30) {
    RemoveByUser(slot);
  } else if (x < .31) {
    StripFinalizer(slot);
  } else if (x < .55) {
    Provide(slot);
  } else if (x < .92) {
    Watch();
  } else if (x < .93) {
    Relist();
  } else {
    Proofs(kTtl);
  }
  return CheckStep();
}

std::optional<std::string> World::Quiet() {
  while (seen_ < events_.size()) Watch();
  registry_.Advance(kTtl * 10);
  // Twice: what is observed has another id when its owner's end was proved.
  Proofs(kTtl);
  Proofs(kTtl);
  if (auto broken = CheckStep()) return broken;
  for (const Row& row : registry_.Contents().rows) {
    const auto live = cluster_.find(row.slot);
    const bool stands = live != cluster_.end() && live->second.uid == row.id.uid.text &&
                        registry_.IdOf(live->second.bucket) == row.id.resource &&
                        (live->second.intent == Intent::kObserves || Manages(row));
    if (!stands || row.id.state != RowState::kSeen)
      return "Q1: phantom row of " + ForPeople(row.slot);
  }
  for (const char* const bucket : kBuckets) {
    const bool managed = std::any_of(cluster_.begin(), cluster_.end(), [&](const auto& entry) {
      return entry.second.bucket == bucket && entry.second.intent != Intent::kObserves;
    });
    const auto owner = registry_.OwnerOf(bucket);
    if (managed && !owner) return "Q2: managed bucket without owner: " + std::string(bucket);
    if (!managed && owner && owner->record == Record::kNone) {
      return "Q2: blocked for ever: " + std::string(bucket);
    }
  }
  return std::nullopt;
}

}  // namespace truce
