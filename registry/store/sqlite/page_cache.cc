#include "registry/store/sqlite/page_cache.h"

#include <sqlite3.h>

#include <new>

namespace truce {
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
