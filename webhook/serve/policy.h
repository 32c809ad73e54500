// From the configuration's plain values to what reviews are judged by.
#ifndef TRUCE_WEBHOOK_SERVE_POLICY_H_
#define TRUCE_WEBHOOK_SERVE_POLICY_H_

#include <memory>

#include "registry/base/result.h"
#include "registry/catalogue/catalogue.h"
#include "webhook/admission/policy.h"
#include "webhook/config/config.h"

namespace truce {

// Errors: kInvalidArgument, "file:line: what is wrong" for a mapping rule that the catalogue
// refuses, a type that it does not know, a setting that this version cannot honour.
Result<std::shared_ptr<const AdmissionPolicy>> PolicyFrom(
    const Config& config, const std::shared_ptr<const Catalogue>& catalogue);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_SERVE_POLICY_H_
