#include "policies/rules.h"

#include "policies/people.h"

namespace truce {
namespace {

constexpr std::size_t kTextBytesMax = 256;  // of anything an object says

std::string Quoted(std::string_view text) { return '"' + OneLine(text, kTextBytesMax) + '"'; }

}  // namespace

Finding BadResourceName(const BadName& bad, Mode mode, const Wording& wording) {
  const std::string type = TypeForPeople(bad.type);
  const std::string shown = Quoted(bad.shown);
  Finding out;
  out.rule = Rule::kResourceName;
  out.mode = mode;
  out.resource = type + " " + shown;
  out.cause = "The " + OneLine(bad.part, kTextBytesMax) + " of this " + type + ", " + shown + ", " +
              OneLine(bad.reason, kTextBytesMax) + ".";
  out.remedy =
      "Write it again in " + ObjectForPeople(*wording.root) +
      " with the characters that AWS allows there; copied text often brings invisible ones.";
  out.warning = OneLine("truce: " + out.resource + " " + bad.reason, kWarningBytesMax);
  return out;
}

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

Finding UnclearDeclaration(const DeclaredResource& resource, const Wording& wording) {
  const std::string type = TypeForPeople(resource.identity.type);
  const std::string missing =
      resource.missing.empty() ? "a part of its name is missing" : resource.missing.front();
  Finding out;
  out.rule = Rule::kUnclearDeclaration;
  out.mode = Mode::kWarn;
  out.resource = type;
  out.cause = "Which " + type + " " + ObjectForPeople(wording.object->slot) +
              " declares is not clear: " + OneLine(missing, kTextBytesMax) + ".";
  out.remedy = "Until then it is not protected.";
  out.warning = OneLine("truce: " + type + " not protected: " + missing, kWarningBytesMax);
  return out;
}

Finding PerhapsTaken(const DeclaredResource& resource, const Wording& wording) {
  Finding out;
  out.rule = Rule::kUnclearDeclaration;
  out.mode = Mode::kWarn;
  out.resource = TypeForPeople(resource.identity.type) + " " + Quoted(resource.name);
  out.key = resource.key;
  out.cause = out.resource + " of " + ObjectForPeople(wording.object->slot) +
              " may be taken: Truce cannot list all objects that can declare it.";
  out.remedy = "An operator finds the reason with `truce coverage`.";
  out.warning = OneLine("truce: " + out.resource + " may be taken: not all objects can be listed",
                        kWarningBytesMax);
  return out;
}

}  // namespace truce
