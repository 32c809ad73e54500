// Detectors: all of them in one place. Learns from the watch, reads the registry from time to time,
// and keeps the findings book.
#ifndef TRUCE_WEBHOOK_FINDINGS_DETECTORS_H_
#define TRUCE_WEBHOOK_FINDINGS_DETECTORS_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "policies/rules.h"
#include "registry/base/clock.h"
#include "registry/base/guarded.h"
#include "registry/base/result.h"
#include "registry/store/store.h"
#include "webhook/findings/adoptions.h"
#include "webhook/findings/conflicts.h"
#include "webhook/findings/coverage.h"
#include "webhook/findings/disagreements.h"
#include "webhook/findings/findings_book.h"
#include "webhook/findings/foreign_attachments.h"
#include "webhook/findings/lifecycle/blocked_deletions.h"
#include "webhook/findings/lifecycle/claim_bindings.h"
#include "webhook/findings/lifecycle/object_marks.h"
#include "webhook/findings/lifecycle/stale_usages.h"
#include "webhook/findings/lifecycle/unreferenced.h"
#include "webhook/findings/lifecycle/unseen_composites.h"
#include "webhook/findings/ownership_gaps.h"
#include "webhook/findings/tag_war.h"
#include "webhook/findings/texts/report_baseline.h"
#include "webhook/findings/throttling.h"
#include "webhook/findings/unmatched_providers.h"
#include "webhook/findings/unread_objects.h"
#include "webhook/findings/webhook_configuration.h"
#include "webhook/watch/observed_version.h"

namespace truce {

struct AdmissionPolicy;

// What the installation is at present; asked at each examination.
struct Surroundings {
  std::shared_ptr<const AdmissionPolicy> policy;  // never null
  ExpectedWebhook webhook;                  // the kinds are filled from what is followed and served
  std::map<GroupKind, Timestamp> unmapped;  // CoverageFacts::unmapped
};

// Port: where detectors run. Thread-safe; never blocks.
class DetectorHost {
 public:
  virtual ~DetectorHost() = default;
  virtual Surroundings Around() const = 0;
  // Told of each change, on the thread that examines: for the log and for Events.
  virtual void OnChange(const FindingChange& change) = 0;
};

// References must outlive all that uses them.
struct DetectorPorts {
  const Store& store;
  const Clock& clock;
  FindingsBook& book;
  DetectorHost& host;
};

// What the watcher must follow for the detectors, besides what the registry needs (role kOther):
// Events of updates, the webhook configuration `name`, and Usages.
std::vector<FollowedKind> DetectorKinds(const std::string& name);

// Thread-safe: the observer's calls come from the watcher's thread, Examine from another one. The
// observer's calls do not block on it.
class Detectors final : public SightObserver {
 public:
  static constexpr std::chrono::seconds kExamineEvery{10};
  // Passes over the whole registry.
  static constexpr std::chrono::minutes kPassEvery{2};

  explicit Detectors(DetectorPorts ports);
  ~Detectors() override;

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

  std::vector<TagWar> Wars() const;
  // Followed kinds that have objects, or may have: not listed yet.
  std::vector<FollowedKind> KindsWithObjects() const;
  CoverageReport Coverage() const;
  // Conflicts are read anew. Errors: the store's.
  Result<BaselineReport> Baseline(Deadline deadline) const;
  // Of it what the watch alone knows: when it was complete, kinds, objects, wars, problems.
  BaselineReport Watched() const;

 private:
  struct KindFacts {
    KindStatus status;
    std::unordered_set<std::size_t> objects;  // hashes of uids
  };
  // What the observer knows.
  struct Known {
    TagWarDetector wars;
    Disagreements disagreements;
    ObjectMarks marks;
    UnseenComposites unseen;
    ThrottledCalls throttled;
    KnownUsages usages;
    AskedDeletions deletions;
    UnreadObjects unread;
    UnmatchedProviders unmatched;
    std::map<GroupKind, KindStatus> usage_kinds;
    std::map<GroupKind, KindFacts> kinds;
    std::map<GroupKind, ServedKind> served;
    std::optional<WebhookConfiguration> configuration;
    bool configuration_known = false;   // its list was complete once
    bool configuration_listed = false;  // it was in the list that runs
    bool events_live = false;           // Events come from the watch, not from a list
    bool troubles_live = false;         // likewise of those about what did not reach AWS
    ProvisionalAccounts accounts;
    Accounted known_accounts;
    std::optional<std::chrono::milliseconds> ready;
  };
  // What one pass over the registry found.
  struct Pass {
    std::vector<LiveFinding> orphaned;
    std::vector<LiveFinding> never_real;
    std::vector<LiveFinding> attachments;
    std::vector<UnreferencedObject> unreferenced;
    ProvisionalAccounts accounts;
    Accounted known_accounts;
    Moves moves;
    Callers callers;
    std::vector<Adoption> adoptions;
    ClaimBindings::Present bindings;
  };

  Result<Pass> PassOver(const AdmissionPolicy& policy, Deadline deadline) const;
  Result<void> PassOverObjects(const GroupKind& kind, Role role, Deadline deadline,
                               Pass& pass) const;
  Result<void> ExamineConflicts(Deadline deadline);
  Result<void> ExamineNames(Deadline deadline);
  Result<void> ExamineUsages(Deadline deadline);
  Result<void> ExamineThrottling(Deadline deadline);
  void ExamineWebhook(const Surroundings& around);
  void AddKindsToSend(const Surroundings& around, ExpectedWebhook& expected) const;
  CoverageReport CoverageOf(const Surroundings& around) const;
  void AddWhomTheyConcern(std::vector<LiveFinding>& found) const;
  void Report(Detector detector, std::vector<LiveFinding> found);

  const DetectorPorts ports_;
  Guarded<Known> known_;
  UnreferencedDetector unreferenced_;  // of the one who examines, as all below
  ClaimBindings bindings_;
  Callers callers_;
  std::size_t conflicts_ = 0;
  std::optional<Timestamp> conflicts_at_;
  std::optional<Timestamp> pass_at_;
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_FINDINGS_DETECTORS_H_
