#include "webhook/api/described.h"

#include <cstdint>
#include <optional>
#include <string>

#include "registry/identity/uids.h"
#include "registry/ownership/agreements.h"
#include "registry/ownership/facts.h"
#include "registry/ownership/rows.h"
#include "webhook/api/override_book.h"
#include "webhook/api/rest/queries.h"
#include "webhook/api/review_books.h"

namespace truce {

void WriteJson(const ResourceRef& resource, JsonWriter& json) {
  const Owner& owner = resource.owner;
  json.Object("id", owner.id.text, "type", owner.identity.type, "name", owner.name, "arn",
              owner.arn);
}

void WriteJson(const Slot& slot, JsonWriter& json) {
  json.Object("cluster", slot.cluster, "group", slot.group, "kind", slot.kind, "namespace", slot.ns,
              "name", slot.name);
}

std::string_view StateOf(const Owner& owner) {
  switch (owner.record) {
    case Record::kImported: return "imported";
    case Record::kOrphaned:
    case Record::kTransferring: return "orphaned";
    case Record::kNone: break;
  }
  return owner.state == HolderState::kReserved ? "reserved" : "held";
}

std::vector<const ResourceName*> NamesShown(const Owner& owner,
                                            const std::vector<ResourceName>& names) {
  std::vector<const ResourceName*> shown;
  for (const ResourceName& name : names) {
    if (name.name == owner.key) shown.push_back(&name);
  }
  for (const ResourceName& name : names) {
    if (name.sort != NameSort::kFormerId && name.name != owner.key) shown.push_back(&name);
  }
  return shown;
}

// Two resources of one name differ by account or region, so tables always show these.
Columns<Owner> ColumnsOf(const Owner* /*thing*/) {
  static constexpr Column<Owner> kColumns[] = {
      {"id", [](const Owner& o) -> Datum { return o.id.text; }},
      {"key", [](const Owner& o) -> Datum { return o.key.text; }},
      {"type", [](const Owner& o) -> Datum { return o.identity.type; }},
      {"name", [](const Owner& o) -> Datum { return o.name; }},
      {"arn", [](const Owner& o) -> Datum { return o.arn; }},
      {"partition", [](const Owner& o) -> Datum { return o.identity.partition; }},
      {"account", [](const Owner& o) -> Datum { return o.identity.account; }, "", Look::kAccount},
      {"region", [](const Owner& o) -> Datum { return o.identity.region; }},
      {"service", [](const Owner& o) -> Datum { return o.service; }},
      {"contact", [](const Owner& o) -> Datum { return o.contact; }},
      {"root", [](const Owner& o) -> Datum { return o.root; }, "OWNER", Look::kOwner},
      {"state", [](const Owner& o) -> Datum { return StateOf(o); }, "", Look::kUntil},
      {"since", [](const Owner& o) -> Datum { return o.since; }},
      {"contested", [](const Owner& o) -> Datum { return o.contested; }},
      {"real", [](const Owner& o) -> Datum { return o.real; }},
      {"reason", [](const Owner& o) -> Datum { return o.record_reason; }},
      {"successor", [](const Owner& o) -> Datum { return o.successor; }},
      {"until",
       [](const Owner& o) -> Datum { return o.until ? FormatTimestamp(*o.until) : std::string(); }},
  };
  return {kColumns,
          "type name account region service root state since + contact contested until id arn"};
}

Columns<Row> ColumnsOf(const Row* /*thing*/) {
  static constexpr Column<Row> kColumns[] = {
      {"object.cluster", nullptr, "CLUSTER"},
      {"object", [](const Row& r) -> Datum { return r.slot; }},
      {"uid", [](const Row& r) -> Datum { return MetadataUid(r.id.uid); }},
      {"intent", [](const Row& r) -> Datum { return Name(r.intent); }},
      {"state", [](const Row& r) -> Datum { return Name(r.id.state); }},
      {"terminating", [](const Row& r) -> Datum { return r.terminating; }},
      {"since", [](const Row& r) -> Datum { return r.at; }},
  };
  return {kColumns, "object.cluster object intent state since"};
}

Columns<ResourceName> ColumnsOf(const ResourceName* /*thing*/) {
  static constexpr Column<ResourceName> kColumns[] = {
      {"name", [](const ResourceName& n) -> Datum { return n.name.text; }},
      {"sort", [](const ResourceName& n) -> Datum { return Name(n.sort); }},
      {"from", nullptr, "", Look::kSource},
      {"observed", [](const ResourceName& n) -> Datum { return n.observed; }},
      {"since", [](const ResourceName& n) -> Datum { return n.at; }},
  };
  return {kColumns, "name sort from since"};
}

Columns<AuditLine> ColumnsOf(const AuditLine* /*thing*/) {
  static constexpr Column<AuditLine> kColumns[] = {
      {"number", [](const AuditLine& l) -> Datum { return l.place.number; }},
      {"at", [](const AuditLine& l) -> Datum { return l.entry.at; }},
      {"action", [](const AuditLine& l) -> Datum { return Name(l.entry.action); }},
      {"resource", nullptr, "", Look::kResource},
      {"key", [](const AuditLine& l) -> Datum { return l.entry.key.text; }},
      {"id", [](const AuditLine& l) -> Datum { return l.entry.id.text; }},
      {"root", [](const AuditLine& l) -> Datum { return l.entry.root; }},
      {"object", [](const AuditLine& l) -> Datum { return l.entry.slot; }},
      {"uid", [](const AuditLine& l) -> Datum { return MetadataUid(l.entry.uid); }},
      {"cause", [](const AuditLine& l) -> Datum { return l.entry.cause; }},
      {"actor", [](const AuditLine& l) -> Datum { return l.entry.actor; }},
      {"review", [](const AuditLine& l) -> Datum { return l.entry.review.text; }},
  };
  return {kColumns, "at action resource actor root cause + key"};
}

Columns<ServiceCount> ColumnsOf(const ServiceCount* /*thing*/) {
  static constexpr Column<ServiceCount> kColumns[] = {
      {"service", [](const ServiceCount& c) -> Datum { return c.service; }},
      {"ownerships", [](const ServiceCount& c) -> Datum { return c.keys; }},
  };
  return {kColumns, "service ownerships"};
}

Columns<Denial> ColumnsOf(const Denial* /*thing*/) {
  static constexpr Column<Denial> kColumns[] = {
      {"id", [](const Denial& d) -> Datum { return d.id; }},
      {"rule", [](const Denial& d) -> Datum { return d.rule; }},
      {"resource", [](const Denial& d) -> Datum { return d.resource; }},
      {"cause", [](const Denial& d) -> Datum { return d.cause; }},
      {"object",
       [](const Denial& d) -> Datum {
         return [&d](JsonWriter& json) {
           json.Object("group", d.group, "kind", d.kind, "namespace", d.ns, "name", d.name);
         };
       }},
      {"user", [](const Denial& d) -> Datum { return d.user; }},
      {"first", [](const Denial& d) -> Datum { return d.first; }},
      {"last", [](const Denial& d) -> Datum { return d.last; }},
      {"count", [](const Denial& d) -> Datum { return d.count; }},
  };
  return {kColumns, "last count object resource rule + user cause"};
}

// One of the configuration has no id.
Columns<StoredOverride> ColumnsOf(const StoredOverride* /*thing*/) {
  static constexpr Column<StoredOverride> kColumns[] = {
      {"id", [](const StoredOverride& o) -> Datum { return o.id; }},
      {"audits", nullptr, "", Look::kAudited},
      {"source",
       [](const StoredOverride& o) -> Datum { return o.id.empty() ? "configuration" : "api"; }},
      {"name", [](const StoredOverride& o) -> Datum { return o.what.name; }},
      {"object", [](const StoredOverride& o) -> Datum { return o.what.object; }},
      {"namespace", [](const StoredOverride& o) -> Datum { return o.what.ns; }},
      {"group", [](const StoredOverride& o) -> Datum { return o.what.group; }},
      {"until", [](const StoredOverride& o) -> Datum { return o.what.until; }},
      {"reason", [](const StoredOverride& o) -> Datum { return o.what.reason; }},
      {"by", [](const StoredOverride& o) -> Datum { return o.by; }, "", Look::kMaker},
      {"at",
       [](const StoredOverride& o) -> Datum {
         return o.at == Timestamp{} ? std::string() : FormatTimestamp(o.at);
       }},
  };
  return {kColumns, "id audits until reason by"};
}

namespace {

std::string_view StateOf(const Share& share) {
  const Agreement& agreement = share.view.agreement;
  if (!HoldsAt(agreement, share.now)) return "ended";
  return HoldsAt(agreement, share.now + kShareNotice) ? "active" : "ending";
}

}  // namespace

Columns<Share> ColumnsOf(const Share* /*thing*/) {
  static constexpr Column<Share> kColumns[] = {
      {"id", [](const Share& s) -> Datum { return s.view.agreement.id.text; }},
      {"resource", [](const Share& s) -> Datum { return ResourceRef{s.view.owner}; }},
      {"owner", [](const Share& s) -> Datum { return s.view.owner.root; }},
      {"party", [](const Share& s) -> Datum { return s.view.agreement.party.text; }},
      {"to", [](const Share& s) -> Datum { return ForPeople(s.view.agreement.party); }, "WITH"},
      {"state", [](const Share& s) -> Datum { return StateOf(s); }},
      {"reason", [](const Share& s) -> Datum { return s.view.agreement.reason; }},
      {"by", [](const Share& s) -> Datum { return s.view.agreement.actor; }},
      {"at", [](const Share& s) -> Datum { return s.view.agreement.at; }},
      {"level", [](const Share& s) -> Datum { return Name(s.view.agreement.level); }},
      {"until",
       [](const Share& s) -> Datum {
         const std::optional<Timestamp>& until = s.view.agreement.until;
         return until ? FormatTimestamp(*until) : std::string();
       }},
  };
  return {kColumns, "id resource to level state until reason"};
}

void WriteJson(const Step& step, JsonWriter& json) {
  json.Object("text", step.text, "done", step.done);
}

Columns<Transfer> ColumnsOf(const Transfer* /*thing*/) {
  static constexpr Column<Transfer> kColumns[] = {
      {"id", [](const Transfer& t) -> Datum { return t.view.agreement.id.text; }},
      {"resource", [](const Transfer& t) -> Datum { return ResourceRef{t.view.owner}; }},
      {"owner", [](const Transfer& t) -> Datum { return t.view.owner.root; }},
      {"party", [](const Transfer& t) -> Datum { return t.view.agreement.party.text; }},
      {"to", [](const Transfer& t) -> Datum { return ForPeople(t.view.agreement.party); }},
      {"state",
       [](const Transfer& t) -> Datum {
         return t.view.agreement.accepted ? "accepted" : "offered";
       }},
      {"reason", [](const Transfer& t) -> Datum { return t.view.agreement.reason; }},
      {"by", [](const Transfer& t) -> Datum { return t.view.agreement.actor; }},
      {"at", [](const Transfer& t) -> Datum { return t.view.agreement.at; }},
      {"successor", [](const Transfer& t) -> Datum { return t.view.agreement.successor; }},
      {"steps",
       [](const Transfer& t) -> Datum {
         return StepsOf(t.view.owner, t.view.rows, t.view.agreement);
       }},
  };
  return {kColumns, "id resource to state successor reason"};
}

void WriteAgreement(const AgreementView& view, Timestamp now, JsonWriter& json) {
  if (view.agreement.kind == AgreementKind::kTransfer) {
    json.Put(Transfer{view});
  } else {
    json.Put(Share{view, now});
  }
}

}  // namespace truce
