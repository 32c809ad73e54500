// Durations as people write them in arguments.
#ifndef TRUCE_WEBHOOK_CLI_DURATION_H_
#define TRUCE_WEBHOOK_CLI_DURATION_H_

#include <chrono>
#include <optional>
#include <string_view>

namespace truce {

// "90m", "2h", "3d": at least one, at most 525,600 of the unit. Nothing: none of them.
std::optional<std::chrono::minutes> DurationFrom(std::string_view text);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_CLI_DURATION_H_
