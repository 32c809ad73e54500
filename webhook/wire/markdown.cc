#include "webhook/wire/markdown.h"

#include <algorithm>

#include "registry/base/one_line.h"

namespace truce {
namespace {

// Whether backticks come in pairs, each alone: only then is it certain what is code.
bool HasSpans(std::string_view text) {
  const bool is_even = std::count(text.begin(), text.end(), '`') % 2 == 0;
  return is_even && text.find("``") == std::string_view::npos;
}

void AppendCharacter(char c, std::string& out) {
  if (c == '@' || c == '#') {
    // A backslash would not keep a mention from being one.
    out.append(1, c).append("<!-- -->");
    return;
  }
  if (std::string_view("\\`*_{}[]<>|~&").find(c) != std::string_view::npos) out += '\\';
  out += c;
}

}  // namespace

std::string MarkdownCell(std::string_view text, std::size_t bytes_max) {
  const std::string line = OneLine(text, bytes_max);
  const bool has_spans = HasSpans(line);
  bool in_code = false;
  std::string out;
  for (const char c : line) {
    if (c == '`' && has_spans) {
      in_code = !in_code;
      out += c;
    } else if (in_code) {
      // A table is split before code is read.
      if (c == '|') out += '\\';
      out += c;
    } else {
      AppendCharacter(c, out);
    }
  }
  return out.empty() ? "–" : out;
}

}  // namespace truce
