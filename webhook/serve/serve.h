// `truce serve`: everything wired together, from the configuration to a clean end.
#ifndef TRUCE_WEBHOOK_SERVE_SERVE_H_
#define TRUCE_WEBHOOK_SERVE_SERVE_H_

#include <string_view>

#include "registry/base/result.h"
#include "webhook/config/load.h"

namespace truce {

struct ServeOptions {
  ConfigSources sources;     // for reading the file again
  LoadedConfig loaded;       // with noCluster
  std::string_view version;  // outlives the call
};

// Serves until SIGTERM or SIGINT, then drains: not ready, replies close their connections, after
// `drainGrace` no connection is accepted any more and what has begun is finished. A second signal
// skips the grace. Call it from the only thread of the process: it blocks the signals for all.
// Errors: kInvalidArgument (a setting or file), kNotFound (a file), kConflict (address in use, data
//   directory in use), kUnavailable (data directory, listeners, certificates, database), kDataLoss
//   (damaged database).
Result<void> Serve(ServeOptions options);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_SERVE_SERVE_H_
