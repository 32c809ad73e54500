#include "webhook/api/rest/agreement_json.h"

#include <algorithm>

#include "registry/ownership/agreements.h"
#include "registry/ownership/declared_grant.h"
#include "webhook/api/resource_json.h"
#include "webhook/wire/digest.h"

namespace truce {
namespace {

std::string_view StateOf(const Agreement& agreement, Timestamp now) {
  if (agreement.kind == AgreementKind::kTransfer) {
    return agreement.accepted ? "accepted" : "offered";
  }
  if (!HoldsAt(agreement, now)) return "ended";
  return HoldsAt(agreement, now + kShareNotice) ? "active" : "ending";
}

std::string TimeOrEmpty(const std::optional<Timestamp>& time) {
  return time ? FormatTimestamp(*time) : std::string();
}

void WriteWhose(const Owner& owner, JsonWriter& json) {
  json.Key("resource")
      .BeginObject()
      .Field("id", owner.id.text)
      .Field("type", owner.identity.type)
      .Field("name", owner.name)
      .Field("arn", owner.arn)
      .EndObject()
      .Key("owner");
  WriteObject(owner.root, json);
}

void WriteSteps(const std::vector<Step>& steps, JsonWriter& json) {
  json.ListField("steps", steps, [](const Step& step, JsonWriter& out) {
    out.BeginObject().Field("text", step.text).Field("done", step.done).EndObject();
  });
}

}  // namespace

std::string ToText(const Agreement& agreement) {
  JsonWriter json;
  json.BeginArray()
      .Text(agreement.id.text)
      .Text(Name(agreement.kind))
      .Text(agreement.resource.text)
      .Text(agreement.party.text)
      .Text(Name(agreement.level))
      .Bool(agreement.accepted)
      .Text(agreement.successor)
      .Text(agreement.reason)
      .Text(agreement.actor)
      .Text(FormatTimestamp(agreement.at))
      .Text(TimeOrEmpty(agreement.until))
      .EndArray();
  return json.Take();
}

std::string EntityTagOf(const Agreement& agreement) { return EntityTagOf(ToText(agreement)); }

void WriteAgreement(const AgreementView& view, Timestamp now, JsonWriter& json) {
  const Agreement& agreement = view.agreement;
  json.BeginObject().Field("id", agreement.id.text);
  WriteWhose(view.owner, json);
  json.Field("party", agreement.party.text)
      .Field("to", ForPeople(agreement.party))
      .Field("state", StateOf(agreement, now))
      .Field("reason", agreement.reason)
      .Field("by", agreement.actor)
      .Field("at", FormatTimestamp(agreement.at));
  if (agreement.kind == AgreementKind::kTransfer) {
    json.Field("successor", agreement.successor);
    WriteSteps(StepsOf(view.owner, view.rows, agreement), json);
  } else {
    json.Field("level", Name(agreement.level)).Field("until", TimeOrEmpty(agreement.until));
  }
  json.EndObject();
}

void WriteAgreementMembers(const ResourceView& view, Timestamp now,
                           const std::vector<Hindrance>& hindrances, JsonWriter& json) {
  const auto& [owner, rows, agreements, names] = view;
  json.Key("shares").BeginArray();
  const Agreement* transfer = nullptr;
  for (const Agreement& each : agreements) {
    if (each.kind == AgreementKind::kShare) WriteAgreement({each, owner, rows}, now, json);
    if (each.kind == AgreementKind::kTransfer) transfer = &each;
  }
  json.EndArray().Key("transfer");
  if (transfer == nullptr) {
    json.Null();
  } else {
    WriteAgreement({*transfer, owner, rows}, now, json);
  }
  json.Key("handOver");
  if (transfer != nullptr || owner.successor.empty()) {
    json.Null();
  } else {
    json.BeginObject().Field("successor", owner.successor);
    WriteSteps(StepsOf(owner, rows, std::nullopt), json);
    json.EndObject();
  }
  json.Key("protection");
  const Agreement* protection = ProtectionIn(agreements);
  if (protection == nullptr) {
    json.Null();
    return;
  }
  json.BeginObject()
      .Field("reason", protection->reason)
      .Field("by", protection->actor)
      .Field("at", FormatTimestamp(protection->at));
  if (const std::string declaring = DeclaringObject(*protection, owner); !declaring.empty()) {
    json.Field("declaredBy", declaring);
  }
  const auto write = [](const Hindrance& each, JsonWriter& out) {
    out.BeginObject().Field("what", each.what).Field("remedy", each.remedy).EndObject();
  };
  json.ListField("hindrances", hindrances, write).EndObject();
}

}  // namespace truce
