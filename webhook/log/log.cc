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

// After a write the thread stays away from its queue for this long. So what a busy server logs is
// written in batches and wakes nobody: waking the thread and writing for each line costs a fifth of
// what a review costs. A line that follows a pause is written at once.
constexpr int kRestMilliseconds = 5;

// Writes lines to a descriptor. Runs on the logger's own thread, so it may wait for a slow reader;
// once the logger is being destroyed it waits for about a second in all, so that a reader that is
// stuck does not hold up the end of the process.
class DescriptorSink final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  // `queue` holds the lines that follow; it must live as long as lines come.
  DescriptorSink(int file, spdlog::details::thread_pool& queue) : file_(file), queue_(queue) {}
  void StopWaiting() { is_ending_.store(true); }

  // For the logger's thread, or when it has ended.
  void WriteBatch() {
    std::string_view rest = batch_;
    while (!rest.empty() && WaitWritable()) {
      // poll() promises room for this much in a pipe, so the write does not wait.
      const ssize_t written =
          ::write(file_, rest.data(), std::min<std::size_t>(rest.size(), PIPE_BUF));
      if (written > 0) rest.remove_prefix(static_cast<std::size_t>(written));
      if (written < 0 && errno != EINTR && errno != EAGAIN) break;  // nobody reads: nothing to do
    }
    batch_.clear();
  }

 private:
  static constexpr int kPollMilliseconds = 200;
  static constexpr int kPollsAtEndMax = 5;
  static constexpr std::size_t kBatchBytes = 64 * 1024;

  void sink_it_(const spdlog::details::log_msg& message) override {
    batch_.append(message.payload.data(), message.payload.size());
    batch_ += '\n';
    if (batch_.size() < kBatchBytes && queue_.queue_size() > 0) return;
    WriteBatch();
    if (!is_ending_.load()) ::poll(nullptr, 0, kRestMilliseconds);
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
  spdlog::details::thread_pool& queue_;
  std::string batch_;  // used by the logger's thread only, as is the next
  int polls_at_end_ = 0;
  std::atomic<bool> is_ending_{false};
};

}  // namespace

struct Logger::Impl {
  explicit Impl(const Options& options)
      : pool(std::make_shared<spdlog::details::thread_pool>(options.queue_lines_max, 1)),
        sink(std::make_shared<DescriptorSink>(options.file, *pool)),
        logger(std::make_shared<spdlog::async_logger>(
            "truce", sink, pool, spdlog::async_overflow_policy::overrun_oldest)) {}

  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() {
    sink->StopWaiting();
    logger.reset();
    pool.reset();  // ends when its thread has handled all lines
    sink->WriteBatch();
  }

  std::shared_ptr<spdlog::details::thread_pool> pool;
  std::shared_ptr<DescriptorSink> sink;
  std::shared_ptr<spdlog::async_logger> logger;
};

Logger::Logger(const Options& options, const Clock& clock)
    : options_(options), clock_(clock), impl_(std::make_unique<Impl>(options)) {}

Logger::~Logger() = default;

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
  constexpr std::size_t kUsualKeysBytes = 128;
  constexpr std::size_t kFieldsMax = 14;
  std::string keys;
  keys.reserve(kUsualKeysBytes);
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
  std::vector<LogField> fields;
  fields.reserve(kFieldsMax);
  fields.insert(fields.end(), {{"uid", record.uid},
                               {"operation", record.operation},
                               {"kind", record.kind},
                               {"slot", record.slot},
                               {"user", record.user},
                               {"keys", std::string_view(keys)},
                               {"verdict", record.verdict},
                               {"code", record.code},
                               {"latency_us", record.latency_microseconds}});
  if (!rules.empty()) fields.push_back({"rules", std::string_view(rules)});
  if (!record.cause.empty()) fields.push_back({"cause", record.cause});
  if (!record.detail.empty()) fields.push_back({"detail", record.detail});
  if (!record.override_reason.empty()) fields.push_back({"override", record.override_reason});
  if (record.dry_run) fields.push_back({"dry_run", true});
  logger.Log(level, "decision", std::span<const LogField>(fields));
}

}  // namespace truce
