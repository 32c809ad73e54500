#include "registry/identity/mapping.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <set>
#include <utility>

#include "registry/base/text.h"
#include "registry/catalogue/explain.h"
#include "registry/identity/evidence.h"

namespace truce {

// Reads the grammar of FieldPath: step ( "." step | "[" quoted "]" | "[*]" )*.
class PathParser {
 public:
  explicit PathParser(std::string_view text) : text_(text) {}

  Result<FieldPath> Parse(FieldPath::Root root) {
    FieldPath path;
    path.text_ = text_;
    TRUCE_RETURN_IF_ERROR(ReadPlainStep(path));
    while (at_ < text_.size()) {
      if (path.steps_.size() >= FieldPath::kStepsMax) {
        return Fail("a path has at most " + std::to_string(FieldPath::kStepsMax) + " steps");
      }
      if (text_[at_] == '.') {
        ++at_;
        TRUCE_RETURN_IF_ERROR(ReadPlainStep(path));
      } else if (text_[at_] == '[') {
        ++at_;
        TRUCE_RETURN_IF_ERROR(ReadBracketStep(path));
      } else {
        return Fail("expected \".\" or \"[\"");
      }
    }
    if (root == FieldPath::Root::kObject) TRUCE_RETURN_IF_ERROR(Anchor(path));
    return path;
  }

 private:
  static constexpr std::size_t kTextBytesMax = 1024;

  Error Fail(std::string_view what) const {
    std::string message = "field path \"";
    message.append(text_.substr(0, kTextBytesMax)).append("\", position ");
    message.append(std::to_string(at_ + 1)).append(": ").append(what);
    return Error{ErrorCode::kInvalidArgument, std::move(message)};
  }

  Result<void> ReadPlainStep(FieldPath& path) {
    const std::size_t start = at_;
    while (at_ < text_.size() && text_[at_] != '.' && text_[at_] != '[') {
      const char c = text_[at_];
      if (c == ']' || c == '"' || c == '\'' || static_cast<unsigned char>(c) <= ' ') {
        return Fail("write such a member name in brackets and quotes: ['...']");
      }
      ++at_;
    }
    const std::string_view name = text_.substr(start, at_ - start);
    if (name.empty()) return Fail("expected a member name or \"*\"");
    if (name != "*" && name.find('*') != std::string_view::npos) {
      return Fail("\"*\" stands alone, for every element");
    }
    path.steps_.push_back({std::string(name), name == "*"});
    return {};
  }

  Result<void> ReadBracketStep(FieldPath& path) {
    if (text_.substr(at_).starts_with("*]")) {
      at_ += 2;
      path.steps_.push_back({"*", true});
      return {};
    }
    const char quote = at_ < text_.size() ? text_[at_] : '\0';
    if (quote != '\'' && quote != '"') return Fail("expected \"*\" or a quoted name after \"[\"");
    const std::size_t start = at_ + 1;
    const std::size_t end = text_.find(quote, start);
    if (end == std::string_view::npos) return Fail("the quote is not closed");
    if (end == start) return Fail("the name is empty");
    at_ = end + 1;
    if (at_ >= text_.size() || text_[at_] != ']') return Fail("expected \"]\"");
    ++at_;
    path.steps_.push_back({std::string(text_.substr(start, end - start)), false});
    return {};
  }

  // Paths of objects start at spec, labels, annotations or metadata.name; labels and annotations
  // are members of metadata.
  Result<void> Anchor(FieldPath& path) {
    at_ = 0;
    std::vector<FieldPath::Step>& steps = path.steps_;
    const auto is_map = [](const FieldPath::Step& step) {
      return step.name == "labels" || step.name == "annotations";
    };
    if (is_map(steps.front())) steps.insert(steps.begin(), {"metadata", false});
    const std::string& first = steps.front().name;
    if (first == "spec" && steps.size() >= 2) return {};
    if (first == "metadata" && steps.size() == 2 && steps[1].name == "name") return {};
    if (first == "metadata" && steps.size() >= 3 && is_map(steps[1])) return {};
    return Fail(
        "a path starts at spec.<field>, labels.<key>, annotations.<key>, or is metadata.name");
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

Result<FieldPath> FieldPath::Parse(std::string_view text, Root root) {
  return PathParser(text).Parse(root);
}

std::size_t FieldPath::stars() const {
  return static_cast<std::size_t>(std::ranges::count(steps_, true, &Step::star));
}

bool FieldPath::Joins(const FieldPath& other) const {
  const auto last_star = [](const std::vector<Step>& steps) {
    return steps.rend() - std::find_if(steps.rbegin(), steps.rend(), std::mem_fn(&Step::star));
  };
  const auto shared = std::min(last_star(steps_), last_star(other.steps_));
  return std::equal(steps_.begin(), steps_.begin() + shared, other.steps_.begin());
}

std::vector<FieldPath::Match> FieldPath::Find(Value root) const {
  // Breadth first, step by step: no recursion, and document order is kept.
  std::vector<Match> matches;
  matches.push_back({{}, root});
  for (const Step& step : steps_) {
    std::vector<Match> next;
    for (Match& match : matches) {
      if (!step.star) {
        const Value child = match.value.Child(step.name);
        if (child.exists()) next.push_back({std::move(match.stars), child});
        continue;
      }
      const bool array = match.value.is_array();
      std::size_t index = 0;
      for (Value child = match.value.first(); child.exists(); child = match.value.next(child)) {
        std::vector<std::string> stars = match.stars;
        stars.push_back(array ? std::to_string(index++) : std::string(child.key()));
        next.push_back({std::move(stars), child});
        // One too many tells the caller to refuse; lists within lists would multiply on.
        if (next.size() > kMatchesMax) return next;
      }
    }
    matches = std::move(next);
  }
  return matches;
}

namespace {

// Collects the problems of all rules, so that a user mends them in one go.
class Checker {
 public:
  explicit Checker(const Catalogue& catalogue) : catalogue_(catalogue) {}

  void Check(const MappingRule& rule) {
    const auto& [group, kind] = rule.kind;
    subject_ =
        kind.empty() ? "mapping of chart values" : "mapping of " + KindForPeople(kind, group);
    if (kind.empty() && !group.empty()) Report("names a group but no kind");
    if (catalogue_.FindKind(group, kind) != nullptr) {
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
    if (type == nullptr) return Report("declares: " + NoType(resource.type, catalogue_));
    for (const auto& [name, source] : resource.parts) {
      const bool known = std::ranges::count(type->parts, name, &KeyPart::name) > 0;
      if (!known) Report(resource.type + ": has no part \"" + name + "\"; " + PartsOf(*type));
      if (!source.path.has_value() && source.constant.empty()) {
        Report(resource.type + ": part \"" + name + "\" has neither a path nor a value");
      }
    }
    CheckPlace(resource);
    CheckStars(resource);
  }

  void CheckPlace(const MappedResource& resource) {
    const std::optional<PartSource>& account = resource.account;
    const std::optional<PartSource>& region = resource.region;
    if (account && !account->path && !IsAccount(account->constant)) {
      Report(resource.type + ": account \"" + account->constant + "\" is not 12 digits");
    }
    if (region && !region->path && region->constant.empty()) {
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
    std::vector<std::string> names;
    for (const KeyPart& part : type.parts) names.push_back(InQuotes(part.name));
    return names.empty() ? "it has none" : "it has " + Joined(names);
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
  std::ranges::stable_sort(result.rules_, {}, &MappingRule::kind);
  return result;
}

std::span<const MappingRule> MappingRules::Of(std::string_view group, std::string_view kind) const {
  const auto kind_of = [](const MappingRule& rule) {
    return std::pair<std::string_view, std::string_view>(rule.kind.group, rule.kind.kind);
  };
  const std::pair asked(group, kind);
  return {std::ranges::lower_bound(rules_, asked, {}, kind_of),
          std::ranges::upper_bound(rules_, asked, {}, kind_of)};
}

const MappingRule* MappingRules::Find(std::string_view group, std::string_view kind,
                                      std::string_view ns) const {
  const MappingRule* everywhere = nullptr;
  for (const MappingRule& rule : Of(group, kind)) {
    if (!rule.HoldsIn(ns)) continue;
    if (!rule.namespaces.empty()) return &rule;
    everywhere = &rule;
  }
  return everywhere;
}

bool MappingRule::HoldsIn(std::string_view ns) const {
  return namespaces.empty() || std::ranges::find(namespaces, ns) != namespaces.end();
}

}  // namespace truce
