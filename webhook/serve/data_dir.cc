#include "webhook/serve/data_dir.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "registry/base/file.h"

namespace truce {
namespace {

constexpr std::string_view kAddressesFile = "/addresses.json";

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
  if (::flock(lock, LOCK_EX | LOCK_NB) == 0) return held;
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

bool IsLoopbackAddress(std::string_view address) {
  const std::string_view host = address.substr(0, address.rfind(':'));
  return host.starts_with("127.") || host == "localhost" || host == "[::1]";
}

}  // namespace truce
