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
#include <mutex>

namespace truce {
namespace {

// Writes lines to a descriptor. Runs on the logger's own thread, so it may wait for a slow reader;
// once the logger is being destroyed it waits for about a second in all, so that a reader that is
// stuck does not hold up the end of the process.
class DescriptorSink final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  explicit DescriptorSink(int file) : file_(file) {}
  void StopWaiting() { is_ending_.store(true); }

 private:
  static constexpr int kPollMilliseconds = 200;
  static constexpr int kPollsAtEndMax = 5;

  void sink_it_(const spdlog::details::log_msg& message) override {
    std::string line(message.payload.data(), message.payload.size());
    line += '\n';
    std::string_view rest = line;
    while (!rest.empty() && WaitWritable()) {
      // poll() promises room for this much in a pipe, so the write does not wait.
      const ssize_t written =
          ::write(file_, rest.data(), std::min<std::size_t>(rest.size(), PIPE_BUF));
      if (written > 0) rest.remove_prefix(static_cast<std::size_t>(written));
      if (written < 0 && errno != EINTR && errno != EAGAIN) return;  // nobody reads: nothing to do
    }
  }
  void flush_() override {}

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
  int polls_at_end_ = 0;  // used by the logger's thread only
  std::atomic<bool> is_ending_{false};
};

}  // namespace

struct Logger::Impl {
  explicit Impl(const Options& options)
      : sink(std::make_shared<DescriptorSink>(options.file)),
        pool(std::make_shared<spdlog::details::thread_pool>(options.queue_lines_max, 1)),
        logger(std::make_shared<spdlog::async_logger>(
            "truce", sink, pool, spdlog::async_overflow_policy::overrun_oldest)) {}

  std::shared_ptr<DescriptorSink> sink;
  std::shared_ptr<spdlog::details::thread_pool> pool;
  std::shared_ptr<spdlog::async_logger> logger;
};

Logger::Logger(const Options& options, const Clock& clock)
    : options_(options), clock_(clock), impl_(std::make_unique<Impl>(options)) {}

Logger::~Logger() { impl_->sink->StopWaiting(); }

void Logger::Log(LogLevel level, std::string_view event, std::span<const LogField> fields) {
  if (!IsOn(level)) return;
  const std::string line = FormatLogLine({options_.format, level, clock_.Now(), event}, fields);
  impl_->logger->log(spdlog::level::critical, spdlog::string_view_t(line.data(), line.size()));
}

void Logger::Log(LogLevel level, std::string_view event, std::initializer_list<LogField> fields) {
  Log(level, event, std::span<const LogField>(fields.begin(), fields.size()));
}

std::uint64_t Logger::dropped_count() const { return impl_->pool->overrun_counter(); }

void LogDecision(Logger& logger, const DecisionRecord& record) {
  const LogLevel level = record.verdict == "unknown" ? LogLevel::kWarning : LogLevel::kInfo;
  if (!logger.IsOn(level)) return;
  constexpr std::size_t kKeysNamedMax = 16;
  std::string keys;
  for (std::size_t i = 0; i < record.keys.size() && i < kKeysNamedMax; ++i) {
    keys.append(i == 0 ? "" : " ").append(record.keys[i]);
  }
  if (record.keys.size() > kKeysNamedMax) {
    keys.append(" and ").append(std::to_string(record.keys.size() - kKeysNamedMax)).append(" more");
  }
  std::string rules;
  for (const std::string_view rule : record.rules) {
    rules.append(rules.empty() ? "" : ",").append(rule);
  }
  std::vector<LogField> fields = {{"uid", record.uid},
                                  {"operation", record.operation},
                                  {"kind", record.kind},
                                  {"slot", record.slot},
                                  {"user", record.user},
                                  {"keys", std::string_view(keys)},
                                  {"verdict", record.verdict},
                                  {"code", record.code},
                                  {"latency_us", record.latency_microseconds}};
  if (!rules.empty()) fields.push_back({"rules", std::string_view(rules)});
  if (!record.cause.empty()) fields.push_back({"cause", record.cause});
  if (!record.detail.empty()) fields.push_back({"detail", record.detail});
  if (!record.override_reason.empty()) fields.push_back({"override", record.override_reason});
  if (record.dry_run) fields.push_back({"dry_run", true});
  logger.Log(level, "decision", std::span<const LogField>(fields));
}

}  // namespace truce
