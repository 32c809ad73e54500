#include "tests/model/scene.h"

#include <gtest/gtest.h>

#include <utility>

#include "registry/ownership/agreements.h"
#include "registry/ownership/grant.h"
#include "registry/ownership/ledger.h"
#include "registry/ownership/names.h"
#include "tests/support/last_run.h"
#include "tests/support/recount.h"
#include "tests/support/store_contents.h"

namespace truce::scene {
namespace {

Deadline Soon() { return std::chrono::steady_clock::now() + std::chrono::seconds{20}; }

}  // namespace

KeyText BucketKey(const std::string& name) { return {"s3/Bucket|aws|||name=" + name}; }

DeclaredResource Bucket(const std::string& name, Intent intent) {
  DeclaredResource resource;
  resource.identity = {"s3/Bucket", "aws", "", "us-west-2", {{"name", name}}};
  resource.names = {{BucketKey(name), false}};
  resource.intent = intent;
  resource.name = name;
  resource.arn = "arn:aws:s3:::" + name;
  return resource;
}

Slot SlotOf(const std::string& kind, const std::string& ns, const std::string& name) {
  const std::string group = kind == "Bucket" ? "s3.aws.m.upbound.io" : "platform.example.org";
  return {"local", group, kind, ns, name};
}

namespace {

ObjectFacts Object(const Slot& slot, const std::string& uid, std::uint64_t version) {
  ObjectFacts object;
  object.slot = slot;
  object.uid = {uid};
  object.version = version;
  object.service = slot.ns + "/" + slot.name;
  object.known_kind = true;
  object.composite = slot.kind.starts_with('X');
  return object;
}

}  // namespace

std::string Queue::ProvisionalAccount() const {
  return "?local/aws.upbound.io/ProviderConfig//" + config;
}

KeyText QueueName(const std::string& name, const std::string& account) {
  return WithAccount({"sqs/Queue|aws||eu-west-1|name=" + name}, account);
}

// NOLINTNEXTLINE(readability-function-size): as below.
ObjectFacts ManagedQueue(const Slot& slot, const std::string& uid, const Queue& queue,
                         Intent intent, std::uint64_t version) {
  ObjectFacts object = Object(slot, uid, version);
  object.managed = true;
  object.real = !queue.observed.empty();
  object.shown_account = queue.observed;
  object.account_fields = queue.fields;
  DeclaredResource& resource = object.resources.emplace_back();
  const bool known = !queue.account.empty();
  const std::string account = known ? queue.account : queue.ProvisionalAccount();
  resource.identity = {"sqs/Queue", "aws", account, "eu-west-1", {{"name", queue.name}}};
  resource.names = {{QueueName(queue.name, account), false}};
  resource.further_account = known ? queue.ProvisionalAccount() : queue.observed;
  if (!resource.further_account.empty()) {
    resource.names.push_back({QueueName(queue.name, resource.further_account), !known});
  }
  resource.intent = intent;
  resource.name = queue.name;
  return object;
}

// NOLINTNEXTLINE(readability-function-size): what a history says of a bucket, on one line.
ObjectFacts ManagedBucket(const Slot& slot, const std::string& uid, const std::string& bucket,
                          Intent intent, std::uint64_t version) {
  ObjectFacts object = Object(slot, uid, version);
  object.managed = true;
  if (!bucket.empty()) object.resources.push_back(Bucket(bucket, intent));
  return object;
}

ObjectFacts Composite(const Slot& slot, const std::string& uid, const std::string& bucket,
                      std::uint64_t version) {
  ObjectFacts object = Object(slot, uid, version);
  if (!bucket.empty()) {
    object.resources.push_back(Bucket(bucket, Intent::kDeletes));
    object.resources.back().mapped = true;
  }
  return object;
}

ObjectRef RefTo(const Slot& slot, const std::string& uid) {
  return {slot.group, slot.kind, slot.ns, slot.name, {uid}};
}

ResourceId IdNamed(const KeyText& name, const Facts& facts) {
  const auto named = facts.Named(name);
  return named ? named->resource : ResourceId();
}

ResourceId IdNamed(const KeyText& name, const Ledger& ledger) {
  const auto named = ledger.Named(name);
  return named ? named->resource : ResourceId();
}

Decision Registry::Create(const ObjectFacts& object, const std::string& user, Mode mode) {
  ReviewRequest request;
  request.operation = Operation::kCreate;
  request.object = object;
  request.requester = {user, user == kCrossplane, user == kProvider, user == kRestorer};
  request.modes.assign(object.resources.size(), mode);
  request.uid = {"review-" + std::to_string(++reviews_)};
  return Ask(request);
}

Decision Registry::Update(const ObjectFacts& old_object, const ObjectFacts& object,
                          const std::string& user, Mode mode) {
  ReviewRequest request;
  request.operation = Operation::kUpdate;
  request.object = object;
  request.old_object = old_object;
  request.requester = {user, user == kCrossplane, user == kProvider, user == kRestorer};
  request.modes.assign(object.resources.size(), mode);
  request.uid = {"review-" + std::to_string(++reviews_)};
  return Ask(request);
}

Decision Registry::Delete(const ObjectFacts& object) {
  ReviewRequest request;
  request.operation = Operation::kDelete;
  request.object = object;
  request.uid = {"review-" + std::to_string(++reviews_)};
  return Ask(request);
}

Decision Registry::Ask(const ReviewRequest& request) {
  last_request_ = request;
  parties.statuses_guarded = status_guarded;
  last_request_.parties = &parties;
  FillPendingNames(moving, last_request_.object);
  last_request_.limits = limits;
  last_request_.watched = true;
  Decision decision;
  Apply([&](const Facts& facts) {
    decision = Decide(last_request_, facts, now_, [this] { return NewId(); });
    return decision.changes;
  });
  EXPECT_TRUE(decision.allowed || decision.changes.empty()) << "a denial must write nothing";
  return decision;
}

void Registry::See(const ObjectFacts& object, bool out_of_sight) {
  Run([&](Ledger& ledger) { truce::See(object, out_of_sight, ledger); });
}

void Registry::SeeDeleted(const ObjectFacts& last, const Ending& ending) {
  Run([&](Ledger& ledger) { truce::SeeDeleted(last, ending, ledger); });
}

void Registry::Prove(const RowId& row, const Proof& proof) {
  Run([&](Ledger& ledger) { truce::Prove(row, proof, ledger); });
}

void Registry::Absent(const RowId& row) {
  Run([&](Ledger& ledger) { truce::Absent(row, ledger); });
}

ReleaseOutcome Registry::Release(const KeyText& name, bool watched) {
  ReleaseOutcome outcome;
  const IsShown is_shown = [watched](const Slot& /*slot*/) { return watched; };
  Run([&](Ledger& ledger) {
    outcome = ReleaseByOperator(scene::IdNamed(name, ledger), {"operator", "moved away"}, is_shown,
                                ledger);
  });
  return outcome;
}

void Registry::Run(const std::function<void(Ledger&)>& change) {
  RunOnAll([&](const AllFacts& /*facts*/, Ledger& ledger) { change(ledger); });
}

void Registry::RunOnAll(const std::function<void(const AllFacts&, Ledger&)>& change) {
  parties.statuses_guarded = status_guarded;
  const IdSource ids = [this] { return NewId(); };
  testing::LastRun run;
  Apply([&](const AllFacts& facts) {
    Ledger ledger(facts, now_, ids, parties);
    run.Of([&] { change(facts, ledger); });
    return ledger.Take();
  });
  run.Report();
}

StoreContents Registry::Contents() const {
  auto contents = ContentsOf(store_);
  EXPECT_TRUE(contents.ok());
  if (contents.ok()) {
    const auto wrong = testing::Miscounts(store_, contents.value().owners);
    EXPECT_EQ(wrong, std::vector<std::string>());
  }
  return contents.ok() ? std::move(contents).value() : StoreContents{};
}

ResourceId Registry::IdNamed(const KeyText& name) const {
  ResourceId id;
  Read([&](const Facts& facts) { id = scene::IdNamed(name, facts); });
  return id;
}

std::optional<Owner> Registry::OwnerNamed(const KeyText& name) const {
  std::optional<Owner> owner;
  Read([&](const Facts& facts) { owner = OwnerByName(name, facts); });
  return owner;
}

std::vector<Row> Registry::RowsNamed(const KeyText& name) const {
  std::vector<Row> rows;
  Read([&](const Facts& facts) {
    const auto named = facts.Named(name);
    rows = named ? facts.RowsOf(named->resource) : std::vector<Row>();
  });
  return rows;
}

std::vector<ResourceName> Registry::NamesOf(const ResourceId& id) const {
  std::vector<ResourceName> names;
  Read([&](const Facts& facts) { names = facts.NamesOf(id); });
  return names;
}

void Registry::Read(const ReadFn& read) const { EXPECT_TRUE(store_.Read(read, Soon()).ok()); }

void Registry::Apply(const DecideFn& decide) {
  const std::uint64_t ids = ids_;
  const DecideFn anew = [&](const AllFacts& facts) {
    ids_ = ids;
    return decide(facts);
  };
  const auto applied = store_.Apply({}, anew, Soon());
  ASSERT_TRUE(applied.ok()) << applied.error().message;
}

ObjectFacts Registry::Live(const Slot& slot, const std::string& uid, const std::string& bucket) {
  ObjectFacts object = ManagedBucket(slot, uid, bucket, Intent::kDeletes, 10);
  EXPECT_TRUE(Create(object).allowed);
  object.real = true;
  object.version = 11;
  See(object);
  return object;
}

PublicId Registry::NewId() {
  std::string text = std::to_string(++ids_);
  for (char& digit : text) digit = static_cast<char>(digit - '0' + 'b');
  return {std::string(13 - text.size(), 'a') + text};
}

}  // namespace truce::scene
