// Which CloudFormation resource is which type, and where a template names it.
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "registry/base/text.h"
#include "webhook/imports/readers.h"

namespace truce {
namespace {

// "name=DatabaseName|DatabaseInput.Name;account=CatalogId"
std::vector<CloudFormationType::Part> PartsOf(std::string_view cell) {
  std::vector<CloudFormationType::Part> parts;
  while (!cell.empty() && cell != "-") {
    std::string_view sources = TakeUntil(cell, ';');
    CloudFormationType::Part part;
    part.name = TakeUntil(sources, '=');
    while (!sources.empty()) part.sources.push_back(TakeUntil(sources, '|'));
    parts.push_back(std::move(part));
  }
  return parts;
}

}  // namespace

std::vector<std::string_view> TableLines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::string_view line = TakeUntil(text, '\n');
    if (!line.empty() && !line.starts_with('#')) lines.push_back(line);
  }
  return lines;
}

const CloudFormationType* FindCloudFormationType(std::string_view name) {
  static const auto kTypes = [] {
    std::map<std::string_view, CloudFormationType> types;
    for (std::string_view line : TableLines(CloudFormationTypesText())) {
      const std::string_view theirs = TakeUntil(line, '\t');
      CloudFormationType row;
      row.type = TakeUntil(line, '\t');
      row.each = TakeUntil(line, '\t');
      row.parts = PartsOf(TakeUntil(line, '\t'));
      row.ref_is_name = TakeUntil(line, '\t') == "name";
      while (!line.empty()) row.others.push_back(TakeUntil(line, ';'));
      if (row.each == "-") row.each = {};
      types.emplace(theirs, std::move(row));
    }
    return types;
  }();
  const auto found = kTypes.find(name);
  return found == kTypes.end() ? nullptr : &found->second;
}

std::string TypeOfCloudFormation(std::string_view name, const Catalogue& catalogue) {
  if (const CloudFormationType* const row = FindCloudFormationType(name)) {
    return catalogue.FindType(row->type) == nullptr ? "" : std::string(row->type);
  }
  constexpr std::string_view kPrefix = "AWS::";
  const std::size_t kind = name.rfind("::");
  if (!name.starts_with(kPrefix) || kind <= kPrefix.size()) return {};
  const std::string wanted = LowerOf(name.substr(kPrefix.size(), kind - kPrefix.size())) + "/" +
                             LowerOf(name.substr(kind + 2));
  for (const TypeSpec& spec : catalogue.types()) {
    if (LowerOf(spec.name) == wanted) return spec.name;
  }
  return {};
}

}  // namespace truce
