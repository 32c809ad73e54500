// Facts from memory and SQLite: inside a write batch, and for readers, who borrow connections.
#ifndef TRUCE_REGISTRY_STORE_SQLITE_FACTS_H_
#define TRUCE_REGISTRY_STORE_SQLITE_FACTS_H_

#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "registry/base/clock.h"
#include "registry/base/result.h"
#include "registry/ownership/facts.h"
#include "registry/store/sqlite/connection.h"
#include "registry/store/sqlite/known.h"

namespace truce {

// Read-only connections, opened when first needed and shared by readers. Thread-safe. Must outlive
// its loans.
class ReaderPool {
 public:
  ReaderPool(ConnectionOptions options, std::size_t size_max);

  // A connection inside a read transaction, whose state is that of commit number `version`. Ends
  // the transaction and gives the connection back when destroyed. External synchronization.
  class Loan {
   public:
    Loan(ReaderPool& pool, std::unique_ptr<Connection> connection);
    ~Loan();
    Loan(const Loan&) = delete;
    Loan& operator=(const Loan&) = delete;

    Connection& connection() { return *connection_; }
    std::uint64_t version() const { return version_; }

   private:
    friend class ReaderPool;
    Result<void> Begin();

    ReaderPool& pool_;
    std::unique_ptr<Connection> connection_;
    std::uint64_t version_ = 0;
  };

  // Waits for a free connection until `deadline`. Errors: kDeadlineExceeded, kUnavailable,
  // kDataLoss.
  Result<std::unique_ptr<Loan>> Borrow(Deadline deadline);

 private:
  Result<std::unique_ptr<Connection>> Take(Deadline deadline);
  void Return(std::unique_ptr<Connection> connection);
  // A connection that was taken is gone: another may be opened in its place.
  void Forget();

  const ConnectionOptions options_;
  const std::size_t size_max_;
  std::mutex mutex_;
  std::condition_variable freed_;
  std::vector<std::unique_ptr<Connection>> idle_;  // guarded by mutex_
  std::size_t open_ = 0;                           // guarded by mutex_
};

// What both kinds read from SQLite. The first error is kept, later reads answer nothing.
class SqlFacts : public AllFacts {
 public:
  SqlFacts(const Known& known, const SignpostsOfTables& signposts)
      : known_(known), signposts_(signposts) {}

  std::vector<Row> RowsOfUid(const Uid& uid) const override;
  std::optional<Object> ObjectByUid(const Uid& uid) const override;
  std::optional<Object> ObjectBySlot(const Slot& slot) const override;
  std::vector<Object> ChildrenOf(const Slot& slot) const override;
  std::size_t CountReserved(const ReservedRange& range, const std::set<GroupKind>& left_out,
                            std::size_t limit) const override;
  std::vector<KeyText> KeysAfter(const KeyText& after, std::size_t limit) const override;
  ObjectPage ObjectsOfKind(const Slot& slot, std::string_view after,
                           std::size_t limit) const override;
  std::vector<Row> ReservedBefore(Timestamp before, const RowId& after,
                                  std::size_t limit) const override;
  std::vector<Row> ObserversAfter(const RowId& after, std::size_t limit) const override;
  std::uint64_t CountSeen(std::string_view cluster) const override;
  std::vector<PlaceCount> PlacesOf(std::string_view type, std::size_t limit) const override;
  std::vector<Owner> OwnersIn(OwnerList list, const KeyText& after,
                              std::size_t limit) const override;
  std::vector<AuditLine> AuditLines(const AuditRange& range, std::size_t limit) const override;
  std::vector<Agreement> AgreementsOf(const KeyText& key) const override;
  std::optional<Agreement> AgreementById(const PublicId& id) const override;
  std::vector<Agreement> AgreementsAfter(AgreementKind kind, const PublicId& after,
                                         std::size_t limit) const override;
  std::optional<std::string> Setting(std::string_view name) const override;

  // The first error of any read.
  const std::optional<Error>& error() const { return error_; }

 protected:
  // The connection to read from, or null after an error.
  virtual Connection* Reader() const = 0;

  // The commit that what is read is the state after; nothing after an error.
  virtual std::optional<std::uint64_t> StateRead() const = 0;

  std::vector<Row> RowsOfKeyFromSql(const KeyText& key) const;
  std::optional<Owner> OwnerOfFromSql(const KeyText& key) const;
  std::vector<ResourceName> NamesFromSql(Sql sql, const KeyText& text) const;
  void Fail(Error error) const;

  const Known& known_;

 private:
  // Binds with `bind` and hands each row to `each` (Result<bool>: false ends it).
  template <typename Bind, typename Each>
  void Visit(Sql sql, const Bind& bind, const Each& each) const;
  // Binds with `bind` and collects what `read` makes of each row.
  template <typename T, typename Bind, typename Read>
  std::vector<T> Collect(Sql sql, const Bind& bind, const Read& read) const;
  // Where the rows of a text may stand; nothing: search the table.
  using RowNumbers = std::optional<std::vector<std::int64_t>>;
  RowNumbers NumbersOf(const Signposts& signposts, std::string_view text) const;
  // What `bind` asks for: with `at` from the rows that are known, else with `search` from the
  // whole table. `bind` gets the number of the first parameter that it binds.
  template <typename T, typename Bind, typename Read>
  std::vector<T> CollectAt(const RowNumbers& numbers, std::pair<Sql, Sql> at_search,
                           const Bind& bind, const Read& read) const;

  const SignpostsOfTables& signposts_;
  mutable std::optional<Error> error_;
};

// The facts of a decision on the writer's thread: memory, over it what the batch has written so
// far. External synchronization: the writer's thread.
class BatchFacts final : public SqlFacts {
 public:
  BatchFacts(Connection& writer, const Known& known, const SignpostsOfTables& signposts,
             const Written& written)
      : SqlFacts(known, signposts), writer_(writer), written_(written) {}

  std::optional<Owner> OwnerOf(const KeyText& key) const override;
  bool HasOwner(const KeyText& key) const override;
  std::vector<Row> RowsOfKey(const KeyText& key) const override;
  std::optional<ResourceName> FurtherName(const KeyText& name) const override;
  std::vector<ResourceName> FurtherNamesOf(const KeyText& key) const override;
  std::vector<Owner> OwnersOfShape(std::string_view shape, std::size_t limit) const override;
  std::size_t CountReserved(const ReservedRange& range, const std::set<GroupKind>& left_out,
                            std::size_t limit) const override;
  std::uint64_t CountOwned(const OwnedRange& range) const override;

  // True when an answer may rest on something of this batch, which is not on the disk yet.
  bool saw_uncommitted() const { return saw_uncommitted_; }

 private:
  Connection* Reader() const override;
  std::optional<std::uint64_t> StateRead() const override;

  Connection& writer_;
  const Written& written_;
  mutable bool saw_uncommitted_ = false;
};

// The facts of a read. Owners and names come from memory until something else is asked for; that
// opens a snapshot, from which everything is read afterwards, but for names while memory is at the
// same commit. External synchronization.
class SnapshotFacts final : public SqlFacts {
 public:
  struct Sources {
    const Known& known;
    const SignpostsOfTables& signposts;
    ReaderPool& pool;
  };
  // `snapshot_first`: read all from the snapshot, which no commit can overtake.
  SnapshotFacts(const Sources& sources, Deadline deadline, bool snapshot_first)
      : SqlFacts(sources.known, sources.signposts),
        pool_(sources.pool),
        deadline_(deadline),
        snapshot_first_(snapshot_first) {}

  std::optional<Owner> OwnerOf(const KeyText& key) const override;
  bool HasOwner(const KeyText& key) const override;
  std::vector<Row> RowsOfKey(const KeyText& key) const override;
  std::optional<ResourceName> FurtherName(const KeyText& name) const override;
  std::vector<ResourceName> FurtherNamesOf(const KeyText& key) const override;
  std::vector<Owner> OwnersOfShape(std::string_view shape, std::size_t limit) const override;
  std::uint64_t CountOwned(const OwnedRange& range) const override;

  // True when a commit came between two answers: they are not of one state.
  bool overtaken() const { return overtaken_; }

 private:
  Connection* Reader() const override;
  std::optional<std::uint64_t> StateRead() const override;
  void Saw(std::uint64_t version) const;
  // Whether memory at commit `version` is the state that this read is of.
  bool IsOfMemory(std::uint64_t version) const;
  bool FromSnapshot() const { return snapshot_first_ || loan_ != nullptr; }

  ReaderPool& pool_;
  const Deadline deadline_;
  const bool snapshot_first_;
  mutable std::unique_ptr<ReaderPool::Loan> loan_;
  mutable std::optional<std::uint64_t> version_;
  mutable bool overtaken_ = false;
};

}  // namespace truce

#endif  // TRUCE_REGISTRY_STORE_SQLITE_FACTS_H_
