// GET and POST /overrides, DELETE /overrides/ID.
#include <algorithm>
#include <utility>

#include "webhook/api/described.h"
#include "webhook/api/override_book.h"
#include "webhook/api/rest/operations.h"

namespace truce {
namespace {

constexpr std::string_view kOverridesPath = "/api/v1/overrides";

class Overrides final {
 public:
  Overrides(const RestApi& rest, OverrideBook& book) : rest_(rest), book_(book) {}

  Result<HttpResponse> List(RestCall& call) const {
    const std::vector<StoredOverride> made = book_.Present();
    std::vector<StoredOverride> all = made;
    for (const Override& each : call.policy->modes.overrides) {
      const auto same = [&](const StoredOverride& other) { return other.what == each; };
      const bool is_made = std::any_of(made.begin(), made.end(), same);
      const bool holds = each.until > SystemClock().Now();
      if (!is_made && holds) all.push_back({"", each, "", {}});
    }
    return ListResponse(all);
  }

  Result<HttpResponse> Make(RestCall& call) const {
    TRUCE_ASSIGN_OR_RETURN(auto given, ReadTexts(call.request, {"name", "object", "namespace",
                                                                "group", "until", "reason"}));
    Override what{given["name"],  given["object"], given["namespace"], given["group"], {},
                  given["reason"]};
    if (auto refusal = rest_.Refuse(call, {"overrides", "", "create", what.ns})) {
      return *std::move(refusal);
    }
    TRUCE_ASSIGN_OR_RETURN(const Timestamp until, TimeIn("\"until\"", given["until"]));
    what.until = std::chrono::floor<std::chrono::seconds>(until);
    TRUCE_ASSIGN_OR_RETURN(const auto made, book_.Add(what, ActorOf(call.caller), call.deadline));
    return Answer(made, 201);
  }

  Result<HttpResponse> End(RestCall& call) const {
    const std::string id = call.request.path.substr(kOverridesPath.size() + 1);
    const auto present = book_.Present();
    const auto found = std::find_if(present.begin(), present.end(),
                                    [&](const StoredOverride& each) { return each.id == id; });
    // Whoever may end none learns nothing of which there are.
    const std::string ns = found == present.end() ? std::string() : found->what.ns;
    if (auto refusal = rest_.RefuseById(call, {"overrides", "", "delete", ns})) {
      return *std::move(refusal);
    }
    TRUCE_ASSIGN_OR_RETURN(const auto ended, book_.End(id, ActorOf(call.caller), call.deadline));
    return Answer(ended, 200);
  }

 private:
  static HttpResponse Answer(const StoredOverride& stored, int status) {
    return JsonResponse(JsonWriter().Put(stored).Take(), {}, status);
  }

  const RestApi& rest_;
  OverrideBook& book_;
};

}  // namespace

std::vector<HttpRoute> OverrideRoutes(const RestApi& rest, OverrideBook& book) {
  const auto shared = std::make_shared<const Overrides>(rest, book);
  const std::string path(kOverridesPath);
  const Permission lists = {"overrides", "", "list", ""};
  RestApi::Operation list = Calling(shared, &Overrides::List);
  RestApi::Operation make = Calling(shared, &Overrides::Make);
  RestApi::Operation end = Calling(shared, &Overrides::End);
  return {rest.Routed({"GET", path, {}, lists, std::move(list)}),
          rest.Routed({"POST", path, {}, {}, std::move(make)}),
          rest.Routed({"DELETE", path + "/", {}, {}, std::move(end)})};
}

}  // namespace truce
