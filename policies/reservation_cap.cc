// Rule reservation-cap: too many declarations were admitted and never seen.
//
// Spec: a namespace has at most `reservationCap` reservations that are older than 60 s and not
// proved, and at most `reservationBurst` younger ones, whoever made them; of cluster-scoped objects
// each user has. An object is not renamed while its root has left as many resources orphaned as
// `reservationCap` allows: renames would keep any number of names. Composite controllers, providers
// and restorers are neither limited nor counted. Counted in registry/ownership; enforced in every
// mode, because it keeps the registry from being filled. Vectors:
// tests/unit/reservation_cap_test.cc, texts in tests/golden/texts.
#include "policies/rules.h"

#include "policies/people.h"

namespace truce {

Finding ReservationCapReached(const ReachedLimit& reached, const Wording& wording) {
  const Slot& object = wording.object->slot;
  const bool is_old = reached.limit != ReservationLimit::kYoung;
  Finding out{.rule = Rule::kReservationCap};
  out.resource = ObjectForPeople(object);
  const std::string limit = std::to_string(is_old ? reached.limits.old : reached.limits.young);
  if (reached.limit == ReservationLimit::kLeft) {
    const std::string root = OneLine(ObjectForPeople(*wording.root), kShownTextBytesMax);
    out.cause = "Another name is refused: " + root + " has left " + limit +
                " resources that may still exist in AWS.";
    out.remedy =
        "Keep the name. Your platform team can free the names of those that are gone "
        "(`truce list --state orphaned`), or raise setting reservationCap, now " +
        limit + ".";
    out.warning = OneLine("truce: " + out.cause, kWarningBytesMax);
    return out;
  }
  out.cause = limit +
              (object.ns.empty() ? " cluster-scoped declarations of user " + Quoted(reached.user)
                                 : " declarations in namespace " + Quoted(object.ns)) +
              (is_old ? " were admitted but never created."
                      : " were admitted within a minute and are not created yet.");
  out.remedy = std::string(is_old ? "Wait a few minutes" : "Wait a minute") +
               " and apply again. If it stays, ask your platform team (setting " +
               (is_old ? "reservationCap" : "reservationBurst") + ", now " + limit + ").";
  out.warning = OneLine("truce: " + out.cause, kWarningBytesMax);
  return out;
}

}  // namespace truce
