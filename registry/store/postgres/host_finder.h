// HostFinder: the addresses of a host, asked for without waiting longer than one may.
#ifndef TRUCE_REGISTRY_STORE_POSTGRES_HOST_FINDER_H_
#define TRUCE_REGISTRY_STORE_POSTGRES_HOST_FINDER_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "registry/base/clock.h"
#include "registry/base/result.h"

namespace truce {

// The answer of the system's resolver for `host`: numeric addresses, at least one, in its order.
// Blocks for as long as the resolver likes. Errors: kUnavailable, one line with what to do.
Result<std::vector<std::string>> AskResolver(const std::string& host);

// Each question has a thread of its own, which ends by itself: neither the caller nor this object
// waits for it. A second caller for one host waits for the first one's answer, so there is one
// thread for each name at most. Nothing is remembered: after a fail-over another machine has the
// name, and the one before may still take writes. Thread-safe.
class HostFinder {
 public:
  using AskFn = std::function<Result<std::vector<std::string>>(const std::string& host)>;

  explicit HostFinder(AskFn ask = &AskResolver);

  // Errors: those of the question; kDeadlineExceeded (no answer yet); kUnavailable (no thread).
  Result<std::vector<std::string>> Find(const std::string& host, Deadline deadline);

 private:
  struct Questions;
  const std::shared_ptr<Questions> questions_;  // shared with the threads
};

}  // namespace truce

#endif  // TRUCE_REGISTRY_STORE_POSTGRES_HOST_FINDER_H_
