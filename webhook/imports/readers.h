// The reader of each format, for import_list.cc.
#ifndef TRUCE_WEBHOOK_IMPORTS_READERS_H_
#define TRUCE_WEBHOOK_IMPORTS_READERS_H_

#include <map>
#include <string>
#include <string_view>

#include "webhook/imports/import_list.h"

namespace truce {

// schema/terraform-types.tsv, as built in.
std::string_view TerraformTypesText();
// "s3/Bucket" of "aws_s3_bucket"; empty when there is none.
std::string_view TypeOfTerraform(std::string_view name);
// "s3/Bucket" of "AWS::S3::Bucket", as CloudFormation and AWS Config write it; empty: none.
std::string TypeOfCloudFormation(std::string_view name, const Catalogue& catalogue);

// The field of an ARN behind `colons` colons: 3 the region, 4 the account. Empty when
// there is none.
std::string ArnField(std::string_view arn, int colons);

struct ReadContext {
  const ImportDefaults& defaults;
  const Catalogue& catalogue;
};

// Each fills `file`. Errors: kInvalidArgument: not of that format.
Result<void> ReadTerraform(std::string_view text, const ReadContext& context, ImportFile& file);
Result<void> ReadCloudFormation(std::string_view text, const ReadContext& context,
                                ImportFile& file);
Result<void> ReadTagging(std::string_view text, const ReadContext& context, ImportFile& file);
Result<void> ReadConfigItems(std::string_view text, const ReadContext& context, ImportFile& file);
Result<void> ReadCsv(std::string_view text, const ReadContext& context, ImportFile& file);

// What a list says of one resource without naming its parts.
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

// Service and contact: what a tag says, else the defaults.
using Tags = std::map<std::string, std::string, std::less<>>;
void Describe(const Tags& tags, const ReadContext& context, ImportEntry& entry);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_IMPORTS_READERS_H_
