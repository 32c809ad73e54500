#include "webhook/api/cluster_routes.h"

#include <algorithm>
#include <charconv>
#include <memory>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

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

HttpResponse RecoveryAnswer(const Result<RecoveryView>& view) {
  if (!view.ok()) {
    if (view.error().code == ErrorCode::kConflict) {
      return ProblemResponse(ProblemType::kConflict, view.error().message);
    }
    return ProblemResponse(view.error());
  }
  const RecoveryView& value = view.value();
  JsonWriter json;
  json.BeginObject()
      .Field("active", value.active)
      .Field("reason", value.reason)
      .Field("since", value.active ? FormatTimestamp(value.since) : std::string())
      .Field("resynced", value.resynced)
      .EndObject();
  return JsonResponse(json.Take());
}

class Handlers final {
 public:
  explicit Handlers(ClusterPorts ports) : ports_(std::move(ports)) {}

  HttpResponse Conflicts(const HttpRequest& request, const std::string& /*actor*/) const {
    const std::string_view output = Output(request);
    if (output == "text" || output == "wide") return ConflictReport(output == "wide");
    if (output != "json") return Malformed("output is json, text or wide");
    const auto limit = Limit(request);
    if (!limit) return Malformed("limit is not a number above 0");
    const KeyText after{std::string(request.Query("cursor").value_or(std::string_view()))};
    const Result<ConflictPage> page = ports_.conflicts(after, *limit);
    if (!page.ok()) return ProblemResponse(page.error());
    const std::vector<TagWar> wars = Wars();
    JsonWriter json;
    json.BeginObject().Key("items").BeginArray();
    for (const Conflict& conflict : page.value().conflicts) {
      WriteConflict(conflict, WarAt(wars, conflict.owner.key), json);
    }
    json.EndArray();
    if (!page.value().last.empty()) json.Field("nextCursor", page.value().last.text);
    return JsonResponse(json.EndObject().Take());
  }

  HttpResponse Coverage(const HttpRequest& request, const std::string& /*actor*/) const {
    if (ports_.reports == nullptr) return NotFollowed();
    const std::string_view output = Output(request);
    if (output != "json" && output != "text" && output != "wide") {
      return Malformed("output is json, text or wide");
    }
    const CoverageReport report = ports_.reports->Coverage();
    if (output == "json") return JsonResponse(CoverageJson(report));
    return ForPeople(report.gaps.size(), CoverageText(report, output == "wide"));
  }

  HttpResponse Baseline(const HttpRequest& request, const std::string& /*actor*/) const {
    if (ports_.reports == nullptr) return NotFollowed();
    const std::string_view output = Output(request);
    std::string (*render)(const BaselineReport&) = nullptr;
    if (output == "text") render = &BaselineText;
    if (output == "junit") render = &BaselineJunit;
    if (output == "markdown") render = &BaselineMarkdown;
    if (render == nullptr && output != "json") {
      return Malformed("output is json, text, junit or markdown");
    }
    Result<BaselineReport> report = ports_.reports->Baseline();
    if (!report.ok()) return ProblemResponse(report.error());
    Result<NameReport> names = ports_.reports->Names();
    if (!names.ok()) return ProblemResponse(names.error());
    report.value().names = std::move(names).value();
    if (render == nullptr) return JsonResponse(BaselineJson(report.value()));
    return ForPeople(report.value().conflicts.size(), render(report.value()));
  }

  HttpResponse Names(const HttpRequest& request, const std::string& /*actor*/) const {
    if (ports_.reports == nullptr) return NotFollowed();
    const std::string_view output = Output(request);
    if (output != "json" && output != "text") return Malformed("output is json or text");
    const Result<NameReport> report = ports_.reports->Names();
    if (!report.ok()) return ProblemResponse(report.error());
    if (output == "json") return JsonResponse(NamesJson(report.value()));
    return ForPeople(report.value().violating, NameReportText(report.value()));
  }

  HttpResponse Recovery(const HttpRequest& /*request*/, const std::string& /*actor*/) const {
    if (ports_.controls == nullptr) return NotFollowed();
    return RecoveryAnswer(ports_.controls->Recovery());
  }

  HttpResponse StartRecovery(const HttpRequest& request, const std::string& actor) const {
    if (ports_.controls == nullptr) return NotFollowed();
    const Result<nlohmann::json> body = ReadOptionalBody(request);
    if (!body.ok()) return ProblemResponse(body.error());
    const std::string reason = TextIn(body.value(), "reason");
    if (!IsLine(reason, kReasonBytesMax)) return NoReason();
    return RecoveryAnswer(ports_.controls->StartRecovery({actor, reason}));
  }

  HttpResponse FinishRecovery(const HttpRequest& request, const std::string& actor) const {
    if (ports_.controls == nullptr) return NotFollowed();
    const Result<nlohmann::json> body = ReadOptionalBody(request);
    if (!body.ok()) return ProblemResponse(body.error());
    const auto force = body.value().find("force");
    const bool is_set = force != body.value().end();
    if (is_set && !force->is_boolean()) return Malformed("\"force\" is not true or false");
    const bool is_forced = is_set && force->get<bool>();
    return RecoveryAnswer(ports_.controls->EndRecovery(is_forced, {actor}));
  }

  HttpResponse Brake(const HttpRequest& /*request*/, const std::string& /*actor*/) const {
    if (ports_.controls == nullptr) return NotFollowed();
    const Result<BrakeView> view = ports_.controls->Brake();
    if (!view.ok()) return ProblemResponse(view.error());
    JsonWriter json;
    json.BeginObject()
        .NumberField("nominated", static_cast<std::int64_t>(view.value().nominated))
        .NumberField("heldBack", static_cast<std::int64_t>(view.value().held_back))
        .Key("frozen")
        .BeginArray();
    for (const BrakeView::Frozen& frozen : view.value().frozen) {
      json.BeginObject().Field("kind", frozen.kind).Field("reason", frozen.reason).EndObject();
    }
    json.EndArray().Key("waiting").BeginArray();
    for (const BrakeView::Waiting& waiting : view.value().waiting) {
      json.BeginObject()
          .Field("kind", waiting.kind)
          .NumberField("objects", static_cast<std::int64_t>(waiting.objects))
          .Field("since", FormatTimestamp(waiting.since))
          .EndObject();
    }
    return JsonResponse(json.EndArray().EndObject().Take());
  }

  HttpResponse ReleaseBrake(const HttpRequest& request, const std::string& actor) const {
    if (ports_.controls == nullptr) return NotFollowed();
    const Result<nlohmann::json> body = ReadOptionalBody(request);
    if (!body.ok()) return ProblemResponse(body.error());
    const std::string reason = TextIn(body.value(), "reason");
    if (!IsLine(reason, kReasonBytesMax)) return NoReason();
    std::optional<GroupKind> kind;
    if (body.value().contains("kind")) {
      kind = KindFrom(TextIn(body.value(), "kind"));
      if (!kind)
        return Malformed("\"kind\" is not of the form KIND.GROUP, as Bucket.s3.aws.upbound.io");
    }
    const Result<std::uint64_t> released = ports_.controls->ReleaseBrake(kind, {actor, reason});
    if (!released.ok()) return ProblemResponse(released.error());
    JsonWriter json;
    json.BeginObject().NumberField("released", static_cast<std::int64_t>(released.value()));
    return JsonResponse(json.EndObject().Take());
  }

 private:
  std::vector<TagWar> Wars() const {
    return ports_.reports ? ports_.reports->Wars() : std::vector<TagWar>();
  }

  HttpResponse ConflictReport(bool wide) const {
    std::vector<Conflict> all;
    KeyText after;
    do {
      Result<ConflictPage> page = ports_.conflicts(after, kPageMax);
      if (!page.ok()) return ProblemResponse(page.error());
      after = page.value().last;
      auto& found = page.value().conflicts;
      all.insert(all.end(), found.begin(), found.end());
    } while (!after.empty() && all.size() < kReportedMax);
    return ForPeople(all.size(), ConflictsText(all, Wars(), wide));
  }

  ClusterPorts ports_;
};

}  // namespace

std::vector<ClusterOperation> ClusterOperations(ClusterPorts ports) {
  const auto shared = std::make_shared<const Handlers>(std::move(ports));
  using Handler = HttpResponse (Handlers::*)(const HttpRequest&, const std::string&) const;
  const auto bound = [&](Handler handler) {
    return [shared, handler](const HttpRequest& request, const std::string& actor) {
      return ((*shared).*handler)(request, actor);
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
  for (ClusterOperation& each : ClusterOperations(std::move(ports))) {
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
