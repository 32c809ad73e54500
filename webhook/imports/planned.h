// Resources that a Terraform plan or a CloudFormation template is about to create, as `truce check`
// asks about them. Pure functions. Only names, accounts and regions are kept: nothing else of the
// input is in what they return.
#ifndef TRUCE_WEBHOOK_IMPORTS_PLANNED_H_
#define TRUCE_WEBHOOK_IMPORTS_PLANNED_H_

#include <functional>
#include <istream>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "registry/base/result.h"
#include "registry/catalogue/catalogue.h"
#include "registry/identity/identity.h"
#include "webhook/wire/yaml.h"

namespace truce {

struct PlannedResource {
  std::string address;  // "module.logs.aws_s3_bucket.this[0]", "Queues/Jobs"
  std::string kind;     // in the tool's words: "aws_s3_bucket", "AWS::S3::Bucket"
  YamlLocation at;      // of its name; 0: the tool writes no lines
  bool known_kind = true;
  Intent intent = Intent::kDeletes;
  // With a name each. None: AWS or the tool makes the name, or it is unclear.
  std::vector<DeclaredResource> declares;
  // Not empty: why Truce cannot tell all of what it declares: "its bucket is known only after the
  // apply".
  std::string unclear;
  std::string
      remedy;  // of that, where there is a better one than another name: "Name it with --region"
};

struct Planned {
  std::vector<PlannedResource> resources;
  std::vector<std::string> notes;  // about parts passed over, one line each
};

// Account, region and parameters that the input itself does not say.
struct PlanDefaults {
  std::string account;
  std::string region;
  std::map<std::string, std::string> parameters;  // of a template
};

// Whether `begin`, the first bytes of a file, are those of `terraform show -json`.
bool BeginsTerraform(std::string_view begin);

// `terraform show -json PLAN`, also OpenTofu's: resources to create, replace or import. Reads `in`
// to its end, and holds one resource of it and its configuration at a time. Errors:
// kInvalidArgument: no JSON, a state, a format version that is not known.
Result<Planned> ReadTerraformPlan(std::istream& in, const PlanDefaults& defaults,
                                  const Catalogue& catalogue);

// Whether the document is a CloudFormation template.
bool IsTemplate(const YamlNode& root);

// A template that another one nests, by its path, or by the URL of an asset of CDK's.
// Errors: kNotFound: the URL names no file; kInvalidArgument.
using TemplateFile = std::function<Result<YamlNode>(const std::string& path)>;

// A template, with those that it nests by `file`: at most 8 deep and 1,000 in all. Functions are
// resolved as far as parameters, defaults, mappings and conditions allow. A name with a part that
// AWS makes is nobody else's: it is not declared.
// Errors: kInvalidArgument, "line: what is wrong": no template of CloudFormation.
Result<Planned> ReadTemplate(const YamlNode& root, const PlanDefaults& defaults,
                             const Catalogue& catalogue, const TemplateFile& file);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_IMPORTS_PLANNED_H_
