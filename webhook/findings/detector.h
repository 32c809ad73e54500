// Detector: every detector there is, in one table: its name, how bad what it finds can be, the
// Events it writes, what it finds and how that is proved.
#ifndef TRUCE_WEBHOOK_FINDINGS_DETECTOR_H_
#define TRUCE_WEBHOOK_FINDINGS_DETECTOR_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace truce {

// In the order of the table in detector.cc, which does not compile otherwise.
enum class Detector : std::uint8_t {
  kTagWar,
  kOwnershipConflict,
  kWebhookConfiguration,
  kUnreferencedResource,
  kNeverReal,
  kOrphanedOwnership,
  kAccountUnknown,
  kNotCovered,
  kNamesDisagree,
  kProviderConfigMoved,
  kAdoptionNotFollowed,
  kStaleUsage,
  kCompositeNotSeen,
  kClaimTwice,
  kClaimStale,
  kThrottledApi,
  kDeletionBlocked,
  kUnreadObject,
  kUnmatchedProvider,
  kForeignAttachment,
  kOutsideEndpoint,
};
inline constexpr std::size_t kDetectorCount =
    static_cast<std::size_t>(Detector::kOutsideEndpoint) + 1;

// How bad a finding is; ordered.
enum class Severity : std::uint8_t {
  kInfo,      // "info": to know; nothing is broken
  kWarning,   // "warning": to mend; it will cost somebody something
  kCritical,  // "critical": harm is done now
};
std::string_view Name(Severity severity);
std::optional<Severity> SeverityFromName(std::string_view name);

struct DetectorInfo {
  Detector detector = Detector::kTagWar;
  std::string_view name;                // stable: metrics, JSON, Events, logs and mutes use it
  Severity worst = Severity::kWarning;  // none of its findings is worse
  std::string_view event;               // the reason of its Events; empty: it writes none
  bool names_others = false;            // its texts name objects of several owners (I8)
  std::string_view finds;               // what it finds: one sentence
  std::string_view proof;               // what was seen, how often, before it is said: sentences
};

// Never fails: each detector has its row.
const DetectorInfo& InfoOf(Detector detector);
std::string_view Name(Detector detector);
std::optional<Detector> DetectorFromName(std::string_view name);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_FINDINGS_DETECTOR_H_
