#include "webhook/log/log.h"

#include <poll.h>
#include <spdlog/async_logger.h>
#include <spdlog/details/thread_pool.h>
#include <spdlog/sinks/base_sink.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <mutex>

namespace truce {
namespace {

// After a write the thread stays away from its lines for this long. So what a busy server logs is
// written in batches and wakes nobody: waking the thread and writing for each line costs a fifth of
// what a review costs. A line that follows a pause is written at once.
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

void Logger::Log(LogLevel level, std::string_view event, std::span<const LogField> fields) {
  if (!IsOn(level)) return;
  const std::string line = FormatLogLine({options_.format, level, clock_.Now(), event}, fields);
  if (impl_->sink->Add(line)) impl_->logger->log(spdlog::level::critical, "");
}

void Logger::Log(LogLevel level, std::string_view event, std::initializer_list<LogField> fields) {
  Log(level, event, std::span<const LogField>(fields.begin(), fields.size()));
}

std::uint64_t Logger::dropped_count() const { return impl_->sink->dropped(); }

void LogDecision(Logger& logger, const DecisionRecord& record) {
  const LogLevel level = record.verdict == "unknown" ? LogLevel::kWarning : LogLevel::kInfo;
  if (!logger.IsOn(level)) return;
  std::string rules;
  for (const std::string_view rule : record.rules) {
    rules.append(rules.empty() ? "" : ",").append(rule);
  }
  constexpr std::size_t kFieldsMax = 14;
  std::array<LogField, kFieldsMax> fields = {{{"uid", record.uid},
                                              {"operation", record.operation},
                                              {"kind", record.kind},
                                              {"slot", record.slot},
                                              {"user", record.user},
                                              {"keys", record.keys},
                                              {"verdict", record.verdict},
                                              {"code", record.code},
                                              {"latency_us", record.latency_microseconds}}};
  std::size_t count = 9;
  const auto add = [&](const LogField& field) { fields[count++] = field; };
  if (!rules.empty()) add({"rules", std::string_view(rules)});
  if (!record.cause.empty()) add({"cause", record.cause});
  if (!record.detail.empty()) add({"detail", record.detail});
  if (!record.override_reason.empty()) add({"override", record.override_reason});
  if (record.dry_run) add({"dry_run", true});
  logger.Log(level, "decision", std::span<const LogField>(fields).first(count));
}

}  // namespace truce
