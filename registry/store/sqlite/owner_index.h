// OwnerIndex: every owner in memory, packed, found by key.
#ifndef TRUCE_REGISTRY_STORE_SQLITE_OWNER_INDEX_H_
#define TRUCE_REGISTRY_STORE_SQLITE_OWNER_INDEX_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "registry/base/result.h"
#include "registry/store/sqlite/hash_table.h"
#include "registry/store/sqlite/records.h"

namespace truce {

// One allocation for each owner. Texts that repeat parts of the key or the root (ARN, name,
// identity, shape, leaf, party) are kept as differences: about 250 bytes an owner with everyday
// names, where a map of Owner takes over 1,000. External synchronization.
class OwnerIndex {
 public:
  OwnerIndex() = default;
  OwnerIndex(const OwnerIndex&) = delete;
  OwnerIndex& operator=(const OwnerIndex&) = delete;

  // `owner` becomes the owner of the key, or none. Errors: kDataLoss when the texts cannot be read
  // back as an owner; `owner` is then none.
  Result<void> Find(std::string_view key, std::optional<Owner>& owner) const;
  bool Contains(std::string_view key) const;
  // The record and state of an owner, for counting; nothing when there is none.
  std::optional<std::pair<Record, HolderState>> StateOf(std::string_view key) const;

  void Put(const Owner& owner);
  void Put(const OwnerTexts& texts);
  void Erase(std::string_view key);

  std::size_t size() const { return blobs_.size(); }

 private:
  using Blob = std::unique_ptr<char[]>;

  const Blob* BlobOf(std::string_view key) const;

  HashTable<Blob> blobs_;
};

}  // namespace truce

#endif  // TRUCE_REGISTRY_STORE_SQLITE_OWNER_INDEX_H_
