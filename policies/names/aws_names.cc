#include "policies/names/aws_names.h"

#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <bitset>
#include <cstdint>
#include <utility>

#include "registry/base/counted.h"
#include "registry/base/fingerprint.h"
#include "registry/base/one_line.h"
#include "registry/base/text.h"

namespace truce {

// Defined in the file that truce_names_compiler writes.
std::string_view BuiltInAwsNamesText();

namespace {

using Kind = AwsNameCheck::Kind;
using Alphabet = std::bitset<128>;

constexpr std::size_t kLabelBytesMax = 63;

bool Has(const Alphabet& alphabet, char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte < alphabet.size() && alphabet[byte];
}

// Reads the ASCII characters that texts which match a pattern may hold. All of them for a pattern
// that says "any character".
class AlphabetReader {
 public:
  explicit AlphabetReader(std::string_view regex) : rest_(regex) {}

  Alphabet Read() {
    if (rest_.empty()) return Alphabet().set();
    while (!rest_.empty()) {
      const char c = Take();
      if (c == '[') {
        Class();
      } else if (c == '\\') {
        Escape(Take());
      } else if (c == '{') {
        while (!rest_.empty() && Take() != '}') continue;
      } else if (c == '.') {
        return Alphabet().set();
      } else if (std::string_view("^$()|?*+").find(c) == std::string_view::npos) {
        Add(c, c);
      }
    }
    return alphabet_;
  }

 private:
  char Take() {
    if (rest_.empty()) return '\0';
    const char c = rest_.front();
    rest_.remove_prefix(1);
    return c;
  }
  void Add(char first, char last) {
    for (int c = static_cast<unsigned char>(first); c <= static_cast<unsigned char>(last); ++c) {
      if (c < 128) alphabet_.set(static_cast<std::size_t>(c));
    }
  }
  void Escape(char c) {
    if (c == 'w') {
      Add('a', 'z');
      Add('A', 'Z');
      Add('_', '_');
    }
    if (c == 'w' || c == 'd') Add('0', '9');
    if (c == 's') Add(' ', ' ');
    if (c != 'w' && c != 'd' && c != 's') Add(c, c);
  }
  void Class() {
    while (!rest_.empty()) {
      char c = Take();
      if (c == ']') return;
      if (c == '\\') {
        c = Take();
        Escape(c);
        continue;
      }
      const bool range = rest_.size() > 1 && rest_[0] == '-' && rest_[1] != ']';
      if (!range) {
        Add(c, c);
        continue;
      }
      Take();
      char last = Take();
      if (last == '\\') last = Take();
      Add(c, last);
    }
  }

  std::string_view rest_;
  Alphabet alphabet_;
};

// a-z, A-Z, 0-9, "." and "-".
std::string InWords(const Alphabet& alphabet) {
  constexpr std::array<std::pair<char, char>, 3> kRanges = {{{'a', 'z'}, {'A', 'Z'}, {'0', '9'}}};
  std::vector<std::string> words;
  Alphabet rest = alphabet;
  for (const auto& [first, last] : kRanges) {
    bool whole = true;
    for (char c = first; c <= last; ++c) whole = whole && Has(alphabet, c);
    if (!whole) continue;
    words.push_back(std::string(1, first) + "-" + last);
    for (char c = first; c <= last; ++c) rest.reset(static_cast<std::size_t>(c));
  }
  std::string others;
  for (std::size_t c = 0x21; c < 0x7F; ++c) {
    if (rest[c]) others.append(others.empty() ? "" : " ").append(1, static_cast<char>(c));
  }
  if (!others.empty()) words.push_back(others);
  if (rest[' ']) words.emplace_back("space");
  std::string out;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) out += i + 1 == words.size() ? " and " : ", ";
    out += words[i];
  }
  return out;
}

std::string Bytes(std::size_t count) { return Counted(count, "byte"); }

std::string Shown(std::string_view text) { return '"' + OneLine(text, 64) + '"'; }

bool IsIpv4(std::string_view name) {
  int parts = 0;
  std::size_t digits = 0;
  for (std::size_t i = 0; i <= name.size(); ++i) {
    if (i < name.size() && IsDigit(name[i])) {
      ++digits;
      continue;
    }
    if ((i < name.size() && name[i] != '.') || digits == 0 || digits > 3) return false;
    digits = 0;
    ++parts;
  }
  return parts == 4;
}

std::string LabelFault(std::string_view name, Kind kind) {
  if (name.ends_with('.')) name.remove_suffix(1);
  for (bool first = true;; first = false) {
    const std::size_t dot = name.find('.');
    const std::string_view label = name.substr(0, dot);
    if (label.empty()) return "has an empty part between dots";
    if (label.size() > kLabelBytesMax) {
      return "has a part of " + std::to_string(label.size()) + " bytes between dots; at most " +
             std::to_string(kLabelBytesMax) + " are allowed";
    }
    const bool wildcard = kind == Kind::kDnsWildcard && first && label == "*";
    if (kind != Kind::kLabels && !wildcard) {
      const auto bad = std::find_if(label.begin(), label.end(),
                                    [](char c) { return !IsAlnum(c) && c != '-' && c != '_'; });
      if (bad != label.end()) return "contains " + Shown({&*bad, 1}) + ", which no host name has";
      if (label.front() == '-' || label.back() == '-') {
        return "has a part that begins or ends with \"-\"";
      }
    }
    if (dot == std::string_view::npos) return {};
    name.remove_prefix(dot + 1);
  }
}

std::string FifoFault(std::string_view name, std::optional<bool> fifo, const std::string& field) {
  if (!fifo.has_value() || *fifo == name.ends_with(kFifoSuffix)) return {};
  if (*fifo) return "does not end with \".fifo\", although " + field + " is true";
  return "ends with \".fifo\", although " + field + " is not true";
}

bool HasSecretSuffix(std::string_view name) {
  constexpr std::size_t kBytes = 7;  // a hyphen and six characters
  if (name.size() <= kBytes) return false;
  const std::string_view end = name.substr(name.size() - kBytes);
  return end.front() == '-' && std::all_of(end.begin() + 1, end.end(), IsAlnum);
}

template <typename Test>
std::string FirstOf(const std::vector<std::string>& texts, std::string_view what, Test test) {
  for (const std::string& text : texts) {
    if (test(text)) return std::string(what) + " " + Shown(text);
  }
  return {};
}

// The objection of AWS to `name`, or empty.
std::string CheckFault(const AwsNameCheck& check, std::string_view name, std::optional<bool> fifo) {
  const auto& texts = check.texts;
  switch (check.kind) {
    case Kind::kContains:
      return FirstOf(texts, "contains",
                     [&](const std::string& t) { return name.find(t) != std::string_view::npos; });
    case Kind::kPrefix: {
      const std::string fault =
          FirstOf(texts, "begins with", [&](const std::string& t) { return name.starts_with(t); });
      return fault.empty() ? fault : fault + ", which AWS reserves";
    }
    case Kind::kSuffix: {
      const std::string fault =
          FirstOf(texts, "ends with", [&](const std::string& t) { return name.ends_with(t); });
      return fault.empty() ? fault : fault + ", which AWS reserves";
    }
    case Kind::kWord: {
      const std::string fault =
          FirstOf(texts, "is", [&](const std::string& t) { return name == t; });
      return fault.empty() ? fault : fault + ", which AWS reserves";
    }
    case Kind::kEnd:
      if (texts[0].find(name.back()) == std::string::npos) return {};
      return "ends with " + Shown(name.substr(name.size() - 1));
    case Kind::kCharacters: {
      const std::size_t at = name.find_first_of(texts[0]);
      return at == std::string_view::npos ? "" : "contains " + Shown(name.substr(at, 1));
    }
    case Kind::kApart:
      for (std::size_t i = 1; i < name.size(); ++i) {
        const bool both = texts[0].find(name[i - 1]) != std::string::npos &&
                          texts[0].find(name[i]) != std::string::npos;
        if (both) return "contains " + Shown(name.substr(i - 1, 2));
      }
      return {};
    case Kind::kIpv4: return IsIpv4(name) ? "has the form of an IP address" : "";
    case Kind::kDigits:
      return std::all_of(name.begin(), name.end(), IsDigit) ? "has digits only" : "";
    case Kind::kLabels:
    case Kind::kDns:
    case Kind::kDnsWildcard: return LabelFault(name, check.kind);
    case Kind::kFifo: return FifoFault(name, fifo, texts[0]);
    case Kind::kDepth: {
      if (name.starts_with('/')) name.remove_prefix(1);
      const auto slashes = static_cast<std::size_t>(std::count(name.begin(), name.end(), '/'));
      if (slashes < check.number) return {};
      return "has " + std::to_string(slashes + 1) + " levels; AWS allows " +
             std::to_string(check.number);
    }
    case Kind::kPathPrefix: {
      if (name.starts_with('/')) name.remove_prefix(1);
      const std::string lower = LowerOf(name.substr(0, 32));
      const std::string fault =
          FirstOf(texts, "begins with", [&](const std::string& t) { return lower.starts_with(t); });
      return fault.empty() ? fault : fault + ", which AWS reserves";
    }
    case Kind::kSecretSuffix:
      return HasSecretSuffix(name)
                 ? "ends with a hyphen and six characters, as AWS itself ends the "
                   "ARNs of secrets"
                 : "";
  }
  return {};
}

}  // namespace

struct AwsNameRule::Impl {
  AwsNameRow row;
  NameRule rule;
  Alphabet alphabet;
  std::unique_ptr<RE2> pattern;
  std::string fifo_field;

  bool Matches(std::string_view name) const {
    return pattern == nullptr ||
           RE2::FullMatch(re2::StringPiece(name.data(), name.size()), *pattern);
  }

  // Which of AWS's characters are missing where; `name` does not match the pattern.
  std::string PatternFault(std::string_view name) const {
    if (!fifo_field.empty() && name.ends_with(kFifoSuffix)) name.remove_suffix(kFifoSuffix.size());
    if (name.empty()) return "has nothing before \".fifo\"";
    const auto odd =
        std::find_if(name.begin(), name.end(), [this](char c) { return !Has(alphabet, c); });
    if (odd != name.end()) {
      if (IsUpper(*odd) && Has(alphabet, Lower(*odd))) {
        return "contains upper-case letters, where AWS allows lower case only";
      }
      const auto at = static_cast<std::size_t>(odd - name.begin());
      const bool ascii = static_cast<unsigned char>(*odd) < 0x80;
      return (ascii ? "contains " + Shown(name.substr(at, 1)) : "contains a letter outside ASCII") +
             ", where AWS allows " + InWords(alphabet);
    }
    const auto with = [&](std::size_t at, char c) {
      std::string other(name);
      other[at] = c;
      return Matches(other);
    };
    if (with(0, 'a') || with(0, 'A')) {
      return "begins with " + Shown(name.substr(0, 1)) + ", which AWS does not allow there";
    }
    if (with(name.size() - 1, 'a')) {
      return "ends with " + Shown(name.substr(name.size() - 1)) +
             ", which AWS does not allow there";
    }
    return "does not match AWS's pattern " + OneLine(rule.regex, 160);
  }

  std::string Writable(std::string_view name) const {
    const char filler = Has(alphabet, '-') ? '-' : Has(alphabet, '_') ? '_' : '\0';
    std::string out;
    for (char c : name) {
      if (IsUpper(c) && !Has(alphabet, c)) c = Lower(c);
      if (Has(alphabet, c)) {
        out += c;
      } else if (filler != '\0' && !out.empty() && out.back() != filler) {
        out += filler;
      }
    }
    return out;
  }

  std::string Cleaned(std::string_view name) const {
    std::string out = Writable(name);
    for (const AwsNameCheck& check : row.checks) Mend(check, out);
    return out;
  }

  void Mend(const AwsNameCheck& check, std::string& name) const {
    const auto replace_all = [&](std::string_view from, std::string_view to) {
      for (std::size_t at = name.find(from); at != std::string::npos; at = name.find(from)) {
        name.replace(at, from.size(), to);
      }
    };
    if (check.kind == Kind::kContains) {
      for (const std::string& text : check.texts) {
        const bool doubled = text.size() == 2 && text[0] == text[1];
        const bool lone = text.size() == 1 && text != "-" && Has(alphabet, '-');
        replace_all(text, doubled ? text.substr(1) : lone ? "-" : "");
      }
    } else if (check.kind == Kind::kPrefix) {
      for (const std::string& text : check.texts) {
        if (name.starts_with(text)) name.erase(0, text.size());
      }
    } else if (check.kind == Kind::kSuffix) {
      for (const std::string& text : check.texts) {
        if (name.ends_with(text)) name.erase(name.size() - text.size());
      }
    } else if (check.kind == Kind::kCharacters || check.kind == Kind::kIpv4) {
      for (const char c : check.kind == Kind::kIpv4 && IsIpv4(name) ? "."
                          : check.texts.empty()                     ? ""
                                                                    : check.texts[0]) {
        std::replace(name.begin(), name.end(), c, '-');
      }
    }
  }

  std::string Fit(std::string name) const {
    if (rule.max_length == 0 || name.size() <= rule.max_length) return name;
    return Shortened(name, rule.max_length, Has(alphabet, '-') ? "-" : "");
  }
};

AwsNameRule::AwsNameRule(const TypeSpec& type, const AwsNameRow* row) {
  auto impl = std::make_unique<Impl>();
  if (row != nullptr) impl->row = *row;
  // A type that only a user's file knows has its pattern from there: it is as sure as the user.
  if (row == nullptr) impl->row.researched = type.certainty == Certainty::kResearched;
  impl->rule = type.name_rule;
  impl->alphabet = AlphabetReader(impl->rule.regex).Read();
  if (!impl->rule.regex.empty()) {
    RE2::Options options;
    options.set_log_errors(false);
    options.set_max_mem(1 << 20);
    impl->pattern = std::make_unique<RE2>(impl->rule.regex, options);
  }
  for (const AwsNameCheck& check : impl->row.checks) {
    if (check.kind == Kind::kFifo) impl->fifo_field = check.texts[0];
  }
  // The dot of ".fifo" may be nowhere else.
  if (!impl->fifo_field.empty()) impl->alphabet.reset('.');
  impl_ = std::move(impl);
}

AwsNameRule::~AwsNameRule() = default;
AwsNameRule::AwsNameRule(AwsNameRule&&) noexcept = default;
AwsNameRule& AwsNameRule::operator=(AwsNameRule&&) noexcept = default;

std::optional<AwsNameFault> AwsNameRule::FaultOf(std::string_view name,
                                                 std::optional<bool> fifo) const {
  if (name.empty()) return AwsNameFault{"is empty", false};
  const NameRule& rule = impl_->rule;
  // The pattern first: it may bound the length too, but says less about it.
  const bool matches = impl_->Matches(name);
  if (rule.max_length != 0 && name.size() > rule.max_length) {
    return AwsNameFault{
        "has " + Bytes(name.size()) + ", and AWS allows at most " + std::to_string(rule.max_length),
        false};
  }
  if (name.size() < rule.min_length) {
    return AwsNameFault{
        "has " + Bytes(name.size()) + ", and AWS wants at least " + std::to_string(rule.min_length),
        false};
  }
  if (!matches) return AwsNameFault{impl_->PatternFault(name), false};
  std::optional<AwsNameFault> caution;
  for (const AwsNameCheck& check : impl_->row.checks) {
    std::string fault = CheckFault(check, name, fifo);
    if (fault.empty()) continue;
    if (!check.warns) return AwsNameFault{std::move(fault), false};
    // Requests to a bucket go to BUCKET.s3.REGION.amazonaws.com.
    const bool dots = check.kind == Kind::kContains && check.texts[0] == ".";
    if (dots) fault += ", and AWS's TLS certificates do not cover names with dots";
    if (!caution) caution = AwsNameFault{std::move(fault), true};
  }
  return caution;
}

std::string AwsNameRule::Writable(std::string_view text) const { return impl_->Writable(text); }

std::string AwsNameRule::Near(std::string_view name, std::optional<bool> fifo) const {
  constexpr std::size_t kTriesMax = 16;
  const bool is_fifo = !fifo_field().empty() && fifo.value_or(name.ends_with(kFifoSuffix));
  if (!fifo_field().empty() && name.ends_with(kFifoSuffix)) name.remove_suffix(kFifoSuffix.size());
  std::string out = impl_->Cleaned(name);
  // Characters that may not begin or end a name are mostly punctuation; digits come off where
  // letters must begin.
  while (!out.empty() && !IsAlnum(out.back())) out.pop_back();
  for (std::size_t i = 0; i < kTriesMax && !out.empty(); ++i) {
    std::string fit = impl_->Fit(is_fifo ? out + std::string(kFifoSuffix) : out);
    if (is_fifo && !fit.ends_with(kFifoSuffix)) {
      fit = Shortened(out, max_length() - kFifoSuffix.size(), "-").append(kFifoSuffix);
    }
    if (!FaultOf(fit, fifo).has_value()) return fit;
    out.erase(0, 1);
  }
  return {};
}

const std::string& AwsNameRule::part() const { return impl_->rule.part; }
const std::string& AwsNameRule::abbreviation() const { return impl_->row.abbreviation; }
const std::string& AwsNameRule::fifo_field() const { return impl_->fifo_field; }
bool AwsNameRule::researched() const { return impl_->row.researched; }
std::size_t AwsNameRule::min_length() const { return impl_->rule.min_length; }
std::size_t AwsNameRule::max_length() const { return impl_->rule.max_length; }

Result<AwsNames> AwsNames::Compile(const Catalogue& catalogue, std::span<const AwsNameRow> rows) {
  AwsNames out;
  for (const TypeSpec& type : catalogue.types()) {
    if (type.name_rule.part.empty()) continue;
    const auto row = std::find_if(rows.begin(), rows.end(),
                                  [&](const AwsNameRow& other) { return other.type == type.name; });
    if (!type.name_rule.regex.empty()) {
      const RE2 probe(type.name_rule.regex, RE2::Quiet);
      if (!probe.ok()) {
        return Error{ErrorCode::kInvalidArgument,
                     type.origin + ": name_regex: " + probe.error() + "; write it as RE2 reads it"};
      }
    }
    out.rules_.emplace_back(type.name, AwsNameRule(type, row == rows.end() ? nullptr : &*row));
  }
  return out;
}

const AwsNameRule* AwsNames::Find(std::string_view type) const {
  const auto found = std::lower_bound(
      rules_.begin(), rules_.end(), type,
      [](const auto& rule, std::string_view wanted) { return rule.first < wanted; });
  return found == rules_.end() || found->first != type ? nullptr : &found->second;
}

std::span<const AwsNameRow> BuiltInAwsNames() {
  static const std::vector<AwsNameRow> kRows =
      ParseAwsNames(BuiltInAwsNamesText(), "schema/aws-names.tsv").value();
  return kRows;
}

std::string Shortened(std::string_view text, std::size_t bytes_max, std::string_view separator) {
  constexpr std::size_t kHashCharacters = 6;
  constexpr std::string_view kAlphabet = "abcdefghijklmnopqrstuvwxyz234567";
  if (text.size() <= bytes_max) return std::string(text);
  Fingerprint all;
  all.AddBytes(text);
  const std::uint64_t hash = all.value() ^ (all.value() >> 32U);  // its upper bits are mixed best
  std::string tail(separator);
  for (std::size_t i = 0; i < kHashCharacters; ++i) tail += kAlphabet[(hash >> (5 * i)) & 31U];
  if (bytes_max <= tail.size()) return {};
  std::string out(text.substr(0, bytes_max - tail.size()));
  while (!out.empty() && !IsAlnum(out.back())) out.pop_back();
  return out + tail;
}

}  // namespace truce
