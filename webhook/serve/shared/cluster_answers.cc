#include "webhook/serve/shared/cluster_answers.h"

#include <utility>

#include "registry/base/random_id.h"
#include "registry/store/store.h"
#include "webhook/findings/conflicts.h"
#include "webhook/serve/shared/baseline.h"

namespace truce {
namespace {

constexpr std::chrono::seconds kReadTime{8};   // commands wait ten for an answer
constexpr std::chrono::seconds kOrderTime{7};  // and what nobody took is withdrawn within them

}  // namespace

// Whether what this server watches is what is to be told.
bool ClusterAnswers::IsOwn() const {
  return ports_.server.AnswersItself() &&
         (!ports_.reports.AsOf() || reader_.Latest().at == Timestamp{});
}

std::vector<TagWar> ClusterAnswers::Wars() const {
  return IsOwn() ? ports_.reports.Wars() : reader_.Latest().reports->wars;
}

std::vector<LiveFinding> ClusterAnswers::Findings() const {
  return IsOwn() ? ports_.reports.Findings() : reader_.Latest().reports->findings;
}

CoverageReport ClusterAnswers::Coverage() const {
  return IsOwn() ? ports_.reports.Coverage() : reader_.Latest().reports->coverage;
}

Result<BaselineReport> ClusterAnswers::Baseline() const {
  if (IsOwn()) return ports_.reports.Baseline();
  const Deadline deadline = In(kReadTime);
  const auto shared = reader_.Latest().reports;
  BaselineReport report = shared->watched;
  report.wars = shared->wars;
  report.cluster = ports_.cluster;
  report.at = ports_.clock.Now();
  TRUCE_ASSIGN_OR_RETURN(report.conflicts, AllConflicts(ports_.store, deadline));
  report.counts = ports_.store.Counts();
  TRUCE_RETURN_IF_ERROR(AddJudgements(
      {shared->findings, ports_.reports.Mutes(), *ports_.policy.Current(), ports_.store}, deadline,
      report));
  return report;
}

Result<NameReport> ClusterAnswers::Names() {
  if (IsOwn()) return ports_.reports.Names();
  return ports_.server.NamesIn(reader_.Latest().reports->inhabited);
}

std::optional<Timestamp> ClusterAnswers::AsOf() const {
  if (IsOwn()) return std::nullopt;
  const Timestamp at = reader_.Latest().at;
  return at + kReportsFresh < ports_.clock.Now() ? std::optional(at) : std::nullopt;
}

Result<RecoveryView> ClusterAnswers::Recovery() const {
  TRUCE_ASSIGN_OR_RETURN(RecoveryView view, ports_.controls.Recovery());
  if (view.active && !view.resynced && !ports_.server.AnswersItself())
    view.waits = reader_.Latest().reports->waits;
  return view;
}

Result<RecoveryView> ClusterAnswers::StartRecovery(const OperatorWord& word) {
  if (ports_.server.AnswersItself()) return ports_.controls.StartRecovery(word);
  TRUCE_RETURN_IF_ERROR(Ask({.act = Order::Act::kStartRecovery, .word = word}));
  return Recovery();
}

Result<BrakeView> ClusterAnswers::Brake() {
  if (ports_.server.AnswersItself()) return ports_.controls.Brake();
  return reader_.Latest().reports->brake;
}

Result<std::uint64_t> ClusterAnswers::ReleaseBrake(const std::optional<GroupKind>& kind,
                                                   const OperatorWord& word) {
  if (ports_.server.AnswersItself()) return ports_.controls.ReleaseBrake(kind, word);
  return Ask({.act = Order::Act::kReleaseBrake, .kind = kind, .word = word});
}

Result<std::uint64_t> ClusterAnswers::Ask(Order order) {
  order.id = NewId();
  return ports_.inbox.Ask(ports_.store, std::move(order), In(kOrderTime));
}

}  // namespace truce
