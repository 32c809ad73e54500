// SharedReports as text and back.
#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>

#include "webhook/serve/shared/json_times.h"
#include "webhook/serve/shared/shared_reports.h"
#include "webhook/wire/json_text.h"

namespace truce {
namespace {

using Json = nlohmann::json;

constexpr std::array<Mode, 4> kModes = {Mode::kOff, Mode::kAudit, Mode::kWarn, Mode::kEnforce};
constexpr std::array<GapReason, 12> kReasons = {
    GapReason::kNoWebhook,      GapReason::kNoRule,         GapReason::kXrdGroup,
    GapReason::kExcluded,       GapReason::kStatusOpen,     GapReason::kNotListed,
    GapReason::kUnwatched,      GapReason::kUnknownKind,    GapReason::kNoMapping,
    GapReason::kAccountUnknown, GapReason::kAccountUnbound, GapReason::kWarnsOnly};
constexpr std::array<Role, 8> kRoles = {
    Role::kDefinition, Role::kCompositeDefinition, Role::kProviderConfig, Role::kManaged,
    Role::kMapped,     Role::kComposite,           Role::kClaim,          Role::kOther};

template <typename Value, std::size_t count>
std::optional<Value> ByName(const std::array<Value, count>& all, const std::string& name) {
  for (const Value value : all) {
    if (Name(value) == name) return value;
  }
  return std::nullopt;
}

std::uint64_t NumberIn(const Json& json, const char* name) {
  const auto found = json.find(name);
  return found != json.end() && found->is_number_unsigned() ? found->get<std::uint64_t>() : 0;
}

bool FlagIn(const Json& json, const char* name) {
  const auto found = json.find(name);
  return found != json.end() && found->is_boolean() && found->get<bool>();
}

// The items of list `name` that `read` makes something of.
template <typename Item, typename Read>
std::vector<Item> ListIn(const Json& json, const char* name, Read read) {
  std::vector<Item> out;
  const auto found = json.find(name);
  if (found == json.end() || !found->is_array()) return out;
  for (const Json& each : *found) {
    if (std::optional<Item> item = read(each)) out.push_back(*std::move(item));
  }
  return out;
}

std::optional<std::string> TextOf(const Json& json) {
  return json.is_string() ? std::optional(json.get<std::string>()) : std::nullopt;
}

std::optional<Slot> SlotOf(const Json& json) {
  return json.is_string() ? SlotFromText(json.get<std::string>()) : std::nullopt;
}

Json SlotsOut(const std::vector<Slot>& slots) {
  Json out = Json::array();
  for (const Slot& slot : slots) out.push_back(ToText(slot));
  return out;
}

template <typename Item, typename Write>
Json ListOut(const std::vector<Item>& items, Write write) {
  Json out = Json::array();
  for (const Item& item : items) out.push_back(write(item));
  return out;
}

Json WarOut(const TagWar& war) {
  return {{"key", war.key.text},          {"since", TimeToJson(war.since)},
          {"last", TimeToJson(war.last)}, {"writesPerMinute", war.writes_per_minute},
          {"writes", war.writes},         {"fighters", SlotsOut(war.fighters)},
          {"byTags", war.by_tags}};
}

std::optional<TagWar> WarOf(const Json& json) {
  if (!json.is_object()) return std::nullopt;
  const auto rate = json.find("writesPerMinute");
  TagWar war;
  war.key = {TextIn(json, "key")};
  war.since = TimeIn(json, "since");
  war.last = TimeIn(json, "last");
  war.writes_per_minute = rate != json.end() && rate->is_number() ? rate->get<double>() : 0;
  war.writes = NumberIn(json, "writes");
  war.fighters = ListIn<Slot>(json, "fighters", SlotOf);
  war.by_tags = FlagIn(json, "byTags");
  return war;
}

Json FindingOut(const LiveFinding& finding) {
  return {{"rule", Name(finding.detector)},
          {"subject", finding.subject},
          {"key", finding.key.text},
          {"objects", SlotsOut(finding.objects)},
          {"mode", Name(finding.mode)},
          {"resource", finding.resource},
          {"cause", finding.cause},
          {"evidence", finding.evidence},
          {"remedy", finding.remedy},
          {"since", TimeToJson(finding.since)},
          {"namespaces", finding.namespaces},
          {"services", finding.services},
          {"id", finding.id},
          {"first", TimeToJson(finding.first_seen)},
          {"last", TimeToJson(finding.last_seen)}};
}

// Nothing for one of a detector or mode that this version does not know.
std::optional<LiveFinding> FindingIn(const Json& json) {
  if (!json.is_object()) return std::nullopt;
  const auto detector = DetectorFromName(TextIn(json, "rule"));
  const auto mode = ByName(kModes, TextIn(json, "mode"));
  if (!detector || !mode) return std::nullopt;
  LiveFinding finding;
  finding.detector = *detector;
  finding.subject = TextIn(json, "subject");
  finding.key = {TextIn(json, "key")};
  finding.objects = ListIn<Slot>(json, "objects", SlotOf);
  finding.mode = *mode;
  finding.resource = TextIn(json, "resource");
  finding.cause = TextIn(json, "cause");
  finding.evidence = TextIn(json, "evidence");
  finding.remedy = TextIn(json, "remedy");
  finding.since = TimeIn(json, "since");
  finding.namespaces = ListIn<std::string>(json, "namespaces", TextOf);
  finding.services = ListIn<std::string>(json, "services", TextOf);
  finding.id = TextIn(json, "id");
  finding.first_seen = TimeIn(json, "first");
  finding.last_seen = TimeIn(json, "last");
  return finding;
}

Json GapOut(const CoverageGap& gap) {
  return {{"reason", Name(gap.reason)},
          {"subject", gap.subject},
          {"why", gap.why},
          {"remedy", gap.remedy},
          {"objects", gap.objects}};
}

std::optional<CoverageGap> GapOf(const Json& json) {
  if (!json.is_object()) return std::nullopt;
  const auto reason = ByName(kReasons, TextIn(json, "reason"));
  if (!reason) return std::nullopt;
  return CoverageGap{*reason, TextIn(json, "subject"), TextIn(json, "why"), TextIn(json, "remedy"),
                     NumberIn(json, "objects")};
}

CoverageReport CoverageIn(const Json& json) {
  CoverageReport report;
  report.kinds = NumberIn(json, "kinds");
  report.protected_kinds = NumberIn(json, "protectedKinds");
  report.gaps = ListIn<CoverageGap>(json, "gaps", GapOf);
  report.xrd_groups = ListIn<std::string>(json, "xrdGroups", TextOf);
  report.missing_xrd_groups = ListIn<std::string>(json, "missingXrdGroups", TextOf);
  report.failure_policy = TextIn(json, "failurePolicy");
  if (json.contains("failingSince")) report.failing_since = TimeIn(json, "failingSince");
  return report;
}

Json WatchedOut(const BaselineReport& report) {
  return {{"complete", report.complete},
          {"took", report.took.count()},
          {"kinds", report.kinds},
          {"objects", report.objects},
          {"problems", ListOut(report.problems, [](const BaselineProblem& problem) {
             return Json{{"kind", problem.kind}, {"problem", problem.problem}};
           })}};
}

BaselineReport WatchedIn(const Json& json) {
  BaselineReport report;
  report.complete = FlagIn(json, "complete");
  report.took = std::chrono::milliseconds(NumberIn(json, "took"));
  report.kinds = NumberIn(json, "kinds");
  report.objects = NumberIn(json, "objects");
  report.problems = ListIn<BaselineProblem>(json, "problems", [](const Json& each) {
    return std::optional(BaselineProblem{TextIn(each, "kind"), TextIn(each, "problem")});
  });
  return report;
}

Json KindOut(const FollowedKind& kind) {
  const ServedKind& served = kind.selection.kind;
  return {{"group", served.group},   {"version", served.version},       {"kind", served.kind},
          {"plural", served.plural}, {"namespaced", served.namespaced}, {"role", Name(kind.role)}};
}

std::optional<FollowedKind> KindIn(const Json& json) {
  if (!json.is_object()) return std::nullopt;
  const auto role = ByName(kRoles, TextIn(json, "role"));
  if (!role) return std::nullopt;
  FollowedKind kind;
  kind.selection.kind = {TextIn(json, "group"), TextIn(json, "version"), TextIn(json, "kind"),
                         TextIn(json, "plural"), FlagIn(json, "namespaced")};
  kind.role = *role;
  return kind;
}

Json BrakeOut(const BrakeView& brake) {
  return {{"nominated", brake.nominated},
          {"heldBack", brake.held_back},
          {"frozen", ListOut(brake.frozen,
                             [](const BrakeView::Frozen& frozen) {
                               return Json{{"kind", frozen.kind}, {"reason", frozen.reason}};
                             })},
          {"waiting", ListOut(brake.waiting, [](const BrakeView::Waiting& waiting) {
             return Json{{"kind", waiting.kind},
                         {"objects", waiting.objects},
                         {"since", TimeToJson(waiting.since)}};
           })}};
}

BrakeView BrakeIn(const Json& json) {
  BrakeView brake;
  brake.nominated = NumberIn(json, "nominated");
  brake.held_back = NumberIn(json, "heldBack");
  brake.frozen = ListIn<BrakeView::Frozen>(json, "frozen", [](const Json& each) {
    return std::optional(BrakeView::Frozen{TextIn(each, "kind"), TextIn(each, "reason")});
  });
  brake.waiting = ListIn<BrakeView::Waiting>(json, "waiting", [](const Json& each) {
    return each.is_object()
               ? std::optional(BrakeView::Waiting{TextIn(each, "kind"), NumberIn(each, "objects"),
                                                  TimeIn(each, "since")})
               : std::nullopt;
  });
  return brake;
}

// Writes texts into a list as long as there is room.
class Room final {
 public:
  explicit Room(std::size_t bytes) : left_(bytes) {}

  // The places of `items` that fit, in the order of `places`, sorted.
  template <typename Item, typename Write>
  Json Fill(const std::vector<Item>& items, std::vector<std::size_t> places, Write write) {
    std::vector<std::pair<std::size_t, Json>> fit;
    for (const std::size_t place : places) {
      Json json = write(items[place]);
      const std::size_t size = Dump(json).size() + 1;
      if (size > left_) break;
      left_ -= size;
      fit.emplace_back(place, std::move(json));
    }
    std::sort(fit.begin(), fit.end(),
              [](const auto& a, const auto& b) { return a.first < b.first; });
    Json out = Json::array();
    for (auto& [place, json] : fit) out.push_back(std::move(json));
    return out;
  }

 private:
  std::size_t left_;
};

std::vector<std::size_t> PlacesOf(std::size_t count) {
  std::vector<std::size_t> places(count);
  std::iota(places.begin(), places.end(), std::size_t{0});
  return places;
}

const Json& ObjectIn(const Json& json, const char* name) {
  static const Json kNone = Json::object();
  const auto found = json.find(name);
  return found != json.end() && found->is_object() ? *found : kNone;
}

}  // namespace

std::string ToText(const SharedReports& reports) {
  // What is short by its nature, and what fits beside it.
  Json json = {{"watched", WatchedOut(reports.watched)},
               {"inhabited", ListOut(reports.inhabited, KindOut)},
               {"brake", BrakeOut(reports.brake)},
               {"waits", ListOut(reports.waits, [](const RecoveryView::Wait& wait) {
                  return Json{{"kind", wait.kind}, {"why", wait.why}};
                })}};
  json["coverage"] = {{"kinds", reports.coverage.kinds},
                      {"protectedKinds", reports.coverage.protected_kinds},
                      {"xrdGroups", reports.coverage.xrd_groups},
                      {"missingXrdGroups", reports.coverage.missing_xrd_groups},
                      {"failurePolicy", reports.coverage.failure_policy}};
  if (const auto since = reports.coverage.failing_since) {
    json["coverage"]["failingSince"] = TimeToJson(*since);
  }
  constexpr std::size_t kNames = 100;  // of the three lists below
  const std::size_t taken = std::min(Dump(json).size() + kNames, kReportsBytesMax);
  Room room(kReportsBytesMax - taken);
  json["wars"] = room.Fill(reports.wars, PlacesOf(reports.wars.size()), WarOut);
  std::vector<std::size_t> places = PlacesOf(reports.findings.size());
  std::stable_sort(places.begin(), places.end(), [&](std::size_t a, std::size_t b) {
    return reports.findings[a].mode > reports.findings[b].mode;
  });
  json["findings"] = room.Fill(reports.findings, std::move(places), FindingOut);
  json["coverage"]["gaps"] =
      room.Fill(reports.coverage.gaps, PlacesOf(reports.coverage.gaps.size()), GapOut);
  return Dump(json);
}

std::optional<SharedReports> ReportsFromText(std::string_view text) {
  const Json json = ParseJson(text);
  if (!json.is_object()) return std::nullopt;
  SharedReports reports;
  reports.wars = ListIn<TagWar>(json, "wars", WarOf);
  reports.findings = ListIn<LiveFinding>(json, "findings", FindingIn);
  reports.coverage = CoverageIn(ObjectIn(json, "coverage"));
  reports.watched = WatchedIn(ObjectIn(json, "watched"));
  reports.inhabited = ListIn<FollowedKind>(json, "inhabited", KindIn);
  reports.brake = BrakeIn(ObjectIn(json, "brake"));
  reports.waits = ListIn<RecoveryView::Wait>(json, "waits", [](const Json& each) {
    return std::optional(RecoveryView::Wait{TextIn(each, "kind"), TextIn(each, "why")});
  });
  return reports;
}

}  // namespace truce
