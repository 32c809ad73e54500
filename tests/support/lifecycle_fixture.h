// Recorded life cycles of Crossplane (tests/support/recordings/lifecycle; real
// cores 1.16.1, 1.18.1, 1.20; trimmed to what is read) and made-up ones, played before the
// detectors. Of the reviews (…-reviews-CORE.jsonl) those are left out that never come to Truce:
// Usages, CompositionRevisions, creations of Compositions.
#ifndef TRUCE_TESTS_SUPPORT_LIFECYCLE_FIXTURE_H_
#define TRUCE_TESTS_SUPPORT_LIFECYCLE_FIXTURE_H_

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "policies/policy.h"
#include "tests/support/recorded_watch.h"
#include "tests/support/watcher_fixture.h"
#include "webhook/findings/detectors.h"

namespace truce::testing {

inline const GroupKind kUsage{"apiextensions.crossplane.io", "Usage"};
inline const GroupKind kNewUsage{"protection.crossplane.io", "Usage"};
inline const GroupKind kClusterUsage{"protection.crossplane.io", "ClusterUsage"};
inline const GroupKind kStorage{"platform.example.org", "ObjectStorage"};
inline const GroupKind kXStorage{"platform.example.org", "XObjectStorage"};
inline const GroupKind kPolicy{"s3.aws.upbound.io", "BucketPolicy"};

// The time of day of the recordings.
inline Timestamp At(const std::string& time) { return *ParseTimestamp("2026-11-23T" + time + "Z"); }

// Recorded versions go through a watcher into the registry and to the detectors, which look every
// two seconds.
class LifecycleTest : public WatcherTest {
 protected:
  LifecycleTest() {
    clock_.Set(At("04:00:00"));
    cluster_.Serve({kXrd.group, "v1", kXrd.kind, "compositeresourcedefinitions", false});
    cluster_.Serve({kXStorage.group, "v1alpha1", kXStorage.kind, "xobjectstorages", false});
    cluster_.Serve({kStorage.group, "v1alpha1", kStorage.kind, "objectstorages", true});
    cluster_.Serve({kPolicy.group, "v1beta1", kPolicy.kind, "bucketpolicies", false});
    cluster_.Serve({kUsage.group, "v1alpha1", kUsage.kind, "usages", false});
    cluster_.Serve({kNewUsage.group, "v1beta1", kNewUsage.kind, "usages", true});
    cluster_.Serve({kClusterUsage.group, "v1beta1", kClusterUsage.kind, "clusterusages", false});
    cluster_.Put({kXrd,
                  "",
                  "xobjectstorages.platform.example.org",
                  "xrd",
                  {},
                  R"("spec":{"group":"platform.example.org","names":{"kind":"XObjectStorage"},
                     "claimNames":{"kind":"ObjectStorage"}})"});
    options_.others = detectors_.Kinds("truce");
  }
  ~LifecycleTest() override { driver_.reset(); }

  void Begin() {
    driver_ = std::make_unique<Driver>(cluster_, faulty_, clock_,
                                       Driver::Options{rules_, options_, &detectors_});
    driver_->Settle();
    detectors_.SetReady(1s);
    began_ = true;
  }
  void Look() { ASSERT_TRUE(detectors_.Examine(std::chrono::steady_clock::now() + 10s).ok()); }
  void Wait(std::chrono::milliseconds time) {
    if (!began_) Begin();
    const Timestamp end = clock_.Now() + time;
    while (clock_.Now() + 2s <= end) {
      driver_->Advance(2s);
      Look();
    }
    if (clock_.Now() < end) driver_->Advance(end - clock_.Now());
  }
  // A kind that is empty would be polled, and what was recorded be seen late.
  void Seed() {
    cluster_.Put({kStorage,
                  "seed",
                  "seed",
                  "seed-claim",
                  {},
                  R"("spec":{"resourceRef":{"apiVersion":"platform.example.org/v1alpha1",
                     "kind":"XObjectStorage","name":"seed"}})"});
    cluster_.Put({kXStorage,
                  "",
                  "seed",
                  "seed-composite",
                  {},
                  R"("spec":{"claimRef":{"apiVersion":"platform.example.org/v1alpha1",
                     "kind":"ObjectStorage","namespace":"seed","name":"seed"}},
                     "status":{"conditions":[{"type":"Synced","status":"True"}]})"});
    cluster_.Put({kPolicy, "", "seed", "seed-policy", {}, R"("spec":{"forProvider":{}})"});
    cluster_.Put({kQueue, "", "seed", "seed-queue", {}, R"("spec":{"forProvider":{}})"});
    cluster_.Put(Bucket("seed", "seed-bucket", "seed"));
  }
  // Plays what was recorded in [from, until), at its time or, when that has passed, as fast as it
  // was.
  void Play(const std::string& name, Timestamp from, Timestamp until) {
    std::optional<Timestamp> last;
    for (const RecordedLine& line : RecordedWatch("lifecycle/" + name)) {
      if (line.received < from || line.received >= until) continue;
      if (!began_) {
        clock_.Set(line.received);
        Seed();
        Begin();
      }
      Wait(line.received - last.value_or(line.received));
      last = line.received;
      const SmallObject object = ObjectFromJson(line.object);
      if (line.type == "DELETED") {
        cluster_.Remove(object.kind, object.ns, object.name);
      } else {
        cluster_.Put(object);
      }
      driver_->Settle();
    }
    if (last && until < *last + 1h) Wait(until - *last);
  }
  void PlayAll(const std::string& name) { Play(name, At("00:00:00"), At("23:59:59")); }

  Surroundings Around() const {
    Surroundings around;
    auto policy = std::make_shared<AdmissionPolicy>();
    policy->catalogue = rules_.catalogue;
    policy->identity.cluster = "test";
    policy->claims = {{kStorage, kXStorage}};
    around.policy = std::move(policy);
    around.webhook.name = "truce";
    return around;
  }
  static bool IsOurs(Detector detector) {
    return detector == Detector::kStaleUsage || detector == Detector::kCompositeNotSeen ||
           detector == Detector::kClaimTwice || detector == Detector::kClaimStale ||
           detector == Detector::kUnreferencedResource || detector == Detector::kDeletionBlocked;
  }
  void OnChange(const FindingChange& change) {
    if (!IsOurs(change.finding.detector)) return;
    const bool over = change.kind == FindingChange::Kind::kResolved;
    story_.push_back(std::string(over ? "- " : "+ ") + std::string(Name(change.finding.detector)) +
                     " " + change.finding.resource);
    times_.push_back(clock_.Now());
  }
  std::vector<LiveFinding> Found() const {
    std::vector<LiveFinding> out;
    for (LiveFinding& finding : book_.Snapshot()) {
      if (IsOurs(finding.detector)) out.push_back(std::move(finding));
    }
    return out;
  }
  std::vector<std::string> Resources() const {
    std::vector<std::string> out;
    for (const LiveFinding& finding : Found()) {
      out.push_back(std::string(Name(finding.detector)) + " " + finding.resource);
    }
    return out;
  }
  std::vector<CoverageGap> GapsOf(const std::string& subject) const {
    std::vector<CoverageGap> out;
    for (CoverageGap& gap : detectors_.Coverage().gaps) {
      if (gap.subject == subject && gap.reason == GapReason::kNotListed) {
        out.push_back(std::move(gap));
      }
    }
    return out;
  }

  using Story = std::vector<std::string>;
  bool began_ = false;
  FindingsBook book_;
  Story story_;
  std::vector<Timestamp> times_;  // of story_
  Detectors detectors_{{faulty_, clock_, book_, "test", [this] { return Around(); },
                        [this](const FindingChange& change) { OnChange(change); }}};
};

}  // namespace truce::testing

#endif  // TRUCE_TESTS_SUPPORT_LIFECYCLE_FIXTURE_H_
