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

// Why it ended without an error.
enum class ServeEnd {
  kAsked,
  // A sync of the registry failed: the disk's content is unknown until a start reads it anew. It
  // ended at once, without a grace; the log says so, and the next process reports when it was.
  kDiskFailed
};

// Serves until SIGTERM or SIGINT, then drains: not ready, replies close their connections, after
// `drainGrace` no connection is accepted any more and what has begun is finished. A second signal
// skips the grace. Call it from the only thread of the process: it blocks the signals for all.
// Errors: kInvalidArgument (a setting or file), kNotFound (a file), kConflict (address in use, data
//   directory in use), kUnavailable (data directory, listeners, certificates, database), kDataLoss
//   (damaged database).
Result<ServeEnd> Serve(ServeOptions options);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_SERVE_SERVE_H_
