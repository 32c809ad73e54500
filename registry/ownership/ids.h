// Ids: which row is meant, and where new public ids come from. Apart from rows.h for those who
// carry an id and never look at what it names.
#ifndef TRUCE_REGISTRY_OWNERSHIP_IDS_H_
#define TRUCE_REGISTRY_OWNERSHIP_IDS_H_

#include <compare>
#include <cstdint>
#include <functional>
#include <string_view>

#include "registry/base/random_id.h"
#include "registry/identity/values.h"

namespace truce {

// `reserved`: made at admission, not yet seen. `seen`: the object exists and declares the key.
enum class RowState : std::uint8_t { kReserved, kSeen };
std::string_view Name(RowState state);

// A reservation stands beside the row of what was seen and never replaces it: rows are unique by
// all three.
struct RowId {
  KeyText key;
  Uid uid;
  RowState state = RowState::kReserved;

  auto operator<=>(const RowId&) const = default;
};

// Gives a fresh public id (13 base32 characters); randomness is the caller's.
using IdSource = std::function<PublicId()>;

// The program's: NewId's texts. Thread-safe.
inline IdSource RandomIds() {
  return [] { return PublicId{NewId()}; };
}

}  // namespace truce

#endif  // TRUCE_REGISTRY_OWNERSHIP_IDS_H_
