#include "webhook/findings/report_conflicts.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "policies/people.h"
#include "webhook/findings/text_table.h"

namespace truce {
namespace {

std::string Who(const ConflictSide& side) {
  std::string out = ObjectForPeople(side.root);
  if (!side.service.empty()) out += " (" + side.service + ")";
  return out;
}

std::string Rate(double per_minute) {
  std::array<char, 32> text{};
  const int length = std::snprintf(text.data(), text.size(), "%.1f/min", per_minute);
  return std::string(text.data(), static_cast<std::size_t>(std::max(length, 0)));
}

std::string WarCell(const TagWar* war) {
  if (war == nullptr) return {};
  return war->writes_per_minute > 0 ? "running, " + Rate(war->writes_per_minute) : "running";
}

}  // namespace

const TagWar* WarAt(std::span<const TagWar> wars, const KeyText& key) {
  const auto found =
      std::find_if(wars.begin(), wars.end(), [&](const TagWar& war) { return war.key == key; });
  return found == wars.end() ? nullptr : &*found;
}

std::string ConflictText(const Conflict& conflict, const TagWar* war) {
  std::string out = conflict.resource + "  " + conflict.owner.key.text + "\n";
  for (const ConflictSide& side : conflict.sides) {
    out += "  " + SideForPeople(side) + (side.incumbent ? ", owner of record" : "") + "\n";
    for (const ConflictObject& object : side.objects) {
      out += "    " + ForPeople(object.slot) + " " + std::string(Name(object.intent)) +
             (object.terminating ? ", being deleted" : "") + (object.seen ? "" : ", reserved") +
             "\n";
    }
  }
  if (war != nullptr) {
    out += "  They overwrite each other now, since " + FormatTimestamp(war->since);
    if (war->writes_per_minute > 0) out += ", " + Rate(war->writes_per_minute);
    out += ".\n";
  }
  out += "  " + DeletionEffect(conflict) + "\n";
  std::size_t number = 0;
  for (const std::string& step : ResolutionSteps(conflict)) {
    out += "  " + std::to_string(++number) + ". " + step + "\n";
  }
  return out;
}

std::string ConflictsText(std::span<const Conflict> conflicts, std::span<const TagWar> wars,
                          bool wide) {
  if (conflicts.empty()) return "No conflicts: every resource has one owner.\n";
  std::vector<std::vector<std::string>> rows;
  for (const Conflict& conflict : conflicts) {
    std::string others;
    std::string since;
    for (std::size_t i = 1; i < conflict.sides.size(); ++i) {
      others += (i > 1 ? ", " : "") + Who(conflict.sides[i]);
      if (i == 1) since = FormatTimestamp(conflict.sides[i].since);
    }
    rows.push_back({conflict.owner.identity.type, conflict.owner.name, Who(conflict.sides.front()),
                    others, since, WarCell(WarAt(wars, conflict.owner.key))});
  }
  std::string out =
      TextTable({"TYPE", "NAME", "OWNER", "ALSO MANAGED BY", "SINCE", "TAG WAR"}, rows);
  if (!wide) return out;
  for (const Conflict& conflict : conflicts) {
    out += "\n" + ConflictText(conflict, WarAt(wars, conflict.owner.key));
  }
  return out;
}

}  // namespace truce
