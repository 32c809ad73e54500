#include "registry/ownership/terms.h"

#include "registry/base/name_table.h"

namespace truce {

std::string_view Name(Mode mode) {
  static constexpr NameTable<Mode::kEnforce> kWords("off", "audit", "warn", "enforce");
  return kWords.Of(mode);
}

std::string_view Name(Operation operation) {
  static constexpr NameTable<Operation::kDelete> kWords("CREATE", "UPDATE", "DELETE");
  return kWords.Of(operation);
}

}  // namespace truce
