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

  // Also members that are empty objects with another member behind them, as most are.
  bool TakeKey() {
    constexpr std::string_view kEmpty = ":{},";
    do {
      if (!TakeText()) return false;
      if (std::memcmp(at_, kEmpty.data(), kEmpty.size()) != 0) return Take(':');
      at_ += kEmpty.size();
    } while (true);
  }

  bool Take(char mark) {
    if (*at_ != mark) return false;
    ++at_;
    return true;
  }

  bool TakeText() {
    if (!Take('"')) return false;
    at_ += PaddedRun<Quotes::kOdd>(at_);
    return Take('"') || TakeEscapes();
  }

  // The rest of a text that has some.
  bool TakeEscapes() {
    while (Take('\\')) {
      constexpr std::string_view kEscapes = "\"\\/bfnrt";
      if (kEscapes.find(*at_) == std::string_view::npos) return false;
      ++at_;
      at_ += PaddedRun<Quotes::kOdd>(at_);
    }
    return Take('"');
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
