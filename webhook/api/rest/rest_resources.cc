// Resources: list, one, lookup, release.
#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "policies/rule_case.h"
#include "registry/base/random_id.h"
#include "registry/base/result.h"
#include "registry/catalogue/explain.h"
#include "registry/ownership/agreements.h"
#include "registry/ownership/declared_grant.h"
#include "registry/ownership/ledger.h"
#include "registry/ownership/life.h"
#include "registry/ownership/names.h"
#include "registry/ownership/sight.h"
#include "webhook/api/described.h"
#include "webhook/api/rest/lookup.h"
#include "webhook/api/rest/operations.h"
#include "webhook/api/rest/rest_api.h"
#include "webhook/wire/digest.h"
#include "webhook/wire/json_text.h"

namespace truce {
namespace {

constexpr std::size_t kHistoryLines = 50;
constexpr std::size_t kDenialsShown = 20;
constexpr std::string_view kResourcesPath = "/api/v1/resources/";

void WriteHistoryLine(const AuditLine& line, JsonWriter& json) {
  const AuditEntry& entry = line.entry;
  json.Object("number", line.place.number, "at", entry.at, "action", Name(entry.action), "cause",
              entry.cause, "actor", entry.actor);
}

std::set<KeyText> TextsOf(const std::vector<ResourceName>& names) {
  std::set<KeyText> texts;
  for (const ResourceName& name : names) texts.insert(name.name);
  return texts;
}

Error Gone() { return {ErrorCode::kNotFound, "it was released meanwhile"}; }

Result<std::string> ReadReason(const HttpRequest& request) {
  TRUCE_ASSIGN_OR_RETURN(auto texts, ReadTexts(request, {"reason"}));
  if (texts.empty()) return InvalidArgument("\"reason\" is missing");
  return std::move(texts["reason"]);
}

bool TagMatches(std::string_view field, const std::string& tag) {
  return field == "*" || field == tag;
}

}  // namespace

Result<ResourceFilter> ResourceFilterOf(const RestCall& call) {
  ResourceFilter filter;
  filter.name = call.Parameter("name");
  filter.any_case = true;
  filter.arn = call.Parameter("arn");
  filter.type = call.Parameter("type");
  filter.service = call.Parameter("service");
  filter.account = call.Parameter("account");
  filter.region = call.Parameter("region");
  filter.cluster = call.Parameter("cluster");
  filter.state = call.Parameter("state");
  if (const auto ns = call.request.Query("namespace")) filter.ns = std::string(*ns);
  TRUCE_ASSIGN_OR_RETURN(filter.contested, call.Switch("contested"));
  TRUCE_ASSIGN_OR_RETURN(filter.shared, call.Switch("shared"));
  const auto& state = filter.state;
  const bool known_state = state.empty() || state == "reserved" || state == "held" ||
                           state == "orphaned" || state == "imported";
  if (!known_state) return InvalidArgument("state is none of reserved, held, orphaned, imported");
  if (!filter.type.empty() && call.policy->catalogue->FindType(filter.type) == nullptr) {
    return InvalidArgument(NoType(filter.type, *call.policy->catalogue));
  }
  return filter;
}

void WriteJson(const Agreement& agreement, JsonWriter& json) {
  const auto& [id, kind, resource, party, level, accepted, successor, reason, actor, at, until] =
      agreement;
  json.Object("id", id.text, "kind", Name(kind), "resource", resource.text, "party", party.text,
              "level", Name(level), "accepted", accepted, "successor", successor, "reason", reason,
              "actor", actor, "at", at, "until", until);
}

std::string EntityTagOf(const Agreement& agreement) {
  return EntityTagOf(JsonWriter().Put(agreement).Take());
}

std::string EntityTagOf(const ResourceView& view) {
  JsonWriter json;
  json.Object("owner", view.owner, "rows", view.rows, "agreements", view.agreements);
  return EntityTagOf(json.Take());
}

void WriteJson(const Hindrance& hindrance, JsonWriter& json) {
  json.Object("what", hindrance.what, "remedy", hindrance.remedy);
}

namespace {

// The members "shares", "transfer", "handOver" and "protection" of a resource; the latter three
// null when there is none. handOver: by the owner's annotation alone.
void WriteAgreements(const ResourceView& view, Timestamp now,
                     const std::vector<Hindrance>& hindrances, JsonWriter& json) {
  const Owner& owner = view.owner;
  std::optional<AgreementView> transfer;
  json.ListField("shares", view.agreements, [&](const Agreement& each, JsonWriter& out) {
    const AgreementView about{each, owner, view.rows};
    if (each.kind == AgreementKind::kShare) out.Put(Share{about, now});
    if (each.kind == AgreementKind::kTransfer) transfer = about;
  });
  const auto write_transfer = [&](JsonWriter& out) {
    if (!transfer) out.Null();
    if (transfer) out.Put(Transfer{*transfer});
  };
  const auto write_hand_over = [&](JsonWriter& out) {
    if (transfer || owner.successor.empty()) {
      out.Null();
    } else {
      out.Object("successor", owner.successor, "steps", StepsOf(owner, view.rows, std::nullopt));
    }
  };
  json.Fields("transfer", write_transfer, "handOver", write_hand_over).Key("protection");
  const Agreement* protection = ProtectionIn(view.agreements);
  if (protection == nullptr) {
    json.Null();
    return;
  }
  json.BeginObject().Fields("reason", protection->reason, "by", protection->actor, "at",
                            protection->at);
  if (const std::string declaring = DeclaringObject(*protection, owner); !declaring.empty()) {
    json.Fields("declaredBy", declaring);
  }
  json.Fields("hindrances", hindrances).EndObject();
}

}  // namespace

Result<bool> RestApi::WriteVisible(const RestCall& call, const Owner& owner,
                                   JsonWriter& json) const {
  TRUCE_ASSIGN_OR_RETURN(const bool whole, MayRead(call, owner.root.ns));
  if (whole) {
    WriteMembers(owner, json);
    json.Fields("redacted", false);
    return true;
  }
  const Disclosure disclosure = call.policy->disclosure;
  json.Fields("type", owner.identity.type, "name", owner.name);
  // As much as a refusal tells.
  if (disclosure != Disclosure::kTaken) {
    json.Fields("service", owner.service, "contact", owner.contact);
  }
  if (disclosure == Disclosure::kFull) json.Fields("root", owner.root);
  json.Fields("redacted", true);
  return false;
}

Result<HttpResponse> RestApi::ListResources(RestCall& call) const {
  ResourceQuery query;
  TRUCE_ASSIGN_OR_RETURN(query.filter, ResourceFilterOf(call));
  TRUCE_ASSIGN_OR_RETURN(query.limit, call.Limit());
  query.sort = call.Parameter("sort");
  if (query.sort == "key") query.sort.clear();
  query.now = ports_.clock.Now();
  TRUCE_ASSIGN_OR_RETURN(const auto place, seal_.Open(call, 2));
  if (place) {
    query.after = place->front();
    query.after_key.text = place->back();
  }
  TRUCE_ASSIGN_OR_RETURN(const auto page,
                         queries_.List(query, *call.policy->catalogue, call.deadline));
  const std::string next =
      page.more ? seal_.Seal(call, {page.next, page.next_key.text}) : std::string();
  return ListResponse(page.owners, next);
}

Result<HttpResponse> RestApi::GetResource(RestCall& call) const {
  const std::string_view id = std::string_view(call.request.path).substr(kResourcesPath.size());
  if (!IsId(id)) {
    return ProblemResponse(ProblemType::kNotFound, "that is not the id of a resource");
  }
  TRUCE_ASSIGN_OR_RETURN(const auto view,
                         queries_.ById(ResourceId{std::string(id)}, call.deadline));
  const Owner& owner = view.owner;
  TRUCE_ASSIGN_OR_RETURN(const bool whole, MayRead(call, owner.root.ns));
  JsonWriter json;
  json.BeginObject();
  if (!whole) {
    // Asked once more, and answered from memory.
    TRUCE_RETURN_IF_ERROR(WriteVisible(call, owner, json));
    json.EndObject();
    return JsonResponse(json.Take());
  }
  const std::string tag = EntityTagOf(view);
  if (TagMatches(call.request.Header("if-none-match"), tag)) {
    return JsonResponse("", tag, 304);
  }
  std::vector<const Row*> declarations;
  std::vector<const Row*> consumers;
  for (const Row& row : view.rows) (Manages(row) ? declarations : consumers).push_back(&row);
  WriteMembers(owner, json);
  json.Fields("redacted", false, "whyNotFree",
              WhyNotFree(owner, view.rows, call.policy->unresolved_reason), "declarations",
              declarations, "consumers", consumers, "names", NamesShown(owner, view.names));
  json.ListField("formerIds", view.names, [](const ResourceName& name, JsonWriter& out) {
    if (const auto former = FormerIdOf(name)) out.Text(former->text);
  });
  WriteAgreements(view, ports_.clock.Now(), HindrancesOf(view, call), json);
  TRUCE_ASSIGN_OR_RETURN(const auto history, queries_.Audit({.id = owner.id, .newest_first = true},
                                                            kHistoryLines, call.deadline));
  json.ListField("history", history, WriteHistoryLine);
  json.Fields("historyComplete", history.size() < kHistoryLines, "denials",
              ports_.denials.OfNames(TextsOf(view.names), kDenialsShown));
  return JsonResponse(json.EndObject().Take(), tag);
}

Result<HttpResponse> RestApi::Lookup(RestCall& call) const {
  LookupWords words{.resource = call.Parameter("resource"),
                    .arn = call.Parameter("arn"),
                    .key = call.Parameter("key"),
                    .name = call.Parameter("name"),
                    .type = call.Parameter("type"),
                    .account = call.Parameter("account"),
                    .region = call.Parameter("region"),
                    .ns = std::nullopt};
  const std::string ns = call.Parameter("namespace");
  if (!ns.empty()) words.ns = ns;
  words.known_arn = words.arn.starts_with("arn:") || words.resource.starts_with("arn:");
  LookupReading reading = ReadLookup(words, *call.policy);
  if (reading.problem) return ProblemResponse(*reading.problem);
  Result<FoundResources> found = Find(reading.lookup, ports_.store, call.deadline);
  if (words.known_arn && found.ok() && found.value().resources.empty()) {
    words.known_arn = false;
    reading = ReadLookup(words, *call.policy);
    found = Find(reading.lookup, ports_.store, call.deadline);
  }
  if (!found.ok()) return found.error();
  constexpr std::size_t kShownMax = 100;
  JsonWriter json;
  json.BeginObject().Key("resources").BeginArray();
  std::size_t shown = 0;
  bool complete = found.value().complete;
  for (const FoundResource& each : found.value().resources) {
    // That an object owns something is told to those who may read it alone.
    if (each.by_object) {
      TRUCE_ASSIGN_OR_RETURN(const bool may_read, MayRead(call, each.owner.root.ns));
      if (!may_read) continue;
    }
    if (shown == kShownMax) {
      complete = false;
      break;
    }
    json.BeginObject();
    TRUCE_RETURN_IF_ERROR(WriteVisible(call, each.owner, json));
    json.Field("certain", each.certain).EndObject();
    ++shown;
  }
  if (shown == 0 && reading.lookup.if_nothing) return ProblemResponse(*reading.lookup.if_nothing);
  json.EndArray().Field("free", shown == 0).Field("complete", complete).EndObject();
  return JsonResponse(json.Take());
}

Result<HttpResponse> RestApi::ActOnResource(RestCall& call) const {
  const std::string_view rest = std::string_view(call.request.path).substr(kResourcesPath.size());
  const std::size_t colon = rest.find(':');
  const std::string_view id = rest.substr(0, colon);
  const std::string_view verb =
      colon == std::string_view::npos ? std::string_view() : rest.substr(colon + 1);
  const bool known = verb == "release" || verb == "protect" || verb == "unprotect";
  if (!IsId(id) || !known) {
    return ProblemResponse(ProblemType::kNotFound, "there is no such resource or action");
  }
  if (verb == "release") return Release(call, ResourceId{std::string(id)});
  return SetProtection(call, ResourceId{std::string(id)}, verb == "protect");
}

std::optional<HttpResponse> RestApi::Change(RestCall& call, const ResourceId& id,
                                            const ResourceChange& what, ResourceView& now) const {
  const auto seen = queries_.ById(id, call.deadline);
  if (!seen.ok()) return ProblemResponse(seen.error());
  const Owner& owner = seen.value().owner;
  Permission permission = what.permission;
  permission.ns = owner.root.ns;
  if (auto refusal = RefuseById(call, permission)) return refusal;
  const Result<std::string> reason = ReadReason(call.request);
  if (!reason.ok()) return ProblemResponse(reason.error());
  const std::string_view expected = call.request.Header("if-match");
  if (expected.empty()) return ProblemResponse(ProblemType::kPreconditionRequired, what.unmatched);
  const ByWhom by{ActorOf(call.caller), reason.value()};
  std::optional<Problem> refused;
  bool changed = false;
  // Decided on what is in the store now, not on what was read before.
  DecisionIds decision_ids;
  const auto decide = [&](const Facts& facts) {
    refused = ProblemOf(Gone());
    changed = false;
    auto present = facts.OwnerOf(owner.id);
    if (!present) return Changes{};
    now = {*std::move(present), facts.RowsOf(owner.id), facts.AgreementsOf(owner.id)};
    changed = !TagMatches(expected, EntityTagOf(now));
    if (changed) return Changes{};
    const IdSource ids = decision_ids.Run(ports_.ids);
    Ledger ledger(facts, ports_.clock.Now(), ids, call.policy->parties);
    refused = what.change(by, now, ledger);
    return refused ? Changes{} : ledger.Take();
  };
  Locks locks;
  locks.resources.push_back(owner.id);
  const Result<void> done = ports_.store.Apply(locks, decide, call.deadline);
  if (!done.ok()) return ProblemResponse(done.error());
  if (changed) {
    return ProblemResponse(ProblemType::kPreconditionFailed, "the resource changed meanwhile");
  }
  if (refused) return ProblemResponse(*refused);
  return std::nullopt;
}

Result<HttpResponse> RestApi::Release(RestCall& call, const ResourceId& id) const {
  const auto release = [&](const ByWhom& by, const ResourceView& now,
                           Ledger& ledger) -> std::optional<Problem> {
    const ReleaseOutcome outcome =
        ReleaseByOperator(now.owner.id, by, ShownTo(*call.policy), ledger);
    if (outcome.done) return std::nullopt;
    Problem why = WhyNotReleased(now.owner, outcome);
    // It may be gone while the brake holds it.
    if (outcome.living) {
      const std::string unresolved = call.policy->unresolved_reason(outcome.living->slot);
      if (!unresolved.empty()) why.detail += "; " + unresolved;
    }
    return why;
  };
  ResourceView released;
  auto refusal = Change(call, id,
                        {{"ownerships", "release", "create", {}},
                         "a release must say which state of the resource it ends",
                         release},
                        released);
  if (refusal) return *std::move(refusal);
  const auto write = [&](JsonWriter& out) {
    WriteMembers(released.owner, out.BeginObject());
    out.Fields("declarations", released.rows).EndObject();
  };
  return JsonResponse(JsonWriter().Object("released", write).Take());
}

Result<HttpResponse> RestApi::SetProtection(RestCall& call, const ResourceId& id, bool on) const {
  const auto protect = [on](const ByWhom& by, ResourceView& now,
                            Ledger& ledger) -> std::optional<Problem> {
    const ResourceId& of = now.owner.id;
    const auto mark = on ? Protect(of, by, ledger) : Unprotect(of, by, ledger);
    if (!mark.ok()) return ProblemOf(mark.error());
    now.agreements = ledger.AgreementsOf(of);
    return std::nullopt;
  };
  ResourceView after;
  auto refusal = Change(call, id,
                        {{"ownerships", "", "update", {}},
                         "a protection must say which state of the resource it is about",
                         protect},
                        after);
  if (refusal) return *std::move(refusal);
  JsonWriter json;
  json.BeginObject();
  WriteMembers(after.owner, json);
  WriteAgreements(after, ports_.clock.Now(), HindrancesOf(after, call), json);
  json.EndObject();
  return JsonResponse(json.Take(), EntityTagOf(after));
}

std::vector<Hindrance> RestApi::HindrancesOf(const ResourceView& view, const RestCall& call) const {
  std::vector<Hindrance> out;
  if (ProtectionIn(view.agreements) == nullptr) return out;
  if (ports_.deletions_unsent) out = ports_.deletions_unsent();
  const AdmissionPolicy& policy = *call.policy;
  if (!policy.recovery.empty()) {
    out.push_back({"The server is in recovery mode, in which it refuses nothing",
                   "Finish it: `truce recovery finish`"});
  }
  const auto add = [&](Hindrance hindrance) {
    if (std::find(out.begin(), out.end(), hindrance) == out.end()) {
      out.push_back(std::move(hindrance));
    }
  };
  const Owner& owner = view.owner;
  for (const Row& row : view.rows) {
    if (row.intent != Intent::kDeletes) continue;
    ObjectFacts object;
    object.slot = row.slot;
    const RuleCase c{
        .policy = &policy, .object = &object, .root = &row.root, .now = ports_.clock.Now()};
    const AppliedMode mode = ModeIn(c, Rule::kDeletionProtection,
                                    {.type = owner.identity.type,
                                     .name = owner.name,
                                     .service = owner.service,
                                     .marked = true});
    if (mode.exempt != nullptr) {
      add({"An exemption lets its deletion pass (" + mode.exempt->location +
               "): " + mode.exempt->reason,
           "Take it out of `exemptions`, or let it name less"});
    } else if (mode.overridden != nullptr) {
      add({"An override until " + FormatTimestamp(mode.overridden->until) +
               " lets its deletion pass: " + mode.overridden->reason,
           "End it with `truce override --end ID` (`truce override` lists them); one of the "
           "configuration is taken out of `overrides`"});
    }
  }
  return out;
}

}  // namespace truce
