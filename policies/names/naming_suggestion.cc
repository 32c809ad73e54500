#include "policies/names/naming_suggestion.h"

#include <re2/re2.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "registry/base/one_line.h"
#include "registry/base/text.h"

namespace truce {
namespace {

constexpr std::size_t kQuotedBytesMax = 120;
constexpr std::size_t kListedMax = 12;

std::string ShownWord(std::string_view text) { return '"' + OneLine(text, kQuotedBytesMax) + '"'; }

const Wanted& Of(const WantedValues& wanted, NamingVariable variable) {
  return wanted[static_cast<std::size_t>(variable)];
}

std::string Listed(const std::vector<std::string>& values) {
  std::string out;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i == kListedMax && values.size() > kListedMax + 1) {
      return out + " and " + std::to_string(values.size() - i) + " more";
    }
    if (i > 0) out += i + 1 == values.size() ? " or " : ", ";
    out += OneLine(values[i], kQuotedBytesMax);
  }
  return out;
}

std::string Demand(const Wanted& wanted) {
  if (!wanted.known.empty()) {
    std::string out = "be " + ShownWord(wanted.known.front());
    if (!wanted.from.empty()) out += " (" + OneLine(wanted.from, kQuotedBytesMax) + ")";
    return out;
  }
  if (wanted.listed != nullptr) {
    return (wanted.listed->size() == 1 ? "be " : "be one of ") + Listed(*wanted.listed);
  }
  return "match " + OneLine(wanted.pattern->pattern(), kQuotedBytesMax);
}

// Lower-case words of a text: "Payments_prod" → payments, prod.
std::vector<std::string> WordsOf(std::string_view text) {
  std::vector<std::string> out;
  bool inside = false;
  for (char c : text) {
    c = Lower(c);
    if (!IsLowerOrDigit(c)) {
      inside = false;
      continue;
    }
    if (!inside) out.emplace_back();
    inside = true;
    out.back() += c;
  }
  return out;
}

// Builds a conforming name from known values and the good parts of the faulty name.
class Proposal {
 public:
  explicit Proposal(const Departure& d)
      : d_(d), words_(WordsOf(d.name.substr(std::min(d.reading.begin, d.name.size())))) {}

  void Fill(NamingFault& fault) {
    for (const FormElement& element : d_.way) {
      if (!element.is_literal()) Settle(element.variable);
    }
    for (const FormElement& element : d_.way) {
      if (!element.is_literal()) SettleFreely(element.variable);
    }
    std::string choice;
    const std::string pattern = Joined(false, &choice);
    if (!choice.empty()) {
      fault.pattern = pattern;
      fault.choice = choice;
      return;
    }
    for (const bool shorten : {false, true}) {
      const std::string name = Joined(shorten, nullptr);
      if (!Conforms(name)) continue;
      fault.suggestion = name + (d_.fifo ? std::string(kFifoSuffix) : std::string());
      return;
    }
  }

 private:
  std::optional<std::string>& At(NamingVariable variable) {
    return values_[static_cast<std::size_t>(variable)];
  }

  // Takes the words of `value` out of the rest; false when none was there.
  bool Use(std::string_view value) {
    bool any = false;
    for (const std::string& word : WordsOf(value)) {
      const auto found = std::find(words_.begin(), words_.end(), word);
      if (found == words_.end()) continue;
      words_.erase(found);
      any = true;
    }
    return any;
  }

  // The text in the place of the wrong part.
  std::string_view Got(NamingVariable variable) const {
    const FormReading& reading = d_.reading;
    if (reading.matches || reading.element >= d_.way.size()) return {};
    const FormElement& element = d_.way[reading.element];
    if (element.is_literal() || element.variable != variable) return {};
    return d_.name.substr(reading.begin, reading.end - reading.begin);
  }

  // Takes the value demanded, else the value read, else a word of the vocabulary in the rest of the
  // name.
  void Settle(NamingVariable variable) {
    const Wanted& wanted = Of(d_.wanted, variable);
    const auto& read = d_.reading.read[static_cast<std::size_t>(variable)];
    if (!wanted.known.empty()) {
      At(variable) = wanted.known.front();
      // A wrong word gives way to the right one, wherever that is.
      if (!Use(wanted.known.front())) Use(Got(variable));
    } else if (read) {
      At(variable) = std::string(*read);
    } else if (wanted.vocabulary != nullptr) {
      FromVocabulary(variable, *wanted.vocabulary);
    }
  }

  void FromVocabulary(NamingVariable variable, const std::vector<std::string>& vocabulary) {
    constexpr std::size_t kLikeBytesMin = 3;  // "production" begins with "prod"; "a" is no word
    const auto take = [&](auto test) {
      for (const std::string& value : vocabulary) {
        const auto found = std::find_if(words_.begin(), words_.end(),
                                        [&](const std::string& word) { return test(word, value); });
        if (found == words_.end()) continue;
        words_.erase(found);
        At(variable) = value;
        return true;
      }
      return false;
    };
    if (take([](const std::string& word, const std::string& value) { return word == value; })) {
      return;
    }
    const bool alike = take([](const std::string& word, const std::string& value) {
      return (value.size() >= kLikeBytesMin && word.starts_with(value)) ||
             (word.size() >= kLikeBytesMin && value.starts_with(word));
    });
    if (!alike && vocabulary.size() == 1) At(variable) = vocabulary.front();
  }

  // The words that nothing else took, where they fit the pattern.
  void SettleFreely(NamingVariable variable) {
    const Wanted& wanted = Of(d_.wanted, variable);
    if (At(variable).has_value() || wanted.vocabulary != nullptr || words_.empty()) return;
    std::string text;
    for (const std::string& word : words_) text.append(text.empty() ? "" : "-").append(word);
    text = d_.form.Write(text);
    if (!RE2::FullMatch(text, *wanted.pattern)) return;
    At(variable) = text;
    words_.clear();
  }

  std::string Joined(bool shorten, std::string* choice) {
    std::string out;
    for (const FormElement& element : d_.way) {
      if (element.is_literal()) {
        out += element.literal;
        continue;
      }
      const std::optional<std::string>& value = At(element.variable);
      if (!value.has_value()) {
        const std::string name(Name(element.variable));
        out += "<" + name + ">";
        if (choice != nullptr) {
          const std::string must = Demand(Of(d_.wanted, element.variable));
          const bool is = must.starts_with("be ");
          choice->append(choice->empty() ? "" : " and ")
              .append("<" + name + "> ")
              .append(is ? "is " + must.substr(3) : "matches" + must.substr(5));
        }
        continue;
      }
      const std::size_t room = d_.form.room[static_cast<std::size_t>(element.variable)];
      out += shorten ? Shortened(*value, room, d_.form.separator) : *value;
    }
    return out;
  }

  bool Conforms(const std::string& name) const {
    const std::string whole = name + (d_.fifo ? std::string(kFifoSuffix) : std::string());
    if (whole.empty() || (d_.form.length_max != 0 && whole.size() > d_.form.length_max)) {
      return false;
    }
    const auto fault = d_.form.aws->FaultOf(whole, d_.fifo);
    return !fault.has_value() && ReadForm(name, d_.way, d_.wanted).matches;
  }

  const Departure& d_;
  std::vector<std::string> words_;  // of the faulty name, not used yet
  std::array<std::optional<std::string>, kNamingVariableCount> values_;
};

}  // namespace

std::string TypeForm::Write(std::string_view value) const {
  std::string out = aws->Writable(value);
  if (lower) std::transform(out.begin(), out.end(), out.begin(), Lower);
  return out;
}

NamingFault Explain(std::string_view name, const FormReading& reading, const FormElements& way,
                    const WantedValues& wanted) {
  NamingFault fault;
  const std::string_view got = name.substr(reading.begin, reading.end - reading.begin);
  fault.got = OneLine(got, kQuotedBytesMax);
  if (reading.element >= way.size()) {
    fault.part = "end";
    fault.expected = "hold nothing more";
    return fault;
  }
  const FormElement& element = way[reading.element];
  if (!element.is_literal()) {
    fault.part = Name(element.variable);
    fault.expected = Demand(Of(wanted, element.variable));
    return fault;
  }
  fault.part = reading.element == 0                ? "begin"
               : reading.element + 1 == way.size() ? "end"
                                                   : "middle";
  fault.expected = "be " + ShownWord(element.literal);
  return fault;
}

void Suggest(const Departure& departure, NamingFault& fault) { Proposal(departure).Fill(fault); }

}  // namespace truce
