// Shares and transfers: permissions of owners for others, and how ownership changes hands. The
// rules are those of registry/ownership/agreements.h. For an owner's word create (shares) and
// create (transfers) is needed in the root's namespace, to end a share or withdraw an offer update
// there; to accept or decline update on ownerships/transfer in the receiver's namespace; to force a
// transfer create on ownerships/transfer in all namespaces.
#include "webhook/api/rest/agreement_desk.h"

#include <algorithm>
#include <utility>

#include "registry/base/result.h"
#include "registry/base/text.h"
#include "registry/identity/identity.h"
#include "registry/ownership/ledger.h"
#include "webhook/api/described.h"

namespace truce {
namespace {

// Agreements that one page looks at.
constexpr std::size_t kLookedAtMax = 5000;
constexpr std::size_t kStep = 500;
constexpr std::size_t kNameBytesMax = 253;

bool IsName(std::string_view text) {
  return !text.empty() && text.size() <= kNameBytesMax &&
         std::all_of(text.begin(), text.end(), IsDnsCharacter);
}

bool Matches(const std::string& if_match, const std::string& tag) {
  return if_match.empty() || if_match == "*" || if_match == tag;
}

// "Bucket.s3.aws.upbound.io/artifacts" in `cluster`.
std::optional<Slot> SlotOfObject(const std::string& text, const std::string& cluster) {
  const std::size_t slash = text.find('/');
  const std::size_t dot = text.find('.');
  if (slash == std::string::npos || dot == 0 || dot > slash) return std::nullopt;
  Slot slot{cluster, text.substr(dot + 1, slash - dot - 1), text.substr(0, dot), "",
            text.substr(slash + 1)};
  if (!IsName(slot.group) || !IsName(slot.name)) return std::nullopt;
  const bool is_kind = std::all_of(slot.kind.begin(), slot.kind.end(), IsAlnum);
  return is_kind ? std::optional(std::move(slot)) : std::nullopt;
}

}  // namespace

Result<PartyId> PartyNamed(const PartyName& name) {
  if (!IsName(name.cluster)) return InvalidArgument("\"cluster\" is not an id of a cluster");
  if (name.ns.empty() == name.object.empty()) {
    return InvalidArgument("name one of \"namespace\" and \"object\"");
  }
  if (!name.ns.empty()) {
    if (!IsName(name.ns)) return InvalidArgument("\"namespace\" is not a name of a namespace");
    return PartyOf(Slot{name.cluster, "", "", name.ns, ""});
  }
  const auto slot = SlotOfObject(name.object, name.cluster);
  if (!slot) return InvalidArgument("\"object\" is not of the form Kind.group/name");
  return PartyOf(*slot);
}

AgreementDesk::AgreementDesk(const OperationPorts& ports, AgreementKind kind)
    : ports_(ports), kind_(kind), queries_(ports_.store), seal_(ports_.rest.cursor_key()) {}

std::string AgreementDesk::NamespaceOf(const PartyId& party) {
  const std::size_t slash = party.text.find('/');
  const bool is_namespace = party.text.starts_with("ns:") && slash != std::string::npos;
  return is_namespace ? party.text.substr(slash + 1) : std::string();
}

Result<PartyId> AgreementDesk::PartyIn(const Texts& texts, const Slot& root) {
  const auto text = [&](const char* name) {
    const auto found = texts.find(name);
    return found == texts.end() ? std::string() : found->second;
  };
  PartyName name{text("cluster"), text("namespace"), text("object")};
  if (name.cluster.empty()) name.cluster = root.cluster;
  return PartyNamed(name);
}

Result<ResourceView> AgreementDesk::Resource(const std::string& id, Deadline deadline) const {
  if (id.empty()) return InvalidArgument("\"resource\" is missing: the id of a resource");
  return queries_.ById(ResourceId{id}, deadline);
}

Result<AgreementView> AgreementDesk::ById(const std::string& id, Deadline deadline) const {
  const auto look = [&](const Facts& facts) -> std::optional<AgreementView> {
    auto agreement = facts.AgreementById({id});
    if (!agreement || agreement->kind != kind_) return std::nullopt;
    auto owner = facts.OwnerOf(agreement->resource);
    if (!owner) return std::nullopt;
    std::vector<Row> rows = facts.RowsOf(owner->id);
    return AgreementView{*std::move(agreement), *std::move(owner), std::move(rows)};
  };
  TRUCE_ASSIGN_OR_RETURN(auto found, ReadFrom(ports_.store, deadline, look));
  if (found) return *std::move(found);
  return Error{ErrorCode::kNotFound, "there is no such " + std::string(Name(kind_))};
}

HttpResponse AgreementDesk::Answer(const AgreementView& view, int status) const {
  JsonWriter json;
  WriteAgreement(view, ports_.clock.Now(), json);
  return JsonResponse(json.Take(), EntityTagOf(view.agreement), status);
}

std::optional<HttpResponse> AgreementDesk::NeedsMatch(const RestCall& call) {
  if (!call.request.Header("if-match").empty()) return std::nullopt;
  return ProblemResponse(ProblemType::kPreconditionRequired,
                         "a change must say which state of the thing it changes");
}

Result<HttpResponse> AgreementDesk::Apply(RestCall& call, const Expected& expected, const Act& act,
                                          int status) const {
  std::optional<Result<Agreement>> outcome;
  bool stale = false;
  AgreementView view;
  DecisionIds decision_ids;
  const auto decide = [&](const Facts& facts) {
    outcome.reset();
    stale = false;
    auto owner = facts.OwnerOf(expected.resource);
    std::vector<Row> rows = facts.RowsOf(expected.resource);
    if (!owner) {
      outcome = Error{ErrorCode::kNotFound, "the ownership ended meanwhile"};
      return Changes{};
    }
    std::string tag;
    if (expected.agreement) {
      const auto present = facts.AgreementById(*expected.agreement);
      if (present) tag = EntityTagOf(*present);
    } else {
      tag = EntityTagOf(ResourceView{*owner, rows, facts.AgreementsOf(expected.resource)});
    }
    stale = !tag.empty() && !Matches(expected.if_match, tag);
    if (stale) return Changes{};
    const IdSource ids = decision_ids.Run(ports_.ids);
    Ledger ledger(facts, ports_.clock.Now(), ids, call.policy->parties);
    outcome = act(ledger);
    if (!outcome->ok()) return Changes{};
    const auto after = ledger.OwnerOf(expected.resource);
    view = {outcome->value(), after.value_or(*owner), std::move(rows)};
    return ledger.Take();
  };
  Locks locks;
  locks.resources.push_back(expected.resource);
  TRUCE_RETURN_IF_ERROR(ports_.store.Apply(locks, decide, call.deadline));
  if (stale) {
    return ProblemResponse(ProblemType::kPreconditionFailed, "it changed since it was read");
  }
  if (!outcome->ok()) return outcome->error();
  return Answer(view, status);
}

Result<HttpResponse> AgreementDesk::List(RestCall& call) const {
  const auto to = call.request.Query("to");
  const auto ns = call.request.Query("namespace");
  const std::string scope(to ? *to : ns.value_or(""));
  if (auto refusal = rest().Refuse(call, {"ownerships", "", "list", scope})) {
    return *std::move(refusal);
  }
  TRUCE_ASSIGN_OR_RETURN(const std::size_t limit, call.Limit());
  const std::string resource = call.Parameter("resource");
  TRUCE_ASSIGN_OR_RETURN(const auto place, seal_.Open(call, 1));
  const PublicId start{place ? place->front() : std::string()};
  std::vector<AgreementView> views;
  PublicId after;
  bool more = false;
  const auto look = [&](const Facts& facts) {
    views.clear();
    after = start;
    more = true;
    for (std::size_t looked = 0; more && looked < kLookedAtMax; looked += kStep) {
      const std::vector<Agreement> page = facts.AgreementsAfter(kind_, after, kStep);
      more = page.size() == kStep;
      for (const Agreement& each : page) {
        if (views.size() == limit) {
          more = true;
          return;
        }
        after = each.id;
        const auto owner = facts.OwnerOf(each.resource);
        const bool fits = owner && (!to || NamespaceOf(each.party) == *to) &&
                          (!ns || owner->root.ns == *ns) &&
                          (resource.empty() || owner->id.text == resource);
        if (fits) views.push_back({each, *owner, facts.RowsOf(each.resource)});
      }
    }
  };
  TRUCE_RETURN_IF_ERROR(ports_.store.Read(look, call.deadline));
  const auto write = [&](const AgreementView& view, JsonWriter& json) {
    WriteAgreement(view, ports_.clock.Now(), json);
  };
  return ListResponse(views, write, more ? seal_.Seal(call, {after.text}) : std::string());
}

std::vector<HttpRoute> DeskRoutes(const OperationPorts& ports, AgreementKind kind,
                                  const std::string& path, const DeskActions& actions) {
  const auto desk = std::make_shared<const AgreementDesk>(ports, kind);
  const auto at = [&](const char* method, const std::string& place, DeskAction action) {
    RestApi::Operation act = [desk, action](RestCall& call) { return action(*desk, call); };
    return ports.rest.Routed({method, place, {}, {}, std::move(act)});
  };
  RestApi::Operation change = [desk, actions](RestCall& call) {
    return actions.change(*desk, call);
  };
  RestApi::Operation list = Calling(desk, &AgreementDesk::List);
  std::vector<std::string_view> takes{"namespace", "to", "resource", "limit", "cursor"};
  return {ports.rest.Routed({"GET", path, std::move(takes), {}, std::move(list)}),
          at("POST", path, actions.add), at("GET", path + "/", actions.get),
          ports.rest.Routed(
              {actions.change_method, path + "/", actions.change_takes, {}, std::move(change)})};
}

}  // namespace truce
