#include "webhook/cli/duration.h"

#include <charconv>
#include <cstdint>
#include <system_error>

#include "registry/base/clock.h"
#include "webhook/cli/command.h"

namespace truce {

std::optional<std::chrono::minutes> DurationFrom(std::string_view text) {
  constexpr std::int64_t kCountMax = 525'600;
  std::int64_t count = 0;
  const char* end = text.data() + text.size();
  const auto [rest, code] = std::from_chars(text.data(), end, count);
  if (code != std::errc() || rest + 1 != end || count < 1 || count > kCountMax) return std::nullopt;
  switch (*rest) {
    case 'm': return std::chrono::minutes(count);
    case 'h': return std::chrono::hours(count);
    case 'd': return std::chrono::hours(24 * count);
    default: return std::nullopt;
  }
}

std::optional<std::string> EndOf(const std::string& until, const std::string& duration,
                                 const char* examples, CommandIo& io) {
  if (duration.empty()) return until;
  if (const auto minutes = DurationFrom(duration)) {
    return FormatTimestamp(SystemClock().Now() + *minutes);
  }
  Complain(io, "--for '" + duration + "' is not a time; write it as " + examples, ExitCode::kUsage);
  return std::nullopt;
}

}  // namespace truce
