// Rule naming-convention: a name that departs from the organisation's template.
//
// Spec: the external name of a declared resource of a covered type is read by the type's template,
// default {service}-{env}-{type}, from the left. Each variable has a demanded value (from a label,
// the namespace, the ProviderConfig, the object's service, or fixed), else a vocabulary, else a
// pattern. ".fifo" at the end of queues' and topics' names is AWS's and not part of the template. A
// demanded value too long for the type may be shortened, with a hash of six characters.
// Parameters: configuration `naming`; off until `rules.naming-convention` gives a mode.
// Vectors: policies/vectors/naming-*.yaml.
#include "policies/name_rules.h"
#include "policies/people.h"

namespace truce {
namespace {

constexpr std::string_view kBe = "be ";  // how what a fixed text must be begins

// the env must be "prod" (from label env), not "production"
std::string WhatIsWrong(const NamingFault& fault) {
  if (fault.part == "length") return "it " + fault.expected;
  if (fault.part == "end" && fault.expected == "hold nothing more") {
    return "it must end before " + Quoted(fault.got);
  }
  if (fault.part == "begin") return "it must begin with " + fault.expected.substr(kBe.size());
  const bool literal = fault.part == "middle" || fault.part == "end";
  const std::string part = literal ? "its " + fault.part : "the " + fault.part;
  if (fault.got.empty()) return part + " is missing and must " + fault.expected;
  return part + " must " + fault.expected + ", not " + Quoted(fault.got);
}

}  // namespace

Finding NameOutOfConvention(const DeclaredResource& resource, std::string_view name,
                            const NamingFault& fault, const Wording& wording) {
  const std::string type = TypeForPeople(resource.identity.type);
  const std::string wrong = WhatIsWrong(fault);
  Finding out{.rule = Rule::kNamingConvention};
  out.resource = type + " " + Quoted(name);
  out.key = resource.key();
  out.cause = type + " " + Quoted(name) + " does not follow the naming convention " + fault.form +
              ": " + wrong + ".";
  const std::string in = *wording.root == wording.object->slot
                             ? std::string()
                             : " in " + OneLine(ObjectForPeople(*wording.root), kShownTextBytesMax);
  if (!fault.suggestion.empty()) {
    out.suggestion = fault.suggestion;
    out.remedy = "Name it " + Quoted(fault.suggestion) + in + ".";
    out.warning = "truce: " + type + " " + OneLine(name, 63) + " should be named " +
                  OneLine(fault.suggestion, 63);
  } else if (!fault.pattern.empty()) {
    out.remedy = "Name it " + Quoted(fault.pattern) + in + ", where " + fault.choice + ".";
    out.warning = "truce: " + type + " " + OneLine(name, 63) + " should be named like " +
                  OneLine(fault.pattern, 63);
  } else {
    out.remedy = "Choose another name" + in + ".";
  }
  // Too long for a warning: the fault says more than half of two names.
  if (out.warning.empty() || out.warning.size() > kWarningBytesMax) {
    out.warning =
        OneLine("truce: " + type + " " + OneLine(name, 40) + ": " + wrong, kWarningBytesMax);
  }
  return out;
}

void NoteExpiry(const Exemption& exemption, Finding& finding) {
  if (!exemption.until) return;
  const std::string when = FormatTimestamp(*exemption.until).substr(0, 10);
  finding.remedy +=
      " Its exemption (" + OneLine(exemption.reason, 120) + ") ended on " + when + ".";
  finding.warning =
      OneLine("truce: exemption ended " + when + ": " +
                  std::string(std::string_view(finding.warning)
                                  .substr(finding.warning.starts_with("truce: ") ? 7 : 0)),
              kWarningBytesMax);
}

}  // namespace truce
