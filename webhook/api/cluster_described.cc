// The JSON of what a server that follows a cluster tells of it.
#include <array>
#include <cstdint>
#include <cstdio>
#include <set>

#include "policies/suspensions.h"
#include "registry/identity/uids.h"
#include "webhook/api/cluster_routes.h"
#include "webhook/api/described.h"
#include "webhook/findings/conflicts.h"
#include "webhook/findings/mute_book.h"
#include "webhook/findings/tag_war.h"
#include "webhook/findings/texts/report_baseline.h"

namespace truce {
namespace {

// One decimal place.
auto Decimal(double value) {
  return [value](JsonWriter& json) {
    std::array<char, 32> text{};
    const int length = std::snprintf(text.data(), text.size(), "%.1f", value);
    json.Raw(std::string_view(text.data(), length > 0 ? static_cast<std::size_t>(length) : 0));
  };
}

}  // namespace

void WriteJson(const ConflictObject& object, JsonWriter& json) {
  json.Object("object", object.slot, "uid", MetadataUid(object.uid), "intent", Name(object.intent),
              "seen", object.seen, "terminating", object.terminating, "managed", object.managed,
              "since", object.since);
}

void WriteJson(const ConflictSide& side, JsonWriter& json) {
  json.Object("root", side.root, "service", side.service, "contact", side.contact, "incumbent",
              side.incumbent, "record", Name(side.record), "since", side.since, "objects",
              side.objects);
}

void WriteJson(const TagWar& war, JsonWriter& json) {
  json.Object("since", war.since, "last", war.last, "writes", war.writes, "writesPerMinute",
              Decimal(war.writes_per_minute));
}

Columns<ConflictView> ColumnsOf(const ConflictView* /*thing*/) {
  static constexpr Column<ConflictView> kColumns[] = {
      {"resource", [](const ConflictView& v) -> Datum { return v.conflict.owner; }},
      {"name", [](const ConflictView& v) -> Datum { return v.conflict.resource; }, "RESOURCE"},
      {"resource.id", nullptr, "ID"},
      {"sides", [](const ConflictView& v) -> Datum { return v.conflict.sides; }},
      {"effect", [](const ConflictView& v) -> Datum { return DeletionEffect(v.conflict); }},
      {"steps", [](const ConflictView& v) -> Datum { return ResolutionSteps(v.conflict); }},
      {"war", [](const ConflictView& v) -> Datum { return v.war; }},
  };
  return {kColumns, "name resource.id effect"};
}

Columns<LiveFinding> ColumnsOf(const LiveFinding* /*thing*/) {
  static constexpr Column<LiveFinding> kColumns[] = {
      {"id", [](const LiveFinding& f) -> Datum { return f.id; }},
      {"rule", [](const LiveFinding& f) -> Datum { return Name(f.detector); }},
      {"severity", [](const LiveFinding& f) -> Datum { return Name(SeverityOf(f.mode)); }},
      {"mode", [](const LiveFinding& f) -> Datum { return Name(f.mode); }},
      {"subject", [](const LiveFinding& f) -> Datum { return f.subject; }},
      {"key", [](const LiveFinding& f) -> Datum { return f.key.text; }},
      {"resource", [](const LiveFinding& f) -> Datum { return f.resource; }},
      {"cause", [](const LiveFinding& f) -> Datum { return f.cause; }},
      {"evidence", [](const LiveFinding& f) -> Datum { return f.evidence; }},
      {"remedy", [](const LiveFinding& f) -> Datum { return f.remedy; }},
      {"objects", [](const LiveFinding& f) -> Datum { return f.objects; }},
      {"namespaces", [](const LiveFinding& f) -> Datum { return f.namespaces; }},
      {"services", [](const LiveFinding& f) -> Datum { return f.services; }},
      // When a state began is not always known.
      {"since",
       [](const LiveFinding& f) -> Datum {
         return f.since == Timestamp{} ? std::string() : FormatTimestamp(f.since);
       }},
      {"firstSeen", [](const LiveFinding& f) -> Datum { return f.first_seen; }},
      {"lastSeen", [](const LiveFinding& f) -> Datum { return f.last_seen; }},
  };
  return {kColumns, "id severity rule resource namespaces firstSeen + cause remedy"};
}

Columns<Mute> ColumnsOf(const Mute* /*thing*/) {
  static constexpr Column<Mute> kColumns[] = {
      {"id", [](const Mute& m) -> Datum { return FindingId(m.detector, m.subject); }},
      {"rule", [](const Mute& m) -> Datum { return Name(m.detector); }},
      {"severity", [](const Mute& m) -> Datum { return Name(m.severity); }},
      {"subject", [](const Mute& m) -> Datum { return m.subject; }},
      {"resource", [](const Mute& m) -> Datum { return m.resource; }},
      {"namespaces", [](const Mute& m) -> Datum { return m.namespaces; }},
      {"until", [](const Mute& m) -> Datum { return m.until; }},
      {"reason", [](const Mute& m) -> Datum { return m.reason; }},
      {"by", [](const Mute& m) -> Datum { return m.by; }},
      {"at", [](const Mute& m) -> Datum { return m.at; }},
  };
  return {kColumns, "id rule resource until by reason"};
}

void WriteFindingsOf(std::vector<LiveFinding> findings, const std::vector<KeyText>& keys,
                     JsonWriter& json) {
  constexpr std::size_t kShownMax = 100;
  const std::set<KeyText> wanted(keys.begin(), keys.end());
  std::erase_if(findings, [&](const LiveFinding& each) { return wanted.count(each.key) == 0; });
  if (findings.size() > kShownMax) findings.resize(kShownMax);
  json.Fields("findings", findings);
}

void WriteAsOf(const std::optional<Timestamp>& as_of, JsonWriter& json) {
  if (as_of) json.Fields("asOf", *as_of);
}

std::string WithAsOf(const std::optional<Timestamp>& as_of, std::string text) {
  if (!as_of) return text;
  const std::string line =
      *as_of == Timestamp{}
          ? "No server that watches the cluster has told of it yet."
          : "Of " + FormatTimestamp(*as_of) + ": since then no server has watched the cluster.";
  return line + "\n" + text;
}

void WriteJson(const CoverageGap& gap, JsonWriter& json) {
  json.Object("reason", Name(gap.reason), "subject", gap.subject, "objects", gap.objects, "why",
              gap.why, "remedy", gap.remedy);
}

void WriteJson(const Suspension& suspension, JsonWriter& json) {
  json.Object("cause", Name(suspension.cause), "what", suspension.what, "why", suspension.why,
              "remedy", suspension.remedy);
}

std::string CoverageJson(const CoverageReport& report, const std::vector<Suspension>& suspended,
                         const std::optional<Timestamp>& as_of) {
  JsonWriter json;
  json.BeginObject();
  WriteAsOf(as_of, json);
  if (report.failing_since) json.Fields("failingSince", *report.failing_since);
  json.Fields("failurePolicy", report.failure_policy, "kinds", report.kinds, "protectedKinds",
              report.protected_kinds, "gaps", report.gaps, "suspended", suspended);
  return json.EndObject().Take();
}

// A kind, or another part of a cluster, that could not be listed.
void WriteJson(const NameProblem& problem, JsonWriter& json) {
  json.Object("kind", problem.kind, "problem", problem.problem);
}
void WriteJson(const BaselineProblem& problem, JsonWriter& json) {
  json.Object("kind", problem.kind, "problem", problem.problem);
}

void WriteJson(const NameViolation& one, JsonWriter& json) {
  json.Object("service", one.service, "type", one.type, "name", one.name, "suggested", one.better,
              "rule", one.rule, "mode", one.mode, "object", one.object);
}

void WriteJson(const UseFault& one, JsonWriter& json) {
  json.Object("rule", one.rule, "mode", one.mode, "object", one.object, "cause", one.cause,
              "remedy", one.remedy);
}

void WriteJson(const NameReport& report, JsonWriter& json) {
  json.BeginObject().Fields("at", report.at, "convention", report.convention, "conforming",
                            report.conforming, "exempt", report.exempt, "violating",
                            report.violating);
  json.ListField("items", report.counts, [](const auto& of_place, JsonWriter& out) {
    const auto& [place, counts] = of_place;
    out.Object("service", place.first, "type", place.second, "conforming", counts.conforming,
               "exempt", counts.exempt, "violating", counts.violating);
  });
  json.Fields("violations", report.violations, "uses", report.uses, "problems", report.problems);
  json.EndObject();
}

std::string NamesJson(const NameReport& report) { return JsonWriter().Put(report).Take(); }

std::string BaselineJson(const BaselineReport& report, const std::optional<Timestamp>& as_of) {
  std::vector<ConflictView> conflicts;
  for (const Conflict& each : report.conflicts) {
    conflicts.push_back({each, WarAt(report.wars, each.owner.key)});
  }
  const auto ownerships = [&](JsonWriter& json) {
    const auto& counts = report.counts;
    json.Object("held", counts.held, "reserved", counts.reserved, "orphaned", counts.orphaned,
                "imported", counts.imported);
  };
  const auto findings = [&](JsonWriter& json) {
    json.BeginObject();
    for (const Severity severity : {Severity::kCritical, Severity::kWarning, Severity::kInfo}) {
      const auto found = report.findings.find(severity);
      json.Fields(Name(severity), found == report.findings.end() ? 0 : found->second);
    }
    json.Fields("muted", report.muted).EndObject();
  };
  JsonWriter json;
  json.BeginObject();
  WriteAsOf(as_of, json);
  json.Fields("cluster", report.cluster, "complete", report.complete, "at", report.at, "seconds",
              Decimal(static_cast<double>(report.took.count()) / 1000), "kinds", report.kinds,
              "objects", report.objects, "ownerships", ownerships, "conflicts", conflicts,
              "findings", findings, "problems", report.problems);
  if (report.names) json.Fields("names", *report.names);
  if (report.quotas) {
    json.Key("quotas").BeginObject();
    WriteQuotas(*report.quotas, json);
    json.EndObject();
  }
  return json.EndObject().Take();
}

}  // namespace truce
