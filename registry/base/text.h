// Pure text that belongs to no format: characters of ASCII whatever the locale, case, and words as
// messages show them. Hexadecimal digits are in hex.h, UTF-8 in utf8.h, percent-encoding in
// percent.h.
#ifndef TRUCE_REGISTRY_BASE_TEXT_H_
#define TRUCE_REGISTRY_BASE_TEXT_H_

#include <algorithm>
#include <string>
#include <string_view>

namespace truce {

constexpr bool IsUpper(char c) { return c >= 'A' && c <= 'Z'; }
constexpr bool IsLower(char c) { return c >= 'a' && c <= 'z'; }
constexpr bool IsDigit(char c) { return c >= '0' && c <= '9'; }
constexpr bool IsAlnum(char c) { return IsLower(c) || IsUpper(c) || IsDigit(c); }
constexpr char Upper(char c) { return IsLower(c) ? static_cast<char>(c - 'a' + 'A') : c; }
constexpr char Lower(char c) { return IsUpper(c) ? static_cast<char>(c - 'A' + 'a') : c; }

// A control character of ASCII: below the space, or DEL.
constexpr bool IsControl(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }
constexpr bool HasControl(std::string_view text) {
  return std::any_of(text.begin(), text.end(), IsControl);
}
// `text` with `instead` for each control character.
std::string WithoutControl(std::string_view text, char instead);

// `text` with its letters of ASCII in lower case.
std::string LowerOf(std::string_view text);

// Whether both are the same but for the case of letters of ASCII.
constexpr bool EqualsIgnoringCase(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return Lower(x) == Lower(y); });
}

// `text` between quotation marks, as it stands: for what is known to be one printable line.
std::string InQuotes(std::string_view text);

// "Bucket.s3.aws.upbound.io"; the kind alone when the group is the core one, "".
std::string KindForPeople(std::string_view kind, std::string_view group);

}  // namespace truce

#endif  // TRUCE_REGISTRY_BASE_TEXT_H_
