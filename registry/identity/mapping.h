// Mapping rules: which fields of a custom claim, composite or chart values declare which resources.
//
// Claims and composites declare nothing by themselves. A rule gives a value, path or constant for
// every part of the type's scope; where a part is missing the declaration is partial: it warns,
// never denies, never reserves. It knows no ProviderConfig: its resources lie in AWS, wherever
// that leads (finding outside-endpoint says so).
#ifndef TRUCE_REGISTRY_IDENTITY_MAPPING_H_
#define TRUCE_REGISTRY_IDENTITY_MAPPING_H_

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "registry/base/document.h"
#include "registry/base/result.h"
#include "registry/catalogue/catalogue.h"
#include "registry/identity/values.h"

namespace truce {

// A path such as `spec.parameters.name`, `objectStorage.*.name` or `metadata.annotations['a.b/c']`:
// member names separated by ".", or in brackets and quotes; `*` stands for every element of an
// array or object. At most kStepsMax steps. Immutable.
class FieldPath final {
 public:
  static constexpr std::size_t kStepsMax = 16;
  static constexpr std::size_t kMatchesMax = 100;

  // Which roots a path may start with.
  enum class Root {
    kObject,  // spec…, labels…, annotations…, metadata.name (labels and annotations mean
              // metadata.…)
    kValues,  // a chart's values: any member
  };
  // Errors: kInvalidArgument naming the path, the position and what is allowed there.
  static Result<FieldPath> Parse(std::string_view text, Root root);

  struct Match {
    std::vector<std::string> stars;  // what each `*` stood for: member name or index
    Value value;
  };
  // All values at this path, in document order; none when the path does not exist. When a `*`
  // stands for more than kMatchesMax elements, more than kMatchesMax matches are returned, and they
  // are not values: that is for the caller to refuse, since reading only the first ones would hide
  // the rest.
  std::vector<Match> Find(Value root) const;

  const std::string& text() const { return text_; }
  // Number of `*` in the path.
  std::size_t stars() const;
  // Whether the stars of `this` and of `other` stand for the same elements: the path up to the last
  // `*` of the one is the beginning of the other.
  bool Joins(const FieldPath& other) const;

  bool operator==(const FieldPath&) const = default;

 private:
  struct Step {
    std::string name;
    bool star = false;

    bool operator==(const Step&) const = default;
  };
  friend class PathParser;
  FieldPath() = default;

  std::string text_;
  std::vector<Step> steps_;
};

// Where one part's value comes from.
struct PartSource {
  std::optional<FieldPath> path;
  std::string constant;  // used when there is no path

  bool operator==(const PartSource&) const = default;
};

// One resource that a kind declares. Paths with `*` must agree in their stars: `a.*.name` and
// `a.*.region` are joined element by element; a path without `*` holds for every element.
struct MappedResource {
  std::string type;                         // "s3/Bucket"; must be in the catalogue
  std::map<std::string, PartSource> parts;  // part name of the catalogue → source
  std::optional<PartSource> region;
  std::optional<PartSource> account;
  Intent intent = Intent::kDeletes;

  bool operator==(const MappedResource&) const = default;
};

// The rule of one kind (or, with an empty kind, of a chart's values).
struct MappingRule {
  GroupKind kind;
  std::optional<FieldPath> service;
  std::vector<MappedResource> declares;
  std::vector<std::string> namespaces = {};  // where it holds; empty: everywhere

  bool HoldsIn(std::string_view ns) const;
  bool operator==(const MappingRule&) const = default;
};

// All rules, by kind. Immutable, thread-safe.
class MappingRules final {
 public:
  MappingRules() = default;
  // Errors: kInvalidArgument, one sentence per problem joined by "; ": unknown type or part, a kind
  // of the catalogue itself, a kind mapped twice for one namespace or twice for all, stars that do
  // not agree, a rule that declares nothing.
  static Result<MappingRules> Create(std::vector<MappingRule> rules, const Catalogue& catalogue);

  // The rule for an object of the kind in namespace `ns`: the one that names `ns`, else the one
  // that holds everywhere. Null: there is none.
  const MappingRule* Find(std::string_view group, std::string_view kind,
                          std::string_view ns = {}) const;
  // All rules of the kind, whatever their namespaces.
  std::span<const MappingRule> Of(std::string_view group, std::string_view kind) const;
  std::span<const MappingRule> all() const { return rules_; }

 private:
  std::vector<MappingRule> rules_;  // sorted by kind
};

}  // namespace truce

#endif  // TRUCE_REGISTRY_IDENTITY_MAPPING_H_
