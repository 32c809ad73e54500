// Which resources the manifests of a file declare, by the running server's own rules.
#ifndef TRUCE_WEBHOOK_CLI_DECLARED_KEYS_H_
#define TRUCE_WEBHOOK_CLI_DECLARED_KEYS_H_

#include <string>
#include <vector>

#include "webhook/cli/api_call.h"

namespace truce {

// The keys and further names in the order of the manifests, each once. `file`: YAML documents or
// JSON; "-" is standard input. Anything but kOk: a message was written; kUsage: also when the
// manifests declare nothing that is known.
ExitCode KeysDeclaredIn(const ApiFlags& flags, const std::string& file, CommandIo& io,
                        std::vector<std::string>& keys);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_CLI_DECLARED_KEYS_H_
