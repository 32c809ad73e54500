#include "webhook/api/cluster_routes.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <memory>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "policies/suspensions.h"
#include "registry/base/turnstile.h"
#include "webhook/api/described.h"
#include "webhook/api/problem.h"
#include "webhook/api/rest/call.h"
#include "webhook/api/rest/cursor.h"
#include "webhook/api/rest/rest_api.h"
#include "webhook/api/review_books.h"
#include "webhook/api/use_log.h"
#include "webhook/findings/conflicts.h"
#include "webhook/findings/coverage.h"
#include "webhook/findings/tag_war.h"
#include "webhook/findings/texts/report_baseline.h"
#include "webhook/wire/json_text.h"
#include "webhook/wire/json_writer.h"

namespace truce {

void WriteJson(const RecoveryView::Wait& wait, JsonWriter& json) {
  json.Object("kind", wait.kind, "why", wait.why);
}
void WriteJson(const BrakeView::Frozen& frozen, JsonWriter& json) {
  json.Object("kind", frozen.kind, "reason", frozen.reason);
}
void WriteJson(const BrakeView::Waiting& waiting, JsonWriter& json) {
  json.Object("kind", waiting.kind, "objects", waiting.objects, "since", waiting.since);
}

namespace {

// A report for people; more conflicts than this are no list any more.
constexpr std::size_t kReportedMax = 20000;
constexpr std::size_t kReasonBytesMax = 1024;

HttpResponse NotFollowed() {
  return ProblemResponse(
      Problem{ProblemType::kNotFound, "this server follows no cluster",
              "ask one that does, which was started with --kubeconfig or --in-cluster"});
}

Error NoReason() { return InvalidArgument("\"reason\" is not a line of text of 1 to 1024 bytes"); }

// None says as much as an empty object.
Result<nlohmann::json> ReadOptionalBody(const HttpRequest& request) {
  if (request.body.empty()) return nlohmann::json::object();
  return ReadBody(request);
}

std::optional<GroupKind> KindFrom(std::string_view text) {
  const std::size_t dot = text.find('.');
  if (dot == std::string_view::npos || dot == 0 || dot + 1 == text.size()) return std::nullopt;
  return GroupKind{std::string(text.substr(dot + 1)), std::string(text.substr(0, dot))};
}

Result<HttpResponse> RecoveryAnswer(const Result<RecoveryView>& view) {
  if (!view.ok()) return view.error();
  const RecoveryView& value = view.value();
  JsonWriter json;
  json.Object("active", value.active, "reason", value.reason, "since",
              value.active ? FormatTimestamp(value.since) : "", "resynced", value.resynced,
              "waiting", value.waits);
  return JsonResponse(json.Take());
}

class Handlers;

// One operation, and the rights that it needs.
struct Route {
  const char* method;
  const char* path;
  Result<HttpResponse> (Handlers::*handler)(RestCall&) const;
  std::initializer_list<std::string_view> parameters;
  Permission permission;
  std::string_view use = {};   // in the audit log; empty: the handler writes its own line
  bool lists_cluster = false;  // costs much
};

constexpr Permission kReads = {"ownerships", "", "get", ""};
constexpr Permission kRecovers = {"recovery", "", "update", ""};

class Handlers final {
 public:
  Handlers(const RestApi& rest, ClusterPorts ports, const TrialBook& trials, UseLog& uses)
      : rest_(rest), ports_(std::move(ports)), trials_(trials), uses_(uses) {}

  // The answer of `route` to a caller who may ask it.
  Result<HttpResponse> Answer(const Route& route, RestCall& call) const {
    if (call.caller.kind == CallerKind::kOperator) return (this->*route.handler)(call);
    // A second list at a time is refused: its caller would wait for two.
    std::optional<Turnstile::Turn> turn;
    if (route.lists_cluster) turn.emplace(listing_, "");
    if (turn && !turn->inside()) {
      return ProblemResponse(ProblemType::kTooManyRequests,
                             "another report that lists the cluster is being made");
    }
    TRUCE_ASSIGN_OR_RETURN(HttpResponse response, (this->*route.handler)(call));
    if (route.use.empty() || response.status != 200) return response;
    TRUCE_RETURN_IF_ERROR(uses_.Note(ActorOf(call.caller), route.use, call.deadline));
    return response;
  }

  Result<HttpResponse> Conflicts(RestCall& call) const {
    TRUCE_ASSIGN_OR_RETURN(const std::string output,
                           call.OneOf("output", {"json", "text", "wide"}));
    if (output != "json") return ConflictReport(output == "wide");
    TRUCE_ASSIGN_OR_RETURN(const std::size_t limit, call.Limit());
    TRUCE_ASSIGN_OR_RETURN(const auto place, seal_.Open(call, 1));
    TRUCE_ASSIGN_OR_RETURN(
        const ConflictPage page,
        ports_.conflicts(KeyText{place ? place->front() : std::string()}, limit));
    const std::vector<TagWar> wars = Wars();
    JsonWriter json;
    json.BeginObject().ListField("items", page.conflicts,
                                 [&](const Conflict& conflict, JsonWriter& out) {
                                   out.Put(ConflictView{conflict, WarAt(wars, conflict.owner.key)});
                                 });
    if (!page.last.empty()) json.Field("nextCursor", seal_.Seal(call, {page.last.text}));
    WriteAsOf(AsOf(), json);
    return JsonResponse(json.EndObject().Take());
  }

  Result<HttpResponse> Coverage(RestCall& call) const {
    if (ports_.reports == nullptr) return NotFollowed();
    TRUCE_ASSIGN_OR_RETURN(const std::string output,
                           call.OneOf("output", {"json", "text", "wide"}));
    const CoverageReport report = ports_.reports->Coverage();
    const auto suspended = ports_.suspensions ? ports_.suspensions() : std::vector<Suspension>();
    if (output == "json") return JsonResponse(CoverageJson(report, suspended, AsOf()));
    std::string text;
    for (const Suspension& each : suspended) {
      text += "SUSPENDED  " + each.what + "\n           because: " + each.why + "\n           " +
              each.remedy + "\n";
    }
    return TextResponse(report.gaps.size(),
                        text + WithAsOf(AsOf(), CoverageText(report, output == "wide")));
  }

  Result<HttpResponse> Baseline(RestCall& call) const {
    if (ports_.reports == nullptr) return NotFollowed();
    TRUCE_ASSIGN_OR_RETURN(const std::string output,
                           call.OneOf("output", {"json", "text", "junit", "markdown"}));
    std::string (*render)(const BaselineReport&) = nullptr;
    if (output == "text") render = &BaselineText;
    if (output == "junit") render = &BaselineJunit;
    if (output == "markdown") render = &BaselineMarkdown;
    TRUCE_ASSIGN_OR_RETURN(BaselineReport report, ports_.reports->Baseline());
    TRUCE_ASSIGN_OR_RETURN(report.names, ports_.reports->Names());
    if (render == nullptr) return JsonResponse(BaselineJson(report, AsOf()));
    const std::string text = render(report);
    return TextResponse(report.conflicts.size(), output == "junit" ? text : WithAsOf(AsOf(), text));
  }

  Result<HttpResponse> Names(RestCall& call) const {
    if (ports_.reports == nullptr) return NotFollowed();
    TRUCE_ASSIGN_OR_RETURN(const std::string output, call.OneOf("output", {"json", "text"}));
    TRUCE_ASSIGN_OR_RETURN(const NameReport report, ports_.reports->Names());
    if (output == "json") return JsonResponse(NamesJson(report));
    return TextResponse(report.violating, NameReportText(report));
  }

  Result<HttpResponse> Trial(RestCall& call) const { return AnswerTrial(trials_, call.request); }

  Result<HttpResponse> Recovery(RestCall& /*call*/) const {
    if (ports_.controls == nullptr) return NotFollowed();
    return RecoveryAnswer(ports_.controls->Recovery());
  }

  Result<HttpResponse> StartRecovery(RestCall& call) const {
    if (ports_.controls == nullptr) return NotFollowed();
    TRUCE_ASSIGN_OR_RETURN(const nlohmann::json body, ReadOptionalBody(call.request));
    const std::string reason = TextIn(body, "reason");
    if (!IsLine(reason, kReasonBytesMax)) return NoReason();
    return RecoveryAnswer(ports_.controls->StartRecovery({ActorOf(call.caller), reason}));
  }

  Result<HttpResponse> FinishRecovery(RestCall& call) const {
    if (ports_.controls == nullptr) return NotFollowed();
    TRUCE_ASSIGN_OR_RETURN(const nlohmann::json body, ReadOptionalBody(call.request));
    const auto force = body.find("force");
    const bool is_set = force != body.end();
    if (is_set && !force->is_boolean()) return InvalidArgument("\"force\" is not true or false");
    const bool is_forced = is_set && force->get<bool>();
    return RecoveryAnswer(ports_.controls->EndRecovery(is_forced, {ActorOf(call.caller)}));
  }

  Result<HttpResponse> Brake(RestCall& /*call*/) const {
    if (ports_.controls == nullptr) return NotFollowed();
    TRUCE_ASSIGN_OR_RETURN(const BrakeView view, ports_.controls->Brake());
    JsonWriter json;
    json.BeginObject();
    WriteAsOf(AsOf(), json);
    json.Fields("nominated", view.nominated, "heldBack", view.held_back, "frozen", view.frozen,
                "waiting", view.waiting);
    return JsonResponse(json.EndObject().Take());
  }

  Result<HttpResponse> ReleaseBrake(RestCall& call) const {
    if (ports_.controls == nullptr) return NotFollowed();
    TRUCE_ASSIGN_OR_RETURN(const nlohmann::json body, ReadOptionalBody(call.request));
    const std::string reason = TextIn(body, "reason");
    if (!IsLine(reason, kReasonBytesMax)) return NoReason();
    std::optional<GroupKind> kind;
    if (body.contains("kind")) {
      kind = KindFrom(TextIn(body, "kind"));
      if (!kind)
        return InvalidArgument(
            "\"kind\" is not of the form KIND.GROUP, as Bucket.s3.aws.upbound.io");
    }
    TRUCE_ASSIGN_OR_RETURN(const std::uint64_t released,
                           ports_.controls->ReleaseBrake(kind, {ActorOf(call.caller), reason}));
    return JsonResponse(JsonWriter().Object("released", released).Take());
  }

 private:
  std::vector<TagWar> Wars() const {
    return ports_.reports ? ports_.reports->Wars() : std::vector<TagWar>();
  }

  std::optional<Timestamp> AsOf() const {
    return ports_.reports ? ports_.reports->AsOf() : std::nullopt;
  }

  Result<HttpResponse> ConflictReport(bool wide) const {
    std::vector<Conflict> all;
    KeyText after;
    do {
      TRUCE_ASSIGN_OR_RETURN(ConflictPage page, ports_.conflicts(after, kPageMax));
      after = page.last;
      auto& found = page.conflicts;
      all.insert(all.end(), found.begin(), found.end());
    } while (!after.empty() && all.size() < kReportedMax);
    return TextResponse(all.size(), WithAsOf(AsOf(), ConflictsText(all, Wars(), wide)));
  }

  const RestApi& rest_;
  const ClusterPorts ports_;
  const TrialBook& trials_;
  UseLog& uses_;
  const CursorSeal seal_{rest_.cursor_key()};
  mutable Turnstile listing_{1, 1};
};

const std::array<Route, 10> kRoutes = {{
    {"GET",
     "/api/v1/conflicts",
     &Handlers::Conflicts,
     {"limit", "cursor", "output"},
     kReads,
     "conflicts"},
    {"GET", "/api/v1/coverage", &Handlers::Coverage, {"output"}, kReads, "coverage"},
    {"GET", "/api/v1/baseline", &Handlers::Baseline, {"output"}, kReads, "baseline", true},
    {"GET", "/api/v1/names", &Handlers::Names, {"output"}, kReads, "names", true},
    {"GET", "/api/v1/trial", &Handlers::Trial, {"since"}, kReads, "trial"},
    {"GET", "/api/v1/recovery", &Handlers::Recovery, {}, kReads, "recovery"},
    {"GET", "/api/v1/brake", &Handlers::Brake, {}, kReads, "brake"},
    {"POST", "/api/v1/recovery/start", &Handlers::StartRecovery, {}, kRecovers},
    {"POST", "/api/v1/recovery/finish", &Handlers::FinishRecovery, {}, kRecovers},
    {"POST", "/api/v1/brake/release", &Handlers::ReleaseBrake, {}, {"brake", "", "update", ""}},
}};

}  // namespace

std::vector<HttpRoute> ClusterRoutes(const RestApi& rest, ClusterPorts ports,
                                     const TrialBook& trials, UseLog& uses) {
  const auto handlers = std::make_shared<const Handlers>(rest, std::move(ports), trials, uses);
  std::vector<HttpRoute> routes;
  for (const Route& route : kRoutes) {
    const auto answer = [handlers, &route](RestCall& call) {
      return handlers->Answer(route, call);
    };
    routes.push_back(
        rest.Routed({route.method, route.path, route.parameters, route.permission, answer}));
  }
  return routes;
}

}  // namespace truce
