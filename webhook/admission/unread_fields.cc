#include "webhook/admission/unread_fields.h"

#include <cstdint>
#include <cstring>

#include "registry/base/plain_run.h"

namespace truce {
namespace {

// Whether each value may stand where it does. External synchronization.
class PlainScan final {
 public:
  explicit PlainScan(std::string_view text)
      : begin_(text.data()), at_(begin_), end_(begin_ + text.size()) {}

  std::size_t SizeOfList() {
    if (Next() != '[') return 0;
    do {
      if (!TakeValue()) return 0;
      while (depth_ > 0 && Next() == ClosingMark()) Close();
      if (depth_ > 0 && !is_open_ && !Take(',')) return 0;
    } while (depth_ > 0);
    return Left(begin_) - Left(at_);
  }

 private:
  static constexpr int kDepthMax = 64;

  std::size_t Left(const char* from) const { return static_cast<std::size_t>(end_ - from); }
  char Next() const { return at_ < end_ ? *at_ : '\0'; }
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
    const char mark = Next();
    is_open_ = mark == '{' || mark == '[';
    if (!is_open_) return TakeText();
    if (depth_ == kDepthMax) return false;
    ++at_;
    ++depth_;
    objects_ = objects_ << 1U | static_cast<std::uint64_t>(mark == '{');
    return true;
  }

  // Also members that are empty objects with another member behind them, as most are.
  bool TakeKey() {
    constexpr std::string_view kEmpty = ":{},";
    do {
      if (!TakeText()) return false;
      if (Left(at_) < kEmpty.size()) return false;
      if (std::memcmp(at_, kEmpty.data(), kEmpty.size()) != 0) return Take(':');
      at_ += kEmpty.size();
    } while (true);
  }

  bool Take(char mark) {
    if (Next() != mark) return false;
    ++at_;
    return true;
  }

  bool TakeText() {
    if (!Take('"')) return false;
    for (;;) {
      at_ += PlainRun<Quotes::kOdd>({at_, Left(at_)});
      if (Take('"')) return true;
      if (!Take('\\')) return false;
      constexpr std::string_view kEscapes = "\"\\/bfnrt";
      if (at_ == end_ || kEscapes.find(*at_) == std::string_view::npos) return false;
      ++at_;
    }
  }

  const char* const begin_;
  const char* at_;
  const char* const end_;
  int depth_ = 0;
  std::uint64_t objects_ = 0;  // a bit for each level, the innermost last: an object, no list
  bool is_open_ = false;       // what was taken last has no member yet
};

}  // namespace

std::size_t PlainListSize(std::string_view text) { return PlainScan(text).SizeOfList(); }

}  // namespace truce
