#include "webhook/publish/status_entry.h"

#include <utility>

namespace truce {
namespace {

// A part of a regular expression (RE2) that matches what `pattern` does.
std::string AsRegularExpression(std::string_view pattern) {
  constexpr std::string_view kSpecial = R"(\.+?()|[]{}^$)";
  std::string out;
  for (const char c : pattern) {
    if (c == '*') {
      out += ".*";
      continue;
    }
    if (kSpecial.find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

// A text between single quotes, as CEL reads it.
std::string AsCelText(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\\' || c == '\'') out += '\\';
    out += c;
  }
  return out += '\'';
}

}  // namespace

std::vector<std::pair<std::string, std::string>> StatusConditions(
    std::span<const std::string> providers, std::span<const std::string> restorers) {
  std::vector<std::pair<std::string, std::string>> out;
  const auto add = [&](std::string name, std::span<const std::string> patterns) {
    if (patterns.empty()) return;
    std::string any;
    for (const std::string& pattern : patterns) {
      any.append(any.empty() ? "" : "|").append(AsRegularExpression(pattern));
    }
    out.emplace_back(std::move(name), "!request.userInfo.username.matches(" +
                                          AsCelText("(?s)^(?:" + any + ")$") + ")");
  };
  add("not-providers", providers);
  add("not-restorers", restorers);
  return out;
}

}  // namespace truce
