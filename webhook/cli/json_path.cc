#include "webhook/cli/json_path.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "registry/base/text.h"
#include "webhook/wire/json_text.h"

namespace truce {
namespace {

using Json = nlohmann::json;

// Adds the values to which one step of a path leads: a name, or the text in brackets.
void Follow(const Json& from, std::string_view step, std::vector<const Json*>& out) {
  if (step == "*") {
    for (const Json& each : from) out.push_back(&each);
  } else if (from.is_array()) {
    const bool is_place = !step.empty() && std::all_of(step.begin(), step.end(), IsDigit);
    const std::size_t place =
        is_place && step.size() < 10 ? std::stoul(std::string(step)) : from.size();
    if (place < from.size()) out.push_back(&from[place]);
  } else if (from.is_object()) {
    const auto found = from.find(std::string(step));
    if (found != from.end()) out.push_back(&*found);
  }
}

// "\n" and "\t" by their meaning.
std::string Unescaped(std::string_view text) {
  const Json read = ParseJson("\"" + std::string(text) + "\"");
  return read.is_string() ? read.get<std::string>() : std::string(text);
}

}  // namespace

std::vector<const Json*> ValuesAt(const Json& json, std::string_view path) {
  std::vector<const Json*> at = {&json};
  if (path.starts_with('$') || path.starts_with('@')) path.remove_prefix(1);
  while (!path.empty()) {
    const bool in_brackets = path.front() == '[';
    if (in_brackets || path.front() == '.') path.remove_prefix(1);
    const std::size_t end = std::min(path.find_first_of(in_brackets ? "]" : ".["), path.size());
    std::string_view step = path.substr(0, end);
    path.remove_prefix(std::min(end + (in_brackets ? 1 : 0), path.size()));
    if (step.empty()) continue;
    if (step.size() > 1 && step.front() == '\'') step = step.substr(1, step.size() - 2);
    std::vector<const Json*> next;
    for (const Json* each : at) Follow(*each, step, next);
    at = std::move(next);
  }
  return at;
}

std::string TextOf(const Json& value, Objects objects) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  if (value.is_null()) return {};
  if (value.is_array()) {
    std::string out;
    for (const Json& each : value)
      out.append(out.empty() ? "" : ", ").append(TextOf(each, objects));
    return out;
  }
  if (value.is_object() && value.contains("kind")) {
    const std::string ns = TextIn(value, "namespace");
    const std::string group = objects == Objects::kExact ? "." + TextIn(value, "group") : "";
    return TextIn(value, "kind") + group + " " + (ns.empty() ? "" : ns + "/") +
           TextIn(value, "name");
  }
  if (value.is_object() && value.contains("type")) {
    return TextIn(value, "type") + " " + TextIn(value, "name");
  }
  return Dump(value);
}

Result<std::string> FillTemplate(std::string_view text, const Json& json) {
  constexpr std::string_view kRange = "range ";
  constexpr std::string_view kEnd = "{end}";
  std::string out;
  while (!text.empty()) {
    const std::size_t open = std::min(text.find('{'), text.size());
    out.append(text.substr(0, open));
    text.remove_prefix(open);
    if (text.empty()) break;
    const bool is_quoted = text.starts_with("{\"");
    const std::size_t close = text.find(is_quoted ? "\"}" : "}");
    if (close == text.npos) return InvalidArgument("a { of the template is not closed");
    const std::string_view inner = text.substr(1, close - 1);
    text.remove_prefix(close + (is_quoted ? 2 : 1));
    if (is_quoted) {
      out += Unescaped(inner.substr(1));
    } else if (inner.starts_with(kRange)) {
      const std::size_t end = text.rfind(kEnd);
      if (end == text.npos) return InvalidArgument("a {range} of the template has no {end}");
      for (const Json* each : ValuesAt(json, inner.substr(kRange.size()))) {
        TRUCE_ASSIGN_OR_RETURN(const std::string one, FillTemplate(text.substr(0, end), *each));
        out += one;
      }
      text.remove_prefix(end + kEnd.size());
    } else {
      std::string shown;
      for (const Json* each : ValuesAt(json, inner)) {
        shown.append(shown.empty() ? "" : " ");
        shown.append(each->is_structured() ? Dump(*each)
                     : each->is_boolean()  ? each->dump()
                                           : TextOf(*each));
      }
      out += shown;
    }
  }
  return out;
}

}  // namespace truce
