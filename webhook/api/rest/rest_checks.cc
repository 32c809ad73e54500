// POST /checks: what the admission of manifests would say, with nothing written.
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "registry/base/result.h"
#include "webhook/admission/codec.h"
#include "webhook/admission/judge.h"
#include "webhook/admission/ownership_check.h"
#include "webhook/api/resource_json.h"
#include "webhook/api/rest/rest_api.h"
#include "webhook/wire/json_text.h"

namespace truce {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kItemsMax = 500;
constexpr std::size_t kNamespacesMax = 20;
constexpr std::string_view kCheckedUid = "truce-check";

// One manifest, and what it is reviewed as.
// NOLINTNEXTLINE(bugprone-exception-escape): moving a Json does not throw
struct Item {
  GroupKind kind;
  std::string version;
  std::string ns;
  std::string name;
  Json object;
};

// What objects that name no namespace are taken to be in; kinds that have none are left alone.
struct Defaults {
  std::string ns;
  const Catalogue* catalogue;
};

bool IsClusterScoped(const GroupKind& kind, const Catalogue& catalogue) {
  const KindEntry* entry = catalogue.FindKind(kind.group, kind.kind);
  return entry != nullptr && entry->flavour != Flavour::kUpjetNamespaced;
}

Result<Item> ItemOf(Json object, const Defaults& defaults, std::size_t index) {
  const std::string place = "items[" + std::to_string(index) + "]";
  if (!object.is_object()) return InvalidArgument(place + " is not an object");
  Item item;
  const std::string api_version = TextIn(object, "apiVersion");
  item.kind.kind = TextIn(object, "kind");
  if (api_version.empty() || item.kind.kind.empty())
    return InvalidArgument(place + " lacks apiVersion or kind");
  const std::size_t slash = api_version.find('/');
  item.kind.group = slash == std::string::npos ? std::string() : api_version.substr(0, slash);
  item.version = slash == std::string::npos ? api_version : api_version.substr(slash + 1);
  const auto metadata = object.find("metadata");
  if (metadata == object.end() || !metadata->is_object())
    return InvalidArgument(place + " lacks metadata");
  item.name = TextIn(*metadata, "name");
  if (item.name.empty()) return InvalidArgument(place + " lacks metadata.name");
  item.ns = TextIn(*metadata, "namespace");
  if (item.ns.empty() && !defaults.ns.empty() && !IsClusterScoped(item.kind, *defaults.catalogue)) {
    item.ns = defaults.ns;
    (*metadata)["namespace"] = defaults.ns;
  }
  (*metadata)["uid"] = std::string(kCheckedUid) + "-" + std::to_string(index);
  metadata->erase("managedFields");
  metadata->erase("ownerReferences");
  item.object = std::move(object);
  return item;
}

std::string ReviewOf(const Item& item, const std::string& user, std::size_t index) {
  const Json kind = {
      {"group", item.kind.group}, {"version", item.version}, {"kind", item.kind.kind}};
  Json request = {{"uid", std::string(kCheckedUid) + "-" + std::to_string(index)},
                  {"kind", kind},
                  {"requestKind", kind},
                  {"name", item.name},
                  {"operation", "CREATE"},
                  {"userInfo", {{"username", user}}},
                  {"dryRun", true},
                  {"object", item.object}};
  if (!item.ns.empty()) request["namespace"] = item.ns;
  const Json review = {{"kind", "AdmissionReview"},
                       {"apiVersion", "admission.k8s.io/v1"},
                       {"request", std::move(request)}};
  return Dump(review);
}

Result<std::vector<Item>> ItemsOf(const HttpRequest& request, const Catalogue& catalogue) {
  if (NestsTooDeep(request.body)) return InvalidArgument("the body nests deeper than 64");
  Json body = ParseJson(request.body);
  if (!body.is_object()) return InvalidArgument("the body is not a JSON object");
  for (const auto& [name, value] : body.items()) {
    if (name != "items" && name != "namespace") {
      return InvalidArgument("the body has a member other than \"items\" and \"namespace\"");
    }
  }
  const auto items = body.find("items");
  if (items == body.end() || !items->is_array())
    return InvalidArgument("\"items\" is missing or no list");
  if (items->size() > kItemsMax) return InvalidArgument("more than 500 items");
  const auto ns = body.find("namespace");
  if (ns != body.end() && !ns->is_string()) return InvalidArgument("\"namespace\" is not a text");
  const Defaults defaults{ns == body.end() ? std::string() : ns->get<std::string>(), &catalogue};
  std::vector<Item> out;
  for (Json& object : *items) {
    TRUCE_ASSIGN_OR_RETURN(Item item, ItemOf(std::move(object), defaults, out.size()));
    out.push_back(std::move(item));
  }
  return out;
}

// What the rules say of one item.
struct Checked {
  bool allowed = true;
  std::vector<Finding> findings;
  std::vector<DeclaredResource> declared;
  std::map<std::size_t, std::size_t> same_check;  // index of a finding → the other item
};

void WriteFinding(const Finding& finding, std::optional<std::size_t> same_check, JsonWriter& json) {
  json.BeginObject()
      .Field("rule", Name(finding.rule))
      .Field("mode", Name(finding.mode))
      .Field("resource", finding.resource)
      .Field("cause", finding.cause)
      .Field("remedy", finding.remedy)
      .Field("link", finding.link)
      .Field("key", finding.key.text);
  if (same_check) json.NumberField("sameCheck", static_cast<std::int64_t>(*same_check));
  json.EndObject();
}

void WriteChecked(const Item& item, const Checked& checked, JsonWriter& json) {
  json.BeginObject().Key("object").BeginObject();
  json.Field("group", item.kind.group)
      .Field("kind", item.kind.kind)
      .Field("namespace", item.ns)
      .Field("name", item.name)
      .EndObject();
  json.Field("verdict", checked.allowed ? "allowed" : "denied");
  json.Key("declares").BeginArray();
  for (const DeclaredResource& resource : checked.declared) {
    json.BeginObject()
        .Field("type", resource.identity.type)
        .Field("name", resource.name)
        .Field("key", resource.key.text)
        .Key("names")
        .BeginArray();
    for (const FurtherName& name : resource.further) json.Text(name.text.text);
    json.EndArray().Field("intent", Name(resource.intent)).EndObject();
  }
  json.EndArray().Key("findings").BeginArray();
  for (std::size_t i = 0; i < checked.findings.size(); ++i) {
    const auto other = checked.same_check.find(i);
    WriteFinding(checked.findings[i],
                 other == checked.same_check.end() ? std::nullopt : std::optional(other->second),
                 json);
  }
  json.EndArray().EndObject();
}

// Two items of one check that declare one resource: admission would refuse the second.
void CompareItems(const std::vector<Item>& items, std::vector<Checked>& checked) {
  std::map<KeyText, std::size_t> first;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (items[i].kind == OwnershipCheckKind()) continue;  // asks about what others declare
    for (const DeclaredResource& resource : checked[i].declared) {
      if (resource.key.empty() || resource.intent == Intent::kObserves) continue;
      const auto [found, is_new] = first.try_emplace(resource.key, i);
      if (is_new || found->second == i) continue;
      const Item& other = items[found->second];
      Finding finding;
      finding.rule = Rule::kDuplicateOwnership;
      finding.mode = resource.sure ? Mode::kEnforce : Mode::kWarn;
      finding.resource = OneLine(resource.identity.type + " \"" + resource.name + "\"", 256);
      finding.cause = OneLine(finding.resource + " is declared by " + other.kind.kind + " " +
                                  (other.ns.empty() ? "" : other.ns + "/") + other.name +
                                  " of the same check, too",
                              1024);
      finding.remedy = "declare it once";
      finding.key = resource.key;
      if (resource.sure) checked[i].allowed = false;
      checked[i].same_check.emplace(checked[i].findings.size(), found->second);
      checked[i].findings.push_back(std::move(finding));
    }
  }
}

}  // namespace

HttpResponse RestApi::Check(RestCall& call) const {
  const Result<void> known = call.AllowOnly({});
  if (!known.ok()) return ProblemResponse(known.error());
  const Result<std::vector<Item>> items = ItemsOf(call.request, *call.policy->catalogue);
  if (!items.ok()) return ProblemResponse(items.error());
  std::set<std::string> namespaces;
  for (const Item& item : items.value()) namespaces.insert(item.ns);
  if (namespaces.empty()) namespaces.insert("");
  if (namespaces.size() > kNamespacesMax) {
    return ProblemResponse(InvalidArgument("the items are of more than 20 namespaces"));
  }
  for (const std::string& ns : namespaces) {
    if (auto refusal = Refuse(call, {"checks", "", "create", ns})) return *std::move(refusal);
  }
  std::vector<Checked> checked(items.value().size());
  ReviewReader reader;
  for (std::size_t i = 0; i < checked.size(); ++i) {
    std::string body = ReviewOf(items.value()[i], call.caller.name, i);
    const auto review = reader.Read(body);
    const std::string place = "items[" + std::to_string(i) + "]: ";
    if (!review.ok()) return ProblemResponse(InvalidArgument(place + review.error().message));
    auto judgement = Judgement::PrepareQuestion(review.value(), *call.policy, ports_.clock.Now());
    if (!judgement.ok()) return ProblemResponse(InvalidArgument(place + judgement.error().message));
    if (!judgement.value().concerns_registry()) continue;
    Decision decision;
    const auto look = [&](const Facts& facts) {
      decision = judgement.value().Decide(facts, ports_.ids);
    };
    const Result<void> read = ports_.store.Read(look, call.deadline);
    if (!read.ok()) return ProblemResponse(read.error());
    checked[i].allowed = decision.allowed;
    checked[i].findings = judgement.value().FindingsOf(decision);
    checked[i].declared = judgement.value().request().object.resources;
  }
  CompareItems(items.value(), checked);
  const bool allowed =
      std::all_of(checked.begin(), checked.end(), [](const Checked& each) { return each.allowed; });
  JsonWriter json;
  json.BeginObject().Field("verdict", allowed ? "allowed" : "denied").Key("items").BeginArray();
  for (std::size_t i = 0; i < checked.size(); ++i) WriteChecked(items.value()[i], checked[i], json);
  json.EndArray().EndObject();
  return JsonResponse(json.Take());
}

}  // namespace truce
