// Detector: every detector there is: its name, how bad what it finds can be, the Events it writes,
// what it finds and how that is proved.
#ifndef TRUCE_WEBHOOK_FINDINGS_DETECTOR_H_
#define TRUCE_WEBHOOK_FINDINGS_DETECTOR_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

namespace truce {

class Examiner;

// The list: a line each, in the order of lists and reports. The detector's file in detectors/, or
// the one of its report, defines its row, k<Name>Info.
#define TRUCE_DETECTORS(ROW) \
  ROW(TagWar)                \
  ROW(OwnershipConflict)     \
  ROW(WebhookConfiguration)  \
  ROW(UnreferencedResource)  \
  ROW(NeverReal)             \
  ROW(OrphanedOwnership)     \
  ROW(AccountUnknown)        \
  ROW(NotCovered)            \
  ROW(NamesDisagree)         \
  ROW(ProviderConfigMoved)   \
  ROW(AdoptionNotFollowed)   \
  ROW(StaleUsage)            \
  ROW(CompositeNotSeen)      \
  ROW(ClaimTwice)            \
  ROW(ClaimStale)            \
  ROW(ThrottledApi)          \
  ROW(DeletionBlocked)       \
  ROW(UnreadObject)          \
  ROW(UnmatchedProvider)     \
  ROW(ForeignAttachment)     \
  ROW(OutsideEndpoint)

// Detector::kTagWar and so on.
#define TRUCE_ROW(name) k##name,
enum class Detector : std::uint8_t { TRUCE_DETECTORS(TRUCE_ROW) };
#undef TRUCE_ROW

// How bad a finding is; ordered.
enum class Severity : std::uint8_t {
  kInfo,      // "info": to know; nothing is broken
  kWarning,   // "warning": to mend; it will cost somebody something
  kCritical,  // "critical": harm is done now
};
std::string_view Name(Severity severity);
std::optional<Severity> SeverityFromName(std::string_view name);

// Where its texts name objects of several owners (I8).
enum class NamesOthers : std::uint8_t { kNowhere, kInEvidence, kAnywhere };

struct DetectorInfo {
  std::string_view name;                // stable: metrics, JSON, Events, logs and mutes use it
  Severity worst = Severity::kWarning;  // none of its findings is worse
  std::string_view finds;               // what it finds: one sentence
  std::string_view proof;               // what was seen, how often, before it is said: sentences
  // Makes what examines; null: the examiner of another row finds both.
  std::unique_ptr<Examiner> (*make)() = nullptr;
  std::string_view event = {};  // the reason of its Events; empty: it writes none
  NamesOthers names_others = NamesOthers::kNowhere;
};

#define TRUCE_ROW(name) extern const DetectorInfo k##name##Info;
TRUCE_DETECTORS(TRUCE_ROW)
#undef TRUCE_ROW

#define TRUCE_ROW(name) +1
inline constexpr std::size_t kDetectorCount = 0 TRUCE_DETECTORS(TRUCE_ROW);
#undef TRUCE_ROW

// Never fails: each detector has its row.
const DetectorInfo& InfoOf(Detector detector);
std::string_view Name(Detector detector);
std::optional<Detector> DetectorFromName(std::string_view name);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_FINDINGS_DETECTOR_H_
