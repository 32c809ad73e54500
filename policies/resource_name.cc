// Rule resource-name: a name that cannot be a cloud resource's, or looks like another one.
//
// Spec: no part of a resource's key that an object gives holds invisible, control or confusable
// characters, or is longer than any cloud resource's (BadName of registry/identity tells which).
// Parameters: none; mode "mode" and "typeModes". Vectors: tests/unit/identity_names_test.cc, texts
// in tests/golden/texts.
#include "policies/rules.h"

#include "policies/people.h"

namespace truce {

Finding BadResourceName(const BadName& bad, Mode mode, const Wording& wording) {
  const std::string type = TypeForPeople(bad.type);
  const std::string shown = Quoted(bad.shown);
  Finding out{.rule = Rule::kResourceName, .mode = mode};
  out.resource = type + " " + shown;
  out.cause = "The " + OneLine(bad.part, kShownTextBytesMax) + " of this " + type + ", " + shown +
              ", " + OneLine(bad.reason, kShownTextBytesMax) + ".";
  out.remedy =
      "Write it again in " + ObjectForPeople(*wording.root) +
      " with the characters that AWS allows there; copied text often brings invisible ones.";
  out.warning = OneLine("truce: " + out.resource + " " + bad.reason, kWarningBytesMax);
  return out;
}

}  // namespace truce
