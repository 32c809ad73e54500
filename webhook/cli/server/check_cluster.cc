#include "webhook/cli/server/check_cluster.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "webhook/cli/server/server_finder.h"
#include "webhook/kube/cluster_api.h"
#include "webhook/kube/kube_config.h"
#include "webhook/wire/json_text.h"

namespace truce {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kDenied = "denied the request: ";
// No type of the catalogue: only Truce refuses it, the schema does not.
constexpr const char* kProbeType = "truce/Probe";

// One creation: admitted, refused with `text`, or neither.
struct Tried {
  bool admitted = false;
  std::string text;
  std::optional<ApiResponse> failure;
  std::vector<std::string> warnings = {};
};

ApiResponse ProblemReply(int status, std::string detail, const ApiResponse& reply) {
  return {status, Dump(Json{{"detail", std::move(detail)}}), reply.retry_after};
}

bool IsCheck(const Json& item) {
  return TextIn(item, "kind") == "OwnershipCheck" &&
         TextIn(item, "apiVersion").starts_with("truce.dev/");
}

Json CheckOf(Json spec) {
  return {{"apiVersion", "truce.dev/v1alpha1"},
          {"kind", "OwnershipCheck"},
          {"metadata", {{"generateName", "truce-check-"}}},
          {"spec", std::move(spec)}};
}

// A check asks for itself; other objects are its manifests.
Json CheckAbout(const Json& item) {
  return IsCheck(item) ? CheckOf(item.value("spec", Json::object()))
                       : CheckOf({{"manifests", Json::array({item})}});
}

Tried Read(const ApiResponse& reply) {
  if (reply.status == 200 || reply.status == 201) return {true, {}, {}, reply.warnings};
  const Json status = ParseJson(reply.body);
  const std::string message = status.is_object() ? TextIn(status, "message") : std::string();
  const std::size_t denied = message.find(kDenied);
  if (denied != std::string::npos) {
    return {false, message.substr(denied + kDenied.size()), {}, reply.warnings};
  }
  const std::string detail =
      "the API server answered " + std::to_string(reply.status) + ": " + message;
  if (reply.status == 404) {
    return {false, {}, ProblemReply(403, detail + "; is Truce installed there?", reply)};
  }
  // Advice for a status of Truce's own (a token to give) does not help with the API server's.
  const bool is_no = ExitCodeOfStatus(reply.status) == ExitCode::kNo;
  return {false, {}, ProblemReply(is_no ? 403 : reply.status, detail, reply)};
}

// One line of cause, the rest is the remedy.
Json FindingOf(const std::string& text, const char* mode) {
  const std::size_t end = text.find('\n');
  const std::string cause = text.substr(0, end);
  std::string remedy = end == std::string::npos ? std::string() : text.substr(end + 1);
  std::replace(remedy.begin(), remedy.end(), '\n', ' ');
  return {{"rule", "admission"},
          {"mode", mode},
          {"resource", cause},
          {"cause", cause},
          {"remedy", std::move(remedy)}};
}

Result<Tried> Create(ApiConnection& server, const std::string& ns, const Json& check,
                     Deadline deadline) {
  ApiQuestion question;
  question.path = "/apis/truce.dev/v1alpha1/namespaces/" + EncodeSegment(ns) + "/ownershipchecks";
  question.parameters = {{"dryRun", "All"}};
  question.body = Dump(check);
  TRUCE_ASSIGN_OR_RETURN(const ApiResponse reply, server.Send(question, deadline));
  return Read(reply);
}

// Nobody judged: no answer, and none will come by waiting.
Error NobodyJudged() {
  return InvalidArgument(
      "the cluster does not ask Truce about OwnershipChecks: its webhook configuration is missing "
      "or leaves them out");
}

// Asks about a batch in few creations.
class Batch final {
 public:
  Batch(ApiConnection& server, const Json& items, Deadline deadline)
      : server_(server),
        items_(items),
        deadline_(deadline),
        findings_(items.size(), Json::array()) {}

  // Those of one namespace: together, and each alone only where something is said of them.
  Result<std::optional<ApiResponse>> Ask(const std::string& ns,
                                         const std::vector<std::size_t>& which) {
    Json manifests = Json::array();
    for (const std::size_t i : which) {
      if (!IsCheck(items_[i])) manifests.push_back(items_[i]);
    }
    Tried all;
    const bool is_asked = manifests.size() > 1;
    if (is_asked) {
      TRUCE_ASSIGN_OR_RETURN(all, Try(ns, CheckOf({{"manifests", std::move(manifests)}})));
      if (all.failure) return std::move(all.failure);
    }
    const bool is_clean = is_asked && all.admitted && all.warnings.empty();
    bool is_refused = false;
    bool is_warned = false;
    for (const std::size_t i : which) {
      if (!IsCheck(items_[i]) && is_clean) continue;
      TRUCE_ASSIGN_OR_RETURN(Tried one, Try(ns, CheckAbout(items_[i])));
      if (one.failure) return std::move(one.failure);
      is_refused = is_refused || !one.admitted;
      is_warned = is_warned || !one.warnings.empty();
      Note(i, one);
    }
    // Only findings that the objects have together.
    if (is_refused || all.admitted) all.text.clear();
    if (is_warned) all.warnings.clear();
    if (is_asked) Note(which.back(), all);
    return std::optional<ApiResponse>();
  }

  Result<Tried> Try(const std::string& ns, const Json& check) {
    return Create(server_, ns, check, deadline_);
  }

  std::string Answer() const {
    Json items = Json::array();
    for (const Json& findings : findings_) items.push_back({{"findings", findings}});
    return Dump(Json{{"items", std::move(items)}});
  }

 private:
  void Note(std::size_t item, const Tried& tried) {
    if (!tried.text.empty()) findings_[item].push_back(FindingOf(tried.text, "enforce"));
    for (const std::string& warning : tried.warnings) {
      findings_[item].push_back(FindingOf(warning, "warn"));
    }
  }

  ApiConnection& server_;
  const Json& items_;
  const Deadline deadline_;
  std::vector<Json> findings_;
};

}  // namespace

Result<std::unique_ptr<ApiConnection>> ClusterChecks::Open(const ApiFlags& flags,
                                                           const CommandIo& io, std::string ns) {
  TRUCE_ASSIGN_OR_RETURN(ServerPlace place, ApiServerOf(flags, io));
  TRUCE_ASSIGN_OR_RETURN(auto server, ConnectTo(std::move(place), {}));
  return std::unique_ptr<ApiConnection>(
      std::make_unique<ClusterChecks>(std::move(server), std::move(ns)));
}

Result<ApiResponse> ClusterChecks::Send(const ApiQuestion& question, Deadline deadline) {
  const Json body = ParseJson(question.body);
  const Json items = body.is_object() ? body.value("items", Json::array()) : Json::array();
  Batch batch(*server_, items, deadline);
  if (!is_judged_) {
    const Json asked = {{"type", kProbeType}, {"name", "probe"}};
    const Json probe = CheckOf({{"declarations", Json::array({asked})}});
    TRUCE_ASSIGN_OR_RETURN(Tried tried, batch.Try(ns_, probe));
    if (tried.failure) return *std::move(tried.failure);
    if (tried.admitted) return NobodyJudged();
    is_judged_ = true;
  }
  std::map<std::string, std::vector<std::size_t>> by_namespace;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::string ns = TextIn(items[i].value("metadata", Json::object()), "namespace");
    by_namespace[ns.empty() ? ns_ : ns].push_back(i);
  }
  for (const auto& [ns, which] : by_namespace) {
    TRUCE_ASSIGN_OR_RETURN(std::optional<ApiResponse> failure, batch.Ask(ns, which));
    if (failure) return *std::move(failure);
  }
  return ApiResponse{200, batch.Answer(), std::nullopt};
}

}  // namespace truce
