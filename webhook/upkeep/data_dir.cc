#include "webhook/upkeep/data_dir.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <optional>
#include <system_error>

#include "registry/base/file.h"

namespace truce {
namespace {

constexpr std::string_view kAddressesFile = "/addresses.json";

constexpr std::uint64_t kReserveBytes = 16ULL << 20;
constexpr std::uint64_t kReserveStep = 256ULL << 10;
constexpr std::uint64_t kFullBelow = 1ULL << 20;

std::string ReserveIn(const std::string& directory) { return directory + "/reserve"; }

struct Room {
  std::uint64_t free = 0;
  std::uint64_t reserve = 0;  // how large the reserve is to be
};

// Nothing when it is not known.
std::optional<Room> RoomIn(const std::string& directory) {
  struct statvfs volume {};
  if (statvfs(directory.c_str(), &volume) != 0) return std::nullopt;
  constexpr std::uint64_t kShare = 16;  // of a small volume
  return Room{volume.f_bavail * volume.f_frsize,
              std::min<std::uint64_t>(kReserveBytes, volume.f_blocks * volume.f_frsize / kShare)};
}

Error CannotUse(const std::string& directory, std::string_view cause) {
  return Error{ErrorCode::kUnavailable, "data directory '" + directory +
                                            "' cannot be used: " + std::string(cause) +
                                            "; set --data-dir to one that can be written"};
}

}  // namespace

Result<std::unique_ptr<DataDir>> DataDir::Open(const std::string& directory) {
  std::error_code error;
  const bool existed = std::filesystem::exists(directory, error);
  if (!existed) std::filesystem::create_directories(directory, error);
  if (error) return CannotUse(directory, error.message());
  if (!std::filesystem::is_directory(directory, error)) {
    return CannotUse(directory, "it is not a directory");
  }
  if (!existed && ::chmod(directory.c_str(), S_IRWXU) != 0) {
    return CannotUse(directory, std::strerror(errno));
  }
  // A file tells more than the permission bits: read-only file systems, quotas, other users'
  // rights.
  std::string probe = directory + "/.probe-XXXXXX";
  const int file = ::mkstemp(probe.data());
  if (file < 0) return CannotUse(directory, std::strerror(errno));
  ::close(file);
  ::unlink(probe.c_str());

  const int lock =
      ::open((directory + "/serve.lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (lock < 0) return CannotUse(directory, std::strerror(errno));
  std::unique_ptr<DataDir> held(new DataDir(lock));
  if (::flock(lock, LOCK_EX | LOCK_NB) == 0) {
    const auto room = RoomIn(directory);
    if (room && room->free < room->reserve) ::unlink(ReserveIn(directory).c_str());
    return held;
  }
  if (errno != EWOULDBLOCK) return CannotUse(directory, std::strerror(errno));
  return Error{ErrorCode::kConflict, "data directory '" + directory +
                                         "' is in use by another truce serve; end it, or set "
                                         "--data-dir to another one"};
}

DataDir::~DataDir() { ::close(lock_); }

Result<void> WriteAddresses(const std::string& directory, const ListenAddresses& addresses) {
  const std::string text = "{\"admission\":\"" + addresses.admission + "\",\"api\":\"" +
                           addresses.api + "\",\"metrics\":\"" + addresses.metrics +
                           "\",\"probes\":\"" + addresses.probes + "\"}\n";
  return ReplaceFile(directory + std::string(kAddressesFile), text,
                     S_IRUSR | S_IWUSR | S_IRGRP | S_IROTH);
}

void RemoveAddresses(const std::string& directory) {
  ::unlink((directory + std::string(kAddressesFile)).c_str());
}

void KeepReserve(const std::string& directory) {
  const auto room = RoomIn(directory);
  if (!room) return;
  const int file =
      ::open(ReserveIn(directory).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (file < 0) return;
  struct stat status {};
  std::uint64_t size =
      ::fstat(file, &status) == 0 ? static_cast<std::uint64_t>(status.st_size) : room->reserve;
  while (size < room->reserve) {
    const std::uint64_t step = std::min(kReserveStep, room->reserve - size);
    // A step that fails may leave part of it behind, and nothing notices the rest.
    if (::posix_fallocate(file, static_cast<off_t>(size), static_cast<off_t>(step)) != 0) break;
    size += step;
  }
  ::close(file);
}

std::string RoomProblem(const std::string& directory) {
  const auto room = RoomIn(directory);
  if (!room || room->free >= kFullBelow) return {};
  return "the volume of the data directory " + directory + " is full (" +
         std::to_string(room->free >> 10) +
         " KiB are free): make room or enlarge it; until then new grants get no verdict, and what "
         "is taken stays refused";
}

void NoteBackup(const std::string& directory, Timestamp time) {
  static_cast<void>(
      ReplaceFile(directory + "/backup.time", FormatTimestamp(time) + "\n", S_IRUSR | S_IWUSR)
          .ok());
}

std::chrono::seconds LastBackup(const std::string& directory) {
  const Result<std::string> note = ReadSmallFile(directory + "/backup.time");
  const std::string text = note.ok() ? note.value().substr(0, note.value().find('\n')) : "";
  return std::chrono::floor<std::chrono::seconds>(
      ParseTimestamp(text).value_or(Timestamp{}).time_since_epoch());
}

void WriteVolumeMetrics(const std::string& directory, MetricWriter& writer) {
  struct statvfs volume {};
  if (statvfs(directory.c_str(), &volume) != 0) return;
  const auto bytes = static_cast<double>(volume.f_frsize);
  writer.Family("truce_volume_size_bytes");
  writer.Sample(bytes * static_cast<double>(volume.f_blocks));
  writer.Family("truce_volume_available_bytes");
  writer.Sample(bytes * static_cast<double>(volume.f_bavail));
}

std::string WithPort(std::string_view address, int port) {
  return std::string(address.substr(0, address.rfind(':') + 1)) + std::to_string(port);
}

}  // namespace truce
