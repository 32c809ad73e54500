// PgLease: which of the servers on one database may do what one of them may do, or all that share.
#ifndef TRUCE_REGISTRY_STORE_POSTGRES_LEASE_H_
#define TRUCE_REGISTRY_STORE_POSTGRES_LEASE_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "registry/base/clock.h"
#include "registry/base/result.h"
#include "registry/base/worker.h"
#include "registry/store/postgres/pool.h"
#include "registry/store/postgres/target.h"

namespace truce {

// The holder of a lease, as a waiting server sees it.
struct OtherServer {
  std::string holder;
  std::chrono::milliseconds left;  // of its lease, unless it is renewed
};

// Held and renewed by a thread of its own until destroyed; then it is given back, so that the next
// server need not wait for its end. Nobody's clock but the database's counts. Thread-safe.
//
// A shared one is held by all servers that say the same word. A server with another word announces
// itself by asking: the holders look for that each second and go to standby, which frees the lease
// for the newcomer once all did; they hold it again where that one is gone without having had it.
class PgLease final {
 public:
  // Being an active server; writing what the cluster shows.
  enum class Sort : std::uint8_t { kRegistry, kWatch };
  struct Claim {
    Sort sort = Sort::kRegistry;
    std::string holder;  // a name that is this server's alone, also over its restarts
    std::optional<std::string> shared = {};  // it is shared by all that say this; nothing: alone
    std::chrono::seconds time{};
  };
  // Becomes the holder, or one of those that share, asking by a connection of `asked`: `taken` is
  // its lease then, else the other one is returned. Waits for decisions under the former holder's
  // epoch that run, never for its lease. Errors: kUnavailable, kDeadlineExceeded.
  static Result<std::optional<OtherServer>> Take(PgPool& asked, const Claim& claim,
                                                 Deadline deadline,
                                                 std::unique_ptr<PgLease>& taken);
  ~PgLease();
  PgLease(const PgLease&) = delete;
  PgLease& operator=(const PgLease&) = delete;

  // Never 0.
  std::int64_t epoch() const { return epoch_; }
  enum class Standing : std::uint8_t {
    kHeld,
    kStandby,  // a server that says another word has it, or will
    kLost,     // another server has it: decisions under this one's epoch are refused
  };
  Standing standing() const { return standing_.load(); }
  bool lost() const { return standing() == Standing::kLost; }
  // The database's clock less this machine's, as of the last renewal: that much at least. 0: they
  // agree as far as known, or nobody knows yet.
  std::chrono::milliseconds clock_difference() const {
    return std::chrono::milliseconds(clock_difference_.load());
  }
  // How many others share it, as of the last renewal.
  std::int64_t beside() const { return beside_.load(); }

 private:
  PgLease(const PgTarget& target, std::int64_t epoch, const Claim& claim);

  Worker::Rest Keep();
  // Renews it until `time` from now, and returns its standing. Errors: as Take.
  Result<Standing> Extend(std::chrono::seconds time, Deadline deadline);
  // Whether another server wants to say another word, as far as this one knows.
  bool IsUnwanted(Deadline deadline);
  void GiveBack();

  PgPool pool_;  // of one connection: it waits for no decision
  const Sort sort_;
  const std::int64_t epoch_;
  const std::string holder_;
  const std::optional<std::string> word_;  // nothing: it is not shared
  const std::chrono::seconds time_;
  std::atomic<Standing> standing_{Standing::kHeld};
  std::atomic<std::int64_t> clock_difference_{0};  // ms
  std::atomic<std::int64_t> beside_{0};
  Deadline due_{};  // of the next renewal
  Worker keeper_{[this] { return Keep(); }};
};

}  // namespace truce

#endif  // TRUCE_REGISTRY_STORE_POSTGRES_LEASE_H_
