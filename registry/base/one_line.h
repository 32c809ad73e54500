// Text of anybody's, safe to print on one line.
#ifndef TRUCE_REGISTRY_BASE_ONE_LINE_H_
#define TRUCE_REGISTRY_BASE_ONE_LINE_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace truce {

// `text` safe to print on one line: control and invisible characters as \u{…}, at most `bytes_max`
// bytes, cut between characters with "…".
std::string OneLine(std::string_view text, std::size_t bytes_max);
// The same, behind `out`.
void AppendLine(std::string_view text, std::size_t bytes_max, std::string& out);

// The most of a name or another text of an object that a finding shows.
inline constexpr std::size_t kShownTextBytesMax = 256;

// OneLine of `text` between quotation marks.
std::string Quoted(std::string_view text);

// Whether `text` is such a line already, whatever its length. Text beyond ASCII is said not to be.
bool IsOneLine(std::string_view text);

}  // namespace truce

#endif  // TRUCE_REGISTRY_BASE_ONE_LINE_H_
