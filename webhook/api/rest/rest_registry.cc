// The registry as a whole: GET /api/v1/registry. Needs list on ownerships, as a list of resources
// does.
//
// GET /registry.
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "registry/base/result.h"
#include "registry/ownership/lists/resource_copy.h"
#include "webhook/api/described.h"
#include "webhook/api/rest/operations.h"
#include "webhook/wire/json_writer.h"

namespace truce {
namespace {

// Times are milliseconds since 1970, slots and identities the texts of identity/values.h; no member
// holds an empty, false or usual value.
std::int64_t Millis(Timestamp time) { return time.time_since_epoch().count(); }

void WriteCopied(const Owner& owner, JsonWriter& json) {
  std::vector<std::string> left;
  for (const Slot& slot : owner.left) left.push_back(ToText(slot));
  const bool is_recorded = owner.record != Record::kNone;
  json.BeginObject()
      .Fields("id", owner.id.text, "root", ToText(owner.root))
      .Given("service", owner.service, "contact", owner.contact, "arn", owner.arn, "name",
             owner.name)
      .Fields("identity", ToText(owner.identity), "since", Millis(owner.since))
      .Given("real", owner.real, "managedOnce", owner.managed_once, "left", left, "record",
             is_recorded ? Name(owner.record) : "", "reason", owner.record_reason, "successor",
             owner.successor);
  if (owner.until) json.Fields("until", Millis(*owner.until));
  json.EndObject();
}

void WriteRow(const Row& row, JsonWriter& json) {
  json.BeginObject()
      .Fields("uid", row.id.uid.text, "state", Name(row.id.state), "slot", ToText(row.slot), "root",
              ToText(row.root), "intent", Name(row.intent), "identity", ToText(row.identity))
      .Given("terminating", row.terminating, "mapped", !row.managed, "review", row.review.text,
             "digest", row.digest, "base", row.base ? std::to_string(*row.base) : "", "user",
             row.user)
      .Fields("at", Millis(row.at));
  if (row.created) json.Fields("created", Millis(*row.created));
  json.Given("accountFields", row.account_fields).EndObject();
}

void WriteKnownObject(const Object& object, JsonWriter& json) {
  json.BeginObject()
      .Fields("uid", object.uid.text, "slot", ToText(object.slot), "root", ToText(object.root))
      .Given("parent", object.parent ? ToText(*object.parent) : "", "parentUid",
             object.parent_uid.text, "link", object.link, "names", object.names, "service",
             object.service, "contact", object.contact, "composes", object.composes, "ownParty",
             object.own_party, "transferTo", object.transfer_to, "unprovenMarks",
             object.unproven_marks, "stripped",
             object.stripped ? std::to_string(*object.stripped) : "")
      .Fields("at", Millis(object.at))
      .EndObject();
}

void WriteAgreed(const Agreement& agreement, JsonWriter& json) {
  json.BeginObject()
      .Fields("id", agreement.id.text, "kind", Name(agreement.kind))
      .Given("party", agreement.party.text)
      .Fields("level", Name(agreement.level))
      .Given("open", !agreement.accepted, "successor", agreement.successor, "reason",
             agreement.reason, "by", agreement.actor)
      .Fields("at", Millis(agreement.at));
  if (agreement.until) json.Fields("until", Millis(*agreement.until));
  json.EndObject();
}

void WriteName(const ResourceName& name, JsonWriter& json) {
  json.BeginObject()
      .Fields("name", name.name.text, "sort", Name(name.sort))
      .Given("observed", name.observed, "spelling", name.spelling)
      .Fields("at", Millis(name.at))
      .EndObject();
}

void WriteCopy(const ResourceCopy& copy, JsonWriter& json) {
  const auto list = [&](const char* name, const auto& items, auto write) {
    if (!items.empty()) json.ListField(name, items, write);
  };
  json.BeginObject().Fields("key", copy.key.text);
  if (copy.owner) WriteCopied(*copy.owner, json.Key("owner"));
  list("rows", copy.rows, WriteRow);
  list("objects", copy.objects, WriteKnownObject);
  list("agreements", copy.agreements, WriteAgreed);
  list("names", copy.names, WriteName);
  json.EndObject();
}

// One page of an export.
struct PageItem {
  ResourceCopy copy;
  std::optional<Owner> owner;  // with what copies leave out
};
struct Page {
  std::vector<PageItem> items;
  KeyText next;
  bool more = false;
};

class Registry final {
 public:
  explicit Registry(OperationPorts ports)
      : ports_(std::move(ports)), queries_(ports_.store), seal_(ports_.rest.cursor_key()) {}

  Result<HttpResponse> Give(RestCall& call) const {
    ResourceQuery query;
    TRUCE_ASSIGN_OR_RETURN(query.filter, ResourceFilterOf(call));
    TRUCE_ASSIGN_OR_RETURN(query.limit, call.Limit());
    TRUCE_ASSIGN_OR_RETURN(const auto place, seal_.Open(call, 1));
    if (place) query.after_key.text = place->front();
    TRUCE_ASSIGN_OR_RETURN(const Page page, PageOf(query, call));
    const auto write = [](const PageItem& item, JsonWriter& json) {
      json.BeginObject().Fields("key", item.copy.key.text);
      if (item.owner) json.Fields("resource", *item.owner);
      json.Key("keyCopy");
      WriteCopy(item.copy, json);
      json.EndObject();
    };
    return ListResponse(page.items, write,
                        page.more ? seal_.Seal(call, {page.next.text}) : std::string());
  }

 private:
  // Without filter all keys, also those that are only observed; else those of the owners that fit.
  Result<Page> PageOf(const ResourceQuery& query, const RestCall& call) const {
    const ResourceFilter& filter = query.filter;
    const bool is_whole =
        filter.type.empty() && filter.service.empty() && filter.state.empty() && !filter.ns;
    Page page;
    std::vector<KeyText> keys;
    if (!is_whole) {
      TRUCE_ASSIGN_OR_RETURN(const ResourcePage found,
                             queries_.List(query, *call.policy->catalogue, call.deadline));
      for (const Owner& owner : found.owners) keys.push_back(owner.key);
      page.more = found.more;
      page.next = found.next_key;
    }
    const auto look = [&](const AllFacts& facts) {
      if (is_whole) keys = facts.KeysAfter(query.after_key, query.limit);
      page.items.clear();
      for (const KeyText& key : keys) {
        const auto named = facts.Named(key);
        if (!named) continue;
        page.items.push_back({CopyOf(named->resource, facts), facts.OwnerOf(named->resource)});
      }
    };
    TRUCE_RETURN_IF_ERROR(ports_.store.Read(look, call.deadline));
    if (is_whole) {
      page.more = keys.size() == query.limit;
      if (!keys.empty()) page.next = keys.back();
    }
    return page;
  }

  OperationPorts ports_;
  RegistryQueries queries_;
  CursorSeal seal_;
};

}  // namespace

std::vector<HttpRoute> RegistryRoutes(const OperationPorts& ports) {
  const RestApi& rest = ports.rest;
  const auto shared = std::make_shared<const Registry>(ports);
  RestApi::Operation give = Calling(shared, &Registry::Give);
  return {rest.Routed({"GET",
                       "/api/v1/registry",
                       {"type", "service", "namespace", "state", "limit", "cursor"},
                       {"ownerships", "", "list", ""},
                       std::move(give)})};
}

}  // namespace truce
