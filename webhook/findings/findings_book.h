// FindingsBook: the present findings of the detectors, each with the times when it was first and
// last seen.
#ifndef TRUCE_WEBHOOK_FINDINGS_FINDINGS_BOOK_H_
#define TRUCE_WEBHOOK_FINDINGS_FINDINGS_BOOK_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "registry/base/clock.h"
#include "registry/base/guarded.h"
#include "registry/identity/values.h"
#include "registry/ownership/table.h"
#include "registry/ownership/terms.h"
#include "webhook/findings/detector.h"

namespace truce {

// The most of a name or an expression that a finding shows.
inline constexpr std::size_t kShownBytesMax = 256;

// One finding of a detector, as it is now. Texts are one line each, without control characters.
struct LiveFinding {
  Detector detector = Detector::kOwnershipConflict;
  std::string subject;        // unique within the detector: a key's text, a slot's, a kind, a name
  KeyText key;                // empty when it is not about one resource
  std::vector<Slot> objects;  // those concerned; Events are written on them
  Mode mode = Mode::kWarn;    // its severity (SeverityOf); no worse than the detector's worst
  std::string resource;       // what it is about: S3 bucket "prod-artifacts"
  std::string cause;          // one sentence: the fault; does not change from look to look
  std::string evidence;       // what was seen: counts and rates, may change from look to look
  std::string remedy;         // what the reader can do
  Timestamp since{};          // when the state itself began, as far as known
  // Whom it concerns (AddConcerned): each once, sorted. No namespace: the installation, or what
  // could not be looked up; an empty one: objects in none.
  std::vector<std::string> namespaces;
  std::vector<std::string> services;
  std::string id;          // FindingId; set by the book, as the next
  Timestamp first_seen{};  // set by the book
  Timestamp last_seen{};   // set by the book

  bool operator==(const LiveFinding&) const = default;
};

// As findings name an object: "Bucket.s3.aws.upbound.io team-a/files", and "Bucket team-a/files".
std::string FullNameOf(const Slot& object);
std::string ShortNameOf(const Slot& object);

// A ProviderConfig, as a provisional account spells it ("prod/aws.upbound.io/ProviderConfig//dev"),
// for people: "ProviderConfig.aws.upbound.io dev".
std::string ConfigForPeople(const std::string& config);

// One about an object, which is its subject, in mode warn.
LiveFinding FindingAbout(Detector detector, const Slot& object, std::string resource);

// Lets findings pass that two looks found, at least `after` apart; sets `since` to the first of
// them. External synchronization.
class LastingFindings final {
 public:
  explicit LastingFindings(std::chrono::milliseconds after) : after_(after) {}

  // `found`: all that this look found, each with what tells whether it is the same as before.
  std::vector<LiveFinding> Of(std::vector<std::pair<std::string, LiveFinding>> found,
                              Timestamp now);

 private:
  const std::chrono::milliseconds after_;
  std::map<std::string, Timestamp> since_;
};

// audit: info, warn: warning, enforce: critical.
Severity SeverityOf(Mode mode);
Mode ModeFor(Severity severity);

template <>
struct ColumnForm<Detector> : WordColumn<Detector, DetectorFromName> {};
template <>
struct ColumnForm<Severity> : WordColumn<Severity, SeverityFromName> {};
template <>
struct ColumnForm<Mode> {
  static constexpr bool kIsNumber = false;
  static TableValue To(Mode mode) { return ColumnForm<Severity>::To(SeverityOf(mode)); }
  static bool From(const TableValue& value, Mode& mode) {
    Severity severity{};
    if (!ColumnForm<Severity>::From(value, severity)) return false;
    mode = ModeFor(severity);
    return true;
  }
};
inline constexpr auto kFindingsTable = MakeTable<LiveFinding>(
    "findings", 2, StoredColumn("rule", &LiveFinding::detector),
    StoredColumn("subject", &LiveFinding::subject), StoredColumn("id", &LiveFinding::id),
    StoredColumn("severity", &LiveFinding::mode), StoredColumn("key", &LiveFinding::key),
    StoredColumn("objects", &LiveFinding::objects),
    StoredColumn("resource", &LiveFinding::resource), StoredColumn("cause", &LiveFinding::cause),
    StoredColumn("evidence", &LiveFinding::evidence), StoredColumn("remedy", &LiveFinding::remedy),
    StoredColumn("since", &LiveFinding::since),
    StoredColumn("namespaces", &LiveFinding::namespaces),
    StoredColumn("services", &LiveFinding::services),
    StoredColumn("first_seen", &LiveFinding::first_seen),
    StoredColumn("last_seen", &LiveFinding::last_seen));

// Of `findings` of composite-not-seen: kinds of composites that Crossplane does not see and of
// their claims, and since when.
std::map<GroupKind, Timestamp> UnseenKinds(const std::vector<LiveFinding>& findings);

// The name of a finding for people: 10 characters made of its detector and subject, the same after
// a restart. Against chance, not against somebody who wants two findings to have one.
std::string FindingId(Detector detector, std::string_view subject);

struct FindingChange {
  enum class Kind : std::uint8_t {
    kAppeared,
    kChanged,   // cause, remedy or mode differ
    kResolved,  // no longer found
  };
  Kind kind = Kind::kAppeared;
  LiveFinding finding;

  bool operator==(const FindingChange&) const = default;
};

// Thread-safe; no call blocks. At most kFindingsMax findings of each detector are kept; the others
// are counted.
class FindingsBook final {
 public:
  static constexpr std::size_t kFindingsMax = 2000;

  // `present` is everything that `detector` finds now: other findings are resolved. Of two with one
  // subject the last counts. Returns the changes, by subject.
  std::vector<FindingChange> Replace(Detector detector, std::vector<LiveFinding> present,
                                     Timestamp now);

  // Takes over the findings of an earlier life of the watch, or of another server, until each
  // detector has looked itself: they keep when they were first seen.
  void Restore(std::vector<LiveFinding> findings);

  // Ordered by detector, then subject.
  std::vector<LiveFinding> Snapshot() const;
  std::vector<LiveFinding> Snapshot(Detector detector) const;

  std::optional<LiveFinding> Find(Detector detector, const std::string& subject) const;

  // How many there are by detector and mode, those that were not kept included.
  std::map<std::pair<Detector, Mode>, std::uint64_t> Counts() const;

 private:
  struct Shelf {
    std::map<std::string, LiveFinding> findings;  // by subject
    std::map<Mode, std::uint64_t> counts;
  };
  Guarded<std::map<Detector, Shelf>> shelves_;
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_FINDINGS_FINDINGS_BOOK_H_
