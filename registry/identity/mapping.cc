#include "registry/identity/mapping.h"

#include <algorithm>
#include <set>
#include <utility>

#include "registry/base/text.h"
#include "registry/identity/evidence.h"

namespace truce {
namespace {

// Collects the problems of all rules, so that a user mends them in one go.
class Checker {
 public:
  explicit Checker(const Catalogue& catalogue) : catalogue_(catalogue) {}

  void Check(const MappingRule& rule) {
    subject_ = Subject(rule.kind);
    if (rule.kind.kind.empty() && !rule.kind.group.empty()) Report("names a group but no kind");
    if (catalogue_.FindKind(rule.kind.group, rule.kind.kind) != nullptr) {
      Report("is a kind of the catalogue, which needs no mapping");
    }
    CheckTwice(rule);
    if (rule.declares.empty()) Report("declares nothing");
    if (rule.service.has_value() && rule.service->stars() > 0) {
      Report("service: \"" + rule.service->text() + "\" must not hold \"*\"");
    }
    for (const MappedResource& resource : rule.declares) CheckResource(resource);
  }

  std::string Problems() && { return std::move(problems_); }

 private:
  static std::string Subject(const GroupKind& kind) {
    if (kind.kind.empty()) return "mapping of chart values";
    return "mapping of " + KindForPeople(kind.kind, kind.group);
  }

  void Report(std::string_view problem) {
    if (!problems_.empty()) problems_ += "; ";
    problems_.append(subject_).append(1, ' ').append(problem);
  }

  void CheckTwice(const MappingRule& rule) {
    if (rule.namespaces.empty() && !kinds_.insert({rule.kind, {}}).second) {
      Report("is mapped twice");
    }
    for (const std::string& ns : rule.namespaces) {
      if (!kinds_.insert({rule.kind, ns}).second) {
        Report("is mapped twice for namespace \"" + ns + "\"");
      }
    }
  }

  void CheckResource(const MappedResource& resource) {
    const TypeSpec* type = catalogue_.FindType(resource.type);
    if (type == nullptr) return Report("declares unknown type \"" + resource.type + "\"");
    for (const auto& [name, source] : resource.parts) {
      const bool known =
          std::any_of(type->parts.begin(), type->parts.end(),
                      [&name = name](const KeyPart& part) { return part.name == name; });
      if (!known) Report(resource.type + ": has no part \"" + name + "\"; " + PartsOf(*type));
      if (!source.path.has_value() && source.constant.empty()) {
        Report(resource.type + ": part \"" + name + "\" has neither a path nor a value");
      }
    }
    CheckPlace(resource);
    CheckStars(resource);
  }

  void CheckPlace(const MappedResource& resource) {
    if (resource.account.has_value() && !resource.account->path.has_value() &&
        !IsAccount(resource.account->constant)) {
      Report(resource.type + ": account \"" + resource.account->constant + "\" is not 12 digits");
    }
    if (resource.region.has_value() && !resource.region->path.has_value() &&
        resource.region->constant.empty()) {
      Report(resource.type + ": region has neither a path nor a value");
    }
  }

  void CheckStars(const MappedResource& resource) {
    const FieldPath* first = nullptr;
    const auto check = [&](const PartSource& source) {
      if (!source.path.has_value() || source.path->stars() == 0) return;
      if (first == nullptr) {
        first = &*source.path;
      } else if (!first->Joins(*source.path)) {
        Report(resource.type + ": \"" + first->text() + "\" and \"" + source.path->text() +
               "\" go over different elements");
      }
    };
    for (const auto& [name, source] : resource.parts) check(source);
    if (resource.region.has_value()) check(*resource.region);
    if (resource.account.has_value()) check(*resource.account);
  }

  static std::string PartsOf(const TypeSpec& type) {
    if (type.parts.empty()) return "it has none";
    std::string text = "it has ";
    for (std::size_t i = 0; i < type.parts.size(); ++i) {
      if (i > 0) text += ", ";
      text.append(1, '"').append(type.parts[i].name).append(1, '"');
    }
    return text;
  }

  const Catalogue& catalogue_;
  std::set<std::pair<GroupKind, std::string>> kinds_;  // with a namespace, or everywhere
  std::string subject_;
  std::string problems_;
};

}  // namespace

Result<MappingRules> MappingRules::Create(std::vector<MappingRule> rules,
                                          const Catalogue& catalogue) {
  Checker checker(catalogue);
  for (const MappingRule& rule : rules) checker.Check(rule);
  std::string problems = std::move(checker).Problems();
  if (!problems.empty()) return Error{ErrorCode::kInvalidArgument, std::move(problems)};
  MappingRules result;
  result.rules_ = std::move(rules);
  std::stable_sort(result.rules_.begin(), result.rules_.end(),
                   [](const MappingRule& a, const MappingRule& b) { return a.kind < b.kind; });
  return result;
}

std::span<const MappingRule> MappingRules::Of(std::string_view group, std::string_view kind) const {
  const auto order = [group, kind](const MappingRule& rule) {
    const int groups = std::string_view(rule.kind.group).compare(group);
    return groups != 0 ? groups : std::string_view(rule.kind.kind).compare(kind);
  };
  const auto first = std::partition_point(rules_.begin(), rules_.end(),
                                          [&](const MappingRule& rule) { return order(rule) < 0; });
  const auto last = std::partition_point(first, rules_.end(),
                                         [&](const MappingRule& rule) { return order(rule) == 0; });
  return {first, last};
}

const MappingRule* MappingRules::Find(std::string_view group, std::string_view kind,
                                      std::string_view ns) const {
  const MappingRule* everywhere = nullptr;
  for (const MappingRule& rule : Of(group, kind)) {
    if (rule.namespaces.empty()) {
      everywhere = &rule;
    } else if (rule.HoldsIn(ns)) {
      return &rule;
    }
  }
  return everywhere;
}

bool MappingRule::HoldsIn(std::string_view ns) const {
  return namespaces.empty() ||
         std::find(namespaces.begin(), namespaces.end(), ns) != namespaces.end();
}

}  // namespace truce
