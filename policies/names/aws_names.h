// Names that AWS accepts, type by type: pattern and length from the catalogue, further checks from
// schema/aws-names.tsv (its head explains the columns). Compiled once, read by every review.
#ifndef TRUCE_POLICIES_NAMES_AWS_NAMES_H_
#define TRUCE_POLICIES_NAMES_AWS_NAMES_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "registry/base/result.h"
#include "registry/catalogue/catalogue.h"

namespace truce {

// The suffix of the name of a first-in-first-out queue or topic.
inline constexpr std::string_view kFifoSuffix = ".fifo";

// One check of a name beyond its pattern and length.
struct AwsNameCheck {
  enum class Kind : std::uint8_t {
    kContains,      // holds none of `texts`
    kPrefix,        // begins with none of `texts`
    kSuffix,        // ends with none of `texts`
    kWord,          // is none of `texts`
    kEnd,           // its last character is none of texts[0]
    kCharacters,    // holds no character of texts[0]
    kApart,         // no two characters of texts[0] side by side
    kIpv4,          // is no IPv4 address
    kDigits,        // holds more than digits
    kLabels,        // parts between dots have 1 to 63 bytes
    kDns,           // labels of letters, digits and inner hyphens
    kDnsWildcard,   // the same, and the first label may be "*"
    kFifo,          // ends with ".fifo" exactly when the field texts[0] is true
    kDepth,         // at most `number` parts between slashes
    kPathPrefix,    // after a leading slash begins with none of `texts`, in any case
    kSecretSuffix,  // does not end with a hyphen and six letters or digits
  };

  Kind kind = Kind::kContains;
  std::vector<std::string> texts;
  std::size_t number = 0;
  bool warns = false;  // never refuses: AWS accepts the name, and something else will not

  bool operator==(const AwsNameCheck&) const = default;
};

// A row of schema/aws-names.tsv.
struct AwsNameRow {
  std::string type;          // "s3/Bucket"
  std::string abbreviation;  // a naming convention writes it for the type; empty: none
  bool researched = false;   // read in AWS's documentation; else the rule warns by default
  std::vector<AwsNameCheck> checks;

  bool operator==(const AwsNameRow&) const = default;
};

// The rows of `text`. Errors: kInvalidArgument "FILE:LINE: COLUMN: what is wrong; how to mend it".
Result<std::vector<AwsNameRow>> ParseAwsNames(std::string_view text, std::string_view file_name);

// The rows that the build compiled in. Parsed at the first call.
std::span<const AwsNameRow> BuiltInAwsNames();

// Why AWS refuses a name.
struct AwsNameFault {
  std::string reason;  // completes "…": contains "_", which AWS does not allow here
  bool warns = false;  // only a caution

  bool operator==(const AwsNameFault&) const = default;
};

// Everything AWS says about the names of one type. Immutable.
class AwsNameRule final {
 public:
  AwsNameRule(const TypeSpec& type, const AwsNameRow* row);
  ~AwsNameRule();
  AwsNameRule(AwsNameRule&&) noexcept;
  AwsNameRule& operator=(AwsNameRule&&) noexcept;

  // Nothing when AWS takes `name`; else the first fault, cautions last. `fifo`: the value of the
  // field that makes the resource a FIFO one, nothing when it is not known. Linear in the length.
  std::optional<AwsNameFault> FaultOf(std::string_view name, std::optional<bool> fifo) const;

  // `text` with only such characters as AWS allows in names: lower case where AWS wants it, runs of
  // other characters as a hyphen or underscore.
  std::string Writable(std::string_view text) const;

  // A name that AWS takes, near to `name`; empty when none was found. Deterministic.
  std::string Near(std::string_view name, std::optional<bool> fifo) const;

  // The part of the type's resource that the rule is about ("name"); empty: the type's names are
  // not the user's.
  const std::string& part() const;
  const std::string& abbreviation() const;
  // The field below spec.forProvider that a FIFO name must agree with; empty: none.
  const std::string& fifo_field() const;
  bool researched() const;
  std::size_t min_length() const;
  std::size_t max_length() const;  // 0: no bound is known

 private:
  struct Impl;
  std::unique_ptr<const Impl> impl_;
};

// The rules of all types of a catalogue whose names users give. Immutable.
class AwsNames final {
 public:
  // Errors: kInvalidArgument for a pattern that RE2 refuses (a user's type file), with its place.
  static Result<AwsNames> Compile(const Catalogue& catalogue, std::span<const AwsNameRow> rows);

  // Null when the type is unknown or its names are not the user's.
  const AwsNameRule* Find(std::string_view type) const;
  // Sorted by type.
  std::span<const std::pair<std::string, AwsNameRule>> rules() const { return rules_; }

 private:
  std::vector<std::pair<std::string, AwsNameRule>> rules_;
};

// `text` cut to `bytes_max` bytes: its begin, `separator` (one character, or none) and six
// characters that depend on the whole text, so that two long texts stay two. `text` itself when it
// fits. Never ends its begin with a character that is neither letter nor digit.
std::string Shortened(std::string_view text, std::size_t bytes_max, std::string_view separator);

}  // namespace truce

#endif  // TRUCE_POLICIES_NAMES_AWS_NAMES_H_
