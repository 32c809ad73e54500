// RefusedChanges: changes during the run of the server that are not in force, because they are bad.
#ifndef TRUCE_WEBHOOK_SERVE_REFUSED_CHANGES_H_
#define TRUCE_WEBHOOK_SERVE_REFUSED_CHANGES_H_

#include <string>

#include "registry/base/guarded.h"
#include "webhook/config/reload.h"
#include "webhook/log/log.h"
#include "webhook/metrics/metrics.h"

namespace truce {

// Report… are for one thread; all else is thread-safe.
class RefusedChanges final {
 public:
  // `logger` must outlive the object.
  explicit RefusedChanges(Logger& logger) : logger_(logger) {}

  // The result of reading the configuration file again. True: it is refused, and that is news.
  bool ReportConfiguration(const ReloadOutcome& outcome);
  // Why the files of secrets and tokens are refused now; empty: they are taken over. True as above.
  bool ReportCredentials(const std::string& problem);

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
  Guarded<Problems> problems_;
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_SERVE_REFUSED_CHANGES_H_
