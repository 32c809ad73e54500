// The chain above the declarations of a resource, and the end of an ownership:
// GET /api/v1/lineage/{id} and /api/v1/endings/{id}. Both need get on ownerships in the namespace
// of the root; without it a caller gets the answer for an id that does not exist.
//
// GET /lineage/{id} and /endings/{id}.
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "registry/base/random_id.h"
#include "webhook/api/described.h"
#include "webhook/api/problem.h"
#include "webhook/api/rest/lookup.h"
#include "webhook/api/rest/operations.h"
#include "webhook/findings/conflicts.h"
#include "webhook/wire/json_writer.h"

namespace truce {
namespace {

// Objects that one answer shows, and how far it climbs from a declaration.
constexpr std::size_t kLineageMax = 200;
constexpr std::size_t kLineageDepthMax = 8;

constexpr std::string_view kLineagePath = "/api/v1/lineage/";
constexpr std::string_view kEndingsPath = "/api/v1/endings/";
constexpr std::size_t kHistoryMax = 100;  // lines about one id that are looked at for its end

HttpResponse NoSuchId() {
  return ProblemResponse(ProblemType::kNotFound, "no resource has that id");
}

// Whether `action` may be the last that is said of an ownership.
bool Ends(AuditAction action) {
  return action == AuditAction::kReleased || action == AuditAction::kAdministered ||
         action == AuditAction::kMoved || action == AuditAction::kPassed;
}

// An object of the chains, and what it says of the resource itself.
struct Link {
  std::optional<Slot> above;
  std::optional<Intent> intent;
  bool terminating = false;
};

class Chains final {
 public:
  // Enters what stands above the declaration, up to the top.
  void Climb(const Row& row, const Facts& facts) {
    const auto entered = Enter(row.slot);
    if (entered == nullptr) return;
    entered->intent = row.intent;
    entered->terminating = row.terminating;
    std::optional<Object> object = facts.ObjectByUid(row.id.uid);
    for (std::size_t depth = 0; object && object->parent && depth < kLineageDepthMax; ++depth) {
      const auto place = links_.find(object->slot);
      if (place == links_.end() || place->second.above) return;
      place->second.above = object->parent;
      if (Enter(*object->parent) == nullptr) return;
      object = facts.ObjectBySlot(*object->parent);
    }
  }

  void Write(JsonWriter& json) const {
    const auto write = [](const auto& placed, JsonWriter& out) {
      const Link& link = placed.second;
      out.Object("object", placed.first, "above", link.above, "intent",
                 link.intent ? Name(*link.intent) : "none", "terminating", link.terminating);
    };
    json.ListField("objects", links_, write).Fields("complete", complete_);
  }

 private:
  Link* Enter(const Slot& slot) {
    if (links_.size() >= kLineageMax && !links_.contains(slot)) {
      complete_ = false;
      return nullptr;
    }
    return &links_[slot];
  }

  std::map<Slot, Link> links_;
  bool complete_ = true;
};

Result<HttpResponse> GetLineage(const OperationPorts& ports, RestCall& call) {
  const std::string_view id = std::string_view(call.request.path).substr(kLineagePath.size());
  if (!IsId(id)) return NoSuchId();
  TRUCE_ASSIGN_OR_RETURN(
      const auto view,
      RegistryQueries(ports.store).ById(ResourceId{std::string(id)}, call.deadline));
  TRUCE_ASSIGN_OR_RETURN(const bool may_read, ports.rest.MayRead(call, view.owner.root.ns));
  if (!may_read) return NoSuchId();
  const auto climb = [&](const Facts& facts) {
    std::pair<Chains, std::optional<Slot>> found;
    auto& [chains, speaker] = found;
    for (const Row& row : view.rows) {
      chains.Climb(row, facts);
      if (speaker || !Manages(row) || row.root != view.owner.root) continue;
      speaker = SpeakerFor(row.root, row.slot, facts);
    }
    return found;
  };
  TRUCE_ASSIGN_OR_RETURN(const auto found, ReadFrom(ports.store, call.deadline, climb));
  const auto& [chains, speaker] = found;
  JsonWriter json;
  json.BeginObject().Fields("id", view.owner.id.text, "speaker", speaker);
  chains.Write(json);
  json.EndObject();
  return JsonResponse(json.Take());
}

Result<HttpResponse> GetEnding(const OperationPorts& ports, RestCall& call) {
  const std::string_view id = std::string_view(call.request.path).substr(kEndingsPath.size());
  if (!IsId(id)) return NoSuchId();
  const RegistryQueries queries(ports.store);
  const ResourceId wanted{std::string(id)};
  const auto present = queries.ById(wanted, call.deadline);
  if (present.ok()) return NoSuchId();
  if (present.error().code != ErrorCode::kNotFound) return present.error();
  TRUCE_ASSIGN_OR_RETURN(const auto lines, queries.Audit({.id = wanted, .newest_first = true},
                                                         kHistoryMax, call.deadline));
  for (const AuditLine& line : lines) {
    if (!Ends(line.entry.action)) continue;
    TRUCE_ASSIGN_OR_RETURN(const bool may_read, ports.rest.MayRead(call, line.entry.root.ns));
    if (!may_read) return NoSuchId();
    return JsonResponse(JsonWriter().Put(line).Take());
  }
  return NoSuchId();
}

}  // namespace

std::vector<HttpRoute> LineageRoutes(const OperationPorts& ports) {
  const auto lineage = [ports](RestCall& call) { return GetLineage(ports, call); };
  const auto ending = [ports](RestCall& call) { return GetEnding(ports, call); };
  return {ports.rest.Routed({"GET", std::string(kLineagePath), {}, {}, lineage}),
          ports.rest.Routed({"GET", std::string(kEndingsPath), {}, {}, ending})};
}

}  // namespace truce
