#include "webhook/serve/self_management.h"

#include <set>
#include <utility>

#include "webhook/kube/api_client.h"

namespace truce {
namespace {

// Of the first look: a Pod that starts while the API server is away must listen all the same.
constexpr std::chrono::seconds kBeginTime{5};

KeeperOptions OptionsOf(const Config& config) {
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

MappedGroups GroupsOf(const MappingRules& rules, bool complete) {
  MappedGroups mapped;
  for (const MappingRule& rule : rules.all()) {
    if (!rule.kind.group.empty()) mapped.groups.push_back(rule.kind.group);
  }
  mapped.complete = complete;
  return mapped;
}

std::optional<StatusGuard> StatusGuardOf(const AdmissionPolicy& policy) {
  if (!policy.status_entry) return std::nullopt;
  std::set<std::string> groups;
  for (const TypeSpec& type : policy.catalogue->types()) {
    for (const KindSpec& kind : type.kinds) groups.insert(kind.group);
  }
  return StatusGuard{policy.providers, policy.restorers, {groups.begin(), groups.end()}};
}

SelfManagement::SelfManagement(const Config& config, ServerSettings server,
                               SelfManagementPorts ports)
    : server_(std::move(server)),
      ports_(std::move(ports)),
      keeper_(OptionsOf(config),
              {[this] { return Api(); }, ports_.clock, ports_.groups, ports_.on_certificates,
               [this](const KeeperEvent& event) { Tell(event); }, ports_.status,
               ports_.on_path_secret, ports_.on_path_published}) {}

SelfManagement::~SelfManagement() = default;

Result<void> SelfManagement::Begin() {
  return keeper_.Step(std::chrono::steady_clock::now() + kBeginTime);
}

ClusterApi* SelfManagement::Api() {
  if (api_ != nullptr) return api_.get();
  auto session = ServerSession::Open(server_, ports_.clock, {});
  if (!session.ok()) {
    Tell({KeeperEvent::Kind::kTrouble, session.error().message});
    return nullptr;
  }
  session_ = std::move(session).value();
  api_ = MakeApiClient(session_, {.calls_max = 1, .response_bytes_max = 8 * 1024 * 1024});
  return api_.get();
}

void SelfManagement::Tell(const KeeperEvent& event) const {
  const bool is_trouble = event.kind == KeeperEvent::Kind::kTrouble;
  ports_.logger.Log(is_trouble ? LogLevel::kWarning : LogLevel::kInfo,
                    is_trouble ? "self-management fails" : "self-management",
                    {{"message", std::string_view(event.message)}});
}

}  // namespace truce
