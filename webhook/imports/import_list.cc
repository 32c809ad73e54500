#include "webhook/imports/import_list.h"

#include <algorithm>
#include <array>
#include <utility>

#include "registry/base/one_line.h"
#include "registry/base/text.h"
#include "webhook/imports/readers.h"

namespace truce {
namespace {

constexpr std::size_t kImportTextBytesMax = 1024;  // as /openapi.yaml has it

struct FormatRow {
  ImportFormat format;
  std::string_view name;
  std::string_view mark;  // a member that only files of this format begin with
};

constexpr std::array<FormatRow, 9> kFormats = {{
    {ImportFormat::kTerraformShow, "terraform", "\"format_version\""},
    {ImportFormat::kTerraformState, "terraform-state", "\"terraform_version\""},
    {ImportFormat::kCloudFormation, "cloudformation", "\"StackResources\""},
    {ImportFormat::kCloudFormation, "cloudformation", "\"StackResourceSummaries\""},
    {ImportFormat::kTagging, "tagging", "\"ResourceTagMappingList\""},
    {ImportFormat::kConfig, "config", "\"resourceIdentifiers\""},
    {ImportFormat::kConfig, "config", "onfigurationItems\""},
    {ImportFormat::kConfig, "config", "\"Results\""},
    {ImportFormat::kCsv, "csv", ""},
}};

// By the first mark; a text that is not a JSON object is CSV.
std::optional<ImportFormat> Detect(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  if (begin == std::string_view::npos) return std::nullopt;
  if (text[begin] == '[') return std::nullopt;
  if (text[begin] != '{') return ImportFormat::kCsv;
  std::optional<ImportFormat> found;
  std::size_t first = std::string_view::npos;
  for (const FormatRow& row : kFormats) {
    if (row.mark.empty()) continue;
    const std::size_t at = text.find(row.mark);
    if (at >= first) continue;
    first = at;
    found = row.format;
  }
  return found;
}

// An entry as the API takes it: a value that is no line of text is left out, and is its problem.
void KeepLines(ImportEntry& entry) {
  const auto keep = [&entry](std::string& text, const std::string& what) {
    const bool is_line = text.size() <= kImportTextBytesMax && IsUtf8(text) && !HasControl(text);
    if (is_line) return;
    text.clear();
    entry.problem = "its " + what + " is no line of text";
  };
  entry.address = OneLine(entry.address, kImportTextBytesMax);
  for (auto& [name, value] : entry.parts) keep(value, name);
  keep(entry.type, "type");
  keep(entry.region, "region");
  keep(entry.account, "account");
  keep(entry.arn, "ARN");
  keep(entry.service, "service");
  keep(entry.contact, "contact");
}

}  // namespace

std::string_view Name(ImportFormat format) {
  const auto found = std::find_if(kFormats.begin(), kFormats.end(),
                                  [&](const FormatRow& row) { return row.format == format; });
  return found->name;
}

std::optional<ImportFormat> ImportFormatFromName(std::string_view name) {
  for (const FormatRow& row : kFormats) {
    if (row.name == name) return row.format;
  }
  return std::nullopt;
}

Result<ImportFile> ReadImportList(std::string_view text, std::optional<ImportFormat> format,
                                  const ImportDefaults& defaults, const Catalogue& catalogue) {
  if (text.size() > kImportBytesMax) {
    return Error{ErrorCode::kInvalidArgument, "the file is larger than 128 MiB"};
  }
  if (!format) format = Detect(text);
  if (!format) {
    return Error{ErrorCode::kInvalidArgument,
                 "the file is of no known format; name it with --format"};
  }
  ImportFile file;
  file.format = *format;
  const ReadContext context{defaults, catalogue};
  Result<void> read;
  switch (*format) {
    case ImportFormat::kTerraformShow:
    case ImportFormat::kTerraformState: read = ReadTerraform(text, context, file); break;
    case ImportFormat::kCloudFormation: read = ReadCloudFormation(text, context, file); break;
    case ImportFormat::kTagging: read = ReadTagging(text, context, file); break;
    case ImportFormat::kConfig: read = ReadConfigItems(text, context, file); break;
    case ImportFormat::kCsv: read = ReadCsv(text, context, file); break;
  }
  if (!read.ok()) return read.error();
  std::for_each(file.entries.begin(), file.entries.end(), KeepLines);
  return file;
}

}  // namespace truce
