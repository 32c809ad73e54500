// How resources and objects look in JSON, everywhere in the API.
//
//   resource: {"id", "key", "type", "name", "arn", "partition", "account", "region", "service",
//              "contact", "root": object, "state": "reserved|held|orphaned|imported", "since",
//              "contested", "real", "reason", "successor"[, "declarations": [{"object", "uid",
//              "intent", "state", "terminating", "since"}]]}
//   object:   {"cluster", "group", "kind", "namespace", "name"}
#ifndef TRUCE_WEBHOOK_API_RESOURCE_JSON_H_
#define TRUCE_WEBHOOK_API_RESOURCE_JSON_H_

#include <string>
#include <string_view>
#include <vector>

#include "registry/ownership/terms.h"
#include "webhook/wire/json_writer.h"

namespace truce {

struct AuditLine;
struct Denial;
struct Owner;
struct ResourceName;
struct Row;

// The ownership's state in the words of the glossary: "reserved", "held", "orphaned", "imported".
std::string_view StateOf(const Owner& owner);

// Each writes one value.
void WriteObject(const Slot& slot, JsonWriter& json);
void WriteDeclaration(const Row& row, JsonWriter& json);
// `names` but for former ids, the key first: {"name", "sort", "observed", "since"}.
void WriteNames(const Owner& owner, const std::vector<ResourceName>& names, JsonWriter& json);
void WriteOwner(const Owner& owner, JsonWriter& json);
// Its members without the braces, so that a caller can add its own.
void WriteResourceMembers(const Owner& owner, JsonWriter& json);
void WriteResource(const Owner& owner, const std::vector<Row>& rows, JsonWriter& json);

// A line of the audit log: {"number", "at", "action", "key", "id", "root", "object", "uid",
// "cause", "actor", "review"}.
void WriteAuditLine(const AuditLine& line, JsonWriter& json);

// The members of a denial without the braces: "id", "rule", "resource", "cause", "object", "user",
// "first", "last", "count".
void WriteDenialMembers(const Denial& denial, JsonWriter& json);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_API_RESOURCE_JSON_H_
