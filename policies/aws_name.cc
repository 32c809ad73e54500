// Rule aws-name: a name that AWS would refuse.
//
// Spec: the name of a declared resource whose type has a name that users give is one that AWS
// takes: pattern and length of the type (schema/aws-types.tsv), reserved prefixes and suffixes,
// ".fifo", DNS labels and the like (schema/aws-names.tsv, with the source of each row). Cautions
// (dots in bucket names, the end of a secret's name) never refuse.
// Parameters: none; mode "mode" and "typeModes", at most warn where the row is not researched.
// Vectors: policies/vectors/aws-*.yaml.
#include "policies/name_rules.h"
#include "policies/people.h"

namespace truce {

Finding AwsNameRefused(const DeclaredResource& resource, const BadAwsName& bad,
                       const Wording& wording) {
  const auto& [name, fault, better] = bad;
  const std::string type = TypeForPeople(resource.identity.type);
  Finding out{.rule = Rule::kAwsName, .mode = fault.warns ? Mode::kWarn : Mode::kEnforce};
  out.resource = type + " " + Quoted(name);
  out.key = resource.key();
  if (fault.warns) {
    out.cause = "AWS takes " + Quoted(name) + " as the name of this " + type + ", but it " +
                fault.reason + ".";
  } else {
    out.cause = "AWS does not accept " + Quoted(name) + " as the name of this " + type + ": it " +
                fault.reason + ".";
  }
  const std::string in = *wording.root == wording.object->slot
                             ? std::string()
                             : " in " + OneLine(ObjectForPeople(*wording.root), kShownTextBytesMax);
  out.remedy = better.empty()
                   ? "Choose another name" + in + "."
                   : "Choose another name" + in + ", for example " + Quoted(better) + ".";
  out.suggestion = better;
  out.warning =
      OneLine("truce: " + type + " " + OneLine(name, 63) + " " + fault.reason, kWarningBytesMax);
  return out;
}

}  // namespace truce
