// Logging: one structured line per event, as text or JSON, to standard error.
//
// A line that would have to wait is dropped and counted: logging never blocks a request and never
// changes a verdict. Nobody logs object bodies, tokens or secrets.
#ifndef TRUCE_WEBHOOK_LOG_LOG_H_
#define TRUCE_WEBHOOK_LOG_LOG_H_

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "registry/base/clock.h"

namespace truce {

enum class LogFormat : std::uint8_t { kText, kJson };
enum class LogLevel : std::uint8_t { kDebug, kInfo, kWarning, kError };

// "text", "json"; "debug", "info", "warning", "error".
std::string_view Name(LogFormat format);
std::string_view Name(LogLevel level);

// A name and value of a line. Names are lower_snake_case constants; values are escaped and cut at
// kLogValueBytesMax bytes.
struct LogField {
  std::string_view name;
  std::variant<std::string_view, std::int64_t, bool> value;
};

inline constexpr std::size_t kLogValueBytesMax = 2048;

// The line without its newline: "2026-11-21T07:52:08Z info listening address=127.0.0.1:8443" or the
// same as a JSON object with members time, level, event and the fields. Control characters, quotes
// and bytes that are not UTF-8 are escaped, so that a line is always one line and valid JSON.
struct LogLine {
  LogFormat format;
  LogLevel level;
  Timestamp time;
  std::string_view event;
};
std::string FormatLogLine(const LogLine& line, std::span<const LogField> fields);

// Where lines go. Thread-safe.
class Logger final {
 public:
  struct Options {
    LogFormat format = LogFormat::kText;
    LogLevel level = LogLevel::kInfo;  // lines below are not written
    int file = 2;                      // descriptor that lines are written to; not closed
    std::size_t queue_bytes_max = 4 * 1024 * 1024;
  };

  Logger(const Options& options, const Clock& clock);
  ~Logger();  // writes what is queued
  Logger(const Logger&) = delete;
  Logger& operator=(const Logger&) = delete;

  // Queues one line; `event` is a short constant ("decision", "listening"). Never blocks on output.
  void Log(LogLevel level, std::string_view event, std::initializer_list<LogField> fields);
  void Log(LogLevel level, std::string_view event, std::span<const LogField> fields);

  bool IsOn(LogLevel level) const;

  // Lines lost because the queue was full, since the start.
  std::uint64_t dropped_count() const;

 private:
  struct Impl;

  const Options options_;
  const Clock& clock_;
  std::unique_ptr<Impl> impl_;
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_LOG_LOG_H_
