// Reading a mapping rule: from a custom object or a chart's values to declared resources.
#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "registry/identity/draft.h"
#include "registry/identity/evidence.h"
#include "registry/identity/identity.h"
#include "registry/identity/parts.h"
#include "registry/identity/values.h"

namespace truce {
namespace {

using Stars = std::vector<std::string>;

// A source of a part, and what it gives for each element.
struct Found {
  std::string_view name;
  const PartSource* source = nullptr;
  std::vector<FieldPath::Match> matches;  // none for a constant
};

// Whether `match` belongs to the element `stars`: a path with fewer stars holds for all below it.
bool HoldsFor(const FieldPath::Match& match, const Stars& stars) {
  return match.stars.size() <= stars.size() &&
         std::equal(match.stars.begin(), match.stars.end(), stars.begin());
}

class ResourceReader {
 public:
  ResourceReader(Value root, const MappedResource& rule, const Catalogue& catalogue)
      : root_(root), rule_(rule), catalogue_(catalogue), type_(*catalogue.FindType(rule.type)) {}

  void Read(MappedFacts& facts) {
    for (const auto& [name, source] : rule_.parts) Collect(name, source);
    if (rule_.region.has_value()) Collect(kRegion, *rule_.region);
    if (rule_.account.has_value()) Collect(kAccount, *rule_.account);
    if (TooMany(facts)) return;
    for (const Stars& stars : elements_) ReadElement(stars, facts);
  }

 private:
  // Not names of parts, which are words of letters and digits.
  static constexpr std::string_view kRegion = ".region";
  static constexpr std::string_view kAccount = ".account";

  void Collect(std::string_view name, const PartSource& source) {
    Found& found = found_.emplace_back(Found{name, &source, {}});
    if (!source.path.has_value()) return;
    found.matches = source.path->Find(root_);
    stars_max_ = std::max(stars_max_, source.path->stars());
  }

  // The elements are those of the paths with most stars, in the order found. False: not too many.
  bool TooMany(MappedFacts& facts) {
    if (stars_max_ == 0) elements_.emplace_back();
    for (const Found& found : found_) {
      if (found.matches.size() > FieldPath::kMatchesMax) {
        facts.bad_names.push_back(
            {rule_.type, std::string(found.name), found.source->path->text(),
             "has more than " + std::to_string(FieldPath::kMatchesMax) + " values"});
        return true;
      }
      if (stars_max_ == 0) continue;
      for (const FieldPath::Match& match : found.matches) {
        if (match.stars.size() != stars_max_) continue;
        if (std::find(elements_.begin(), elements_.end(), match.stars) == elements_.end()) {
          elements_.push_back(match.stars);
        }
      }
    }
    return false;
  }

  // The value of `name` for one element; empty, with the reason in `missing`, when there is none.
  std::string_view ValueOf(std::string_view name, const Stars& stars, std::string& missing) const {
    const auto at = std::ranges::find(found_, name, &Found::name);
    if (at == found_.end()) {
      missing = "the mapping names no ";
      missing.append(name.starts_with('.') ? name.substr(1) : name);
      return {};
    }
    const Found& found = *at;
    if (!found.source->path.has_value()) return found.source->constant;
    for (const FieldPath::Match& match : found.matches) {
      if (!HoldsFor(match, stars)) continue;
      const std::string_view text = ScalarOf(match.value);
      if (!text.empty()) return text;
    }
    missing.assign(found.source->path->text()).append(" is not set");
    return {};
  }

  void ReadElement(const Stars& stars, MappedFacts& facts) const {
    const PartContext context{type_, catalogue_, facts.bad_names};
    Draft draft(type_);
    draft.each.intent = rule_.intent;
    draft.each.mapped = true;
    ReadPlace(stars, draft, context);
    for (const KeyPart& part : type_.parts) {
      std::string missing;
      const std::string_view value = ValueOf(part.name, stars, missing);
      const bool is_no_id = part.source == KeyPart::Source::kAssignedExternalName &&
                            !type_.external_name.empty() && !ReadForm(value, type_);
      if (is_no_id && !value.empty()) {
        draft.parts.push_back({.part = &part, .missing = part.name + " is no id of " + type_.name});
      } else {
        draft.parts.push_back(ReadText(part, value, std::move(missing), context));
      }
    }
    FillFromNames(draft.parts, context);
    LieWithParent(draft);
    // Values beside the key are known where they are the text of a part, or have a default.
    std::vector<BadName> ignored;
    const PartContext beside{type_, catalogue_, ignored};
    for (const KeyPart& extra : type_.extra) {
      const auto same = [&](const KeyPart& part) { return SameSource(part, extra); };
      const auto part = std::ranges::find_if(type_.parts, same);
      std::string missing;
      std::string_view value;
      if (part != type_.parts.end()) value = ValueOf(part->name, stars, missing);
      draft.extra.push_back(ReadText(extra, value, std::move(missing), beside));
    }
    AppendResources(draft, facts.resources, facts.bad_names);
  }

  void ReadPlace(const Stars& stars, Draft& draft, const PartContext& context) const {
    std::string missing;
    const std::string_view region = ValueOf(kRegion, stars, missing);
    TakeRegion(region, std::move(missing), context, draft);
    std::string no_account = "account is not 12 digits";
    const std::string_view account = ValueOf(kAccount, stars, no_account);
    if (IsAccount(account)) {
      draft.each.identity.account = account;
    } else if (type_.KeyHasAccount()) {
      draft.each.missing.push_back(std::move(no_account));
    }
  }

  Value root_;
  const MappedResource& rule_;
  const Catalogue& catalogue_;
  const TypeSpec& type_;
  std::vector<Found> found_;
  std::vector<Stars> elements_;
  std::size_t stars_max_ = 0;
};

}  // namespace

MappedFacts ReadMapping(Value root, const MappingRule& rule, const Catalogue& catalogue) {
  MappedFacts facts;
  for (const MappedResource& resource : rule.declares) {
    if (catalogue.FindType(resource.type) == nullptr) continue;
    ResourceReader(root, resource, catalogue).Read(facts);
  }
  if (rule.service.has_value()) {
    for (const FieldPath::Match& match : rule.service->Find(root)) {
      const std::string_view name = ScalarOf(match.value);
      if (Presentable(name)) facts.service = name;
    }
  }
  return facts;
}

MappedFacts ReadConstants(const TypeSpec& type, const PartValues& values, Intent intent,
                          const Catalogue& catalogue) {
  MappingRule rule;
  MappedResource& resource = rule.declares.emplace_back();
  resource.type = type.name;
  resource.intent = intent;
  for (const auto& [name, value] : values) {
    if (value.empty()) continue;
    PartSource constant{std::nullopt, value};
    if (name == "region") {
      resource.region = std::move(constant);
    } else if (name == "account") {
      resource.account = std::move(constant);
    } else {
      resource.parts.emplace(name, std::move(constant));
    }
  }
  return ReadMapping(Value(), rule, catalogue);
}

}  // namespace truce
