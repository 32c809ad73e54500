// A watcher over a small cluster, with reviews that reserve: for its tests.
#ifndef TRUCE_TESTS_SUPPORT_WATCHER_FIXTURE_H_
#define TRUCE_TESTS_SUPPORT_WATCHER_FIXTURE_H_

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "registry/identity/uids.h"
#include "registry/ownership/review.h"
#include "registry/ownership/rows.h"
#include "tests/support/faulty_store.h"
#include "tests/support/invariants.h"
#include "tests/support/memory_store.h"
#include "tests/support/recount.h"
#include "tests/support/small_cluster.h"
#include "tests/support/store_contents.h"
#include "webhook/watch/watcher.h"

namespace truce::testing {

using namespace std::chrono_literals;  // NOLINT(google-build-using-namespace): tests only

inline const GroupKind kBucket{"s3.aws.upbound.io", "Bucket"};
inline const GroupKind kQueue{"sqs.aws.upbound.io", "Queue"};
inline const GroupKind kXrd{"apiextensions.crossplane.io", "CompositeResourceDefinition"};
inline const GroupKind kComposite{"acme.example.org", "XStorage"};
inline const GroupKind kClaim{"acme.example.org", "Storage"};
inline const GroupKind kConfig{"aws.upbound.io", "ProviderConfig"};
inline const GroupKind kCrd{"apiextensions.k8s.io", "CustomResourceDefinition"};

inline SmallObject Bucket(const std::string& name, const std::string& uid,
                          const std::string& bucket) {
  SmallObject object{kBucket, "", name, uid, {}, {}};
  object.metadata = R"("annotations":{"crossplane.io/external-name":")" + bucket + R"("})";
  object.rest = R"("spec":{"forProvider":{"region":"eu-west-1"}})";
  return object;
}

// As its provider leaves it once the bucket exists.
inline SmallObject Real(SmallObject object) {
  object.rest += R"(,"status":{"atProvider":{"arn":"arn:aws:s3:::x"},"conditions":[
      {"type":"Ready","status":"True","reason":"Available"},
      {"type":"Synced","status":"True","reason":"ReconcileSuccess"}]})";
  return object;
}

// The last state before its finalizer goes, once its provider deleted the bucket.
inline SmallObject Finished(SmallObject object) {
  object.metadata += R"(,"deletionTimestamp":"2026-01-02T00:00:00Z")";
  object.rest = R"("spec":{"forProvider":{"region":"eu-west-1"}},
      "status":{"atProvider":{"arn":"arn:aws:s3:::x"},"conditions":[
      {"type":"Ready","status":"False","reason":"Deleting"},
      {"type":"Synced","status":"True","reason":"ReconcileSuccess"}]})";
  return object;
}

struct Seen final : SightObserver {
  void OnSighted(const ObservedVersion& observed) override { sighted.push_back(observed); }
  void OnGone(const Uid& uid, const Slot& /*slot*/) override { gone.emplace(MetadataUid(uid)); }
  void OnKindState(const KindStatus& status) override { states[status.kind.group_kind()] = status; }
  void OnOther(const FollowedKind& kind, Value /*object*/, bool /*gone*/) override {
    others.push_back(kind.selection.kind.kind);
  }
  void OnUnread(const FollowedKind& /*kind*/, const UnreadObject& object, bool is_gone) override {
    unread.emplace_back(object, is_gone);
  }
  std::vector<ObservedVersion> sighted;
  std::set<std::string> gone;
  std::map<GroupKind, KindStatus> states;
  std::vector<std::string> others;
  std::vector<std::pair<UnreadObject, bool>> unread;
};

class WatcherTest : public ::testing::Test {
 protected:
  WatcherTest() {
    Serve();
    rules_.catalogue = std::make_shared<const Catalogue>(Catalogue::BuiltIn());
    rules_.identity.catalogue = rules_.catalogue.get();
    rules_.identity.cluster = "test";
    Start();
  }
  ~WatcherTest() override {
    for (const std::string& breach : CheckInvariants(Contents())) ADD_FAILURE() << breach;
    for (const std::string& wrong : Miscounts(store_)) ADD_FAILURE() << wrong;
  }

  void Serve() {
    cluster_.Serve({kBucket.group, "v1beta2", kBucket.kind, "buckets", false});
    cluster_.Serve({kQueue.group, "v1beta1", kQueue.kind, "queues", false});
  }
  // A new process on the same store.
  void Start() {
    driver_ = std::make_unique<Driver>(cluster_, faulty_, clock_,
                                       Driver::Options{rules_, options_, &seen_});
  }
  StoreContents Contents() const { return std::move(ContentsOf(store_)).value(); }
  static KeyText KeyOfBucket(const std::string& name) { return {"s3/Bucket|aws|||name=" + name}; }
  std::optional<Owner> OwnerOf(const std::string& bucket) const {
    for (Owner& owner : Contents().owners) {
      if (owner.name == bucket) return owner;
    }
    return std::nullopt;
  }
  std::vector<Row> RowsOf(const std::string& uid) const {
    std::vector<Row> rows;
    for (Row& row : Contents().rows) {
      if (MetadataUid(row.id.uid) == uid) rows.push_back(row);
    }
    return rows;
  }
  // A CREATE that is admitted.
  void Admit(const SmallObject& object, const Requester& requester = {}) {
    JsonReader reader;
    const SmallObject as_stored = object;
    SmallCluster scratch;
    scratch.Serve({object.kind.group, "v1", object.kind.kind, "x", false});
    scratch.Put(as_stored);
    ListQuery query;
    query.selection.kind = {object.kind.group, "v1", object.kind.kind, "x", false};
    const auto json = scratch.List(query).value().objects.front();
    const auto document = reader.Read(json);
    ReviewRequest request;
    request.operation = Operation::kCreate;
    request.uid = {"review-" + object.uid};
    request.requester = requester;
    request.object = Identify(document.value().root(), object.kind, rules_.identity);
    request.modes.assign(request.object.resources.size(), Mode::kEnforce);
    request.watched = true;
    const IdSource ids = [this] { return PublicId{"id-" + std::to_string(++ids_)}; };
    const auto applied = store_.Apply(
        {},
        [&](const Facts& facts) {
          const Decision decision = Decide(request, facts, clock_.Now(), ids);
          EXPECT_TRUE(decision.allowed);
          return decision.changes;
        },
        std::chrono::steady_clock::now() + 10s);
    ASSERT_TRUE(applied.ok());
    driver_->inbox.Admitted(object.kind);
  }

  MemoryStore store_;
  FaultyStore faulty_{store_};
  FakeClock clock_{Timestamp(1000h)};
  SmallCluster cluster_;
  ReconcileRules rules_;
  WatcherOptions options_;
  Seen seen_;
  std::unique_ptr<Driver> driver_;
  std::uint64_t ids_ = 0;
};

}  // namespace truce::testing

#endif  // TRUCE_TESTS_SUPPORT_WATCHER_FIXTURE_H_
