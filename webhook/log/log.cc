#include "webhook/log/log.h"

#include <poll.h>
#include <spdlog/async_logger.h>
#include <spdlog/details/thread_pool.h>
#include <spdlog/sinks/base_sink.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <mutex>

#include "registry/base/name_table.h"
#include "registry/base/one_line.h"
#include "registry/base/plain_run.h"
#include "registry/base/text.h"

namespace truce {
namespace {

constexpr NameTable<LogFormat::kJson> kLogFormats("text", "json");
constexpr NameTable<LogLevel::kError> kLogLevels("debug", "info", "warning", "error");

// Room for most lines.
constexpr std::size_t kUsualLineBytes = 768;

void AppendEscape(std::string& out, std::uint32_t unit) {
  out += "\\u";
  AppendHex(static_cast<unsigned char>(unit >> 8U), out);
  AppendHex(static_cast<unsigned char>(unit & 0xFFU), out);
}

// As JSON has it: characters beyond the first plane in two units.
void AppendEscapedCharacter(std::string& out, std::uint32_t code) {
  constexpr std::uint32_t kFirstPlane = 0x10000;
  if (code < kFirstPlane) return AppendEscape(out, code);
  AppendEscape(out, 0xD800 + ((code - kFirstPlane) >> 10U));
  AppendEscape(out, 0xDC00 + ((code - kFirstPlane) & 0x3FFU));
}

// Appends a JSON string's content.
void AppendEscaped(std::string& out, std::string_view text) {
  const bool is_cut = text.size() > kLogValueBytesMax;
  text = text.substr(0, kLogValueBytesMax);
  while (!text.empty()) {
    const std::size_t plain = PlainRun<Quotes::kOdd>(text);
    out.append(text.substr(0, plain));
    text.remove_prefix(plain);
    if (text.empty()) break;
    const auto byte = static_cast<unsigned char>(text[0]);
    const auto [length, code] = FirstCharacter(text);
    if (text[0] == '"' || text[0] == '\\') {
      out += '\\';
      out += text[0];
    } else if (length == 0) {
      AppendEscape(out, byte);
    } else if (IsInvisible(code)) {
      AppendEscapedCharacter(out, code);
    } else {
      out.append(text.substr(0, length));
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  if (is_cut) out += "…";
}

bool NeedsQuotes(std::string_view text) {
  if (text.empty() || text.size() > kLogValueBytesMax) return true;
  return text.find(' ') != std::string_view::npos || text.find('=') != std::string_view::npos ||
         PlainRun<Quotes::kOdd>(text) < text.size();
}

void AppendQuoted(std::string& out, std::string_view text) {
  out += '"';
  AppendEscaped(out, text);
  out += '"';
}

void AppendValue(std::string& out, const LogField& field, LogFormat format) {
  if (const auto* number = std::get_if<std::int64_t>(&field.value)) {
    out += std::to_string(*number);
  } else if (const auto* boolean = std::get_if<bool>(&field.value)) {
    out += *boolean ? "true" : "false";
  } else {
    const std::string_view text = std::get<std::string_view>(field.value);
    if (format == LogFormat::kJson || NeedsQuotes(text)) {
      AppendQuoted(out, text);
    } else {
      out += text;
    }
  }
}

std::string FormatJson(const LogLine& line, std::span<const LogField> fields) {
  std::string out;
  out.reserve(kUsualLineBytes);
  out.append("{\"time\":\"").append(FormatTimestamp(line.time)).append("\",\"level\":\"");
  out.append(Name(line.level)).append("\",\"event\":");
  AppendQuoted(out, line.event);
  for (const LogField& field : fields) {
    out += ',';
    AppendQuoted(out, field.name);
    out += ':';
    AppendValue(out, field, LogFormat::kJson);
  }
  out += '}';
  return out;
}

// After a write the thread stays away from its lines for this long. So a busy server's lines are
// written in batches and wake nobody: waking the thread and writing for each line costs a fifth of
// a review. A line that follows a pause is written at once.
constexpr int kRestMilliseconds = 5;

// Lines that wait, in one text: a queue of lines costs each of them copies and an allocation that
// another thread frees. Writes them to a descriptor on the logger's own thread, so it may wait for
// a slow reader; once the logger is being destroyed it waits for about a second in all, so that a
// reader that is stuck does not hold up the end of the process.
class LineSink final : public spdlog::sinks::base_sink<spdlog::details::null_mutex> {
 public:
  LineSink(int file, std::size_t bytes_max) : file_(file), bytes_max_(bytes_max) {}
  void StopWaiting() { is_ending_.store(true); }
  std::uint64_t dropped() const { return dropped_.load(); }

  // True for the first line that waits: the thread is to be called.
  bool Add(std::string_view line) {
    const std::lock_guard lock(mutex_);
    if (waiting_.size() + line.size() + 1 > bytes_max_) {
      dropped_.fetch_add(1);
      return false;
    }
    const bool is_first = waiting_.empty();
    waiting_.append(line) += '\n';
    // Has the caches bring where the next line will be: else giving back the lock waits for it.
    constexpr std::size_t kLineBytes = 64;
    const char* const end = waiting_.data() + waiting_.size();
    const std::size_t room = std::min(line.size(), waiting_.capacity() - waiting_.size());
    for (std::size_t at = 0; at < room; at += kLineBytes) __builtin_prefetch(end + at, 1);
    return is_first;
  }

 private:
  static constexpr int kPollMilliseconds = 200;
  static constexpr int kPollsAtEndMax = 5;

  void sink_it_(const spdlog::details::log_msg& /*call*/) override {
    {
      const std::lock_guard lock(mutex_);
      batch_.swap(waiting_);
    }
    Write(batch_);
    batch_.clear();
    if (!is_ending_.load()) ::poll(nullptr, 0, kRestMilliseconds);
  }
  void flush_() override {}

  void Write(std::string_view rest) {
    while (!rest.empty() && WaitWritable()) {
      // poll() promises room for this much in a pipe, so the write does not wait.
      const ssize_t written =
          ::write(file_, rest.data(), std::min<std::size_t>(rest.size(), PIPE_BUF));
      if (written > 0) rest.remove_prefix(static_cast<std::size_t>(written));
      if (written < 0 && errno != EINTR && errno != EAGAIN) break;  // nobody reads: nothing to do
    }
  }

  bool WaitWritable() {
    while (polls_at_end_ < kPollsAtEndMax) {
      pollfd entry{file_, POLLOUT, 0};
      const int ready = ::poll(&entry, 1, kPollMilliseconds);
      if (ready > 0) return true;
      if (is_ending_.load()) ++polls_at_end_;
    }
    return false;
  }

  const int file_;
  const std::size_t bytes_max_;
  std::atomic<std::uint64_t> dropped_{0};
  std::atomic<bool> is_ending_{false};
  std::mutex mutex_;
  std::string waiting_;  // guarded by mutex_
  std::string batch_;    // used by the logger's thread only, as is the next
  int polls_at_end_ = 0;
};

// Calls of the thread: one runs and one waits at most.
constexpr std::size_t kCallsMax = 8;

}  // namespace

std::string_view Name(LogFormat format) { return kLogFormats.Of(format); }

std::string_view Name(LogLevel level) { return kLogLevels.Of(level); }

std::string FormatLogLine(const LogLine& line, std::span<const LogField> fields) {
  if (line.format == LogFormat::kJson) return FormatJson(line, fields);
  std::string out;
  out.reserve(kUsualLineBytes);
  out.append(FormatTimestamp(line.time)).append(" ").append(Name(line.level)).append(" ");
  AppendEscaped(out, line.event);
  for (const LogField& field : fields) {
    out.append(" ").append(field.name).append("=");
    AppendValue(out, field, LogFormat::kText);
  }
  return out;
}

struct Logger::Impl {
  explicit Impl(const Options& options)
      : pool(std::make_shared<spdlog::details::thread_pool>(kCallsMax, 1)),
        sink(std::make_shared<LineSink>(options.file, options.queue_bytes_max)),
        logger(std::make_shared<spdlog::async_logger>("truce", sink, pool)) {}

  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() {
    sink->StopWaiting();
    pool.reset();  // ends when its thread has handled all calls; those use the logger
  }

  std::shared_ptr<spdlog::details::thread_pool> pool;
  std::shared_ptr<LineSink> sink;
  std::shared_ptr<spdlog::async_logger> logger;
};

Logger::Logger(const Options& options, const Clock& clock)
    : options_(options), clock_(clock), impl_(std::make_unique<Impl>(options)) {}

Logger::~Logger() = default;

bool Logger::IsOn(LogLevel level) const { return level >= options_.level; }

void Logger::Log(LogLevel level, std::string_view event, std::span<const LogField> fields) {
  if (!IsOn(level)) return;
  const std::string line = FormatLogLine({options_.format, level, clock_.Now(), event}, fields);
  if (impl_->sink->Add(line)) impl_->logger->log(spdlog::level::critical, "");
}

void Logger::Log(LogLevel level, std::string_view event, std::initializer_list<LogField> fields) {
  Log(level, event, std::span<const LogField>(fields.begin(), fields.size()));
}

std::uint64_t Logger::dropped_count() const { return impl_->sink->dropped(); }

}  // namespace truce
