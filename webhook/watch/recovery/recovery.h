// Recovery: the registry's cluster, and whether the registry may be behind it (I5).
// All of it is kept in store settings.
#ifndef TRUCE_WEBHOOK_WATCH_RECOVERY_RECOVERY_H_
#define TRUCE_WEBHOOK_WATCH_RECOVERY_RECOVERY_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "registry/base/clock.h"
#include "registry/base/result.h"
#include "registry/identity/values.h"
#include "registry/ownership/terms.h"

namespace truce {

class Administration;
class Facts;
class Store;

// Binds cluster id `cluster` to the uid of its kube-system namespace, or checks that binding.
// Idempotent, durable. Errors: kConflict: the registry belongs to another cluster; the message
// names both uids, the cluster id and the ways out (the right kubeconfig, another --cluster-id,
// another registry). Otherwise as Store::Apply.
Result<void> BindCluster(Store& store, std::string_view cluster, const Uid& kube_system,
                         Deadline deadline);
// Only looks: ok where the id is free or bound to this uid.
Result<void> CheckCluster(const Store& store, std::string_view cluster, const Uid& kube_system,
                          Deadline deadline);

// The same for a registry that serves one cluster alone: `cluster`, from its first server on.
// Errors: kConflict: it is another cluster's, nothing was written; otherwise as Store::Apply.
Result<void> BindRegistry(Store& store, std::string_view cluster, Deadline deadline);
// Only looks: ok where it is free or this cluster's.
Result<void> CheckRegistry(const Store& store, std::string_view cluster, Deadline deadline);

// Which registry this is and how often it was opened with a cluster: remembered outside of it (a
// file beside it, the cluster's Lease), so that a restored or rebuilt one is noticed.
struct StoreMark {
  std::string id;            // 13 base32 characters, made once per registry
  std::uint64_t starts = 0;  // counts up with each start

  bool operator==(const StoreMark&) const = default;
};
std::string ToText(const StoreMark& mark);  // "<id> <starts>"
std::optional<StoreMark> StoreMarkFromText(std::string_view text);
// As the registry has it; nothing: it was never opened with a cluster.
std::optional<StoreMark> MarkOf(const Facts& facts);

// Counts this start and returns the mark as it is now. Errors: as Store::Apply.
Result<StoreMark> CountStart(Store& store, const IdSource& ids, Deadline deadline);

// Why a registry may be behind the cluster. `present` is CountStart's; `remembered` what was noted
// at the start before.
enum class Behind : std::uint8_t {
  kNo,     // the next start of the same registry, or nothing is remembered: a first start
  kOlder,  // the same registry, but of an earlier time: a restored backup, a fail-over that lost
           // writes
  kOther,  // another registry: rebuilt, or another data directory
};
Behind CompareMarks(const StoreMark& present, const std::optional<StoreMark>& remembered);

// Recovery mode: Truce warns instead of denying, until an operator has confirmed what a full resync
// found.
struct RecoveryState {
  std::string reason;  // "the registry is older than the cluster remembers (start 7, now 5)"
  Timestamp since{};
  bool resynced = false;  // a full resync is done: may be finished

  bool operator==(const RecoveryState&) const = default;
};
// Nothing: not in recovery mode.
std::optional<RecoveryState> RecoveryOf(const Facts& facts);
Result<std::optional<RecoveryState>> ReadRecovery(const Store& store, Deadline deadline);

// Enters recovery mode; when it is entered already the first reason stays. Audited.
void EnterRecovery(const std::string& reason, const std::string& actor, Administration& books);
// Notes that the resync is done; nothing when not in recovery mode.
void NoteResynced(Administration& books);
// Ends it. False, and nothing is changed, when it is not entered; an end before the resync needs
// `force`. Audited.
enum class RecoveryEnd : std::uint8_t { kEnded, kNotEntered, kNotResynced };
RecoveryEnd FinishRecovery(const std::string& actor, bool force, Administration& books);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_WATCH_RECOVERY_RECOVERY_H_
