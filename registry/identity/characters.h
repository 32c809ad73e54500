// Which texts may become part of a key, and how doubtful ones are shown to people.
#ifndef TRUCE_REGISTRY_IDENTITY_CHARACTERS_H_
#define TRUCE_REGISTRY_IDENTITY_CHARACTERS_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace truce {

// Longest value of one part in bytes: the longest name AWS knows (an S3 object key), which is also
// more than any ARN has.
inline constexpr std::size_t kPartBytesMax = 1024;
// Longest text of a label's or annotation's value that people are shown.
inline constexpr std::size_t kShownBytesMax = 253;

// Whether `text` may hold characters outside ASCII.
enum class Alphabet { kAscii, kUnicode };

// Why `text` must not become part of a key, or nothing when it may: longer than kPartBytesMax, not
// UTF-8, a control, invisible, direction-changing or blank character other than a space, or a
// character outside `alphabet`. The reason completes a sentence: "contains U+200B (zero width
// space)".
std::optional<std::string> WhyBad(std::string_view text, Alphabet alphabet);

// `text` in printable ASCII: everything else as \u{…}, invalid bytes as \x{…}; cut at
// kShownBytesMax.
std::string Printable(std::string_view text);

// Whether `text` is short and clean enough to stand in a sentence as it is.
bool Presentable(std::string_view text);

// Whether only ASCII can match `regex` (RE2 syntax): it names no Unicode class or code point, no
// negated class and no "any character". False for an empty pattern, which says nothing.
bool MatchesAsciiOnly(std::string_view regex);

}  // namespace truce

#endif  // TRUCE_REGISTRY_IDENTITY_CHARACTERS_H_
