// What of the registry is kept in memory: owners, further names, and where rows stand.
#ifndef TRUCE_REGISTRY_STORE_SQLITE_KNOWN_H_
#define TRUCE_REGISTRY_STORE_SQLITE_KNOWN_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "registry/base/result.h"
#include "registry/ownership/rows.h"
#include "registry/store/adapter.h"
#include "registry/store/numbers.h"
#include "registry/store/reserved_times.h"
#include "registry/store/sqlite/hash_table.h"
#include "registry/store/sqlite/packing.h"
#include "registry/store/sqlite/records.h"
#include "registry/store/store.h"
#include "registry/store/tally.h"

namespace truce {

// Every owner, packed, found by key. One allocation for each. Texts that repeat parts of the key or
// the root (ARN, name, identity, shape, leaf, party) are kept as differences, and what many begin
// with once: at most 200 bytes for a bucket (store_owner_index_test), where a map of Owner takes
// over 1,000. External synchronization.
class OwnerIndex {
 public:
  OwnerIndex() = default;
  OwnerIndex(const OwnerIndex&) = delete;
  OwnerIndex& operator=(const OwnerIndex&) = delete;

  // `owner` becomes the owner of the key, or none. Errors: kDataLoss when the texts cannot be read
  // back as an owner; `owner` is then none.
  Result<void> Find(std::string_view key, std::optional<Owner>& owner) const;
  bool Contains(std::string_view key) const;
  void Expect(std::string_view key) const { blobs_.Expect(HashOf(key)); }  // as Store::Expect
  // What an owner counts as; nothing when there is none.
  std::optional<CountedAs> CountsAs(std::string_view key) const;
  // Where the owner of the key counts; nothing when there is none.
  std::optional<Place> PlaceOf(std::string_view key) const;
  // The first `limit` keys, in order, of the owners of a shape; none when it is empty.
  std::vector<KeyText> KeysOfShape(std::string_view shape, std::size_t limit) const;

  void Put(const Owner& owner);
  void Put(const OwnerTexts& texts);
  void Erase(std::string_view key);

  // Filling: keys that are not there yet. Nobody finds them before Loaded.
  void Load(const OwnerTexts& texts);
  void Loaded();

  std::size_t size() const { return blobs_.size(); }

 private:
  using Blob = std::unique_ptr<char[]>;

  auto IsOf(std::string_view key) const;  // whether a blob is that of the key
  const Blob* BlobOf(std::string_view key) const;
  Blob BlobWith(const OwnerTexts& texts);
  void Forget(const char* blob);  // as one of its shape

  Beginnings beginnings_;
  HashTable<Blob> blobs_;
  HashTable<const char*> by_shape_;  // those of blobs_ that have one
};

// Every further name, packed, found by its text and by its resource. One allocation for each, in
// which the key is kept as its difference from the name: at most 200 bytes a name with everyday
// texts. External synchronization.
class NameIndex {
 public:
  NameIndex() = default;
  NameIndex(const NameIndex&) = delete;
  NameIndex& operator=(const NameIndex&) = delete;

  std::optional<ResourceName> Find(std::string_view name) const;
  std::vector<ResourceName> OfKey(std::string_view key) const;  // ordered by name

  void Put(const ResourceName& name);
  void Erase(std::string_view name);

  // Filling: names that are not there yet. Nobody finds them before Loaded.
  void Load(const ResourceName& name);
  void Loaded();

  std::size_t size() const { return blobs_.size(); }

 private:
  using Blob = std::unique_ptr<char[]>;

  auto IsNamed(std::string_view name) const;  // whether a blob is that of the name
  Blob BlobWith(const ResourceName& name);

  Beginnings beginnings_;
  HashTable<Blob> blobs_;          // by name
  HashTable<const char*> by_key_;  // those of blobs_
};

// Where in a table the rows of a text stand, instead of an index on disk: from before the commit
// that makes a row until long after the one that deletes it. `Table` keeps numbers under hashes.
// Thread-safe: one writer, any number of readers.
template <typename Table>
class Posts {
 public:
  Posts() = default;
  Posts(const Posts&) = delete;
  Posts& operator=(const Posts&) = delete;

  // Writer: the transaction under way makes, or deletes, a row.
  void Add(std::string_view text, std::int64_t id);
  void Drop(std::string_view text, std::int64_t id);
  // Writer: it became commit `version`, or nothing.
  void Commit(std::uint64_t version);
  void Rollback();

  // Filling, by one thread, before others have it: without a lock, and nobody finds anything before
  // Loaded.
  void Load(std::string_view text, std::int64_t id);
  void Loaded();
  void LoadVersion(std::uint64_t version) { version_ = version; }

 protected:
  // Runs `find(table)`; nothing when rows of the state after commit `version` were forgotten.
  template <typename Find>
  std::optional<std::vector<std::int64_t>> FindAt(std::uint64_t version, const Find& find) const;

 private:
  using Entry = std::pair<TextHash, std::int64_t>;

  mutable std::shared_mutex mutex_;
  Table table_;  // this and below guarded by mutex_
  std::uint64_t version_ = 0;
  // Of the transaction under way.
  std::vector<Entry> added_;
  std::vector<Entry> dropped_;
  // Deleted rows that older snapshots may still see, and by which commit they went.
  std::deque<std::pair<std::uint64_t, Entry>> leaving_;
};

// Of a uid or a slot. They come in no order: an index of them changes another page with every new
// object, which costs more than all else a grant writes. A signpost may point at a row of another
// text, or at none; it never misses one: the reader looks whether the row is really there, in the
// state that it reads. About 24 bytes for each row.
class Signposts : public Posts<HashTable<std::int64_t>> {
 public:
  // Ids of all rows of `text` in the state after commit `version`, and perhaps of others. Nothing
  // when that state is so old that rows of it were forgotten: search the table.
  std::optional<std::vector<std::int64_t>> Find(std::string_view text, std::uint64_t version) const;
};

// Of a kind, whose objects are many: two bits for each where they came together, 16 bytes at most.
class KindPosts : public Posts<Numbers> {
 public:
  // As Find, of a kind, ascending: the first `limit` that follow `after`.
  std::optional<std::vector<std::int64_t>> After(std::string_view kind, std::int64_t after,
                                                 std::size_t limit, std::uint64_t version) const;
};

// All posts of a database.
struct SignpostsOfTables {
  Signposts rows_by_uid;
  Signposts objects_by_uid;
  Signposts objects_by_slot;
  KindPosts objects_by_kind;

  void Commit(std::uint64_t version) {
    ForEach([&](auto& posts) { posts.Commit(version); });
  }
  void Rollback() {
    ForEach([](auto& posts) { posts.Rollback(); });
  }
  void LoadVersion(std::uint64_t version) {
    ForEach([&](auto& posts) { posts.LoadVersion(version); });
  }

 private:
  template <typename Each>
  void ForEach(const Each& each) {
    each(rows_by_uid);
    each(objects_by_uid);
    each(objects_by_slot);
    each(objects_by_kind);
  }
};

// What a transaction leaves of one key. Lives no longer than the changes of its requests.
struct KeyChange {
  bool owner_changed = false;
  const Owner* owner = nullptr;  // meaningful when owner_changed; in the changes; null: none
  bool has_rows = false;
};
using KeyChanges = std::map<KeyText, KeyChange>;

// What transactions leave of the further names they touch. Lives no longer than the changes of its
// requests. External synchronization.
class NameChanges {
 public:
  void Put(const ResourceName& name);
  void Drop(const KeyText& name);
  void clear();

  bool empty() const { return by_name_.empty(); }
  // By name; null: dropped.
  const std::map<KeyText, const ResourceName*>& by_name() const { return by_name_; }
  // Those that stand at `key`.
  std::vector<const ResourceName*> PutAt(const KeyText& key) const;

 private:
  std::map<KeyText, const ResourceName*> by_name_;
  std::multimap<KeyText, const ResourceName*> by_key_;  // also what was overtaken since
};

// What the requests of a batch have written so far.
struct Written {
  KeyChanges keys;
  NameChanges names;
  PlaceChanges places;  // of the owners in `keys`
  ReservationChanges reservations;

  bool empty() const { return keys.empty() && names.empty(); }
  void clear() {
    keys.clear();
    names.clear();
    places.clear();
    reservations.clear();
  }
};

// Owners, further names, the keys that have rows without an owner, and the counts of all.
// Thread-safe: any number of readers, and one writer that holds the lock only to bring in a batch
// that is on the disk.
class Known {
 public:
  // Fills in the owner of a key, and the number of commits that this is the state after. Errors:
  // kDataLoss; the owner is then none.
  Result<void> OwnerOf(const KeyText& key, std::optional<Owner>& owner,
                       std::uint64_t& version) const;

  struct Presence {
    bool has_owner = false;
    bool may_have_rows = false;  // false: the key has no row
    std::uint64_t version = 0;
  };
  Presence PresenceOf(const KeyText& key) const;
  void Expect(const KeyText& key) const {  // as Store::Expect
    std::shared_lock lock(mutex_);
    owners_.Expect(key.text);
  }

  // As Facts answers them; `version` as above.
  std::optional<ResourceName> FurtherName(const KeyText& name, std::uint64_t& version) const;
  std::vector<ResourceName> FurtherNamesOf(const KeyText& key, std::uint64_t& version) const;

  // As OwnerIndex has them; `version` as above.
  std::vector<KeyText> KeysOfShape(std::string_view shape, std::size_t limit,
                                   std::uint64_t& version) const;

  StoreCounts Counts() const;

  // Where the owner of the key counts; nothing when there is none.
  std::optional<Place> PlaceOf(const KeyText& key) const;
  std::uint64_t CountOwned(const OwnedRange& range) const;
  std::vector<PlaceCount> PlacesOf(std::string_view type, std::size_t limit) const;
  std::size_t CountReserved(const ReservedRange& range, const std::set<GroupKind>& left_out,
                            std::size_t limit, const ReservationChanges& changes = {}) const;

  // Brings in what a commit changed; `version` is its number.
  void Commit(const Written& written, std::uint64_t version);

  // Filling, by one thread, before others have it: without a lock, and nobody finds owners and
  // names before Loaded.
  void LoadOwner(const OwnerTexts& texts);
  void LoadRowsWithoutOwner(std::string_view key);
  void LoadName(const ResourceName& name);
  void LoadReservation(const Reservation& reservation);
  void LoadVersion(std::uint64_t version);
  void Loaded();

 private:
  void Bring(const KeyText& key, const KeyChange& change);

  mutable std::shared_mutex mutex_;
  OwnerIndex owners_;  // this and below guarded by mutex_
  NameIndex names_;
  std::unordered_set<std::string> without_owner_;  // keys with rows and no owner: observers
  StoreCounts counts_;
  Tally tally_;
  ReservedTimes reserved_;
  std::uint64_t version_ = 0;
};

}  // namespace truce

#endif  // TRUCE_REGISTRY_STORE_SQLITE_KNOWN_H_
