// What people, operators and forgers do; which step comes when.
#include "tests/model/cascade_world.h"

#include <algorithm>
#include <array>
#include <utility>

#include "registry/ownership/agreements.h"
#include "registry/ownership/ledger.h"
#include "registry/ownership/lists/import.h"

namespace truce {
namespace {

constexpr const char* kSource = "terraform:network";
constexpr const char* kOutside = "b1";  // a bucket that Terraform may own

bool IsOwn(const Thing& thing) { return thing.managed() && !thing.slot.ns.empty(); }
bool IsRoot(const Thing& thing) {
  return !thing.slot.ns.empty() && !thing.controller && !thing.terminating;
}

Slot SlotOf(const Thing& thing, const std::string& ns, const std::string& name) {
  if (thing.sort == Thing::Sort::kClaim) return {"local", "acme.example.org", "Storage", ns, name};
  if (thing.type == kBucketType) return {"local", "s3.aws.upbound.io", "Bucket", ns, name};
  if (thing.type == kQueueType) return {"local", "sqs.aws.upbound.io", "Queue", ns, name};
  if (thing.type == kTableType) return {"local", "dynamodb.aws.upbound.io", "Table", ns, name};
  return {"local", "ec2.aws.upbound.io", "SecurityGroup", ns, name};
}

Slot CompositeSlot(const std::string& name) {
  return {"local", "acme.example.org", "XStorage", "", name};
}

}  // namespace

CascadeWorld::CascadeWorld(std::uint64_t seed) : seed_(seed), dice_(seed, 0) {
  profile_.chains = seed % 2 == 1;
  profile_.mapped = dice_.Chance(0.7);
  profile_.guarded = dice_.Chance(0.8);
  profile_.bypass = dice_.Chance(0.5) ? 0.03 : 0;
  profile_.unenforced = dice_.Chance(0.2) ? 0.05 : 0;
  configs_ = {{"one", {"111111111111", true, 0}}, {"two", {"222222222222", false, 0}}};
  views_ = {{"one", {configs_.at("one"), "111111111111"}}, {"two", {configs_.at("two"), ""}}};
  StartRegistry();
  Say(std::string(profile_.chains ? "chains" : "accounts") + (profile_.mapped ? ", mapped" : "") +
      (profile_.guarded ? "" : ", statuses not reviewed"));
}

CascadeWorld::~CascadeWorld() = default;

bool CascadeWorld::Fails(const std::string& what) {
  if (broken_.empty()) broken_ = what;
  return false;
}

Thing* CascadeWorld::Find(const Slot& slot) {
  const auto found = things_.find(slot);
  return found == things_.end() ? nullptr : &found->second;
}

std::vector<Slot> CascadeWorld::SlotsWhere(bool (*fits)(const Thing&)) const {
  std::vector<Slot> slots;
  for (const auto& [slot, thing] : things_) {
    if (fits(thing)) slots.push_back(slot);
  }
  return slots;
}

std::optional<Slot> CascadeWorld::AnyWhere(bool (*fits)(const Thing&)) {
  const std::vector<Slot> slots = SlotsWhere(fits);
  if (slots.empty()) return std::nullopt;
  return slots[dice_.Pick(slots.size())];
}

std::string CascadeWorld::Party() { return "p" + std::to_string(dice_.Pick(3)); }

void CascadeWorld::Put(Thing thing) {
  thing.version = ++version_;
  if (thing.born == 0) thing.born = thing.version;
  streams_[thing.managed() ? 1 : 0].push_back({thing, false});
  things_.insert_or_assign(thing.slot, std::move(thing));
}

void CascadeWorld::Remove(const Slot& slot) {
  Thing last = things_.at(slot);
  last.version = ++version_;
  streams_[last.managed() ? 1 : 0].push_back({std::move(last), true});
  things_.erase(slot);
}

std::string CascadeWorld::TargetOf(const Thing& thing) const {
  if (!thing.managed()) return {};
  if (thing.type == kGroupType) return thing.id.empty() ? "" : thing.type + " " + thing.id;
  if (thing.name.empty()) return {};
  if (thing.type == kBucketType) return thing.type + " " + thing.name;
  return thing.type + " " + configs_.at(thing.config).account + " " + thing.name;
}

// --- people -------------------------------------------------------------------------------------

void CascadeWorld::Declare() {
  Thing thing;
  thing.party = Party();
  thing.type = profile_.chains
                   ? kBucketType
                   : dice_.Of({kBucketType, kQueueType, kQueueType, kTableType, kGroupType});
  thing.slot = SlotOf(thing, thing.party, "m" + std::to_string(dice_.Pick(2)));
  thing.config = dice_.Of({"one", "two"});
  thing.intent =
      dice_.Of({Intent::kObserves, Intent::kManages, Intent::kDeletes, Intent::kDeletes});
  if (thing.type == kGroupType) {
    if (dice_.Chance(0.3)) thing.id = "sg-" + std::to_string(dice_.Pick(ids_ + 1));
  } else if (thing.type == kBucketType && dice_.Chance(0.2)) {
    thing.reference = "b0";
  } else {
    thing.name = dice_.Chance(0.8) ? (thing.type == kBucketType ? "b0" : "q0") : "b1";
  }
  Write(thing, thing.party);
}

void CascadeWorld::DeclareClaim() {
  Thing claim;
  claim.sort = Thing::Sort::kClaim;
  claim.party = Party();
  claim.slot = SlotOf(claim, claim.party, "c" + std::to_string(dice_.Pick(2)));
  claim.name = profile_.chains || dice_.Chance(0.5) ? "b0" : "b1";
  if (profile_.chains && dice_.Chance(0.15)) {
    claim.type = kQueueType;
    claim.name = "q0";
  }
  if (Find(claim.slot) == nullptr) Write(claim, claim.party);
}

// generateName: the API server draws another name when the first one is taken.
void CascadeWorld::DeclareGenerated() {
  Thing thing;
  thing.party = Party();
  thing.name = dice_.Of({"b0", "b1"});
  for (int i = 0; i < 3; ++i) {
    thing.slot = SlotOf(thing, thing.party, "m" + std::to_string(dice_.Pick(2)));
    const bool taken = Find(thing.slot) != nullptr;
    if (!Write(thing, thing.party) || !taken) return;
  }
}

// A composite without claim: a namespaced one, or one of the platform that offers itself to a
// claim.
void CascadeWorld::DeclareComposite() {
  Thing composite;
  composite.sort = Thing::Sort::kComposite;
  composite.party = Party();
  composite.name = dice_.Of({"b0", "b1"});
  composite.slot = {"local", "acme.example.org", "XApp", composite.party, "a0"};
  if (Find(composite.slot) == nullptr) Write(composite, composite.party);
}

void CascadeWorld::Change() {
  const auto slot = AnyWhere(IsOwn);
  if (!slot) return;
  Thing thing = *Find(*slot);
  switch (dice_.Pick(4)) {
    case 0:
      thing.config = dice_.Of({"one", "two"});
      if (thing.config != Find(*slot)->config) thing.wrote = 0;
      break;
    case 1:
      thing.intent = dice_.Of({Intent::kObserves, Intent::kManages, Intent::kDeletes});
      // Its provider may have let go by a policy that keeps it.
      if (thing.deleting) disturbed_.insert(thing.uid);
      if (thing.terminating) unsettled_.insert(thing.uid);
      break;
    case 2:
      if (!thing.name.empty()) thing.name = dice_.Of({"b0", "q0"});
      break;
    default: thing.finalizer = thing.finalizer || dice_.Chance(0.5); break;  // a label, say
  }
  Write(thing, thing.party);
}

void CascadeWorld::DeleteAny() {
  const auto slot = AnyWhere([](const Thing&) { return true; });
  if (slot) Delete(*slot, dice_.Of({"background", "foreground", "orphan"}));
}

// Somebody takes the provider's finalizer off.
void CascadeWorld::Strip() {
  const auto slot =
      AnyWhere([](const Thing& thing) { return thing.managed() && thing.terminating; });
  if (!slot) return;
  Thing thing = *Find(*slot);
  if (profile_.bypass > 0 && dice_.Chance(0.1)) {
    Say("finalizer stripped past Truce: " + ForPeople(*slot));
    Excuse(thing);
    Remove(*slot);
    return;
  }
  Thing next = thing;
  next.finalizer = false;
  Say("finalizer stripped: " + ForPeople(*slot));
  disturbed_.insert(thing.uid);
  if (!registry_->Update(FactsOf(thing), FactsOf(next)).allowed) {
    Fails("S3: an update of a terminating object that adds nothing was refused");
  }
  if (dice_.Chance(0.6)) Remove(*slot);  // else somebody wrote meanwhile
}

// kubectl replace --force: deleted, waited for, created anew.
void CascadeWorld::ReplaceByForce() {
  const auto slot = AnyWhere(IsOwn);
  if (!slot) return;
  const Thing old = *Find(*slot);
  Delete(*slot, "background");
  for (int i = 0; i < 3 && Find(*slot) != nullptr; ++i) Provide(*slot);
  if (Find(*slot) != nullptr) return;
  Thing next;
  next.slot = old.slot;
  next.party = old.party;
  next.type = old.type;
  next.name = old.name;
  next.config = old.config;
  next.intent = old.intent;
  Say("replaced by force: " + ForPeople(*slot));
  Write(next, old.party);
}

void CascadeWorld::EditConfig() {
  const std::string name = dice_.Of({"one", "two"});
  CloudConfig& config = configs_.at(name);
  const std::string before = config.account;
  switch (dice_.Pick(4)) {
    case 0: config.account = before[0] == '1' ? "222222222222" : "111111111111"; break;
    case 1: config.shown = !config.shown; break;
    default: break;  // a rotated secret
  }
  config.version = ++version_;
  config_events_.emplace_back(name, config);
  Say("ProviderConfig " + name + " leads to " + config.account + (config.shown ? ", shown" : ""));
  if (config.account == before) return;
  const std::string provisional_account = "ProviderConfig//" + name;
  const auto is_of = [&](const std::string& text) {
    return text.find(provisional_account) != text.npos;
  };
  std::erase_if(known_, [&](const auto& entry) { return is_of(entry.first); });
  for (auto& [target, resource] : cloud_) {
    std::erase_if(resource.by, is_of);
  }
  for (auto& [slot, thing] : things_) {
    thing.exempt = thing.exempt || (thing.managed() && thing.has_account() && thing.config == name);
  }
}

// Somebody deletes what a declaration stands for, past it.
void CascadeWorld::DeleteInConsole() {
  std::vector<std::string> targets;
  for (const auto& [target, resource] : cloud_) {
    if (!resource.imported) targets.push_back(target);
  }
  if (targets.empty()) return;
  const std::string& target = targets[dice_.Pick(targets.size())];
  Say("deleted in the console: " + target);
  cloud_.erase(target);
}

// A tenant writes its own status.
void CascadeWorld::Forge() {
  if (profile_.guarded) return;  // refused
  const auto slot =
      AnyWhere([](const Thing& thing) { return IsOwn(thing) && thing.type == kQueueType; });
  if (!slot) return;
  Thing thing = *Find(*slot);
  thing.shown = dice_.Of({"111111111111", "222222222222"});
  thing.wrote = version_ + 1;
  thing.forged = thing.exempt = true;  // who lies of what is its own loses it
  Excuse(thing);
  Say("forged status of " + ForPeople(*slot) + ": in " + thing.shown);
  Put(std::move(thing));
}

// A claim or composite of one team names what another one's chain lost, or a claim of another team.
void CascadeWorld::Stranger() {
  const std::string party = Party();
  const auto lost = AnyWhere(
      [](const Thing& thing) { return thing.managed() && thing.composed && !thing.controller; });
  Thing thing;
  thing.party = party;
  const std::size_t what = dice_.Pick(3);
  if (what == 0 && lost) {
    thing.sort = Thing::Sort::kClaim;
    thing.slot = SlotOf(thing, party, "cs");
    thing.refs = {*lost};
  } else if (what == 1 && lost) {
    thing.sort = Thing::Sort::kComposite;
    thing.slot = CompositeSlot("s" + party);
    thing.refs = {*lost};
  } else {
    const auto claim = AnyWhere([](const Thing& each) { return each.sort == Thing::Sort::kClaim; });
    if (!claim || claim->ns == party) return;
    thing.sort = Thing::Sort::kComposite;
    thing.slot = CompositeSlot("f" + party);
    thing.claim = *claim;
    if (dice_.Chance(0.3)) thing.name = "b0";
    if (Find(thing.slot) != nullptr || !Write(thing, party)) return;
    if (Thing* forged = Find(thing.slot)) {
      Thing next = *forged;
      next.name = "b0";
      Write(next, scene::kCrossplane);
    }
    return;
  }
  if (Find(thing.slot) == nullptr) Write(thing, party);
}

// Somebody creates an object where one of a chain stood.
void CascadeWorld::TakeLeftSlot() {
  std::vector<Slot> left;
  for (const Owner& owner : registry_->Contents().owners) {
    for (const Slot& slot : owner.left) {
      if (slot.ns.empty() && slot.kind == "Bucket" && Find(slot) == nullptr) left.push_back(slot);
    }
  }
  if (left.empty()) return;
  Thing thing;
  thing.party = Party();
  thing.slot = left[dice_.Pick(left.size())];
  thing.name = dice_.Of({"b0", "b1"});
  Write(thing, thing.party);
}

// --- configuration and hand-overs ---------------------------------------------------------------

void CascadeWorld::Bind() {
  auto& services = registry_->parties.services;
  if (services.empty()) {
    services = {{"local/p0", "team"}, {"local/p1", "team"}};
    bound_ever_ = {"p0", "p1"};
  } else {
    services.clear();
  }
  Say(services.empty() ? "p0 and p1 are two parties" : "p0 and p1 are one party");
}

void CascadeWorld::NameHeir() {
  const auto slot = AnyWhere(IsRoot);
  if (!slot) return;
  Thing thing = *Find(*slot);
  const Slot heir =
      SlotOf(thing, Party(), (thing.managed() ? "m" : "c") + std::to_string(dice_.Pick(2)));
  thing.transfer_to =
      dice_.Chance(0.2) ? "" : heir.kind + "." + heir.group + "/" + heir.ns + "/" + heir.name;
  if (heir == *slot) return;
  Say("annotation of " + ForPeople(*slot) + ": " + thing.transfer_to);
  const bool written = Write(thing, thing.party);
  // The version that a watch shows later may declare something else.
  const std::string target = TargetOf(thing);
  if (!written || target.empty()) return;
  words_[target].insert(thing.transfer_to);
  NoteHeir(target, thing.transfer_to);
}

// An administrator speaks for both sides, or owner and receiver agree.
void CascadeWorld::ForceTransfer() {
  if (known_.empty()) return;
  const auto at = std::next(known_.begin(), static_cast<std::ptrdiff_t>(dice_.Pick(known_.size())));
  const auto& [name, known] = *at;
  const std::string party = Party();
  Thing like;
  const std::string type = known.target.substr(0, known.target.find(' '));
  for (const char* each : {kBucketType, kQueueType, kTableType, kGroupType}) {
    if (type == each) like.type = each;
  }
  const Slot heir = SlotOf(like, party, "m" + std::to_string(dice_.Pick(2)));
  const std::string successor = heir.kind + "." + heir.group + "/" + heir.ns + "/" + heir.name;
  const auto owner = registry_->OwnerNamed(Spelt(name));
  if (!owner) return;
  const bool forced = dice_.Chance(0.6);
  bool named = false;
  registry_->Run([&](Ledger& ledger) {
    const TransferTerms terms{{"ns:local/" + party}, successor, forced};
    const auto offer = OfferTransfer(owner->id, terms, {"operator", "asked for"}, ledger);
    if (!offer.ok()) return;
    named = forced || offer.value().accepted ||
            AcceptTransfer(offer.value().id, successor, {"receiver", "yes"}, ledger).ok();
  });
  if (!named) return;
  Say((forced ? "transfer forced of " : "transfer agreed of ") + name + " to " + successor);
  words_[known.target] = {successor};
  handed_.erase(known.target);
  heirs_[known.target].insert(party);
}

// Truce is not asked: the owner of a bucket names an heir and steps back, in either order, and the
// heir declares it.
void CascadeWorld::HandOverUnseen() {
  const auto slot = AnyWhere([](const Thing& thing) {
    return IsOwn(thing) && IsRoot(thing) && !thing.exempt && thing.type == kBucketType &&
           !thing.name.empty() && thing.intent != Intent::kObserves;
  });
  if (!slot) return;
  Thing old = *Find(*slot);
  const std::string target = TargetOf(old);
  const auto resource = cloud_.find(target);
  const auto owner = registry_->OwnerNamed(Spelt(NamesOf(old).front()));
  Thing heir;
  heir.party = Party();
  heir.slot = SlotOf(old, heir.party, "heir");
  heir.name = old.name;
  const bool alone = std::ranges::none_of(things_, [&](const auto& entry) {
    return entry.first != *slot && entry.second.name == old.name;
  });
  if (!alone || Find(heir.slot) != nullptr || heir.party == old.party || resource == cloud_.end() ||
      resource->second.party != old.party || resource->second.exempt || !owner || !owner->real ||
      owner->root != *slot || owner->contested || owner->record != Record::kNone) {
    return;
  }
  const std::string word =
      heir.slot.kind + "." + heir.slot.group + "/" + heir.slot.ns + "/" + heir.slot.name;
  if (old.transfer_to == word) return;
  Say(ForPeople(*slot) + " is handed over unseen to " + ForPeople(heir.slot));
  const std::size_t first = dice_.Pick(3);
  if (first != 1) old.transfer_to = word;
  if (first != 0) old.intent = Intent::kObserves;
  Put(old);
  old.transfer_to = word;
  old.intent = Intent::kObserves;
  if (first != 2) Put(old);
  heir.uid = "u" + std::to_string(++uids_);
  heir.exempt = true;
  Put(heir);
  words_[target].insert(word);
  NoteHeir(target, word);
  handed_[target] = {old, heir};
}

ImportedResource CascadeWorld::OutsideBucket() const {
  DeclaredResource bucket = scene::Bucket(kOutside, Intent::kDeletes);
  bucket.names = {{Spelt(bucket.key().text), false}};
  bucket.identity.region = "eu-west-1";
  return {std::move(bucket), "network", "", "aws_s3_bucket.b1"};
}

// Terraform owns a bucket; later its list names it no more.
void CascadeWorld::ImportOutside() {
  const std::string target = std::string(kBucketType) + " " + kOutside;
  const auto resource = cloud_.find(target);
  const bool imported = resource != cloud_.end() && resource->second.imported;
  if (resource != cloud_.end() && !imported) return;
  ImportList list{kSource, {}, true};
  if (!imported) list.resources = {OutsideBucket()};
  bool owns = false;
  registry_->RunOnAll([&](const AllFacts& facts, Ledger& ledger) {
    const ImportPlan plan = PlanImport(list, facts);
    owns = !imported &&
           plan.lines.front().action == (reserved_ ? ImportAction::kChanged : ImportAction::kNew);
    // Refused as a whole where somebody declares it: no claim is kept.
    if (imported || owns) ApplyImport(list, plan, "operator", ledger);
  });
  if (reserved_ && !owns) Fails("S2: somebody has a name that was reserved");
  if (imported) {
    Say("Terraform's list ends");
    std::erase_if(known_, [&](const auto& entry) { return entry.second.target == target; });
    cloud_.erase(target);
  } else if (owns) {
    Say("Terraform's bucket is imported");
    reserved_ = false;
    cloud_[target] = {.party = "outside", .imported = true};
    const std::string name = scene::BucketKey(kOutside).text;
    known_[name] = {target, {registry_->OwnerNamed(Spelt(name))->party.text}};
  }
}

// A pipeline of Terraform reserves its bucket before it creates it, and may not create it at all.
void CascadeWorld::ReserveOutside() {
  const ImportedResource bucket = OutsideBucket();
  if (!reserved_) {
    if (cloud_.contains(std::string(kBucketType) + " " + kOutside)) return;
    const std::chrono::minutes time(static_cast<int>(dice_.Pick(3)));
    const ImportList list{kSource, {bucket}, false, registry_->now() + time};
    registry_->RunOnAll([&](const AllFacts& facts, Ledger& ledger) {
      const ImportPlan plan = PlanImport(list, facts);
      reserved_ = plan.lines.front().action == ImportAction::kNew;
      if (reserved_) ApplyImport(list, plan, "ci", ledger);
    });
    if (reserved_) Say("Terraform's bucket is reserved");
    return;
  }
  bool ended = false;
  registry_->RunOnAll([&](const AllFacts& facts, Ledger& ledger) {
    const auto due = DueReservations(facts, ledger.now(), 1);
    const auto owner = OwnerByName(bucket.resource.key(), facts);
    ended = due.empty() ? owner && EndReservation(owner->id, kSource, "ci", ledger)
                        : EndReservation(due.front(), ledger);
  });
  Say("Terraform's reservation ends");
  if (!ended) Fails("S2: somebody has a name that was reserved");
  reserved_ = false;
}

// --- steps --------------------------------------------------------------------------------------

namespace {

template <typename World>
struct Action {
  double in_accounts;  // weight in a history of accounts
  double in_chains;    // in one of chains
  void (World::*act)();
};

}  // namespace

bool CascadeWorld::Step(unsigned number) {
  static constexpr std::array kActions{
      Action<CascadeWorld>{.080, .012, &CascadeWorld::Declare},
      Action<CascadeWorld>{.030, .060, &CascadeWorld::DeclareClaim},
      Action<CascadeWorld>{.010, .010, &CascadeWorld::DeclareGenerated},
      Action<CascadeWorld>{.010, .020, &CascadeWorld::DeclareComposite},
      Action<CascadeWorld>{.030, .010, &CascadeWorld::Change},
      Action<CascadeWorld>{.060, .060, &CascadeWorld::DeleteAny},
      Action<CascadeWorld>{.010, .010, &CascadeWorld::Strip},
      Action<CascadeWorld>{.010, .005, &CascadeWorld::ReplaceByForce},
      Action<CascadeWorld>{.015, .000, &CascadeWorld::EditConfig},
      Action<CascadeWorld>{.010, .006, &CascadeWorld::DeleteInConsole},
      Action<CascadeWorld>{.010, .000, &CascadeWorld::Forge},
      Action<CascadeWorld>{.020, .040, &CascadeWorld::Stranger},
      Action<CascadeWorld>{.010, .015, &CascadeWorld::TakeLeftSlot},
      Action<CascadeWorld>{.005, .005, &CascadeWorld::Bind},
      Action<CascadeWorld>{.012, .012, &CascadeWorld::NameHeir},
      Action<CascadeWorld>{.006, .006, &CascadeWorld::ForceTransfer},
      Action<CascadeWorld>{.015, .010, &CascadeWorld::HandOverUnseen},
      Action<CascadeWorld>{.010, .005, &CascadeWorld::ImportOutside},
      Action<CascadeWorld>{.010, .005, &CascadeWorld::ReserveOutside},
      Action<CascadeWorld>{.003, .003, &CascadeWorld::Respell},
      Action<CascadeWorld>{.010, .030, &CascadeWorld::LoseChain},
      Action<CascadeWorld>{.015, .050, &CascadeWorld::RestoreOne},
      Action<CascadeWorld>{.130, .220, &CascadeWorld::ComposeAny},
      Action<CascadeWorld>{.030, .040, &CascadeWorld::Collect},
      Action<CascadeWorld>{.200, .160, &CascadeWorld::ProvideAny},
      Action<CascadeWorld>{.003, .003, &CascadeWorld::Rebuild},
      Action<CascadeWorld>{.003, .003, &CascadeWorld::Relist},
      Action<CascadeWorld>{.300, .240, &CascadeWorld::Watch},
      Action<CascadeWorld>{.030, .000, &CascadeWorld::Portion},
      Action<CascadeWorld>{.020, .020, &CascadeWorld::Proofs},
  };
  dice_ = Dice(seed_, number + 1);
  constexpr std::chrono::seconds kStep{4};
  registry_->Advance(kStep);
  elapsed_ += kStep;
  const auto weight = [&](const auto& action) {
    return profile_.chains ? action.in_chains : action.in_accounts;
  };
  double all = 0;
  for (const auto& action : kActions) all += weight(action);
  double at = dice_.Share() * all;
  for (const auto& action : kActions) {
    at -= weight(action);
    if (at >= 0) continue;
    (this->*action.act)();
    break;
  }
  return CheckStep();
}

bool CascadeWorld::Quiet() {
  dice_ = Dice(seed_, 0);
  profile_.bypass = 0;
  profile_.unenforced = 0;
  constexpr std::chrono::seconds kLong{600};
  for (int round = 0; round < 3 && broken_.empty(); ++round) {
    while (configs_seen_ < config_events_.size()) WatchConfigs();
    for (const int stream : {0, 1}) {
      while (seen_[stream] < streams_[stream].size() && CheckStep()) WatchThings(stream);
    }
    while (!moving_.empty() && CheckStep()) Portion();
    registry_->Advance(kLong);
    elapsed_ += kLong;
    Proofs();
    CheckStep();
    Restore(true, round == 2);
  }
  CheckState();
  return broken_.empty();
}

}  // namespace truce
