// GET /findings, one of them, :mute and :unmute; GET /mutes.
#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "registry/base/random_id.h"
#include "webhook/api/cluster_routes.h"
#include "webhook/api/described.h"
#include "webhook/api/rest/cursor.h"
#include "webhook/api/rest/operations.h"
#include "webhook/findings/concerned.h"
#include "webhook/findings/texts/finding_text.h"
#include "webhook/wire/digest.h"

namespace truce {
namespace {

constexpr std::string_view kFindingsPath = "/api/v1/findings";
constexpr std::string_view kMutesPath = "/api/v1/mutes";
// Of an id as many characters as tell it from the others are enough.
constexpr std::size_t kIdBytesMin = 4;
constexpr std::size_t kIdBytesMax = 10;
// The namespaces of one finding that the caller's rights are asked for; beyond, it is shown as to a
// stranger.
constexpr std::size_t kNamespacesAskedMax = 8;

// The filter of a list.
struct Filter {
  std::optional<Detector> rule;
  std::string ns;
  std::string service;
  Severity least = Severity::kInfo;

  bool Fits(const LiveFinding& finding) const {
    const auto& services = finding.services;
    return (!rule || *rule == finding.detector) && SeverityOf(finding.mode) >= least &&
           (ns.empty() || Concerns(finding, ns)) &&
           (service.empty() || std::binary_search(services.begin(), services.end(), service));
  }
};

Result<Filter> FilterOf(const RestCall& call) {
  Filter filter;
  filter.ns = call.Parameter("namespace");
  filter.service = call.Parameter("service");
  if (const std::string rule = call.Parameter("rule"); !rule.empty()) {
    filter.rule = DetectorFromName(rule);
    if (!filter.rule) return InvalidArgument("rule is the name of no detector");
  }
  if (const std::string severity = call.Parameter("severity"); !severity.empty()) {
    const auto least = SeverityFromName(severity);
    if (!least) return InvalidArgument("severity is none of info, warning, critical");
    filter.least = *least;
  }
  return filter;
}

class Findings final {
 public:
  Findings(const RestApi& rest, ClusterReports* reports) : rest_(rest), reports_(reports) {}

  Result<HttpResponse> List(RestCall& call) const {
    TRUCE_ASSIGN_OR_RETURN(const Filter filter, FilterOf(call));
    const std::string& ns = filter.ns;
    std::size_t muted = 0;
    std::vector<LiveFinding> shown;
    for (LiveFinding& finding : All()) {
      if (!filter.Fits(finding)) continue;
      if (reports_->Mutes().Hides(finding)) {
        ++muted;
      } else {
        shown.push_back(std::move(finding));
      }
    }
    TRUCE_ASSIGN_OR_RETURN(const std::string output,
                           call.OneOf("output", {"json", "text", "wide"}));
    if (output != "json") return Report(call, ns, std::move(shown), muted);
    return Page(call, ns, std::move(shown), muted);
  }

  Result<HttpResponse> Explain(RestCall& call) const {
    const std::string word = call.request.path.substr(kFindingsPath.size() + 1);
    TRUCE_ASSIGN_OR_RETURN(const Found found, FindFor(call, word));
    const auto mute = reports_->Mutes().Hiding(found.whole);
    if (call.Parameter("output") == "text") {
      return TextResponse(1, FindingText(found.told, mute));
    }
    const DetectorInfo& info = InfoOf(found.told.detector);
    JsonWriter json;
    WriteMembers(found.told, json.BeginObject());
    json.Fields("finds", info.finds, "proof", info.proof, "mute", mute).EndObject();
    return JsonResponse(json.Take());
  }

  Result<HttpResponse> Act(RestCall& call) const {
    const std::string_view rest =
        std::string_view(call.request.path).substr(kFindingsPath.size() + 1);
    const std::size_t colon = std::min(rest.find(':'), rest.size());
    const std::string word(rest.substr(0, colon));
    if (rest.substr(colon) == ":mute") return Silence(call, word);
    if (rest.substr(colon) == ":unmute") return Unmute(call, word);
    return ProblemResponse(ProblemType::kNotFound, "there is no such finding or action");
  }

  Result<HttpResponse> ListMutes(RestCall& call) const {
    TRUCE_ASSIGN_OR_RETURN(const Filter filter, FilterOf(call));
    const std::string& ns = filter.ns;
    std::vector<Mute> mutes = reports_ ? reports_->Mutes().Present() : std::vector<Mute>();
    std::erase_if(mutes, [&](const Mute& mute) {
      const auto& all = mute.namespaces;
      return (filter.rule && *filter.rule != mute.detector) ||
             (!ns.empty() && std::find(all.begin(), all.end(), ns) == all.end());
    });
    if (call.Parameter("output") == "text") return TextResponse(mutes.size(), MutesText(mutes));
    return ListResponse(mutes);
  }

 private:
  std::vector<LiveFinding> All() const {
    return reports_ ? reports_->Findings() : std::vector<LiveFinding>();
  }

  std::optional<Timestamp> AsOf() const { return reports_ ? reports_->AsOf() : std::nullopt; }

  // `finding` as the caller, who may list in `ns` (empty: in all namespaces), may see it.
  LiveFinding PartValue(const RestCall& call, const std::string& ns,
                        const LiveFinding& finding) const {
    if (ns.empty() || call.policy->disclosure == Disclosure::kFull) return finding;
    const auto& all = finding.namespaces;
    if (all.size() > kNamespacesAskedMax) return DiscreetOf(finding, ns);
    const bool reads_all = std::all_of(all.begin(), all.end(), [&](const std::string& other) {
      if (other == ns) return true;
      const Result<bool> may = rest_.MayRead(call, other);
      return may.ok() && may.value();
    });
    return reads_all ? finding : DiscreetOf(finding, ns);
  }

  Result<HttpResponse> Report(const RestCall& call, const std::string& ns,
                              std::vector<LiveFinding> shown, std::size_t muted) const {
    for (LiveFinding& finding : shown) finding = PartValue(call, ns, finding);
    SortForPeople(shown);
    const bool wide = call.Parameter("output") == "wide";
    return TextResponse(shown.size(), WithAsOf(AsOf(), FindingsText(shown, muted, wide)));
  }

  // Lists go by detector, then subject.
  using Place = std::pair<Detector, std::string>;
  Result<std::optional<Place>> PlaceOf(const RestCall& call) const {
    TRUCE_ASSIGN_OR_RETURN(const auto place, seal_.Open(call, 2));
    if (!place) return std::optional<Place>();
    const auto detector = DetectorFromName(place->front());
    if (!detector) return InvalidArgument("the cursor is of a detector that is no more");
    return std::optional(Place(*detector, place->back()));
  }

  Result<HttpResponse> Page(const RestCall& call, const std::string& ns,
                            std::vector<LiveFinding> shown, std::size_t muted) const {
    TRUCE_ASSIGN_OR_RETURN(const std::size_t limit, call.Limit());
    TRUCE_ASSIGN_OR_RETURN(const auto after, PlaceOf(call));
    if (after) {
      std::erase_if(shown, [&](const LiveFinding& finding) {
        return Place(finding.detector, finding.subject) <= *after;
      });
    }
    const std::size_t count = std::min(limit, shown.size());
    JsonWriter json;
    json.BeginObject()
        .ListField("items", std::span(shown).first(count),
                   [&](const LiveFinding& finding, JsonWriter& out) {
                     out.Put(PartValue(call, ns, finding));
                   })
        .NumberField("muted", muted);
    WriteAsOf(AsOf(), json);
    if (count < shown.size()) {
      const LiveFinding& last = shown[count - 1];
      json.Field("nextCursor", seal_.Seal(call, {std::string(Name(last.detector)), last.subject}));
    }
    return JsonResponse(json.EndObject().Take());
  }

  // One finding, as it is and as the caller may see it.
  struct Found {
    LiveFinding whole;
    LiveFinding told;
  };

  // The one whose id begins with `word`. A caller who may see none of it does not learn whether
  // there is one. Errors: kInvalidArgument, kNotFound, those of asking for rights.
  Result<Found> FindFor(const RestCall& call, const std::string& word) const {
    const bool is_id = word.size() >= kIdBytesMin && word.size() <= kIdBytesMax &&
                       word.find_first_not_of(kIdCharacters) == std::string::npos;
    if (!is_id) {
      return InvalidArgument("the id of a finding is 4 to 10 characters of a to z and 2 to 7");
    }
    std::vector<Found> found;
    std::size_t looked_at = 0;
    for (LiveFinding& finding : All()) {
      if (!finding.id.starts_with(word) || ++looked_at > kNamespacesAskedMax) continue;
      TRUCE_ASSIGN_OR_RETURN(auto told, AsVisible(call, finding));
      if (told) found.push_back({std::move(finding), *std::move(told)});
    }
    if (found.size() > 1) {
      return InvalidArgument("more than one finding begins with that id; write more of it");
    }
    if (found.empty()) return NoSuchFinding();
    return std::move(found.front());
  }

  // `finding` as the caller may see it; nothing: the caller may not know of it.
  Result<std::optional<LiveFinding>> AsVisible(const RestCall& call,
                                               const LiveFinding& finding) const {
    TRUCE_ASSIGN_OR_RETURN(const bool all, MayList(call, ""));
    if (all) return std::optional(finding);
    const std::size_t asked = std::min(finding.namespaces.size(), kNamespacesAskedMax);
    for (std::size_t i = 0; i < asked; ++i) {
      const std::string& ns = finding.namespaces[i];
      if (ns.empty()) continue;
      TRUCE_ASSIGN_OR_RETURN(const bool may, MayList(call, ns));
      if (may) return std::optional(PartValue(call, ns, finding));
    }
    return std::optional<LiveFinding>();
  }

  Result<bool> MayList(const RestCall& call, const std::string& ns) const {
    return rest_.Allows(call, {"ownerships", "", "list", ns});
  }

  static Error NoSuchFinding() {
    return {ErrorCode::kNotFound,
            "there is no such finding, it is over, or you may not read it; `truce findings` lists "
            "them"};
  }

  // A response when the caller may not mute what concerns `namespaces`.
  std::optional<HttpResponse> RefuseToMute(const RestCall& call,
                                           const std::vector<std::string>& namespaces) const {
    const bool speaks_for_all =
        !namespaces.empty() && namespaces.size() <= kNamespacesAskedMax &&
        std::all_of(namespaces.begin(), namespaces.end(), [&](const std::string& ns) {
          return !ns.empty() && rest_.SpeaksAsUser(call, ns);
        });
    if (speaks_for_all) return std::nullopt;
    return rest_.Refuse(call, {"findings", "mute", "create", ""});
  }

  Result<HttpResponse> Silence(RestCall& call, const std::string& word) const {
    if (reports_ == nullptr) return NoSuchFinding();
    TRUCE_ASSIGN_OR_RETURN(const Found found, FindFor(call, word));
    const LiveFinding& finding = found.whole;
    if (auto refusal = RefuseToMute(call, finding.namespaces)) return *std::move(refusal);
    TRUCE_ASSIGN_OR_RETURN(auto texts, ReadTexts(call.request, {"until", "reason"}));
    TRUCE_ASSIGN_OR_RETURN(const Timestamp until, TimeIn("\"until\"", texts["until"]));
    Mute mute = MuteOf(finding);
    mute.until = std::chrono::floor<std::chrono::seconds>(until);
    mute.reason = texts["reason"];
    mute.by = ActorOf(call.caller);
    TRUCE_ASSIGN_OR_RETURN(const auto made, reports_->Mutes().Add(std::move(mute), call.deadline));
    return Answer(made, 201);
  }

  // Also of a finding that is over meanwhile.
  Result<HttpResponse> Unmute(RestCall& call, const std::string& word) const {
    const std::vector<Mute> mutes = reports_ ? reports_->Mutes().Present() : std::vector<Mute>();
    std::optional<Mute> found;
    for (const Mute& mute : mutes) {
      const bool is_it =
          word.size() >= kIdBytesMin && FindingId(mute.detector, mute.subject).starts_with(word);
      if (is_it && found) {
        return ProblemResponse(
            InvalidArgument("more than one mute begins with that id; write more of it"));
      }
      if (is_it) found = mute;
    }
    // Whoever may end none learns nothing of which there are.
    const auto namespaces = found ? found->namespaces : std::vector<std::string>();
    if (auto refusal = RefuseToMute(call, namespaces)) return *std::move(refusal);
    if (!found) {
      return Error{ErrorCode::kNotFound, "it is not muted, or its mute is over"};
    }
    TRUCE_ASSIGN_OR_RETURN(const auto ended,
                           reports_->Mutes().End(found->detector, found->subject,
                                                 ActorOf(call.caller), call.deadline));
    return Answer(ended, 200);
  }

  static HttpResponse Answer(const Mute& mute, int status) {
    return JsonResponse(JsonWriter().Put(mute).Take(), {}, status);
  }

  const RestApi& rest_;
  ClusterReports* const reports_;
  const CursorSeal seal_{rest_.cursor_key()};
};

}  // namespace

std::vector<HttpRoute> FindingRoutes(const RestApi& rest, ClusterReports* reports) {
  const auto shared = std::make_shared<const Findings>(rest, reports);
  const std::string path(kFindingsPath);
  const Permission lists = {"ownerships", "", "list", ""};
  return {
      rest.Routed({"GET",
                   path,
                   {"rule", "namespace", "service", "severity", "limit", "cursor", "output"},
                   lists,
                   Calling(shared, &Findings::List)}),
      rest.Routed({"GET", path + "/", {"output"}, {}, Calling(shared, &Findings::Explain)}),
      rest.Routed({"POST", path + "/", {}, {}, Calling(shared, &Findings::Act)}),
      rest.Routed({"GET",
                   std::string(kMutesPath),
                   {"rule", "namespace", "output"},
                   lists,
                   Calling(shared, &Findings::ListMutes)}),
  };
}

}  // namespace truce
