// Detectors: runs the list of detectors (detector.h): hands them what the watch and reviews show
// and, from time to time, the registry, and keeps the findings book. It knows none of them.
#ifndef TRUCE_WEBHOOK_FINDINGS_DETECTORS_H_
#define TRUCE_WEBHOOK_FINDINGS_DETECTORS_H_

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "registry/base/clock.h"
#include "registry/base/guarded.h"
#include "registry/base/result.h"
#include "registry/store/store.h"
#include "webhook/findings/coverage.h"
#include "webhook/findings/findings_book.h"
#include "webhook/findings/texts/report_baseline.h"
#include "webhook/findings/watched_cluster.h"
#include "webhook/watch/observed_version.h"

namespace truce {

class Examiner;
struct Examination;
struct PassPlace;

// References must outlive all that uses them.
struct DetectorPorts {
  const Store& store;
  const Clock& clock;
  FindingsBook& book;
  std::string cluster;  // cluster id
  // Thread-safe; does not block.
  std::function<Surroundings()> around;
  // Told of each change, on the thread that examines: for the log and for Events.
  std::function<void(const FindingChange&)> on_change;
};

// Thread-safe: the observer's calls come from the watcher's thread, Examine from another one. The
// observer's calls do not block on it.
class Detectors final : public SightObserver {
 public:
  static constexpr std::chrono::seconds kExamineEvery{10};
  // Passes over the whole registry.
  static constexpr std::chrono::minutes kPassEvery{2};

  explicit Detectors(DetectorPorts ports);
  ~Detectors() override;

  // The kinds that the watcher must follow for the detectors, besides those that the registry needs
  // (role kOther). `webhook`: the name of the webhook configuration.
  std::vector<FollowedKind> Kinds(const std::string& webhook) const;

  void OnSighted(const ObservedVersion& observed) override;
  void OnGone(const Uid& uid, const Slot& slot) override;
  void OnKindState(const KindStatus& status) override;
  void OnOther(const FollowedKind& kind, Value object, bool gone) override;
  void OnUnread(const FollowedKind& kind, const UnreadObject& object, bool gone) override;

  // A composite controller asked to delete an object, and Truce had nothing against it.
  void OnDeletionAsked(const Slot& slot);
  // An account that no setting names did what only a provider does.
  void OnProviderAct(const ProviderAct& act);
  // All kinds that the API server serves, for coverage; followed ones are known anyhow.
  void SetServed(std::vector<ServedKind> kinds);
  // The first lists are applied; `took` since the start. Nothing but the webhook configuration is
  // judged before.
  void SetReady(std::chrono::milliseconds took);

  // Runs every detector that is due. One caller at a time; to be called every kExamineEvery.
  // Errors: the store's: the findings stay as they were.
  Result<void> Examine(Deadline deadline);

  // How a kind is served: as it is followed, else as SetServed says.
  std::optional<ServedKind> KindOf(const GroupKind& kind) const;
  std::vector<TagWar> Wars() const;
  // Followed kinds that have objects, or may have: not listed yet.
  std::vector<FollowedKind> KindsWithObjects() const;
  CoverageReport Coverage() const;
  // Of a baseline what the watch alone knows: when it was complete, kinds, objects, wars, problems.
  BaselineReport Watched() const;

 private:
  Result<void> PassOver(const Examination& at);
  Result<void> PassOverOwners(const Examination& at);
  Result<void> PassOverObjects(const Examination& at, const Slot& kind, Role role);
  Result<void> ReadPage(const Examination& at, const std::function<void(const PassPlace&)>& look);
  void AddWhomTheyConcern(std::vector<LiveFinding>& found) const;
  void Report(Detector detector, std::vector<LiveFinding> found);

  const DetectorPorts ports_;
  std::vector<std::unique_ptr<Examiner>> examiners_;
  Guarded<WatchedCluster> watched_;
  std::optional<Timestamp> pass_at_;  // of the one who examines
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_FINDINGS_DETECTORS_H_
