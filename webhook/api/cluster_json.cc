#include "webhook/api/cluster_json.h"

#include <array>
#include <cstdint>
#include <cstdio>
#include <set>

#include "policies/suspensions.h"
#include "registry/identity/uids.h"
#include "webhook/api/resource_json.h"
#include "webhook/findings/conflicts.h"
#include "webhook/findings/tag_war.h"
#include "webhook/findings/texts/report_baseline.h"

namespace truce {
namespace {

// One decimal place.
std::string Decimal(double value) {
  std::array<char, 32> text{};
  const int length = std::snprintf(text.data(), text.size(), "%.1f", value);
  return std::string(text.data(), length > 0 ? static_cast<std::size_t>(length) : 0);
}

void WriteConflictObject(const ConflictObject& object, JsonWriter& json) {
  json.BeginObject().Key("object");
  WriteObject(object.slot, json);
  json.Field("uid", MetadataUid(object.uid))
      .Field("intent", Name(object.intent))
      .Field("seen", object.seen)
      .Field("terminating", object.terminating)
      .Field("managed", object.managed)
      .Field("since", FormatTimestamp(object.since))
      .EndObject();
}

void WriteSide(const ConflictSide& side, JsonWriter& json) {
  json.BeginObject().Key("root");
  WriteObject(side.root, json);
  json.Field("service", side.service)
      .Field("contact", side.contact)
      .Field("incumbent", side.incumbent)
      .Field("record", Name(side.record))
      .Field("since", FormatTimestamp(side.since))
      .ListField("objects", side.objects, WriteConflictObject)
      .EndObject();
}

void WriteWar(const TagWar* war, JsonWriter& json) {
  if (war == nullptr) {
    json.Null();
    return;
  }
  json.BeginObject()
      .Field("since", FormatTimestamp(war->since))
      .Field("last", FormatTimestamp(war->last))
      .NumberField("writes", war->writes)
      .Key("writesPerMinute")
      .Raw(Decimal(war->writes_per_minute))
      .EndObject();
}

}  // namespace

void WriteConflict(const Conflict& conflict, const TagWar* war, JsonWriter& json) {
  json.BeginObject().Key("resource");
  WriteOwner(conflict.owner, json);
  json.Field("name", conflict.resource)
      .ListField("sides", conflict.sides, WriteSide)
      .Field("effect", DeletionEffect(conflict))
      .TextsField("steps", ResolutionSteps(conflict))
      .Key("war");
  WriteWar(war, json);
  json.EndObject();
}

namespace {

void WriteFindingMembers(const LiveFinding& finding, JsonWriter& json) {
  json.Field("id", finding.id)
      .Field("rule", Name(finding.detector))
      .Field("severity", Name(SeverityOf(finding.mode)))
      .Field("mode", Name(finding.mode))
      .Field("subject", finding.subject)
      .Field("key", finding.key.text)
      .Field("resource", finding.resource)
      .Field("cause", finding.cause)
      .Field("evidence", finding.evidence)
      .Field("remedy", finding.remedy)
      .ListField("objects", finding.objects, WriteObject)
      .TextsField("namespaces", finding.namespaces)
      .TextsField("services", finding.services);
  // When a state began is not always known.
  json.Field("since", finding.since == Timestamp{} ? std::string() : FormatTimestamp(finding.since))
      .Field("firstSeen", FormatTimestamp(finding.first_seen))
      .Field("lastSeen", FormatTimestamp(finding.last_seen));
}

}  // namespace

void WriteFinding(const LiveFinding& finding, JsonWriter& json) {
  json.BeginObject();
  WriteFindingMembers(finding, json);
  json.EndObject();
}

void WriteExplained(const LiveFinding& finding, const Mute* mute, JsonWriter& json) {
  const DetectorInfo& info = InfoOf(finding.detector);
  json.BeginObject();
  WriteFindingMembers(finding, json);
  json.Field("finds", info.finds).Field("proof", info.proof).Key("mute");
  if (mute == nullptr) {
    json.Null();
  } else {
    WriteMute(*mute, json);
  }
  json.EndObject();
}

void WriteMute(const Mute& mute, JsonWriter& json) {
  json.BeginObject()
      .Field("id", FindingId(mute.detector, mute.subject))
      .Field("rule", Name(mute.detector))
      .Field("severity", Name(mute.severity))
      .Field("subject", mute.subject)
      .Field("resource", mute.resource)
      .TextsField("namespaces", mute.namespaces)
      .Field("until", FormatTimestamp(mute.until))
      .Field("reason", mute.reason)
      .Field("by", mute.by)
      .Field("at", FormatTimestamp(mute.at))
      .EndObject();
}

void WriteFindingsOf(std::vector<LiveFinding> findings, const std::vector<KeyText>& keys,
                     JsonWriter& json) {
  constexpr std::size_t kShownMax = 100;
  const std::set<KeyText> wanted(keys.begin(), keys.end());
  std::erase_if(findings, [&](const LiveFinding& each) { return wanted.count(each.key) == 0; });
  if (findings.size() > kShownMax) findings.resize(kShownMax);
  json.ListField("findings", findings, WriteFinding);
}

void WriteAsOf(const std::optional<Timestamp>& as_of, JsonWriter& json) {
  if (as_of) json.Field("asOf", FormatTimestamp(*as_of));
}

std::string WithAsOf(const std::optional<Timestamp>& as_of, std::string text) {
  if (!as_of) return text;
  const std::string line =
      *as_of == Timestamp{}
          ? "No server that watches the cluster has told of it yet."
          : "Of " + FormatTimestamp(*as_of) + ": since then no server has watched the cluster.";
  return line + "\n" + text;
}

std::string CoverageJson(const CoverageReport& report, const std::vector<Suspension>& suspended,
                         const std::optional<Timestamp>& as_of) {
  JsonWriter json;
  json.BeginObject();
  WriteAsOf(as_of, json);
  if (report.failing_since) json.Field("failingSince", FormatTimestamp(*report.failing_since));
  json.Field("failurePolicy", report.failure_policy)
      .NumberField("kinds", report.kinds)
      .NumberField("protectedKinds", report.protected_kinds)
      .ListField("gaps", report.gaps,
                 [](const CoverageGap& gap, JsonWriter& out) {
                   out.BeginObject()
                       .Field("reason", Name(gap.reason))
                       .Field("subject", gap.subject)
                       .NumberField("objects", gap.objects)
                       .Field("why", gap.why)
                       .Field("remedy", gap.remedy)
                       .EndObject();
                 })
      .ListField("suspended", suspended, [](const Suspension& each, JsonWriter& out) {
        out.BeginObject()
            .Field("cause", Name(each.cause))
            .Field("what", each.what)
            .Field("why", each.why)
            .Field("remedy", each.remedy)
            .EndObject();
      });
  return json.EndObject().Take();
}

namespace {

// A kind, or another part of a cluster, that could not be listed.
template <typename Unlisted>
void WriteProblem(const Unlisted& problem, JsonWriter& json) {
  json.BeginObject().Field("kind", problem.kind).Field("problem", problem.problem).EndObject();
}

void WriteNames(const NameReport& report, JsonWriter& json) {
  json.BeginObject()
      .Field("at", FormatTimestamp(report.at))
      .Field("convention", report.convention)
      .NumberField("conforming", report.conforming)
      .NumberField("exempt", report.exempt)
      .NumberField("violating", report.violating)
      .ListField("items", report.counts,
                 [](const auto& of_place, JsonWriter& out) {
                   const auto& [place, counts] = of_place;
                   out.BeginObject()
                       .Field("service", place.first)
                       .Field("type", place.second)
                       .NumberField("conforming", counts.conforming)
                       .NumberField("exempt", counts.exempt)
                       .NumberField("violating", counts.violating)
                       .EndObject();
                 })
      .ListField("violations", report.violations,
                 [](const NameViolation& one, JsonWriter& out) {
                   out.BeginObject()
                       .Field("service", one.service)
                       .Field("type", one.type)
                       .Field("name", one.name)
                       .Field("suggested", one.better)
                       .Field("rule", one.rule)
                       .Field("mode", one.mode)
                       .Field("object", one.object)
                       .EndObject();
                 })
      .ListField("uses", report.uses,
                 [](const UseFault& one, JsonWriter& out) {
                   out.BeginObject()
                       .Field("rule", one.rule)
                       .Field("mode", one.mode)
                       .Field("object", one.object)
                       .Field("cause", one.cause)
                       .Field("remedy", one.remedy)
                       .EndObject();
                 })
      .ListField("problems", report.problems, WriteProblem<NameProblem>)
      .EndObject();
}

}  // namespace

std::string NamesJson(const NameReport& report) {
  JsonWriter json;
  WriteNames(report, json);
  return json.Take();
}

std::string BaselineJson(const BaselineReport& report, const std::optional<Timestamp>& as_of) {
  JsonWriter json;
  json.BeginObject();
  WriteAsOf(as_of, json);
  json.Field("cluster", report.cluster)
      .Field("complete", report.complete)
      .Field("at", FormatTimestamp(report.at))
      .Key("seconds")
      .Raw(Decimal(static_cast<double>(report.took.count()) / 1000))
      .NumberField("kinds", report.kinds)
      .NumberField("objects", report.objects)
      .Key("ownerships")
      .BeginObject()
      .NumberField("held", report.counts.held)
      .NumberField("reserved", report.counts.reserved)
      .NumberField("orphaned", report.counts.orphaned)
      .NumberField("imported", report.counts.imported)
      .EndObject()
      .ListField("conflicts", report.conflicts,
                 [&](const Conflict& conflict, JsonWriter& out) {
                   WriteConflict(conflict, WarAt(report.wars, conflict.owner.key), out);
                 })
      .Key("findings")
      .BeginObject();
  for (const Severity severity : {Severity::kCritical, Severity::kWarning, Severity::kInfo}) {
    const auto found = report.findings.find(severity);
    json.NumberField(Name(severity), found == report.findings.end() ? 0 : found->second);
  }
  json.NumberField("muted", report.muted).EndObject();
  json.ListField("problems", report.problems, WriteProblem<BaselineProblem>);
  if (report.names) {
    json.Key("names");
    WriteNames(*report.names, json);
  }
  if (report.quotas) {
    json.Key("quotas").BeginObject();
    WriteQuotas(*report.quotas, json);
    json.EndObject();
  }
  json.EndObject();
  return json.Take();
}

}  // namespace truce
