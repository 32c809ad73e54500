#include "registry/base/clock.h"

#include <charconv>

namespace truce {
namespace {

std::optional<int> Digits(std::string_view text, std::size_t at, std::size_t count) {
  if (at + count > text.size()) return std::nullopt;
  int value = 0;
  for (std::size_t i = at; i < at + count; ++i) {
    if (text[i] < '0' || text[i] > '9') return std::nullopt;
    value = value * 10 + (text[i] - '0');
  }
  return value;
}

// Offset from UTC at the end of `text`: "Z" or "+hh:mm" or "-hh:mm".
std::optional<std::chrono::minutes> Offset(std::string_view text) {
  if (text == "Z" || text == "z") return std::chrono::minutes{0};
  if (text.size() != 6 || (text[0] != '+' && text[0] != '-') || text[3] != ':') return std::nullopt;
  const auto hours = Digits(text, 1, 2);
  const auto minutes = Digits(text, 4, 2);
  if (!hours || !minutes || *hours > 23 || *minutes > 59) return std::nullopt;
  const std::chrono::minutes offset{*hours * 60 + *minutes};
  return text[0] == '-' ? -offset : offset;
}

// Appends `number` with leading zeros to at least `width` digits, then `mark`.
void AppendNumber(std::string& out, int number, std::size_t width, char mark) {
  char digits[12];
  const char* const end = std::to_chars(digits, digits + sizeof digits, number).ptr;
  const auto count = static_cast<std::size_t>(end - digits);
  if (count < width) out.append(width - count, '0');
  out.append(digits, count).push_back(mark);
}

}  // namespace

std::string FormatTimestamp(Timestamp time) {
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date{day};
  const std::chrono::hh_mm_ss clock{std::chrono::floor<std::chrono::seconds>(time - day)};
  std::string out;
  out.reserve(24);
  AppendNumber(out, static_cast<int>(date.year()), 4, '-');
  AppendNumber(out, static_cast<int>(static_cast<unsigned>(date.month())), 2, '-');
  AppendNumber(out, static_cast<int>(static_cast<unsigned>(date.day())), 2, 'T');
  AppendNumber(out, static_cast<int>(clock.hours().count()), 2, ':');
  AppendNumber(out, static_cast<int>(clock.minutes().count()), 2, ':');
  AppendNumber(out, static_cast<int>(clock.seconds().count()), 2, 'Z');
  return out;
}

std::optional<Timestamp> ParseTimestamp(std::string_view text) {
  if (text.size() < 20 || text[4] != '-' || text[7] != '-' ||
      (text[10] != 'T' && text[10] != 't') || text[13] != ':' || text[16] != ':') {
    return std::nullopt;
  }
  const auto year = Digits(text, 0, 4), month = Digits(text, 5, 2), day = Digits(text, 8, 2);
  const auto hour = Digits(text, 11, 2), minute = Digits(text, 14, 2), second = Digits(text, 17, 2);
  if (!year || !month || !day || !hour || !minute || !second) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year{*year},
                                         std::chrono::month{static_cast<unsigned>(*month)},
                                         std::chrono::day{static_cast<unsigned>(*day)}};
  if (!date.ok() || *hour > 23 || *minute > 59 || *second > 60) return std::nullopt;
  std::size_t at = 19;
  int milliseconds = 0;
  if (text[at] == '.') {
    int scale = 100;
    const std::size_t first = ++at;
    for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at, scale /= 10) {
      milliseconds += (text[at] - '0') * scale;
    }
    if (at == first) return std::nullopt;
  }
  const auto offset = Offset(text.substr(at));
  if (!offset) return std::nullopt;
  return std::chrono::sys_days{date} + std::chrono::hours{*hour} + std::chrono::minutes{*minute} +
         std::chrono::seconds{*second} + std::chrono::milliseconds{milliseconds} - *offset;
}

Timestamp SystemClock::Now() const {
  return std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now());
}

}  // namespace truce
