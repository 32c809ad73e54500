// Rule reservation-cap: too many declarations were admitted and never seen.
//
// Spec: a namespace has at most `reservationCap` reservations that are older than 60 s and not
// proved, and at most `reservationBurst` younger ones, whoever made them; of cluster-scoped objects
// each user has. Composite controllers, providers and restorers are neither limited nor counted.
// Counted in registry/ownership; enforced in every mode, because it keeps the registry from being
// filled. Vectors: tests/unit/reservation_cap_test.cc, texts in tests/golden/texts.
#include "policies/rules.h"

#include "policies/people.h"

namespace truce {

Finding ReservationCapReached(const ReachedLimit& reached, const Wording& wording) {
  const Slot& object = wording.object->slot;
  const bool is_old = reached.limit == ReservationLimit::kOld;
  Finding out;
  out.rule = Rule::kReservationCap;
  out.mode = Mode::kEnforce;
  out.resource = ObjectForPeople(object);
  out.cause =
      (object.ns.empty() ? "User " + Quoted(reached.user) : "Namespace " + Quoted(object.ns)) +
      " has reached the limit of " +
      std::to_string(is_old ? reached.limits.old : reached.limits.young) +
      (object.ns.empty() ? " cluster-scoped declarations" : " declarations") +
      " that were admitted " +
      (is_old ? "more than a minute ago and have not been seen since."
              : "within the last minute and have not been seen yet.");
  out.remedy = std::string("Apply again ") +
               (is_old ? "when they are created, or given up after a few minutes" : "in a minute") +
               "; an operator can raise " + (is_old ? "reservationCap." : "reservationBurst.");
  out.warning = OneLine("truce: " + out.cause, kWarningBytesMax);
  return out;
}

}  // namespace truce
