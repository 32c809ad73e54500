// Each thing that people see, described once (webhook/wire/columns.h): the members of its JSON in
// the API, which schema/openapi.yaml names too, and the columns of its table.
#ifndef TRUCE_WEBHOOK_API_DESCRIBED_H_
#define TRUCE_WEBHOOK_API_DESCRIBED_H_

#include <string_view>
#include <vector>

#include "registry/ownership/terms.h"
#include "webhook/wire/columns.h"

namespace truce {

struct AgreementView;
struct AuditLine;
struct Conflict;
struct Denial;
struct LiveFinding;
struct Mute;
struct Owner;
struct ResourceName;
struct Row;
struct ServiceCount;
struct Step;
struct StoredOverride;
struct TagWar;
struct TypeSummary;

// {"id", "type", "name", "arn"} of a resource, where another thing is about it.
struct ResourceRef {
  const Owner& owner;
};
void WriteJson(const ResourceRef& resource, JsonWriter& json);
// {"cluster", "group", "kind", "namespace", "name"}: an object.
void WriteJson(const Slot& slot, JsonWriter& json);
void WriteJson(const Step& step, JsonWriter& json);  // {"text", "done"}

Columns<Owner> ColumnsOf(const Owner*);
Columns<Row> ColumnsOf(const Row*);
Columns<ResourceName> ColumnsOf(const ResourceName*);
Columns<AuditLine> ColumnsOf(const AuditLine*);
Columns<ServiceCount> ColumnsOf(const ServiceCount*);
Columns<Denial> ColumnsOf(const Denial*);
Columns<StoredOverride> ColumnsOf(const StoredOverride*);
Columns<TypeSummary> ColumnsOf(const TypeSummary*);

struct Share {
  const AgreementView& view;
  Timestamp now;
};
struct Transfer {
  const AgreementView& view;
};
Columns<Share> ColumnsOf(const Share*);
Columns<Transfer> ColumnsOf(const Transfer*);
// As one of them.
void WriteAgreement(const AgreementView& view, Timestamp now, JsonWriter& json);

// The ownership's state in the words of the glossary: "reserved", "held", "orphaned", "imported".
std::string_view StateOf(const Owner& owner);
// `names` but for former ids, the key first. Valid as long as they are.
std::vector<const ResourceName*> NamesShown(const Owner& owner,
                                            const std::vector<ResourceName>& names);

// Of a server that follows a cluster (cluster_described.cc).
struct ConflictView {
  const Conflict& conflict;
  const TagWar* war;  // null: there is none
};
Columns<ConflictView> ColumnsOf(const ConflictView*);
Columns<LiveFinding> ColumnsOf(const LiveFinding*);
Columns<Mute> ColumnsOf(const Mute*);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_API_DESCRIBED_H_
