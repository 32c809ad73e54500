// The rules about names, from what an object says to findings. Pure: policy and facts in, findings
// out. The same code serves admission, checks and reports.
#ifndef TRUCE_POLICIES_NAME_RULES_H_
#define TRUCE_POLICIES_NAME_RULES_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policies/finding.h"
#include "policies/mode.h"
#include "policies/names/aws_names.h"
#include "policies/names/naming.h"
#include "policies/rules.h"
#include "registry/base/document.h"
#include "registry/catalogue/catalogue.h"
#include "registry/identity/identity.h"

namespace truce {

struct AdmissionPolicy;
struct ModeTopic;
struct RuleCase;

// Everything compiled that the name rules need; shared by all reviews of one policy. Immutable.
struct NamePolicy {
  std::shared_ptr<const AwsNames> aws;         // never null
  std::optional<NamingConvention> convention;  // none: names are free
  std::vector<std::string> label_keys;         // that the convention, modes and exemptions read
};

// The evidence of an object for the rules, beside its facts. Empty for a policy that needs none of
// it.
struct NameEvidence {
  Labels labels;  // those of NamePolicy::label_keys that the object has
  std::string provider_config;
  std::string service_from;  // where the object says its service, see ServiceSourceOf
  std::optional<bool> fifo;  // nothing: not known (claims), or no field of the type
};

// Reads `object`, a whole Kubernetes object whose facts by `policy` are `facts`. Empty where
// `policy` does not judge names.
NameEvidence ReadEvidence(Value object, const ObjectFacts& facts, const AdmissionPolicy& policy);

// From here on `c.evidence` and the names of its policy are not null.

// The rules aws-name and naming-convention about every name that `c.object` adds, in the order of
// its resources. They judge pairs of a name and its party, not objects: a name that the party or
// the chain has already (IsHeld) is not judged again, whatever object declares it, and a question
// about it warns at most. Resources that are only observed, that are not known yet, or whose names
// AWS gives, have no finding; nor has anything where the policy's names are null.
std::vector<Finding> JudgeNames(const RuleCase& c);

// Whether neither AWS nor the convention, where it is on, objects to `name` for `resource`.
bool PassesNameRules(const RuleCase& c, const DeclaredResource& resource, std::string_view name);

// The keys of `resource` if it were called `name`: one for each account that may be meant. Empty:
// it has none that is known.
std::vector<KeyText> KeysOfName(const RuleCase& c, const DeclaredResource& resource,
                                const std::string& name);

// Whether nobody has `name` for what `resource` declares, under any account that may be meant.
// Where the registry is not asked every name is taken for free.
bool IsFree(const RuleCase& c, const DeclaredResource& resource, const std::string& name);

// The topic for the mode of `rule` about `resource`, called `name`.
ModeTopic TopicOf(const RuleCase& c, Rule rule, const DeclaredResource& resource,
                  std::string_view name);

// The facts of one name, as the rules see them. Lives as long as `c` and `name`.
NameFacts FactsOf(const RuleCase& c, const DeclaredResource& resource, std::string_view name);

// The name that AWS's rule for the type is about; empty when it is not known or not the user's.
std::string_view NameOf(const DeclaredResource& resource, const AwsNameRule& rule);

// The service that the object itself names; empty when it is only its own name, for want of labels.
std::string_view DeclaredService(const ObjectFacts& object);

// A name that AWS would refuse, or with which something would fail (`fault.warns`).
struct BadAwsName {
  std::string_view name;
  const AwsNameFault& fault;
  std::string_view better;  // a name that AWS takes; empty when none is known
};

// Rule aws-name.
Finding AwsNameRefused(const DeclaredResource& resource, const BadAwsName& bad,
                       const Wording& wording);

// Rule naming-convention: the name departs from its template.
Finding NameOutOfConvention(const DeclaredResource& resource, std::string_view name,
                            const NamingFault& fault, const Wording& wording);

// Adds to `finding` that `exemption` exempts it no more.
void NoteExpiry(const Exemption& exemption, Finding& finding);

}  // namespace truce

#endif  // TRUCE_POLICIES_NAME_RULES_H_
