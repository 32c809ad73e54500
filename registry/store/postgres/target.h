// Where a database is, and how to prove who asks.
#ifndef TRUCE_REGISTRY_STORE_POSTGRES_TARGET_H_
#define TRUCE_REGISTRY_STORE_POSTGRES_TARGET_H_

#include <functional>
#include <string>

#include "registry/base/clock.h"
#include "registry/base/result.h"
#include "registry/store/postgres/observer.h"

namespace truce {

// The password of the moment. Thread-safe; blocks at most until the deadline.
using PasswordSource = std::function<Result<std::string>(Deadline)>;

struct PgTarget {
  // As libpq takes it: "postgres://USER@HOST:PORT/NAME". Of several hosts the first one that takes
  // writes is used.
  std::string url;
  // Asked for each connection; null: whatever libpq finds itself (PGPASSFILE, a client's
  // certificate).
  PasswordSource password;
  PgObserver observer = {};
};

}  // namespace truce

#endif  // TRUCE_REGISTRY_STORE_POSTGRES_TARGET_H_
