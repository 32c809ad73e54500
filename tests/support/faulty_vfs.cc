#include "tests/support/faulty_vfs.h"

#include <sqlite3.h>

#include <cstring>
#include <limits>
#include <mutex>
#include <new>

#include "registry/base/assert.h"
#include "registry/store/sqlite/page_cache.h"
#include "registry/store/sqlite/vfs_layer.h"

namespace truce::testing {

struct FaultyVfs::State {
  sqlite3_vfs vfs{};
  sqlite3_vfs* real = nullptr;
  std::string name;
  mutable std::mutex mutex;
  std::uint64_t operations = 0;  // this and below guarded by mutex
  std::uint64_t fail_first = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t fail_last = 0;
  int code = SQLITE_OK;
  int read_code = SQLITE_OK;
  std::map<std::string, std::string> synced;

  // The code that the next operation fails with, or SQLITE_OK.
  int Next() {
    std::lock_guard lock(mutex);
    ++operations;
    return operations >= fail_first && operations <= fail_last ? code : SQLITE_OK;
  }

  int OfRead() const {
    std::lock_guard lock(mutex);
    return read_code;
  }

  void Set(std::uint64_t first, std::uint64_t last, int fault) {
    std::lock_guard lock(mutex);
    operations = 0;
    read_code = SQLITE_OK;
    fail_first = first;
    fail_last = last;
    code = fault;
  }

  // `content` is read under the lock: of two threads that sync one file the later one's counts.
  template <typename Content>
  void Synced(const std::string& path, const Content& content) {
    std::lock_guard lock(mutex);
    synced[path] = content();
  }
};

namespace {

struct File {
  FaultyVfs::State* state;
  std::string* path;  // null for files without a name
};

using Layer = VfsLayer<File>;

int Close(sqlite3_file* file) {
  delete Layer::Mine(file).path;
  Layer::Mine(file).path = nullptr;
  return Layer::Pass<&sqlite3_io_methods::xClose>(file);
}

int Read(sqlite3_file* file, void* data, int size, sqlite3_int64 offset) {
  const int fault = Layer::Mine(file).state->OfRead();
  if (fault != SQLITE_OK) return fault;
  return Layer::Pass<&sqlite3_io_methods::xRead>(file, data, size, offset);
}

int Write(sqlite3_file* file, const void* data, int size, sqlite3_int64 offset) {
  const int fault = Layer::Mine(file).state->Next();
  if (fault != SQLITE_OK) return fault;
  return Layer::Pass<&sqlite3_io_methods::xWrite>(file, data, size, offset);
}

int Truncate(sqlite3_file* file, sqlite3_int64 size) {
  const int fault = Layer::Mine(file).state->Next();
  if (fault != SQLITE_OK) return fault;
  return Layer::Pass<&sqlite3_io_methods::xTruncate>(file, size);
}

// Through the open file: opening and closing it once more would drop the process's locks on it.
std::string ContentOf(sqlite3_file* file) {
  sqlite3_int64 size = 0;
  TRUCE_ASSERT(Layer::Pass<&sqlite3_io_methods::xFileSize>(file, &size) == SQLITE_OK);
  std::string content(static_cast<std::size_t>(size), '\0');
  const int code = Layer::Pass<&sqlite3_io_methods::xRead, void*, int, sqlite3_int64>(
      file, content.data(), static_cast<int>(size), 0);
  TRUCE_ASSERT(code == SQLITE_OK || code == SQLITE_IOERR_SHORT_READ);
  return content;
}

int Sync(sqlite3_file* file, int flags) {
  const int fault = Layer::Mine(file).state->Next();
  if (fault != SQLITE_OK) return fault;
  const int code = Layer::Pass<&sqlite3_io_methods::xSync>(file, flags);
  if (code == SQLITE_OK && Layer::Mine(file).path != nullptr) {
    Layer::Mine(file).state->Synced(*Layer::Mine(file).path, [file] { return ContentOf(file); });
  }
  return code;
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

// NOLINTNEXTLINE(readability-function-size): SQLite's signature.
int Open(sqlite3_vfs* vfs, sqlite3_filename name, sqlite3_file* file, int flags, int* out_flags) {
  auto* const state = static_cast<FaultyVfs::State*>(vfs->pAppData);
  Layer::Mine(file).state = state;
  Layer::Mine(file).path = nullptr;
  const int code = state->real->xOpen(state->real, name, Layer::Real(file), flags, out_flags);
  file->pMethods = Layer::Real(file)->pMethods == nullptr ? nullptr : &kMethods;
  if (code == SQLITE_OK && name != nullptr) Layer::Mine(file).path = new std::string(name);
  return code;
}

int Delete(sqlite3_vfs* vfs, const char* name, int sync_folder) {
  auto* const state = static_cast<FaultyVfs::State*>(vfs->pAppData);
  const int code = state->real->xDelete(state->real, name, sync_folder);
  std::lock_guard lock(state->mutex);
  if (code == SQLITE_OK) state->synced.erase(name);
  return code;
}

}  // namespace

FaultyVfs::FaultyVfs() : state_(std::make_unique<State>()) {
  LayerPageCache();  // which SQLite takes only before its first use, and that is the next line
  state_->real = sqlite3_vfs_find(nullptr);
  TRUCE_ASSERT(state_->real != nullptr);
  state_->name = "faulty-" + std::to_string(std::hash<const void*>{}(state_.get()));
  Layer::Place(*state_->real, state_->name, state_->vfs);
  state_->vfs.pAppData = state_.get();
  state_->vfs.xOpen = Open;
  state_->vfs.xDelete = Delete;
  TRUCE_ASSERT(sqlite3_vfs_register(&state_->vfs, 0) == SQLITE_OK);
}

FaultyVfs::~FaultyVfs() { sqlite3_vfs_unregister(&state_->vfs); }

std::string FaultyVfs::name() const { return state_->name; }

std::uint64_t FaultyVfs::operations() const {
  std::lock_guard lock(state_->mutex);
  return state_->operations;
}

void FaultyVfs::FailFrom(std::uint64_t nth, int code) {
  state_->Set(nth, std::numeric_limits<std::uint64_t>::max(), code);
}

void FaultyVfs::FailOnce(std::uint64_t nth, int code) { state_->Set(nth, nth, code); }

void FaultyVfs::FailReads(int code) {
  std::lock_guard lock(state_->mutex);
  state_->read_code = code;
}

void FaultyVfs::Heal() { state_->Set(std::numeric_limits<std::uint64_t>::max(), 0, SQLITE_OK); }

std::map<std::string, std::string> FaultyVfs::AfterPowerCut() const {
  std::lock_guard lock(state_->mutex);
  return state_->synced;
}

}  // namespace truce::testing
