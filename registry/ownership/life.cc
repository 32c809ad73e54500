#include "registry/ownership/life.h"

#include "registry/base/clock.h"
#include "registry/ownership/rows.h"

namespace truce {

LifeStep NextStep(LifeEvidence evidence, const Life& life) {
  const bool same = life.newest && life.newest == life.version;
  const bool older = life.newest && life.version && *life.version < *life.newest;
  switch (evidence) {
    case LifeEvidence::kShown: return same || older ? LifeStep::kIgnore : LifeStep::kSee;
    case LifeEvidence::kListed: {
      if (same) return LifeStep::kSeeAgain;
      const bool shown = life.goes_on && life.version && *life.version > *life.goes_on;
      if (shown || (life.goes_on && older)) return LifeStep::kIgnore;
      const bool stored = life.stored && life.version && *life.version <= *life.stored;
      return stored ? LifeStep::kSeeStored : LifeStep::kSeeUnwatched;
    }
    case LifeEvidence::kDeleted:
      if (!life.by_config) return LifeStep::kEnd;
      return life.settled && life.version && life.has_room ? LifeStep::kAwaitConfig
                                                           : LifeStep::kEndUnproved;
    case LifeEvidence::kConfig:
      if (!life.config_known && !life.late) return LifeStep::kAwaitConfig;
      return life.config_known && life.config_same ? LifeStep::kEnd : LifeStep::kEndUnproved;
    case LifeEvidence::kUnlisted:
      if (life.rows == Life::Rows::kSeen) {
        return life.is_old ? LifeStep::kLoseAndLookFor : LifeStep::kLookFor;
      }
      if (!life.is_old) return LifeStep::kIgnore;
      if (life.rows == Life::Rows::kNone) return LifeStep::kLookFor;
      return life.whole ? LifeStep::kIgnore : LifeStep::kLose;
    case LifeEvidence::kStored:
      return life.rows == Life::Rows::kNone && life.is_old && !life.gap && !life.frozen
                 ? LifeStep::kLookFor
                 : LifeStep::kIgnore;
    case LifeEvidence::kReadFailed:
      return life.overtaken ? LifeStep::kAskAtOnce : LifeStep::kAskAgain;
    case LifeEvidence::kRead: {
      if (life.overtaken) return LifeStep::kAskAtOnce;
      if (life.blind) return LifeStep::kAskAgain;
      // In a gap everything of the kind counts as real. An object that only a list missed is left
      // orphaned, whatever happened since.
      const bool shown = life.passed && life.read && *life.passed >= *life.read;
      const bool waits = life.found || life.rows == Life::Rows::kReserved;
      if (waits && !shown && !life.gap && !life.late) return LifeStep::kAwaitWatch;
      if (!life.found) return LifeStep::kProveGone;
      return older ? LifeStep::kProveOnly : LifeStep::kProve;
    }
    case LifeEvidence::kNotThere: return life.frozen ? LifeStep::kHoldBack : LifeStep::kRelease;
  }
  return LifeStep::kIgnore;
}

namespace {

std::string Since(Timestamp time) { return " since " + FormatTimestamp(time); }

std::string WhyOnRecord(const Owner& owner) {
  switch (owner.record) {
    case Record::kImported:
      if (owner.until) {
        return "reserved until " + FormatTimestamp(*owner.until) + " by " +
               std::string(SourceOf(owner));
      }
      return "owned outside of Kubernetes, by " + std::string(SourceOf(owner));
    case Record::kTransferring:
      return "orphaned" + Since(owner.since) + ", and waits for " + owner.successor +
             " to declare it";
    case Record::kOrphaned:
    case Record::kNone: break;
  }
  return "orphaned" + Since(owner.since) +
         ": nothing proves that the resource is gone; it waits for its party to declare it again, "
         "or for an operator to release it";
}

// The row of the owner's chain whose end counts most: of a managed resource, seen.
const Row* HoldingRow(const Owner& owner, const std::vector<Row>& rows) {
  const Row* holding = nullptr;
  const auto rank = [](const Row& row) {
    return 2 * row.managed + (row.id.state == RowState::kSeen);
  };
  for (const Row& row : rows) {
    if (row.root != owner.root || !Manages(row)) continue;
    if (holding == nullptr || rank(row) > rank(*holding)) holding = &row;
  }
  return holding;
}

}  // namespace

std::string WhyNotFree(const Owner& owner, const std::vector<Row>& rows,
                       const std::function<std::string(const Slot&)>& unresolved_reason) {
  const Row* row = owner.record == Record::kNone ? HoldingRow(owner, rows) : nullptr;
  if (row == nullptr) return WhyOnRecord(owner);
  if (std::string reason = unresolved_reason(row->slot); !reason.empty()) return reason;
  const std::string object = ForPeople(row->slot);
  if (row->id.state == RowState::kReserved) {
    return "reserved for " + object + ", and waits" + Since(row->at) +
           " until it is seen, or a quorum read of it finds nothing";
  }
  if (row->terminating) {
    return "held by " + object + ", which is being deleted, and waits for its end";
  }
  return "held by " + object + Since(row->at);
}

}  // namespace truce
