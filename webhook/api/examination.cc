#include "webhook/api/examination.h"

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "registry/base/counted.h"
#include "registry/base/text.h"
#include "webhook/wire/json_text.h"

namespace truce {
namespace {

using Json = nlohmann::json;
using State = Checkup::State;

constexpr std::chrono::seconds kSkewMax{5};  // leases, tokens and Events suffer beyond
constexpr std::chrono::hours kRenewBefore{7 * 24};

Checkup Ok(std::string name, std::string what) {
  return {std::move(name), State::kOk, std::move(what), {}};
}

std::string Days(std::chrono::milliseconds time) {
  return Counted(std::chrono::duration_cast<std::chrono::hours>(time).count() / 24, "day");
}

void ExamineChanges(const ExaminedServer& server, std::vector<Checkup>& out) {
  if (!server.refused_configuration.empty()) {
    out.push_back(
        {"configuration", State::kFailed,
         "the changed configuration is refused: " + server.refused_configuration,
         "correct it; until then the previous one is in force (`truce config --config FILE` "
         "says the same)"});
  }
  if (!server.refused_credentials.empty()) {
    out.push_back({"configuration", State::kFailed,
                   "changed credentials are refused: " + server.refused_credentials,
                   "correct the file; until then the previous ones are in force"});
  }
  if (server.refused_configuration.empty() && server.refused_credentials.empty()) {
    out.push_back(
        Ok("configuration", "what the files say is in force, but for what needs a restart"));
  }
}

void ExamineServer(const ExaminedServer& server, std::vector<Checkup>& out) {
  const Result<void> store = server.lacks.empty()
                                 ? server.store.Health()
                                 : Result<void>(Error{ErrorCode::kUnavailable, server.lacks});
  out.push_back(store.ok() ? Ok("store", "the registry can be written")
                           : Checkup{"store", State::kFailed, store.error().message,
                                     server.in_database
                                         ? "look at the database, and at the way there; until then "
                                           "reviews are answered 503"
                                         : "make room or repair the volume of the data directory; "
                                           "see the server's log"});
  if (!server.durability.empty()) {
    out.push_back({"durability", State::kWarning, server.durability,
                   "name a synchronous standby, or say in storeDurability what keeps a grant"});
  }
  if (!server.clocks.empty()) {
    out.push_back(
        {"clocks", State::kWarning, server.clocks,
         "set both by NTP: overrides and reservations end by the clock of whoever looks"});
  }
  if (server.health.IsReady()) {
    out.push_back(Ok("readiness", "every part is ready"));
  } else {
    std::string report = server.health.Report();
    std::string bad;
    while (!report.empty()) {
      const std::string line = report.substr(0, report.find('\n'));
      report.erase(0, line.size() + 1);
      if (line.starts_with("[-] ")) bad.append(bad.empty() ? "" : "; ").append(line.substr(4));
    }
    out.push_back({"readiness", State::kFailed, bad,
                   "until then reviews are answered 503; wait, or fix what the reason names"});
  }
  if (server.disk_failed) {
    out.push_back(
        {"disk", State::kWarning,
         "a sync of the registry failed at " + FormatTimestamp(*server.disk_failed) +
             ", as the server noted that it ended for it (exit code 6); what was "
             "acknowledged was taken from the log at the next start",
         "look for errors of the disk in the kernel's log, and move the volume to another "
         "disk; then remove disk.failure from the data directory and restart the server"});
  } else {
    out.push_back(Ok("disk", "no failed sync is on record (Linux tells of them from 4.13 on)"));
  }
  ExamineChanges(server, out);
  if (server.has_two_keepers) {
    out.push_back({"keepers", State::kWarning, std::string(kTwoKeepers), std::string(kOneKeeper)});
  }
  if (!server.trouble_of_notifier.empty()) {
    out.push_back({"notifications", State::kWarning,
                   "the last message was not taken: " + server.trouble_of_notifier,
                   "look at the receiver, at the way there, and at the URL in notifyUrlFile; what "
                   "is not taken within a day is dropped"});
  }
  const auto left = server.certificate_end - server.clock.Now();
  if (left > kRenewBefore) {
    out.push_back(Ok("certificate", "valid for another " + Days(left)));
  } else {
    out.push_back({"certificate", left.count() <= 0 ? State::kFailed : State::kWarning,
                   left.count() <= 0 ? "the server certificate is over"
                                     : "the server certificate ends in " + Days(left),
                   "renew it; the server takes changed files over without a restart"});
  }
}

void ExamineRefusals(const ExaminedServer& server, std::vector<Checkup>& out) {
  for (const Suspension& each : server.suspensions) {
    out.push_back({"refusals", State::kWarning, each.what + "; because: " + each.why, each.remedy});
  }
  if (server.suspensions.empty()) {
    out.push_back(
        Ok("refusals", "nothing suspends them; the mode is " + std::string(Name(server.mode))));
  }
}

// The API server's answer to the creation of a review of ourselves.
ApiResult<Json> Ask(ClusterApi& api, const ServedKind& kind, const Json& question,
                    Deadline deadline) {
  const auto answer = api.Create(kind, "", Dump(question), deadline);
  if (!answer.ok()) return answer.error();
  Json json = ParseJson(answer.value());
  if (json.is_object()) return json;
  return ApiError{ApiErrorKind::kMalformed, 200, "the answer is not a JSON object", std::nullopt};
}

std::string TextAt(const Json& json, const char* pointer) {
  const Json::json_pointer path(pointer);
  const bool is_text = json.contains(path) && json[path].is_string();
  return is_text ? json[path].get<std::string>() : std::string();
}

// Whether the API server answers, as whom it knows us, and what time it has.
bool ExamineCluster(const ExaminedServer& server, ClusterApi& api, Deadline deadline,
                    std::vector<Checkup>& out) {
  // Whoever is signed in may create one, and when it was created is told by the API server's clock.
  static const ServedKind kKind{"authentication.k8s.io", "v1", "SelfSubjectReview",
                                "selfsubjectreviews", false};
  const Json question = {{"apiVersion", "authentication.k8s.io/v1"}, {"kind", "SelfSubjectReview"}};
  const Timestamp before = server.clock.Now();
  const auto answer = Ask(api, kKind, question, deadline);
  const Timestamp after = server.clock.Now();
  if (!answer.ok()) {
    const bool is_old = answer.error().kind == ApiErrorKind::kNoSuchType;
    out.push_back({"cluster", is_old ? State::kWarning : State::kFailed,
                   is_old ? "the API server is older than 1.28: its time cannot be compared"
                          : "the API server does not answer: " + answer.error().message,
                   is_old ? "compare the clocks of the nodes by hand"
                          : "check the network policy, the kubeconfig and the service account"});
    // One that is too old for this answers all the same: the rest is worth examining.
    return is_old;
  }
  out.push_back(Ok(
      "cluster", "the API server answers " + TextAt(answer.value(), "/status/userInfo/username")));
  const auto theirs = ParseTimestamp(TextAt(answer.value(), "/metadata/creationTimestamp"));
  if (!theirs) return true;
  // The API server writes whole seconds.
  const auto behind = before - *theirs - std::chrono::seconds(1);
  const auto ahead = *theirs - after;
  const auto skew = std::chrono::duration_cast<std::chrono::seconds>(std::max(behind, ahead));
  if (skew <= kSkewMax) {
    out.push_back(Ok("time", "this clock and the API server's agree"));
  } else {
    out.push_back(
        {"time", State::kFailed,
         "this clock and the API server's are " + std::to_string(skew.count()) + " s apart",
         "let the nodes follow one time server (NTP)"});
  }
  return true;
}

void ExamineRights(const ExaminedServer& server, ClusterApi& api, Deadline deadline,
                   std::vector<Checkup>& out) {
  static const ServedKind kKind{"authorization.k8s.io", "v1", "SelfSubjectAccessReview",
                                "selfsubjectaccessreviews", false};
  const std::vector<NeededRight> needed = NeededRights(server.cluster, server.lease_namespace);
  std::size_t missing = 0;
  for (const NeededRight& right : needed) {
    const Json question = {{"apiVersion", "authorization.k8s.io/v1"},
                           {"kind", "SelfSubjectAccessReview"},
                           {"spec",
                            {{"resourceAttributes",
                              {{"group", right.group},
                               {"resource", right.resource},
                               {"verb", right.verb},
                               {"namespace", right.ns},
                               {"name", right.name}}}}}};
    const auto answer = Ask(api, kKind, question, deadline);
    const std::string what = right.verb + " " + right.resource +
                             (right.group.empty() ? "" : "." + right.group) +
                             (right.ns.empty() ? "" : " in namespace " + right.ns);
    const Json::json_pointer allowed("/status/allowed");
    if (answer.ok() && answer.value().contains(allowed) && answer.value()[allowed] == true)
      continue;
    ++missing;
    out.push_back({"permissions", State::kFailed,
                   answer.ok() ? "the server may not " + what + ": " + right.why
                               : "it cannot be told whether the server may " + what + ": " +
                                     answer.error().message,
                   "grant it to the server's user; the chart's ClusterRole and Role have all that "
                   "is needed"});
  }
  if (missing == 0) {
    out.push_back(Ok("permissions", "all " + std::to_string(needed.size()) + " are granted"));
  }
}

// The ProviderConfigs of which the account is not known, and what that costs.
void ExamineAccounts(const CoverageReport& coverage, std::vector<Checkup>& out) {
  constexpr std::size_t kNamedMax = 10;
  std::size_t unknown = 0;
  std::string named;
  for (const CoverageGap& gap : coverage.gaps) {
    if (gap.reason != GapReason::kAccountUnknown || ++unknown > kNamedMax) continue;
    named.append(named.empty() ? "" : ", ").append(gap.subject);
    named += " (" + Counted(gap.objects, "resource") + ")";
  }
  if (unknown == 0) {
    out.push_back(Ok("accounts", "no resource has a ProviderConfig whose account is not known"));
    return;
  }
  if (unknown > kNamedMax) named += " and " + std::to_string(unknown - kNamedMax) + " more";
  out.push_back(
      {"accounts", State::kWarning,
       "the AWS account is not known of " + named +
           ": what they declare is kept under a provisional account, so two ProviderConfigs of one "
           "account do not see each other's names, and equal names only warn",
       "name the accounts in the setting providerConfigs, or give the ProviderConfigs role ARNs "
       "that Truce can read; `truce coverage` lists all"});
}

// Whether a name that only a status shows denies.
void ExamineStatuses(const CoverageReport& coverage, std::vector<Checkup>& out) {
  const auto found =
      std::find_if(coverage.gaps.begin(), coverage.gaps.end(),
                   [](const CoverageGap& gap) { return gap.reason == GapReason::kStatusOpen; });
  if (found == coverage.gaps.end()) {
    out.push_back(Ok("statuses", "names known from a status alone deny"));
  } else {
    out.push_back({"statuses", State::kWarning, found->why, found->remedy});
  }
}

// Whether claims and composites come to Truce; the remedy is to be pasted into values of the chart.
void ExamineXrdGroups(const CoverageReport& coverage, std::vector<Checkup>& out) {
  const std::size_t missing = coverage.missing_xrd_groups.size();
  if (missing == 0) {
    out.push_back(Ok("xrd-groups", "claims and composites of all " +
                                       std::to_string(coverage.xrd_groups.size()) +
                                       " API groups of XRDs come to Truce"));
    return;
  }
  out.push_back(
      {"xrd-groups", State::kWarning,
       "claims and composites of " + std::to_string(missing) +
           " API groups of XRDs do not come to Truce, or it cannot read them: " +
           Joined(coverage.missing_xrd_groups),
       "put into the chart's values: webhook: {xrdGroups: [" + Joined(coverage.xrd_groups) + "]}"});
}

void ExamineWebhook(const ExaminedServer& server, std::vector<Checkup>& out) {
  std::size_t faults = 0;
  for (const LiveFinding& finding : server.reports->Findings()) {
    if (finding.detector != Detector::kWebhookConfiguration) continue;
    ++faults;
    out.push_back({"webhook-configuration",
                   finding.mode == Mode::kEnforce ? State::kFailed : State::kWarning, finding.cause,
                   finding.remedy});
  }
  if (faults == 0) {
    out.push_back(Ok("webhook-configuration",
                     "authority, rules, selectors and matchConditions are as they should be"));
  }
  if (server.reviews > 0) {
    out.push_back(Ok("reachability", "reviews arrive"));
  } else {
    out.push_back(
        {"reachability", State::kWarning, "no review has arrived since the start",
         "send one: kubectl create --dry-run=server -f a manifest of a covered kind; when "
         "none arrives, look at the network policy and the webhook's Service or URL"});
  }
  if (const auto as_of = server.reports->AsOf()) {
    out.push_back({"leader", State::kWarning,
                   *as_of == Timestamp{}
                       ? "no server that watches the cluster has told what it finds"
                       : "no server has told since " + FormatTimestamp(*as_of) +
                             " what it finds in the cluster: what is said of it is of then",
                   "look at /readyz of the other servers: one of them takes over within a minute"});
  } else if (!server.watcher.empty()) {
    out.push_back(Ok("leader", server.watcher + " watches the cluster for all"));
  }
  const CoverageReport coverage = server.reports->Coverage();
  ExamineAccounts(coverage, out);
  ExamineStatuses(coverage, out);
  ExamineXrdGroups(coverage, out);
  if (coverage.gaps.empty()) {
    out.push_back(
        Ok("coverage", Counted(coverage.kinds, "kind is protected", "kinds are protected")));
  } else {
    out.push_back({"coverage", State::kWarning,
                   Counted(coverage.gaps.size(), "gap") + " in what is protected",
                   "`truce coverage` names each with its remedy"});
  }
}

}  // namespace

std::vector<NeededRight> NeededRights(const std::string& cluster,
                                      const std::string& lease_namespace) {
  const std::string lease = "truce-" + cluster;
  const std::string core;
  return {
      {core, "namespaces", "get", "", "kube-system", "it tells which cluster this is"},
      {core, "namespaces", "watch", "", "", "namespaces that end are not noticed"},
      {core, "events", "watch", "", "", "tag wars are not noticed"},
      {core, "events", "create", "", "", "conflicts are not reported as Events"},
      {"apiextensions.crossplane.io", "compositeresourcedefinitions", "watch", "", "",
       "kinds of claims and composites are not known"},
      {"apiextensions.k8s.io", "customresourcedefinitions", "watch", "", "",
       "kinds that come and go are not noticed"},
      {"s3.aws.upbound.io", "buckets", "list", "", "", "what exists is not known"},
      {"s3.aws.upbound.io", "buckets", "watch", "", "", "what exists is not known"},
      {"aws.upbound.io", "providerconfigs", "list", "", "", "accounts are not known"},
      {"authentication.k8s.io", "tokenreviews", "create", "", "",
       "callers with Kubernetes tokens are answered 503"},
      {"authorization.k8s.io", "subjectaccessreviews", "create", "", "",
       "callers with Kubernetes tokens are answered 503"},
      {"coordination.k8s.io", "leases", "get", lease_namespace, lease,
       "a restored registry is not noticed"},
      {"coordination.k8s.io", "leases", "patch", lease_namespace, lease,
       "a restored registry is not noticed"},
      {"coordination.k8s.io", "leases", "list", "", lease,
       "a second registry of the cluster is not noticed"},
  };
}

std::vector<Checkup> ExamineInstallation(const ExaminedServer& server, Deadline deadline) {
  std::vector<Checkup> out;
  ExamineServer(server, out);
  ExamineRefusals(server, out);
  if (server.reports == nullptr) {
    out.push_back({"cluster", State::kWarning, "the server follows no cluster",
                   "start it with --kubeconfig or --in-cluster"});
    return out;
  }
  if (server.api == nullptr) {
    out.push_back({"cluster", State::kFailed, "the API server was not reached yet",
                   "check its address, the network policy and the credentials; the server's log "
                   "has the cause"});
    return out;
  }
  if (ExamineCluster(server, *server.api, deadline, out))
    ExamineRights(server, *server.api, deadline, out);
  ExamineWebhook(server, out);
  return out;
}

}  // namespace truce
