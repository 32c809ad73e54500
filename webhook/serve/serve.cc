#include "webhook/serve/serve.h"

#include <csignal>
#include <ctime>
#include <optional>
#include <utility>

#include "certs/certificate_store.h"
#include "policies/finding.h"
#include "webhook/admission/service.h"
#include "webhook/api/operator.h"
#include "webhook/config/reload.h"
#include "webhook/log/log.h"
#include "webhook/serve/catalogue_change.h"
#include "webhook/serve/late_store.h"
#include "webhook/serve/listeners.h"
#include "webhook/serve/policy.h"
#include "webhook/serve/sinks.h"

namespace truce {
namespace {

// How often the files of configuration and tokens are looked at.
constexpr std::chrono::milliseconds kPollInterval{1000};
// What begun requests get after the grace: the API server's longest webhook timeout is 30 s, but it
// has been told to close its connections for the whole grace.
constexpr std::chrono::seconds kStopTime{10};

// The signals that end or wake the server; blocked in all threads, taken by Wait() only.
class Signals {
 public:
  Signals() {
    sigemptyset(&set_);
    for (const int number : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&set_, number);
    pthread_sigmask(SIG_BLOCK, &set_, nullptr);
  }

  // True when the server was asked to end; false after `time`, or at once for SIGHUP.
  bool Wait(std::chrono::milliseconds time) const {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(time);
    timespec limit{};
    limit.tv_sec = seconds.count();
    limit.tv_nsec = std::chrono::nanoseconds(time - seconds).count();
    const int number = sigtimedwait(&set_, nullptr, &limit);
    return number == SIGTERM || number == SIGINT;
  }

 private:
  sigset_t set_;
};

Result<std::shared_ptr<const Catalogue>> CatalogueOf(const Config& config) {
  if (config.types.empty()) return std::make_shared<const Catalogue>(Catalogue::BuiltIn());
  TRUCE_ASSIGN_OR_RETURN(const std::string text, ReadConfigFile(config.types));
  TRUCE_ASSIGN_OR_RETURN(Catalogue catalogue,
                         Catalogue::BuiltIn().WithOverrides(text, config.types));
  return std::make_shared<const Catalogue>(std::move(catalogue));
}

CertificateStoreOptions CertificatesOf(const Config& config, Logger& logger) {
  CertificateStoreOptions options;
  if (config.tls_cert_file.empty()) {
    SelfSignedOptions self_signed;
    self_signed.directory = config.data_dir + "/certs";
    self_signed.names = config.server_names;
    options.self_signed = std::move(self_signed);
  } else {
    options.certificate_file = config.tls_cert_file;
    options.key_file = config.tls_key_file;
  }
  options.client_ca_file = config.admission_client_ca;
  options.client_names = config.admission_client_names;
  options.on_event = [&logger](const CertificateEvent& event) {
    const bool is_bad = event.kind == CertificateEvent::Kind::kRejected;
    logger.Log(is_bad ? LogLevel::kError : LogLevel::kInfo,
               is_bad ? "certificates refused" : "certificates loaded",
               {{"message", std::string_view(event.message)}});
  };
  return options;
}

Result<std::shared_ptr<const AdmissionAccess>> AccessOf(const Config& config) {
  auto access = std::make_shared<AdmissionAccess>();
  access->loopback = IsLoopback(config.admission_address);
  access->client_certificate = !config.admission_client_ca.empty();
  if (!config.admission_bearer_file.empty()) {
    TRUCE_ASSIGN_OR_RETURN(access->bearer, ReadToken(config.admission_bearer_file));
  }
  const std::string secret_file = config.admission_secret_file.empty()
                                      ? config.data_dir + "/admission.secret"
                                      : config.admission_secret_file;
  TRUCE_ASSIGN_OR_RETURN(access->secret, ReadOrMakeSecret(secret_file));
  return std::shared_ptr<const AdmissionAccess>(std::move(access));
}

std::vector<std::string_view> RuleIds() {
  std::vector<std::string_view> ids;
  for (std::size_t i = 0; i < kRuleCount; ++i) ids.push_back(Name(static_cast<Rule>(i)));
  return ids;
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
        metrics_sink_(metrics_) {}

  Result<void> Start() {
    const Config& config = *holder_.Current();
    TRUCE_ASSIGN_OR_RETURN(data_dir_, DataDir::Open(config.data_dir));
    TRUCE_ASSIGN_OR_RETURN(catalogue_, CatalogueOf(config));
    TRUCE_ASSIGN_OR_RETURN(auto policy, PolicyFrom(config, catalogue_));
    TRUCE_ASSIGN_OR_RETURN(auto access, AccessOf(config));
    access_.With([&](auto& current) { current = std::move(access); });
    TRUCE_ASSIGN_OR_RETURN(certificates_,
                           CertificateStore::Open(CertificatesOf(config, logger_), clock_));
    service_.emplace(AdmissionPorts{store_, clock_, RandomIds(), {&log_sink_, &metrics_sink_}},
                     std::move(policy));
    health_.SetNotReady("store", "opening");
    TRUCE_RETURN_IF_ERROR(Listen(config));
    TRUCE_ASSIGN_OR_RETURN(std::unique_ptr<Store> store, OpenStore(config));
    TRUCE_RETURN_IF_ERROR(Follow(*store));
    store_.Set(std::move(store));
    health_.SetReady("store");
    service_->SetReady(true);
    logger_.Log(LogLevel::kInfo, "ready",
                {{"version", version_},
                 {"store", std::string_view(config.store)},
                 {"ownerships", static_cast<std::int64_t>(store_.Counts().owners)}});
    return {};
  }

  // Takes over changed files; reports what is bad.
  void Poll() {
    const ReloadOutcome outcome =
        holder_.Poll([this](const std::shared_ptr<const Config>& config) -> Result<void> {
          TRUCE_ASSIGN_OR_RETURN(auto policy, PolicyFrom(*config, catalogue_));
          service_->SetPolicy(std::move(policy));
          return {};
        });
    Report(outcome);
    PollAccess();
  }

  void Drain(const Signals& signals) {
    logger_.Log(LogLevel::kInfo, "draining", {});
    health_.SetNotReady("drain", "the server is ending");
    listeners_->BeginDrain();
    signals.Wait(holder_.Current()->drain_grace);
    const bool all_answered = listeners_->Stop(std::chrono::steady_clock::now() + kStopTime);
    metrics_.RemoveCollectors();
    RemoveAddresses(holder_.Current()->data_dir);
    logger_.Log(LogLevel::kInfo, "stopped", {{"all_answered", all_answered}});
  }

 private:
  Result<void> Listen(const Config& config) {
    const auto access = [this] {
      return access_.With([](const auto& current) { return current; });
    };
    ListenerRoutes routes;
    routes.admission = AdmissionRoutes(*service_, access);
    routes.api = ApiRoutes(version_);
    routes.metrics = HealthRoutes(health_, metrics_, [this] { Refresh(); });
    routes.operator_socket =
        OperatorRoutes({store_, clock_, RandomIds(), [this] { return service_->policy(); }});
    TRUCE_ASSIGN_OR_RETURN(listeners_, Listeners::Start(config, *certificates_, std::move(routes)));
    metrics_.AddCollector([this](MetricWriter& writer) {
      listeners_->WriteMetrics(writer);
      writer.Family("truce_log_dropped_total", "counter", "Log lines dropped, not waited for.");
      writer.Sample(static_cast<double>(logger_.dropped_count()));
      writer.Family("truce_certificate_expiry_timestamp_seconds", "gauge",
                    "End of the server certificate's validity, in seconds since 1970.");
      const auto end = certificates_->Current().pair->not_after().time_since_epoch();
      writer.Sample(
          static_cast<double>(std::chrono::duration_cast<std::chrono::seconds>(end).count()));
    });
    const ListenAddresses& addresses = listeners_->addresses();
    TRUCE_RETURN_IF_ERROR(WriteAddresses(config.data_dir, addresses));
    LogListener("admission", "https://" + addresses.admission + "/validate");
    LogListener("api", "https://" + addresses.api);
    LogListener("metrics", "http://" + addresses.metrics + "/metrics");
    LogListener("operator", config.data_dir + "/truce.sock");
    return {};
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

  void Report(const ReloadOutcome& outcome) {
    switch (outcome.kind) {
      case ReloadOutcome::Kind::kUnchanged: return;
      case ReloadOutcome::Kind::kRefused:
        logger_.Log(LogLevel::kError, "configuration refused",
                    {{"message", std::string_view(outcome.message)}});
        return;
      case ReloadOutcome::Kind::kReloaded:
        logger_.Log(LogLevel::kInfo, "configuration loaded", {});
        for (const std::string& key : outcome.restart_keys) {
          logger_.Log(LogLevel::kWarning, "setting needs a restart",
                      {{"key", std::string_view(key)}});
        }
        return;
    }
  }

  void PollAccess() {
    Result<std::shared_ptr<const AdmissionAccess>> access = AccessOf(*holder_.Current());
    const std::string problem = access.ok() ? std::string() : access.error().message;
    if (problem != access_problem_ && !problem.empty()) {
      logger_.Log(LogLevel::kError, "credentials refused",
                  {{"message", std::string_view(problem)}});
    }
    access_problem_ = problem;
    if (!access.ok()) return;
    access_.With([&](auto& current) { current = std::move(access).value(); });
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
  std::shared_ptr<const Catalogue> catalogue_;
  Guarded<std::shared_ptr<const AdmissionAccess>> access_;
  std::string access_problem_;  // the last one told; used by Poll() only
  Guarded<std::uint64_t> overload_;
  LateStore store_;
  std::unique_ptr<CertificateStore> certificates_;
  std::optional<AdmissionService> service_;
  std::unique_ptr<Listeners> listeners_;
};

}  // namespace

Result<void> Serve(ServeOptions options) {
  const Signals signals;
  const SystemClock clock;
  Logger::Options log;
  log.format = options.loaded.config.log_format;
  log.level = options.loaded.config.log_level;
  Logger logger(log, clock);
  Server server(std::move(options), logger, clock);
  TRUCE_RETURN_IF_ERROR(server.Start());
  while (!signals.Wait(kPollInterval)) server.Poll();
  server.Drain(signals);
  return {};
}

}  // namespace truce
