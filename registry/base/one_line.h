// Text of anybody's, safe to print: the one escape for terminals, logs and workflow commands.
#ifndef TRUCE_REGISTRY_BASE_ONE_LINE_H_
#define TRUCE_REGISTRY_BASE_ONE_LINE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace truce {

// Whether the character changes a text's looks and is not seen itself: controls (line breaks, ESC,
// C1), directional marks, characters without width.
bool IsInvisible(std::uint32_t code);

// `text` safe to print on one line: invisible characters as \u{…}, at most `bytes_max` bytes, cut
// between characters with "…".
std::string OneLine(std::string_view text, std::size_t bytes_max = std::string_view::npos);
// The same, behind `out`.
void AppendLine(std::string_view text, std::size_t bytes_max, std::string& out);

// A text of several lines: each as OneLine, its tabs as they are.
std::string Lines(std::string_view text);
// The same as one line: a blank for each line break, none at its ends.
std::string Folded(std::string_view text, std::size_t bytes_max = std::string_view::npos);

// The most of a name or another text of an object that a finding shows.
inline constexpr std::size_t kShownTextBytesMax = 256;

// OneLine of `text` between quotation marks.
std::string Quoted(std::string_view text);

// Whether `text` is such a line already, whatever its length. Text beyond ASCII is said not to be.
bool IsOneLine(std::string_view text);

}  // namespace truce

#endif  // TRUCE_REGISTRY_BASE_ONE_LINE_H_
