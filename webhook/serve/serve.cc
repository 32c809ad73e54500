#include "webhook/serve/serve.h"

#include <array>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "policies/finding.h"
#include "policies/ownership_check.h"
#include "policies/policy.h"
#include "policies/quotas.h"
#include "policies/rule_case.h"
#include "policies/suspensions.h"
#include "registry/base/open_files.h"
#include "webhook/admission/codec.h"
#include "webhook/admission/routes.h"
#include "webhook/admission/service.h"
#include "webhook/api/examination.h"
#include "webhook/api/operator.h"
#include "webhook/api/rest/rest_doctor.h"
#include "webhook/api/runbook.h"
#include "webhook/config/policy.h"
#include "webhook/config/reload.h"
#include "webhook/findings/texts/report_quotas.h"
#include "webhook/http/http.h"
#include "webhook/kube/kube_config.h"
#include "webhook/kube/proxy.h"
#include "webhook/log/log.h"
#include "webhook/page/page_routes.h"
#include "webhook/publish/credentials.h"
#include "webhook/publish/notifier.h"
#include "webhook/serve/admission_part.h"
#include "webhook/serve/api_part.h"
#include "webhook/serve/cluster_part.h"
#include "webhook/serve/listeners.h"
#include "webhook/serve/refused_changes.h"
#include "webhook/serve/signals.h"
#include "webhook/serve/sinks.h"
#include "webhook/upkeep/configured_accounts.h"
#include "webhook/upkeep/data_dir.h"
#include "webhook/upkeep/registry_part.h"
#include "webhook/wire/json_writer.h"

namespace truce {
namespace {

// How often the files of configuration and tokens are read again.
constexpr std::chrono::milliseconds kPollInterval{1000};
// The time for begun requests after the grace: the API server's longest webhook timeout is 30 s,
// but Truce has asked it to close its connections for the whole grace.
constexpr std::chrono::seconds kStopTime{10};

constexpr std::chrono::seconds kRefusedReportEvery{60};

// The overrides that a registry just opened has.
constexpr std::chrono::seconds kOverridesTime{10};

// Names of the rules, in their order.
std::vector<std::string_view> RuleIds() {
  std::vector<std::string_view> ids;
  for (std::size_t i = 0; i < kRuleCount; ++i) ids.push_back(Name(static_cast<Rule>(i)));
  return ids;
}

// The API server to follow, and the way to it; nothing of it with noCluster.
Result<ServerSettings> ClusterOf(const Config& config) {
  if (config.no_cluster) return ServerSettings();
  if (config.in_cluster) return ReadServiceAccount(ServiceAccountOfProcess());
  return ReadKubeConfig(config.kubeconfig, "", ProxyVariables());
}

void Append(std::vector<HttpRoute> more, std::vector<HttpRoute>& routes) {
  for (HttpRoute& route : more) routes.push_back(std::move(route));
}

// One running server: its parts stand in the order in which they begin, and end the other way
// round.
class Server final {
 public:
  Server(ServeOptions options, Logger& logger, const Clock& clock)
      : logger_(logger),
        clock_(clock),
        version_(options.version),
        holder_(std::move(options.sources), std::move(options.loaded)),
        metrics_({options.version, RuleIds()}) {}

  Result<void> Start() {
    const Config& config = *holder_.Current();
    TRUCE_ASSIGN_OR_RETURN(server_, ClusterOf(config));
    TRUCE_ASSIGN_OR_RETURN(data_dir_, DataDir::Open(config.data_dir));
    registry_.emplace(config, logger_, clock_);
    TRUCE_ASSIGN_OR_RETURN(auto catalogue, CatalogueOf(config));
    admission_.emplace(std::move(catalogue), registry_->store(), logger_, clock_);
    TRUCE_RETURN_IF_ERROR(admission_->Configure(config));
    credentials_.emplace(CredentialPorts{holder_, admission_->in_force(),
                                         [this] { return admission_->ready(); }, logger_, clock_});
    TRUCE_RETURN_IF_ERROR(credentials_->Open(server_));
    std::optional<FollowedCluster> followed;
    if (!config.no_cluster) {
      cluster_.emplace(ClusterPartPorts{holder_, registry_->store(), registry_->watch_store(),
                                        *admission_, *credentials_, health_, logger_, clock_});
      followed.emplace(FollowedCluster{cluster_->api(), cluster_->reports(), cluster_->controls()});
    } else {
      accounts_.emplace(registry_->store(), clock_);
    }
    api_.emplace(
        ApiPartPorts{registry_->store(), clock_, admission_->overrides(), admission_->in_force(),
                     followed, version_, registry_->trials(), registry_->denials(),
                     [this] { return registry_->Copy(); }, refused_callers_},
        config);
    TRUCE_RETURN_IF_ERROR(api_->Configure(config));
    TRUCE_RETURN_IF_ERROR(PrepareNotifier(config));
    BeginAdmission();
    health_.SetNotReady("store", "opening");
    if (!config.no_cluster) health_.SetNotReady("cluster", "waiting for the store");
    TRUCE_RETURN_IF_ERROR(Listen(config));
    credentials_->Start();
    if (notifier_) notifier_->Start();
    return OpenRegistry();
  }

  // Takes over changed files; reports what is bad. While another server is active on the registry's
  // database, asks whether it still is. Errors: of a start that had to wait; kConflict: another
  // server has become active; kUnavailable: the database lost what it had acknowledged.
  Result<void> Poll() {
    if (!registry_->is_open()) TRUCE_RETURN_IF_ERROR(OpenRegistry());
    if (const std::optional<Error> lost = registry_->Lost()) return *lost;
    ReportStandby();
    Lead();
    TellTwoKeepers();
    TellRefusedCallers();
    TakeOverFiles();
    BringAccounts();
    if (registry_->store().is_remote() && standby_reason_.empty()) {
      admission_->LoadOverrides(kPollInterval);
    }
    return TakeUpLoss();
  }

  bool MustEnd() { return registry_->MustEnd(); }

  // After the grace of the configuration, or a signal; at once when `must_end`.
  void Drain(const Signals& signals, bool must_end) {
    logger_.Log(LogLevel::kInfo, "draining", {});
    health_.SetNotReady("drain", "the server is ending");
    listeners_->BeginDrain();
    // Another server watches from now on; this one no longer writes its sightings.
    if (cluster_) cluster_->EndLeading();
    if (notifier_) notifier_->SetLeads(false);
    registry_->GiveWatchBack();
    admission_->service().EndLateness();
    if (!must_end) signals.Wait(holder_.Current()->drain_grace);
    const bool all_answered = listeners_->Stop(In(kStopTime));
    metrics_.RemoveCollectors();
    registry_->Stop();
    if (cluster_) cluster_->Stop();
    credentials_->Stop();
    // Last: it may wait for its receiver.
    if (notifier_) notifier_->Stop();
    RemoveAddresses(holder_.Current()->data_dir);
    logger_.Log(LogLevel::kInfo, "stopped", {{"all_answered", all_answered}});
  }

 private:
  Result<void> OpenRegistry() {
    const Config& config = *holder_.Current();
    TRUCE_ASSIGN_OR_RETURN(const bool is_open,
                           registry_->Open(config, *admission_->policy(),
                                           [this] { return KubeSystemOf(server_, clock_); }));
    if (!is_open) {
      health_.SetNotReady("store", registry_->waiting_for());
      return {};
    }
    admission_->LoadOverrides(kOverridesTime);
    api_->ShareCursors();
    logger_.Log(LogLevel::kInfo, "registry open",
                {{"version", version_},
                 {"store", std::string_view(config.store)},
                 {"ownerships", static_cast<std::int64_t>(registry_->store().Counts().owners)}});
    // Reviews are answered before anybody is told so.
    if (config.no_cluster) admission_->SetReady();
    health_.SetReady("store");
    return cluster_ ? cluster_->Start(server_) : Result<void>();
  }

  Result<void> PrepareNotifier(const Config& config) {
    if (config.notify_url_file.empty()) return {};
    ClusterReports* const found = cluster_ ? &cluster_->reports() : nullptr;
    notifier_.emplace(NotifierPorts{registry_->watch_store(),
                                    clock_,
                                    logger_,
                                    registry_->denials(),
                                    found,
                                    config.notify_url_file,
                                    {config.notify_form, config.cluster_id, config.public_url}});
    return notifier_->Reread();
  }

  // One of the servers on a registry does what is done once.
  void Lead() {
    if (!cluster_ && !notifier_) return;
    const bool leads = registry_->is_open() && registry_->TakeWatch();
    if (cluster_ && leads) cluster_->Lead();
    if (notifier_) notifier_->SetLeads(leads);
  }

  // Logged when it begins and when it ends.
  void ReportStandby() {
    std::string reason = registry_->StandbyReason();
    if (reason == standby_reason_) return;
    standby_reason_ = std::move(reason);
    logger_.Log(LogLevel::kWarning, standby_reason_.empty() ? "answering again" : "standby",
                {{"message", std::string_view(standby_reason_)}});
    if (standby_reason_.empty()) return health_.SetReady("store");
    health_.SetNotReady("store", standby_reason_);
  }

  bool HasTwoKeepers() const {
    return !holder_.Current()->certificate_secret.empty() && registry_->IsBesideAnother();
  }

  // Not refused: the next version of one server runs beside the former for a while, too.
  void TellTwoKeepers() {
    if (std::exchange(had_two_keepers_, HasTwoKeepers()) || !had_two_keepers_) return;
    logger_.Log(LogLevel::kWarning, "several servers renew one Secret",
                {{"message", kTwoKeepers}, {"remedy", kOneKeeper}});
  }

  // A line a minute at most: a caller that tries all secrets fills no disk.
  void TellRefusedCallers() {
    if (std::chrono::steady_clock::now() < refused_due_) return;
    std::array<std::int64_t, RefusedCallers::kCauses> fresh{};
    std::int64_t total = 0;
    for (std::size_t cause = 0; cause < RefusedCallers::kCauses; ++cause) {
      const std::uint64_t now = refused_callers_.counts[cause].load();
      fresh[cause] = static_cast<std::int64_t>(now - std::exchange(refused_reported_[cause], now));
      total += fresh[cause];
    }
    if (total == 0) return;
    refused_due_ = In(kRefusedReportEvery);
    logger_.Log(LogLevel::kWarning, "callers refused",
                {{RefusedCallers::kNames[RefusedCallers::kPath], fresh[RefusedCallers::kPath]},
                 {RefusedCallers::kNames[RefusedCallers::kCertificate],
                  fresh[RefusedCallers::kCertificate]},
                 {RefusedCallers::kNames[RefusedCallers::kBearer], fresh[RefusedCallers::kBearer]},
                 {RefusedCallers::kNames[RefusedCallers::kToken], fresh[RefusedCallers::kToken]}});
  }

  void TakeOverFiles() {
    const ReloadOutcome outcome =
        holder_.Poll([this](const std::shared_ptr<const Config>& config) -> Result<void> {
          return admission_->Configure(*config);
        });
    if (outcome.kind == ReloadOutcome::Kind::kReloaded && cluster_) cluster_->Refresh();
    if (refused_.ReportConfiguration(outcome)) TellRefused(outcome.message);
    const auto config = holder_.Current();
    const Result<void> access = credentials_->Reread();
    const Result<void> api = api_->Configure(*config);
    const Result<void> url = notifier_ ? notifier_->Reread() : Result<void>();
    std::string problem;
    for (const Result<void>* read : {&url, &api, &access}) {
      if (!read->ok()) problem = read->error().message;
    }
    if (refused_.ReportCredentials(problem)) TellRefused(problem);
    registry_->Step(*config, admission_->policy()->parties);
  }

  // Accounts that cannot be brought now are brought with the next; until then reviews look them up
  // where they are.
  void BringAccounts() {
    if (accounts_ && registry_->is_open()) {
      static_cast<void>(accounts_->Step(admission_->policy()).ok());
    }
  }

  // Only the cluster knows the rows that the database lost: a server with nothing of them in memory
  // finds them there again.
  Result<void> TakeUpLoss() {
    const std::string& loss = registry_->loss();
    if (loss.empty()) return {};
    const OperatorWord word{.actor = "server", .reason = loss};
    if (cluster_ && !cluster_->controls().StartRecovery(word).ok()) return {};  // the next time
    return Error{ErrorCode::kUnavailable, loss};
  }

  void TellRefused(const std::string& problem) {
    if (cluster_) cluster_->TellRefused(problem);
  }

  void BeginAdmission() {
    std::vector<ReviewSink*> sinks = {&log_sink_, &review_metrics_, &registry_->denials(),
                                      &registry_->trials()};
    if (cluster_) {
      for (ReviewSink* sink : cluster_->sinks()) sinks.push_back(sink);
    }
    AdmissionPorts ports{registry_->store(), clock_, RandomIds(), std::move(sinks)};
    ports.speaks_for = [this](const auto& review, std::string_view ns, Deadline deadline) {
      return api_->SpeaksFor(review, ns, deadline);
    };
    ports.admit_own = [this](const auto& review) { return AdmitOwn(review); };
    if (cluster_) {
      ports.read_live = [this](std::string_view asker, std::span<const Slot> slots,
                               Deadline deadline) {
        return cluster_->live().Read(asker, slots, deadline);
      };
    }
    admission_->Begin(std::move(ports));
  }

  Result<void> AdmitOwn(const AdmissionRequest& review) {
    if (review.kind.kind != OwnershipCheckKind().kind) return admission_->TryObject(review);
    const Value uid = review.object.Child("metadata").Child("uid");
    if (cluster_ && !review.dry_run) cluster_->NoteCheckAdmitted(Uid{std::string(uid.text())});
    return {};
  }

  ListenerRoutes Routes() {
    ListenerRoutes routes;
    routes.admission =
        AdmissionRoutes(admission_->service(), credentials_->access(), &refused_callers_);
    const Probed probed{health_,
                        [this] { return RefusalsText(*admission_->policy(), clock_.Now()); },
                        [this] { return registry_->WriteProblem(); }};
    routes.metrics = HealthRoutes(probed, metrics_, [this] { Refresh(); });
    routes.probes = ProbeRoutes(probed);
    std::vector<HttpRoute> both = api_->Routes();
    both.push_back(DoctorRoute(api_->rest(), [this](Deadline deadline) {
      return ExamineInstallation(Examined(), deadline);
    }));
    routes.api = ApiRoutes(version_);
    Append(both, routes.api);
    Append(RunbookRoutes(), routes.api);
    JsonWriter settings;
    settings.BeginObject().Field("argocdURL", holder_.Current()->argocd_url).EndObject();
    const std::vector<HttpRoute> page = PageRoutes(settings.Take());
    Append(page, routes.api);
    routes.api = WithRequestIds(std::move(routes.api));
    routes.operator_socket =
        OperatorRoutes({api_->rest(), registry_->store(), clock_, RandomIds()});
    // `truce page --data-dir` shows what the socket answers.
    Append(page, routes.operator_socket);
    Append(std::move(both), routes.operator_socket);
    return routes;
  }

  Result<void> Listen(const Config& config) {
    const std::size_t open_files = RaiseOpenFilesMax();
    const ConnectionShares shares = SharesOf(open_files, config.connections_max);
    if (shares.admission < config.connections_max) {
      logger_.Log(LogLevel::kWarning, "fewer connections than connectionsMax",
                  {{"connections", shares.admission},
                   {"open_files_max", static_cast<std::int64_t>(open_files)},
                   {"remedy", "raise the hard limit of open files (ulimit -Hn, LimitNOFILE)"}});
    }
    TRUCE_ASSIGN_OR_RETURN(listeners_, Listeners::Start(config, shares,
                                                        {credentials_->certificates(),
                                                         credentials_->api_certificates()},
                                                        Routes()));
    metrics_.AddCollector([this](MetricWriter& writer) { WriteMetrics(writer); });
    const ListenAddresses& addresses = listeners_->addresses();
    // Commands beside the server take the socket: a full disk does not keep it from its work.
    const Result<void> written = WriteAddresses(config.data_dir, addresses);
    if (!written.ok()) {
      logger_.Log(LogLevel::kWarning, "addresses not written",
                  {{"message", std::string_view(written.error().message)}});
    }
    LogListener("admission", "https://" + addresses.admission + "/validate");
    LogListener("api", "https://" + addresses.api);
    LogListener("metrics", "http://" + addresses.metrics + "/metrics");
    LogListener("probes", "http://" + addresses.probes + "/readyz");
    LogListener("operator", config.data_dir + "/truce.sock");
    return {};
  }

  void LogListener(std::string_view name, const std::string& address) {
    logger_.Log(LogLevel::kInfo, "listening",
                {{"listener", name}, {"address", std::string_view(address)}});
  }

  void WriteMetrics(MetricWriter& writer) const {
    listeners_->WriteMetrics(writer);
    if (cluster_) cluster_->WriteMetrics(writer);
    admission_->WriteMetrics(writer);
    writer.Family("truce_log_dropped_total");
    writer.Sample(static_cast<double>(logger_.dropped_count()));
    registry_->WriteMetrics(writer);
    if (notifier_) notifier_->WriteMetrics(writer);
    WriteQuotas(writer);
    refused_.WriteMetrics(writer);
    review_metrics_.WriteMetrics(writer);
    writer.Family("truce_refused_callers_total");
    for (std::size_t cause = 0; cause < RefusedCallers::kCauses; ++cause) {
      const std::pair<std::string_view, std::string_view> label("cause",
                                                                RefusedCallers::kNames[cause]);
      writer.Sample({&label, 1}, static_cast<double>(refused_callers_.counts[cause].load()));
    }
    WriteVolumeMetrics(holder_.Current()->data_dir, writer);
    credentials_->WriteMetrics(writer);
  }

  void WriteQuotas(MetricWriter& writer) const {
    const auto policy = admission_ ? admission_->policy() : nullptr;
    if (policy == nullptr || policy->quotas == nullptr) return;
    const ReadFn write = [&](const AllFacts& facts) {
      WriteQuotaMetrics(*policy->quotas, facts, writer);
    };
    // From memory: it runs once, and waits for nobody. Before the store is open there are none.
    const Deadline soon = std::chrono::steady_clock::now() + std::chrono::seconds(1);
    static_cast<void>(registry_->store().Read(write, soon).ok());
  }

  // Brings the numbers that live elsewhere up to date.
  void Refresh() {
    const StoreCounts counts = registry_->store().Counts();
    metrics_.SetOwnerships("reserved", static_cast<std::int64_t>(counts.reserved));
    metrics_.SetOwnerships("held", static_cast<std::int64_t>(counts.held));
    metrics_.SetOwnerships("orphaned", static_cast<std::int64_t>(counts.orphaned));
    metrics_.SetOwnerships("imported", static_cast<std::int64_t>(counts.imported));
    metrics_.SetConflicts(static_cast<std::int64_t>(counts.conflicts));
    const std::uint64_t overload = listeners_->overload_count();
    const std::uint64_t before =
        overload_.With([&](std::uint64_t& last) { return std::exchange(last, overload); });
    if (overload > before) metrics_.CountUnknown("overload", overload - before);
  }

  ExaminedServer Examined() {
    ExaminedServer out{registry_->store(),
                       health_,
                       clock_,
                       credentials_->certificates().Current().pair->not_after(),
                       refused_.configuration(),
                       refused_.credentials(),
                       registry_->disk_failures().last(),
                       IsPostgresUrl(holder_.Current()->store),
                       registry_->is_open() ? registry_->durability() : std::string(),
                       registry_->ClockProblem(),
                       HasTwoKeepers(),
                       registry_->WriteProblem(),
                       admission_->policy()->modes.global,
                       SuspensionsAt(*admission_->policy(), clock_.Now())};
    if (notifier_) out.trouble_of_notifier = notifier_->trouble();
    if (!cluster_) return out;
    out.reports = &cluster_->reports();
    out.api = cluster_->reached_api();
    out.cluster = holder_.Current()->cluster_id;
    out.lease_namespace = holder_.Current()->lease_namespace;
    out.reviews = review_metrics_.count();
    out.watcher = registry_->Watcher();
    return out;
  }

  Logger& logger_;
  const Clock& clock_;
  const std::string_view version_;
  ConfigHolder holder_;
  ServerSettings server_;       // nothing of it with noCluster
  std::string standby_reason_;  // why it answers nothing, as told last
  bool had_two_keepers_ = false;
  RefusedChanges refused_{logger_};
  RefusedCallers refused_callers_;
  std::array<std::uint64_t, RefusedCallers::kCauses> refused_reported_{};  // by the log
  Deadline refused_due_{};
  Metrics metrics_;
  Guarded<std::uint64_t> overload_;  // that metrics_ has
  Health health_;
  LogSink log_sink_{logger_};
  ReviewMetrics review_metrics_{metrics_};
  std::unique_ptr<DataDir> data_dir_;
  std::optional<RegistryPart> registry_;
  std::optional<AdmissionPart> admission_;
  std::optional<Credentials> credentials_;
  std::optional<ClusterPart> cluster_;          // none: no cluster is followed
  std::optional<ConfiguredAccounts> accounts_;  // then
  std::optional<Notifier> notifier_;            // none: nobody is notified
  std::optional<ApiPart> api_;
  std::unique_ptr<Listeners> listeners_;
};

}  // namespace

Result<ServeEnd> Serve(ServeOptions options) {
  const Signals signals;
  const SystemClock clock;
  Logger::Options log;
  log.format = options.loaded.config.log_format;
  log.level = options.loaded.config.log_level;
  Logger logger(log, clock);
  Server server(std::move(options), logger, clock);
  TRUCE_RETURN_IF_ERROR(server.Start());
  bool must_end = false;
  Result<void> polled;
  while (!must_end && !signals.Wait(kPollInterval)) {
    polled = server.Poll();
    must_end = !polled.ok() || server.MustEnd();
  }
  server.Drain(signals, must_end);
  TRUCE_RETURN_IF_ERROR(std::move(polled));
  return must_end ? ServeEnd::kDiskFailed : ServeEnd::kAsked;
}

}  // namespace truce
