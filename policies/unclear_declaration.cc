// Rule unclear-declaration: a declaration that is not protected, and why.
//
// Spec: a mapping rule gives every part of the resource's name (UnclearDeclaration), external name
// and status agree with the fields (UnclearName), and every kind that can declare a name can be
// listed (PerhapsTaken).
// Parameters: none; warns at most. Vectors: tests/unit/admission_rules_test.cc, texts in
// tests/golden/texts.
#include "policies/rules.h"

#include "policies/people.h"

namespace truce {

Finding UnclearDeclaration(const DeclaredResource& resource, const Wording& wording) {
  const std::string type = TypeForPeople(resource.identity.type);
  const std::string missing =
      resource.missing.empty() ? "a part of its name is missing" : resource.missing.front();
  Finding out{.rule = Rule::kUnclearDeclaration, .mode = Mode::kWarn, .at_most = Mode::kWarn};
  out.resource = type;
  out.cause = "Which " + type + " " + ObjectForPeople(wording.object->slot) +
              " declares is not clear: " + OneLine(missing, kShownTextBytesMax) + ".";
  out.remedy = "Until then it is not protected.";
  out.warning = OneLine("truce: " + type + " not protected: " + missing, kWarningBytesMax);
  return out;
}

Finding UnclearName(const ObjectFacts& object, const Wording& wording) {
  const std::string type =
      object.resources.empty() ? "" : TypeForPeople(object.resources.front().identity.type);
  Finding out{.rule = Rule::kUnclearDeclaration, .mode = Mode::kWarn, .at_most = Mode::kWarn};
  out.resource = type;
  out.cause = "Which " + type + " " + ObjectForPeople(wording.object->slot) +
              " names is not clear: " + OneLine(object.name_finding, kShownTextBytesMax) + ".";
  out.remedy = "Only what its fields name is protected for certain.";
  out.warning = OneLine("truce: " + type + ": " + object.name_finding, kWarningBytesMax);
  return out;
}

Finding PerhapsTaken(const DeclaredResource& resource, const Wording& wording) {
  Finding out{.rule = Rule::kUnclearDeclaration, .mode = Mode::kWarn, .at_most = Mode::kWarn};
  out.resource = TypeForPeople(resource.identity.type) + " " + Quoted(resource.name);
  out.key = resource.key();
  out.cause = out.resource + " of " + ObjectForPeople(wording.object->slot) +
              " may be taken: Truce cannot list all objects that can declare it.";
  out.remedy = "An operator finds the reason with `truce coverage`.";
  out.warning = OneLine("truce: " + out.resource + " may be taken: not all objects can be listed",
                        kWarningBytesMax);
  return out;
}

}  // namespace truce
