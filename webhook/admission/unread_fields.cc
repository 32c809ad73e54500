#include "webhook/admission/unread_fields.h"

#include <cstdint>
#include <cstring>
#include <string_view>

#include "registry/base/plain_run.h"

namespace truce {
namespace {

// Whether each value may stand where it does. What is behind the end is none of the marks looked
// for, so nothing asks for the end. External synchronization.
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

  // Also members that are empty objects with another member behind them, as most are: in one loop
  // that keeps its place in a register, since half of many a body is nothing else.
  bool TakeKey() {
    constexpr std::string_view kEmpty = ":{},";
    const char* at = at_;
    do {
      at = BehindText(at);
      if (at == nullptr) return false;
      if (std::memcmp(at, kEmpty.data(), kEmpty.size()) != 0) break;
      at += kEmpty.size();
    } while (true);
    at_ = at;
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
  bool is_open_ = false;       // what was taken last has no member yet
};

}  // namespace

std::size_t PlainListSize(const char* text) { return PlainScan(text).SizeOfList(); }

}  // namespace truce
