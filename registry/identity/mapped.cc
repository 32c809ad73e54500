// Reading a mapping rule: from a custom object or a chart's values to declared resources.
#include <algorithm>
#include <cstddef>
#include <map>
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
  const PartSource* source = nullptr;
  std::vector<FieldPath::Match> matches;  // none for a constant

  std::string_view Text() const {
    return source->path.has_value() ? std::string_view(source->path->text()) : std::string_view();
  }
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
    Found& found = found_.emplace_back(name, Found{&source, {}}).second;
    if (source.path.has_value()) found.matches = source.path->Find(root_);
    stars_max_ = std::max(stars_max_, source.path.has_value() ? source.path->stars() : 0);
  }

  // The elements are those of the paths with most stars, in the order found. False: not too many.
  bool TooMany(MappedFacts& facts) {
    if (stars_max_ == 0) elements_.emplace_back();
    for (const auto& [name, found] : found_) {
      if (found.matches.size() > FieldPath::kMatchesMax) {
        facts.bad_names.push_back(
            {rule_.type, name, std::string(found.Text()),
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
    const auto at = std::find_if(found_.begin(), found_.end(),
                                 [name](const auto& entry) { return entry.first == name; });
    if (at == found_.end()) {
      missing = "the mapping names no ";
      missing.append(name.starts_with('.') ? name.substr(1) : name);
      return {};
    }
    const Found& found = at->second;
    if (!found.source->path.has_value()) return found.source->constant;
    for (const FieldPath::Match& match : found.matches) {
      if (!HoldsFor(match, stars)) continue;
      const std::string_view text = ScalarOf(match.value);
      if (!text.empty()) return text;
    }
    missing.assign(found.Text()).append(" is not set");
    return {};
  }

  void ReadElement(const Stars& stars, MappedFacts& facts) const {
    const PartContext context{type_, catalogue_, facts.bad_names};
    Draft draft;
    draft.type = &type_;
    draft.intent = rule_.intent;
    draft.mapped = true;
    draft.place.type = type_.name;
    ReadPlace(stars, draft, context);
    for (const KeyPart& part : type_.parts) {
      Reading& reading = draft.parts.emplace_back();
      reading.part = &part;
      std::string missing;
      const std::string_view value = ValueOf(part.name, stars, missing);
      if (!value.empty()) {
        const bool is_no_id = part.source == KeyPart::Source::kAssignedExternalName &&
                              !type_.external_name.empty() && !ReadForm(value, type_);
        const std::string wrong =
            is_no_id ? "is no id of " + type_.name : AddElement(reading, value, context);
        if (!wrong.empty()) reading.missing = part.name + " " + wrong;
      } else if (part.default_value.has_value()) {
        reading.elements.push_back({*part.default_value, *part.default_value});
        reading.by_default = true;
      } else {
        reading.missing = std::move(missing);
      }
    }
    FillFromNames(draft.parts, context);
    LieWithParent(draft);
    ReadBeside(stars, draft, context);
    AppendResources(draft, facts.resources, facts.bad_names);
  }

  // Values beside the key are known where they are the text of a part, or have a default.
  void ReadBeside(const Stars& stars, Draft& draft, const PartContext& context) const {
    for (const KeyPart& extra : type_.extra) {
      Reading& reading = draft.extra.emplace_back();
      reading.part = &extra;
      const auto part =
          std::find_if(type_.parts.begin(), type_.parts.end(),
                       [&extra](const KeyPart& other) { return SameSource(other, extra); });
      std::string missing;
      std::string_view value;
      if (part != type_.parts.end()) value = ValueOf(part->name, stars, missing);
      std::vector<BadName> reported;
      if (!value.empty()) {
        missing = AddElement(reading, value, {context.type, context.catalogue, reported});
      } else if (extra.default_value.has_value()) {
        reading.elements.push_back({*extra.default_value, *extra.default_value});
      }
    }
  }

  void ReadPlace(const Stars& stars, Draft& draft, const PartContext& context) const {
    std::string missing;
    const std::string_view region = ValueOf(kRegion, stars, missing);
    if (std::optional<std::string> reason = WhyBad(region, KeyAlphabet::kAscii)) {
      context.bad_names.push_back({type_.name, "region", Printable(region), *reason});
      missing = "region " + *reason;
    } else {
      draft.place.region = region;
    }
    if (draft.place.region.empty() && type_.KeyHasRegion()) {
      draft.missing.push_back(std::move(missing));
    }
    draft.place.partition = PartitionOf(draft.place.region);
    const std::string_view account = ValueOf(kAccount, stars, missing);
    if (IsAccount(account)) {
      draft.place.account = account;
    } else if (type_.KeyHasAccount()) {
      draft.missing.push_back(account.empty() ? std::move(missing) : "account is not 12 digits");
    }
  }

  Value root_;
  const MappedResource& rule_;
  const Catalogue& catalogue_;
  const TypeSpec& type_;
  std::vector<std::pair<std::string, Found>> found_;
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

}  // namespace truce
