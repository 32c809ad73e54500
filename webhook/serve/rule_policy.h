// From the configuration's rules, exemptions and naming convention to what reviews are judged by.
#ifndef TRUCE_WEBHOOK_SERVE_RULE_POLICY_H_
#define TRUCE_WEBHOOK_SERVE_RULE_POLICY_H_

#include <memory>
#include <string_view>

#include "policies/mode.h"
#include "policies/name_rules.h"
#include "registry/base/result.h"
#include "registry/catalogue/catalogue.h"
#include "webhook/config/config.h"

namespace truce {

Mode ModeOf(ConfigMode mode);

// kInvalidArgument, "PLACE: WHAT".
Error Refused(std::string_view place, std::string_view what);

// Adds the modes by rule. Errors as below, for an unknown type or rule and for two modes that
// clash.
Result<void> AddRuleModes(const Config& config, const Catalogue& catalogue, ModeRules& modes);

// Adds the exemptions. Errors: an unknown type, an exemption that could never hold.
Result<void> AddExemptions(const Config& config, const Catalogue& catalogue, ModeRules& modes);

// Compiles everything about names; `modes` says whether the convention is on, `aws` is what AWS
// says of them. Errors: kInvalidArgument, "file:line: path: what is wrong; how to mend it".
Result<std::shared_ptr<const NamePolicy>> NamesFrom(const Config& config,
                                                    const Catalogue& catalogue,
                                                    const ModeRules& modes,
                                                    std::shared_ptr<const AwsNames> aws);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_SERVE_RULE_POLICY_H_
