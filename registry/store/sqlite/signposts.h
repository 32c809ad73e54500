// Signposts: where in a table the rows of each uid stand, in memory instead of in an index on disk.
#ifndef TRUCE_REGISTRY_STORE_SQLITE_SIGNPOSTS_H_
#define TRUCE_REGISTRY_STORE_SQLITE_SIGNPOSTS_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <shared_mutex>
#include <string_view>
#include <utility>
#include <vector>

namespace truce {

// Uids are random: an index of them changes another page with every new object, which costs more
// than all else a grant writes. A signpost may point at a row of another uid, or at none; it never
// misses one: the reader looks whether the row is really there, in the state that it reads. About
// 24 bytes for each row. Thread-safe: one writer, any number of readers.
class Signposts {
 public:
  Signposts();
  Signposts(const Signposts&) = delete;
  Signposts& operator=(const Signposts&) = delete;

  // Ids of all rows of `uid` in the state after commit `version`, and perhaps of others. Nothing
  // when that state is so old that rows of it were forgotten: search the table.
  std::optional<std::vector<std::int64_t>> Find(std::string_view uid, std::uint64_t version) const;

  // Writer: the transaction under way makes, or deletes, a row.
  void Add(std::string_view uid, std::int64_t id);
  void Drop(std::string_view uid, std::int64_t id);
  // Writer: it became commit `version`, or nothing.
  void Commit(std::uint64_t version);
  void Rollback();

  // Filling, before there are other threads.
  void Load(std::string_view uid, std::int64_t id);
  void LoadVersion(std::uint64_t version);

 private:
  using Hash = std::uint32_t;
  using Entry = std::pair<Hash, std::int64_t>;

  void Insert(Entry entry);
  void Erase(Entry entry);
  void Grow();

  mutable std::shared_mutex mutex_;
  // An open-addressing table; all guarded by mutex_.
  std::size_t size_ = 0;
  std::size_t mask_;
  std::vector<Hash> hashes_;
  std::vector<std::int64_t> ids_;  // 0: the place is free
  std::uint64_t version_ = 0;
  // Of the transaction under way.
  std::vector<Entry> added_;
  std::vector<Entry> dropped_;
  // Deleted rows that older snapshots may still see, and by which commit they went.
  std::deque<std::pair<std::uint64_t, Entry>> leaving_;
};

// The tables that are read by uid.
struct SignpostsByUid {
  Signposts rows;
  Signposts objects;

  void Commit(std::uint64_t version) {
    rows.Commit(version);
    objects.Commit(version);
  }
  void Rollback() {
    rows.Rollback();
    objects.Rollback();
  }
};

}  // namespace truce

#endif  // TRUCE_REGISTRY_STORE_SQLITE_SIGNPOSTS_H_
