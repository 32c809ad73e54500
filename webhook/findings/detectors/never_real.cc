// Detector never-real: ownerships of something that never came to be. Its texts say to look at
// objects that live only (SpeakerFor). Mode audit.
#include "registry/ownership/agreements.h"
#include "webhook/findings/examiner.h"

namespace truce {
namespace {

// How long an object may take to become Ready, or to show an ARN: databases take most of an hour.
constexpr std::chrono::hours kNeverRealAfter{2};
// A reservation is proved after three minutes; one that lasts this long could not be proved.
constexpr std::chrono::minutes kReservedTooLong{15};

// A row of the owner's chain whose object was seen: of a managed resource before another.
std::optional<Row> SeenManager(const Owner& owner, const Facts& facts) {
  std::optional<Row> best;
  for (Row& row : facts.RowsOf(owner.id)) {
    if (!Manages(row) || row.root != owner.root || row.id.state != RowState::kSeen) continue;
    if (!best || (row.managed && !best->managed)) best = std::move(row);
  }
  return best;
}

std::optional<LiveFinding> NeverReal(const Owner& owner, const PassPlace& at) {
  if (owner.record != Record::kNone || owner.real) return std::nullopt;
  const bool is_reserved = owner.state == HolderState::kReserved;
  const auto allowed = is_reserved ? std::chrono::milliseconds(kReservedTooLong)
                                   : std::chrono::milliseconds(kNeverRealAfter);
  if (at.now - owner.since < allowed) return std::nullopt;
  LiveFinding finding = FindingAbout(Detector::kNeverReal, owner);
  finding.evidence = "since " + FormatTimestamp(owner.since);
  if (is_reserved) {
    finding.cause = finding.resource + " is reserved for " + FullNameOf(owner.root) +
                    ", but its object could neither be found nor be ruled out.";
    finding.remedy =
        "Look whether the API server answers for that kind; an operator frees the name with `" +
        ReleaseCommand(owner) + "`.";
  } else {
    const auto seen = SeenManager(owner, at.facts);
    const std::string speaker =
        FullNameOf(SpeakerFor(owner.root, seen ? seen->slot : owner.root, at.facts));
    finding.cause = finding.resource + " is declared by " + speaker +
                    ", but never became ready and never showed an ARN or id.";
    finding.remedy =
        "Look at the conditions of " + speaker +
        " and of what it composes. Before you delete what is not needed, set " +
        (seen && seen->managed ? KeepingField(seen->slot) + " on " + ForPeople(seen->slot)
                               : "spec.managementPolicies: [\"Observe\"] on its managed resource") +
        ": it may have adopted what exists in AWS.";
  }
  return finding;
}

}  // namespace

constinit const DetectorInfo kNeverRealInfo{
    "never-real", Severity::kInfo, "An ownership of something that never came to be.",
    "A reservation that could not be proved for 15 minutes, or an object that exists for 2 hours "
    "and never showed an ARN, an id or Ready=True.",
    Make<ByPass<Detector::kNeverReal, NeverReal>>};

}  // namespace truce
