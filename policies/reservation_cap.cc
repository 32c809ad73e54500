// Rule reservation-cap: too many of a user's declarations were admitted and never seen.
//
// Spec: a user has at most `reservationCap` reservations in a namespace that are older than 60 s
// and not proved; composite controllers are not counted. Counted in registry/ownership. Parameters:
// reservationCap; enforced only while the global mode is enforce. Vectors:
// tests/unit/reservation_cap_test.cc, texts in tests/golden/texts.
#include "policies/rules.h"

#include "policies/people.h"

namespace truce {
namespace {}  // namespace

Finding ReservationCapReached(std::size_t cap, std::string_view user, const Wording& wording) {
  const Slot& object = wording.object->slot;
  Finding out;
  out.rule = Rule::kReservationCap;
  out.mode = Mode::kEnforce;
  out.resource = ObjectForPeople(object);
  out.cause = "User " + Quoted(user) + " has reached the limit of " + std::to_string(cap) +
              " declarations" + (object.ns.empty() ? "" : " in namespace " + Quoted(object.ns)) +
              " that were admitted more than a minute ago and have not been seen since.";
  out.remedy =
      "Apply again when they are created, or given up after a few minutes; an operator can raise "
      "reservationCap.";
  out.warning = OneLine("truce: " + out.cause, kWarningBytesMax);
  return out;
}

}  // namespace truce
