// The inside of NamingConvention: templates as elements, and reading a name by them.
#ifndef TRUCE_POLICIES_NAMES_NAMING_FORM_H_
#define TRUCE_POLICIES_NAMES_NAMING_FORM_H_

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policies/names/naming.h"

namespace re2 {
class RE2;
}

namespace truce {

// One step of a template: literal text, or a variable.
struct FormElement {
  std::string literal;  // empty: the variable
  NamingVariable variable = NamingVariable::kService;

  bool is_literal() const { return !literal.empty(); }
  bool operator==(const FormElement&) const = default;
};
using FormElements = std::vector<FormElement>;

// The ways to read a template, the one without its optional parts first. Errors: kInvalidArgument,
// the fault, without a path.
Result<std::vector<FormElements>> ParseForm(std::string_view text);

// The values that a variable may have: one that is known, a vocabulary, or all that fit a pattern.
struct Wanted {
  std::vector<std::string>
      known;  // spellings of the one value, the usual one first; empty: unknown
  const std::vector<std::string>* vocabulary = nullptr;  // longest first; null: none
  const std::vector<std::string>* listed = nullptr;      // the same as configuration lists it
  const re2::RE2* pattern = nullptr;                     // never null
  std::string from;                                      // "from label env"
};
using WantedValues = std::array<Wanted, kNamingVariableCount>;

// Where reading a name stopped.
struct FormReading {
  bool matches = false;
  std::size_t element = 0;  // the first that is wrong
  std::size_t begin = 0;    // where its value begins
  std::size_t end = 0;
  // The value read for each variable before.
  std::array<std::optional<std::string_view>, kNamingVariableCount> read;
};

// Reads `name` by `elements`. Bounded by (elements × length of the name) steps.
FormReading ReadForm(std::string_view name, const FormElements& elements,
                     const WantedValues& wanted);

}  // namespace truce

#endif  // TRUCE_POLICIES_NAMES_NAMING_FORM_H_
