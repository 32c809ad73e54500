// Witness: the newest line of a registry's audit log, remembered outside of it, so that a registry
// that lost lines is noticed, also by a server that did not run at that time.
#ifndef TRUCE_WEBHOOK_WATCH_RECOVERY_WITNESS_H_
#define TRUCE_WEBHOOK_WATCH_RECOVERY_WITNESS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "registry/base/clock.h"
#include "registry/base/result.h"
#include "registry/identity/values.h"

namespace truce {

class Store;

struct AuditWitness {
  std::string registry;  // StoreMark::id; empty: it was never opened with a cluster
  std::uint64_t number = 0;
  Timestamp at{};
  ResourceId id;  // may be empty

  bool operator==(const AuditWitness&) const = default;
};
std::string ToText(const AuditWitness& witness);  // "<registry> <number> <ms since 1970> <id>"
std::optional<AuditWitness> AuditWitnessFromText(std::string_view text);

// The result of one look at a registry.
struct WitnessLook {
  std::optional<AuditWitness> newest;  // nothing: its log is empty
  // Why it may be behind the cluster: it is the registry of the remembered line and lacks that
  // line, though it never let it go. Empty: it has it, or nothing was remembered.
  std::string loss;
};
// Errors: as Store::Read.
Result<WitnessLook> ReadWitness(const Store& store, const std::optional<AuditWitness>& remembered,
                                Deadline deadline);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_WATCH_RECOVERY_WITNESS_H_
