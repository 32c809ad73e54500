// Forms of external names: which texts name a resource of a type, and what they say of it.
//
// An external name, a URL or an ARN is read by patterns, which the type file states (column
// external_name; its head has their syntax):
// `https://sqs.{region}.{suffix}/{account}/{name}`.
#ifndef TRUCE_REGISTRY_CATALOGUE_NAME_FORM_H_
#define TRUCE_REGISTRY_CATALOGUE_NAME_FORM_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "registry/base/result.h"

namespace truce {

// The parts that a text tells. Views of the text that was read and of the form; empty: it does not
// say.
struct NameReading {
  std::string_view partition;  // "aws"
  std::string_view region;
  std::string_view account;  // 12 digits
  std::string_view suffix;   // of the host name: "amazonaws.com"
  std::string_view id;       // the id that AWS gave: "sg-0a1b2c3d"
  std::vector<std::pair<std::string_view, std::string_view>> parts;  // by name, not normalised

  // The value of the part; empty where the form has none of that name.
  std::string_view Part(std::string_view name) const;
};

// One pattern. Immutable.
class NameForm {
 public:
  // Errors: kInvalidArgument, what is wrong with the pattern and how to mend it.
  static Result<NameForm> Parse(std::string_view text);

  // The reading of `value`; nothing when it has another form. Takes time in proportion to its
  // length.
  std::optional<NameReading> Read(std::string_view value) const;

  const std::string& text() const { return text_; }
  // The parts that a reading has, as the pattern names them.
  std::vector<std::string_view> Parts() const;

  bool operator==(const NameForm& other) const { return text_ == other.text_; }

 private:
  struct Token {
    enum class Kind : std::uint8_t {
      kLiteral,    // `text`
      kAlnum,      // one letter or digit
      kPartition,  // aws, aws-cn, ...
      kRegion,     // us-east-1
      kAccount,    // 12 digits
      kSuffix,     // of AWS's host names
      kShaped,     // perhaps a region, `prefix`, then `length` letters and digits (0: 4 to 32 of
                   // them) or a UUID
      kFree,       // printable but no blank and no comma, and unless `deep` neither / nor : ;
                   // at the begin not what looks like an ARN or a URL
      kPath,       // up to and with the last /, perhaps nothing
    };
    Kind kind = Kind::kLiteral;
    std::string text;  // the literal, or what is read: a part, "@id", "*" for nothing
    std::string prefix;
    std::size_t length = 0;
    bool uuid = false;
    bool in_region = false;
    bool deep = false;
  };
  static Result<Token> ParsePlaceholder(std::string_view text);
  static std::optional<std::size_t> LengthOf(const Token& token);
  Result<void> Check() const;
  // Where the value of the token at `index` that begins at `begin` ends; npos: it has another form.
  std::size_t EndOf(std::size_t index, std::string_view value, std::size_t begin) const;
  std::size_t EndOfFree(std::size_t index, std::string_view value, std::size_t begin) const;

  std::string text_;
  std::vector<Token> tokens_;
};

// Whether `text` is written like an ARN or a URL.
bool LooksLikeAddress(std::string_view text);

}  // namespace truce

#endif  // TRUCE_REGISTRY_CATALOGUE_NAME_FORM_H_
