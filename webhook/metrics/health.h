// Health: alive while the process answers; ready when every part of it says so.
#ifndef TRUCE_WEBHOOK_METRICS_HEALTH_H_
#define TRUCE_WEBHOOK_METRICS_HEALTH_H_

#include <map>
#include <string>
#include <string_view>

#include "registry/base/guarded.h"

namespace truce {

// Which parts are ready and why the others are not. Thread-safe; never blocks on I/O.
class Health final {
 public:
  // Part `name` is not ready, because of `reason` (one line). A part named once counts from then
  // on.
  void SetNotReady(std::string_view name, std::string_view reason);
  void SetReady(std::string_view name);

  // True when at least one part is named and all are ready.
  bool IsReady() const;

  // One line per part, sorted: "[+] store: ok" or "[-] store: opening the database".
  std::string Report() const;

 private:
  Guarded<std::map<std::string, std::string, std::less<>>> reasons_;  // "" = ready
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_METRICS_HEALTH_H_
