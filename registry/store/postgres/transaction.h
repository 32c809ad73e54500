// PgTransaction: one decision or read of the PostgreSQL store.
#ifndef TRUCE_REGISTRY_STORE_POSTGRES_TRANSACTION_H_
#define TRUCE_REGISTRY_STORE_POSTGRES_TRANSACTION_H_

#include <cstdint>
#include <vector>

#include "registry/base/clock.h"
#include "registry/base/result.h"
#include "registry/store/discovery/discovery.h"
#include "registry/store/discovery/needs.h"
#include "registry/store/postgres/connection.h"

namespace truce {

class AskedAlong;

// Under which epochs of its leases a decision or read runs: it fails with kConflict once another
// server has a newer one. 0: it rests on no such lease.
struct PgEpochs {
  std::int64_t registry = 0;
  std::int64_t watch = 0;
};

// Rolled back when destroyed, unless it was written. External synchronization.
class PgTransaction final : public FactSource {
 public:
  // `kDecision`: READ COMMITTED, in which what is read after a lock is what its last holder left.
  // `kRead`: one snapshot, no locks.
  enum class Sort { kDecision, kRead };

  // `link` must outlive it and be in no transaction.
  PgTransaction(PgLink& link, Sort sort, Deadline deadline, PgEpochs epochs = {})
      : link_(link), sort_(sort), deadline_(deadline), epochs_(epochs) {}
  ~PgTransaction() override { Undo(); }
  PgTransaction(const PgTransaction&) = delete;
  PgTransaction& operator=(const PgTransaction&) = delete;

  Result<void> Begin(const FactNeeds& needs, bool whole, FactStock& stock) override;
  Result<bool> More(const FactNeeds& needs, FactStock& stock) override;
  void Undo() override;
  void OnManyRuns() override;

  // Writes `changes` and commits: the second round trip. Ok: the server said COMMIT, and warned of
  // nothing. Errors: kInternal (a constraint; nothing was written); kUnavailable and kDataLoss
  // (nothing was written); kDeadlineExceeded (the outcome is unknown).
  Result<void> Write(const Changes& changes);

  // Commits without changes, and waits as for a commit with some: then the rows read before are as
  // durable as if they were written now. (A primary may show rows after a crash that its standby
  // lacks.) Errors: as Write.
  Result<void> Confirm();

  // The highest number of the audit lines that Write wrote; 0: it wrote none.
  std::int64_t last_audit_line() const { return last_audit_line_; }

  // Whether the last Write or Confirm failed without telling what it did.
  bool in_doubt() const { return in_doubt_; }

 private:
  Result<void> Commit(std::vector<PgStatement> statements);
  Result<bool> Take(const char* mode, const FactNeeds& needs, FactStock& stock);
  PgStatement TakeStatement(const char* mode, const FactNeeds& needs,
                            const AskedAlong& along) const;

  PgLink& link_;
  const Sort sort_;
  const Deadline deadline_;
  const PgEpochs epochs_;
  bool open_ = false;
  bool whole_ = false;
  bool in_doubt_ = false;
  std::int64_t last_audit_line_ = 0;
};

}  // namespace truce

#endif  // TRUCE_REGISTRY_STORE_POSTGRES_TRANSACTION_H_
