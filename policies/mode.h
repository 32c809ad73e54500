// How strongly a rule is applied to one resource of one object: global mode, mode of the type, the
// caution for types whose scope is not researched, and timed overrides (design section 5).
#ifndef TRUCE_POLICIES_MODE_H_
#define TRUCE_POLICIES_MODE_H_

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "registry/base/clock.h"
#include "registry/identity/values.h"
#include "registry/ownership/review.h"

namespace truce {

// What a conflict of a type whose scope of uniqueness is not researched does.
enum class UnsureAction : std::uint8_t { kWarn, kDeny };

// A timed override (break-glass): what it names is audited instead of denied or warned about, until
// `until`. Exactly one of name, ns and group is set.
struct Override {
  std::string name;   // of the declaration, of its root, or of the resource
  std::string ns;     // of the declaration or of its root
  std::string group;  // API group of the declaration
  Timestamp until{};  // first moment at which it no longer holds
  std::string reason;

  bool operator==(const Override&) const = default;
};

struct ModeRules {
  Mode global = Mode::kEnforce;
  std::map<std::string, Mode, std::less<>> types;  // "s3/Bucket" → mode; wins over `global`
  UnsureAction unsure = UnsureAction::kWarn;
  std::map<std::string, UnsureAction, std::less<>> unsure_types;  // wins over `unsure`
  std::vector<Override> overrides;

  bool operator==(const ModeRules&) const = default;
};

// What a mode is asked for. The views need to live during the call only.
struct ModeSubject {
  std::string_view type;           // "s3/Bucket"
  bool sure = true;                // the scope of the type is researched
  std::string_view resource_name;  // "prod-artifacts"
  const Slot* object = nullptr;    // never null
  const Slot* root = nullptr;      // top of the object's lineage; null while not known
};

// The override in force at `now` that names `subject`; null when there is none. The first listed
// wins.
const Override* OverrideFor(const ModeRules& rules, const ModeSubject& subject, Timestamp now);

// The mode for `subject` at `now`. An override never makes a mode stricter.
Mode ModeFor(const ModeRules& rules, const ModeSubject& subject, Timestamp now);

}  // namespace truce

#endif  // TRUCE_POLICIES_MODE_H_
