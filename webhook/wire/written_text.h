// Texts as JSON writes them, with escapes: kubectl's last applied objects and policies are in them,
// and hardly any is ever read.
#ifndef TRUCE_WEBHOOK_WIRE_WRITTEN_TEXT_H_
#define TRUCE_WEBHOOK_WIRE_WRITTEN_TEXT_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace truce {

// The size of a text up to its last quotation mark; `text` begins behind the first one: UTF-8
// without control characters, and escapes, surrogates in pairs. kNoText: it has another beginning.
// 64 bytes behind the end of `text` are readable, the first of them zero.
inline constexpr std::size_t kNoText = static_cast<std::size_t>(-1);
std::size_t WrittenSize(std::string_view text);

// Replaces `said` by the text of `written`, whose size WrittenSize gave.
void ReadWritten(std::string_view written, std::string& said);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_WIRE_WRITTEN_TEXT_H_
