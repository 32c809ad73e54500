#include "webhook/api/cluster_routes.h"

#include <algorithm>
#include <charconv>
#include <memory>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "policies/suspensions.h"
#include "webhook/api/cluster_json.h"
#include "webhook/api/problem.h"
#include "webhook/api/rest/call.h"
#include "webhook/findings/conflicts.h"
#include "webhook/findings/coverage.h"
#include "webhook/findings/tag_war.h"
#include "webhook/findings/texts/report_baseline.h"
#include "webhook/wire/json_text.h"
#include "webhook/wire/json_writer.h"

namespace truce {
namespace {

// A report for people; more conflicts than this are no list any more.
constexpr std::size_t kReportedMax = 20000;
constexpr std::size_t kReasonBytesMax = 1024;
constexpr const char* kOperator = "operator";

HttpResponse NotFollowed() {
  return ProblemResponse(
      Problem{ProblemType::kNotFound, "this server follows no cluster",
              "ask one that does, which was started with --kubeconfig or --in-cluster"});
}

HttpResponse Malformed(std::string detail) {
  return ProblemResponse(ProblemType::kMalformed, std::move(detail));
}

HttpResponse NoReason() { return Malformed("\"reason\" is not a line of text of 1 to 1024 bytes"); }

HttpResponse ForPeople(std::size_t count, std::string_view text) {
  JsonWriter json;
  json.BeginObject().NumberField("count", static_cast<std::int64_t>(count)).Field("text", text);
  return JsonResponse(json.EndObject().Take());
}

std::string_view Output(const HttpRequest& request) {
  return request.Query("output").value_or(std::string_view("json"));
}

// Digits only; nothing when it is no number.
std::optional<std::size_t> Limit(const HttpRequest& request) {
  const auto text = request.Query("limit");
  if (!text) return kPageDefault;
  std::size_t limit = 0;
  const auto [end, code] = std::from_chars(text->data(), text->data() + text->size(), limit);
  if (code != std::errc() || end != text->data() + text->size() || limit == 0) return std::nullopt;
  return std::min(limit, kPageMax);
}

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
  json.BeginObject()
      .Field("active", value.active)
      .Field("reason", value.reason)
      .Field("since", value.active ? FormatTimestamp(value.since) : std::string())
      .Field("resynced", value.resynced)
      .Key("waiting")
      .BeginArray();
  for (const RecoveryView::Wait& wait : value.waits) {
    json.BeginObject().Field("kind", wait.kind).Field("why", wait.why).EndObject();
  }
  return JsonResponse(json.EndArray().EndObject().Take());
}

class Handlers final {
 public:
  explicit Handlers(ClusterPorts ports) : ports_(ports) {}

  Result<HttpResponse> Conflicts(const HttpRequest& request, const std::string& /*actor*/) const {
    const std::string_view output = Output(request);
    if (output == "text" || output == "wide") return ConflictReport(output == "wide");
    if (output != "json") return Malformed("output is json, text or wide");
    const auto limit = Limit(request);
    if (!limit) return Malformed("limit is not a number above 0");
    const KeyText after{std::string(request.Query("cursor").value_or(std::string_view()))};
    TRUCE_ASSIGN_OR_RETURN(const ConflictPage page, ports_.conflicts.Conflicts(after, *limit));
    const std::vector<TagWar> wars = Wars();
    JsonWriter json;
    json.BeginObject().Key("items").BeginArray();
    for (const Conflict& conflict : page.conflicts) {
      WriteConflict(conflict, WarAt(wars, conflict.owner.key), json);
    }
    json.EndArray();
    if (!page.last.empty()) json.Field("nextCursor", page.last.text);
    WriteAsOf(AsOf(), json);
    return JsonResponse(json.EndObject().Take());
  }

  Result<HttpResponse> Coverage(const HttpRequest& request, const std::string& /*actor*/) const {
    if (ports_.reports == nullptr) return NotFollowed();
    const std::string_view output = Output(request);
    if (output != "json" && output != "text" && output != "wide") {
      return Malformed("output is json, text or wide");
    }
    const CoverageReport report = ports_.reports->Coverage();
    const auto suspended = ports_.suspensions ? ports_.suspensions() : std::vector<Suspension>();
    if (output == "json") return JsonResponse(CoverageJson(report, suspended, AsOf()));
    std::string text;
    for (const Suspension& each : suspended) {
      text += "SUSPENDED  " + each.what + "\n           because: " + each.why + "\n           " +
              each.remedy + "\n";
    }
    return ForPeople(report.gaps.size(),
                     text + WithAsOf(AsOf(), CoverageText(report, output == "wide")));
  }

  Result<HttpResponse> Baseline(const HttpRequest& request, const std::string& /*actor*/) const {
    if (ports_.reports == nullptr) return NotFollowed();
    const std::string_view output = Output(request);
    std::string (*render)(const BaselineReport&) = nullptr;
    if (output == "text") render = &BaselineText;
    if (output == "junit") render = &BaselineJunit;
    if (output == "markdown") render = &BaselineMarkdown;
    if (render == nullptr && output != "json") {
      return Malformed("output is json, text, junit or markdown");
    }
    TRUCE_ASSIGN_OR_RETURN(BaselineReport report, ports_.reports->Baseline());
    TRUCE_ASSIGN_OR_RETURN(report.names, ports_.reports->Names());
    if (render == nullptr) return JsonResponse(BaselineJson(report, AsOf()));
    const std::string text = render(report);
    return ForPeople(report.conflicts.size(), output == "junit" ? text : WithAsOf(AsOf(), text));
  }

  Result<HttpResponse> Names(const HttpRequest& request, const std::string& /*actor*/) const {
    if (ports_.reports == nullptr) return NotFollowed();
    const std::string_view output = Output(request);
    if (output != "json" && output != "text") return Malformed("output is json or text");
    TRUCE_ASSIGN_OR_RETURN(const NameReport report, ports_.reports->Names());
    if (output == "json") return JsonResponse(NamesJson(report));
    return ForPeople(report.violating, NameReportText(report));
  }

  Result<HttpResponse> Recovery(const HttpRequest& /*request*/,
                                const std::string& /*actor*/) const {
    if (ports_.controls == nullptr) return NotFollowed();
    return RecoveryAnswer(ports_.controls->Recovery());
  }

  Result<HttpResponse> StartRecovery(const HttpRequest& request, const std::string& actor) const {
    if (ports_.controls == nullptr) return NotFollowed();
    TRUCE_ASSIGN_OR_RETURN(const nlohmann::json body, ReadOptionalBody(request));
    const std::string reason = TextIn(body, "reason");
    if (!IsLine(reason, kReasonBytesMax)) return NoReason();
    return RecoveryAnswer(ports_.controls->StartRecovery({actor, reason}));
  }

  Result<HttpResponse> FinishRecovery(const HttpRequest& request, const std::string& actor) const {
    if (ports_.controls == nullptr) return NotFollowed();
    TRUCE_ASSIGN_OR_RETURN(const nlohmann::json body, ReadOptionalBody(request));
    const auto force = body.find("force");
    const bool is_set = force != body.end();
    if (is_set && !force->is_boolean()) return Malformed("\"force\" is not true or false");
    const bool is_forced = is_set && force->get<bool>();
    return RecoveryAnswer(ports_.controls->EndRecovery(is_forced, {actor}));
  }

  Result<HttpResponse> Brake(const HttpRequest& /*request*/, const std::string& /*actor*/) const {
    if (ports_.controls == nullptr) return NotFollowed();
    TRUCE_ASSIGN_OR_RETURN(const BrakeView view, ports_.controls->Brake());
    JsonWriter json;
    json.BeginObject();
    WriteAsOf(AsOf(), json);
    json.NumberField("nominated", static_cast<std::int64_t>(view.nominated))
        .NumberField("heldBack", static_cast<std::int64_t>(view.held_back))
        .Key("frozen")
        .BeginArray();
    for (const BrakeView::Frozen& frozen : view.frozen) {
      json.BeginObject().Field("kind", frozen.kind).Field("reason", frozen.reason).EndObject();
    }
    json.EndArray().Key("waiting").BeginArray();
    for (const BrakeView::Waiting& waiting : view.waiting) {
      json.BeginObject()
          .Field("kind", waiting.kind)
          .NumberField("objects", static_cast<std::int64_t>(waiting.objects))
          .Field("since", FormatTimestamp(waiting.since))
          .EndObject();
    }
    return JsonResponse(json.EndArray().EndObject().Take());
  }

  Result<HttpResponse> ReleaseBrake(const HttpRequest& request, const std::string& actor) const {
    if (ports_.controls == nullptr) return NotFollowed();
    TRUCE_ASSIGN_OR_RETURN(const nlohmann::json body, ReadOptionalBody(request));
    const std::string reason = TextIn(body, "reason");
    if (!IsLine(reason, kReasonBytesMax)) return NoReason();
    std::optional<GroupKind> kind;
    if (body.contains("kind")) {
      kind = KindFrom(TextIn(body, "kind"));
      if (!kind)
        return Malformed("\"kind\" is not of the form KIND.GROUP, as Bucket.s3.aws.upbound.io");
    }
    TRUCE_ASSIGN_OR_RETURN(const std::uint64_t released,
                           ports_.controls->ReleaseBrake(kind, {actor, reason}));
    JsonWriter json;
    json.BeginObject().NumberField("released", static_cast<std::int64_t>(released));
    return JsonResponse(json.EndObject().Take());
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
      TRUCE_ASSIGN_OR_RETURN(ConflictPage page, ports_.conflicts.Conflicts(after, kPageMax));
      after = page.last;
      auto& found = page.conflicts;
      all.insert(all.end(), found.begin(), found.end());
    } while (!after.empty() && all.size() < kReportedMax);
    return ForPeople(all.size(), WithAsOf(AsOf(), ConflictsText(all, Wars(), wide)));
  }

  ClusterPorts ports_;
};

}  // namespace

std::vector<ClusterOperation> ClusterOperations(ClusterPorts ports) {
  const auto shared = std::make_shared<const Handlers>(ports);
  using Handler = Result<HttpResponse> (Handlers::*)(const HttpRequest&, const std::string&) const;
  const auto bound = [&](Handler handler) {
    return [shared, handler](const HttpRequest& request, const std::string& actor) {
      return AnswerOf(((*shared).*handler)(request, actor));
    };
  };
  return {
      {"GET", "/api/v1/conflicts", bound(&Handlers::Conflicts)},
      {"GET", "/api/v1/coverage", bound(&Handlers::Coverage)},
      {"GET", "/api/v1/baseline", bound(&Handlers::Baseline)},
      {"GET", "/api/v1/names", bound(&Handlers::Names)},
      {"GET", "/api/v1/recovery", bound(&Handlers::Recovery)},
      {"POST", "/api/v1/recovery/start", bound(&Handlers::StartRecovery)},
      {"POST", "/api/v1/recovery/finish", bound(&Handlers::FinishRecovery)},
      {"GET", "/api/v1/brake", bound(&Handlers::Brake)},
      {"POST", "/api/v1/brake/release", bound(&Handlers::ReleaseBrake)},
  };
}

std::vector<HttpRoute> ClusterRoutes(ClusterPorts ports) {
  std::vector<HttpRoute> routes;
  for (ClusterOperation& each : ClusterOperations(ports)) {
    const bool has_body = std::string_view(each.method) == "POST";
    routes.push_back({each.method, each.path, RouteMatch::kExact,
                      has_body ? "application/json" : "",
                      [handler = std::move(each.handler)](HttpRequest& request) {
                        return handler(request, kOperator);
                      }});
  }
  return routes;
}

}  // namespace truce
