#include "registry/ownership/rows.h"

#include <array>

namespace truce {

std::string_view Name(RowState state) {
  switch (state) {
    case RowState::kReserved: return "reserved";
    case RowState::kSeen: return "seen";
  }
  return "";
}

std::string_view Name(Record record) {
  switch (record) {
    case Record::kNone: return "none";
    case Record::kOrphaned: return "orphaned";
    case Record::kImported: return "imported";
    case Record::kTransferring: return "transferring";
  }
  return "";
}

std::optional<Record> RecordFromName(std::string_view name) {
  for (const Record record :
       std::array{Record::kNone, Record::kOrphaned, Record::kImported, Record::kTransferring}) {
    if (Name(record) == name) return record;
  }
  return std::nullopt;
}

std::string_view Name(HolderState state) {
  switch (state) {
    case HolderState::kReserved: return "reserved";
    case HolderState::kHeld: return "held";
    case HolderState::kTerminating: return "terminating";
  }
  return "";
}

std::string_view Name(NameSort sort) {
  switch (sort) {
    case NameSort::kDeclared: return "declared";
    case NameSort::kLocated: return "located";
    case NameSort::kAssigned: return "assigned";
    case NameSort::kFormerId: return "former-id";
  }
  return "";
}

std::string_view Name(AuditAction action) {
  switch (action) {
    case AuditAction::kGranted: return "granted";
    case AuditAction::kConflict: return "conflict";
    case AuditAction::kReleased: return "released";
    case AuditAction::kPassed: return "passed";
    case AuditAction::kOrphaned: return "orphaned";
    case AuditAction::kTransferred: return "transferred";
    case AuditAction::kMoved: return "moved";
    case AuditAction::kAdministered: return "administered";
  }
  return "";
}

std::string_view Name(AgreementKind kind) {
  switch (kind) {
    case AgreementKind::kShare: return "share";
    case AgreementKind::kTransfer: return "transfer";
    case AgreementKind::kProtection: return "protection";
  }
  return "";
}

std::string_view Name(ShareLevel level) {
  switch (level) {
    case ShareLevel::kObserve: return "observe";
    case ShareLevel::kAttach: return "attach";
  }
  return "";
}

std::optional<ShareLevel> ShareLevelFromName(std::string_view name) {
  for (const ShareLevel level : std::array{ShareLevel::kObserve, ShareLevel::kAttach}) {
    if (Name(level) == name) return level;
  }
  return std::nullopt;
}

}  // namespace truce
