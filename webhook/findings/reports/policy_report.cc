#include "webhook/findings/reports/policy_report.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <iterator>

#include "registry/base/counted.h"
#include "registry/base/one_line.h"
#include "webhook/findings/concerned.h"
#include "webhook/findings/detector.h"
#include "webhook/wire/json_writer.h"

namespace truce {
namespace {

constexpr std::string_view kSource = "Truce";
constexpr std::string_view kCategory = "Cloud resource ownership";
constexpr std::size_t kReportMessageBytesMax = 2048;
constexpr std::size_t kReportObjectsMax = 8;

struct ReportGroup {
  std::string_view group;
  std::string_view namespaced;  // plural
  std::string_view cluster;
};
constexpr std::array<ReportGroup, 2> kReportGroups = {
    {{"wgpolicyk8s.io", "policyreports", "clusterpolicyreports"},
     {"openreports.io", "reports", "clusterreports"}}};

// In whichever version it is served: the fields are the same in all.
std::optional<ServedKind> FindServed(std::string_view group, std::string_view plural,
                                     const std::vector<ServedKind>& served) {
  const auto found = std::find_if(served.begin(), served.end(), [&](const ServedKind& kind) {
    return kind.group == group && kind.plural == plural;
  });
  return found == served.end() ? std::nullopt : std::optional(*found);
}

// The older schema of wgpolicyk8s.io knows no "critical" and no "info".
std::string_view ReportSeverity(Mode mode) {
  switch (SeverityOf(mode)) {
    case Severity::kCritical: return "high";
    case Severity::kWarning: return "medium";
    case Severity::kInfo: return "low";
  }
  return "low";
}

bool IsFailure(Mode mode) { return SeverityOf(mode) == Severity::kCritical; }

// The objects of `ns`; of the cluster's report those without namespace.
void WriteObjects(const LiveFinding& finding, std::string_view ns, const ReportContext& context,
                  JsonWriter& json) {
  json.Key("resources").BeginArray();
  std::size_t count = 0;
  for (const Slot& slot : finding.objects) {
    if (slot.ns != ns || count == kReportObjectsMax) continue;
    const auto kind = context.kind_of({slot.group, slot.kind});
    if (!kind) continue;
    ++count;
    const std::string version =
        kind->group.empty() ? kind->version : kind->group + "/" + kind->version;
    json.BeginObject().Field("apiVersion", version).Field("kind", slot.kind);
    if (!slot.ns.empty()) json.Field("namespace", slot.ns);
    json.Field("name", slot.name).EndObject();
  }
  json.EndArray();
}

void WriteTime(Timestamp time, JsonWriter& json) {
  const auto seconds =
      std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch()).count();
  json.Key("timestamp").BeginObject();
  json.NumberField("seconds", seconds).NumberField("nanos", 0).EndObject();
}

void WriteResult(const LiveFinding& finding, std::string_view ns, const ReportContext& context,
                 JsonWriter& json) {
  std::string message = finding.cause;
  if (!finding.remedy.empty()) message.append(" ").append(finding.remedy);
  json.BeginObject()
      .Field("source", kSource)
      .Field("category", kCategory)
      .Field("policy", Name(finding.detector))
      .Field("rule", Name(finding.detector))
      .Field("result", IsFailure(finding.mode) ? "fail" : "warn")
      .Field("scored", IsFailure(finding.mode))
      .Field("severity", ReportSeverity(finding.mode))
      .Field("message", OneLine(message, kReportMessageBytesMax));
  WriteObjects(finding, ns, context, json);
  WriteTime(finding.first_seen, json);
  json.Key("properties").BeginObject().Field("id", finding.id);
  if (!finding.resource.empty()) json.Field("resource", finding.resource);
  json.EndObject().EndObject();
}

// One skipped result for all findings that do not fit.
void WriteRest(const std::string& message, JsonWriter& json) {
  json.BeginObject()
      .Field("source", kSource)
      .Field("category", kCategory)
      .Field("policy", "not-shown")
      .Field("rule", "not-shown")
      .Field("result", "skip")
      .Field("scored", false)
      .Field("severity", "low")
      .Field("message", message)
      .EndObject();
}

struct Sheet {
  std::vector<LiveFinding> findings;
  std::size_t namespaces_left_out = 0;
};

std::string ReportOf(Sheet sheet, std::string_view ns, const ReportContext& context) {
  std::stable_sort(sheet.findings.begin(), sheet.findings.end(),
                   [](const LiveFinding& a, const LiveFinding& b) { return a.mode > b.mode; });
  const std::size_t shown = std::min(sheet.findings.size(), kReportResultsMax);
  std::int64_t fail = 0;
  std::int64_t skip = 0;
  JsonWriter json;
  json.BeginObject().Key("results").BeginArray();
  for (std::size_t i = 0; i < shown; ++i) {
    if (IsFailure(sheet.findings[i].mode)) ++fail;
    WriteResult(sheet.findings[i], ns, context, json);
  }
  if (shown < sheet.findings.size()) {
    ++skip;
    WriteRest(Counted(sheet.findings.size() - shown,
                      "further finding is not shown here; `truce findings` lists all.",
                      "further findings are not shown here; `truce findings` lists all."),
              json);
  }
  if (sheet.namespaces_left_out > 0) {
    ++skip;
    WriteRest(
        Counted(sheet.namespaces_left_out,
                "further namespace with findings has no report; `truce findings` lists all.",
                "further namespaces with findings have no report; `truce findings` lists all."),
        json);
  }
  json.EndArray().Key("summary").BeginObject();
  json.NumberField("pass", 0)
      .NumberField("fail", fail)
      .NumberField("warn", static_cast<std::int64_t>(shown) - fail)
      .NumberField("error", 0)
      .NumberField("skip", skip);
  json.EndObject().EndObject();
  return json.Take();
}

}  // namespace

std::optional<ReportKinds> ReportKindsOf(std::string_view group,
                                         const std::vector<ServedKind>& served) {
  for (const ReportGroup& each : kReportGroups) {
    if (!group.empty() && group != each.group) continue;
    const auto namespaced = FindServed(each.group, each.namespaced, served);
    const auto cluster = FindServed(each.group, each.cluster, served);
    if (namespaced && cluster) return ReportKinds{*namespaced, *cluster};
  }
  return std::nullopt;
}

std::map<std::string, std::string> ReportsOf(const std::vector<LiveFinding>& findings,
                                             const ReportContext& context) {
  std::map<std::string, Sheet> sheets;
  for (const LiveFinding& finding : findings) {
    const bool is_discreet = context.discreet && finding.namespaces.size() > 1;
    for (const std::string& ns : finding.namespaces) {
      if (ns.empty()) continue;
      sheets[ns].findings.push_back(is_discreet ? DiscreetOf(finding, ns) : finding);
    }
    const bool has_none = finding.namespaces.empty() || finding.namespaces.front().empty();
    if (has_none) sheets[""].findings.push_back(finding);
  }
  // It is always there, so that one who looks sees that nothing is found.
  Sheet& of_cluster = sheets[""];
  while (sheets.size() > kReportNamespacesMax + 1) {
    sheets.erase(std::prev(sheets.end()));
    ++of_cluster.namespaces_left_out;
  }
  std::map<std::string, std::string> reports;
  for (auto& [ns, sheet] : sheets) reports[ns] = ReportOf(std::move(sheet), ns, context);
  return reports;
}

}  // namespace truce
