// From an ARN to type and parts, by the templates of the catalogue.
#include <algorithm>
#include <utility>

#include "registry/identity/evidence.h"
#include "registry/identity/parts.h"
#include "webhook/imports/import_list.h"

namespace truce {
namespace {

using Values = std::vector<std::pair<std::string, std::string>>;

// Whether `value` fits the place `name` of a template.
bool Holds(std::string_view name, std::string_view value) {
  if (name == "account") return IsAccount(value);
  if (name == "partition") return !value.empty() && value.find(':') == std::string_view::npos;
  if (name == "region") return value.find(':') == std::string_view::npos;
  if (name == "path") return value.starts_with('/') && value.ends_with('/');
  return !value.empty();
}

// The values of the places of `pattern` in `text`. A place ends where the literal behind it first
// occurs; `path`, which ends with a slash, and the last place reach as far as they can.
bool Match(std::string_view pattern, std::string_view text, Values& values) {
  while (!pattern.empty()) {
    if (pattern.front() != '{') {
      if (text.empty() || text.front() != pattern.front()) return false;
      pattern.remove_prefix(1);
      text.remove_prefix(1);
      continue;
    }
    const std::size_t end = pattern.find('}');
    if (end == std::string_view::npos) return false;
    const std::string_view name = pattern.substr(1, end - 1);
    pattern.remove_prefix(end + 1);
    std::size_t length = text.size();
    if (name == "path") {
      length = text.rfind('/');
      length = length == std::string_view::npos ? 0 : length + 1;
    } else if (!pattern.empty()) {
      const std::string_view literal = pattern.substr(0, pattern.find('{'));
      if (literal.empty()) return false;
      length = text.find(literal);
      if (length == std::string_view::npos) return false;
    }
    const std::string_view value = text.substr(0, length);
    if (name == "*" || !Holds(name, value)) return false;
    values.emplace_back(name, value);
    text.remove_prefix(length);
  }
  return text.empty();
}

std::string ValueOf(const Values& values, std::string_view name) {
  const auto found = std::find_if(values.begin(), values.end(),
                                  [&](const auto& each) { return each.first == name; });
  return found == values.end() ? std::string() : found->second;
}

// The value of a part: its own place, or that of a value beside the key with the same source.
std::string PartOf(const KeyPart& part, const TypeSpec& type, const Values& values) {
  std::string value = ValueOf(values, part.name);
  if (!value.empty()) return value;
  for (const KeyPart& extra : type.extra) {
    if (SameSource(part, extra)) value = ValueOf(values, extra.name);
    if (!value.empty()) return value;
  }
  return part.default_value.value_or(std::string());
}

std::optional<ImportEntry> EntryOf(const TypeSpec& type, std::string_view arn) {
  Values values;
  if (type.arn_template.empty() || !Match(type.arn_template, arn, values)) return std::nullopt;
  ImportEntry entry;
  entry.type = type.name;
  entry.arn = arn;
  entry.account = ValueOf(values, "account");
  entry.region = ValueOf(values, "region");
  for (const KeyPart& part : type.parts) {
    std::string value = PartOf(part, type, values);
    if (value.empty()) return std::nullopt;
    entry.parts.emplace(part.name, std::move(value));
  }
  return entry;
}

// A slash or colon where names hold none tells that another template may fit better.
bool IsPlain(const ImportEntry& entry) {
  return std::none_of(entry.parts.begin(), entry.parts.end(), [](const auto& part) {
    return part.second.find_first_of("/:") != std::string::npos;
  });
}

}  // namespace

std::optional<ImportEntry> EntryFromArn(std::string_view arn, std::string_view type,
                                        const Catalogue& catalogue) {
  if (!type.empty()) {
    const TypeSpec* spec = catalogue.FindType(type);
    return spec == nullptr ? std::nullopt : EntryOf(*spec, arn);
  }
  std::vector<std::pair<const TypeSpec*, ImportEntry>> found;
  for (const TypeSpec& spec : catalogue.types()) {
    if (auto entry = EntryOf(spec, arn)) found.emplace_back(&spec, *std::move(entry));
  }
  const auto keep = [&](auto wanted) {
    const bool any = std::any_of(found.begin(), found.end(), wanted);
    if (any) std::erase_if(found, [&](const auto& each) { return !wanted(each); });
  };
  keep([](const auto& each) { return !each.first->attachment.has_value(); });
  keep([](const auto& each) { return IsPlain(each.second); });
  // The longest literal text is the most exact template.
  std::size_t longest = 0;
  for (const auto& each : found) longest = std::max(longest, each.first->arn_template.size());
  keep([&](const auto& each) { return each.first->arn_template.size() == longest; });
  if (found.empty() ||
      (found.size() > 1 && found.front().first->space != found.back().first->space)) {
    return std::nullopt;
  }
  return std::move(found.front().second);
}

}  // namespace truce
