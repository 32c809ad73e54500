// Exec plugins: a program that prints credentials (client.authentication.k8s.io).
#ifndef TRUCE_WEBHOOK_KUBE_EXEC_PLUGIN_H_
#define TRUCE_WEBHOOK_KUBE_EXEC_PLUGIN_H_

#include <optional>
#include <string>

#include "registry/base/clock.h"
#include "registry/base/result.h"
#include "webhook/kube/server_settings.h"

namespace truce {

// The output of a plugin: a token, or a certificate with its key, or both.
struct ExecCredential {
  std::string token;
  std::string certificate;
  std::string key;
  std::optional<Timestamp> expires;

  bool operator==(const ExecCredential&) const = default;
};

// Runs the plugin with no terminal and an empty standard input; it and its children are killed at
// `deadline`. It gets `authority` (PEM, may be empty) where the settings say so.
// Errors: kUnavailable, one line that names the command, with the first line of its standard error
//   and the install hint, never its output: not found, failed, killed at the deadline, output that
//   is too long or no ExecCredential of the configured version.
// Blocks at most until `deadline`. Thread-safe.
Result<ExecCredential> RunExecPlugin(const ServerSettings& settings, std::string_view authority,
                                     Deadline deadline);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_KUBE_EXEC_PLUGIN_H_
