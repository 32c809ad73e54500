// Text of anybody's inside of Markdown as GitHub and GitLab read it.
#ifndef TRUCE_WEBHOOK_WIRE_MARKDOWN_H_
#define TRUCE_WEBHOOK_WIRE_MARKDOWN_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace truce {

// One line of at most `bytes_max` bytes before it is escaped, shown as it is written wherever a
// cell of a table may be: nothing in it is markup, mentions a user or points to an issue. Text
// between two single backticks is a span of code, as in texts with commands; "–" for nothing.
std::string MarkdownCell(std::string_view text, std::size_t bytes_max);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_WIRE_MARKDOWN_H_
