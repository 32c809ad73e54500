// ClusterAnswers: each of several servers answers questions about the cluster, and takes orders,
// alike: the leader by its own watch, the others by the leader's last reports and through it.
#ifndef TRUCE_WEBHOOK_SERVE_SHARED_CLUSTER_ANSWERS_H_
#define TRUCE_WEBHOOK_SERVE_SHARED_CLUSTER_ANSWERS_H_

#include <optional>
#include <string>
#include <vector>

#include "policies/policy.h"
#include "registry/base/clock.h"
#include "registry/base/guarded.h"
#include "registry/base/result.h"
#include "webhook/api/cluster_routes.h"
#include "webhook/serve/shared/leader_inbox.h"
#include "webhook/serve/shared/shared_reports.h"

namespace truce {

class Store;

// Port: a server of the cluster as one that is asked. Thread-safe.
class AskedServer {
 public:
  virtual ~AskedServer() = default;
  // Whether it answers by its own watch: the leader does, and a single server.
  virtual bool AnswersItself() const = 0;
  // The census of names in kinds that have objects: each server may list the cluster.
  virtual Result<NameReport> NamesIn(std::vector<FollowedKind> kinds) = 0;
};

// References must outlive the object.
struct ClusterAnswersPorts {
  Store& store;
  const Clock& clock;
  const InForce<AdmissionPolicy>& policy;
  std::string cluster;  // cluster id
  LeaderInbox& inbox;
  // This server's own watch: a leader answers by it once it has looked at everything (AsOf), and
  // until then by the reports of the leader before. Mutes and recovery mode, which the registry
  // keeps, are the same everywhere.
  ClusterReports& reports;
  WatchControls& controls;
  AskedServer& server;
};

// Thread-safe.
class ClusterAnswers final : public ClusterReports, public WatchControls {
 public:
  explicit ClusterAnswers(ClusterAnswersPorts ports)
      : ports_(std::move(ports)), reader_(ports_.store, ports_.clock) {}

  std::vector<TagWar> Wars() const override;
  std::vector<LiveFinding> Findings() const override;
  MuteBook& Mutes() override { return ports_.reports.Mutes(); }
  CoverageReport Coverage() const override;
  Result<BaselineReport> Baseline() const override;
  Result<NameReport> Names() override;
  std::optional<Timestamp> AsOf() const override;

  Result<RecoveryView> Recovery() const override;
  Result<RecoveryView> StartRecovery(const OperatorWord& word) override;
  Result<RecoveryView> EndRecovery(bool force, const OperatorWord& word) override {
    return ports_.controls.EndRecovery(force, word);
  }
  Result<BrakeView> Brake() override;
  Result<std::uint64_t> ReleaseBrake(const std::optional<GroupKind>& kind,
                                     const OperatorWord& word) override;

 private:
  bool IsOwn() const;
  Result<std::uint64_t> Ask(Order order);

  const ClusterAnswersPorts ports_;
  const ReportReader reader_;
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_SERVE_SHARED_CLUSTER_ANSWERS_H_
