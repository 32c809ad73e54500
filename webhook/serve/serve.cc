#include "webhook/serve/serve.h"

#include <atomic>
#include <optional>
#include <utility>

#include "certs/certificate_store.h"
#include "certs/trust.h"
#include "policies/finding.h"
#include "policies/rule_case.h"
#include "webhook/admission/routes.h"
#include "webhook/admission/service.h"
#include "webhook/api/cluster_json.h"
#include "webhook/api/indexed_store.h"
#include "webhook/api/operator.h"
#include "webhook/api/rest/rest_cluster.h"
#include "webhook/api/trial_book.h"
#include "webhook/config/reload.h"
#include "webhook/kube/kube_config.h"
#include "webhook/log/log.h"
#include "webhook/publish/own_objects.h"
#include "webhook/serve/access_keeper.h"
#include "webhook/serve/api_parts.h"
#include "webhook/serve/audit_keeper.h"
#include "webhook/serve/catalogue_change.h"
#include "webhook/serve/certificate_options.h"
#include "webhook/serve/detection.h"
#include "webhook/serve/disk_failure.h"
#include "webhook/serve/examination.h"
#include "webhook/serve/following.h"
#include "webhook/serve/listeners.h"
#include "webhook/serve/observer_list.h"
#include "webhook/serve/own_review.h"
#include "webhook/serve/ownership_checks.h"
#include "webhook/serve/ownership_grants.h"
#include "webhook/serve/policy_source.h"
#include "webhook/serve/refused_changes.h"
#include "webhook/serve/self_management.h"
#include "webhook/serve/server_parts.h"
#include "webhook/serve/signals.h"
#include "webhook/serve/sinks.h"
#include "webhook/serve/trial_keeper.h"

namespace truce {
namespace {

// How often the files of configuration and tokens are looked at.
constexpr std::chrono::milliseconds kPollInterval{1000};
// What begun requests get after the grace: the API server's longest webhook timeout is 30 s, but it
// has been told to close its connections for the whole grace.
constexpr std::chrono::seconds kStopTime{10};
// How long readiness waits for the status of Truce's own objects to be written.
constexpr std::chrono::seconds kSettleTime{5};

// What lies on the machine, not what was asked for: whatever is wrong with it, the server cannot
// run.
template <typename T>
Result<T> OfMachine(Result<T> found) {
  if (found.ok()) return found;
  Error error = std::move(found).error();
  const bool is_input = error.code == ErrorCode::kInvalidArgument;
  if (is_input || error.code == ErrorCode::kNotFound) error.code = ErrorCode::kUnavailable;
  return error;
}

// One running server. Members stand in the order in which they need each other.
class Server {
 public:
  Server(ServeOptions options, Logger& logger, const Clock& clock)
      : logger_(logger),
        clock_(clock),
        version_(options.version),
        holder_(std::move(options.sources), std::move(options.loaded)),
        metrics_({options.version, RuleIds()}),
        log_sink_(logger),
        metrics_sink_(metrics_),
        watch_sink_(inbox_, holder_.Current()->cluster_id, [this] { WakeWatch(); }) {}

  Result<void> Start() {
    const Config& config = *holder_.Current();
    if (!config.no_cluster) {
      TRUCE_ASSIGN_OR_RETURN(cluster_server_, ClusterOf(config));
    }
    TRUCE_ASSIGN_OR_RETURN(data_dir_, DataDir::Open(config.data_dir));
    disk_failures_.Begin(config.data_dir);
    TRUCE_ASSIGN_OR_RETURN(catalogue_, CatalogueOf(config));
    source_.emplace(catalogue_, [this](const EffectivePolicy& policy) { TakePolicy(policy); });
    TRUCE_RETURN_IF_ERROR(source_->Configure(config));
    TRUCE_RETURN_IF_ERROR(access_.Read(config, true));
    TRUCE_RETURN_IF_ERROR(BeginSelfManagement(config));
    TRUCE_ASSIGN_OR_RETURN(
        certificates_, OfMachine(CertificateStore::Open(CertificatesOf(config, logger_), clock_)));
    if (!config.api_client_ca.empty()) {
      TRUCE_ASSIGN_OR_RETURN(api_certificates_, OfMachine(CertificateStore::Open(
                                                    ApiCertificatesOf(config, logger_), clock_)));
    }
    ClusterSource cluster;
    if (!config.no_cluster) cluster = [this] { return ReachedCluster(); };
    api_.emplace(ApiPartsPorts{store_, clock_, logger_, std::move(cluster),
                               [this] { return service_->policy(); }, version_,
                               [this](const std::vector<Override>& overrides) {
                                 Publish(
                                     [&](Policies& policies) { policies.overrides = overrides; });
                               },
                               [this](const std::vector<KeyText>& keys, JsonWriter& json) {
                                 WriteFindingsOf(ClusterPortsNow().findings(), keys, json);
                               },
                               static_cast<std::size_t>(config.check_bytes_max),
                               [this] { return DeletionsUnsent(ClusterPortsNow().findings()); }});
    TRUCE_RETURN_IF_ERROR(api_->Configure(config));
    trials_.emplace(store_, clock_, RandomIds());
    trial_keeper_.emplace(*trials_, logger_);
    std::vector<ReviewSink*> sinks = {&log_sink_, &metrics_sink_, &review_counter_,
                                      &api_->denials(), &*trials_};
    checks_.emplace(
        OwnershipCheckPorts{store_, clock_, RandomIds(),
                            [this] { return service_->ready() ? service_->policy() : nullptr; },
                            [this] { return ReachedCluster(); }});
    if (!config.no_cluster) {
      MakeDetection(config);
      sinks.push_back(&watch_sink_);
      sinks.push_back(&detection_->refusals());
    }
    service_.emplace(
        AdmissionPorts{
            store_, clock_, RandomIds(), std::move(sinks),
            [this](const Uid& uid) {
              if (checks_) checks_->NoteAdmitted(uid);
            },
            [this](const AdmissionRequest& review, std::string_view ns, Deadline deadline) {
              return api_->SpeaksFor(review, ns, deadline);
            },
            [this](const AdmissionRequest& review) { return TryPolicyObject(*source_, review); }},
        Effective().policy);
    health_.SetNotReady("store", "opening");
    if (!config.no_cluster) health_.SetNotReady("cluster", "waiting for the store");
    TRUCE_RETURN_IF_ERROR(Listen(config));
    if (self_management_ != nullptr) self_management_->Start();
    TRUCE_ASSIGN_OR_RETURN(std::unique_ptr<Store> store, OfMachine(OpenStore(config)));
    TRUCE_RETURN_IF_ERROR(Follow(*store));
    store_.Open(std::move(store));
    api_->StartFilling();
    trial_keeper_->Load();
    logger_.Log(LogLevel::kInfo, "registry open",
                {{"version", version_},
                 {"store", std::string_view(config.store)},
                 {"ownerships", static_cast<std::int64_t>(store_.Counts().owners)}});
    // Reviews are answered before anybody is told so.
    if (config.no_cluster) Publish([](Policies& policies) { policies.view.ready = true; });
    health_.SetReady("store");
    if (!config.no_cluster) return FollowCluster(config);
    return {};
  }

  // Takes over changed files; reports what is bad.
  void Poll() {
    const ReloadOutcome outcome =
        holder_.Poll([this](const std::shared_ptr<const Config>& config) -> Result<void> {
          return source_->Configure(*config);
        });
    if (outcome.kind == ReloadOutcome::Kind::kReloaded && own_ != nullptr) own_->Refresh();
    refused_.ReportConfiguration(outcome);
    PollAccess();
    KeepAudit();
    trial_keeper_->Step();
  }

  bool MustEnd() { return disk_failures_.MustEnd(holder_.Current()->data_dir); }

  // After the grace of the configuration, or a signal; at once when `must_end`.
  void Drain(const Signals& signals, bool must_end) {
    logger_.Log(LogLevel::kInfo, "draining", {});
    health_.SetNotReady("drain", "the server is ending");
    listeners_->BeginDrain();
    if (!must_end) signals.Wait(holder_.Current()->drain_grace);
    const bool all_answered = listeners_->Stop(std::chrono::steady_clock::now() + kStopTime);
    metrics_.RemoveCollectors();
    watched_.With([](Following*& following) { following = nullptr; });
    trial_keeper_->Keep();
    // They ask the cluster by what ends with the watch.
    if (own_ != nullptr) own_->Stop();
    if (detection_ != nullptr) detection_->Stop();
    following_.reset();
    own_.reset();
    self_management_.reset();
    detection_.reset();
    RemoveAddresses(holder_.Current()->data_dir);
    logger_.Log(LogLevel::kInfo, "stopped", {{"all_answered", all_answered}});
  }

 private:
  // What configuration says of reviews, and what the cluster adds.
  struct Policies {
    EffectivePolicy configured;
    ClusterView view;
    std::vector<Override> overrides;  // made while the server runs
  };

  EffectivePolicy Effective() {
    return policies_.With([](const Policies& policies) { return policies.configured; });
  }

  // Another policy is in force: of the configuration, of objects.
  void TakePolicy(const EffectivePolicy& policy) {
    const EffectivePolicy before = Effective();
    if (!service_) {
      policies_.With([&](Policies& policies) { policies.configured = policy; });
      return;
    }
    Publish([&](Policies& policies) { policies.configured = policy; });
    FollowRules(*before.config, policy);
    WakeSelfManagement();
  }

  void FollowRules(const Config& before, const EffectivePolicy& policy) {
    if (SaysTheSameOfObjects(before, *policy.config)) return;
    watched_.With([&](Following* following) {
      if (following == nullptr) return;
      following->SetRules(ReconcileRulesOf(*policy.policy, *policy.config));
    });
  }

  // Changes the policies and hands them to the admission path as one.
  template <typename Change>
  void Publish(Change change) {
    policies_.With([&](Policies& policies) {
      change(policies);
      auto policy = std::make_shared<AdmissionPolicy>(*policies.configured.policy);
      policy->watched = following_started_;
      policy->recovering = !policies.view.recovery.empty();
      policy->unlisted = {policies.view.unlisted.begin(), policies.view.unlisted.end()};
      policy->unwatched = policies.view.unwatched;
      policy->doubt_of = [this](const Slot& slot) { return doubts_.DoubtOf(slot); };
      if (following_started_) {
        TakeLearned(policies.view.learned, policy->identity);
      }
      auto& overrides = policy->modes.overrides;
      overrides.insert(overrides.end(), policies.overrides.begin(), policies.overrides.end());
      service_->SetPolicy(std::move(policy));
      if (policies.view.ready && !service_->ready()) {
        service_->SetReady(true);
        logger_.Log(LogLevel::kInfo, "ready", {});
      }
    });
  }

  Result<void> BeginSelfManagement(const Config& config) {
    if (config.certificate_secret.empty()) return {};
    auto poll = [this] {
      if (certificates_ != nullptr) static_cast<void>(certificates_->Poll().ok());
    };
    self_management_ = std::make_unique<SelfManagement>(
        config, cluster_server_,
        SelfManagementPorts{logger_, clock_, [this] { return GroupsOfMappings(); },
                            [this] { return GuardOfStatuses(); }, std::move(poll),
                            [this] { static_cast<void>(ReadAccess().ok()); },
                            [this] { access_.EndFormer(); }});
    return self_management_->Begin();
  }

  MappedGroups GroupsOfMappings() const {
    if (!service_) return {};
    return GroupsOf(service_->policy()->identity.mappings, service_->ready());
  }

  std::optional<StatusGuard> GuardOfStatuses() const {
    if (!service_) return std::nullopt;
    return StatusGuardOf(*service_->policy());
  }

  void WakeSelfManagement() {
    if (self_management_ != nullptr) self_management_->Wake();
  }

  Result<void> FollowCluster(const Config& config) {
    grants_ = std::make_unique<OwnershipGrants>(
        OwnershipGrantPorts{store_, clock_, RandomIds(),
                            [this] { return service_->policy(); }, config.cluster_id});
    own_ = std::make_unique<OwnObjects>(
        OwnPorts{clock_, [this] { return ReachedCluster(); },
                 [this](const OwnObject& object, const OwnVerdict& verdict) {
                   LogVerdict(object, verdict);
                 },
                 [this](const std::string& message) {
                   logger_.Log(LogLevel::kWarning, "status cannot be written",
                               {{"message", std::string_view(message)}});
                 }},
        std::vector<OwnHandler*>{&*source_, &*checks_, grants_.get()});
    observers_.emplace(std::vector<SightObserver*>{detection_.get(), own_.get()});
    FollowingOptions options;
    options.cluster = config.cluster_id;
    options.data_dir = config.data_dir;
    options.lease_namespace = "kube-system";
    options.others = DetectorKinds(config.webhook_configuration);
    for (FollowedKind& kind : own_->kinds()) options.others.push_back(std::move(kind));
    FollowingPorts ports{store_,
                         clock_,
                         RandomIds(),
                         logger_,
                         health_,
                         inbox_,
                         doubts_,
                         &*observers_,
                         [this, begin = std::chrono::steady_clock::now()](const ClusterView& view) {
                           TakeView(view, begin);
                         }};
    following_started_ = true;
    const EffectivePolicy present = Effective();
    TRUCE_ASSIGN_OR_RETURN(
        following_,
        Following::Start(cluster_server_, std::move(options),
                         ReconcileRulesOf(*present.policy, *present.config), std::move(ports)));
    watched_.With([this](Following*& following) { following = following_.get(); });
    // Objects that were taken over meanwhile found nobody to tell.
    FollowRules(*present.config, Effective());
    detection_->Start();
    return {};
  }

  void LogVerdict(const OwnObject& object, const OwnVerdict& verdict) {
    logger_.Log(verdict.accepted ? LogLevel::kInfo : LogLevel::kError,
                verdict.accepted ? "object taken over" : "object refused",
                {{"object", std::string_view(object.Label())},
                 {"message", std::string_view(verdict.message)}});
  }

  void TakeView(const ClusterView& view, Deadline begin) {
    const bool was_ready = service_->ready();
    // The first review is judged by the policies that are there.
    if (view.ready && !was_ready) own_->Settle(std::chrono::steady_clock::now() + kSettleTime);
    Publish([&](Policies& policies) { policies.view = view; });
    if (!view.ready || was_ready) return;
    detection_->SetReady(std::chrono::duration_cast<std::chrono::milliseconds>(
        std::chrono::steady_clock::now() - begin));
  }

  void MakeDetection(const Config& config) {
    detection_ = std::make_unique<Detection>(
        DetectionPorts{store_, clock_, RandomIds(), logger_, config.cluster_id,
                       [this] { return ReachedCluster(); }, [this] { return SurroundingsNow(); },
                       [this] { return service_->policy(); },
                       [this](Engine::Work work, Deadline deadline) {
                         return AskWatch(std::move(work), deadline);
                       },
                       [this] { WakeSelfManagement(); }});
  }

  // Runs `work` between two steps of the watch.
  Result<void> AskWatch(Engine::Work work, Deadline deadline) {
    Following* following = watched_.With([](Following* present) { return present; });
    if (following != nullptr) return following->Ask(std::move(work), deadline);
    return Error{ErrorCode::kUnavailable, "the cluster was not reached yet"};
  }

  // What the detectors compare with.
  Surroundings SurroundingsNow() {
    const auto policy = service_->policy();
    const auto config = holder_.Current();
    const auto access = access_.Current();
    Surroundings around;
    around.cluster = config->cluster_id;
    around.catalogue = policy->catalogue;
    around.mappings = policy->identity.mappings;
    around.webhook.name = config->webhook_configuration;
    around.webhook.paths = AdmissionPaths(*access);
    const bool shows_itself = access->client_certificate || access->bearer || access->loopback;
    around.webhook.secret_alone = !shows_itself && !config->accept_secret_in_errors;
    around.webhook.statuses_deny = policy->status_guarded;
    if (policy->status_entry) {
      around.webhook.status = StatusConditions(policy->providers, policy->restorers);
    }
    around.webhook.trusts = [pair = certificates_->Current().pair](std::string_view bundle) {
      return BundleTrusts(bundle, *pair);
    };
    around.unmapped =
        policies_.With([](const Policies& policies) { return policies.view.unmapped; });
    for (auto& [kind, since] : around.unmapped) since += config->settle_time;
    around.account_parties = policy->account_parties;
    for (const auto& [config_name, account] : policy->identity.accounts) {
      around.accounts.insert(account);
    }
    around.mode_of = [policy](const TypeSpec& type) {
      const ObjectFacts nobody;
      const RuleCase c{.policy = policy.get(),
                       .object = &nobody,
                       .root = &nobody.slot,
                       .now = SystemClock().Now()};
      return ModeIn(c, Rule::kDuplicateOwnership,
                    {.type = type.name, .sure = type.certainty == Certainty::kResearched})
          .mode;
    };
    return around;
  }

  // The cluster's API, once it was reached.
  ClusterApi* ReachedCluster() {
    return watched_.With(
        [](Following* following) { return following == nullptr ? nullptr : following->api(); });
  }

  // From threads that answer reviews, also before and after there is a watch.
  void WakeWatch() {
    watched_.With([](Following* following) {
      if (following != nullptr) following->Wake();
    });
  }

  Result<void> Listen(const Config& config) {
    ListenerRoutes routes{.admission =
                              AdmissionRoutes(*service_, [this] { return access_.Current(); })};
    routes.api = ApiRoutes(version_);
    std::vector<HttpRoute> rest = api_->Routes();
    rest.push_back(DoctorRoute(api_->rest(), [this](Deadline deadline) {
      return ExamineInstallation(Surveyed(), deadline);
    }));
    routes.api.insert(routes.api.end(), rest.begin(), rest.end());
    routes.metrics = HealthRoutes(health_, metrics_, [this] { Refresh(); });
    routes.probes = ProbeRoutes(health_);
    routes.operator_socket =
        OperatorRoutes({store_, clock_, RandomIds(), [this] { return service_->policy(); }});
    routes.operator_socket.insert(routes.operator_socket.end(), rest.begin(), rest.end());
    const std::vector<HttpRoute> trial = TrialRoutes(*trials_);
    routes.operator_socket.insert(routes.operator_socket.end(), trial.begin(), trial.end());
    const std::vector<HttpRoute> cluster = ClusterRoutes(ClusterPortsNow());
    routes.operator_socket.insert(routes.operator_socket.end(), cluster.begin(), cluster.end());
    const std::vector<HttpRoute> read = ClusterReadRoutes(api_->rest(), ClusterPortsNow());
    routes.api.insert(routes.api.end(), read.begin(), read.end());
    const ListenerCertificates certificates{*certificates_, api_certificates_.get()};
    TRUCE_ASSIGN_OR_RETURN(listeners_, Listeners::Start(config, certificates, std::move(routes)));
    metrics_.AddCollector([this](MetricWriter& writer) {
      listeners_->WriteMetrics(writer);
      if (detection_ != nullptr) detection_->WriteMetrics(writer);
      if (self_management_ != nullptr) self_management_->WriteMetrics(writer);
      writer.Family("truce_log_dropped_total", "counter", "Log lines dropped, not waited for.");
      writer.Sample(static_cast<double>(logger_.dropped_count()));
      disk_failures_.WriteMetrics(writer);
      refused_.WriteMetrics(writer);
      WriteVolumeMetrics(holder_.Current()->data_dir, writer);
      WriteExpiry(*certificates_, writer);
    });
    const ListenAddresses& addresses = listeners_->addresses();
    TRUCE_RETURN_IF_ERROR(WriteAddresses(config.data_dir, addresses));
    LogListener("admission", "https://" + addresses.admission + "/validate");
    LogListener("api", "https://" + addresses.api);
    LogListener("metrics", "http://" + addresses.metrics + "/metrics");
    LogListener("probes", "http://" + addresses.probes + "/readyz");
    LogListener("operator", config.data_dir + "/truce.sock");
    return {};
  }

  ExaminationPorts Surveyed() {
    const ClusterPorts cluster = ClusterPortsNow();
    return {store_,
            health_,
            clock_,
            [this] { return certificates_->Current().pair->not_after(); },
            detection_ != nullptr,
            holder_.Current()->cluster_id,
            [this] { return ReachedCluster(); },
            [this] { return review_counter_.count(); },
            cluster.findings,
            cluster.coverage,
            refused_.configuration(),
            refused_.credentials(),
            disk_failures_.last()};
  }

  ClusterPorts ClusterPortsNow() {
    return detection_ == nullptr ? PortsWithoutCluster(store_) : detection_->Ports();
  }

  Result<void> Follow(Store& store) {
    const IdSource ids = RandomIds();
    const auto policy = service_->policy();
    TRUCE_ASSIGN_OR_RETURN(
        const std::size_t changed,
        FollowCatalogue(store, {*catalogue_, policy->parties, ids, clock_.Now()}));
    if (changed > 0) {
      logger_.Log(LogLevel::kInfo, "keys follow the catalogue",
                  {{"changed", static_cast<std::int64_t>(changed)}});
    }
    return {};
  }

  void LogListener(std::string_view name, const std::string& address) {
    logger_.Log(LogLevel::kInfo, "listening",
                {{"listener", name}, {"address", std::string_view(address)}});
  }

  // Brings the numbers that live elsewhere up to date.
  void Refresh() {
    const StoreCounts counts = store_.Counts();
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

  // One segment at a time, so that reloading never waits long.
  void KeepAudit() {
    const auto config = holder_.Current();
    AuditKeeper keeper(store_, clock_, config->audit_export_dir);
    const Result<bool> done =
        keeper.Step({config->audit_age_max, config->audit_lines_max},
                    std::chrono::steady_clock::now() + std::chrono::seconds(10));
    const std::string problem = done.ok() ? std::string() : done.error().message;
    if (problem != audit_problem_ && !problem.empty()) {
      logger_.Log(LogLevel::kError, "audit log not shortened",
                  {{"message", std::string_view(problem)}});
    }
    audit_problem_ = problem;
  }

  Result<void> ReadAccess() {
    return access_.Read(*holder_.Current(), self_management_ == nullptr);
  }

  void PollAccess() {
    const Result<void> access = ReadAccess();
    const Result<void> api = api_->Configure(*holder_.Current());
    refused_.ReportCredentials(!access.ok() ? access.error().message
                               : !api.ok()  ? api.error().message
                                            : std::string());
  }

  Logger& logger_;
  const Clock& clock_;
  const std::string_view version_;
  ConfigHolder holder_;
  Metrics metrics_;
  Health health_;
  std::unique_ptr<DataDir> data_dir_;
  LogSink log_sink_;
  MetricsSink metrics_sink_;
  ReviewCounter review_counter_;
  std::shared_ptr<const Catalogue> catalogue_;
  AccessKeeper access_;
  RefusedChanges refused_{logger_, [this](const std::string& problem) {
                            if (detection_ == nullptr) return;
                            detection_->TellRefused(holder_.Current()->webhook_configuration,
                                                    problem);
                          }};
  std::string audit_problem_;  // the last one told; used by Poll() only
  Guarded<std::uint64_t> overload_;
  IndexedStore store_;
  DiskFailures disk_failures_{store_, logger_, clock_};
  std::unique_ptr<CertificateStore> certificates_;
  std::unique_ptr<CertificateStore> api_certificates_;  // null: no client certificates there
  std::optional<PolicySource> source_;
  std::optional<ApiParts> api_;
  std::optional<TrialBook> trials_;
  std::optional<TrialKeeper> trial_keeper_;
  ReviewInbox inbox_;
  DoubtBoard doubts_;
  WatchSink watch_sink_;
  Guarded<Policies> policies_;
  std::optional<AdmissionService> service_;
  std::unique_ptr<SelfManagement> self_management_;  // null: others keep certificates
  std::atomic<bool> following_started_{false};
  Guarded<Following*> watched_{nullptr};
  ServerSettings cluster_server_;
  std::unique_ptr<Detection> detection_;  // outlives the watch, which reports to it
  std::unique_ptr<OwnershipGrants> grants_;
  std::optional<OwnershipChecks> checks_;
  std::unique_ptr<OwnObjects> own_;
  std::optional<ObserverList> observers_;
  std::unique_ptr<Following> following_;
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
  while (!must_end && !signals.Wait(kPollInterval)) {
    server.Poll();
    must_end = server.MustEnd();
  }
  server.Drain(signals, must_end);
  return must_end ? ServeEnd::kDiskFailed : ServeEnd::kAsked;
}

}  // namespace truce
