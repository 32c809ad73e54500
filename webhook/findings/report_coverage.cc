#include "webhook/findings/report_coverage.h"

#include <vector>

#include "webhook/findings/text_table.h"

namespace truce {
namespace {

// Gaps that are wide open whatever the cluster holds now.
bool IsAlwaysShown(GapReason reason) {
  return reason == GapReason::kNoWebhook || reason == GapReason::kExcluded ||
         reason == GapReason::kStatusOpen || reason == GapReason::kNotListed ||
         reason == GapReason::kUnwatched;
}

}  // namespace

std::string CoverageText(const CoverageReport& report, bool all) {
  std::string out = std::to_string(report.protected_kinds) + " of " + std::to_string(report.kinds) +
                    " kinds that can declare resources are protected.\n";
  std::vector<std::vector<std::string>> rows;
  std::uint64_t hidden = 0;
  for (const CoverageGap& gap : report.gaps) {
    if (!all && gap.objects == 0 && !IsAlwaysShown(gap.reason)) {
      ++hidden;
      continue;
    }
    rows.push_back({std::string(Name(gap.reason)), gap.subject, std::to_string(gap.objects),
                    gap.why, gap.remedy});
  }
  if (!rows.empty()) {
    out += "\n" + TextTable({"NOT PROTECTED", "WHAT", "OBJECTS", "WHY", "REMEDY"}, rows);
  }
  if (hidden > 0) {
    out += "\n" + std::to_string(hidden) +
           " more gaps concern no object at present; `truce coverage --all` lists them.\n";
  }
  return out;
}

}  // namespace truce
