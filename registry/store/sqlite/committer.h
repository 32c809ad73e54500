// Committer: turns a batch of requests into one durable transaction.
#ifndef TRUCE_REGISTRY_STORE_SQLITE_COMMITTER_H_
#define TRUCE_REGISTRY_STORE_SQLITE_COMMITTER_H_

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "registry/base/guarded.h"
#include "registry/base/result.h"
#include "registry/store/sqlite/connection.h"
#include "registry/store/sqlite/facts.h"
#include "registry/store/sqlite/known.h"
#include "registry/store/sqlite/records.h"
#include "registry/store/sqlite/request_queue.h"
#include "registry/store/sqlite/signposts.h"

namespace truce {

// Whether the store can write. Thread-safe.
class WriteHealth {
 public:
  void Worked();
  void Failed(const Error& error);
  // The database is damaged: stays so until the store is opened again.
  void Damaged(const Error& error);

  Result<void> Get() const;
  // The damage, if there is any.
  std::optional<Error> damage() const;

 private:
  struct State {
    std::optional<Error> last_failure;
    std::optional<Error> damage;
  };
  Guarded<State> state_;
};

// External synchronization: the writer's thread.
class Committer {
 public:
  // All references must outlive this. `version` is the number of commits in the database.
  Committer(Connection& writer, Known& known, SignpostsOfTables& signposts, WriteHealth& health)
      : writer_(writer), known_(known), signposts_(signposts), health_(health) {}

  // The number of commits in the database; before the first batch.
  void StartAt(std::uint64_t version) { version_ = version; }

  // Decides the requests in order, each on what the former ones wrote; writes their changes;
  // commits once; brings the changes into memory and answers all. A request that breaks a
  // constraint fails alone: the transaction is taken back and the changes before it are written
  // again. A request without changes that rests on committed facts only is answered at once.
  // `write_refusal`: why requests with changes are refused for the moment.
  void Run(const RequestQueue::Batch& batch, const std::optional<Error>& write_refusal);

  // A commit without content, to see whether writing works again.
  void Probe();

 private:
  // A request that waits for the commit, and what it wrote, to which `written_` points.
  struct Waiting {
    std::shared_ptr<Request> request;
    Changes changes;
  };
  // A key in this transaction: its place in the table, and whether it has no row yet.
  struct Resource {
    std::int64_t place = 0;
    bool fresh = false;
  };
  using Resources = std::map<std::string_view, Resource>;

  void Decide(const std::shared_ptr<Request>& request, const std::optional<Error>& write_refusal);
  Result<void> Write(const Changes& changes);
  Result<void> WriteAgain();
  Result<void> WriteAll(const Changes& changes);
  Result<void> WriteKeys(const Changes& changes);
  Result<void> WriteOwner(const Owner& owner, Resources& resources);
  Result<void> WriteRow(const Row& row, Resources& resources);
  Result<void> DropRow(const RowId& id);
  Result<void> DropOwner(const KeyText& key);
  Result<void> WriteName(const ResourceName& name);
  Result<void> WriteOthers(const Changes& changes);
  Result<void> WriteObject(const Object& object);
  Result<void> DropObject(const Uid& uid);
  Result<Place> FindResource(const KeyText& key);
  Result<Place> FindRow(std::int64_t resource, const RowId& id);
  struct StoredObject {
    std::int64_t place = 0;
    std::string slot;
  };
  Result<std::optional<StoredObject>> FindObject(const Uid& uid);
  bool IsNew(const KeyText& key) const;
  Result<void> Measure(const Changes& changes, KeyChanges& written);
  Result<void> MeasureKey(const KeyText& key, std::size_t rows_put, KeyChange& change);
  Result<void> Commit();
  void Abandon(const Error& error);
  Error Report(Error error);

  Connection& writer_;
  Known& known_;
  SignpostsOfTables& signposts_;
  WriteHealth& health_;
  std::uint64_t version_ = 0;

  Written written_;               // by the requests of this batch
  std::vector<Waiting> waiting_;  // for the commit
};

}  // namespace truce

#endif  // TRUCE_REGISTRY_STORE_SQLITE_COMMITTER_H_
