// How much of a text's beginning is plain, sixteen or eight bytes at a time: every text of a denial
// is looked at for it, and nearly all are plain to their end.
#ifndef TRUCE_REGISTRY_BASE_PLAIN_RUN_H_
#define TRUCE_REGISTRY_BASE_PLAIN_RUN_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace truce {

enum class Quotes : std::uint8_t { kPlain, kOdd };

#if defined(__SSE2__)
// A bit for each of the sixteen bytes at `text` that ends a run.
template <Quotes kQuotes>
inline unsigned OddBytes(const char* text) {
  __m128i bytes;
  std::memcpy(&bytes, text, sizeof bytes);
  const auto are = [&](char c) { return _mm_cmpeq_epi8(bytes, _mm_set1_epi8(c)); };
  // Signed: bytes beyond ASCII are below ' ', too.
  __m128i odd = _mm_or_si128(_mm_cmplt_epi8(bytes, _mm_set1_epi8(' ')), are('\x7F'));
  if constexpr (kQuotes == Quotes::kOdd) {
    odd = _mm_or_si128(odd, _mm_or_si128(are('"'), are('\\')));
  }
  return static_cast<unsigned>(_mm_movemask_epi8(odd));
}
#endif

// The number of bytes at the beginning that are printable ASCII; with kOdd that are no quotation
// mark and no backslash either.
template <Quotes kQuotes>
std::size_t PlainRun(std::string_view text) {
  constexpr std::uint64_t kEach = 0x0101010101010101;
  constexpr std::uint64_t kHigh = 0x80 * kEach;
  // The high bit of each zero byte; one that borrows from its neighbour comes behind a true one.
  const auto zeros = [](std::uint64_t eight) { return (eight - kEach) & ~eight; };
  std::size_t plain = 0;
#if defined(__SSE2__)
  for (; text.size() - plain >= sizeof(__m128i); plain += sizeof(__m128i)) {
    const unsigned mask = OddBytes<kQuotes>(text.data() + plain);
    if (mask != 0) return plain + static_cast<std::size_t>(std::countr_zero(mask));
  }
#endif
  for (; text.size() - plain >= sizeof(std::uint64_t); plain += sizeof(std::uint64_t)) {
    std::uint64_t eight = 0;
    std::memcpy(&eight, text.data() + plain, sizeof eight);
    // Over '~'; below ' '. A byte that borrows or carries into its neighbour is odd itself.
    std::uint64_t odd = eight | (eight + kEach) | ~((eight | kHigh) - ' ' * kEach);
    if constexpr (kQuotes == Quotes::kOdd) {
      odd |= zeros(eight ^ ('"' * kEach)) | zeros(eight ^ ('\\' * kEach));
    }
    if ((odd & kHigh) == 0) continue;
    if constexpr (std::endian::native != std::endian::little) break;
    // The first mark is a true one.
    return plain + static_cast<std::size_t>(std::countr_zero(odd & kHigh)) / 8;
  }
  const auto is_plain = [](char c) {
    return c >= ' ' && c <= '~' && (kQuotes == Quotes::kPlain || (c != '"' && c != '\\'));
  };
  while (plain < text.size() && is_plain(text[plain])) ++plain;
  return plain;
}

// The same of a text with a byte that ends a run, and fifteen readable ones behind that.
template <Quotes kQuotes>
inline std::size_t PaddedRun(const char* text) {
  std::size_t plain = 0;
#if defined(__SSE2__)
  for (;; plain += sizeof(__m128i)) {
    const unsigned mask = OddBytes<kQuotes>(text + plain);
    if (mask != 0) return plain + static_cast<std::size_t>(std::countr_zero(mask));
  }
#else
  constexpr std::size_t kStride = 16;
  for (;; plain += kStride) {
    const std::size_t run = PlainRun<kQuotes>({text + plain, kStride});
    if (run < kStride) return plain + run;
  }
#endif
}

}  // namespace truce

#endif  // TRUCE_REGISTRY_BASE_PLAIN_RUN_H_
