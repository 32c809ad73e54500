// Lists of resources that others keep (Terraform, CloudFormation, AWS), as `truce import` reads
// them. Pure functions of a file's text.
#ifndef TRUCE_WEBHOOK_IMPORTS_IMPORT_LIST_H_
#define TRUCE_WEBHOOK_IMPORTS_IMPORT_LIST_H_

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "registry/base/result.h"
#include "registry/catalogue/catalogue.h"

namespace truce {

// One resource as a list names it, in the words of POST /api/v1/imports.
struct ImportEntry {
  std::string address;  // its place: "module.net.aws_s3_bucket.logs[0]"
  std::string type;     // "s3/Bucket"; empty when it is not known
  std::map<std::string, std::string> parts;
  std::string region;
  std::string account;
  std::string arn;
  std::string service;
  std::string contact;
  std::string problem;  // not empty: why its resource is not known

  bool operator==(const ImportEntry&) const = default;
};

enum class ImportFormat {
  kTerraformShow,   // terraform show -json
  kTerraformState,  // a state file, version 4
  kCloudFormation,  // aws cloudformation describe-stack-resources, list-stack-resources
  kTagging,         // aws resourcegroupstaggingapi get-resources; its tags tell who declares
  kConfig,          // AWS Config: list-discovered-resources, select-resource-config, items
  kCsv,             // a header row with type, name, region, account, arn, service, contact,
                    // address, part:NAME
};
std::string_view Name(ImportFormat format);
std::optional<ImportFormat> ImportFormatFromName(std::string_view name);

// Values for entries that have none of their own.
struct ImportDefaults {
  std::string account;
  std::string region;
  std::string service;
  std::string contact;
  std::string service_tag;  // a tag whose value is the service; wins over `service`
  // A tag whose value names who declares it, where none of Crossplane, ACK and CloudFormation does:
  // one of Terraform's default_tags. For kTagging.
  std::string declarer_tag = {};
};

struct ImportFile {
  ImportFormat format = ImportFormat::kCsv;
  std::vector<ImportEntry> entries;
  std::size_t foreign = 0;  // entries of other clouds and tools, and data sources: left out
};

// Larger files are refused: they are read as a whole.
inline constexpr std::size_t kImportBytesMax = std::size_t{128} << 20U;

// Errors: kInvalidArgument: no format fits, or the text is malformed; says what and where.
Result<ImportFile> ReadImportList(std::string_view text, std::optional<ImportFormat> format,
                                  const ImportDefaults& defaults, const Catalogue& catalogue);

// The type and the parts that an ARN names: the template of exactly one type, or of one that is no
// attachment. Nothing when it names none, or AWS alone knows a part. With `type` only that one.
std::optional<ImportEntry> EntryFromArn(std::string_view arn, std::string_view type,
                                        const Catalogue& catalogue);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_IMPORTS_IMPORT_LIST_H_
