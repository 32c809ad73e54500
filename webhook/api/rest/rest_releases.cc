// Release of many orphaned ownerships at once, by a plan: POST /api/v1/releases. Needs create on
// ownerships/release in the namespace that is asked for, else in all.
//
// POST /releases, and why something is not released.
#include <algorithm>
#include <utility>

#include "policies/people.h"
#include "policies/sharing_rules.h"
#include "registry/base/result.h"
#include "registry/catalogue/explain.h"
#include "registry/ownership/agreements.h"
#include "registry/ownership/declared_grant.h"
#include "registry/ownership/ledger.h"
#include "registry/ownership/sight.h"
#include "webhook/api/described.h"
#include "webhook/api/rest/operations.h"
#include "webhook/api/rest/queries.h"

namespace truce {
namespace {

constexpr std::size_t kReleasesMax = 1000;  // of one plan

struct ReleaseRequest {
  ResourceFilter filter;
  std::string reason;
  std::string apply;  // "", "whole" or "each"
};

// One orphaned ownership of the plan, and what became of it.
struct ReleaseItem {
  ResourceView view;
  std::string tag;
  std::string_view result;  // "planned", "released", "changed", "protected" or "failed"
  std::string detail;
};
struct ReleasePlan {
  std::vector<ReleaseItem> items;
  bool complete = true;
};

void WriteJson(const ReleaseItem& item, JsonWriter& json) {
  json.Object("result", item.result, "detail", item.detail, "resource", item.view.owner);
}

Result<ReleaseRequest> ReadRelease(const RestCall& call) {
  TRUCE_ASSIGN_OR_RETURN(auto texts,
                         ReadTexts(call.request, {"service", "type", "name", "account", "region",
                                                  "cluster", "namespace", "reason", "apply"}));
  ReleaseRequest request;
  request.filter.service = texts["service"];
  request.filter.type = texts["type"];
  request.filter.name = texts["name"];
  request.filter.account = texts["account"];
  request.filter.region = texts["region"];
  request.filter.cluster = texts["cluster"];
  if (texts.count("namespace") > 0) request.filter.ns = texts["namespace"];
  request.filter.state = "orphaned";
  request.reason = texts["reason"];
  request.apply = texts["apply"];
  texts.erase("reason");
  texts.erase("apply");
  const bool says_which = std::any_of(texts.begin(), texts.end(),
                                      [](const auto& each) { return !each.second.empty(); });
  if (!says_which)
    return InvalidArgument("say of which service, type, name, account, region or namespace");
  if (!request.filter.type.empty() &&
      call.policy->catalogue->FindType(request.filter.type) == nullptr) {
    return InvalidArgument(NoType(request.filter.type, *call.policy->catalogue));
  }
  const bool known = request.apply.empty() || request.apply == "whole" || request.apply == "each";
  if (!known) return InvalidArgument("\"apply\" is neither \"whole\" nor \"each\"");
  if (!request.apply.empty() && request.reason.empty())
    return InvalidArgument("\"reason\" is missing");
  return request;
}

std::string TagOf(const ReleasePlan& plan) {
  std::string text;
  for (const ReleaseItem& item : plan.items) text += item.view.owner.key.text + item.tag + "\n";
  return EntityTagOf(text);
}

HttpResponse Answer(const ReleasePlan& plan, bool applied) {
  const auto released = std::count_if(plan.items.begin(), plan.items.end(),
                                      [](const auto& item) { return item.result == "released"; });
  JsonWriter json;
  json.Object("applied", applied, "complete", plan.complete, "released", released, "items",
              plan.items);
  return JsonResponse(json.Take(), TagOf(plan));
}

class Releases final {
 public:
  explicit Releases(OperationPorts ports) : ports_(std::move(ports)), queries_(ports_.store) {}

  Result<HttpResponse> Take(RestCall& call) const {
    TRUCE_ASSIGN_OR_RETURN(const ReleaseRequest request, ReadRelease(call));
    const std::string ns = request.filter.ns.value_or(std::string());
    for (const Permission& permission : {Permission{"ownerships", "release", "create", ns},
                                         Permission{"ownerships", "", "list", ns}}) {
      if (auto refusal = ports_.rest.Refuse(call, permission)) return *std::move(refusal);
    }
    TRUCE_ASSIGN_OR_RETURN(ReleasePlan plan, Plan(call, request));
    if (request.apply.empty()) return Answer(plan, false);
    const std::string expected(call.request.Header("if-match"));
    if (expected.empty()) {
      return ProblemResponse(ProblemType::kPreconditionRequired,
                             "a release must say which plan it carries out");
    }
    if (expected != "*" && expected != TagOf(plan)) return Changed();
    const bool whole = request.apply == "whole";
    return whole ? Whole(call, request, plan) : Each(call, request, plan);
  }

 private:
  static HttpResponse Changed() {
    return ProblemResponse(ProblemType::kPreconditionFailed,
                           "the plan is another one by now; nothing was released");
  }

  Result<ReleasePlan> Plan(const RestCall& call, const ReleaseRequest& request) const {
    ReleasePlan plan;
    ResourceQuery query;
    query.filter = request.filter;
    query.limit = kReleasesMax;
    for (bool more = true; more;) {
      TRUCE_ASSIGN_OR_RETURN(const ResourcePage page,
                             queries_.List(query, *call.policy->catalogue, call.deadline));
      for (const Owner& owner : page.owners) {
        auto view = queries_.ById(owner.id, call.deadline);
        // It may have gone meanwhile; the resource that was found is released.
        if (!view.ok() || view.value().owner.record != owner.record) continue;
        ReleaseItem item{std::move(view).value(), {}, "planned", {}};
        item.tag = EntityTagOf(item.view);
        if (const Agreement* mark = ProtectionIn(item.view.agreements)) {
          ReleaseOutcome kept;
          kept.mark = *mark;
          const Problem why = WhyNotReleased(item.view.owner, kept);
          item.result = "protected";
          item.detail = why.detail + "; " + why.remedy;
        }
        plan.items.push_back(std::move(item));
      }
      query.after_key = page.next_key;
      query.limit = kReleasesMax - plan.items.size();
      plan.complete = !page.more;
      more = page.more && query.limit > 0;
    }
    return plan;
  }

  // Releases the item when it is still what was planned; decided on what is in the store now.
  static bool Free(const ReleaseItem& item, const ByWhom& by, const IsShown& shown,
                   Ledger& ledger) {
    const ResourceId& id = item.view.owner.id;
    auto present = ledger.OwnerOf(id);
    if (!present) return false;
    const ResourceView now{*std::move(present), ledger.RowsOf(id), ledger.AgreementsOf(id)};
    return EntityTagOf(now) == item.tag && ReleaseByOperator(id, by, shown, ledger).done;
  }

  // All items in one transaction; false: one of them changed, and nothing was written.
  Result<bool> Free(const RestCall& call, const std::vector<const ReleaseItem*>& items,
                    const std::string& reason) const {
    bool fits = true;
    const ByWhom by{ActorOf(call.caller), reason};
    const IsShown shown = ShownTo(*call.policy);
    DecisionIds decision_ids;
    const auto decide = [&](const Facts& facts) {
      const IdSource ids = decision_ids.Run(ports_.ids);
      Ledger ledger(facts, ports_.clock.Now(), ids, call.policy->parties);
      fits = std::all_of(items.begin(), items.end(),
                         [&](const ReleaseItem* item) { return Free(*item, by, shown, ledger); });
      return fits ? ledger.Take() : Changes{};
    };
    Locks locks;
    for (const ReleaseItem* item : items) locks.resources.push_back(item->view.owner.id);
    TRUCE_RETURN_IF_ERROR(ports_.store.Apply(locks, decide, call.deadline));
    return fits;
  }

  Result<HttpResponse> Whole(const RestCall& call, const ReleaseRequest& request,
                             ReleasePlan& plan) const {
    std::vector<const ReleaseItem*> all;
    for (const ReleaseItem& item : plan.items) {
      if (item.result == "protected") {
        return ProblemResponse(ProblemType::kConflict, item.detail + "; nothing was released");
      }
      all.push_back(&item);
    }
    TRUCE_ASSIGN_OR_RETURN(const bool done, Free(call, all, request.reason));
    if (!done) return Changed();
    for (ReleaseItem& item : plan.items) item.result = "released";
    return Answer(plan, true);
  }

  Result<HttpResponse> Each(const RestCall& call, const ReleaseRequest& request,
                            ReleasePlan& plan) const {
    for (ReleaseItem& item : plan.items) {
      if (item.result == "protected") continue;
      const Result<bool> done = Free(call, {&item}, request.reason);
      item.result = !done.ok() ? "failed" : done.value() ? "released" : "changed";
      if (!done.ok()) item.detail = done.error().message;
      if (done.ok() && !done.value()) item.detail = "it is another one by now; look at it again";
    }
    return Answer(plan, true);
  }

  OperationPorts ports_;
  RegistryQueries queries_;
};

}  // namespace

IsShown ShownTo(const AdmissionPolicy& policy) {
  return [&policy](const Slot& slot) {
    return policy.watched && slot.cluster == policy.identity.cluster &&
           !policy.unwatched.contains(GroupKind{slot.group, slot.kind});
  };
}

Problem WhyNotReleased(const Owner& owner, const ReleaseOutcome& release) {
  const std::string resource = ResourceInWords(owner);
  const std::string word = WordOf(owner);
  if (release.mark) {
    const std::string declaring = DeclaringObject(*release.mark, owner);
    return {ProblemType::kConflict, resource + " is protected: " + Said(release.mark->reason),
            declaring.empty()
                ? "first lift the protection: `truce protect " + word + " --off --reason '…'`"
                : "first remove spec.protection from " + OneLine(declaring, kOwnerTextBytesMax)};
  }
  if (!release.living) return {ProblemType::kNotFound, "nobody owns that resource any more", {}};
  const ReleaseOutcome::Life& life = *release.living;
  const std::string object = ObjectForPeople(life.slot);
  const std::string detail = object + " manages " + resource +
                             (life.terminating ? " and is being deleted" : " and lives") +
                             ": released, the name would be anybody's";
  std::string remedy = "end it: ";
  if (life.terminating) {
    remedy += "wait until " + object + " is gone";
  } else if (life.managed) {
    remedy += "`" + LetGoCommand(life.slot) + "`, which keeps it in AWS";
  } else {
    remedy += "take it out of " + object + " when what that composes only observes";
  }
  return {ProblemType::kConflict, detail,
          remedy + "; or hand it over: `truce transfer " + word +
              " --to NAMESPACE --successor KIND/NAMESPACE/NAME --force --reason '…'`"};
}

std::vector<HttpRoute> ReleaseRoutes(const OperationPorts& ports) {
  const RestApi& rest = ports.rest;
  const auto shared = std::make_shared<const Releases>(ports);
  RestApi::Operation take = Calling(shared, &Releases::Take);
  return {rest.Routed({"POST", "/api/v1/releases", {}, {}, std::move(take)})};
}

}  // namespace truce
