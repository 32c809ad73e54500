#include "webhook/publish/detection.h"

#include <optional>
#include <utility>
#include <vector>

#include "certs/trust.h"
#include "webhook/api/rest/queries.h"
#include "webhook/findings/name_census.h"
#include "webhook/findings/object_events.h"
#include "webhook/publish/webhook_repair.h"

namespace truce {
namespace {

constexpr std::chrono::seconds kStoreTime{10};
constexpr std::chrono::seconds kAskTime{8};
// Commands wait half a minute for an answer.
constexpr std::chrono::seconds kSurveyTime{20};
constexpr std::chrono::seconds kDiscoveryTime{30};
// Kinds that nobody follows come and go rarely; they matter to the coverage report only.
constexpr std::chrono::minutes kDiscoverEvery{5};

std::optional<std::string> ReportGroup(PolicyReports reports) {
  if (reports == PolicyReports::kOff) return std::nullopt;
  return reports == PolicyReports::kAuto ? std::string() : std::string(Name(reports));
}

}  // namespace

Detection::Detection(DetectionPorts ports)
    : ports_(std::move(ports)),
      report_group_(ReportGroup(ports_.config.Current()->policy_reports)),
      mutes_(ports_.store, ports_.clock),
      events_(ports_.watch.api(), ports_.clock,
              {.on_trouble =
                   [this](const std::string& trouble) {
                     LogTrouble("events cannot be written", trouble);
                   }}),
      objects_{ports_.store, [this](const GroupKind& kind) { return KindOf(kind); }},
      refusals_(ports_.config.Current()->cluster_id, objects_, events_),
      denials_(ports_.config.Current()->cluster_id, objects_, events_),
      detectors_({ports_.store, ports_.clock, book_, ports_.config.Current()->cluster_id,
                  [this] { return Around(); },
                  [this](const FindingChange& change) { OnChange(change); }}) {
  if (!report_group_) return;
  reports_ = std::make_unique<ReportKeeper>(
      ports_.watch.api(), ReportKeeper::Options{.on_trouble = [this](const std::string& trouble) {
        LogTrouble("reports cannot be written", trouble);
      }});
}

Detection::~Detection() { Stop(); }

void Detection::Stop() {
  worker_.Stop();
  events_.Stop();
  if (reports_) reports_->Stop();
}

void Detection::LogTrouble(std::string_view what, std::string_view trouble) {
  if (!trouble.empty()) ports_.logger.Log(LogLevel::kWarning, what, {{"message", trouble}});
}

std::vector<FollowedKind> Detection::kinds() const {
  return detectors_.Kinds(ports_.config.Current()->webhook_configuration);
}

// The detectors compare the cluster with these.
Surroundings Detection::Around() const {
  const auto policy = ports_.policy.Current();
  const auto config = ports_.config.Current();
  const auto access = ports_.credentials.access().Current();
  Surroundings around;
  around.policy = policy;
  around.webhook.name = config->webhook_configuration;
  around.webhook.paths = AdmissionPaths(*access);
  const bool shows_itself = access->client_certificate || access->bearer || access->loopback;
  around.webhook.secret_alone = !shows_itself && !config->accept_secret_in_errors;
  around.webhook.rival = ports_.credentials.Rival();
  around.webhook.statuses_deny = policy->parties.statuses_guarded;
  if (policy->status_entry) {
    around.webhook.status = StatusConditions(policy->providers, policy->restorers);
  }
  around.webhook.trusts = [pair = ports_.credentials.certificates().Current().pair](
                              std::string_view bundle) { return BundleTrusts(bundle, *pair); };
  around.unmapped = ports_.unmapped();
  for (auto& [kind, since] : around.unmapped) since += config->settle_time;
  return around;
}

void Detection::SetReady(std::chrono::milliseconds took) {
  detectors_.SetReady(took);
  ready_.store(true);
  worker_.Wake();
}

void Detection::OnOther(const FollowedKind& kind, Value object, bool gone) {
  detectors_.OnOther(kind, object, gone);
  // An edited webhook configuration is reported within seconds.
  if (kind.selection.kind.kind != "ValidatingWebhookConfiguration") return;
  ports_.credentials.Wake();
  worker_.Wake();
}

Worker::Rest Detection::Turn() {
  const bool is_ready = ready_.load();
  if (std::chrono::steady_clock::now() >= discover_due_) {
    DiscoverServed();
    discover_due_ = In(kDiscoverEvery);
  }
  ReadMutes();
  if (ports_.watch.leads() && Restore() && Examine(is_ready) && is_ready) has_looked_.store(true);
  return {In(Detectors::kExamineEvery)};
}

// The findings of the leader before, once this server leads. False: they cannot be read now.
bool Detection::Restore() {
  if (is_restored_) return true;
  PublishedTables tables(std::string(kReportsPart), {kFindingsTable});
  const Result<bool> read = tables.Read(ports_.store, In(kStoreTime));
  if (!read.ok()) {
    LogTrouble("findings of before the start cannot be read", read.error().message);
    return false;
  }
  book_.Restore(tables.Readable(kFindingsTable));
  is_restored_ = unseen_due_ = true;
  return true;
}

bool Detection::Examine(bool is_ready) {
  const Result<void> looked = detectors_.Examine(In(kStoreTime));
  if (!looked.ok()) LogTrouble("detectors cannot look", looked.error().message);
  TellOfEndedMutes();
  TellUnseen();
  if (is_ready) KeepReports();
  return looked.ok();
}

// A failed discovery is repeated; coverage then tells of the kinds that are followed.
void Detection::DiscoverServed() {
  const ApiResult<Discovery> discovery = ports_.watch.api().Discover(In(kDiscoveryTime));
  if (!discovery.ok()) return;
  std::vector<ServedKind> kinds;
  for (const DiscoveredKind& kind : discovery.value().kinds) kinds.push_back(kind.kind);
  if (report_group_) report_kinds_ = ReportKindsOf(*report_group_, kinds);
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
  ports_.on_unseen(unseen_);
}

// Each time anew: another server on the same registry may have written them.
void Detection::ReadMutes() {
  const Result<void> read = mutes_.Load(In(kStoreTime));
  if (!read.ok()) LogTrouble("mutes of findings cannot be read", read.error().message);
}

// A muted finding that is still found appears again.
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
  events_.PostLater({}, [this, finding] { return EventsOf(finding, objects_, IsDiscreet()); });
}

void Detection::TellRefused(const std::string& webhook_configuration, const std::string& problem) {
  events_.PostLater({}, [this, webhook_configuration, problem] {
    return std::vector<ObjectEvent>{ConfigurationRefusedEvent(webhook_configuration, problem,
                                                              ports_.watch.api(), In(kAskTime))};
  });
}

bool Detection::IsDiscreet() const {
  return ports_.policy.Current()->disclosure != Disclosure::kFull;
}

WatchReports Detection::Gather() const {
  return {.wars = detectors_.Wars(),
          .findings = book_.Snapshot(),
          .coverage = detectors_.Coverage(),
          .watched = detectors_.Watched(),
          .inhabited = detectors_.KindsWithObjects(),
          .looked = has_looked_.load()};
}

Result<NameReport> Detection::NamesIn(std::vector<FollowedKind> kinds) {
  return SurveyNames({ports_.watch.api(), ports_.store, ports_.policy.Current(), std::move(kinds),
                      ports_.clock.Now()},
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
