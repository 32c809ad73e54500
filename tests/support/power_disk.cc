#include "tests/support/power_disk.h"

#include <sqlite3.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "registry/base/assert.h"
#include "tests/support/power_journal.h"
#include "tests/support/vfs_layer.h"

namespace truce::testing {
namespace {

namespace fs = std::filesystem;

std::string ContentOf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace

// Over the real files; what it does stands in the journal.
class JournaledFiles final : public Files {
 public:
  explicit JournaledFiles(PowerDisk::State& state) : state_(state) {}

  Result<void> Make(const std::string& path) override;
  Result<void> Copy(const std::string& from, const std::string& to) override;
  Result<void> Sync(const std::string& path) override;
  Result<void> Rename(const std::string& from, const std::string& to) override;
  Result<void> Link(const std::string& from, const std::string& to) override;
  Result<void> Remove(const std::string& path) override;

 private:
  template <typename Step>
  Result<void> Do(const Step& step);

  PowerDisk::State& state_;
};

struct PowerDisk::State {
  explicit State(const std::string& path) : folder(path), files(*this) {}

  // What one call of the journal's disk does; under the lock, with the fault it meets.
  template <typename Call>
  auto Do(bool is_read, const Call& call) {
    std::lock_guard lock(mutex);
    return call(is_read && !failing.reads ? std::optional<DiskFault>() : Next());
  }

  std::optional<DiskFault> Next() {
    ++calls;
    const bool fails = failing.for_good ? calls >= failing.nth : calls == failing.nth;
    return fails ? std::optional(failing.fault) : std::nullopt;
  }

  // A sync of that file failed: how many have so far.
  unsigned LoseSync(int file) {
    journal.LoseSync(file);
    return ++lost_syncs[file];
  }

  bool SyncIsLost(const std::string& name) {
    return lost_share > 0 && name.ends_with(lost_name_end) && random() % 1000 < lost_share;
  }

  // The name of a file of this disk; empty for others.
  std::string NameOf(const std::string& path) const {
    const fs::path file(path);
    return file.parent_path() == folder ? file.filename().string() : std::string();
  }

  const fs::path folder;
  sqlite3_vfs vfs{};
  sqlite3_vfs* real = nullptr;
  std::string vfs_name;
  mutable std::mutex mutex;
  PowerJournal journal;  // this and below guarded by mutex
  Failing failing{std::numeric_limits<std::uint64_t>::max(), DiskFault::kBroken, false, false};
  std::uint64_t calls = 0;
  std::string lost_name_end;
  unsigned lost_share = 0;
  std::mt19937_64 random;
  std::map<int, unsigned> lost_syncs;  // by file
  JournaledFiles files;
};

// Its functions have the names of those of other layers.
namespace power_layer {
namespace {

constexpr int kOtherFile = -1;

struct File {
  PowerDisk::State* state;
  std::string* name;
  int number;           // in the journal, or kOtherFile
  bool syncs_folder;    // with its next sync
  unsigned lost_syncs;  // of the file, that this one was told of or is younger than
};

using Layer = VfsLayer<File>;

int CodeOf(DiskFault fault, int broken) {
  return fault == DiskFault::kFull || fault == DiskFault::kShort ? SQLITE_FULL : broken;
}

int Close(sqlite3_file* file) {
  delete Layer::Mine(file).name;
  Layer::Mine(file).name = nullptr;
  return Layer::Pass<&sqlite3_io_methods::xClose>(file);
}

int Read(sqlite3_file* file, void* data, int size, sqlite3_int64 offset) {
  return Layer::Mine(file).state->Do(true, [&](std::optional<DiskFault> fault) {
    if (fault.has_value()) return SQLITE_IOERR_READ;
    return Layer::Pass<&sqlite3_io_methods::xRead>(file, data, size, offset);
  });
}

int WriteBoth(sqlite3_file* file, const void* data, int size, sqlite3_int64 offset) {
  const int code = Layer::Pass<&sqlite3_io_methods::xWrite>(file, data, size, offset);
  TRUCE_ASSERT(code == SQLITE_OK);
  const File& mine = Layer::Mine(file);
  mine.state->journal.Write(mine.number, static_cast<std::size_t>(offset),
                            {static_cast<const char*>(data), static_cast<std::size_t>(size)});
  return code;
}

int Write(sqlite3_file* file, const void* data, int size, sqlite3_int64 offset) {
  return Layer::Mine(file).state->Do(false, [&](std::optional<DiskFault> fault) {
    if (!fault.has_value()) return WriteBoth(file, data, size, offset);
    if (*fault == DiskFault::kShort) WriteBoth(file, data, size / 2, offset);
    return CodeOf(*fault, SQLITE_IOERR_WRITE);
  });
}

int Truncate(sqlite3_file* file, sqlite3_int64 size) {
  return Layer::Mine(file).state->Do(false, [&](std::optional<DiskFault> fault) {
    if (fault.has_value()) return CodeOf(*fault, SQLITE_IOERR_TRUNCATE);
    const int code = Layer::Pass<&sqlite3_io_methods::xTruncate>(file, size);
    const File& mine = Layer::Mine(file);
    mine.state->journal.Truncate(mine.number, static_cast<std::size_t>(size));
    return code;
  });
}

// The real files need no sync: the computer that runs the test keeps its power.
int Sync(sqlite3_file* file, int /*flags*/) {
  File& mine = Layer::Mine(file);
  PowerDisk::State& state = *mine.state;
  return state.Do(false, [&](std::optional<DiskFault> fault) {
    if (fault == DiskFault::kKilled) return SQLITE_IOERR_FSYNC;
    if (fault.has_value() || state.SyncIsLost(*mine.name)) {
      mine.lost_syncs = state.LoseSync(mine.number);
      return SQLITE_IOERR_FSYNC;
    }
    // Another one's sync failed, maybe with what was written here. Nothing is flushed then.
    const unsigned lost_syncs = state.lost_syncs[mine.number];
    if (std::exchange(mine.lost_syncs, lost_syncs) != lost_syncs) return SQLITE_IOERR_FSYNC;
    state.journal.Sync(mine.number);
    if (mine.syncs_folder) state.journal.SyncFolder();
    mine.syncs_folder = false;
    return SQLITE_OK;
  });
}

const sqlite3_io_methods kMethods = [] {
  sqlite3_io_methods methods = Layer::kPassAll;
  methods.xClose = Close;
  methods.xRead = Read;
  methods.xWrite = Write;
  methods.xTruncate = Truncate;
  methods.xSync = Sync;
  return methods;
}();

const sqlite3_io_methods kOtherMethods = [] {
  sqlite3_io_methods methods = Layer::kPassAll;
  methods.xClose = Close;
  return methods;
}();

// NOLINTNEXTLINE(readability-function-size): SQLite's signature.
int Open(sqlite3_vfs* vfs, sqlite3_filename name, sqlite3_file* file, int flags, int* out_flags) {
  auto* const state = static_cast<PowerDisk::State*>(vfs->pAppData);
  const std::string own = name == nullptr ? std::string() : state->NameOf(name);
  Layer::Mine(file) = File{state, nullptr, kOtherFile, false, 0};
  file->pMethods = nullptr;
  return state->Do(false, [&](std::optional<DiskFault> fault) {
    if (fault.has_value() && !own.empty()) return SQLITE_CANTOPEN;
    const int code = state->real->xOpen(state->real, name, Layer::Real(file), flags, out_flags);
    if (Layer::Real(file)->pMethods == nullptr) return code;
    file->pMethods = &kOtherMethods;
    if (code != SQLITE_OK || own.empty()) return code;
    constexpr int kLogs = SQLITE_OPEN_WAL | SQLITE_OPEN_MAIN_JOURNAL;
    const int number = state->journal.Make(own);
    Layer::Mine(file) =
        File{state, new std::string(own), number, (flags & kLogs) != 0, state->lost_syncs[number]};
    file->pMethods = &kMethods;
    return code;
  });
}

int Delete(sqlite3_vfs* vfs, const char* name, int sync_folder) {
  auto* const state = static_cast<PowerDisk::State*>(vfs->pAppData);
  return state->Do(false, [&](std::optional<DiskFault> fault) {
    if (fault.has_value()) return SQLITE_IOERR_DELETE;
    const int code = state->real->xDelete(state->real, name, 0);
    if (code != SQLITE_OK) return code;
    state->journal.Remove(state->NameOf(name));
    if (sync_folder != 0) state->journal.SyncFolder();
    return code;
  });
}

}  // namespace
}  // namespace power_layer

template <typename Step>
Result<void> JournaledFiles::Do(const Step& step) {
  return state_.Do(false, [&](std::optional<DiskFault> fault) -> Result<void> {
    if (!fault.has_value()) return step(state_.journal);
    return Error{ErrorCode::kUnavailable,
                 *fault == DiskFault::kFull ? "No space left on device" : "Input/output error"};
  });
}

Result<void> JournaledFiles::Make(const std::string& path) {
  return Do([&](PowerJournal& journal) -> Result<void> {
    TRUCE_RETURN_IF_ERROR(RealFiles().Make(path));
    journal.Make(state_.NameOf(path));
    return {};
  });
}

Result<void> JournaledFiles::Copy(const std::string& from, const std::string& to) {
  return Do([&](PowerJournal& journal) -> Result<void> {
    TRUCE_RETURN_IF_ERROR(RealFiles().Copy(from, to));
    const int file = journal.Make(state_.NameOf(to));
    journal.Truncate(file, 0);
    journal.Write(file, 0, ContentOf(to));
    return {};
  });
}

Result<void> JournaledFiles::Sync(const std::string& path) {
  return Do([&](PowerJournal& journal) -> Result<void> {
    if (fs::path(path) == state_.folder) {
      journal.SyncFolder();
      return {};
    }
    const std::string name = state_.NameOf(path);
    const int file = journal.Make(name);
    if (!state_.SyncIsLost(name)) {
      journal.Sync(file);
      return {};
    }
    state_.LoseSync(file);
    return Error{ErrorCode::kUnavailable, path + ": Input/output error"};
  });
}

Result<void> JournaledFiles::Rename(const std::string& from, const std::string& to) {
  return Do([&](PowerJournal& journal) -> Result<void> {
    TRUCE_RETURN_IF_ERROR(RealFiles().Rename(from, to));
    journal.Rename(state_.NameOf(from), state_.NameOf(to));
    return {};
  });
}

Result<void> JournaledFiles::Link(const std::string& from, const std::string& to) {
  return Do([&](PowerJournal& journal) -> Result<void> {
    TRUCE_RETURN_IF_ERROR(RealFiles().Link(from, to));
    journal.Link(state_.NameOf(from), state_.NameOf(to));
    return {};
  });
}

Result<void> JournaledFiles::Remove(const std::string& path) {
  return Do([&](PowerJournal& journal) -> Result<void> {
    TRUCE_RETURN_IF_ERROR(RealFiles().Remove(path));
    journal.Remove(state_.NameOf(path));
    return {};
  });
}

PowerDisk::PowerDisk(const std::string& folder) : state_(std::make_unique<State>(folder)) {
  state_->real = sqlite3_vfs_find(nullptr);
  TRUCE_ASSERT(state_->real != nullptr);
  state_->vfs_name = "power-" + std::to_string(std::hash<const void*>{}(state_.get()));
  power_layer::Layer::LayOver(*state_->real, state_->vfs_name, state_->vfs);
  state_->vfs.pAppData = state_.get();
  state_->vfs.xOpen = power_layer::Open;
  state_->vfs.xDelete = power_layer::Delete;
  TRUCE_ASSERT(sqlite3_vfs_register(&state_->vfs, 0) == SQLITE_OK);
  for (const auto& entry : fs::directory_iterator(folder)) {
    const int file = state_->journal.Make(entry.path().filename().string());
    state_->journal.Write(file, 0, ContentOf(entry.path().string()));
    state_->journal.Sync(file);
  }
  state_->journal.SyncFolder();
}

PowerDisk::~PowerDisk() { sqlite3_vfs_unregister(&state_->vfs); }

std::string PowerDisk::vfs() const { return state_->vfs_name; }

Files& PowerDisk::files() { return state_->files; }

void PowerDisk::Note(const std::string& what) {
  std::lock_guard lock(state_->mutex);
  state_->journal.Note(what);
}

std::size_t PowerDisk::length() const {
  std::lock_guard lock(state_->mutex);
  return state_->journal.length();
}

Remains PowerDisk::CutAt(std::size_t moment, Keep keep, std::mt19937_64& random) const {
  std::lock_guard lock(state_->mutex);
  return state_->journal.CutAt(moment, keep, random);
}

void PowerDisk::LoseSyncs(const std::string& name_end, unsigned of_thousand, std::uint64_t seed) {
  std::lock_guard lock(state_->mutex);
  state_->lost_name_end = name_end;
  state_->lost_share = of_thousand;
  state_->random.seed(seed);
}

void PowerDisk::Fail(const Failing& failing) {
  std::lock_guard lock(state_->mutex);
  state_->failing = failing;
  state_->calls = 0;
}

std::uint64_t PowerDisk::calls() const {
  std::lock_guard lock(state_->mutex);
  return state_->calls;
}

void PowerDisk::Heal() {
  Fail({std::numeric_limits<std::uint64_t>::max(), DiskFault::kBroken, false, false});
}

std::unique_ptr<Connection> OpenOn(const std::string& file, const std::string& vfs) {
  ConnectionOptions options;
  options.path = file;
  options.vfs = vfs;
  auto opened = Connection::Open(options);
  TRUCE_ASSERT(opened.ok());
  return std::move(opened).value();
}

void PutInto(const std::string& folder, const Remains& remains) {
  for (const auto& [name, content] : remains.files) {
    std::ofstream(fs::path(folder) / name, std::ios::binary) << content;
  }
}

}  // namespace truce::testing
