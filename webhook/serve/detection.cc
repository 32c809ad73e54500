#include "webhook/serve/detection.h"

#include <optional>
#include <utility>
#include <vector>

#include "webhook/api/rest/agreement_json.h"
#include "webhook/findings/name_survey.h"
#include "webhook/findings/object_events.h"
#include "webhook/serve/shared/baseline.h"

namespace truce {
namespace {

constexpr std::chrono::seconds kStoreTime{10};
constexpr std::chrono::seconds kAskTime{8};
// Commands wait half a minute for an answer.
constexpr std::chrono::seconds kSurveyTime{20};
constexpr std::chrono::seconds kDiscoveryTime{30};
// Kinds that nobody follows come and go rarely; they matter to the coverage report only.
constexpr std::chrono::minutes kDiscoverEvery{5};

}  // namespace

Detection::Detection(DetectionPorts ports)
    : ports_(std::move(ports)),
      mutes_(ports_.store, ports_.clock),
      events_(ports_.api, ports_.clock,
              {.on_trouble =
                   [this](const std::string& trouble) {
                     if (trouble.empty()) return;
                     ports_.logger.Log(LogLevel::kWarning, "events cannot be written",
                                       {{"message", std::string_view(trouble)}});
                   }}),
      refusals_(ports_.cluster, *this, events_),
      denials_(ports_.cluster, *this, events_),
      detectors_({ports_.store, ports_.clock, book_, *this}) {
  if (!ports_.report_group) return;
  const auto on_trouble = [this](const std::string& trouble) {
    if (trouble.empty()) return;
    ports_.logger.Log(LogLevel::kWarning, "reports cannot be written",
                      {{"message", std::string_view(trouble)}});
  };
  reports_ =
      std::make_unique<ReportKeeper>(ports_.api, ReportKeeper::Options{.on_trouble = on_trouble});
}

Detection::~Detection() { Stop(); }

void Detection::Stop() {
  worker_.Stop();
  events_.Stop();
  if (reports_) reports_->Stop();
}

void Detection::SetReady(std::chrono::milliseconds took) {
  detectors_.SetReady(took);
  ready_.store(true);
  worker_.Wake();
}

void Detection::OnKindState(const KindStatus& status) {
  served_.With([&](auto& served) {
    if (status.state == KindState::kUnserved) {
      served.erase(status.kind.group_kind());
    } else {
      served[status.kind.group_kind()] = status.kind.selection.kind;
    }
  });
  detectors_.OnKindState(status);
}

void Detection::OnOther(const FollowedKind& kind, Value object, bool gone) {
  detectors_.OnOther(kind, object, gone);
  // An edited webhook configuration is reported within seconds.
  if (kind.selection.kind.kind != "ValidatingWebhookConfiguration") return;
  ports_.host.OnWebhookChanged();
  worker_.Wake();
}

Worker::Rest Detection::Turn() {
  const bool is_ready = ready_.load();
  if (std::chrono::steady_clock::now() >= discover_due_) {
    DiscoverServed();
    discover_due_ = In(kDiscoverEvery);
  }
  ReadMutes();
  if (ports_.host.Leads() && Examine(is_ready) && is_ready) has_looked_.store(true);
  return {In(Detectors::kExamineEvery)};
}

bool Detection::Examine(bool is_ready) {
  const Result<void> looked = detectors_.Examine(In(kStoreTime));
  if (!looked.ok()) {
    ports_.logger.Log(LogLevel::kWarning, "detectors cannot look",
                      {{"message", std::string_view(looked.error().message)}});
  }
  TellOfEndedMutes();
  TellUnseen();
  if (is_ready) KeepReports();
  return looked.ok();
}

// What fails here is asked again; coverage then tells of the kinds that are followed.
void Detection::DiscoverServed() {
  const ApiResult<Discovery> discovery = ports_.api.Discover(In(kDiscoveryTime));
  if (!discovery.ok()) return;
  std::vector<ServedKind> kinds;
  std::map<GroupKind, ServedKind> discovered;
  for (const DiscoveredKind& kind : discovery.value().kinds) {
    kinds.push_back(kind.kind);
    discovered.try_emplace({kind.kind.group, kind.kind.kind}, kind.kind);
  }
  discovered_.With([&](auto& present) { present = std::move(discovered); });
  if (ports_.report_group) report_kinds_ = ReportKindsOf(*ports_.report_group, kinds);
  detectors_.SetServed(std::move(kinds));
}

void Detection::KeepReports() {
  if (!reports_) return;
  std::vector<LiveFinding> findings = book_.Snapshot();
  std::erase_if(findings, [this](const LiveFinding& finding) { return mutes_.Hides(finding); });
  const ReportContext context{[this](const GroupKind& kind) { return KindOf(kind); }, IsDiscreet()};
  reports_->Keep(report_kinds_, ReportsOf(findings, context));
}

void Detection::TellUnseen() {
  if (!std::exchange(unseen_due_, false)) return;
  std::map<GroupKind, Timestamp> unseen = UnseenKinds(book_.Snapshot());
  if (unseen == unseen_) return;
  unseen_ = std::move(unseen);
  ports_.host.OnUnseen(unseen_);
}

// Each time anew: another server on the same registry may have written them.
void Detection::ReadMutes() {
  const Result<void> read = mutes_.Load(In(kStoreTime));
  if (read.ok()) return;
  ports_.logger.Log(LogLevel::kWarning, "mutes of findings cannot be read",
                    {{"message", std::string_view(read.error().message)}});
}

// What was muted and is still found appears again.
void Detection::TellOfEndedMutes() {
  std::set<std::pair<Detector, std::string>> muted;
  for (const Mute& mute : mutes_.Present()) muted.insert({mute.detector, mute.subject});
  for (const auto& [detector, subject] : muted_) {
    const auto finding = book_.Find(detector, subject);
    if (finding && !muted.contains({detector, subject})) {
      OnChange({FindingChange::Kind::kAppeared, *finding});
    }
  }
  muted_ = std::move(muted);
}

void Detection::OnChange(const FindingChange& change) {
  const LiveFinding& finding = change.finding;
  if (finding.detector == Detector::kCompositeNotSeen) unseen_due_ = true;
  const bool is_over = change.kind == FindingChange::Kind::kResolved;
  const bool is_muted = mutes_.Hides(finding);
  const bool is_quiet = finding.mode == Mode::kAudit || is_over || is_muted;
  ports_.logger.Log(is_quiet ? LogLevel::kInfo : LogLevel::kWarning,
                    is_over ? "finding resolved" : "finding",
                    {{"id", std::string_view(finding.id)},
                     {"rule", Name(finding.detector)},
                     {"muted", is_muted},
                     {"subject", std::string_view(finding.subject)},
                     {"cause", std::string_view(finding.cause)},
                     {"evidence", std::string_view(finding.evidence)}});
  if (is_over || is_muted) return;
  events_.PostLater({}, [this, finding] { return EventsOf(finding, *this); });
}

void Detection::TellRefused(const std::string& webhook_configuration, const std::string& problem) {
  events_.PostLater({}, [this, webhook_configuration, problem] {
    return std::vector<ObjectEvent>{
        ConfigurationRefusedEvent(webhook_configuration, problem, ports_.api, In(kAskTime))};
  });
}

std::optional<Object> Detection::BySlot(const Slot& slot) const {
  std::optional<Object> found;
  const auto look = [&](const Facts& facts) { found = facts.ObjectBySlot(slot); };
  if (!ports_.store.Read(look, In(kStoreTime)).ok()) found.reset();
  return found;
}

std::optional<Object> Detection::ByUid(const Uid& uid) const {
  std::optional<Object> found;
  const auto look = [&](const Facts& facts) { found = facts.ObjectByUid(uid); };
  if (!ports_.store.Read(look, In(kStoreTime)).ok()) found.reset();
  return found;
}

std::optional<ServedKind> Detection::KindOf(const GroupKind& kind) const {
  const auto find = [&](const auto& kinds) {
    const auto found = kinds.find(kind);
    return found == kinds.end() ? std::optional<ServedKind>() : found->second;
  };
  const std::optional<ServedKind> followed = served_.With(find);
  return followed ? followed : discovered_.With(find);
}

bool Detection::IsDiscreet() const {
  return ports_.policy.Current()->disclosure != Disclosure::kFull;
}

Result<BaselineReport> Detection::Baseline() const {
  TRUCE_ASSIGN_OR_RETURN(BaselineReport report, detectors_.Baseline(In(kStoreTime)));
  TRUCE_RETURN_IF_ERROR(AddJudgements(
      {book_.Snapshot(), mutes_, *ports_.policy.Current(), ports_.store}, In(kStoreTime), report));
  return report;
}

std::optional<Timestamp> Detection::AsOf() const {
  return has_looked_.load() ? std::nullopt : std::optional(Timestamp{});
}

std::optional<SharedReports> Detection::Gather() const {
  if (!has_looked_.load()) return std::nullopt;
  return SharedReports{.wars = detectors_.Wars(),
                       .findings = book_.Snapshot(),
                       .coverage = detectors_.Coverage(),
                       .watched = detectors_.Watched(),
                       .inhabited = detectors_.KindsWithObjects()};
}

Result<NameReport> Detection::NamesIn(std::vector<FollowedKind> kinds) {
  return SurveyNames(
      {ports_.api, ports_.store, ports_.policy.Current(), std::move(kinds), ports_.clock.Now()},
      In(kSurveyTime));
}

std::vector<Hindrance> DeletionsUnsentBy(const std::vector<LiveFinding>& findings) {
  std::vector<Hindrance> out;
  for (const LiveFinding& finding : findings) {
    if (finding.detector == Detector::kWebhookConfiguration && KeepsDeletionsAway(finding)) {
      out.push_back({finding.cause, finding.remedy});
    }
  }
  return out;
}

void Detection::WriteMetrics(MetricWriter& writer) const {
  WriteFindingsMetrics(book_, mutes_, writer);
  events_.WriteMetrics(writer);
  if (reports_) reports_->WriteMetrics(writer);
}

}  // namespace truce
