#include "tests/model/watch_simulation.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "registry/ownership/invariants.h"
#include "registry/store/memory/memory_store.h"
#include "tests/model/scene.h"

namespace truce {
namespace {

const GroupKind kBucket{"s3.aws.upbound.io", "Bucket"};
const GroupKind kOwnBucket{"s3.aws.m.upbound.io", "Bucket"};
const GroupKind kXrd{"apiextensions.crossplane.io", "CompositeResourceDefinition"};
const GroupKind kComposite{"acme.example.org", "XStorage"};
const GroupKind kClaim{"acme.example.org", "Storage"};
constexpr const char* kProviderFinalizer = "finalizer.managedresource.crossplane.io";
constexpr const char* kCrossplaneFinalizer = "finalizer.apiextensions.crossplane.io";
constexpr std::array kBuckets{"alpha", "beta", "gamma"};
constexpr std::array kNamespaces{"team-a", "team-b"};
constexpr std::chrono::seconds kTtl{180};

MappingRule RuleFor(const GroupKind& kind, const Catalogue& catalogue) {
  MappingRule rule;
  rule.kind = kind;
  MappedResource bucket;
  bucket.type = "s3/Bucket";
  PartSource name;
  name.path = FieldPath::Parse("spec.parameters.name", FieldPath::Root::kObject).value();
  bucket.parts[catalogue.FindType("s3/Bucket")->parts.front().name] = std::move(name);
  rule.declares.push_back(std::move(bucket));
  return rule;
}

AdmissionPolicy PolicyOf(bool map_composite) {
  static const auto catalogue = std::make_shared<const Catalogue>(Catalogue::BuiltIn());
  AdmissionPolicy policy;
  policy.catalogue = catalogue;
  policy.identity.cluster = "local";
  policy.identity.catalogue = catalogue.get();
  std::vector<MappingRule> rules{RuleFor(kClaim, *catalogue)};
  if (map_composite) rules.push_back(RuleFor(kComposite, *catalogue));
  policy.identity.mappings = MappingRules::Create(std::move(rules), *catalogue).value();
  policy.providers = {"system:serviceaccount:crossplane-system:provider-*"};
  policy.composite_controllers = {scene::kCrossplane};
  policy.watched = true;
  return policy;
}

WatcherOptions QuickOptions() {
  WatcherOptions options;
  options.times.page = 3;
  return options;
}

bool Has(const SimulatedObject& object, const std::string& finalizer) {
  return std::find(object.finalizers.begin(), object.finalizers.end(), finalizer) !=
         object.finalizers.end();
}

}  // namespace

WatchSimulation::WatchSimulation(Store& store, unsigned seed, Options options)
    : real_store_(store),
      store_(store),
      random_(seed),
      options_(options),
      clock_(*ParseTimestamp("2026-11-21T08:00:00Z")),
      policy_(PolicyOf(options.map_composite)) {
  rules_.catalogue = policy_.catalogue;
  rules_.identity = policy_.identity;
  rules_.reservation_ttl = kTtl;
  cluster_.Serve({kBucket.group, "v1beta2", kBucket.kind, "buckets", false});
  cluster_.Serve({kOwnBucket.group, "v1beta1", kOwnBucket.kind, "buckets", true});
  cluster_.Serve({kXrd.group, "v1", kXrd.kind, "compositeresourcedefinitions", false});
  cluster_.Serve({kComposite.group, "v1", kComposite.kind, "xstorages", false});
  cluster_.Serve({kClaim.group, "v1", kClaim.kind, "storages", true});
  SimulatedObject definition = NewObject(kXrd, "", "xstorages.acme.example.org");
  definition.extra =
      R"("spec":{"group":"acme.example.org","names":{"kind":"XStorage"},"claimNames":{"kind":"Storage"}})";
  cluster_.Put(std::move(definition));
  Restart();
  if (Chance(0.7)) process_->Settle();
}
WatchSimulation::~WatchSimulation() = default;

bool WatchSimulation::Chance(double share) {
  return std::uniform_real_distribution<>(0, 1)(random_) < share;
}
std::size_t WatchSimulation::Pick(std::size_t count) {
  return std::uniform_int_distribution<std::size_t>(0, count - 1)(random_);
}

void WatchSimulation::Restart() {
  if (process_) now_ = process_->now();
  process_.reset();
  process_ = std::make_unique<SimulatedProcess>(
      SimulatedPorts{cluster_, store_, clock_, random_, policy_, rules_, QuickOptions()}, now_,
      ids_);
}

Slot WatchSimulation::SlotOf(const SimulatedObject& object) const {
  return {"local", object.kind.group, object.kind.kind, object.ns, object.name};
}

SimulatedObject WatchSimulation::NewObject(const GroupKind& kind, const std::string& ns,
                                           const std::string& name) {
  SimulatedObject object;
  object.kind = kind;
  object.ns = ns;
  object.name = name;
  object.uid = "uid-" + std::to_string(++uids_);
  object.created = clock_.Now();
  return object;
}

std::string WatchSimulation::ReviewOf(const Request& request, const std::string& uid) const {
  const SimulatedObject& object = request.object;
  const std::string kind = R"({"group":")" + object.kind.group +
                           R"(","version":"v1beta1","kind":")" + object.kind.kind + R"("})";
  const std::string now = JsonOf(object);
  std::string before = "null";
  if (request.before) before = JsonOf(*request.before);
  const bool is_delete = request.operation == "DELETE";
  std::string out = R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{)";
  out += R"("uid":")" + uid + R"(","kind":)" + kind + R"(,"requestKind":)" + kind + R"(,"name":")" +
         object.name + "\"";
  if (!object.ns.empty()) out += R"(,"namespace":")" + object.ns + "\"";
  out += R"(,"operation":")" + request.operation + R"(","userInfo":{"username":")" + request.user +
         R"(","groups":["system:authenticated"]},"object":)" + (is_delete ? "null" : now) +
         R"(,"oldObject":)" + (is_delete ? now : before) + R"(,"dryRun":false,"options":null}})";
  return out;
}

bool WatchSimulation::Admit(Request& request) {
  SimulatedObject& object = request.object;
  const bool is_delete = request.operation == "DELETE";
  const bool adds = !request.before || object.bucket != request.before->bucket ||
                    object.intent > request.before->intent;
  if (Chance(options_.bypass)) {
    if (adds) object.exempt = true;
    return true;
  }
  const std::string review = ReviewOf(request, "review-" + std::to_string(++reviews_));
  SimulatedAnswer answer = process_->Validate(review);
  if (Chance(0.05)) {
    const SimulatedAnswer again = process_->Validate(review);
    if (answer.status == 200 && again.status == 200 && answer.allowed && !again.allowed)
      broken_.push_back("a repeated review was answered otherwise: " + again.body);
    answer = again;
  }
  const bool lost = Chance(options_.lost_answers);
  if (answer.status != 200 || lost) {
    if (!options_.fail_open && !is_delete) return false;
    if (adds) object.exempt = true;
    return true;
  }
  if (!answer.allowed) {
    if (is_delete) broken_.push_back("I10: a DELETE was denied: " + answer.body);
    if (request.before && request.before->terminating && !adds)
      broken_.push_back("I10: an update of a terminating object was denied: " + answer.body);
    return false;
  }
  if (adds) object.exempt = answer.warned;
  return true;
}

bool WatchSimulation::Create(SimulatedObject object, const std::string& user) {
  Request request{"CREATE", std::move(object), std::nullopt, user};
  if (!Admit(request)) return false;
  if (cluster_.Find(request.object.kind, request.object.ns, request.object.name) != nullptr ||
      !cluster_.Serves(request.object.kind) || Chance(0.1)) {
    Say("create failed after admission: " + ForPeople(SlotOf(request.object)));
    return false;
  }
  Say("create " + ForPeople(SlotOf(request.object)) + " " + request.object.uid + " " +
      request.object.bucket + " " + std::string(Name(request.object.intent)) +
      (request.object.exempt ? " exempt" : ""));
  cluster_.Put(std::move(request.object));
  return true;
}

bool WatchSimulation::Update(const SimulatedObject& before, SimulatedObject after,
                             const std::string& user) {
  const SimulatedObject old = before;
  Request request{"UPDATE", std::move(after), old, user};
  if (!Admit(request)) return false;
  if (Chance(0.05)) {
    Say("update failed after admission: " + ForPeople(SlotOf(old)));
    return false;
  }
  Say("update " + ForPeople(SlotOf(old)) + " " + request.object.bucket + " " +
      std::string(Name(request.object.intent)) +
      (request.object.terminating ? " terminating" : "") + (request.object.real ? " real" : "") +
      (request.object.deleting ? " deleting" : ""));
  if (request.object.terminating && request.object.finalizers.empty()) {
    Say("  and it is gone");
    cluster_.Remove(std::move(request.object));
  } else {
    cluster_.Put(std::move(request.object));
  }
  return true;
}

void WatchSimulation::Delete(SimulatedObject object, const std::string& user) {
  if (object.terminating) return;
  Request request{"DELETE", object, std::nullopt, user};
  if (!Admit(request)) return;
  Say("delete " + ForPeople(SlotOf(object)));
  if (object.finalizers.empty()) {
    cluster_.Remove(std::move(object));
    return;
  }
  object.terminating = true;
  cluster_.Put(std::move(object));
}

const SimulatedObject* WatchSimulation::Any(const std::vector<GroupKind>& kinds) {
  std::vector<const SimulatedObject*> all;
  for (const GroupKind& kind : kinds) {
    const auto places = cluster_.objects().find(kind);
    if (places == cluster_.objects().end() || !cluster_.Serves(kind)) continue;
    for (const auto& [place, object] : places->second) all.push_back(&object);
  }
  return all.empty() ? nullptr : all[Pick(all.size())];
}

void WatchSimulation::People() {
  constexpr std::array kIntents{Intent::kObserves, Intent::kManages, Intent::kDeletes,
                                Intent::kDeletes};
  const std::string bucket = kBuckets[Pick(kBuckets.size())];
  const std::string ns = kNamespaces[Pick(kNamespaces.size())];
  const std::string name = Chance(0.5) ? "one" : "two";
  const std::size_t what = Pick(12);
  if (what < 2) {
    SimulatedObject claim = NewObject(kClaim, ns, name);
    claim.bucket = bucket;
    claim.finalizers = {kCrossplaneFinalizer};
    Create(std::move(claim), "dev");
  } else if (what < 6) {
    const bool own = Chance(0.5);
    SimulatedObject managed = NewObject(own ? kOwnBucket : kBucket, own ? ns : "", name);
    managed.bucket = bucket;
    managed.intent = kIntents[Pick(kIntents.size())];
    Create(std::move(managed), "dev");
  } else if (what < 8) {
    if (const SimulatedObject* object = Any({kClaim, kBucket, kOwnBucket})) {
      SimulatedObject after = *object;
      after.bucket = bucket;
      if (after.kind != kClaim) after.intent = kIntents[Pick(kIntents.size())];
      if (after.bucket != object->bucket) after.real = after.deleting = false;
      Update(*object, std::move(after), "dev");
    }
  } else if (what < 11) {
    if (const SimulatedObject* object = Any({kClaim, kBucket, kOwnBucket, kComposite}))
      Delete(*object, "dev");
  } else if (Chance(0.2)) {
    const SimulatedObject* object = Any({kClaim, kBucket, kOwnBucket, kComposite});
    if (object != nullptr && object->terminating) {
      SimulatedObject after = *object;
      after.finalizers.clear();
      Update(*object, std::move(after), "dev");
    }
  }
}

void WatchSimulation::ReconcileClaim(const SimulatedObject& claim) {
  const SimulatedObject* composite =
      claim.resources.empty() ? nullptr
                              : cluster_.Find(kComposite, "", claim.resources.front().name);
  if (claim.terminating) {
    if (composite != nullptr) return Delete(*composite, scene::kCrossplane);
    SimulatedObject after = claim;
    after.finalizers.clear();
    Update(claim, std::move(after), scene::kCrossplane);
  } else if (claim.resources.empty()) {
    SimulatedObject after = claim;
    after.resources = {{kComposite.group, kComposite.kind, "",
                        claim.name + "-" + claim.ns + "-" + std::to_string(++uids_), Uid{}}};
    Update(claim, std::move(after), scene::kCrossplane);
  } else if (composite == nullptr) {
    SimulatedObject made = NewObject(kComposite, "", claim.resources.front().name);
    made.bucket = claim.bucket;
    made.claim = RefTo(claim);
    made.claim->uid = Uid{};
    made.finalizers = {kCrossplaneFinalizer};
    Create(std::move(made), scene::kCrossplane);
  } else if (composite->bucket != claim.bucket && !composite->terminating) {
    SimulatedObject after = *composite;
    after.bucket = claim.bucket;
    Update(*composite, std::move(after), scene::kCrossplane);
  }
}

void WatchSimulation::ReconcileComposite(const SimulatedObject& composite) {
  const SimulatedObject* managed =
      composite.resources.empty() ? nullptr
                                  : cluster_.Find(kBucket, "", composite.resources.front().name);
  if (managed != nullptr &&
      (!managed->controller || managed->controller->uid.text != composite.uid)) {
    return;
  }
  if (composite.terminating) {
    if (managed != nullptr) return Delete(*managed, scene::kCrossplane);
    SimulatedObject after = composite;
    after.finalizers.clear();
    Update(composite, std::move(after), scene::kCrossplane);
  } else if (composite.resources.empty()) {
    SimulatedObject after = composite;
    after.resources = {
        {kBucket.group, kBucket.kind, "", composite.name + "-" + std::to_string(++uids_), Uid{}}};
    Update(composite, std::move(after), scene::kCrossplane);
  } else if (managed == nullptr) {
    SimulatedObject made = NewObject(kBucket, "", composite.resources.front().name);
    made.bucket = composite.bucket;
    made.controller = RefTo(composite);
    made.claim = composite.claim;
    made.composed = true;
    Create(std::move(made), scene::kCrossplane);
  } else if (managed->bucket != composite.bucket && !managed->terminating) {
    SimulatedObject after = *managed;
    after.bucket = composite.bucket;
    after.real = after.deleting = false;
    Update(*managed, std::move(after), scene::kCrossplane);
  }
}

void WatchSimulation::Crossplane() {
  const SimulatedObject* object = Any({kClaim, kComposite});
  if (object == nullptr) return;
  if (object->kind == kClaim) return ReconcileClaim(*object);
  ReconcileComposite(*object);
}

// As a provider does it: while terminating observe, delete what exists, look again, then let go.
// Its status updates are not reviewed: the webhook's rules leave the subresource out.
void WatchSimulation::Provider() {
  const SimulatedObject* object = Any({kBucket, kOwnBucket});
  if (object == nullptr) return;
  SimulatedObject after = *object;
  if (object->terminating) {
    if (object->intent == Intent::kDeletes && cloud_.contains(object->bucket) &&
        !object->deleting && Has(*object, kProviderFinalizer)) {
      cloud_.erase(object->bucket);
      after.deleting = true;
      Say("provider deletes bucket of " + ForPeople(SlotOf(after)));
      cluster_.Put(std::move(after));
      return;
    }
    after.finalizers.clear();
    Update(*object, std::move(after), scene::kProvider);
    return;
  }
  if (object->intent == Intent::kObserves || object->bucket.empty()) return;
  if (!Has(*object, kProviderFinalizer)) {
    after.finalizers = {kProviderFinalizer};
    Update(*object, std::move(after), scene::kProvider);
    return;
  }
  if (object->real) return;
  cloud_.try_emplace(object->bucket, ForPeople(SlotOf(*object)));
  after.real = true;
  Say("provider has the bucket of " + ForPeople(SlotOf(after)));
  cluster_.Put(std::move(after));
}

void WatchSimulation::Disaster() {
  switch (Pick(4)) {
    case 0:
      if (!cluster_.has_backup()) return cluster_.Backup();
      Say("etcd restored");
      cluster_.Restore(Chance(0.5));
      return;
    case 1: Say("history compacted"); return cluster_.Compact();
    case 2: {
      const auto jump = std::chrono::minutes{Chance(0.5) ? 20 : -20};
      Say("clock jumps " + std::to_string(jump.count()) + " minutes");
      return clock_.Advance(jump);
    }
    default: return;
  }
}

std::optional<std::string> WatchSimulation::Step() {
  if (Chance(options_.restarts)) {
    Say("restart");
    Restart();
  }
  if (Chance(options_.disasters)) Disaster();
  if (Chance(options_.store_faults)) {
    if (Chance(0.5)) {
      store_.FailNextApply({ErrorCode::kUnavailable, "disk full"});
    } else {
      store_.LoseNextAnswer({ErrorCode::kDeadlineExceeded, "too slow"});
    }
  }
  const std::size_t who = Pick(10);
  if (who < 2) People();
  if (who >= 2 && who < 4) Crossplane();
  if (who >= 4 && who < 6) Provider();
  process_->Step(options_.faults);
  process_->Wait(std::chrono::milliseconds{500 + 100 * Pick(50)});
  return CheckStep();
}

// What people would call the owner: a composed resource remembers its claim, also when that or the
// composite is gone.
Slot WatchSimulation::RootOf(const SimulatedObject& object) const {
  if (!object.claim) return SlotOf(object);
  return {"local", kClaim.group, kClaim.kind, object.claim->ns, object.claim->name};
}

bool WatchSimulation::Lives(const Slot& slot) {
  return cluster_.Find({slot.group, slot.kind}, slot.ns, slot.name) != nullptr;
}

std::optional<std::string> WatchSimulation::CheckStep() {
  std::map<std::string, std::set<Slot>> managers;
  for (const auto& [kind, places] : cluster_.objects()) {
    for (const auto& [place, object] : places) {
      if (object.exempt || object.bucket.empty() || object.intent == Intent::kObserves) continue;
      if (kind == kComposite && !options_.map_composite) continue;
      managers[object.bucket].insert(RootOf(object));
    }
  }
  if (options_.disasters == 0) {
    for (const auto& [bucket, roots] : managers) {
      if (roots.size() > 1)
        broken_.push_back("S1: bucket " + bucket + " has " + std::to_string(roots.size()) +
                          " managers");
    }
  }
  StoreContents after = real_store_.Contents().value();
  for (const std::string& breach : CheckInvariants(after)) broken_.push_back("S2: " + breach);
  if (!AuditOnlyGrew(before_, after)) broken_.push_back("I12: the audit log was changed");
  before_ = std::move(after);
  if (broken_.empty()) return std::nullopt;
  return broken_.front();
}

std::optional<std::string> WatchSimulation::CheckRows(const StoreContents& contents) {
  std::set<std::pair<std::string, std::string>> rows;  // uid, bucket
  for (const Row& row : contents.rows) {
    const SimulatedObject* live =
        cluster_.Find({row.slot.group, row.slot.kind}, row.slot.ns, row.slot.name);
    const std::string key = scene::BucketKey(live == nullptr ? "" : live->bucket).text;
    if (live == nullptr || live->uid != row.id.uid.text || key != row.id.key.text ||
        row.id.state != RowState::kSeen) {
      return "Q1: phantom row " + row.id.key.text + " of " + ForPeople(row.slot) + " " +
             row.id.uid.text + " " + std::string(Name(row.id.state));
    }
    rows.emplace(live->uid, live->bucket);
  }
  for (const auto& [kind, places] : cluster_.objects()) {
    if (kind == kXrd || (kind == kComposite && !options_.map_composite)) continue;
    for (const auto& [place, object] : places) {
      if (!object.bucket.empty() && !rows.contains({object.uid, object.bucket}))
        return "Q2: no row of " + ForPeople(SlotOf(object)) + " for " + object.bucket;
    }
  }
  return std::nullopt;
}
namespace {
std::string Describe(const Row& row) {
  return row.id.key.text + " " + row.id.uid.text + " " + std::string(Name(row.id.state)) + " " +
         ForPeople(row.slot) + " below " + ForPeople(row.root) + " " +
         std::string(Name(row.intent)) + (row.terminating ? " terminating" : "") +
         (row.managed ? " managed" : "");
}
// `real` is left out: what a process has not seen since its start may have come true meanwhile.
std::string Describe(const Owner& owner) {
  return owner.key.text + " " + owner.id.text + " " + ForPeople(owner.root) + " " +
         owner.party.text + " " + std::string(Name(owner.record)) + " " +
         std::string(Name(owner.state)) + " " + (owner.leaf ? ForPeople(*owner.leaf) : "no leaf") +
         (owner.contested ? " contested" : "");
}
std::string Describe(const Object& object) {
  return object.uid.text + " " + ForPeople(object.slot) + " below " +
         (object.parent ? ForPeople(*object.parent) : "none") + " root " + ForPeople(object.root);
}

template <typename T>
std::optional<std::string> Difference(const std::vector<T>& actual, const std::vector<T>& rebuilt) {
  std::set<std::string> ours;
  std::set<std::string> theirs;
  for (const T& item : actual) ours.insert(Describe(item));
  for (const T& item : rebuilt) theirs.insert(Describe(item));
  for (const std::string& item : ours) {
    if (theirs.contains(item)) continue;
    std::string text = "ours only: " + item;
    for (const std::string& other : theirs) {
      if (!ours.contains(other)) text += "\n  theirs only: " + other;
    }
    return text;
  }
  for (const std::string& item : theirs) {
    if (!ours.contains(item)) return "theirs only: " + item;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> WatchSimulation::CheckRebuild(const StoreContents& contents) {
  MemoryStore fresh;
  FakeClock clock(clock_.Now());
  std::uint64_t ids = 0;
  SimulatedProcess rebuild({cluster_, fresh, clock, random_, policy_, rules_, QuickOptions()}, now_,
                           ids);
  rebuild.Advance(kTtl * 2);
  const StoreContents rebuilt = fresh.Contents().value();
  // A root of record stays while a descendant lives; a rebuild cannot know it once it is gone.
  std::set<std::string> orphans;
  for (const Object& object : contents.objects) {
    if (!Lives(object.root) || (object.parent && !Lives(*object.parent)))
      orphans.insert(object.uid.text);
  }
  const auto without = [&](std::vector<Row> rows) {
    for (Row& row : rows) {
      if (orphans.contains(row.id.uid.text)) row.root = {};
    }
    return rows;
  };
  if (const auto rows = Difference(without(contents.rows), without(rebuilt.rows)))
    return "Q3: row " + *rows;
  // Those of creates that never came, without any declaration, wait for the next list.
  std::vector<Object> objects_here;
  for (const Object& object : contents.objects) {
    const Slot& slot = object.slot;
    const SimulatedObject* live = cluster_.Find({slot.group, slot.kind}, slot.ns, slot.name);
    if (live != nullptr && live->uid == object.uid.text && !orphans.contains(live->uid))
      objects_here.push_back(object);
  }
  std::vector<Object> objects_there = rebuilt.objects;
  std::erase_if(objects_there,
                [&](const Object& object) { return orphans.contains(object.uid.text); });
  if (const auto objects = Difference(objects_here, objects_there)) return "Q3: object " + *objects;
  std::set<KeyText> unsettled;
  for (const Row& row : contents.rows) {
    if (orphans.contains(row.id.uid.text)) unsettled.insert(row.id.key);
  }
  std::map<KeyText, const Owner*> theirs;
  for (const Owner& owner : rebuilt.owners) theirs[owner.key] = &owner;
  for (const Owner& owner : contents.owners) {
    const auto other = theirs.find(owner.key);
    if (other == theirs.end()) {
      if (owner.record == Record::kNone) return "Q3: owned without declaration: " + owner.name;
      continue;
    }
    const bool same = owner.root == other->second->root && owner.party == other->second->party;
    if (!same && !owner.contested && owner.record == Record::kNone && Lives(owner.root) &&
        !unsettled.contains(owner.key)) {
      return "Q3: " + owner.name + " is owned by " + ForPeople(owner.root) +
             ", in the rebuild by " + ForPeople(other->second->root);
    }
    theirs.erase(other);
  }
  if (!theirs.empty()) return "Q3: owned in the rebuild only: " + theirs.begin()->second->name;
  return std::nullopt;
}

std::optional<std::string> WatchSimulation::Quiet() {
  Say("quiet");
  store_.Mend();
  process_->Advance(kTtl * 3);
  if (!process_->watcher().ReleaseBrake(process_->now(), std::nullopt, "operator", "quiet").ok())
    return "the brake could not be released";
  process_->Advance(kTtl * 3);
  now_ = process_->now();
  const auto told = [&](const std::string& what) { return what + "\n" + process_->Describe(); };
  if (auto broken = CheckStep()) return broken;
  const StoreContents contents = real_store_.Contents().value();
  if (auto broken = CheckRows(contents)) return told(*broken);
  if (auto broken = CheckRebuild(contents)) return told(*broken);
  Restart();
  process_->Advance(kTtl);
  const StoreContents again = real_store_.Contents().value();
  if (const auto rows = Difference(contents.rows, again.rows)) return "Q4: row " + *rows;
  // A living conflict of the old party takes an orphaned key over when it is seen again.
  std::set<KeyText> open;
  for (const Owner& owner : contents.owners) {
    if (owner.record != Record::kNone) open.insert(owner.key);
  }
  const auto settled = [&](std::vector<Owner> owners) {
    std::erase_if(owners, [&](const Owner& owner) { return open.contains(owner.key); });
    return owners;
  };
  if (const auto owners = Difference(settled(contents.owners), settled(again.owners)))
    return "Q4: owner " + *owners;
  before_ = again;
  return std::nullopt;
}

}  // namespace truce
