#include <algorithm>
#include <cstdint>
#include <utility>

#include "registry/identity/mapping.h"

namespace truce {

// Reads the grammar of FieldPath: step ( "." step | "[" quoted "]" | "[*]" )*.
class PathParser {
 public:
  explicit PathParser(std::string_view text) : text_(text) {}

  Result<FieldPath> Parse(FieldPath::Root root) {
    FieldPath path;
    path.text_ = text_;
    TRUCE_RETURN_IF_ERROR(ReadPlainStep(path));
    while (at_ < text_.size()) {
      if (path.steps_.size() >= FieldPath::kStepsMax) {
        return Fail("a path has at most " + std::to_string(FieldPath::kStepsMax) + " steps");
      }
      if (text_[at_] == '.') {
        ++at_;
        TRUCE_RETURN_IF_ERROR(ReadPlainStep(path));
      } else if (text_[at_] == '[') {
        ++at_;
        TRUCE_RETURN_IF_ERROR(ReadBracketStep(path));
      } else {
        return Fail("expected \".\" or \"[\"");
      }
    }
    if (root == FieldPath::Root::kObject) TRUCE_RETURN_IF_ERROR(Anchor(path));
    return path;
  }

 private:
  static constexpr std::size_t kTextBytesMax = 1024;

  Error Fail(std::string_view what) const {
    std::string message = "field path \"";
    message.append(text_.substr(0, kTextBytesMax)).append("\", position ");
    message.append(std::to_string(at_ + 1)).append(": ").append(what);
    return Error{ErrorCode::kInvalidArgument, std::move(message)};
  }

  Result<void> ReadPlainStep(FieldPath& path) {
    const std::size_t start = at_;
    while (at_ < text_.size() && text_[at_] != '.' && text_[at_] != '[') {
      const char c = text_[at_];
      if (c == ']' || c == '"' || c == '\'' || static_cast<unsigned char>(c) <= ' ') {
        return Fail("write such a member name in brackets and quotes: ['...']");
      }
      ++at_;
    }
    const std::string_view name = text_.substr(start, at_ - start);
    if (name.empty()) return Fail("expected a member name or \"*\"");
    if (name != "*" && name.find('*') != std::string_view::npos) {
      return Fail("\"*\" stands alone, for every element");
    }
    path.steps_.push_back({std::string(name), name == "*"});
    return {};
  }

  Result<void> ReadBracketStep(FieldPath& path) {
    if (text_.substr(at_).starts_with("*]")) {
      at_ += 2;
      path.steps_.push_back({"*", true});
      return {};
    }
    const char quote = at_ < text_.size() ? text_[at_] : '\0';
    if (quote != '\'' && quote != '"') return Fail("expected \"*\" or a quoted name after \"[\"");
    const std::size_t start = at_ + 1;
    const std::size_t end = text_.find(quote, start);
    if (end == std::string_view::npos) return Fail("the quote is not closed");
    if (end == start) return Fail("the name is empty");
    at_ = end + 1;
    if (at_ >= text_.size() || text_[at_] != ']') return Fail("expected \"]\"");
    ++at_;
    path.steps_.push_back({std::string(text_.substr(start, end - start)), false});
    return {};
  }

  // Paths of objects start at spec, labels, annotations or metadata.name; labels and annotations
  // are members of metadata.
  Result<void> Anchor(FieldPath& path) {
    at_ = 0;
    std::vector<FieldPath::Step>& steps = path.steps_;
    const bool star = std::any_of(steps.begin(), steps.begin() + 1,
                                  [](const FieldPath::Step& step) { return step.star; });
    const std::string& first = steps.front().name;
    if (!star && first == "metadata" && steps.size() >= 2) {
      const std::string& second = steps[1].name;
      if (second == "name" && steps.size() == 2) return {};
      if ((second == "labels" || second == "annotations") && steps.size() >= 3) return {};
    } else if (!star && first == "spec" && steps.size() >= 2) {
      return {};
    } else if (!star && (first == "labels" || first == "annotations") && steps.size() >= 2) {
      steps.insert(steps.begin(), {"metadata", false});
      return {};
    }
    return Fail(
        "a path starts at spec.<field>, labels.<key>, annotations.<key>, or is metadata.name");
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

Result<FieldPath> FieldPath::Parse(std::string_view text, Root root) {
  return PathParser(text).Parse(root);
}

std::size_t FieldPath::stars() const {
  return static_cast<std::size_t>(
      std::count_if(steps_.begin(), steps_.end(), [](const Step& step) { return step.star; }));
}

bool FieldPath::Joins(const FieldPath& other) const {
  const auto last_star = [](const std::vector<Step>& steps) {
    const auto at =
        std::find_if(steps.rbegin(), steps.rend(), [](const Step& s) { return s.star; });
    return steps.rend() - at;
  };
  const auto shared = std::min(last_star(steps_), last_star(other.steps_));
  return std::equal(steps_.begin(), steps_.begin() + shared, other.steps_.begin());
}

std::vector<FieldPath::Match> FieldPath::Find(Value root) const {
  // Breadth first, step by step: no recursion, and document order is kept.
  std::vector<Match> matches;
  matches.push_back({{}, root});
  for (const Step& step : steps_) {
    std::vector<Match> next;
    for (Match& match : matches) {
      if (!step.star) {
        const Value child = match.value.Child(step.name);
        if (child.exists()) next.push_back({std::move(match.stars), child});
        continue;
      }
      const bool array = match.value.is_array();
      std::size_t index = 0;
      for (Value child = match.value.first(); child.exists(); child = match.value.next(child)) {
        std::vector<std::string> stars = match.stars;
        stars.push_back(array ? std::to_string(index++) : std::string(child.key()));
        next.push_back({std::move(stars), child});
        if (next.size() > kMatchesMax) return next;
      }
    }
    matches = std::move(next);
  }
  return matches;
}

}  // namespace truce
