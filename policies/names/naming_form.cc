#include "policies/names/naming_form.h"

#include <re2/re2.h>

#include <algorithm>
#include <utility>

#include "registry/base/result.h"

namespace truce {
namespace {

constexpr std::size_t kFormBytesMax = 256;
constexpr std::size_t kElementsMax = 24;
constexpr std::size_t kOptionalMax = 2;  // each doubles the ways to read a template

// A template as it is written: elements, and their brackets.
class FormParser {
 public:
  explicit FormParser(std::string_view text) : text_(text) {}

  Result<std::vector<FormElements>> Parse() {
    if (text_.empty()) return InvalidArgument("is empty; write {service}-{env}-{type}");
    if (text_.size() > kFormBytesMax) return InvalidArgument("is longer than 256 bytes");
    while (at_ < text_.size()) TRUCE_RETURN_IF_ERROR(Next());
    if (open_) return InvalidArgument("has a '[' without ']'");
    if (elements_.size() > kElementsMax) return InvalidArgument("has more than 24 parts");
    return Expand();
  }

 private:
  Result<void> Next() {
    const char c = text_[at_++];
    if (c == '{') return Variable();
    if (c == '[') {
      if (open_) return InvalidArgument("has brackets within brackets");
      if (++groups_ > kOptionalMax) return InvalidArgument("has more than two parts in brackets");
      open_ = true;
      return {};
    }
    if (c == ']') {
      if (!open_) return InvalidArgument("has a ']' without '['");
      open_ = false;
      return {};
    }
    const bool plain = c > ' ' && c < 0x7F && c != '}' && c != '"' && c != '\\';
    if (!plain)
      return InvalidArgument("holds a character that no name has; use letters, digits, - _ . /");
    const std::size_t group = open_ ? groups_ : 0;
    if (elements_.empty() || !elements_.back().is_literal() || group_of_.back() != group) {
      Add({});
    }
    elements_.back().literal += c;
    return {};
  }

  Result<void> Variable() {
    const std::size_t end = text_.find('}', at_);
    if (end == std::string_view::npos) return InvalidArgument("has a '{' without '}'");
    const std::string name(text_.substr(at_, end - at_));
    at_ = end + 1;
    const auto variable = NamingVariableFromName(name);
    if (!variable) {
      std::string all;
      for (std::size_t i = 0; i < kNamingVariableCount; ++i) {
        all.append(i == 0 ? "" : ", ").append(Name(static_cast<NamingVariable>(i)));
      }
      return InvalidArgument("unknown variable {" + name.substr(0, 64) + "}; the variables are " +
                             all);
    }
    for (const FormElement& element : elements_) {
      if (!element.is_literal() && element.variable == *variable) {
        return InvalidArgument("has {" + name + "} twice");
      }
    }
    FormElement element;
    element.variable = *variable;
    Add(std::move(element));
    return {};
  }

  void Add(FormElement element) {
    elements_.push_back(std::move(element));
    group_of_.push_back(open_ ? groups_ : 0);
  }

  Result<std::vector<FormElements>> Expand() {
    std::vector<FormElements> out;
    for (std::size_t with = 0; with < (std::size_t{1} << groups_); ++with) {
      FormElements way;
      for (std::size_t i = 0; i < elements_.size(); ++i) {
        if (group_of_[i] != 0 && (with >> (group_of_[i] - 1) & 1U) == 0) continue;
        const bool merges = !way.empty() && way.back().is_literal() && elements_[i].is_literal();
        if (merges) {
          way.back().literal += elements_[i].literal;
          continue;
        }
        if (!way.empty() && !way.back().is_literal() && !elements_[i].is_literal()) {
          return InvalidArgument("has {" + std::string(Name(way.back().variable)) + "} and {" +
                                 std::string(Name(elements_[i].variable)) +
                                 "} side by side; put a separator between them");
        }
        way.push_back(elements_[i]);
      }
      const bool named = std::any_of(
          way.begin(), way.end(), [](const FormElement& element) { return !element.is_literal(); });
      if (!named)
        return InvalidArgument("has no variable outside brackets; all names would be one");
      out.push_back(std::move(way));
    }
    return out;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  bool open_ = false;
  std::size_t groups_ = 0;
  FormElements elements_;
  std::vector<std::size_t> group_of_;  // 0: always there
};

// Depth-first reading of a name. A state (element, position) that failed once fails always.
class Reader {
 public:
  Reader(std::string_view name, const FormElements& elements, const WantedValues& wanted)
      : name_(name), elements_(elements), wanted_(wanted), begins_(elements.size() + 1, 0) {}

  FormReading Read() {
    FormReading out;
    out.matches = Walk(0, 0);
    if (out.matches) {
      fault_begins_ = begins_;
      fault_ = elements_.size();
    } else {
      Blame(out);
    }
    for (std::size_t i = 0; i < fault_; ++i) {
      if (elements_[i].is_literal()) continue;
      out.read[static_cast<std::size_t>(elements_[i].variable)] =
          name_.substr(fault_begins_[i], fault_begins_[i + 1] - fault_begins_[i]);
    }
    return out;
  }

 private:
  bool Walk(std::size_t i, std::size_t at) {
    begins_[i] = at;
    if (i == elements_.size()) return at == name_.size() || Fail(i);
    if (Failed(i, at)) return false;
    const FormElement& element = elements_[i];
    const std::string_view rest = name_.substr(at);
    if (element.is_literal()) {
      if (!rest.starts_with(element.literal)) return Fail(i);
      if (Walk(i + 1, at + element.literal.size())) return true;
    } else if (WalkVariable(i, at, rest)) {
      return true;
    }
    Remember(i, at);
    return false;
  }

  bool WalkVariable(std::size_t i, std::size_t at, std::string_view rest) {
    const Wanted& wanted = wanted_[static_cast<std::size_t>(elements_[i].variable)];
    bool begun = false;
    const auto try_text = [&](std::string_view text) {
      if (text.empty() || !rest.starts_with(text)) return false;
      begun = true;
      return Walk(i + 1, at + text.size());
    };
    if (!wanted.known.empty()) {
      for (const std::string& text : wanted.known) {
        if (try_text(text)) return true;
      }
    } else if (wanted.vocabulary != nullptr) {
      for (const std::string& text : *wanted.vocabulary) {
        if (try_text(text)) return true;
      }
    } else {
      return WalkPattern(i, at, *wanted.pattern);
    }
    return begun ? false : Fail(i);
  }

  // A value that is not known ends where the literal text behind it begins.
  bool WalkPattern(std::size_t i, std::size_t at, const RE2& pattern) {
    bool begun = false;
    const auto try_end = [&](std::size_t end) {
      const re2::StringPiece piece(name_.data() + at, end - at);
      if (end == at || !RE2::FullMatch(piece, pattern)) return false;
      begun = true;
      return Walk(i + 1, end);
    };
    if (i + 1 == elements_.size()) {
      if (try_end(name_.size())) return true;
    } else {
      const std::string& next = elements_[i + 1].literal;
      std::size_t end = name_.find(next, at + 1);
      for (; end != std::string_view::npos; end = name_.find(next, end + 1)) {
        if (try_end(end)) return true;
      }
      // The name ends here: the parts behind are missing, which is the better thing to say.
      if (!begun && try_end(name_.size())) return true;
    }
    return begun ? false : Fail(i);
  }

  // Keeps the farthest failure; of several the first.
  bool Fail(std::size_t i) {
    if (!has_fault_ || i > fault_) {
      has_fault_ = true;
      fault_ = i;
      fault_begins_ = begins_;
    }
    return false;
  }

  std::size_t EndOfPart(std::size_t i, std::size_t begin) const {
    if (i + 1 >= elements_.size()) return name_.size();
    return std::min(name_.find(elements_[i + 1].literal, begin + 1), name_.size());
  }

  // The part that a person would call wrong: text behind a value that begins well belongs to it;
  // where the name ends too early, the next part is missing.
  void Blame(FormReading& out) {
    std::size_t i = fault_;
    std::size_t begin = fault_begins_[i];
    const bool at_end = begin >= name_.size();
    const bool after_value = i > 0 && !elements_[i - 1].is_literal();
    if (i == elements_.size() || (elements_[i].is_literal() && after_value && !at_end)) {
      if (after_value) {
        --i;
        begin = fault_begins_[i];
      }
    } else if (elements_[i].is_literal() && at_end && i + 1 < elements_.size()) {
      ++i;
      begin = name_.size();
    }
    fault_ = std::min(fault_, i);
    out.element = i;
    out.begin = std::min(begin, name_.size());
    const bool literal = i < elements_.size() && elements_[i].is_literal();
    out.end = literal ? std::min(begin + elements_[i].literal.size(), name_.size())
                      : std::max(out.begin,
                                 out.begin < name_.size() ? EndOfPart(i, out.begin) : name_.size());
  }

  bool Failed(std::size_t i, std::size_t at) const {
    return !failed_.empty() && failed_[i * (name_.size() + 1) + at];
  }
  void Remember(std::size_t i, std::size_t at) {
    if (failed_.empty()) failed_.resize((elements_.size() + 1) * (name_.size() + 1), false);
    failed_[i * (name_.size() + 1) + at] = true;
  }

  std::string_view name_;
  const FormElements& elements_;
  const WantedValues& wanted_;
  std::vector<std::size_t> begins_;
  std::vector<std::size_t> fault_begins_;
  std::vector<bool> failed_;
  std::size_t fault_ = 0;
  bool has_fault_ = false;
};

}  // namespace

Result<std::vector<FormElements>> ParseForm(std::string_view text) {
  return FormParser(text).Parse();
}

FormReading ReadForm(std::string_view name, const FormElements& elements,
                     const WantedValues& wanted) {
  return Reader(name, elements, wanted).Read();
}

}  // namespace truce
