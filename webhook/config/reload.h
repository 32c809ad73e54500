// Taking over a changed configuration file while running.
#ifndef TRUCE_WEBHOOK_CONFIG_RELOAD_H_
#define TRUCE_WEBHOOK_CONFIG_RELOAD_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "registry/base/guarded.h"
#include "webhook/config/load.h"

namespace truce {

// The result of one look at the file.
struct ReloadOutcome {
  enum class Kind {
    kUnchanged,
    kReloaded,  // the new snapshot is in force
    kRefused,   // the file is bad or gone: the last good one stays; reported once per content
  };

  Kind kind = Kind::kUnchanged;
  std::string message;                    // kRefused: why
  std::vector<std::string> restart_keys;  // changed, but in force only after a restart
};

// Holds the configuration in force. A snapshot never changes; take it once per request.
// Thread-safe; Poll() from one thread at a time.
class ConfigHolder final {
 public:
  ConfigHolder(ConfigSources sources, LoadedConfig initial);

  std::shared_ptr<const Config> Current() const { return current_.Current(); }

  // Builds what follows from a new snapshot (identity rules, say) and puts it in force; its error
  // refuses the snapshot, and then it must have changed nothing.
  using TakeOver = std::function<Result<void>(const std::shared_ptr<const Config>&)>;

  // Reads the file again and, when `take_over` agrees, puts the keys that reload in force. Compares
  // content, not times, so that a mounted ConfigMap whose link is swapped is seen. Blocks for one
  // file read and `take_over`.
  ReloadOutcome Poll(const TakeOver& take_over);

 private:
  ReloadOutcome Refuse(std::string content, std::string message);

  const ConfigSources sources_;
  std::string last_content_;  // used by Poll() only
  InForce<Config> current_;
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_CONFIG_RELOAD_H_
