// GET /registry.
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "registry/base/result.h"
#include "registry/ownership/lists/resource_copy.h"
#include "webhook/api/resource_json.h"
#include "webhook/api/rest/operations.h"
#include "webhook/wire/json_writer.h"

namespace truce {
namespace {

// Times are milliseconds since 1970, slots and identities the texts of identity/values.h; what is
// empty, false or what it nearly always is stands in no member.
void Say(JsonWriter& json, std::string_view name, std::string_view value) {
  if (!value.empty()) json.Field(name, value);
}
void Say(JsonWriter& json, std::string_view name, bool value) {
  if (value) json.Field(name, true);
}
void SayTime(JsonWriter& json, std::string_view name, Timestamp time) {
  json.NumberField(name, time.time_since_epoch().count());
}

void WriteCopied(const Owner& owner, JsonWriter& json) {
  json.Key("owner").BeginObject().Field("id", owner.id.text).Field("root", ToText(owner.root));
  Say(json, "service", owner.service);
  Say(json, "contact", owner.contact);
  Say(json, "arn", owner.arn);
  Say(json, "name", owner.name);
  json.Field("identity", ToText(owner.identity));
  SayTime(json, "since", owner.since);
  Say(json, "real", owner.real);
  Say(json, "managedOnce", owner.managed_once);
  if (!owner.left.empty()) {
    std::vector<std::string> left;
    for (const Slot& slot : owner.left) left.push_back(ToText(slot));
    json.TextsField("left", left);
  }
  if (owner.record != Record::kNone) json.Field("record", Name(owner.record));
  Say(json, "reason", owner.record_reason);
  Say(json, "successor", owner.successor);
  json.EndObject();
}

void WriteRow(const Row& row, JsonWriter& json) {
  json.BeginObject()
      .Field("uid", row.id.uid.text)
      .Field("state", Name(row.id.state))
      .Field("slot", ToText(row.slot))
      .Field("root", ToText(row.root))
      .Field("intent", Name(row.intent))
      .Field("identity", ToText(row.identity));
  Say(json, "terminating", row.terminating);
  Say(json, "mapped", !row.managed);
  Say(json, "review", row.review.text);
  Say(json, "digest", row.digest);
  if (row.base) json.Field("base", std::to_string(*row.base));
  Say(json, "user", row.user);
  SayTime(json, "at", row.at);
  if (row.created) SayTime(json, "created", *row.created);
  Say(json, "accountFields", row.account_fields);
  json.EndObject();
}

void WriteKnownObject(const Object& object, JsonWriter& json) {
  json.BeginObject()
      .Field("uid", object.uid.text)
      .Field("slot", ToText(object.slot))
      .Field("root", ToText(object.root));
  if (object.parent) json.Field("parent", ToText(*object.parent));
  Say(json, "parentUid", object.parent_uid.text);
  Say(json, "link", object.link);
  if (!object.names.empty()) json.TextsField("names", object.names);
  Say(json, "service", object.service);
  Say(json, "contact", object.contact);
  Say(json, "composes", object.composes);
  Say(json, "ownParty", object.own_party);
  Say(json, "transferTo", object.transfer_to);
  Say(json, "told", object.told);
  if (object.stripped) json.Field("stripped", std::to_string(*object.stripped));
  SayTime(json, "at", object.at);
  json.EndObject();
}

void WriteAgreed(const Agreement& agreement, JsonWriter& json) {
  json.BeginObject().Field("id", agreement.id.text).Field("kind", Name(agreement.kind));
  Say(json, "party", agreement.party.text);
  json.Field("level", Name(agreement.level));
  Say(json, "open", !agreement.accepted);
  Say(json, "successor", agreement.successor);
  Say(json, "reason", agreement.reason);
  Say(json, "by", agreement.actor);
  SayTime(json, "at", agreement.at);
  if (agreement.until) SayTime(json, "until", *agreement.until);
  json.EndObject();
}

void WriteName(const ResourceName& name, JsonWriter& json) {
  json.BeginObject().Field("name", name.name.text).Field("sort", Name(name.sort));
  Say(json, "observed", name.observed);
  if (name.spelling != 0) json.NumberField("spelling", name.spelling);
  SayTime(json, "at", name.at);
  json.EndObject();
}

void WriteCopy(const ResourceCopy& copy, JsonWriter& json) {
  const auto list = [&](const char* name, const auto& items, auto write) {
    if (!items.empty()) json.ListField(name, items, write);
  };
  json.BeginObject().Field("key", copy.key.text);
  if (copy.owner) WriteCopied(*copy.owner, json);
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
    TRUCE_RETURN_IF_ERROR(
        call.AllowOnly({"type", "service", "namespace", "state", "limit", "cursor"}));
    ResourceQuery query;
    TRUCE_ASSIGN_OR_RETURN(query.filter, ResourceFilterOf(call));
    const std::string ns = query.filter.ns.value_or(std::string());
    if (auto refusal = ports_.rest.Refuse(call, {"ownerships", "", "list", ns})) {
      return *std::move(refusal);
    }
    TRUCE_ASSIGN_OR_RETURN(query.limit, call.Limit());
    TRUCE_ASSIGN_OR_RETURN(const auto place, seal_.Open(call, 1));
    if (place) query.after_key.text = place->front();
    TRUCE_ASSIGN_OR_RETURN(const Page page, PageOf(query, call));
    const auto write = [](const PageItem& item, JsonWriter& json) {
      json.BeginObject().Field("key", item.copy.key.text);
      if (item.owner) {
        json.Key("resource");
        WriteOwner(*item.owner, json);
      }
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

std::vector<HttpRoute> RegistryRoutes(OperationPorts ports) {
  const RestApi& rest = ports.rest;
  const auto shared = std::make_shared<const Registry>(std::move(ports));
  const std::string path = "/api/v1/registry";
  return {rest.Authenticated("GET", path, RouteMatch::kExact,
                             [shared](RestCall& call) { return shared->Give(call); })};
}

}  // namespace truce
