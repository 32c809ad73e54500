// The reader of each format, for import_list.cc, and their shared parts.
#ifndef TRUCE_WEBHOOK_IMPORTS_READERS_H_
#define TRUCE_WEBHOOK_IMPORTS_READERS_H_

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "registry/identity/identity.h"
#include "webhook/imports/import_list.h"
#include "webhook/imports/planned.h"

namespace truce {

// The rows of a table that is built in, without remarks.
std::vector<std::string_view> TableLines(std::string_view text);

// schema/terraform-types.tsv, as built in.
std::string_view TerraformTypesText();
// A row of it. `name`: the attribute that names the resource.
struct TerraformType {
  std::string_view type;
  std::string_view name;
};
// Of "aws_s3_bucket"; null when there is none.
const TerraformType* FindTerraformType(std::string_view name);

// schema/cloudformation-types.tsv, as built in.
std::string_view CloudFormationTypesText();
// A row of it: the places of the key's parts in a template.
struct CloudFormationType {
  struct Part {
    std::string_view name;
    std::vector<std::string_view> sources;
  };
  std::string_view type;
  std::string_view each;
  std::vector<Part> parts;
  bool ref_is_name = false;
  std::vector<std::string_view> others;  // properties that declare what has no type
};
// Of "AWS::S3::Bucket"; null when there is none.
const CloudFormationType* FindCloudFormationType(std::string_view name);
// "s3/Bucket" of "AWS::S3::Bucket", as CloudFormation and AWS Config write it; empty: none.
std::string TypeOfCloudFormation(std::string_view name, const Catalogue& catalogue);

// The field of an ARN behind `colons` colons: 3 the region, 4 the account. Empty when
// there is none.
std::string ArnField(std::string_view arn, int colons);

struct ReadContext {
  const ImportDefaults& defaults;
  const Catalogue& catalogue;
};

// The declarations of a resource of Terraform's with these attributes, under that external name.
std::vector<DeclaredResource> DeclaredByAttributes(const TypeSpec& spec,
                                                   const nlohmann::json& attributes,
                                                   const std::string& external_name,
                                                   const ReadContext& context);
// "bucketPrefix" of "bucket_prefix".
std::string CamelCase(std::string_view name);

// Adds to `out` what `values` declare; if place or name make no key, that is unclear.
void AddDeclared(const TypeSpec& spec, const PartValues& values, const Catalogue& catalogue,
                 PlannedResource& out);
// Whether nobody but AWS names resources of this type.
bool IsGivenByAws(const TypeSpec& spec);

// Each fills `file`. Errors: kInvalidArgument: not of that format.
Result<void> ReadTerraform(std::string_view text, const ReadContext& context, ImportFile& file);
Result<void> ReadCloudFormation(std::string_view text, const ReadContext& context,
                                ImportFile& file);
Result<void> ReadTagging(std::string_view text, const ReadContext& context, ImportFile& file);
Result<void> ReadConfigItems(std::string_view text, const ReadContext& context, ImportFile& file);
Result<void> ReadCsv(std::string_view text, const ReadContext& context, ImportFile& file);

// One resource as a list has it, without names of its parts.
struct ListedResource {
  std::string address;
  std::string type;  // empty: not known
  std::string name;  // physical id: a name, an ARN or a URL
  std::string arn;
  std::string region;
  std::string account;
};
// The entry that it makes: by its ARN, else by its name where a name is all that the type needs.
ImportEntry EntryOfNamed(const ListedResource& named, const ReadContext& context);

// Service and contact: those of a tag, else the defaults.
using Tags = std::map<std::string, std::string, std::less<>>;
void Describe(const Tags& tags, const ReadContext& context, ImportEntry& entry);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_IMPORTS_READERS_H_
