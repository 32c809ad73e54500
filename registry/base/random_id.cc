#include "registry/base/random_id.h"

#include <sys/random.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <random>

namespace truce {
namespace {

// Fetched many at a time, to spare each id a system call.
std::uint32_t RandomBits() {
  static thread_local std::array<std::uint32_t, 64> bits;
  static thread_local std::size_t left = 0;
  if (left == 0) {
    if (getrandom(bits.data(), sizeof(bits), 0) != static_cast<ssize_t>(sizeof(bits))) {
      return std::random_device()();
    }
    left = bits.size();
  }
  return bits[--left];
}

// The second in the upper half; below it a random number, then steps of random length. A full
// second runs over into the next one, and a clock that is set back is not followed.
std::uint64_t NextNumber() {
  constexpr unsigned kSecondShift = 32;
  constexpr std::uint32_t kBeginMask = 0x7FFFFFFF;  // room for steps behind it
  constexpr std::uint32_t kStepMask = 0x3FFF;
  static std::atomic<std::uint64_t> last = 0;
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto second =
      static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::seconds>(now).count());
  const std::uint32_t random = RandomBits();
  std::uint64_t before = last.load(std::memory_order_relaxed);
  std::uint64_t next = 0;
  do {
    next = before >> kSecondShift < second ? second << kSecondShift | (random & kBeginMask)
                                           : before + 1 + (random & kStepMask);
  } while (!last.compare_exchange_weak(before, next, std::memory_order_relaxed));
  return next;
}

}  // namespace

std::string NewId() {
  std::string text(kIdLength, kIdCharacters.front());
  std::uint64_t number = NextNumber();
  for (auto digit = text.rbegin(); digit != text.rend(); ++digit) {
    *digit = kIdCharacters[number & 31U];
    number >>= 5U;
  }
  return text;
}

bool IsId(std::string_view text) {
  return text.size() == kIdLength && text.find_first_not_of(kIdCharacters) == text.npos;
}

}  // namespace truce
