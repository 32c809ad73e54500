#include "registry/ownership/rows.h"

#include "registry/base/name_table.h"

namespace truce {
namespace {

constexpr NameTable<RowState::kSeen> kRowStates("reserved", "seen");
constexpr NameTable<Record::kTransferring> kRecords("none", "orphaned", "imported", "transferring");
constexpr NameTable<NameSort::kFormerId> kNameSorts("declared", "located", "assigned", "former-id");
constexpr NameTable<AgreementKind::kProtection> kAgreementKinds("share", "transfer", "protection");
constexpr NameTable<ShareLevel::kAttach> kShareLevels("observe", "attach");

}  // namespace

std::string_view Name(RowState state) { return kRowStates.Of(state); }

std::optional<RowState> RowStateFromName(std::string_view name) { return kRowStates.Find(name); }

std::string_view Name(Record record) { return kRecords.Of(record); }

std::optional<Record> RecordFromName(std::string_view name) { return kRecords.Find(name); }

std::string_view Name(HolderState state) {
  static constexpr NameTable<HolderState::kTerminating> kWords("reserved", "held", "terminating");
  return kWords.Of(state);
}

std::string_view Name(NameSort sort) { return kNameSorts.Of(sort); }

std::optional<NameSort> NameSortFromName(std::string_view name) { return kNameSorts.Find(name); }

std::string_view Name(AuditAction action) {
  static constexpr NameTable<AuditAction::kAdministered> kWords("granted", "conflict", "released",
                                                                "passed", "orphaned", "transferred",
                                                                "moved", "administered");
  return kWords.Of(action);
}

std::string_view Name(AgreementKind kind) { return kAgreementKinds.Of(kind); }

std::optional<AgreementKind> AgreementKindFromName(std::string_view name) {
  return kAgreementKinds.Find(name);
}

std::string_view Name(ShareLevel level) { return kShareLevels.Of(level); }

std::string ShapeOf(std::string_view key) {
  // space|partition|account|region|…: no field contains a bare "|".
  const std::size_t partition = key.find('|');
  const std::size_t account =
      partition == std::string_view::npos ? partition : key.find('|', partition + 1);
  if (account == std::string_view::npos) return {};
  const std::size_t region = key.find('|', account + 1);
  if (region == std::string_view::npos || region == account + 1) return {};
  std::string shape;
  shape.reserve(key.size());
  shape.append(key.substr(0, account + 1)).append(key.substr(region));
  return shape;
}

std::optional<ShareLevel> ShareLevelFromName(std::string_view name) {
  return kShareLevels.Find(name);
}

}  // namespace truce
