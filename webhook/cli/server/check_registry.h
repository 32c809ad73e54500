// The registry that `truce check` asks: a running server's API, patiently.
#ifndef TRUCE_WEBHOOK_CLI_SERVER_CHECK_REGISTRY_H_
#define TRUCE_WEBHOOK_CLI_SERVER_CHECK_REGISTRY_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "registry/base/clock.h"
#include "webhook/check/checker.h"
#include "webhook/cli/server/api_call.h"
#include "webhook/kube/backoff.h"

namespace truce {

struct PatienceOptions {
  Deadline end;            // of all questions together
  std::uint64_t seed = 0;  // of the jitter
  BackoffOptions backoff{std::chrono::milliseconds{250}, std::chrono::milliseconds{10'000}};
  std::chrono::seconds attempt_max{30};  // one attempt
  // Called before each wait with the trouble and the length of the wait. May be empty.
  std::function<void(const std::string& trouble, std::chrono::milliseconds wait)> tell = {};
  // Waits; for tests.
  std::function<void(std::chrono::milliseconds)> wait;
};

// Repeats what may succeed later: network errors, 408, 429 and 5xx, with exponential back-off and
// jitter, never sooner than Retry-After says, until `end`. The server's other refusals and a
// certificate that is not accepted are final. External synchronization.
class PatientRegistry final : public CheckRegistry {
 public:
  // `api` must outlive the registry.
  PatientRegistry(ApiConnection& api, PatienceOptions options);

  std::string_view name() const override { return api_.name(); }
  // Errors: as ErrorCodeOfStatus, with what to do; kUnavailable: no answer.
  Result<std::string> Ask(const std::string& body) override;

 private:
  ApiConnection& api_;
  PatienceOptions options_;
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_CLI_SERVER_CHECK_REGISTRY_H_
