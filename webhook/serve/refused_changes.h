// RefusedChanges: what was changed while the server runs and is not in force, because it is bad.
#ifndef TRUCE_WEBHOOK_SERVE_REFUSED_CHANGES_H_
#define TRUCE_WEBHOOK_SERVE_REFUSED_CHANGES_H_

#include <functional>
#include <string>
#include <utility>

#include "registry/base/guarded.h"
#include "webhook/config/reload.h"
#include "webhook/log/log.h"
#include "webhook/metrics/metrics.h"

namespace truce {

// Report… are for one thread; all else is thread-safe.
class RefusedChanges final {
 public:
  // Called with the reason of each new refusal. Must not block.
  using OnRefused = std::function<void(const std::string&)>;
  // `logger` must outlive the object.
  RefusedChanges(Logger& logger, OnRefused on_refused)
      : logger_(logger), on_refused_(std::move(on_refused)) {}

  // What a look at the configuration file found.
  void ReportConfiguration(const ReloadOutcome& outcome);
  // Why the files of secrets and tokens are refused now; empty: they are taken over.
  void ReportCredentials(const std::string& problem);

  // Why; empty: everything is in force.
  std::string configuration() const;
  std::string credentials() const;
  // truce_refused_changes{part="configuration|credentials"}: 0 or 1
  void WriteMetrics(MetricWriter& writer) const;

 private:
  struct Problems {
    std::string configuration;
    std::string credentials;
  };

  Logger& logger_;
  const OnRefused on_refused_;
  Guarded<Problems> problems_;
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_SERVE_REFUSED_CHANGES_H_
