// Rerolls: updates of a composite that only exchange names of its composed resources (rule
// rerolled-names).
#ifndef TRUCE_WEBHOOK_ADMISSION_REROLLS_H_
#define TRUCE_WEBHOOK_ADMISSION_REROLLS_H_

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "registry/base/document.h"
#include "registry/identity/values.h"
#include "webhook/admission/repeated_refusals.h"

namespace truce {

// Names that left a composite's resourceRefs, and those that came. Slots without cluster; their
// namespace is that of the composite, which kinds without one do not have.
struct ExchangedNames {
  std::vector<Slot> gone;
  std::vector<Slot> come;
};

// More in one update are not looked at: it is allowed.
inline constexpr std::size_t kExchangedMax = 16;
inline constexpr std::size_t kReferencesMax = 1000;

// The names that an update from `old_object` to `object` exchanges in spec.resourceRefs, or in
// spec.crossplane.resourceRefs: of each kind as many as it takes away. Nothing when it changes
// anything else (generation and resourceVersion excepted), exchanges nothing or more than
// kExchangedMax, or has an entry that is no reference.
std::optional<ExchangedNames> NamesExchanged(Value object, Value old_object);

// The refusals of `standing` that the exchanged names are about, each once. Nothing when a name
// that left is not one of a refused object of its kind: an object of it may have existed.
std::optional<std::vector<StandingRefusal>> RefusalsOf(const ExchangedNames& names,
                                                       std::span<const StandingRefusal> standing);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_ADMISSION_REROLLS_H_
