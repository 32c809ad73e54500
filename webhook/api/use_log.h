// UseLog: the reads of reports of the whole cluster, with their callers, in the audit log.
#ifndef TRUCE_WEBHOOK_API_USE_LOG_H_
#define TRUCE_WEBHOOK_API_USE_LOG_H_

#include <chrono>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "registry/base/clock.h"
#include "registry/base/guarded.h"
#include "registry/base/result.h"

namespace truce {

class Store;

// A page that looks again every few seconds is one use; a log of such reads would hide the rest.
inline constexpr std::chrono::minutes kOneUse{10};
// Kept in memory; beyond, all are forgotten, and lines are written again sooner.
inline constexpr std::size_t kUsesKept = 1000;

// Thread-safe.
class UseLog final {
 public:
  // References must outlive it.
  UseLog(Store& store, const Clock& clock) : store_(store), clock_(clock) {}

  // Writes, durably, that `actor` read the report `what`, unless a line of the last kOneUse says
  // so. Errors: those of Store::Apply.
  Result<void> Note(const std::string& actor, std::string_view what, Deadline deadline);
  // Writes `cause` whenever it is called. Errors: those of Store::Apply.
  Result<void> Write(const std::string& actor, const std::string& cause, Deadline deadline);

 private:
  using Uses = std::map<std::pair<std::string, std::string>, Timestamp>;

  Store& store_;
  const Clock& clock_;
  Guarded<Uses> uses_;  // when each was written last
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_API_USE_LOG_H_
