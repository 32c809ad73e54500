// How much of a text's beginning is plain, eight bytes at a time: every text of a denial is looked
// at for it, and nearly all are plain to their end.
#ifndef TRUCE_REGISTRY_BASE_PLAIN_RUN_H_
#define TRUCE_REGISTRY_BASE_PLAIN_RUN_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace truce {

enum class Quotes : std::uint8_t { kPlain, kOdd };

// The number of bytes at the beginning that are printable ASCII; with kOdd that are no quotation
// mark and no backslash either.
template <Quotes kQuotes>
std::size_t PlainRun(std::string_view text) {
  constexpr std::uint64_t kEach = 0x0101010101010101;
  constexpr std::uint64_t kHigh = 0x80 * kEach;
  // The high bit of what is zero; one that borrows from its neighbour comes behind a true one.
  const auto zeros = [](std::uint64_t eight) { return (eight - kEach) & ~eight; };
  std::size_t plain = 0;
  for (; text.size() - plain >= sizeof(std::uint64_t); plain += sizeof(std::uint64_t)) {
    std::uint64_t eight = 0;
    std::memcpy(&eight, text.data() + plain, sizeof eight);
    // Over '~'; below ' '. What borrows or carries into its neighbour is odd itself.
    std::uint64_t odd = eight | (eight + kEach) | ~((eight | kHigh) - ' ' * kEach);
    if constexpr (kQuotes == Quotes::kOdd) {
      odd |= zeros(eight ^ ('"' * kEach)) | zeros(eight ^ ('\\' * kEach));
    }
    if ((odd & kHigh) != 0) break;
  }
  const auto is_plain = [](char c) {
    return c >= ' ' && c <= '~' && (kQuotes == Quotes::kPlain || (c != '"' && c != '\\'));
  };
  while (plain < text.size() && is_plain(text[plain])) ++plain;
  return plain;
}

}  // namespace truce

#endif  // TRUCE_REGISTRY_BASE_PLAIN_RUN_H_
