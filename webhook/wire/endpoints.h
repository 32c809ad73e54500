// The endpoints that the API server sends reviews to. Each has a path and a secret of its own: the
// API server shows the URL of a webhook that it cannot reach to the user whose request fails.
#ifndef TRUCE_WEBHOOK_WIRE_ENDPOINTS_H_
#define TRUCE_WEBHOOK_WIRE_ENDPOINTS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "registry/base/result.h"

namespace truce {

enum class Endpoint : std::uint8_t {
  kDeclarations,  // "/validate": the only one that writes
  kDeletions,     // "/validate-deletion"
  kStatus,        // "/validate-status"
  kChecks,        // "/validate-check"
  kPolicies,      // "/validate-policy"
  kCompositions,  // "/validate-composition"
};
inline constexpr std::array kEndpoints = {Endpoint::kDeclarations, Endpoint::kDeletions,
                                          Endpoint::kStatus,       Endpoint::kChecks,
                                          Endpoint::kPolicies,     Endpoint::kCompositions};

// "declarations"; the chart computes secrets from these names, too.
std::string_view Name(Endpoint endpoint);
std::string_view PathOf(Endpoint endpoint);

// One text for each endpoint.
using EndpointTexts = std::array<std::string, kEndpoints.size()>;
inline const std::string& Of(const EndpointTexts& texts, Endpoint endpoint) {
  return texts[static_cast<std::size_t>(endpoint)];
}

// The secrets that follow from `root`, 32 hex digits: the first 32 hex digits of the SHA-256 of
// "<root>/<name>". None tells the root or another one.
EndpointTexts SecretsOf(std::string_view root);

// "/validate/<secret>" and its like; without a root the plain paths.
EndpointTexts PathsOf(std::string_view root);

// Conditions of the entries by which updates are sent. That of the declarations' drops updates that
// change neither spec, annotations, labels nor owner references. Those of the finalizers' entry
// (`finalizers.truce.dev`, to the declarations' path, which nobody waits for) send of the dropped
// ones those that change finalizers of a terminating object: else it could not end while Truce is
// away.
extern const std::string_view kUpdateCondition;
extern const std::string_view kFinalizersCondition;
// "!(kUpdateCondition)".
std::string OtherUpdatesCondition();

// Whether `text` can be a root.
bool IsPathSecret(std::string_view text);

// A new root, from the system's random numbers. Errors: kUnavailable.
Result<std::string> NewPathSecret();

}  // namespace truce

#endif  // TRUCE_WEBHOOK_WIRE_ENDPOINTS_H_
