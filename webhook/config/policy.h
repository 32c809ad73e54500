// From the configuration's plain values to the policy that reviews are judged by.
#ifndef TRUCE_WEBHOOK_CONFIG_POLICY_H_
#define TRUCE_WEBHOOK_CONFIG_POLICY_H_

#include <memory>

#include "policies/names/aws_names.h"
#include "policies/policy.h"
#include "registry/base/result.h"
#include "registry/catalogue/catalogue.h"
#include "webhook/config/config.h"

namespace truce {

// Errors: kInvalidArgument, "file:line: what is wrong" for a mapping rule that the catalogue
// refuses, a type that it does not know, a setting that this version cannot honour.
Result<std::shared_ptr<const AdmissionPolicy>> PolicyFrom(
    const Config& config, const std::shared_ptr<const Catalogue>& catalogue);

// The built-in catalogue, with the file of `types`. Errors: kInvalidArgument, kNotFound.
Result<std::shared_ptr<const Catalogue>> CatalogueOf(const Config& config);

// A catalogue with AWS's rules for the names of its types, compiled once for many policies: that
// takes longer than all the rest.
struct NamedCatalogue {
  std::shared_ptr<const Catalogue> catalogue;  // never null
  std::shared_ptr<const AwsNames> names;       // never null
};
// Errors: those of AwsNames::Compile.
Result<NamedCatalogue> WithNames(std::shared_ptr<const Catalogue> catalogue);
Result<std::shared_ptr<const AdmissionPolicy>> PolicyFrom(const Config& config,
                                                          const NamedCatalogue& types);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_CONFIG_POLICY_H_
