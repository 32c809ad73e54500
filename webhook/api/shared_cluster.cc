#include "webhook/api/shared_cluster.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "registry/store/store.h"
#include "webhook/findings/conflicts.h"
#include "webhook/findings/texts/report_quotas.h"

namespace truce {
namespace {

constexpr std::chrono::seconds kStoreTime{5};
constexpr std::chrono::seconds kReportsTime{2};
constexpr std::chrono::seconds kReadTime{8};   // commands wait ten for an answer
constexpr std::chrono::seconds kOrderTime{7};  // and what nobody took is withdrawn within them

}  // namespace

void SharedCluster::Stop() {
  orders_.Stop();
  worker_.Stop();
}

void SharedCluster::Step() {
  // Mutes that cannot be read now are read a second later; the detection logs the failure.
  static_cast<void>(ports_.mutes.Load(In(kStoreTime)).ok());
  if (Store* store = ports_.server.LeadingStore()) {
    Lead(*store);
  } else {
    TellLeader();
  }
}

// News that cannot be written now go with the next, as far as there is room.
void SharedCluster::TellLeader() {
  ReviewNews news;
  news.reviews = ports_.reviews.Take();
  news.Add(box_.Take());
  if (!TellNews(ports_.store, news, In(kStoreTime)).ok()) box_.PutBack(news);
}

void SharedCluster::Lead(Store& store) {
  ReviewNews news = box_.Take();
  const Result<ReviewNews> others = TakeNews(store, In(kStoreTime));
  if (others.ok()) news.Add(others.value());
  if (!news.empty()) ports_.server.TakeUp(news);
  bool is_due = false;
  const Result<std::vector<Order>> orders = orders_.Take(store, In(kStoreTime));
  if (orders.ok()) {
    for (const Order& order : orders.value()) {
      // Where the answer is lost, whoever waits for it looks before repeating the order.
      static_cast<void>(orders_.Answer(store, order, CarryOut(order), In(kStoreTime)).ok());
      is_due = true;
    }
  }
  Publish(store, is_due);
}

void SharedCluster::Publish(Store& store, bool is_due) const {
  const std::lock_guard<std::mutex> lock(publishing_);
  const Deadline now = std::chrono::steady_clock::now();
  if (!is_due && now < due_) return;
  const WatchReports reports = ports_.server.Gather();
  // Until it has looked at everything the reports of the leader before are better; the first leader
  // ever has none before it.
  if (!reports.looked && !publisher_.written_at() && AsOf() != Timestamp{}) return;
  const TableContents contents = ContentsOf(reports);
  const Timestamp at = ports_.clock.Now();
  const bool is_same = publisher_.Has(contents);
  const std::optional<Timestamp> before = publisher_.written_at();
  due_ = now + kReportsEvery;
  if (is_same && at >= *before && at - *before < kSignEvery) return;
  const Result<void> written = publisher_.Write(store, contents, at, In(kStoreTime));
  const bool was_failing = std::exchange(is_failing_, !written.ok());
  if (written.ok()) {
    std::size_t rows = 0;
    for (const auto& [table, of_table] : contents) rows += of_table.size();
    if (!is_same) due_ += std::chrono::seconds(rows / kRowsPerSecond);
  } else if (!was_failing) {
    ports_.logger.Log(LogLevel::kInfo, "reports of the watch cannot be written",
                      {{"message", std::string_view(written.error().message)}});
  }
}

Result<std::uint64_t> SharedCluster::CarryOut(const Order& order) {
  if (order.act == Order::Act::kReleaseBrake) {
    const auto kind = order.kind.kind.empty() ? std::nullopt : std::optional(order.kind);
    return ports_.controls.ReleaseBrake(kind, order.word);
  }
  TRUCE_RETURN_IF_ERROR(ports_.controls.StartRecovery(order.word));
  return std::uint64_t{0};
}

std::shared_ptr<const WatchReports> SharedCluster::Latest() const {
  const std::lock_guard<std::mutex> lock(reading_);
  const Result<bool> is_new = tables_.Read(ports_.store, In(kReportsTime));
  if (is_new.ok() && is_new.value()) {
    latest_ = std::make_shared<const WatchReports>(ReportsOf(tables_));
  }
  return latest_;
}

std::shared_ptr<const WatchReports> SharedCluster::Fresh() const {
  if (Store* store = ports_.server.LeadingStore()) Publish(*store, true);
  return Latest();
}

Result<BaselineReport> SharedCluster::Baseline() const {
  const Deadline deadline = In(kReadTime);
  const auto latest = Fresh();
  BaselineReport report = latest->watched;
  report.wars = latest->wars;
  report.cluster = ports_.cluster;
  report.at = ports_.clock.Now();
  TRUCE_ASSIGN_OR_RETURN(report.conflicts, AllConflicts(ports_.store, deadline));
  report.counts = ports_.store.Counts();
  for (const LiveFinding& finding : latest->findings) {
    if (ports_.mutes.Hides(finding)) {
      ++report.muted;
    } else {
      ++report.findings[SeverityOf(finding.mode)];
    }
  }
  const auto policy = ports_.policy.Current();
  if (policy->quotas == nullptr) return report;
  const ReadFn look = [&](const AllFacts& facts) {
    report.quotas = ReportQuotas(*policy->quotas, facts, {});
  };
  TRUCE_RETURN_IF_ERROR(ports_.store.Read(look, deadline));
  return report;
}

std::optional<Timestamp> SharedCluster::AsOf() const {
  Latest();
  const std::lock_guard<std::mutex> lock(reading_);
  const Timestamp at = tables_.version() ? tables_.version()->at : Timestamp{};
  return at + kReportsFresh < ports_.clock.Now() ? std::optional(at) : std::nullopt;
}

Result<RecoveryView> SharedCluster::Recovery() const {
  TRUCE_ASSIGN_OR_RETURN(RecoveryView view, ports_.controls.Recovery());
  if (view.active && !view.resynced && !Leads()) view.waits = Latest()->waits;
  return view;
}

Result<RecoveryView> SharedCluster::StartRecovery(const OperatorWord& word) {
  if (Leads()) return ports_.controls.StartRecovery(word);
  TRUCE_RETURN_IF_ERROR(
      orders_.Ask(ports_.store, {.act = Order::Act::kStartRecovery, .word = word}, In(kOrderTime)));
  return Recovery();
}

Result<BrakeView> SharedCluster::Brake() {
  if (Leads()) return ports_.controls.Brake();
  return Latest()->brake;
}

Result<std::uint64_t> SharedCluster::ReleaseBrake(const std::optional<GroupKind>& kind,
                                                  const OperatorWord& word) {
  if (Leads()) return ports_.controls.ReleaseBrake(kind, word);
  return orders_.Ask(
      ports_.store,
      {.act = Order::Act::kReleaseBrake, .kind = kind.value_or(GroupKind()), .word = word},
      In(kOrderTime));
}

}  // namespace truce
