// NameIndex: every further name in memory, packed, found by its text and by its resource.
#ifndef TRUCE_REGISTRY_STORE_SQLITE_NAME_INDEX_H_
#define TRUCE_REGISTRY_STORE_SQLITE_NAME_INDEX_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "registry/ownership/rows.h"
#include "registry/store/sqlite/hash_table.h"

namespace truce {

// One allocation for each name, in which the key is kept as its difference from the name: 160 to
// 200 bytes a name with everyday texts. External synchronization.
class NameIndex {
 public:
  NameIndex() = default;
  NameIndex(const NameIndex&) = delete;
  NameIndex& operator=(const NameIndex&) = delete;

  std::optional<ResourceName> Find(std::string_view name) const;
  std::vector<ResourceName> OfKey(std::string_view key) const;  // ordered by name

  void Put(const ResourceName& name);
  void Erase(std::string_view name);

  std::size_t size() const { return blobs_.size(); }

 private:
  using Blob = std::unique_ptr<char[]>;

  HashTable<Blob> blobs_;          // by name
  HashTable<const char*> by_key_;  // those of blobs_
};

}  // namespace truce

#endif  // TRUCE_REGISTRY_STORE_SQLITE_NAME_INDEX_H_
