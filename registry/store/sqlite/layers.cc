#include "registry/store/sqlite/layers.h"

#include <sqlite3.h>

#include <exception>
#include <functional>
#include <new>
#include <type_traits>
#include <utility>

#include "registry/store/sqlite/vfs_layer.h"

namespace truce {

struct WritingVfs::State {
  static int Open(sqlite3_vfs* vfs, sqlite3_filename name, sqlite3_file* file, int flags,
                  int* out_flags);

  sqlite3_vfs vfs{};  // first: what SQLite hands to Open is the state too
  sqlite3_vfs* real = nullptr;
  std::string name;
  int pages_per_sync = 0;
  std::shared_ptr<LostSync> lost_sync;
};

namespace {

// SQLite's layer for Unix cuts larger writes off.
constexpr std::size_t kGatheredBytesMax = 0x1FFFF;

// Bytes of the log that SQLite has written and the file below has not.
struct Gathered {
  std::string bytes;
  sqlite3_int64 begin = 0;  // where in the file
};

struct File {
  Gathered* gathered;         // of the log; else null
  const int* pages_per_sync;  // of the layer
  LostSync* lost_sync;        // the same
  int unsynced;               // pages of the database, when they are counted
};

using Layer = VfsLayer<File>;

int Flush(sqlite3_file* file) {
  Gathered& gathered = *Layer::Mine(file).gathered;
  if (gathered.bytes.empty()) return SQLITE_OK;
  const int code = Layer::Pass<&sqlite3_io_methods::xWrite>(
      file, static_cast<const void*>(gathered.bytes.data()),
      static_cast<int>(gathered.bytes.size()), gathered.begin);
  gathered.bytes.clear();
  return code;
}

// A method of the log that finds everything written.
template <auto kMethod, typename... Args>
int PassFlushed(sqlite3_file* file, Args... args) {
  const int code = Flush(file);
  return code != SQLITE_OK ? code : Layer::Pass<kMethod>(file, args...);
}

int WriteLog(sqlite3_file* file, const void* data, int size, sqlite3_int64 offset) {
  Gathered& gathered = *Layer::Mine(file).gathered;
  const auto bytes = static_cast<std::size_t>(size);
  const auto end = gathered.begin + static_cast<sqlite3_int64>(gathered.bytes.size());
  if (offset != end || gathered.bytes.size() + bytes > kGatheredBytesMax) {
    const int code = Flush(file);
    if (code != SQLITE_OK) return code;
    gathered.begin = offset;
  }
  try {
    gathered.bytes.append(static_cast<const char*>(data), bytes);
  } catch (const std::exception&) {
    return SQLITE_IOERR_NOMEM;
  }
  return SQLITE_OK;
}

int CloseLog(sqlite3_file* file) {
  delete std::exchange(Layer::Mine(file).gathered, nullptr);
  return Layer::Pass<&sqlite3_io_methods::xClose>(file);
}

const sqlite3_io_methods kLogMethods = [] {
  sqlite3_io_methods methods = Layer::kPassAll;
  methods.xClose = CloseLog;
  methods.xRead = PassFlushed<&sqlite3_io_methods::xRead, void*, int, sqlite3_int64>;
  methods.xWrite = WriteLog;
  methods.xTruncate = PassFlushed<&sqlite3_io_methods::xTruncate, sqlite3_int64>;
  methods.xSync = PassFlushed<&sqlite3_io_methods::xSync, int>;
  methods.xFileSize = PassFlushed<&sqlite3_io_methods::xFileSize, sqlite3_int64*>;
  return methods;
}();

// Of the database.
template <auto kMethod, typename... Args>
int PassUnlessLost(sqlite3_file* file, Args... args) {
  if (Layer::Mine(file).lost_sync->lost()) return SQLITE_IOERR_FSYNC;
  return Layer::Pass<kMethod>(file, args...);
}

int SyncDatabase(sqlite3_file* file, int flags) {
  const int code = PassUnlessLost<&sqlite3_io_methods::xSync>(file, flags);
  if (code != SQLITE_OK) Layer::Mine(file).lost_sync->Note();
  return code;
}

int WritePage(sqlite3_file* file, const void* data, int size, sqlite3_int64 offset) {
  const int code = PassUnlessLost<&sqlite3_io_methods::xWrite>(file, data, size, offset);
  File& mine = Layer::Mine(file);
  const int portion = *mine.pages_per_sync;
  if (code != SQLITE_OK || portion == 0 || ++mine.unsynced < portion) return code;
  mine.unsynced = 0;
  return SyncDatabase(file, SQLITE_SYNC_NORMAL);
}

const sqlite3_io_methods kDatabaseMethods = [] {
  sqlite3_io_methods methods = Layer::kPassAll;
  methods.xWrite = WritePage;
  methods.xTruncate = PassUnlessLost<&sqlite3_io_methods::xTruncate, sqlite3_int64>;
  methods.xSync = SyncDatabase;
  return methods;
}();

const sqlite3_io_methods* MethodsFor(int flags) {
  if ((flags & SQLITE_OPEN_WAL) != 0) return &kLogMethods;
  return (flags & SQLITE_OPEN_MAIN_DB) != 0 ? &kDatabaseMethods : &Layer::kPassAll;
}

}  // namespace

// NOLINTNEXTLINE(readability-function-size): SQLite's signature.
int WritingVfs::State::Open(sqlite3_vfs* vfs, sqlite3_filename name, sqlite3_file* file, int flags,
                            int* out_flags) {
  const State& state = *static_cast<State*>(static_cast<void*>(vfs));
  sqlite3_vfs* const real = state.real;
  Layer::Mine(file) = File{nullptr, &state.pages_per_sync, state.lost_sync.get(), 0};
  file->pMethods = nullptr;
  std::unique_ptr<Gathered> gathered;
  if ((flags & SQLITE_OPEN_WAL) != 0) {
    gathered.reset(new (std::nothrow) Gathered);
    if (gathered == nullptr) return SQLITE_NOMEM;
  }
  const int code = real->xOpen(real, name, Layer::Real(file), flags, out_flags);
  // SQLite closes what has methods, even when opening it failed.
  if (Layer::Real(file)->pMethods == nullptr) return code;
  Layer::Mine(file).gathered = gathered.release();
  file->pMethods = MethodsFor(flags);
  return code;
}

Result<std::unique_ptr<WritingVfs>> WritingVfs::Make(const std::string& real,
                                                     std::shared_ptr<LostSync> lost_sync) {
  auto state = std::make_unique<State>();
  state->lost_sync = lost_sync != nullptr ? std::move(lost_sync) : std::make_shared<LostSync>();
  state->real = sqlite3_vfs_find(real.empty() ? nullptr : real.c_str());
  if (state->real == nullptr) {
    return Error{ErrorCode::kInternal, "SQLite has no file layer \"" + real + "\""};
  }
  state->name = "truce-" + std::to_string(std::hash<const void*>{}(state.get()));
  static_assert(std::is_standard_layout_v<State>);
  Layer::LayOver(*state->real, state->name, state->vfs);
  state->vfs.xOpen = State::Open;
  const int code = sqlite3_vfs_register(&state->vfs, 0);
  if (code != SQLITE_OK) return Error{ErrorCode::kInternal, sqlite3_errstr(code)};
  return std::unique_ptr<WritingVfs>(new WritingVfs(std::move(state)));
}

WritingVfs::WritingVfs(std::unique_ptr<State> state) : state_(std::move(state)) {}

WritingVfs::~WritingVfs() { sqlite3_vfs_unregister(&state_->vfs); }

const std::string& WritingVfs::name() const { return state_->name; }

void WritingVfs::SyncEvery(int pages) { state_->pages_per_sync = pages; }

namespace {

sqlite3_pcache_methods2 real{};  // set once, before SQLite is in use

struct Cache {
  sqlite3_pcache* real;
  NumberBound numbers;  // of its pages, which are never two of one number
};

Cache& Of(sqlite3_pcache* cache) { return *static_cast<Cache*>(static_cast<void*>(cache)); }

sqlite3_pcache* Create(int page_bytes, int extra_bytes, int purgeable) {
  auto* const cache = new (std::nothrow) Cache{};
  if (cache == nullptr) return nullptr;
  cache->real = real.xCreate(page_bytes, extra_bytes, purgeable);
  if (cache->real == nullptr) {
    delete cache;
    return nullptr;
  }
  return static_cast<sqlite3_pcache*>(static_cast<void*>(cache));
}

void Destroy(sqlite3_pcache* cache) {
  real.xDestroy(Of(cache).real);
  delete &Of(cache);
}

sqlite3_pcache_page* Fetch(sqlite3_pcache* cache, unsigned number, int create) {
  sqlite3_pcache_page* const page = real.xFetch(Of(cache).real, number, create);
  if (page != nullptr) Of(cache).numbers.Add(number);
  return page;
}

void Rekey(sqlite3_pcache* cache, sqlite3_pcache_page* page, unsigned before, unsigned after) {
  real.xRekey(Of(cache).real, page, before, after);
  Of(cache).numbers.Remove(before);
  Of(cache).numbers.Add(after);
}

void Truncate(sqlite3_pcache* cache, unsigned limit) {
  if (!Of(cache).numbers.MayReach(limit)) return;
  real.xTruncate(Of(cache).real, limit);
  Of(cache).numbers.Cut(limit);
}

int InstallLayer() {
  const int code = sqlite3_config(SQLITE_CONFIG_GETPCACHE2, &real);
  if (code != SQLITE_OK) return code;
  sqlite3_pcache_methods2 methods = real;
  methods.xCreate = Create;
  methods.xDestroy = Destroy;
  methods.xFetch = Fetch;
  methods.xRekey = Rekey;
  methods.xTruncate = Truncate;
  methods.xCachesize = [](sqlite3_pcache* cache, int pages) {
    real.xCachesize(Of(cache).real, pages);
  };
  methods.xPagecount = [](sqlite3_pcache* cache) { return real.xPagecount(Of(cache).real); };
  methods.xUnpin = [](sqlite3_pcache* cache, sqlite3_pcache_page* page, int discard) {
    real.xUnpin(Of(cache).real, page, discard);
  };
  methods.xShrink = [](sqlite3_pcache* cache) { real.xShrink(Of(cache).real); };
  return sqlite3_config(SQLITE_CONFIG_PCACHE2, &methods);
}

}  // namespace

void LayerPageCache() { [[maybe_unused]] static const int kOnce = InstallLayer(); }

}  // namespace truce
