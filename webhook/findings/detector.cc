#include "webhook/findings/detector.h"

#include <algorithm>
#include <array>

#include "registry/base/name_table.h"

namespace truce {
namespace {

constexpr NameTable<Severity::kCritical> kSeverities("info", "warning", "critical");

#define TRUCE_ROW(name) &k##name##Info,
constexpr std::array<const DetectorInfo*, kDetectorCount> kDetectors = {TRUCE_DETECTORS(TRUCE_ROW)};
#undef TRUCE_ROW

}  // namespace

std::string_view Name(Severity severity) { return kSeverities.Of(severity); }

std::optional<Severity> SeverityFromName(std::string_view name) { return kSeverities.Find(name); }

const DetectorInfo& InfoOf(Detector detector) {
  return *kDetectors[static_cast<std::size_t>(detector)];
}

std::string_view Name(Detector detector) { return InfoOf(detector).name; }

std::optional<Detector> DetectorFromName(std::string_view name) {
  const auto found = std::find_if(kDetectors.begin(), kDetectors.end(),
                                  [&](const DetectorInfo* row) { return row->name == name; });
  if (found == kDetectors.end()) return std::nullopt;
  return static_cast<Detector>(found - kDetectors.begin());
}

}  // namespace truce
