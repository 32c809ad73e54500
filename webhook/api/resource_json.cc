#include "webhook/api/resource_json.h"

#include <cstdint>

#include "registry/base/clock.h"
#include "registry/identity/uids.h"
#include "registry/ownership/rows.h"
#include "webhook/api/review_books.h"

namespace truce {

std::string_view StateOf(const Owner& owner) {
  switch (owner.record) {
    case Record::kImported: return "imported";
    case Record::kOrphaned:
    case Record::kTransferring: return "orphaned";
    case Record::kNone: break;
  }
  return owner.state == HolderState::kReserved ? "reserved" : "held";
}

void WriteObject(const Slot& slot, JsonWriter& json) {
  json.BeginObject()
      .Field("cluster", slot.cluster)
      .Field("group", slot.group)
      .Field("kind", slot.kind)
      .Field("namespace", slot.ns)
      .Field("name", slot.name)
      .EndObject();
}

void WriteDeclaration(const Row& row, JsonWriter& json) {
  json.BeginObject().Key("object");
  WriteObject(row.slot, json);
  json.Field("uid", MetadataUid(row.id.uid))
      .Field("intent", Name(row.intent))
      .Field("state", Name(row.id.state))
      .Field("terminating", row.terminating)
      .Field("since", FormatTimestamp(row.at))
      .EndObject();
}

namespace {

void WriteName(const ResourceName& name, JsonWriter& json) {
  json.BeginObject()
      .Field("name", name.name.text)
      .Field("sort", Name(name.sort))
      .Field("observed", name.observed)
      .Field("since", FormatTimestamp(name.at))
      .EndObject();
}

}  // namespace

void WriteNames(const Owner& owner, const std::vector<ResourceName>& names, JsonWriter& json) {
  json.BeginArray();
  for (const ResourceName& name : names) {
    if (name.name == owner.key) WriteName(name, json);
  }
  for (const ResourceName& name : names) {
    if (name.sort != NameSort::kFormerId && name.name != owner.key) WriteName(name, json);
  }
  json.EndArray();
}

void WriteResourceMembers(const Owner& owner, JsonWriter& json) {
  json.Field("id", owner.id.text)
      .Field("key", owner.key.text)
      .Field("type", owner.identity.type)
      .Field("name", owner.name)
      .Field("arn", owner.arn)
      .Field("partition", owner.identity.partition)
      .Field("account", owner.identity.account)
      .Field("region", owner.identity.region)
      .Field("service", owner.service)
      .Field("contact", owner.contact)
      .Key("root");
  WriteObject(owner.root, json);
  json.Field("state", StateOf(owner))
      .Field("since", FormatTimestamp(owner.since))
      .Field("contested", owner.contested)
      .Field("real", owner.real)
      .Field("reason", owner.record_reason)
      .Field("successor", owner.successor);
}

void WriteOwner(const Owner& owner, JsonWriter& json) {
  json.BeginObject();
  WriteResourceMembers(owner, json);
  json.EndObject();
}

void WriteResource(const Owner& owner, const std::vector<Row>& rows, JsonWriter& json) {
  json.BeginObject();
  WriteResourceMembers(owner, json);
  json.ListField("declarations", rows, WriteDeclaration).EndObject();
}

void WriteAuditLine(const AuditLine& line, JsonWriter& json) {
  const AuditEntry& entry = line.entry;
  json.BeginObject()
      .NumberField("number", line.place.number)
      .Field("at", FormatTimestamp(entry.at))
      .Field("action", Name(entry.action))
      .Field("key", entry.key.text)
      .Field("id", entry.id.text)
      .Key("root");
  WriteObject(entry.root, json);
  json.Key("object");
  WriteObject(entry.slot, json);
  json.Field("uid", MetadataUid(entry.uid))
      .Field("cause", entry.cause)
      .Field("actor", entry.actor)
      .Field("review", entry.review.text)
      .EndObject();
}

void WriteDenialMembers(const Denial& denial, JsonWriter& json) {
  json.Field("id", denial.id)
      .Field("rule", denial.rule)
      .Field("resource", denial.resource)
      .Field("cause", denial.cause)
      .Key("object")
      .BeginObject()
      .Field("group", denial.group)
      .Field("kind", denial.kind)
      .Field("namespace", denial.ns)
      .Field("name", denial.name)
      .EndObject()
      .Field("user", denial.user)
      .Field("first", FormatTimestamp(denial.first))
      .Field("last", FormatTimestamp(denial.last))
      .NumberField("count", denial.count);
}

}  // namespace truce
