#include "registry/catalogue/name_form.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "registry/base/text.h"

namespace truce {
namespace {

constexpr std::size_t kNowhere = std::string_view::npos;
constexpr std::size_t kAccountDigits = 12;
constexpr std::size_t kUuidBytes = 36;
// Ids have from 4 (older accounts) to 32 characters behind their prefix.
constexpr std::size_t kShapedMin = 4;
constexpr std::size_t kShapedMax = 32;
constexpr std::string_view kId = "@id";
constexpr std::string_view kUuid = "uuid";
constexpr std::string_view kRegion = "region";
// Of the host names of AWS, by partition (botocore, data/partitions.json).
constexpr std::array<std::string_view, 7> kSuffixes = {
    "amazonaws.com", "amazonaws.com.cn", "amazonaws.eu",  "c2s.ic.gov",
    "sc2s.sgov.gov", "cloud.adc-e.uk",   "csp.hci.ic.gov"};

// The end of the run of characters that `belongs` accepts.
template <typename Predicate>
std::size_t EndOfRun(std::string_view value, std::size_t begin, Predicate belongs) {
  while (begin < value.size() && belongs(value[begin])) ++begin;
  return begin;
}

bool IsUuid(std::string_view text) {
  if (text.size() != kUuidBytes) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    if (dash ? text[i] != '-' : !IsHexDigit(text[i])) return false;
  }
  return true;
}

std::size_t EndOfPartition(std::string_view value, std::size_t begin) {
  const std::size_t end = EndOfRun(value, begin, [](char c) { return IsLower(c) || c == '-'; });
  const std::string_view name = value.substr(begin, end - begin);
  return name == "aws" || (name.starts_with("aws-") && !name.ends_with('-')) ? end : kNowhere;
}

// us-east-1: words and a number, joined by hyphens.
std::size_t EndOfRegion(std::string_view value, std::size_t begin) {
  const std::size_t end =
      EndOfRun(value, begin, [](char c) { return IsLowerOrDigit(c) || c == '-'; });
  const std::string_view name = value.substr(begin, end - begin);
  const std::size_t dash = name.rfind('-');
  const bool sound =
      dash != kNowhere && dash != 0 && dash + 1 < name.size() && IsLower(name.front());
  if (!sound) return kNowhere;
  const std::string_view number = name.substr(dash + 1);
  return std::all_of(number.begin(), number.end(), IsDigit) ? end : kNowhere;
}

std::size_t EndOfAccount(std::string_view value, std::size_t begin) {
  const std::size_t end = EndOfRun(value, begin, IsDigit);
  return end - begin == kAccountDigits ? end : kNowhere;
}

std::size_t EndOfSuffix(std::string_view value, std::size_t begin) {
  const std::size_t end = EndOfRun(value, begin, IsDnsCharacter);
  const std::string_view name = value.substr(begin, end - begin);
  return std::find(kSuffixes.begin(), kSuffixes.end(), name) != kSuffixes.end() ? end : kNowhere;
}

}  // namespace

std::string_view NameReading::Part(std::string_view name) const {
  for (const auto& [part, value] : parts) {
    if (part == name) return value;
  }
  return {};
}

Result<NameForm::Token> NameForm::ParsePlaceholder(std::string_view text) {
  Token token;
  token.text = text;
  if (text == "partition" || text == "region" || text == "account" || text == "suffix") {
    token.kind = text == "partition" ? Token::Kind::kPartition
                 : text == "region"  ? Token::Kind::kRegion
                 : text == "account" ? Token::Kind::kAccount
                                     : Token::Kind::kSuffix;
    return token;
  }
  token.kind = Token::Kind::kFree;
  if (const std::size_t colon = text.find(':'); colon != kNowhere) {
    token.kind = Token::Kind::kShaped;
    token.prefix = text.substr(colon + 1);
    text = text.substr(0, colon);
    token.in_region = token.prefix.starts_with(kRegion);
    if (token.in_region) token.prefix.erase(0, kRegion.size());
    if (token.prefix.ends_with(kUuid)) {
      token.uuid = true;
      token.prefix.resize(token.prefix.size() - kUuid.size());
    } else {
      std::size_t digits = token.prefix.size();
      while (digits > 0 && IsDigit(token.prefix[digits - 1])) --digits;
      const char* const end = token.prefix.data() + token.prefix.size();
      std::from_chars(token.prefix.data() + digits, end, token.length);
      token.prefix.resize(digits);
      if (token.length > kUuidBytes) return InvalidArgument("an id has at most 36 characters");
    }
  } else if (text.ends_with('/')) {
    token.deep = true;
    text.remove_suffix(1);
  }
  token.text = text;
  const bool named = !text.empty() && std::all_of(text.begin(), text.end(), IsAlnum);
  if (named || text == kId || text == "*") return token;
  return InvalidArgument(
      "{" + token.text +
      "} is not a placeholder; write {partition}, {region}, {account}, {suffix}, "
      "{@id}, {*} or a part");
}

std::optional<std::size_t> NameForm::LengthOf(const Token& token) {
  switch (token.kind) {
    case Token::Kind::kLiteral: return token.text.size();
    case Token::Kind::kAlnum: return 1;
    case Token::Kind::kAccount: return kAccountDigits;
    case Token::Kind::kShaped:
      if (token.in_region) return std::nullopt;
      if (token.uuid) return token.prefix.size() + kUuidBytes;
      if (token.length != 0) return token.prefix.size() + token.length;
      return std::nullopt;
    case Token::Kind::kPartition:
    case Token::Kind::kRegion:
    case Token::Kind::kSuffix:
    case Token::Kind::kFree:
    case Token::Kind::kPath: return std::nullopt;
  }
  return std::nullopt;
}

// Every value has at most one reading, found without going back.
Result<void> NameForm::Check() const {
  for (std::size_t i = 0; i < tokens_.size(); ++i) {
    const Token& token = tokens_[i];
    if (token.kind == Token::Kind::kPath) {
      const bool last_follows =
          i + 2 == tokens_.size() && tokens_[i + 1].kind == Token::Kind::kFree;
      if (!last_follows) return InvalidArgument("a path stands before the last part");
      continue;
    }
    if (token.kind != Token::Kind::kFree) continue;
    const bool fixed =
        std::all_of(tokens_.begin() + static_cast<std::ptrdiff_t>(i) + 1, tokens_.end(),
                    [](const Token& later) { return LengthOf(later).has_value(); });
    if (!fixed && tokens_[i + 1].kind != Token::Kind::kLiteral) {
      return InvalidArgument("{" + token.text + "} must be followed by text that ends it");
    }
  }
  return {};
}

Result<NameForm> NameForm::Parse(std::string_view text) {
  NameForm form;
  form.text_ = text;
  while (!text.empty()) {
    Token token;
    std::size_t used = 1;
    if (text.front() == '{') {
      const std::size_t close = text.find('}');
      if (close == kNowhere) return InvalidArgument("braces do not match");
      TRUCE_ASSIGN_OR_RETURN(token, ParsePlaceholder(text.substr(1, close - 1)));
      used = close + 1;
      // A placeholder that may contain slashes, directly before a part, is the path to that part.
      if (token.deep && text.substr(used).starts_with('{')) token.kind = Token::Kind::kPath;
    } else if (text.front() == '?') {
      token.kind = Token::Kind::kAlnum;
    } else {
      used = std::min(text.find_first_of("{?"), text.size());
      token.text = text.substr(0, used);
      if (token.text.find('}') != kNowhere) return InvalidArgument("braces do not match");
    }
    form.tokens_.push_back(std::move(token));
    text.remove_prefix(used);
  }
  if (form.tokens_.empty()) return InvalidArgument("a form is not empty");
  TRUCE_RETURN_IF_ERROR(form.Check());
  return form;
}

std::size_t NameForm::EndOfFree(std::size_t index, std::string_view value,
                                std::size_t begin) const {
  std::size_t tail = 0;
  bool fixed = true;
  for (std::size_t i = index + 1; i < tokens_.size() && fixed; ++i) {
    const std::optional<std::size_t> length = LengthOf(tokens_[i]);
    fixed = length.has_value();
    tail += length.value_or(0);
  }
  std::size_t end = kNowhere;
  if (!fixed) {
    // From the next character on: no part is empty.
    end = value.find(tokens_[index + 1].text, begin + 1);
  } else if (value.size() > begin + tail) {
    end = value.size() - tail;
  }
  if (end == kNowhere) return kNowhere;
  const bool deep = tokens_[index].deep;
  const std::size_t stop = EndOfRun(value, begin, [deep](char c) {
    return c > ' ' && c <= '~' && c != ',' && (deep || (c != '/' && c != ':'));
  });
  return stop >= end ? end : kNowhere;
}

std::size_t NameForm::EndOf(std::size_t index, std::string_view value, std::size_t begin) const {
  const Token& token = tokens_[index];
  const std::string_view rest = value.substr(begin);
  switch (token.kind) {
    case Token::Kind::kLiteral:
      return rest.starts_with(token.text) ? begin + token.text.size() : kNowhere;
    case Token::Kind::kAlnum: return !rest.empty() && IsAlnum(rest.front()) ? begin + 1 : kNowhere;
    case Token::Kind::kPartition: return EndOfPartition(value, begin);
    case Token::Kind::kRegion: return EndOfRegion(value, begin);
    case Token::Kind::kAccount: return EndOfAccount(value, begin);
    case Token::Kind::kSuffix: return EndOfSuffix(value, begin);
    case Token::Kind::kFree: return EndOfFree(index, value, begin);
    case Token::Kind::kPath: {
      const std::size_t slash = rest.rfind('/');
      return slash == kNowhere ? begin : begin + slash + 1;
    }
    case Token::Kind::kShaped: break;
  }
  if (token.in_region) begin = EndOfRegion(value, begin);
  if (begin == kNowhere || !value.substr(begin).starts_with(token.prefix)) return kNowhere;
  const std::size_t first = begin + token.prefix.size();
  if (token.uuid) {
    return IsUuid(value.substr(first, kUuidBytes)) ? first + kUuidBytes : kNowhere;
  }
  const std::size_t end = EndOfRun(value, first, IsAlnum);
  const std::size_t length = end - first;
  const bool fits =
      token.length != 0 ? length == token.length : length >= kShapedMin && length <= kShapedMax;
  return fits ? end : kNowhere;
}

bool LooksLikeAddress(std::string_view text) {
  return text.starts_with("arn:") || text.starts_with("https://") || text.starts_with("http://");
}

std::optional<NameReading> NameForm::Read(std::string_view value) const {
  // A plain name is no address, whatever a name may contain.
  if (tokens_.front().kind == Token::Kind::kFree && LooksLikeAddress(value)) return std::nullopt;
  NameReading reading;
  std::size_t at = 0;
  for (std::size_t i = 0; i < tokens_.size(); ++i) {
    const std::size_t end = EndOf(i, value, at);
    if (end == kNowhere) return std::nullopt;
    const Token& token = tokens_[i];
    const std::string_view text = value.substr(at, end - at);
    at = end;
    switch (token.kind) {
      case Token::Kind::kPartition: reading.partition = text; break;
      case Token::Kind::kRegion: reading.region = text; break;
      case Token::Kind::kAccount: reading.account = text; break;
      case Token::Kind::kSuffix: reading.suffix = text; break;
      case Token::Kind::kShaped:
      case Token::Kind::kFree:
        if (token.text == kId) {
          reading.id = text;
        } else if (token.text != "*") {
          reading.parts.emplace_back(token.text, text);
        }
        break;
      case Token::Kind::kLiteral:
      case Token::Kind::kAlnum:
      case Token::Kind::kPath: break;
    }
  }
  // Half a name read as a whole one would be another resource.
  if (at != value.size()) return std::nullopt;
  return reading;
}

std::vector<std::string_view> NameForm::Parts() const {
  std::vector<std::string_view> parts;
  for (const Token& token : tokens_) {
    const bool read = token.kind == Token::Kind::kFree || token.kind == Token::Kind::kShaped;
    if (read && token.text != kId && token.text != "*") parts.push_back(token.text);
  }
  return parts;
}

}  // namespace truce
