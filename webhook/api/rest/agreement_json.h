// How shares, transfers and protections look in JSON.
//
//   share:    {"id", "resource": {"id", "type", "name", "arn"}, "owner": object, "party", "to",
//              "level": "observe|attach", "state": "active|ending|ended", "reason", "by", "at",
//              "until"}
//   transfer: {"id", "resource", "owner", "party", "to", "state": "offered|accepted", "successor",
//              "reason", "by", "at", "steps": [{"text", "done"}]}
//   "party" is "ns:<cluster>/<namespace>", "slot:…" or "service:…", "to" the same for people;
//   "until" is empty for a share without end.
#ifndef TRUCE_WEBHOOK_API_REST_AGREEMENT_JSON_H_
#define TRUCE_WEBHOOK_API_REST_AGREEMENT_JSON_H_

#include <string>
#include <vector>

#include "registry/ownership/rows.h"
#include "webhook/wire/json_writer.h"

namespace truce {

// One agreement with what it is about.
struct AgreementView {
  Agreement agreement;
  Owner owner;
  std::vector<Row> rows;  // of the key; for the steps of a transfer
};

// One resource with everything that is declared of it.
struct ResourceView {
  Owner owner;
  std::vector<Row> rows;
  std::vector<Agreement> agreements;
  std::vector<ResourceName> names = {};  // beside the key
};

// What roots of one service observe and others own.
struct ObservedView {
  Owner owner;
  Slot observer;
};
struct ObservedViews {
  std::vector<ObservedView> items;
  bool complete = true;  // false: there are more
};

// Writes a share or a transfer as one value.
void WriteAgreement(const AgreementView& view, Timestamp now, JsonWriter& json);
// Why a deletion of what is marked as protected would pass all the same.
struct Hindrance {
  std::string what;    // a sentence without stop
  std::string remedy;  // the same

  bool operator==(const Hindrance&) const = default;
};

// The members "shares", "transfer", "handOver" and "protection" of a resource; the latter three
// null when there is none. handOver: {"successor", "steps"}, by the owner's annotation alone.
void WriteAgreementMembers(const ResourceView& view, Timestamp now,
                           const std::vector<Hindrance>& hindrances, JsonWriter& json);
// The entity tag: changes whenever the agreement does.
std::string EntityTagOf(const Agreement& agreement);
// The agreement as one text that tells two of them apart.
std::string ToText(const Agreement& agreement);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_API_REST_AGREEMENT_JSON_H_
