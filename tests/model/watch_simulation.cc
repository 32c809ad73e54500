#include "tests/model/watch_simulation.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "tests/model/scene.h"
#include "tests/model/simulated_kinds.h"
#include "tests/support/store_contents.h"

namespace truce {
namespace {

constexpr const char* kProviderFinalizer = "finalizer.managedresource.crossplane.io";
constexpr const char* kCrossplaneFinalizer = "finalizer.apiextensions.crossplane.io";
constexpr std::array kBuckets{"alpha", "beta", "gamma"};
constexpr std::array kNamespaces{"team-a", "team-b"};

MappingRule RuleFor(const GroupKind& kind, const Catalogue& catalogue,
                    const char* path = "spec.parameters.name") {
  MappingRule rule;
  rule.kind = kind;
  MappedResource bucket;
  bucket.type = "s3/Bucket";
  PartSource name;
  name.path = FieldPath::Parse(path, FieldPath::Root::kObject).value();
  bucket.parts[catalogue.FindType("s3/Bucket")->parts.front().name] = std::move(name);
  rule.declares.push_back(std::move(bucket));
  return rule;
}

MappingRules MappingsOf(const Catalogue& catalogue, bool whole, bool map_composite) {
  std::vector<MappingRule> rules{
      RuleFor(kClaimKind, catalogue, whole ? "spec.parameters.name" : "spec.parameters.nmae")};
  if (map_composite) rules.push_back(RuleFor(kCompositeKind, catalogue));
  return MappingRules::Create(std::move(rules), catalogue).value();
}

AdmissionPolicy PolicyOf(bool map_composite) {
  static const auto kCatalogue = std::make_shared<const Catalogue>(Catalogue::BuiltIn());
  AdmissionPolicy policy;
  policy.catalogue = kCatalogue;
  policy.identity.cluster = "local";
  policy.identity.catalogue = kCatalogue.get();
  policy.identity.mappings = MappingsOf(*kCatalogue, true, map_composite);
  policy.providers = {"system:serviceaccount:crossplane-system:provider-*"};
  policy.composite_controllers = {scene::kCrossplane};
  policy.watched = true;
  return policy;
}

std::string CloudName(const SimulatedObject& object) {
  return (object.kind == kTableKind ? "table " : "bucket ") + object.bucket;
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
  if (options.discreet) policy_.disclosure = Disclosure::kTaken;
  rules_.catalogue = policy_.catalogue;
  rules_.identity = policy_.identity;
  rules_.reservation_ttl = kTtl;
  cluster_.Serve({kXrdKind.group, "v1", kXrdKind.kind, "compositeresourcedefinitions", false});
  cluster_.Serve(
      {kDefinitionKind.group, "v1", kDefinitionKind.kind, "customresourcedefinitions", false});
  defined_ = {{kBucketKind.group, "v1beta2", kBucketKind.kind, "buckets", false},
              {kOwnBucketKind.group, "v1beta1", kOwnBucketKind.kind, "buckets", true},
              {kTableKind.group, "v1beta2", kTableKind.kind, "tables", false},
              {kCompositeKind.group, "v1", kCompositeKind.kind, "xstorages", false},
              {kClaimKind.group, "v1", kClaimKind.kind, "storages", true}};
  for (const ServedKind& kind : defined_) MakeDefinition(kind);
  cluster_.Serve({kConfigKind.group, "v1beta1", kConfigKind.kind, "providerconfigs", false});
  PutConfig();
  SimulatedObject definition = NewObject(kXrdKind, "", "xstorages.acme.example.org");
  definition.extra =
      R"("spec":{"group":"acme.example.org","names":{"kind":"XStorage"},"claimNames":{"kind":"Storage"}})";
  cluster_.Put(std::move(definition));
  for (std::size_t i = 0; i < options_.crowd; ++i) {
    SimulatedObject one = NewObject(kBucketKind, "", "crowd-" + std::to_string(i));
    one.bucket = one.name;
    cluster_.Put(std::move(one));
  }
  Restart();
  fence_.TakeOverAtCall(options_.fail_over_at);
  if (Chance(0.7)) process_->Settle();
}
WatchSimulation::~WatchSimulation() = default;

WatcherOptions WatchSimulation::Quick() const {
  WatcherOptions options;
  options.times.page = options_.crowd == 0 ? 3 : 50;
  return options;
}

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
      SimulatedPorts{cluster_, store_, clock_, random_, policy_, rules_, Quick(), &fence_}, now_,
      ids_);
}

void WatchSimulation::FailOver() {
  Say("another watch takes over");
  ++former_was_;
  now_ = process_->now();
  former_ = std::move(process_);
  Restart();
}

void WatchSimulation::GoOn(const std::function<void()>& how) {
  if (!former_) return;
  const StoreContents before = ContentsOf(real_store_).value();
  former_->WakeAt(process_->now());
  how();
  if (ContentsOf(real_store_).value() != before) broken_.push_back("S5: a former watch wrote");
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

std::string WatchSimulation::ReviewOf(const Request& request, const std::string& uid,
                                      bool dry_run) const {
  const SimulatedObject& object = request.object;
  const std::string kind = R"({"group":")" + object.kind.group +
                           R"(","version":"v1beta1","kind":")" + object.kind.kind + R"("})";
  const std::string now = JsonOf(object);
  std::string before = "null";
  if (request.before) before = JsonOf(*request.before);
  const bool is_delete = request.operation == "DELETE";
  std::string out = R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{)";
  out += R"("uid":")" + uid + R"(","kind":)" + kind + R"(,"requestKind":)" + kind + R"(,"name":")" +
         (request.generated ? "" : object.name) + "\"";
  if (!object.ns.empty()) out += R"(,"namespace":")" + object.ns + "\"";
  out += R"(,"operation":")" + request.operation + R"(","userInfo":{"username":")" + request.user +
         R"(","groups":["system:authenticated"]},"object":)" + (is_delete ? "null" : now) +
         R"(,"oldObject":)" + (is_delete ? now : before) + R"(,"dryRun":)" +
         (dry_run ? "true" : "false") + R"(,"options":null}})";
  return out;
}

// Before the review that was answered with `answer`; nothing happens between the two.
void WatchSimulation::DryRun(const Request& request, const SimulatedAnswer& answer) {
  const StoreContents before = ContentsOf(real_store_).value();
  const SimulatedAnswer dry =
      process_->Validate(ReviewOf(request, "dry-" + std::to_string(reviews_), true));
  if (ContentsOf(real_store_).value() != before) broken_.push_back("I4: a dry run changed a row");
  if (dry.status == 200 && answer.status == 200 && dry.allowed != answer.allowed)
    broken_.push_back("I4: a dry run was answered otherwise: " + dry.body);
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
  const bool dry_run_first = Chance(0.05);
  if (dry_run_first) DryRun(request, {});
  SimulatedAnswer answer = process_->Validate(review);
  if (!answer.allowed && dry_run_first) DryRun(request, answer);
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
    const std::string others = object.ns == "team-a" ? "team-b" : "team-a";
    if (options_.discreet && !object.ns.empty() && answer.body.find(others) != std::string::npos)
      broken_.push_back("I8: the holder is named: " + answer.body);
    if (is_delete) broken_.push_back("I10: a DELETE was denied: " + answer.body);
    if (request.before && request.before->terminating && !adds)
      broken_.push_back("I10: an update of a terminating object was denied: " + answer.body);
    return false;
  }
  if (adds) object.exempt = answer.warned;
  return true;
}

bool WatchSimulation::Create(SimulatedObject object, const std::string& user) {
  if (!MayCreate(object.kind)) return false;
  Request request{"CREATE", std::move(object), std::nullopt, user};
  if (!Admit(request)) return false;
  if (cluster_.Find(request.object.kind, request.object.ns, request.object.name) != nullptr ||
      Chance(0.1)) {
    Say("create failed after admission: " + ForPeople(SlotOf(request.object)));
    return false;
  }
  Say("create " + ForPeople(SlotOf(request.object)) + " " + request.object.uid + " " +
      request.object.bucket + " " + std::string(Name(request.object.intent)) +
      (request.object.exempt ? " exempt" : ""));
  cluster_.Put(std::move(request.object));
  return true;
}

// As the API server does it: the whole create again, validation too, with another name and uid.
void WatchSimulation::CreateGenerated(SimulatedObject object, const std::string& user) {
  constexpr int kRetriesMax = 8;
  if (!MayCreate(object.kind)) return;
  for (int i = 0; i < kRetriesMax; ++i) {
    object.name = Chance(0.5) ? "one" : "two";
    object.uid = "uid-" + std::to_string(++uids_);
    Request request{"CREATE", object, std::nullopt, user, true};
    if (!Admit(request)) return;
    if (cluster_.Find(object.kind, object.ns, object.name) != nullptr) {
      Say("generated name taken: " + ForPeople(SlotOf(object)) + " " + object.uid);
      continue;
    }
    Say("create generated " + ForPeople(SlotOf(object)) + " " + object.uid + " " + object.bucket);
    cluster_.Put(std::move(request.object));
    return;
  }
}

bool WatchSimulation::Update(const SimulatedObject& before, SimulatedObject after,
                             const std::string& user) {
  SimulatedObject old = before;
  Request request{"UPDATE", std::move(after), old, user};
  if (!Admit(request)) return false;
  // 409: somebody wrote meanwhile; a PATCH is repeated on what is there now, validation too.
  for (int i = 0; i < 5 && Chance(0.05); ++i) {
    Say("conflict, patched again: " + ForPeople(SlotOf(old)));
    old = cluster_.Put(old);
    request.object.version = old.version;
    request.before = old;
    if (!Admit(request)) return false;
  }
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
    SimulatedObject claim = NewObject(kClaimKind, ns, name);
    claim.bucket = bucket;
    claim.finalizers = {kCrossplaneFinalizer};
    Create(std::move(claim), "dev");
  } else if (what < 6) {
    const bool own = Chance(0.5);
    SimulatedObject managed = NewObject(own ? kOwnBucketKind : kBucketKind, own ? ns : "", name);
    managed.bucket = bucket;
    managed.intent = kIntents[Pick(kIntents.size())];
    if (Chance(0.2)) return CreateGenerated(std::move(managed), "dev");
    Create(std::move(managed), "dev");
  } else if (what < 8) {
    if (const SimulatedObject* object =
            Any({kClaimKind, kBucketKind, kOwnBucketKind, kTableKind})) {
      SimulatedObject after = *object;
      after.bucket = bucket;
      if (after.kind != kClaimKind) after.intent = kIntents[Pick(kIntents.size())];
      if (after.bucket != object->bucket) after.real = after.deleting = false;
      Update(*object, std::move(after), "dev");
    }
  } else if (what < 11) {
    if (const SimulatedObject* object =
            Any({kClaimKind, kBucketKind, kOwnBucketKind, kTableKind, kCompositeKind}))
      Delete(*object, "dev");
  } else if (Chance(0.2)) {
    const SimulatedObject* object =
        Any({kClaimKind, kBucketKind, kOwnBucketKind, kTableKind, kCompositeKind});
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
                              : cluster_.Find(kCompositeKind, "", claim.resources.front().name);
  if (claim.terminating) {
    if (composite != nullptr) return Delete(*composite, scene::kCrossplane);
    SimulatedObject after = claim;
    after.finalizers.clear();
    Update(claim, std::move(after), scene::kCrossplane);
  } else if (claim.resources.empty()) {
    SimulatedObject after = claim;
    after.resources = {{kCompositeKind.group, kCompositeKind.kind, "",
                        claim.name + "-" + claim.ns + "-" + std::to_string(++uids_), Uid{}}};
    Update(claim, std::move(after), scene::kCrossplane);
  } else if (composite == nullptr) {
    SimulatedObject made = NewObject(kCompositeKind, "", claim.resources.front().name);
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
      composite.resources.empty()
          ? nullptr
          : cluster_.Find(kBucketKind, "", composite.resources.front().name);
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
    after.resources = {{kBucketKind.group, kBucketKind.kind, "",
                        composite.name + "-" + std::to_string(++uids_), Uid{}}};
    Update(composite, std::move(after), scene::kCrossplane);
  } else if (managed == nullptr) {
    SimulatedObject made = NewObject(kBucketKind, "", composite.resources.front().name);
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
  const SimulatedObject* object = Any({kClaimKind, kCompositeKind});
  if (object == nullptr) return;
  if (object->kind == kClaimKind) return ReconcileClaim(*object);
  ReconcileComposite(*object);
}

// As a provider does it: while terminating observe, delete what exists, look again, then let go.
// Its status updates are not reviewed: the webhook's rules leave the subresource out.
void WatchSimulation::Provider() {
  const SimulatedObject* object = Any({kBucketKind, kOwnBucketKind, kTableKind});
  if (object == nullptr) return;
  SimulatedObject after = *object;
  if (object->terminating) {
    if (object->intent == Intent::kDeletes && cloud_.contains(CloudName(*object)) &&
        !object->deleting && Has(*object, kProviderFinalizer)) {
      cloud_.erase(CloudName(*object));
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
  if (object->real && (!cloud_.contains(CloudName(*object)) || !Chance(0.1))) return;
  if (object->real) ++after.observed;
  cloud_.insert(CloudName(*object));
  after.real = true;
  Say("provider has the bucket of " + ForPeople(SlotOf(after)));
  cluster_.Put(std::move(after));
}

// All at once, and the history with it: nobody tells.
void WatchSimulation::LoseCrowd() {
  Say("the crowd is gone, unseen");
  for (std::size_t i = 0; i < options_.crowd; ++i) {
    const SimulatedObject* one = cluster_.Find(kBucketKind, "", "crowd-" + std::to_string(i));
    if (one != nullptr) cluster_.Remove(*one);
  }
  cluster_.Compact();
}

void WatchSimulation::DeleteInConsole() {
  if (cloud_.empty()) return;
  const auto gone = std::next(cloud_.begin(), static_cast<std::ptrdiff_t>(Pick(cloud_.size())));
  Say("deleted in the console: " + *gone);
  cloud_.erase(gone);
}

void WatchSimulation::PutConfig() {
  SimulatedObject config = NewObject(kConfigKind, "", "default");
  config.extra = R"("spec":{"credentials":{"source":"Secret","secretRef":{"name":")" +
                 std::to_string(secrets_) + R"("}})";
  if (account_known_) {
    config.extra += std::string(R"(,"assumeRoleChain":[{"roleARN":"arn:aws:iam::)") +
                    kAccountNumber + R"(:role/provider"}])";
  }
  config.extra += "}";
  cluster_.Put(std::move(config));
}

void WatchSimulation::SetMapping(bool whole) {
  Say(whole ? "the mapping is mended" : "the mapping is broken");
  mapped_ = whole;
  policy_.identity.mappings = MappingsOf(*policy_.catalogue, whole, options_.map_composite);
  rules_.identity.mappings = policy_.identity.mappings;
  process_->SetMappings(rules_.identity.mappings);
}

void WatchSimulation::MakeDefinition(const ServedKind& kind) {
  cluster_.Serve(kind);
  SimulatedObject made = NewObject(kDefinitionKind, "", kind.plural + "." + kind.group);
  made.extra = R"("spec":{})";
  cluster_.Put(std::move(made));
}

bool WatchSimulation::MayCreate(const GroupKind& kind) const {
  const auto defined = std::find_if(defined_.begin(), defined_.end(), [&](const ServedKind& one) {
    return GroupKind{one.group, one.kind} == kind;
  });
  const SimulatedObject* definition =
      cluster_.Find(kDefinitionKind, "", defined->plural + "." + defined->group);
  return definition != nullptr && !definition->terminating;
}

void WatchSimulation::RemoveDefinition(const ServedKind& kind) {
  const SimulatedObject* found = cluster_.Find(kDefinitionKind, "", kind.plural + "." + kind.group);
  if (found == nullptr || found->terminating) return;
  Say("definition removed: " + found->name);
  SimulatedObject definition = *found;
  definition.terminating = true;
  cluster_.Put(std::move(definition));
  for (SimulatedObject& object : cluster_.ObjectsOf({kind.group, kind.kind})) {
    if (object.finalizers.empty()) {
      cluster_.Remove(std::move(object));
    } else if (!object.terminating) {
      object.terminating = true;
      cluster_.Put(std::move(object));
    }
  }
}

void WatchSimulation::FinishDefinitions(bool all) {
  for (const ServedKind& kind : defined_) {
    const GroupKind name{kind.group, kind.kind};
    const SimulatedObject* definition =
        cluster_.Find(kDefinitionKind, "", kind.plural + "." + kind.group);
    if (definition == nullptr) {
      cluster_.Unserve(name);
      if (all || Chance(0.05)) MakeDefinition(kind);
      continue;
    }
    if (!cluster_.Serves(name)) cluster_.Serve(kind);  // by a restored etcd
    if (!definition->terminating) continue;
    if (all) {
      for (SimulatedObject& object : cluster_.ObjectsOf(name)) cluster_.Remove(std::move(object));
    }
    if (!cluster_.ObjectsOf(name).empty()) continue;
    Say("definition gone: " + definition->name);
    cluster_.Remove(*definition);
    cluster_.Unserve(name);
  }
}

void WatchSimulation::Disaster() {
  switch (Pick(options_.crowd == 0 ? 5 : 6)) {
    case 5: return LoseCrowd();
    case 4: return RemoveDefinition(defined_[Pick(defined_.size())]);
    case 0:
      if (!cluster_.has_backup()) return cluster_.Backup();
      Say("etcd restored");
      cluster_.Restore(Chance(0.5));
      PutConfig();  // what was learned stays learned: people write it again
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
  if (!process_->leads() || (options_.fail_overs > 0 && Chance(options_.fail_overs))) FailOver();
  if (Chance(options_.disasters)) Disaster();
  if (options_.disasters > 0) FinishDefinitions(false);
  if (Chance(options_.store_faults)) {
    if (Chance(0.5)) {
      store_.FailNextApply({ErrorCode::kUnavailable, "disk full"});
    } else {
      store_.LoseNextAnswer({ErrorCode::kDeadlineExceeded, "too slow"});
    }
  }
  if (options_.tables && !account_known_ && Chance(0.01)) {
    Say("the account becomes known");
    account_known_ = true;
    PutConfig();
  }
  if (Chance(0.01)) {
    Say("a secret is rotated");
    ++secrets_;
    PutConfig();
  }
  if (Chance(0.02)) DeleteInConsole();
  if (options_.remaps && Chance(0.02)) SetMapping(!mapped_);
  const std::size_t who = Pick(10);
  if (who < 2) People();
  if (who >= 2 && who < 4) Crossplane();
  if (who >= 4 && who < 6) Provider();
  process_->Step(options_.faults);
  GoOn([this] { former_->Step(options_.faults); });
  process_->Wait(std::chrono::milliseconds{500 + 100 * Pick(50)});
  return CheckStep();
}

}  // namespace truce
