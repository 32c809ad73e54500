#include "webhook/check/plain_scalar.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <string>

#include "registry/base/text.h"

namespace truce {
namespace {

constexpr std::array<std::string_view, 5> kNulls = {"", "~", "null", "Null", "NULL"};
constexpr std::array<std::string_view, 22> kBools = {
    "y", "Y", "yes", "Yes", "YES", "on",  "On",  "ON",  "true",  "True",  "TRUE",
    "n", "N", "no",  "No",  "NO",  "off", "Off", "OFF", "false", "False", "FALSE"};
constexpr std::array<std::string_view, 12> kOddFloats = {".nan",  ".NaN",  ".NAN",  ".inf",
                                                         ".Inf",  ".INF",  "+.inf", "+.Inf",
                                                         "+.INF", "-.inf", "-.Inf", "-.INF"};

template <std::size_t kSize>
bool IsOneOf(std::string_view text, const std::array<std::string_view, kSize>& words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

bool AllDigits(std::string_view text, int base) {
  const auto fits = [base](char c) { return IsHexDigit(c) && HexValue(c) < base; };
  return !text.empty() && std::all_of(text.begin(), text.end(), fits);
}

// strconv.ParseInt(text, 0, 64) and ParseUint, without their bounds: longer decimals are floats.
bool IsInteger(std::string_view text) {
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  if (text.size() > 2 && text[0] == '0') {
    const char mark = static_cast<char>(text[1] | 0x20);
    if (mark == 'x') return AllDigits(text.substr(2), 16);
    if (mark == 'b') return AllDigits(text.substr(2), 2);
    if (mark == 'o') return AllDigits(text.substr(2), 8);
  }
  return AllDigits(text, 10);
}

// [-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?
bool IsFloat(std::string_view text) {
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  const auto take_digits = [&text] {
    std::size_t count = 0;
    while (count < text.size() && IsDigit(text[count])) ++count;
    text.remove_prefix(count);
    return count;
  };
  const std::size_t whole = take_digits();
  std::size_t fraction = 0;
  const bool dot = text.starts_with('.');
  if (dot) {
    text.remove_prefix(1);
    fraction = take_digits();
  }
  if (whole == 0 && fraction == 0) return false;
  if (text.empty()) return true;
  if ((text.front() | 0x20) != 'e') return false;
  text.remove_prefix(1);
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  return take_digits() > 0 && text.empty();
}

// Whether Go writes the number of `text` with the same characters.
bool IsCanonical(std::string_view text) {
  const char* end = text.data() + text.size();
  if (text.find_first_of(".eE") == std::string_view::npos) {
    const std::string_view digits = text.substr(text.starts_with('-') ? 1 : 0);
    if (!AllDigits(digits, 10) || (digits.size() > 1 && digits[0] == '0') || text == "-0") {
      return false;
    }
    std::int64_t number = 0;
    std::uint64_t natural = 0;
    return std::from_chars(text.data(), end, number).ec == std::errc() ||
           std::from_chars(text.data(), end, natural).ec == std::errc();
  }
  double number = 0;
  const auto read = std::from_chars(text.data(), end, number);
  if (read.ec != std::errc() || read.ptr != end) return false;
  if (std::fabs(number) < 1e-6 || std::fabs(number) >= 1e21) return false;
  std::array<char, 64> buffer{};
  const auto written =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), number, std::chars_format::fixed);
  return std::string_view(buffer.data(), static_cast<std::size_t>(written.ptr - buffer.data())) ==
         text;
}

bool IsNumber(std::string_view text) {
  const char first = text.front();
  if (first == '.') return IsOneOf(text, kOddFloats) || IsFloat(text);
  if (!IsDigit(first) && first != '-' && first != '+') return false;
  if (IsOneOf(text, kOddFloats)) return true;
  std::string plain(text);
  // YAML 1.1 of Go allows underscores within numbers.
  plain.erase(std::remove(plain.begin(), plain.end(), '_'), plain.end());
  return IsInteger(plain) || IsFloat(plain);
}

}  // namespace

PlainReading ReadPlain(std::string_view text) {
  if (IsOneOf(text, kNulls)) return {Document::Kind::kNull, true};
  // Longer than any number or word that is read as something else.
  constexpr std::size_t kBytesMax = 400;
  if (text.size() > kBytesMax) return {};
  if (IsOneOf(text, kBools)) return {Document::Kind::kBool, text == "true" || text == "false"};
  if (IsNumber(text)) return {Document::Kind::kNumber, IsCanonical(text)};
  return {};
}

}  // namespace truce
