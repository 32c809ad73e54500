// RegistryPart: the registry in a server: its store, which is opened late, the audit log's bounds,
// the trial's record, and the disk under all that.
#ifndef TRUCE_WEBHOOK_UPKEEP_REGISTRY_PART_H_
#define TRUCE_WEBHOOK_UPKEEP_REGISTRY_PART_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "registry/base/clock.h"
#include "registry/base/guarded.h"
#include "registry/base/result.h"
#include "registry/identity/values.h"
#include "registry/ownership/terms.h"
#include "registry/store/opening_store.h"
#include "webhook/api/rest/rest_backup.h"
#include "webhook/api/review_books.h"
#include "webhook/config/config.h"
#include "webhook/log/log.h"
#include "webhook/metrics/metrics.h"
#include "webhook/upkeep/database_metrics.h"
#include "webhook/upkeep/disk_failure.h"
#include "webhook/upkeep/registry_numbers.h"
#include "webhook/watch/recovery/witness.h"

namespace truce {

struct AdmissionPolicy;
class PostgresStore;

// The uid of the cluster's kube-system namespace (KubeSystemOf).
using KubeSystemFn = std::function<Result<Uid>()>;

// Thread-safe, but for Open, Step and Stop, which are for one thread.
class RegistryPart final {
 public:
  // Reads when the disk failed last. References must outlive it.
  RegistryPart(const Config& config, Logger& logger, const Clock& clock);
  ~RegistryPart();
  RegistryPart(const RegistryPart&) = delete;
  RegistryPart& operator=(const RegistryPart&) = delete;

  // Everybody's store; not open yet.
  Store& store() { return store_; }
  const Store& store() const { return store_; }
  // The store of the watch's writes, not open yet: on a database it refuses, with kConflict,
  // decisions made while another server watches.
  Store& watch_store() { return is_database_ ? watch_store_ : store_; }
  // Reviews report to both.
  TrialBook& trials() { return trials_; }
  DenialBook& denials() { return denials_; }
  const DiskFailures& disk_failures() const { return disk_failures_; }

  // A copy of the registry as it is at one moment. Errors: kConflict: it is kept in no file; those
  // of BackUp. Blocks as long as it takes. Once it is open, thread-safe.
  Result<RegistryCopy> Copy() const;

  // The reason why the registry cannot be written, in one line; empty: none is known. As the last
  // Step found it. Thread-safe.
  std::string WriteProblem() const;

  // Opens the store that `config` names and brings its keys up to the catalogue of `policy`. False:
  // another server is active on its database, it is not known yet whose cluster this is, or its
  // volume is full; waiting_for says so, and it is to be called again until true. Blocks for some
  // seconds where a database does not answer. Errors: as the store's Open, and of `kube_system`;
  // kConflict: it is the registry of another cluster, and nothing was written to its database; or a
  // migration into it has not ended.
  Result<bool> Open(const Config& config, const AdmissionPolicy& policy,
                    const KubeSystemFn& kube_system);
  bool is_open() const { return is_open_.load(); }  // thread-safe
  // One line, for readiness.
  const std::string& waiting_for() const { return waiting_for_; }
  // The promise that the configuration asks for and its database does not give; empty: none.
  // Thread-safe once open.
  const std::string& durability() const { return durability_; }
  // A line that says that its database's clock and this server's differ; empty: they do not.
  // Thread-safe.
  std::string ClockProblem() const;
  // The server for whose sake this one answers nothing, though the registry is open: it makes other
  // keys, and has taken the registry over or is about to. One line, for readiness; empty: it
  // answers.
  std::string StandbyReason() const;
  // Why the registry is no longer this server's; nothing: it is.
  std::optional<Error> Lost() const;

  // Whether this server is the one that watches the cluster; if none is, this one becomes it. To be
  // called once open, and again while false; the log says which one is then. Without a database it
  // always is. Blocks for some seconds where the database does not answer.
  bool TakeWatch();
  // The server that watches, as was found last, for people; empty: not known, or no other one
  // could. Thread-safe.
  std::string Watcher() const;
  // Whether another server watches, or answers beside this one. Thread-safe.
  bool IsBesideAnother() const;
  // Gives the watch to the next server at once. At an end.
  void GiveWatchBack();

  // Does the periodic work that is due; to be called each second. Blocks for 20 s at most.
  void Step(const Config& config, const PartyRules& parties);
  // Why its database lacks acknowledged changes, as Step found; empty: it has everything.
  const std::string& loss() const { return loss_; }
  // True when the disk failed: the process must end and start anew; says so in the log.
  bool MustEnd() { return !Lost() && disk_failures_.MustEnd(data_dir_); }
  // Writes data that is not kept yet. Reviews have ended.
  void Stop();

  void WriteMetrics(MetricWriter& writer) const;

 private:
  // Null: another server is active.
  Result<std::unique_ptr<Store>> OpenStore(const Config& config, const AdmissionPolicy& policy,
                                           const KubeSystemFn& kube_system);
  Result<std::unique_ptr<Store>> OpenFile(const Config& config);
  Result<std::unique_ptr<Store>> OpenDatabase(const Config& config, const AdmissionPolicy& policy,
                                              const KubeSystemFn& kube_system);
  // False: that is not known yet.
  Result<bool> IsOurs(const Config& config, const KubeSystemFn& kube_system);
  void WaitFor(std::string what);
  // Logs now and then how far the names follow the catalogue.
  std::function<void(std::size_t done, std::size_t all)> RespellProgress();
  void KeepAudit(const Config& config);
  void EndReservations(const PartyRules& parties);
  void KeepBooks();
  void LookAtRoom();
  void TellMissing();
  // Whether `store`, not opened before, has the witness that this server remembers of it.
  Result<void> CompareWithWitness(Store& store, bool has_cluster);
  // Reports it, and enters recovery mode.
  Result<void> RecoverFrom(const std::string& loss, Store& store, bool has_cluster);
  // Commits once and marks the log, of a store that is a file. A full disk takes neither.
  void BeginLog(Store& store);
  void KeepWitness();
  void Remember(const std::optional<AuditWitness>& witness);
  void TellLoss(const std::string& loss);
  void CompareClocks();
  void CountNumbers(const Config& config);

  Logger& logger_;
  const Clock& clock_;
  const std::string data_dir_;
  const bool is_database_;  // the store is PostgreSQL's, else SQLite's
  DatabaseMetrics database_metrics_{logger_};
  std::unique_ptr<PostgresStore> waiting_;       // open, while another server is active
  std::atomic<PostgresStore*> active_{nullptr};  // null: this server is not; else in store_
  std::string loss_;
  std::string log_loss_;                 // found in the log before the store was opened
  std::optional<AuditWitness> witness_;  // as its file has it
  Deadline witness_due_{};
  std::string witness_problem_;  // the last one told
  std::string clock_problem_;    // at the last step
  Guarded<std::string> write_problem_;
  Guarded<std::string> watcher_;  // the server that watches, by the last report
  bool is_ours_ = false;          // its registry is this cluster's, or free
  std::string waiting_for_;
  std::string durability_;
  std::atomic<bool> is_open_{false};
  OpeningStore store_;
  OpeningStore watch_store_;  // of a database: over what store_ owns
  bool watches_ = false;
  bool watched_ = false;  // it gave the watch back when it went to standby
  DiskFailures disk_failures_{store_, logger_, clock_};
  TrialBook trials_{store_, clock_};
  DenialBook denials_{store_, clock_};
  Deadline books_due_{};
  std::string books_problem_;
  RegistryNumbers numbers_{store_, clock_};
  Deadline numbers_due_{};
  std::string audit_problem_;  // the last one told
  Deadline reservations_due_{};
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_UPKEEP_REGISTRY_PART_H_
