// The reasons why refusals are suspended now, of every origin: the one answer that doctor,
// coverage, metrics, /readyz?verbose and the page give. Pure.
#ifndef TRUCE_POLICIES_SUSPENSIONS_H_
#define TRUCE_POLICIES_SUSPENSIONS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "policies/policy.h"
#include "registry/base/clock.h"

namespace truce {

enum class SuspensionCause : std::uint8_t { kRecovery, kOverride };
std::string_view Name(SuspensionCause cause);  // "recovery", "override"

// Texts of one line each.
struct Suspension {
  SuspensionCause cause = SuspensionCause::kRecovery;
  std::string what;    // "recovery mode: Truce only warns"; names nobody's reason
  std::string why;     // in the words of its author
  std::string remedy;  // the command that ends it

  bool operator==(const Suspension&) const = default;
};

// Recovery mode first, then the overrides that hold at `now`. Modes that are laxer than enforce
// suspend nothing: they are how far the roll-out is, and are shown as the mode.
std::vector<Suspension> SuspensionsAt(const AdmissionPolicy& policy, Timestamp now);

// For everybody, in one line: the mode, or what suspends it.
std::string RefusalsText(const AdmissionPolicy& policy, Timestamp now);

}  // namespace truce

#endif  // TRUCE_POLICIES_SUSPENSIONS_H_
