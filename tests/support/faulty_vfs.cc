#include "tests/support/faulty_vfs.h"

#include <sqlite3.h>

#include <limits>
#include <mutex>
#include <new>

#include "registry/base/assert.h"
#include "tests/support/vfs_layer.h"

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
};

namespace {

struct File {
  FaultyVfs::State* state;
};

using Layer = VfsLayer<File>;

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

int Sync(sqlite3_file* file, int flags) {
  const int fault = Layer::Mine(file).state->Next();
  if (fault != SQLITE_OK) return fault;
  return Layer::Pass<&sqlite3_io_methods::xSync>(file, flags);
}

const sqlite3_io_methods kMethods = [] {
  sqlite3_io_methods methods = Layer::kPassAll;
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
  const int code = state->real->xOpen(state->real, name, Layer::Real(file), flags, out_flags);
  file->pMethods = Layer::Real(file)->pMethods == nullptr ? nullptr : &kMethods;
  return code;
}

}  // namespace

FaultyVfs::FaultyVfs() : state_(std::make_unique<State>()) {
  state_->real = sqlite3_vfs_find(nullptr);
  TRUCE_ASSERT(state_->real != nullptr);
  state_->name = "faulty-" + std::to_string(std::hash<const void*>{}(state_.get()));
  Layer::LayOver(*state_->real, state_->name, state_->vfs);
  state_->vfs.pAppData = state_.get();
  state_->vfs.xOpen = Open;
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

}  // namespace truce::testing
