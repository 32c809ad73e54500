// The rules about names, from what an object says to findings. Pure: policy and facts in, findings
// out. The same code serves admission, checks and reports.
#ifndef TRUCE_POLICIES_NAME_RULES_H_
#define TRUCE_POLICIES_NAME_RULES_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policies/aws_names.h"
#include "policies/finding.h"
#include "policies/mode.h"
#include "policies/naming.h"
#include "policies/rules.h"
#include "registry/base/clock.h"
#include "registry/catalogue/catalogue.h"
#include "registry/identity/document.h"
#include "registry/identity/identity.h"

namespace truce {

// Everything compiled that the name rules need; shared by all reviews of one policy. Immutable.
struct NamePolicy {
  std::shared_ptr<const AwsNames> aws;         // never null
  std::optional<NamingConvention> convention;  // none: names are free
  std::vector<std::string> label_keys;         // that the convention, modes and exemptions read
};

// What the rules read of an object beside its facts. Empty for a policy that needs none of it.
struct NameEvidence {
  Labels labels;  // those of NamePolicy::label_keys that the object has
  std::string provider_config;
  std::string service_from;  // where the object says its service, see ServiceSourceOf
  std::optional<bool> fifo;  // nothing: not known (claims), or no field of the type
};

// Reads `object`, a whole Kubernetes object whose facts by `rules` are `facts`.
NameEvidence ReadEvidence(Value object, const ObjectFacts& facts, const NamePolicy& policy,
                          const IdentityRules& rules);

// One object's names to be judged. The pointees must live during the call only.
struct NameCase {
  const NamePolicy* policy = nullptr;
  const ModeRules* modes = nullptr;
  const ObjectFacts* object = nullptr;
  const ObjectFacts* old_object = nullptr;  // UPDATE: names that it has too are not judged again
  const NameEvidence* evidence = nullptr;
  const Slot* root = nullptr;      // top of the lineage as far as known
  std::string_view bound_service;  // that configuration binds to the root's namespace
  Mode at_most = Mode::kEnforce;   // of every finding
  Timestamp now{};
  // Whether nobody has `name` for what `resource` declares; empty: that cannot be told, and every
  // name is taken for free.
  std::function<bool(const DeclaredResource& resource, const std::string& name)> is_free = {};
};

// Whether neither AWS nor the convention, where it is on, objects to `name` for `resource`.
bool PassesNameRules(const NameCase& c, const DeclaredResource& resource, std::string_view name);

// Findings of the rules aws-name and naming-convention for every name that `c.object` adds, in the
// order of its resources; modes resolved, those that are off left out. Resources that are only
// observed, that are not known yet, or whose names AWS gives, have no finding.
std::vector<Finding> NameFindings(const NameCase& c, const Wording& wording);

// What the mode of `rule` about `resource`, called `name`, is asked for. Lives as long as `c`.
ModeSubject SubjectOf(const NameCase& c, Rule rule, const DeclaredResource& resource,
                      std::string_view name);

// The facts of one name, as the rules see them. Lives as long as `c` and `name`.
NameFacts FactsOf(const NameCase& c, const DeclaredResource& resource, std::string_view name);

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
