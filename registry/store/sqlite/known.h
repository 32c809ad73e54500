// Known: the part of the registry that is kept in memory, always one committed state.
#ifndef TRUCE_REGISTRY_STORE_SQLITE_KNOWN_H_
#define TRUCE_REGISTRY_STORE_SQLITE_KNOWN_H_

#include <cstdint>
#include <map>
#include <optional>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "registry/base/result.h"
#include "registry/store/sqlite/name_index.h"
#include "registry/store/sqlite/owner_index.h"
#include "registry/store/store.h"

namespace truce {

// What a transaction leaves of one key. Lives no longer than the changes of its requests.
struct KeyChange {
  bool owner_changed = false;
  const Owner* owner = nullptr;  // meaningful when owner_changed; in the changes; null: none
  bool has_rows = false;
  bool conflicting = false;  // two or more managing roots
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

  bool empty() const { return keys.empty() && names.empty(); }
  void clear() {
    keys.clear();
    names.clear();
  }
};

// Owners, further names, the keys that have rows without an owner, the keys in conflict, and the
// counts of all. Thread-safe: any number of readers, and one writer that holds the lock only to
// bring in a batch that is on the disk.
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

  // As Facts answers them; `version` as above.
  std::optional<ResourceName> FurtherName(const KeyText& name, std::uint64_t& version) const;
  std::vector<ResourceName> FurtherNamesOf(const KeyText& key, std::uint64_t& version) const;

  StoreCounts Counts() const;

  // Brings in what a commit changed; `version` is its number.
  void Commit(const Written& written, std::uint64_t version);

  // Filling, before there are other threads. Rows come after all owners.
  void LoadOwner(const OwnerTexts& texts);
  void LoadRowsWithoutOwner(std::string_view key);
  void LoadConflict(std::string_view key);
  void LoadName(const ResourceName& name);
  void LoadVersion(std::uint64_t version);

 private:
  void Bring(const KeyText& key, const KeyChange& change);

  mutable std::shared_mutex mutex_;
  OwnerIndex owners_;  // this and below guarded by mutex_
  NameIndex names_;
  std::unordered_set<std::string> without_owner_;  // keys with rows and no owner: observers
  std::unordered_set<std::string> conflicts_;
  StoreCounts counts_;
  std::uint64_t version_ = 0;
};

}  // namespace truce

#endif  // TRUCE_REGISTRY_STORE_SQLITE_KNOWN_H_
