// The data directory: made at first start, and the file that says where the server listens.
#ifndef TRUCE_WEBHOOK_UPKEEP_DATA_DIR_H_
#define TRUCE_WEBHOOK_UPKEEP_DATA_DIR_H_

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "registry/base/clock.h"
#include "registry/base/result.h"
#include "webhook/metrics/metrics.h"

namespace truce {

// The data directory, held by this process until it is destroyed or the process ends.
class DataDir final {
 public:
  // Makes `directory` with its parents (mode 0700) unless it exists, checks that it can be written,
  // and locks it: a second server there would take over socket and addresses of the first. On a
  // full volume it lets DIR/reserve go: a start writes a little before it can answer anything.
  // Errors: kUnavailable (cannot be made, written or locked), kConflict (another server uses it);
  //   each names the directory, the cause and the setting.
  static Result<std::unique_ptr<DataDir>> Open(const std::string& directory);

  ~DataDir();
  DataDir(const DataDir&) = delete;
  DataDir& operator=(const DataDir&) = delete;

 private:
  explicit DataDir(int lock) : lock_(lock) {}

  const int lock_;
};

// Where the listeners really are, port 0 resolved.
struct ListenAddresses {
  std::string admission;
  std::string api;
  std::string metrics;
  std::string probes;
};

// Writes DIR/addresses.json: {"admission":"127.0.0.1:8443","api":…,"metrics":…,
// "probes":…}; replaced whole.
// Errors: kUnavailable.
Result<void> WriteAddresses(const std::string& directory, const ListenAddresses& addresses);

// Removes the file again; nothing listens there any more. Idempotent.
void RemoveAddresses(const std::string& directory);

// Takes back what DIR/reserve lacks of its size, as far as the volume has room: room that only a
// start gets, never a grant.
void KeepReserve(const std::string& directory);

// One line that says that the volume of `directory` is nearly full, with the remedy; empty: it is
// not.
std::string RoomProblem(const std::string& directory);

// Notes in DIR/backup.time when the last copy of the registry was taken. Only for a metric: a disk
// that takes no note hinders no copy.
void NoteBackup(const std::string& directory, Timestamp time);
// When that was, since 1970; zero: never.
std::chrono::seconds LastBackup(const std::string& directory);

// truce_volume_size_bytes and truce_volume_available_bytes: of the file system that holds
// `directory`. Nothing when they are not known.
void WriteVolumeMetrics(const std::string& directory, MetricWriter& writer);

// "127.0.0.1:0" and 40123 -> "127.0.0.1:40123".
std::string WithPort(std::string_view address, int port);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_UPKEEP_DATA_DIR_H_
