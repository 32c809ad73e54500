// Store port: where ownership is kept, and the one place where concurrent declarations are put in
// order. Users of the rows themselves include registry/ownership/rows.h.
#ifndef TRUCE_REGISTRY_STORE_STORE_H_
#define TRUCE_REGISTRY_STORE_STORE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "registry/base/clock.h"
#include "registry/base/result.h"
#include "registry/ownership/facts.h"

namespace truce {

struct Changes;

// Decides on facts that nobody else can change, returns what to write. May run more than once (a
// store may retry; after changes that may have been written only where they are `repeatable`): only
// its last run counts, so what it tells beside its result starts anew with each. Each run gets the
// same public ids (DecisionIds). Must not block and not call the store.
using DecideFn = std::function<Changes(const AllFacts&)>;
// Reads committed facts. May run more than once, when a commit overtakes it: only what the last run
// saw counts, so it starts its captures anew. Must not block and not call the store.
using ReadFn = std::function<void(const AllFacts&)>;
// How a Submit ended. Must be short and must not block.
using OnDone = std::function<void(Result<void>)>;

struct StoreCounts {
  std::uint64_t owners = 0;
  std::uint64_t reserved = 0;  // owners by state for people: reserved, held, orphaned, imported
  std::uint64_t held = 0;
  std::uint64_t orphaned = 0;
  std::uint64_t imported = 0;
  std::uint64_t conflicts = 0;  // Owner::contested

  bool operator==(const StoreCounts&) const = default;
};

// Thread-safe. One instance per process and data directory.
class Store {
 public:
  virtual ~Store() = default;

  // Calls `decide` and writes its changes, all or nothing; `locks`: the things that it probably
  // touches. `decide` runs on any thread, but only until Apply returns, also where that gives up:
  // its references may point into the caller's frame. Past `deadline` no decision begins, and one
  // that runs is waited for. Drops come before puts; dropping a missing thing is no error; of two
  // puts of one thing the last one counts. Constraints: a thing that is put has its identity, and
  // its resource a key (none of these texts is empty); a row's resource has an owner, or was put as
  // observed; one with a managing reservation has an owner (backs I1 and I2); the resource of a
  // name or an agreement has an owner or rows once the change is done (I13). Put as observed, an
  // owned resource stays owned. Observers that an owner leaves behind are shown by the key that it
  // had. Durable on return (SQLite: synchronous=FULL): an answer sent after it survives a power cut
  // (I3). Errors: kUnavailable (busy, disk full, read-only: nothing was written);
  // kResourceExhausted (queue full: nothing was written); kDeadlineExceeded (the outcome is
  // unknown: repeat the review, which is idempotent); kDataLoss (the database is damaged);
  // kInternal (the changes break a constraint: nothing was written). Blocks at most until
  // `deadline` and, where that finds `decide` running, its end (microseconds). When `decide`
  // returns no changes nothing is written and the call needs no working disk.
  virtual Result<void> Apply(const Locks& locks, const DecideFn& decide, Deadline deadline) = 0;

  // As Apply, for callers that have more to do than to wait: calls `done` once with what Apply
  // would have returned, before Submit returns or later from a thread of the store, also when the
  // store closes. Both are kept until then, with all they hold, and may run after the caller has
  // lost patience: they own what they use. `decide` does not run after `done` was called. After
  // `deadline` no decision begins; a commit that has begun is waited for, so `done` may come later
  // than `deadline`. This default applies at once.
  // NOLINTNEXTLINE(performance-unnecessary-value-param): for stores that keep them.
  virtual void Submit(const Locks& locks, DecideFn decide, Deadline deadline, OnDone done) {
    done(Apply(locks, decide, deadline));
  }

  // Calls `read` on one consistent committed state, which need not be durable yet, before it
  // returns. Never writes, waits for no commit. `hints`: what `read` probably asks, for stores that
  // bring it beforehand. Errors: kUnavailable, kDeadlineExceeded, kDataLoss.
  virtual Result<void> Read(const Locks& hints, const ReadFn& read, Deadline deadline) const = 0;
  Result<void> Read(const ReadFn& read, Deadline deadline) const {
    return Read(Locks{}, read, deadline);
  }
  // True: each call costs round trips, which hints save. Never blocks.
  virtual bool is_remote() const { return false; }

  // Number of ownerships by state, as of lately. Blocks for two seconds at most.
  virtual StoreCounts Counts() const = 0;

  // Whether the last write worked: ok, or the error that the next write would probably meet. Never
  // blocks.
  virtual Result<void> Health() const = 0;

  // Why this process must end and start anew, if so: the disk lacks changes that were given to it,
  // and only opening the store finds out (SQLite: a sync of the database failed; its log still has
  // everything that was acknowledged). Nothing is written any more. Never blocks.
  virtual std::optional<Error> FatalFailure() const { return std::nullopt; }
};

}  // namespace truce

#endif  // TRUCE_REGISTRY_STORE_STORE_H_
