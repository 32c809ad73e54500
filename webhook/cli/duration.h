// Durations as people write them in arguments.
#ifndef TRUCE_WEBHOOK_CLI_DURATION_H_
#define TRUCE_WEBHOOK_CLI_DURATION_H_

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace truce {

struct CommandIo;

// "90m", "2h", "3d": at least one, at most 525,600 of the unit. Nothing: none of them.
std::optional<std::chrono::minutes> DurationFrom(std::string_view text);

// The time that --until or --for says; empty: neither. Nothing after a complaint, which names
// `examples` of durations.
std::optional<std::string> EndOf(const std::string& until, const std::string& duration,
                                 const char* examples, CommandIo& io);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_CLI_DURATION_H_
