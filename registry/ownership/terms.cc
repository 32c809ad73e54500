#include "registry/ownership/terms.h"

#include "registry/base/name_table.h"

namespace truce {
namespace {

constexpr NameTable<RowState::kSeen> kRowStates("reserved", "seen");
constexpr NameTable<AgreementKind::kProtection> kAgreementKinds("share", "transfer", "protection");
constexpr NameTable<ShareLevel::kAttach> kShareLevels("observe", "attach");

}  // namespace

std::string_view Name(RowState state) { return kRowStates.Of(state); }

std::string_view Name(Mode mode) {
  static constexpr NameTable<Mode::kEnforce> kWords("off", "audit", "warn", "enforce");
  return kWords.Of(mode);
}

std::string_view Name(Operation operation) {
  static constexpr NameTable<Operation::kDelete> kWords("CREATE", "UPDATE", "DELETE");
  return kWords.Of(operation);
}

std::string_view Name(AgreementKind kind) { return kAgreementKinds.Of(kind); }

std::string_view Name(ShareLevel level) { return kShareLevels.Of(level); }

std::optional<ShareLevel> ShareLevelFromName(std::string_view name) {
  return kShareLevels.Find(name);
}

}  // namespace truce
