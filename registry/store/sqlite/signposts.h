// Signposts: where in a table the rows of a text (a uid, a slot) stand, in memory instead of in an
// index on disk.
#ifndef TRUCE_REGISTRY_STORE_SQLITE_SIGNPOSTS_H_
#define TRUCE_REGISTRY_STORE_SQLITE_SIGNPOSTS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <shared_mutex>
#include <string_view>
#include <utility>
#include <vector>

#include "registry/store/sqlite/hash_table.h"

namespace truce {

// Uids and slots come in no order: an index of them changes another page with every new object,
// which costs more than all else a grant writes. A signpost may point at a row of another text, or
// at none; it never misses one: the reader looks whether the row is really there, in the state that
// it reads. About 24 bytes for each row. Thread-safe: one writer, any number of readers.
class Signposts {
 public:
  Signposts() = default;
  Signposts(const Signposts&) = delete;
  Signposts& operator=(const Signposts&) = delete;

  // Ids of all rows of `text` in the state after commit `version`, and perhaps of others. Nothing
  // when that state is so old that rows of it were forgotten: search the table.
  std::optional<std::vector<std::int64_t>> Find(std::string_view text, std::uint64_t version) const;

  // Writer: the transaction under way makes, or deletes, a row.
  void Add(std::string_view text, std::int64_t id);
  void Drop(std::string_view text, std::int64_t id);
  // Writer: it became commit `version`, or nothing.
  void Commit(std::uint64_t version);
  void Rollback();

  // Filling, before there are other threads.
  void Load(std::string_view text, std::int64_t id);
  void LoadVersion(std::uint64_t version);

 private:
  using Entry = std::pair<TextHash, std::int64_t>;

  void Erase(const Entry& entry);

  mutable std::shared_mutex mutex_;
  // Ids by the text's hash; all guarded by mutex_.
  HashTable<std::int64_t> table_;
  std::uint64_t version_ = 0;
  // Of the transaction under way.
  std::vector<Entry> added_;
  std::vector<Entry> dropped_;
  // Deleted rows that older snapshots may still see, and by which commit they went.
  std::deque<std::pair<std::uint64_t, Entry>> leaving_;
};

// All signposts of a database.
struct SignpostsOfTables {
  Signposts rows_by_uid;
  Signposts objects_by_uid;
  Signposts objects_by_slot;

  void Commit(std::uint64_t version) {
    for (Signposts* const each : All()) each->Commit(version);
  }
  void Rollback() {
    for (Signposts* const each : All()) each->Rollback();
  }
  void LoadVersion(std::uint64_t version) {
    for (Signposts* const each : All()) each->LoadVersion(version);
  }

 private:
  std::array<Signposts*, 3> All() { return {&rows_by_uid, &objects_by_uid, &objects_by_slot}; }
};

}  // namespace truce

#endif  // TRUCE_REGISTRY_STORE_SQLITE_SIGNPOSTS_H_
