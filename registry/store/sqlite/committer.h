// Committer: turns a batch of requests into one durable transaction.
#ifndef TRUCE_REGISTRY_STORE_SQLITE_COMMITTER_H_
#define TRUCE_REGISTRY_STORE_SQLITE_COMMITTER_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "registry/base/guarded.h"
#include "registry/base/result.h"
#include "registry/store/sqlite/connection.h"
#include "registry/store/sqlite/facts.h"
#include "registry/store/sqlite/known.h"
#include "registry/store/sqlite/request_queue.h"

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
  Committer(Connection& writer, Known& known, WriteHealth& health, std::uint64_t version)
      : writer_(writer), known_(known), health_(health), version_(version) {}

  // Decides the requests in order, each on what the former ones wrote; writes their changes, one
  // savepoint each, so that a request that breaks a constraint fails alone; commits once; brings
  // the changes into memory and answers all. A request without changes that rests on committed
  // facts only is answered at once. `write_refusal`: why requests with changes are refused for the
  // moment.
  void Run(const RequestQueue::Batch& batch, const std::optional<Error>& write_refusal);

  // A commit without content, to see whether writing works again.
  void Probe();

 private:
  void Decide(const std::shared_ptr<Request>& request, const std::optional<Error>& write_refusal);
  Result<void> Write(const Changes& changes);
  Result<void> WriteAll(const Changes& changes, KeyChanges& written);
  Result<void> WriteKeys(const Changes& changes);
  Result<void> WriteOthers(const Changes& changes);
  Result<void> Measure(const Changes& changes, KeyChanges& written);
  Result<void> MeasureKey(const KeyText& key, std::size_t rows_put, KeyChange& change);
  Result<void> Commit();
  void Abandon(const Error& error);
  Error Report(Error error);

  Connection& writer_;
  Known& known_;
  WriteHealth& health_;
  std::uint64_t version_;

  KeyChanges written_;                             // by the requests of this batch
  std::vector<std::shared_ptr<Request>> waiting_;  // for the commit
};

}  // namespace truce

#endif  // TRUCE_REGISTRY_STORE_SQLITE_COMMITTER_H_
