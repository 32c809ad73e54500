// Where in JSON texts end, and where they are not as plain as most, sixty-four bytes at a time.
#ifndef TRUCE_WEBHOOK_WIRE_TEXT_MARKS_H_
#define TRUCE_WEBHOOK_WIRE_TEXT_MARKS_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace truce {

// Of 64 bytes a bit for each that is one.
struct Marks {
  std::uint64_t quotes = 0;
  std::uint64_t backslashes = 0;
  std::uint64_t odd = 0;  // neither these nor printable ASCII
};
inline constexpr std::size_t kMarked = 64;

#if defined(__SSE2__)
// Those of sixteen of the bytes, from `at`.
inline void AddMarks(const char* text, std::size_t at, Marks& out) {
  __m128i bytes;
  std::memcpy(&bytes, text + at, sizeof bytes);
  const auto are = [&](char c) { return _mm_cmpeq_epi8(bytes, _mm_set1_epi8(c)); };
  const auto bits = [at](__m128i mask) {
    return std::uint64_t{static_cast<std::uint32_t>(_mm_movemask_epi8(mask))} << at;
  };
  out.quotes |= bits(are('"'));
  out.backslashes |= bits(are('\\'));
  // Signed: bytes beyond ASCII are below ' ', too.
  out.odd |= bits(_mm_or_si128(_mm_cmplt_epi8(bytes, _mm_set1_epi8(' ')), are('\x7F')));
}

inline Marks MarksOf(const char* text) {
  Marks out;
  AddMarks(text, 0, out);
  AddMarks(text, 16, out);
  AddMarks(text, 32, out);
  AddMarks(text, 48, out);
  return out;
}
#else
inline Marks MarksOf(const char* text) {
  Marks out;
  for (std::size_t at = 0; at < kMarked; ++at) {
    const std::uint64_t bit = std::uint64_t{1} << at;
    if (text[at] == '"') out.quotes |= bit;
    if (text[at] == '\\') out.backslashes |= bit;
    if (text[at] < ' ' || text[at] > '~') out.odd |= bit;
  }
  return out;
}
#endif

// Finds the ends of runs of printable ASCII without quotation marks and backslashes, one behind the
// other. Their ends are found for many bytes at once, whatever the last end was, so no run waits
// for the former one. External synchronization.
class PlainRuns final {
 public:
  // All later questions are about text behind `text` and before a zero with 63 readable bytes.
  void Begin(const char* text) {
    block_ = text;
    ends_ = EndsIn(text);
  }

  // The end of the run that begins at `text`. Never asked for one that begins before the last one.
  const char* EndOf(const char* text) {
    auto offset = static_cast<std::size_t>(text - block_);
    while (offset >= kMarked || ends_ >> offset == 0) {
      const std::size_t step = offset < kMarked ? kMarked : offset / kMarked * kMarked;
      block_ += step;
      offset = offset < step ? 0 : offset - step;
      ends_ = EndsIn(block_);
    }
    return block_ + offset + std::countr_zero(ends_ >> offset);
  }

 private:
  static std::uint64_t EndsIn(const char* block) {
    const Marks marks = MarksOf(block);
    return marks.quotes | marks.backslashes | marks.odd;
  }

  const char* block_ = nullptr;
  std::uint64_t ends_ = 0;  // of runs, a bit for each byte of the block
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_WIRE_TEXT_MARKS_H_
