#include "webhook/upkeep/disk_failure.h"

#include <sys/stat.h>

#include <chrono>
#include <string_view>

#include "registry/base/file.h"

namespace truce {
namespace {

std::string FileIn(const std::string& data_dir) { return data_dir + "/disk.failure"; }

}  // namespace

Result<void> NoteDiskFailure(const std::string& data_dir, Timestamp time) {
  return ReplaceFile(FileIn(data_dir), FormatTimestamp(time) + "\n", S_IRUSR | S_IWUSR);
}

std::optional<Timestamp> LastDiskFailure(const std::string& data_dir) {
  const Result<std::string> text = ReadSmallFile(FileIn(data_dir));
  if (!text.ok()) return std::nullopt;
  return ParseTimestamp(text.value().substr(0, text.value().find('\n')));
}

void DiskFailures::Begin(const std::string& data_dir) { last_ = LastDiskFailure(data_dir); }

bool DiskFailures::MustEnd(const std::string& data_dir) {
  const std::optional<Error> failure = store_.FatalFailure();
  if (!failure.has_value()) return false;
  logger_.Log(LogLevel::kError, "disk failed", {{"message", std::string_view(failure->message)}});
  const Result<void> noted = NoteDiskFailure(data_dir, clock_.Now());
  if (!noted.ok()) {
    logger_.Log(LogLevel::kWarning, "disk failure not noted",
                {{"message", std::string_view(noted.error().message)}});
  }
  return true;
}

void DiskFailures::WriteMetrics(MetricWriter& writer) const {
  writer.Family("truce_disk_failure_timestamp_seconds");
  const auto since = last_.has_value() ? last_->time_since_epoch() : Timestamp::duration::zero();
  writer.Sample(
      static_cast<double>(std::chrono::duration_cast<std::chrono::seconds>(since).count()));
}

}  // namespace truce
