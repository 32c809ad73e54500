// The Secret that Truce keeps for itself: its certificates, and the secret in the path of reviews.
#ifndef TRUCE_WEBHOOK_PUBLISH_OWNED_SECRET_H_
#define TRUCE_WEBHOOK_PUBLISH_OWNED_SECRET_H_

#include <string>
#include <string_view>

#include "certs/self_made.h"
#include "registry/base/result.h"

namespace truce {

// Keys of its data: ca.crt, ca.key, tls.crt, tls.key, admission.secret.
struct OwnedSecret {
  SelfMadeCertificates certificates;
  std::string path_secret;       // the root of the endpoints' secrets (webhook/wire/endpoints.h)
  std::string resource_version;  // empty: it does not exist yet

  bool operator==(const OwnedSecret&) const = default;
};

// Reads a v1 Secret; parts that are missing, no base64, or no secret of a path are empty. Errors:
// kInvalidArgument (no Secret).
Result<OwnedSecret> ReadOwnedSecret(std::string_view json);

// JSON merge patch that makes a Secret of that resourceVersion hold `wanted`.
std::string PatchOfOwnedSecret(const OwnedSecret& wanted);

// A new Secret of that name.
std::string NewOwnedSecret(const OwnedSecret& wanted, const std::string& name);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_PUBLISH_OWNED_SECRET_H_
