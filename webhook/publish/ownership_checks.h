// OwnershipChecks: OwnershipCheck objects that exist are judged, answered in their status, and
// deleted when they are old.
#ifndef TRUCE_WEBHOOK_PUBLISH_OWNERSHIP_CHECKS_H_
#define TRUCE_WEBHOOK_PUBLISH_OWNERSHIP_CHECKS_H_

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "policies/policy.h"
#include "registry/base/clock.h"
#include "registry/base/guarded.h"
#include "registry/ownership/terms.h"
#include "registry/store/store.h"
#include "webhook/kube/cluster_api.h"
#include "webhook/publish/own_object.h"

namespace truce {

// From its creation on; a deployment looks at it within minutes, people perhaps the day after.
inline constexpr std::chrono::hours kOwnershipCheckLife{24};

// References must outlive the object.
struct OwnershipCheckPorts {
  Store& store;
  const Clock& clock;
  const InForce<AdmissionPolicy>& policy;
  std::function<bool()> is_ready;  // reviews are answered
  ClusterApi& api;
  // After how long at the latest this server hears of a creation that another one reviewed; 0:
  // there is no other one.
  std::chrono::seconds heard_within{0};
};

// Writes the status of checks: status.verdict is "allowed" or "denied" when the creation was
// reviewed, and "unknown" while the answer is not known; "unverified" when no server was asked,
// because the webhook configuration is missing or Truce was restarted that very moment. A written
// verdict stays. External synchronization, but for NoteAdmitted.
class OwnershipChecks final : public OwnHandler {
 public:
  explicit OwnershipChecks(OwnershipCheckPorts ports) : ports_(std::move(ports)) {}

  std::vector<ServedKind> kinds() const override;
  std::vector<OwnVerdict> Take(std::span<const OwnObject> objects) override;
  std::optional<std::chrono::milliseconds> again() const override;
  bool is_for_all() const override { return false; }

  // The creation of the check with this uid was reviewed and not refused. Thread-safe.
  void NoteAdmitted(const Uid& uid);

 private:
  using Version = std::pair<std::string, std::int64_t>;  // uid, generation

  // Which checks were admitted, the last ones.
  struct Admitted {
    std::set<Uid> uids;
    std::deque<Uid> order;
  };

  OwnVerdict VerdictFor(const OwnObject& object);
  OwnVerdict Judge(const OwnObject& object, bool was_asked) const;
  bool IsOld(const OwnObject& object) const;
  void DeleteOld(std::span<const OwnObject> objects) const;

  const OwnershipCheckPorts ports_;
  const IdSource ids_ = RandomIds();
  Guarded<Admitted> admitted_;
  std::map<Version, OwnVerdict> reported_;  // of the objects of the last Take
  std::map<Uid, Timestamp> open_since_;     // since when others may still tell that they were asked
  bool waits_ = false;                      // a verdict is not known yet
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_PUBLISH_OWNERSHIP_CHECKS_H_
