// A followed cluster that says what a test puts into it.
#ifndef TRUCE_TESTS_SUPPORT_FAKE_CLUSTER_REPORTS_H_
#define TRUCE_TESTS_SUPPORT_FAKE_CLUSTER_REPORTS_H_

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/fake_clock.h"
#include "tests/support/memory_store.h"
#include "webhook/api/cluster_routes.h"
#include "webhook/findings/conflicts.h"
#include "webhook/findings/mute_book.h"
#include "webhook/findings/tag_war.h"
#include "webhook/findings/texts/report_baseline.h"

namespace truce {

// Says what a test puts into it. External synchronization.
struct FakeClusterReports final : ClusterReports, WatchControls {
  explicit FakeClusterReports(Timestamp time) : now(time), clock(time) {}

  std::vector<TagWar> Wars() const override { return wars; }
  std::vector<LiveFinding> Findings() const override { return findings; }
  MuteBook& Mutes() override { return mutes; }
  CoverageReport Coverage() const override { return coverage; }
  Result<BaselineReport> Baseline() const override { return baseline; }
  Result<NameReport> Names() override {
    if (on_names) std::exchange(on_names, nullptr)();
    return names;
  }
  Result<RecoveryView> Recovery() const override { return recovery; }
  Result<RecoveryView> StartRecovery(const OperatorWord& word) override {
    if (refusal) return *refusal;
    actor = word.actor;
    recovery = {true, word.reason, now, false, {}};
    return recovery;
  }
  Result<RecoveryView> EndRecovery(bool force, const OperatorWord& word) override {
    actor = word.actor;
    if (!force) return Error{ErrorCode::kConflict, "no full resync is done yet"};
    recovery = {};
    return recovery;
  }
  Result<BrakeView> Brake() override { return brake; }
  Result<std::uint64_t> ReleaseBrake(const std::optional<GroupKind>& kind,
                                     const OperatorWord& word) override {
    if (refusal) return *refusal;
    actor = word.actor;
    released = kind;
    return std::uint64_t{11};
  }

  std::optional<Timestamp> AsOf() const override { return as_of; }

  std::vector<TagWar> wars;
  std::vector<LiveFinding> findings;
  std::optional<Timestamp> as_of;
  const Timestamp now;
  FakeClock clock;
  MemoryStore store;
  MuteBook mutes{store, clock};
  CoverageReport coverage;
  BaselineReport baseline;
  Result<NameReport> names = NameReport{};
  RecoveryView recovery;
  BrakeView brake;
  std::optional<GroupKind> released;
  std::string actor;               // of the last command
  std::optional<Error> refusal;    // of what may be refused: recovery begun, a brake released
  std::function<void()> on_names;  // called once, meanwhile
};

}  // namespace truce

#endif  // TRUCE_TESTS_SUPPORT_FAKE_CLUSTER_REPORTS_H_
