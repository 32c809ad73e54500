// The inside of NamingConvention: the fault of a name, in words, and a name that conforms.
#ifndef TRUCE_POLICIES_NAMES_NAMING_SUGGESTION_H_
#define TRUCE_POLICIES_NAMES_NAMING_SUGGESTION_H_

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "policies/names/aws_names.h"
#include "policies/names/naming.h"
#include "policies/names/naming_form.h"

namespace truce {

// The convention for one type.
struct TypeForm {
  std::string text;                // the template
  std::vector<FormElements> ways;  // to read it
  const AwsNameRule* aws = nullptr;
  std::string abbreviation;
  std::string separator;       // before the tail of a shortened value: "-" or nothing
  std::size_t length_max = 0;  // 0: no bound is known
  bool lower = false;          // AWS keeps the name in lower case
  // Longest text per variable before it is shortened.
  std::array<std::size_t, kNamingVariableCount> room{};

  // `value` as names of the type can hold it.
  std::string Write(std::string_view value) const;
};

// A name that departs from its form.
struct Departure {
  std::string_view name;  // without ".fifo"
  const TypeForm& form;
  const FormElements& way;
  const FormReading& reading;
  const WantedValues& wanted;
  bool fifo = false;  // a conforming name ends with ".fifo"
};

// A fault with `part`, `got` and `expected`.
NamingFault Explain(std::string_view name, const FormReading& reading, const FormElements& way,
                    const WantedValues& wanted);

// Fills `suggestion`, or `pattern` and `choice`.
void Suggest(const Departure& departure, NamingFault& fault);

}  // namespace truce

#endif  // TRUCE_POLICIES_NAMES_NAMING_SUGGESTION_H_
