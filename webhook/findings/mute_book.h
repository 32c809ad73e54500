// MuteBook: which findings somebody muted, until when and why; kept in the registry.
#ifndef TRUCE_WEBHOOK_FINDINGS_MUTE_BOOK_H_
#define TRUCE_WEBHOOK_FINDINGS_MUTE_BOOK_H_

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "registry/base/guarded.h"
#include "registry/base/result.h"
#include "registry/ownership/table.h"
#include "registry/store/store.h"
#include "webhook/findings/findings_book.h"
#include "webhook/metrics/metrics.h"

namespace truce {

class Administration;

// Hides one finding from lists, the gauge that alerts look at, and Events, until its time is over.
// It is bound to detector and subject, never to the id that people type, and holds as long as the
// finding is no worse and concerns no further namespace than when it was made.
struct Mute {
  Detector detector = Detector::kTagWar;
  std::string subject;
  Severity severity = Severity::kWarning;  // of the finding at that time
  std::string resource;                    // what the finding is about, for people
  std::vector<std::string> namespaces;     // LiveFinding::namespaces at that time
  Timestamp until{};
  std::string reason;
  std::string by;  // who made it: "alice (Kubernetes token) from 192.0.2.7"
  Timestamp at{};

  bool operator==(const Mute&) const = default;
};
Mute MuteOf(const LiveFinding& finding);

inline constexpr auto kMutesTable = MakeTable<Mute>(
    "mutes", 2, StoredColumn("rule", &Mute::detector), StoredColumn("subject", &Mute::subject),
    StoredColumn("severity", &Mute::severity), StoredColumn("resource", &Mute::resource),
    StoredColumn("namespaces", &Mute::namespaces), StoredColumn("until", &Mute::until),
    StoredColumn("reason", &Mute::reason), StoredColumn("by", &Mute::by),
    StoredColumn("at", &Mute::at));

// Thread-safe.
class MuteBook final {
 public:
  static constexpr std::size_t kMutesMax = 300;
  static constexpr std::size_t kMutesOfNamespaceMax = 50;  // one team leaves room for the others
  static constexpr std::chrono::hours kLongest{90 * 24};
  static constexpr std::size_t kReasonBytesMax = 512;

  // References must outlive it.
  MuteBook(Store& store, const Clock& clock) : store_(store), clock_(clock) {}

  // Takes over what the registry has, whoever wrote it. Errors: those of the store; kDataLoss: what
  // is kept cannot be read. Then what held goes on.
  Result<void> Load(Deadline deadline);

  // Keeps `mute`, instead of one of the same finding, with a line in the audit log, in one
  // transaction: durable on return. Errors: kInvalidArgument (no reason; `until` is not ahead or
  // further than kLongest); kConflict (too many hold already); those of the store.
  Result<Mute> Add(Mute mute, Deadline deadline);

  // Ends it before its time, with a line in the audit log. Errors: kNotFound (over, or never made);
  // those of the store.
  Result<Mute> End(Detector detector, const std::string& subject, const std::string& by,
                   Deadline deadline);

  // Those that hold at present, by detector and subject. Never waits for the store.
  std::vector<Mute> Present() const;
  // The one that hides `finding` at present.
  std::optional<Mute> Hiding(const LiveFinding& finding) const;
  bool Hides(const LiveFinding& finding) const { return Hiding(finding).has_value(); }

 private:
  using Mutes = std::map<std::pair<Detector, std::string>, Mute>;
  Result<void> Change(const std::function<void(Mutes&, Administration&)>& change,
                      Deadline deadline);
  Result<void> LoadLocked(Deadline deadline);

  Store& store_;
  const Clock& clock_;
  std::mutex changing_;  // one change at a time, so that the last one is what is present
  Guarded<Mutes> present_;
};

// The gauges truce_findings{rule,mode}, of what is not muted, and truce_findings_muted{rule}: every
// detector, modes audit, warn, enforce.
void WriteFindingsMetrics(const FindingsBook& book, const MuteBook& mutes, MetricWriter& writer);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_FINDINGS_MUTE_BOOK_H_
