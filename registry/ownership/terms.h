// Terms that others carry or configure without the rows and the decisions: ids of rows; modes,
// callers, limits; agreements.
#ifndef TRUCE_REGISTRY_OWNERSHIP_TERMS_H_
#define TRUCE_REGISTRY_OWNERSHIP_TERMS_H_

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "registry/base/clock.h"
#include "registry/base/random_id.h"
#include "registry/identity/values.h"

namespace truce {

// `reserved`: made at admission, not yet seen. `seen`: the object exists and declares the resource.
enum class RowState : std::uint8_t { kReserved, kSeen };
std::string_view Name(RowState state);

// A reservation is a row beside the seen one and never replaces it: rows are unique by all three.
struct RowId {
  ResourceId resource;
  Uid uid;
  RowState state = RowState::kReserved;

  auto operator<=>(const RowId&) const = default;
};

// Gives a fresh public id (13 base32 characters); randomness is the caller's.
using IdSource = std::function<PublicId()>;

// The public ids of one decision: each of its runs is given the same ones, in the order in which it
// draws them. A store may run a decision again with the facts that it asked for
// (registry/store/store.h): one that drew others each time would ask for others, and never see all
// of them. Made outside of the decision. External synchronization.
class DecisionIds {
 public:
  // Ids for the run that begins: those that earlier runs drew, then new ones of `fresh`. Ends with
  // the next call; both must outlive it.
  IdSource Run(const IdSource& fresh) {
    return [this, &fresh, next = std::size_t{0}]() mutable {
      if (next == drawn_.size()) drawn_.push_back(fresh());
      return drawn_[next++];
    };
  }

 private:
  std::vector<PublicId> drawn_;
};

// The program's: NewId's texts. Thread-safe.
inline IdSource RandomIds() {
  return [] { return PublicId{NewId()}; };
}

// How strongly a rule is applied. `off`: rows are kept, nothing is found.
enum class Mode : std::uint8_t { kOff, kAudit, kWarn, kEnforce };
std::string_view Name(Mode mode);

enum class Operation : std::uint8_t { kCreate, kUpdate, kDelete };
std::string_view Name(Operation operation);  // "CREATE", "UPDATE", "DELETE"

// The requester, as configuration knows the user.
struct Requester {
  std::string user;
  bool composite_controller = false;  // writes composites' lineage; Crossplane's own account
  bool provider = false;              // may add late names, removes provider finalizers
  bool restorer = false;              // brings objects back from a backup (setting `restorers`)
};

// Limits of reservations of a namespace, whichever user made them, or of a user, of cluster-scoped
// objects. Composite controllers, providers and restorers are neither limited nor counted.
struct ReservationLimits {
  // Made a minute ago and not seen since; and of one root, left orphaned. 0: there are no limits.
  std::size_t old = 0;
  std::size_t young = 0;  // made within the last minute and not seen yet; as `old` or more

  bool operator==(const ReservationLimits&) const = default;
};
enum class ReservationLimit : std::uint8_t {
  kNone,
  kOld,
  kYoung,
  kLeft,  // as many as `old`: resources that renames of the chain left orphaned
};

enum class AgreementKind : std::uint8_t {
  kShare,       // another party may observe the resource, or attach to it
  kTransfer,    // the ownership is offered to another party, or to another root of the same one
  kProtection,  // the resource must not be deleted
};
std::string_view Name(AgreementKind kind);  // "share", "transfer", "protection"

// An owner's grant to another party; each level includes those before it.
enum class ShareLevel : std::uint8_t {
  kObserve,  // may be read
  kAttach,   // attachments may name the resource
};
std::string_view Name(ShareLevel level);
std::optional<ShareLevel> ShareLevelFromName(std::string_view name);

// Agreements belong to the resource and end with its ownership.
struct Agreement {
  PublicId id;
  AgreementKind kind = AgreementKind::kShare;
  ResourceId resource;
  PartyId party;  // the one that may, or the receiver; empty for a protection
  ShareLevel level = ShareLevel::kObserve;  // of a share
  bool accepted = true;   // false: a transfer that the receiver has not accepted yet
  std::string successor;  // of a transfer: "<kind>/<namespace>/<name>"; empty: not named yet
  std::string reason;
  std::string actor;  // its maker, how known, from where
  Timestamp at{};
  std::optional<Timestamp> until;  // of a share: first moment at which it no longer holds

  bool operator==(const Agreement&) const = default;
};

// The time alone.
inline bool HoldsAt(const Agreement& agreement, Timestamp now) {
  return !agreement.until || now < *agreement.until;
}

}  // namespace truce

#endif  // TRUCE_REGISTRY_OWNERSHIP_TERMS_H_
