// DetectorBench: one detector by itself, fed by hand.
#ifndef TRUCE_TESTS_SUPPORT_DETECTOR_BENCH_H_
#define TRUCE_TESTS_SUPPORT_DETECTOR_BENCH_H_

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "policies/policy.h"
#include "registry/ownership/rows.h"
#include "tests/support/json_document.h"
#include "tests/support/memory_store.h"
#include "tests/support/store_samples.h"
#include "webhook/findings/examiner.h"

namespace truce::testing {

class DetectorBench {
 public:
  explicit DetectorBench(Detector detector) : DetectorBench(detector, detector) {}
  // Of one that reports several: the findings of `reported`.
  DetectorBench(Detector detector, Detector reported)
      : detector_(reported), examiner_(InfoOf(detector).make()) {
    policy = std::make_shared<AdmissionPolicy>();
  }

  void See(const ObservedVersion& observed, Timestamp now) { examiner_->OnSighted(observed, now); }
  void See(const ObjectFacts& object, Timestamp now) {
    ObservedVersion observed;
    observed.facts = object;
    See(observed, now);
  }
  void Gone(const Uid& uid) { examiner_->OnGone(uid, {}); }
  void State(const GroupKind& kind, KindState state) {
    KindStatus status;
    status.kind = Kind(kind);
    status.state = state;
    examiner_->OnKindState(status);
  }
  // An object of another kind, from the watch.
  void Other(const GroupKind& kind, Value object, Timestamp now) {
    const FollowedKind followed = Kind(kind);
    examiner_->OnOther({followed, object, false, cluster, now});
  }

  // All that it finds.
  std::vector<LiveFinding> Look(Timestamp now = {}) { return Look(now, nothing_); }
  std::vector<LiveFinding> Look(Timestamp now, const Store& store) {
    return Run(now, store,
               [&](const Examination& at) { EXPECT_TRUE(examiner_->Examine(at).ok()); });
  }
  // By a pass over these owners and objects.
  struct Passed {
    std::vector<Owner> owners;
    std::vector<Object> objects;
  };
  std::vector<LiveFinding> Pass(const Passed& passed, Timestamp now, const Store& store) {
    return Run(now, store, [&](const Examination& at) {
      examiner_->BeginPass();
      std::vector<std::function<void()>> keep;
      const auto read = [&](const AllFacts& facts) {
        const PassPlace place{facts, *policy, now, keep};
        for (const Owner& owner : passed.owners) examiner_->OnOwner(owner, place);
        for (const Object& object : passed.objects) {
          examiner_->OnObject(object, Role::kManaged, place);
        }
      };
      // As a store does that brings what a first reading asked for.
      for (int times = 0; times < 2; ++times) {
        keep.clear();
        EXPECT_TRUE(store.Read(read, Soon()).ok());
      }
      for (const auto& each : keep) each();
      examiner_->EndPass(at);
    });
  }
  std::vector<LiveFinding> Pass(const Passed& passed, Timestamp now = {}) {
    return Pass(passed, now, nothing_);
  }

  std::string cluster;
  std::shared_ptr<AdmissionPolicy> policy;
  Guarded<WatchedCluster> watched;

 private:
  static FollowedKind Kind(const GroupKind& kind) {
    FollowedKind followed;
    followed.selection.kind.group = kind.group;
    followed.selection.kind.kind = kind.kind;
    return followed;
  }
  template <typename Act>
  std::vector<LiveFinding> Run(Timestamp now, const Store& store, const Act& act) {
    std::vector<LiveFinding> out;
    Surroundings around;
    around.policy = policy;
    act(Examination{store, Soon(), now, around, watched,
                    [&](Detector detector, std::vector<LiveFinding> found) {
                      if (detector == detector_) out = std::move(found);
                    }});
    return out;
  }

  const Detector detector_;
  const std::unique_ptr<Examiner> examiner_;
  MemoryStore nothing_;
};

}  // namespace truce::testing

#endif  // TRUCE_TESTS_SUPPORT_DETECTOR_BENCH_H_
