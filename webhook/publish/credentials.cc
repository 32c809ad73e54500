#include "webhook/publish/credentials.h"

#include <chrono>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "registry/base/file.h"
#include "webhook/kube/api_client.h"
#include "webhook/kube/late_api.h"
#include "webhook/kube/session.h"
#include "webhook/publish/installation_keeper.h"

namespace truce {
namespace {

// Of the first look: a Pod that starts while the API server is away must listen all the same.
constexpr std::chrono::seconds kBeginTime{5};

// True when only processes of this machine can reach the address.
bool IsLoopbackAddress(std::string_view address) {
  const std::string_view host = address.substr(0, address.rfind(':'));
  return host.starts_with("127.") || host == "localhost" || host == "[::1]";
}

// Makes the path's secret in the data directory when there is none; where a file is named, a slip
// of the pen must not become a secret that nobody registered.
Result<AdmissionAccess> ReadAccess(const Config& config) {
  AdmissionAccess access;
  access.loopback = IsLoopbackAddress(config.admission_address);
  access.client_certificate = !config.admission_client_ca.empty();
  if (!config.admission_bearer_file.empty()) {
    Result<std::string> bearer = ReadToken(config.admission_bearer_file);
    if (!bearer.ok()) return std::move(bearer).error().Within("admissionBearerFile");
    access.bearer = std::move(bearer).value();
  }
  const std::string& named = config.admission_secret_file;
  Result<std::string> secret =
      named.empty() ? ReadOrMakeSecret(config.data_dir + "/admission.secret") : ReadSecret(named);
  if (!secret.ok() && !named.empty())
    return std::move(secret).error().Within("admissionSecretFile");
  TRUCE_ASSIGN_OR_RETURN(access.secret, std::move(secret));
  access.secrets = SecretsOf(*access.secret);
  return access;
}

// For the admission listener.
CertificateStoreOptions CertificatesOf(const Config& config, Logger& logger) {
  CertificateStoreOptions options;
  if (!config.certificate_secret.empty()) {  // written by SelfManagement
    options.certificate_file = config.data_dir + "/certs/tls.crt";
    options.key_file = config.data_dir + "/certs/tls.key";
  } else if (config.tls_cert_file.empty()) {
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
    const std::string_view message = event.message;
    switch (event.kind) {
      case CertificateEvent::Kind::kSwapped:
        return logger.Log(LogLevel::kInfo, "certificates loaded", {{"message", message}});
      case CertificateEvent::Kind::kRejected:
        return logger.Log(LogLevel::kError, "certificates refused", {{"message", message}});
      case CertificateEvent::Kind::kNewAuthority:
        return logger.Log(LogLevel::kWarning, "authority replaced", {{"message", message}});
    }
  };
  return options;
}

// The same server certificate, with the API's own authorities for clients. Self-made certificates
// are renewed by the other store; this one reads what it writes.
CertificateStoreOptions ApiCertificatesOf(const Config& config, Logger& logger) {
  CertificateStoreOptions options = CertificatesOf(config, logger);
  if (options.self_signed) {
    options.self_signed.reset();
    options.certificate_file = config.data_dir + "/certs/tls.crt";
    options.key_file = config.data_dir + "/certs/tls.key";
  }
  options.client_ca_file = config.api_client_ca;
  options.client_names.clear();
  for (const std::string& client : config.api_clients) {
    options.client_names.push_back(client.substr(0, client.rfind('=')));
  }
  options.client_names.insert(options.client_names.end(), config.api_proxy_names.begin(),
                              config.api_proxy_names.end());
  return options;
}

KeeperOptions KeeperOptionsOf(const Config& config) {
  KeeperOptions options;
  const std::size_t slash = config.certificate_secret.find('/');
  options.secret_namespace = config.certificate_secret.substr(0, slash);
  options.secret_name = config.certificate_secret.substr(slash + 1);
  options.webhook = config.webhook_configuration;
  options.directory = config.data_dir + "/certs";
  options.rules.names = config.server_names;
  // A secret that was given, and credentials of the API server, are somebody else's to register.
  const bool own_path = config.admission_secret_file.empty() &&
                        config.admission_client_ca.empty() && config.admission_bearer_file.empty();
  if (own_path) options.path_secret_file = config.data_dir + "/admission.secret";
  return options;
}

}  // namespace

EndpointTexts AdmissionPaths(const AdmissionAccess& access) {
  const bool plain_serves = access.loopback || access.client_certificate || access.bearer;
  return PathsOf(plain_serves || !access.secret ? std::string() : *access.secret);
}

// The keeper of a self-managed installation, with a connection of its own: nothing that watches the
// cluster can hold it up.
class Credentials::SelfManagement final {
 public:
  SelfManagement(Credentials& owner, ServerSettings server)
      : owner_(owner),
        server_(std::move(server)),
        keeper_(KeeperOptionsOf(*owner.ports_.config.Current()),
                {late_api_, owner.ports_.clock, [this] { return Followed(); },
                 [this](const KeeperEvent& event) { Take(event); }}) {}

  InstallationKeeper& keeper() { return keeper_; }

 private:
  Result<ClusterApi*> Connect() {
    if (api_ == nullptr) {
      TRUCE_ASSIGN_OR_RETURN(auto session, ServerSession::Open(server_, owner_.ports_.clock, {}));
      api_ = MakeApiClient(std::move(session),
                           {.calls_max = 1, .response_bytes_max = 8 * 1024 * 1024});
    }
    return api_.get();
  }

  // Groups are those of the kinds that are mapped, and of those that XRDs define.
  FollowedPolicy Followed() const {
    FollowedPolicy out;
    const auto policy = owner_.ports_.policy.Current();
    if (policy == nullptr) return out;
    for (const MappingRule& rule : policy->identity.mappings.all()) {
      if (!rule.kind.group.empty()) out.mapped.groups.push_back(rule.kind.group);
    }
    for (const GroupKind& kind : policy->identity.composites) {
      out.mapped.groups.push_back(kind.group);
    }
    out.mapped.complete = owner_.ports_.is_ready() && policy->definitions_known;
    if (!policy->status_entry) return out;
    std::set<std::string> groups;
    for (const TypeSpec& type : policy->catalogue->types()) {
      for (const KindSpec& kind : type.kinds) groups.insert(kind.group);
    }
    out.status = StatusGuard{policy->providers, policy->restorers, {groups.begin(), groups.end()}};
    return out;
  }

  void Take(const KeeperEvent& event) {
    switch (event.kind) {
      case KeeperEvent::Kind::kPathSecret: return static_cast<void>(owner_.Reread().ok());
      case KeeperEvent::Kind::kPathPublished: return owner_.EndFormerSecrets();
      case KeeperEvent::Kind::kCertificates:
        if (owner_.certificates_ != nullptr) static_cast<void>(owner_.certificates_->Poll().ok());
        return;
      case KeeperEvent::Kind::kTrouble:
        return owner_.ports_.logger.Log(LogLevel::kWarning, "self-management fails",
                                        {{"message", std::string_view(event.message)}});
      case KeeperEvent::Kind::kDone:
      case KeeperEvent::Kind::kTroubleOver:
        return owner_.ports_.logger.Log(LogLevel::kInfo, "self-management",
                                        {{"message", std::string_view(event.message)}});
    }
  }

  Credentials& owner_;
  const ServerSettings server_;
  std::unique_ptr<ClusterApi> api_;  // of the keeper's caller
  LateApi late_api_{[this] { return Connect(); }};
  InstallationKeeper keeper_;  // last: its thread uses everything above
};

Credentials::Credentials(CredentialPorts ports) : ports_(std::move(ports)) {}

Credentials::~Credentials() = default;

Result<void> Credentials::Open(const ServerSettings& server) {
  const Config& config = *ports_.config.Current();
  TRUCE_RETURN_IF_ERROR(Reread());
  if (!config.certificate_secret.empty()) {
    self_management_ = std::make_unique<SelfManagement>(*this, server);
    TRUCE_RETURN_IF_ERROR(self_management_->keeper().Step(In(kBeginTime)));
  }
  TRUCE_ASSIGN_OR_RETURN(certificates_, OfMachine(CertificateStore::Open(
                                            CertificatesOf(config, ports_.logger), ports_.clock)));
  if (config.api_client_ca.empty()) return {};
  TRUCE_ASSIGN_OR_RETURN(
      api_certificates_,
      OfMachine(CertificateStore::Open(ApiCertificatesOf(config, ports_.logger), ports_.clock)));
  return {};
}

void Credentials::Start() {
  if (self_management_ != nullptr) self_management_->keeper().Start();
}

void Credentials::Stop() { self_management_.reset(); }

void Credentials::Wake() {
  if (self_management_ != nullptr) self_management_->keeper().Wake();
}

std::string Credentials::Rival() const {
  return self_management_ == nullptr ? std::string() : self_management_->keeper().Rival();
}

Result<void> Credentials::Reread() {
  const std::lock_guard<std::mutex> reading(reading_);
  const auto config = ports_.config.Current();
  TRUCE_ASSIGN_OR_RETURN(AdmissionAccess read, ReadAccess(*config));
  auto next = std::make_shared<AdmissionAccess>(std::move(read));
  const auto now = access_.Current();
  if (now != nullptr) {
    next->former = now->former;
    if (now->secrets && next->secrets != now->secrets) {
      next->former = std::make_shared<FormerSecrets>(*now->secrets);
      const bool others_write = config->certificate_secret.empty();
      if (others_write) next->former->EndSoon(std::chrono::steady_clock::now());
    }
  }
  access_.Replace(std::move(next));
  return {};
}

void Credentials::EndFormerSecrets() {
  const auto now = access_.Current();
  if (now->former != nullptr) now->former->EndSoon(std::chrono::steady_clock::now());
}

void Credentials::WriteMetrics(MetricWriter& writer) const {
  if (self_management_ != nullptr) self_management_->keeper().WriteMetrics(writer);
  writer.Family("truce_certificate_expiry_timestamp_seconds");
  const auto end = certificates().Current().pair->not_after().time_since_epoch();
  writer.Sample(static_cast<double>(std::chrono::duration_cast<std::chrono::seconds>(end).count()));
}

}  // namespace truce
