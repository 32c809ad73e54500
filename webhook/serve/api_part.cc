#include "webhook/serve/api_part.h"

#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "policies/suspensions.h"
#include "registry/store/administration.h"
#include "webhook/admission/codec.h"
#include "webhook/api/auth/access_rules.h"
#include "webhook/api/rest/operations.h"
#include "webhook/findings/conflicts.h"
#include "webhook/publish/detection.h"
#include "webhook/wire/base64.h"
#include "webhook/wire/digest.h"

namespace truce {
namespace {

constexpr std::chrono::seconds kConflictsTime{10};
constexpr std::chrono::seconds kCursorsTime{5};
constexpr char kCursorKey[] = "cursor.key";
constexpr std::size_t kCursorKeyBytes = 32;

Deadline MonotonicTime() { return std::chrono::steady_clock::now(); }

}  // namespace

ApiPart::Vouchers::Vouchers(ClusterApi& api)
    : cluster_tokens(api),
      cluster_access(api),
      tokens(cluster_tokens, MonotonicTime),
      access(cluster_access, MonotonicTime) {}

ApiPart::ApiPart(ApiPartPorts ports, const Config& config)
    : ports_(std::move(ports)),
      vouchers_(ports_.cluster ? std::make_unique<Vouchers>(ports_.cluster->api) : nullptr),
      access_(vouchers_ ? &vouchers_->tokens : nullptr, vouchers_ ? &vouchers_->access : nullptr),
      rest_(RestPortsOf(config)),
      uses_(ports_.store, ports_.clock) {}

Result<void> ApiPart::Configure(const Config& config) {
  TRUCE_ASSIGN_OR_RETURN(AccessRules rules, AccessRulesOf(config));
  access_.SetRules(std::make_shared<const AccessRules>(std::move(rules)));
  return {};
}

void ApiPart::ShareCursors() {
  if (!ports_.store.is_remote()) return;
  std::string key;
  const auto share = [&](Administration& books) {
    key = books.Setting(kCursorKey).value_or("");
    if (!key.empty()) return;
    key = EncodeBase64Url(RandomBytes(kCursorKeyBytes));
    books.PutSetting(kCursorKey, key);
  };
  // Where it fails a list that goes on at another server begins again.
  if (Administer(ports_.store, ports_.clock.Now(), In(kCursorsTime), share).ok()) {
    rest_.SetCursorKey(std::move(key));
  }
}

Result<bool> ApiPart::SpeaksFor(const AdmissionRequest& review, std::string_view ns,
                                Deadline deadline) {
  Caller caller;
  caller.kind = CallerKind::kKubernetes;
  caller.name = review.user;
  caller.user.name = review.user;
  caller.user.groups.assign(review.groups.begin(), review.groups.end());
  return access_.SpeaksFor(caller, ns, deadline);
}

std::vector<HttpRoute> ApiPart::Routes() {
  std::vector<HttpRoute> routes = rest_.Routes();
  ClusterReports* const reports = ports_.cluster ? &ports_.cluster->reports : nullptr;
  for (const std::vector<HttpRoute>& more :
       {FindingRoutes(rest_, reports), OverrideRoutes(rest_, ports_.overrides),
        OperationRoutes({rest_, ports_.store, ports_.clock, RandomIds()}),
        BackupRoutes(rest_, ports_.copy, uses_),
        DenialRoutes({rest_, ports_.store, ports_.clock, RandomIds()}, ports_.denials),
        ClusterRoutes(rest_, Cluster(), ports_.trials, uses_)}) {
    routes.insert(routes.end(), more.begin(), more.end());
  }
  return routes;
}

void ApiPart::WriteFindings(const std::vector<KeyText>& keys, JsonWriter& json) const {
  std::vector<LiveFinding> findings = ports_.cluster->reports.Findings();
  std::erase_if(findings, [this](const LiveFinding& finding) {
    return ports_.cluster->reports.Mutes().Hides(finding);
  });
  WriteFindingsOf(std::move(findings), keys, json);
}

RestPorts ApiPart::RestPortsOf(const Config& config) {
  RestPorts ports{ports_.store, ports_.clock,   RandomIds(),   ports_.policy,
                  access_,      ports_.denials, ports_.version};
  ports.refused = &ports_.refused;
  ports.check_bytes_max = static_cast<std::size_t>(config.check_bytes_max);
  if (!ports_.cluster) return ports;
  ports.write_findings = [this](const auto& keys, JsonWriter& json) { WriteFindings(keys, json); };
  ports.deletions_unsent = [this] { return DeletionsUnsentBy(ports_.cluster->reports.Findings()); };
  return ports;
}

ClusterPorts ApiPart::Cluster() const {
  ClusterPorts ports{[this](const KeyText& after, std::size_t limit) -> Result<ConflictPage> {
    ConflictPage page;
    const auto look = [&](const AllFacts& facts) { page = ConflictsAfter(facts, after, limit); };
    TRUCE_RETURN_IF_ERROR(ports_.store.Read(look, In(kConflictsTime)));
    return page;
  }};
  if (!ports_.cluster) return ports;
  ports.reports = &ports_.cluster->reports;
  ports.controls = &ports_.cluster->controls;
  ports.suspensions = [this] {
    return SuspensionsAt(*ports_.policy.Current(), ports_.clock.Now());
  };
  return ports;
}

}  // namespace truce
