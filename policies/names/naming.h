// Naming convention: the configuration about names, compiled once, and the reading of one name by
// it. Words for people are in naming_convention.cc.
//
// A template such as "{service}-{env}-{type}[-{suffix}]" is literal text, variables in braces, and
// parts that may be missing in brackets. Two variables always have literal text between them, so
// that a name can be read from the left: the first wrong part is always the same one.
#ifndef TRUCE_POLICIES_NAMES_NAMING_H_
#define TRUCE_POLICIES_NAMES_NAMING_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "policies/names/aws_names.h"
#include "registry/base/result.h"
#include "registry/catalogue/catalogue.h"

namespace truce {

enum class NamingVariable : std::uint8_t {
  kService,
  kEnv,
  kType,
  kTeam,
  kRegion,
  kAccount,
  kSuffix,
};
inline constexpr std::size_t kNamingVariableCount = 7;
std::string_view Name(NamingVariable variable);  // "service", …
std::optional<NamingVariable> NamingVariableFromName(std::string_view name);

// Where the value of a variable comes from.
struct NamingSource {
  enum class Kind : std::uint8_t {
    kDeclared,        // service: as the object says (serviceLabels, Argo CD, part-of, …)
    kLabel,           // the object's label `text`
    kNamespace,       // the namespace, through the pattern `text` with one group
    kProviderConfig,  // the name of the ProviderConfig, through the pattern `text` with one group
    kFixed,           // `text`
  };

  Kind kind = Kind::kFixed;
  std::string text;

  bool operator==(const NamingSource&) const = default;
};

struct NamingVariableSpec {
  std::vector<std::string> values;           // the vocabulary; empty: any that fits `pattern`
  std::string pattern;                       // RE2, the whole value; empty: words joined by hyphens
  std::vector<NamingSource> sources;         // the first that gives a value says what is expected
  std::map<std::string, std::string> spelt;  // value of a source → as names write it

  bool operator==(const NamingVariableSpec&) const = default;
};

inline constexpr std::string_view kNamingTemplateDefault = "{service}-{env}-{type}";

// The configuration as plain values.
struct NamingSpec {
  std::string form = std::string(kNamingTemplateDefault);
  std::map<std::string, std::string> forms;        // type → template
  std::map<std::string, std::size_t> max_lengths;  // type → bytes, below AWS's limit
  // Types whose names follow the convention; empty: all with an abbreviation.
  std::vector<std::string> types;
  std::map<NamingVariable, NamingVariableSpec> variables;

  bool operator==(const NamingSpec&) const = default;
};

// Facts of an object and its surroundings about one name.
struct NameFacts {
  std::string_view type;             // "s3/Bucket"
  std::string_view name;             // the external name
  std::string_view service;          // as declared; empty: not known
  std::string_view service_from;     // "label app.kubernetes.io/part-of"; empty: not known
  std::string_view ns;               // of the root; empty: cluster-scoped
  std::string_view provider_config;  // its name; empty: not known
  std::string_view region;
  std::string_view account;  // 12 digits; empty: not known
  std::span<const std::pair<std::string, std::string>> labels;
  std::optional<bool> fifo;  // field of FIFO queues and topics; nothing: not known
};

// How a name departs from its template.
struct NamingFault {
  std::string part;      // the first part that is wrong: "env", "begin", "end", "length"
  std::string got;       // the text found there; empty: nothing
  std::string expected;  // completes "must …": be "prod" (from label env)
  std::string form;      // the template
  // A conforming name that AWS takes; empty when a value is not known: then `pattern` has it in
  // angle brackets, "payments-<env>-bucket", and `choice` says what fits there.
  std::string suggestion;
  std::string pattern;
  std::string choice;

  bool operator==(const NamingFault&) const = default;
};

// Immutable; shared by reviews.
class NamingConvention final {
 public:
  // Errors: kInvalidArgument, "PATH: what is wrong; how to mend it" with a path as configuration
  // has it ("naming.templates.s3/Bucket"): unknown variable or type, a malformed template, two
  // variables side by side, a pattern that RE2 refuses, a template that gives names which AWS
  // refuses for one of its types.
  static Result<NamingConvention> Compile(const NamingSpec& spec, const Catalogue& catalogue,
                                          std::shared_ptr<const AwsNames> aws);
  ~NamingConvention();
  NamingConvention(NamingConvention&&) noexcept;
  NamingConvention& operator=(NamingConvention&&) noexcept;

  bool Covers(std::string_view type) const;

  // Nothing when the name follows the template of its type, or its type is not covered. Time grows
  // with the length of the name times the number of separators in it.
  std::optional<NamingFault> FaultOf(const NameFacts& facts) const;

  // Labels that sources read.
  std::span<const std::string> label_keys() const;
  // The template of a covered type.
  std::string_view FormOf(std::string_view type) const;

 private:
  struct Impl;
  NamingConvention() = default;
  std::unique_ptr<const Impl> impl_;
};

}  // namespace truce

#endif  // TRUCE_POLICIES_NAMES_NAMING_H_
