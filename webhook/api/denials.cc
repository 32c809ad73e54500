// GET /denials and one of them.
#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "registry/ownership/rows.h"
#include "webhook/api/described.h"
#include "webhook/api/problem.h"
#include "webhook/api/rest/operations.h"
#include "webhook/api/review_books.h"
#include "webhook/wire/json_writer.h"

namespace truce {
namespace {

constexpr std::string_view kDenialsPath = "/api/v1/denials/";

// The fate of a refused object since.
struct Aftermath {
  std::string_view outcome = "none";  // of admission: it was not admitted since
  std::optional<Owner> owner;         // of its present resource
};

Aftermath AftermathOf(const Denial& denial, const Facts& facts) {
  const Slot slot{denial.root.cluster, denial.group, denial.kind, denial.ns, denial.name};
  const auto object = facts.ObjectBySlot(slot);
  if (!object) return {};
  const auto named = facts.Named(denial.key);
  std::optional<Row> other;
  for (Row& row : facts.RowsOfUid(object->uid)) {
    // Its earlier declarations are no answer to the refusal.
    if (row.at < denial.last) continue;
    if (named && row.id.resource == named->resource) {
      auto owner = facts.OwnerOf(row.id.resource);
      const bool is_own = owner && owner->root == row.root;
      return {is_own ? "owns" : "uses", std::move(owner)};
    }
    other = std::move(row);
  }
  if (!other) return {};
  return {"another", facts.OwnerOf(other->id.resource)};
}

struct ShownDenial {
  Denial denial;
  Aftermath then;
};

void WriteJson(const Aftermath& then, JsonWriter& json) {
  std::optional<ResourceRef> resource;
  if (then.owner) resource.emplace(ResourceRef{*then.owner});
  json.Object("outcome", then.outcome, "resource", resource);
}

void WriteJson(const ShownDenial& shown, JsonWriter& json) {
  json.BeginObject();
  WriteMembers(shown.denial, json);
  json.Fields("then", shown.then).EndObject();
}

class Denials final {
 public:
  Denials(const OperationPorts& ports, const DenialBook& book) : ports_(ports), book_(book) {}

  Result<HttpResponse> List(RestCall& call) const {
    const std::string ns = call.Parameter("namespace");
    TRUCE_ASSIGN_OR_RETURN(const std::size_t limit, call.Limit());
    const KeyText key{call.Parameter("key")};
    std::vector<Denial> denials = book_.All();
    if (!key.empty()) {
      TRUCE_ASSIGN_OR_RETURN(const auto names, NamesWith(key, call.deadline));
      std::erase_if(denials, [&](const Denial& each) { return !names.contains(each.key); });
    }
    std::erase_if(denials, [&](const Denial& each) { return !ns.empty() && each.ns != ns; });
    if (denials.size() > limit) denials.resize(limit);
    TRUCE_ASSIGN_OR_RETURN(const auto shown, WithAftermaths(denials, call.deadline));
    return ListResponse(shown);
  }

  Result<HttpResponse> Get(RestCall& call) const {
    const std::string_view id = std::string_view(call.request.path).substr(kDenialsPath.size());
    std::vector<Denial> denials = book_.All();
    std::erase_if(denials, [&](const Denial& each) { return each.id != id; });
    // Of one that is not there nobody can tell whose it was.
    const std::string ns = denials.empty() ? std::string() : denials.front().ns;
    if (auto refusal = ports_.rest.RefuseById(call, {"ownerships", "", "list", ns})) {
      return *std::move(refusal);
    }
    if (denials.empty()) {
      return ProblemResponse(ProblemType::kNotFound,
                             "no denial has that id; those seen longest ago are forgotten");
    }
    TRUCE_ASSIGN_OR_RETURN(const auto shown, WithAftermaths(denials, call.deadline));
    return JsonResponse(JsonWriter().Put(shown.front()).Take());
  }

 private:
  // All names of what `name` names: it was refused by whichever was declared.
  Result<std::set<KeyText>> NamesWith(const KeyText& name, Deadline deadline) const {
    return ReadFrom(ports_.store, deadline, [&](const Facts& facts) {
      std::set<KeyText> names = {name};
      const auto named = facts.Named(name);
      if (!named) return names;
      for (ResourceName& each : facts.NamesOf(named->resource)) {
        names.insert(std::move(each.name));
      }
      return names;
    });
  }

  // Each with what became of it, in one state of the registry.
  Result<std::vector<ShownDenial>> WithAftermaths(const std::vector<Denial>& denials,
                                                  Deadline deadline) const {
    return ReadFrom(ports_.store, deadline, [&](const Facts& facts) {
      std::vector<ShownDenial> shown;
      for (const Denial& each : denials) shown.push_back({each, AftermathOf(each, facts)});
      return shown;
    });
  }

  const OperationPorts ports_;
  const DenialBook& book_;
};

}  // namespace

std::vector<HttpRoute> DenialRoutes(const OperationPorts& ports, const DenialBook& denials) {
  const auto all = std::make_shared<const Denials>(ports, denials);
  RestApi::Operation list = Calling(all, &Denials::List);
  RestApi::Operation get = Calling(all, &Denials::Get);
  return {ports.rest.Routed({"GET",
                             "/api/v1/denials",
                             {"namespace", "key", "limit"},
                             {"ownerships", "", "list", ""},
                             std::move(list)}),
          ports.rest.Routed({"GET", std::string(kDenialsPath), {}, {}, std::move(get)})};
}

}  // namespace truce
