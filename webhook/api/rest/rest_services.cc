// Services and the audit log.
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "registry/base/result.h"
#include "webhook/api/described.h"
#include "webhook/api/rest/rest_api.h"

namespace truce {
namespace {

constexpr std::string_view kServicesPath = "/api/v1/services/";
// Of each list in the answer about a service.
constexpr std::size_t kShownMax = 100;
constexpr std::string_view kNdjson = "application/x-ndjson";
// Lines that one answer looks at, whatever of them fits.
constexpr std::size_t kAuditScanMax = 10'000;

struct AuditFilter {
  std::string action;
  std::string actor;
  std::string key;
  std::optional<Timestamp> since;
  std::optional<Timestamp> until;
};

bool Fits(const AuditEntry& entry, const AuditFilter& filter) {
  const auto same = [](const std::string& wanted, std::string_view value) {
    return wanted.empty() || wanted == value;
  };
  return same(filter.action, Name(entry.action)) && same(filter.actor, entry.actor) &&
         same(filter.key, entry.key.text) && (!filter.since || entry.at >= *filter.since) &&
         (!filter.until || entry.at < *filter.until);
}

Result<std::optional<Timestamp>> TimeOf(const RestCall& call, std::string_view name) {
  const auto text = call.request.Query(name);
  if (!text) return std::optional<Timestamp>();
  TRUCE_ASSIGN_OR_RETURN(const Timestamp time, TimeIn(name, *text));
  return std::optional(time);
}

Result<AuditFilter> FilterOf(const RestCall& call) {
  AuditFilter filter{
      call.Parameter("action"), call.Parameter("actor"), call.Parameter("key"), {}, {}};
  TRUCE_ASSIGN_OR_RETURN(filter.since, TimeOf(call, "since"));
  TRUCE_ASSIGN_OR_RETURN(filter.until, TimeOf(call, "until"));
  if (filter.action.empty()) return filter;
  for (std::uint8_t i = 0; i <= static_cast<std::uint8_t>(AuditAction::kAdministered); ++i) {
    if (Name(static_cast<AuditAction>(i)) == filter.action) return filter;
  }
  return InvalidArgument("there is no such action");
}

// As a cursor keeps it.
std::vector<std::string> WordsOf(const AuditPlace& place) {
  return {std::to_string(place.incarnation), std::to_string(place.transaction),
          std::to_string(place.number)};
}

// Of what WordsOf made: a cursor is sealed.
AuditPlace AuditPlaceOf(const std::vector<std::string>& words) {
  return {std::stoull(words[0]), std::stoull(words[1]), std::stoull(words[2])};
}

// Sums of the ownerships of a service.
struct Sums {
  using Counts = std::map<std::string, std::int64_t, std::less<>>;
  Counts by_state;
  Counts by_type;
  std::set<std::string, std::less<>> contacts;
  std::vector<const Owner*> offered;
};

Sums SumsOf(const std::vector<Owner>& owners) {
  Sums sums;
  for (const Owner& owner : owners) {
    ++sums.by_state[std::string(StateOf(owner))];
    ++sums.by_type[owner.identity.type];
    if (!owner.contact.empty()) sums.contacts.insert(owner.contact);
    if (!owner.successor.empty()) sums.offered.push_back(&owner);
  }
  return sums;
}

void WriteCounts(std::string_view name, const Sums::Counts& counts, JsonWriter& json) {
  json.Key(name).BeginObject();
  for (const auto& [key, count] : counts) json.NumberField(key, count);
  json.EndObject();
}

void WriteShown(std::string_view name, const std::vector<const Owner*>& owners, JsonWriter& json) {
  const std::span shown(owners.data(), std::min(owners.size(), kShownMax));
  json.Fields(name, shown);
}

void WriteSums(const Sums& sums, JsonWriter& json) {
  WriteCounts("byState", sums.by_state, json);
  WriteCounts("byType", sums.by_type, json);
  json.TextsField("contacts", {sums.contacts.begin(), sums.contacts.end()});
  WriteShown("offered", sums.offered, json);
}

}  // namespace

void WriteJson(const ObservedView& observed, JsonWriter& json) {
  json.Object("resource", observed.owner, "observer", observed.observer);
}

Result<HttpResponse> RestApi::ListServices(RestCall& call) const {
  TRUCE_ASSIGN_OR_RETURN(const std::size_t limit, call.Limit());
  TRUCE_ASSIGN_OR_RETURN(const auto place, seal_.Open(call, 1));
  const std::string after = place ? place->front() : std::string();
  TRUCE_ASSIGN_OR_RETURN(const auto services, queries_.Services(after, limit, call.deadline));
  const bool more = services.size() == limit;
  return ListResponse(services, more ? seal_.Seal(call, {services.back().service}) : std::string());
}

Result<HttpResponse> RestApi::GetService(RestCall& call) const {
  const std::string service = call.request.path.substr(kServicesPath.size());
  if (service.empty()) {
    return Error{ErrorCode::kNotFound, "the service's name is missing"};
  }
  TRUCE_ASSIGN_OR_RETURN(const ServiceView view, queries_.OfService(service, call.policy->parties,
                                                                    kShownMax, call.deadline));
  const auto& [owned, complete, dealings, observed, contested] = view;
  if (owned.empty() && dealings.empty() && observed.items.empty() && contested.empty()) {
    return ProblemResponse(ProblemType::kNotFound,
                           "no resource belongs to a service of that name, is managed by it too, "
                           "shared with it or observed by it");
  }
  JsonWriter json;
  json.BeginObject().Fields("service", service, "ownerships", owned.size(), "complete", complete);
  WriteSums(SumsOf(owned), json);
  std::vector<const Owner*> disputed;
  std::vector<KeyText> keys;
  for (const Owner& owner : owned) keys.push_back(owner.key);
  for (const Owner& owner : contested) {
    disputed.push_back(&owner);
    keys.push_back(owner.key);
  }
  WriteShown("contested", disputed, json);
  const auto agreements = [&](std::string_view name, AgreementKind kind) {
    json.Key(name).BeginArray();
    std::size_t shown = 0;
    for (const AgreementView& each : view.dealings) {
      if (each.agreement.kind != kind || shown == kShownMax) continue;
      WriteAgreement(each, ports_.clock.Now(), json);
      ++shown;
    }
    json.EndArray();
  };
  agreements("used", AgreementKind::kShare);
  agreements("pendingOffers", AgreementKind::kTransfer);
  json.Fields("observed", observed.items, "observedComplete", observed.complete);
  if (ports_.write_findings) {
    ports_.write_findings(keys, json);
  } else {
    json.TextsField("findings", {});
  }
  json.EndObject();
  return JsonResponse(json.Take());
}

Result<HttpResponse> RestApi::ListAudit(RestCall& call) const {
  TRUCE_ASSIGN_OR_RETURN(const AuditFilter filter, FilterOf(call));
  TRUCE_ASSIGN_OR_RETURN(const std::size_t limit, call.Limit());
  TRUCE_ASSIGN_OR_RETURN(const std::string order, call.OneOf("order", {"newest", "oldest"}));
  TRUCE_ASSIGN_OR_RETURN(const std::string format, call.OneOf("format", {"json", "ndjson"}));
  AuditRange range;
  range.id.text = call.Parameter("id");
  range.newest_first = order != "oldest";
  TRUCE_ASSIGN_OR_RETURN(const auto place, seal_.Open(call, 3));
  if (place) range.behind = AuditPlaceOf(*place);
  std::vector<AuditLine> shown;
  std::size_t looked_at = 0;
  bool more = true;
  while (more && shown.size() < limit && looked_at < kAuditScanMax) {
    constexpr std::size_t kPage = 500;
    TRUCE_ASSIGN_OR_RETURN(auto lines, queries_.Audit(range, kPage, call.deadline));
    more = lines.size() == kPage;
    for (AuditLine& line : lines) {
      if (shown.size() == limit) {
        more = true;
        break;
      }
      ++looked_at;
      range.behind = line.place;
      if (Fits(line.entry, filter)) shown.push_back(std::move(line));
    }
  }
  const std::string next = more ? seal_.Seal(call, WordsOf(*range.behind)) : std::string();
  if (format != "ndjson") return ListResponse(shown, next);
  HttpResponse response{.content_type = std::string(kNdjson)};
  JsonWriter json;
  for (const AuditLine& line : shown) {
    response.body.append(json.Put(line).Take()).append("\n");
  }
  if (more) response.headers.emplace_back("X-Next-Cursor", next);
  return response;
}

}  // namespace truce
