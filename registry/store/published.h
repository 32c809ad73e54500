// Published tables: one server writes several tables as a whole, and all servers read them, so that
// each reads what belongs together. The table "published" has the version of each part.
#ifndef TRUCE_REGISTRY_STORE_PUBLISHED_H_
#define TRUCE_REGISTRY_STORE_PUBLISHED_H_

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "registry/base/clock.h"
#include "registry/base/random_id.h"
#include "registry/base/result.h"
#include "registry/ownership/table.h"

namespace truce {

class Store;

using TableContents = std::map<Table, std::vector<TableRow>>;

struct PublishedVersion {
  std::string part;
  std::string version;  // of the tables: another text for other rows
  std::string sign;     // another text each time that its writer says that it still watches
  Timestamp at{};       // of the sign

  bool operator==(const PublishedVersion&) const = default;
};
inline constexpr auto kPublishedTable = MakeTable<PublishedVersion>(
    "published", 1, StoredColumn("part", &PublishedVersion::part),
    StoredColumn("version", &PublishedVersion::version),
    StoredColumn("sign", &PublishedVersion::sign), StoredColumn("at", &PublishedVersion::at));

// The side of the server that writes. External synchronization.
class TablePublisher final {
 public:
  explicit TablePublisher(std::string part) : part_(std::move(part)) {}

  // Writes the rows that differ from what the tables have, with a new version, where `contents`
  // differ from what was written last; and the sign. Durable on return. Errors: those of the store;
  // kConflict: another server writes. Then the next call writes all of it.
  Result<void> Write(Store& store, const TableContents& contents, Timestamp now, Deadline deadline);
  // When it wrote last; nothing: it has not, or the last try failed.
  std::optional<Timestamp> written_at() const { return at_; }
  // Whether the tables have `contents`, as far as this server knows.
  bool Has(const TableContents& contents) const { return at_ && written_ == contents; }

 private:
  const std::string part_;
  const std::string server_ = NewId();
  std::uint64_t versions_ = 0;
  std::uint64_t signs_ = 0;
  TableContents written_;
  std::optional<Timestamp> at_;
};

// The readers' side. External synchronization.
class PublishedTables final {
 public:
  PublishedTables(std::string part, std::vector<Table> tables)
      : part_(std::move(part)), tables_(std::move(tables)) {}

  // Reads the version, and the tables where it is another one. True: contents() is new. Errors:
  // those of Store::Read; all stays as it was.
  Result<bool> Read(const Store& store, Deadline deadline);
  const TableContents& contents() const { return contents_; }
  // As read last; nothing: nobody has written yet.
  const std::optional<PublishedVersion>& version() const { return version_; }

  // The values of `table` that can be read (TableOf::Readable).
  template <typename T, typename... Members>
  std::vector<T> Readable(const TableOf<T, Members...>& table) const {
    const auto found = contents_.find(table);
    return found == contents_.end() ? std::vector<T>() : table.Readable(found->second);
  }

 private:
  const std::string part_;
  const std::vector<Table> tables_;
  TableContents contents_;
  std::optional<PublishedVersion> version_;
};

}  // namespace truce

#endif  // TRUCE_REGISTRY_STORE_PUBLISHED_H_
