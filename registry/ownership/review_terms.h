// What configuration says of reviews: modes, who asks, limits. Apart from review.h for those who
// configure or report reviews and see neither facts nor decisions.
#ifndef TRUCE_REGISTRY_OWNERSHIP_REVIEW_TERMS_H_
#define TRUCE_REGISTRY_OWNERSHIP_REVIEW_TERMS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace truce {

// How strongly a rule is applied. `off`: rows are kept, nothing is found.
enum class Mode : std::uint8_t { kOff, kAudit, kWarn, kEnforce };
std::string_view Name(Mode mode);

enum class Operation : std::uint8_t { kCreate, kUpdate, kDelete };
std::string_view Name(Operation operation);  // "CREATE", "UPDATE", "DELETE"

// What configuration says of the user who asks.
struct Requester {
  std::string user;
  bool composite_controller = false;  // writes composites' lineage; Crossplane's own account
  bool provider = false;              // may add late names, removes provider finalizers
  bool restorer = false;              // brings objects back from a backup (setting `restorers`)
};

// How many reservations a namespace may have, whoever made them, or a user of what is
// cluster-scoped. Composite controllers, providers and restorers are neither limited nor counted.
struct ReservationLimits {
  std::size_t old = 0;    // made a minute ago and not seen since; 0: there are no limits
  std::size_t young = 0;  // made within the last minute and not seen yet; as `old` or more

  bool operator==(const ReservationLimits&) const = default;
};
enum class ReservationLimit : std::uint8_t { kNone, kOld, kYoung };

}  // namespace truce

#endif  // TRUCE_REGISTRY_OWNERSHIP_REVIEW_TERMS_H_
