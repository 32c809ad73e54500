#include "webhook/admission/unread_fields.h"

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "registry/base/plain_run.h"
#include "webhook/wire/text_marks.h"

namespace truce {
namespace {

// Checks that each value may be where it is. Bytes behind the end are none of the marks looked for,
// so nothing asks for the end. External synchronization.
class PlainScan final {
 public:
  explicit PlainScan(const char* text) : begin_(text), at_(text) {}

  std::size_t SizeOfList() {
    if (*at_ != '[') return 0;
    do {
      if (!TakeValue()) return 0;
      while (depth_ > 0 && *at_ == ClosingMark()) Close();
      if (depth_ > 0 && !is_open_ && !Take(',')) return 0;
    } while (depth_ > 0);
    return static_cast<std::size_t>(at_ - begin_);
  }

 private:
  static constexpr int kDepthMax = 64;
  static constexpr std::string_view kEmptyMember = ":{},\"";  // behind its key

  bool IsInObject() const { return (objects_ & 1U) != 0; }
  char ClosingMark() const { return IsInObject() ? '}' : ']'; }

  void Close() {
    ++at_;
    --depth_;
    objects_ >>= 1U;
    is_open_ = false;
  }

  // A text, or the beginning of a list or of an object; of a member with its key.
  bool TakeValue() {
    if (depth_ > 0 && IsInObject() && !TakeKey()) return false;
    is_open_ = *at_ == '{' || *at_ == '[';
    if (!is_open_) return TakeText();
    if (depth_ == kDepthMax) return false;
    objects_ = objects_ << 1U | static_cast<std::uint64_t>(*at_ == '{');
    ++at_;
    ++depth_;
    return true;
  }

  // Also members that are empty objects with another member behind them, as most are.
  bool TakeKey() {
    const char* behind = BehindText(at_);
    if (behind == nullptr) return false;
    if (std::memcmp(behind, kEmptyMember.data(), kEmptyMember.size()) == 0) {
      at_ = BehindEmpty(behind + kEmptyMember.size() - 1);
      behind = BehindText(at_);
      if (behind == nullptr) return false;
    }
    at_ = behind;
    return Take(':');
  }

  bool Take(char mark) {
    if (*at_ != mark) return false;
    ++at_;
    return true;
  }

  bool TakeText() {
    const char* const behind = BehindText(at_);
    if (behind == nullptr) return false;
    at_ = behind;
    return true;
  }

  // Null: no text begins at `at`.
  static const char* BehindText(const char* at) {
    if (*at != '"') return nullptr;
    at += 1 + PaddedRun<Quotes::kOdd>(at + 1);
    return *at == '"' ? at + 1 : BehindEscapes(at);
  }

  // The key, behind others, of the first member that is something else than an empty object with
  // another one behind it. Half of many a body is such members: the marks of their texts are found
  // for many bytes at once, and do not wait for the end of the last one. `key`: the first one's.
  static const char* BehindEmpty(const char* key) {
    bool is_inside = false;
    for (const char* block = key;; block += kMarked) {
      const Marks marks = MarksOf(block);
      const std::uint64_t others = marks.backslashes | marks.odd;    // also behind the end
      std::uint64_t quotes = marks.quotes & (others - 1) & ~others;  // those before them
      for (; quotes != 0; quotes &= quotes - 1) {
        is_inside = !is_inside;
        if (is_inside) continue;
        const char* const behind = block + std::countr_zero(quotes) + 1;
        if (std::memcmp(behind, kEmptyMember.data(), kEmptyMember.size()) != 0) return key;
        key = behind + kEmptyMember.size() - 1;
      }
      if (others != 0) return key;
    }
  }

  // The rest of a text that has some.
  static const char* BehindEscapes(const char* at) {
    while (*at == '\\') {
      constexpr std::string_view kEscapes = "\"\\/bfnrt";
      if (kEscapes.find(at[1]) == std::string_view::npos) return nullptr;
      at += 2 + PaddedRun<Quotes::kOdd>(at + 2);
    }
    return *at == '"' ? at + 1 : nullptr;
  }

  const char* const begin_;
  const char* at_;
  int depth_ = 0;
  std::uint64_t objects_ = 0;  // a bit for each level, the innermost last: an object, no list
  bool is_open_ = false;       // the last value has no member yet
};

}  // namespace

std::size_t PlainListSize(const char* text) { return PlainScan(text).SizeOfList(); }

}  // namespace truce
