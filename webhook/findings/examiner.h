// Examiner: the knowledge of a detector, and how it looks. One mutex guards all of that knowledge;
// the collection of a pass over the registry is of the thread that examines. Includes the headers
// that every detector needs.
#ifndef TRUCE_WEBHOOK_FINDINGS_EXAMINER_H_
#define TRUCE_WEBHOOK_FINDINGS_EXAMINER_H_

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "policies/finding.h"
#include "policies/people.h"
#include "policies/policy.h"
#include "registry/base/counted.h"
#include "registry/base/guarded.h"
#include "registry/base/result.h"
#include "registry/ownership/facts.h"
#include "registry/ownership/rows.h"
#include "registry/store/store.h"
#include "webhook/findings/conflicts.h"
#include "webhook/findings/findings_book.h"
#include "webhook/findings/watched_cluster.h"
#include "webhook/watch/kinds.h"

namespace truce {

// A kind that the watcher must follow for a detector, besides what the registry needs.
struct DetectorKind {
  FollowedKind kind;
  std::string_view finds;  // what is not found while it cannot be read; empty: told elsewhere
};
// One of role kOther, followed also while it has no object.
DetectorKind AlwaysFollowed(ServedKind kind, std::string field_selector,
                            std::string_view finds = {});

// An object of such a kind, as the watch shows it.
struct OtherObject {
  const FollowedKind& kind;
  Value object;
  bool gone = false;
  std::string_view cluster;  // cluster id
  Timestamp at{};            // our clock
};

// One look at all there is.
struct Examination {
  const Store& store;
  Deadline deadline;
  Timestamp now;
  const Surroundings& around;
  Guarded<WatchedCluster>& watched;  // its mutex guards what examiners learn, too
  // All that a detector finds now; findings that it does not report stay as they were.
  std::function<void(Detector, std::vector<LiveFinding>)> report;
};

// A page of a pass over the registry. A store may read it more than once, and the last time counts:
// what a look finds is kept by functions that run once the page is read.
struct PassPlace {
  const AllFacts& facts;
  const AdmissionPolicy& policy;
  Timestamp now;
  std::vector<std::function<void()>>& keep;
};

class Examiner {
 public:
  virtual ~Examiner() = default;

  // `webhook`: the name of the webhook configuration.
  virtual std::vector<DetectorKind> Kinds(const std::string& /*webhook*/) const { return {}; }
  // Whether it judges nothing before the first lists are applied.
  virtual bool NeedsLists() const { return true; }

  // Sources of its knowledge, under the mutex: from the watch,
  virtual void OnSighted(const ObservedVersion& /*observed*/, Timestamp /*now*/) {}
  virtual void OnGone(const Uid& /*uid*/, const Slot& /*slot*/) {}
  virtual void OnKindState(const KindStatus& /*status*/) {}
  virtual void OnOther(const OtherObject& /*other*/) {}
  // (empty `why`: it is gone)
  virtual void OnUnread(const Slot& /*slot*/, const std::string& /*why*/, Timestamp /*now*/) {}
  // and from reviews.
  virtual void OnDeletionAsked(const Slot& /*slot*/, Timestamp /*now*/) {}
  virtual void OnProviderAct(const ProviderAct& /*act*/, Timestamp /*now*/) {}

  // Looks, every Detectors::kExamineEvery. Errors: the store's.
  virtual Result<void> Examine(const Examination& /*at*/) { return {}; }

  // The pass over the whole registry, every Detectors::kPassEvery: all owners, then the objects of
  // all kinds that have some; looks change nothing but PassPlace::keep. One that fails is begun
  // anew, without an end.
  virtual void BeginPass() {}
  virtual void OnOwner(const Owner& /*owner*/, const PassPlace& /*at*/) {}
  virtual void OnObject(const Object& /*object*/, Role /*role*/, const PassPlace& /*at*/) {}
  virtual void EndPass(const Examination& /*at*/) {}
};

// For rows of detectors: DetectorInfo::make.
template <typename T>
std::unique_ptr<Examiner> Make() {
  return std::make_unique<T>();
}

// One that finds by a look at each owner, or each object, of the registry alone: kFind(owner, at)
// or kFind(object, at), a finding or none.
template <Detector kDetector, auto kFind>
class ByPass final : public Examiner {
 public:
  void BeginPass() override { found_.clear(); }
  void OnOwner(const Owner& owner, const PassPlace& at) override { Look(owner, at); }
  void OnObject(const Object& object, Role /*role*/, const PassPlace& at) override {
    Look(object, at);
  }
  void EndPass(const Examination& at) override { at.report(kDetector, std::move(found_)); }

 private:
  template <typename T>
  void Look(const T& thing, const PassPlace& at) {
    if constexpr (std::is_invocable_v<decltype(kFind), const T&, const PassPlace&>) {
      std::optional<LiveFinding> found = kFind(thing, at);
      if (found) at.keep.push_back([this, one = *std::move(found)] { found_.push_back(one); });
    }
  }

  std::vector<LiveFinding> found_;
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_FINDINGS_EXAMINER_H_
