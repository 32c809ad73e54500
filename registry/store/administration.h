// Administration: what the registry keeps beside ownerships, texts under names (settings), and the
// audit lines of who changed them.
#ifndef TRUCE_REGISTRY_STORE_ADMINISTRATION_H_
#define TRUCE_REGISTRY_STORE_ADMINISTRATION_H_

#include <functional>
#include <optional>
#include <string>

#include "registry/base/clock.h"
#include "registry/base/result.h"

namespace truce {

class Ledger;
class Store;

// One transaction. Lives as long as the function that it is given to.
class Administration final {
 public:
  explicit Administration(Ledger& ledger) : ledger_(ledger) {}

  // As this transaction has written it, else as it is kept.
  std::optional<std::string> Setting(const std::string& name) const;
  void PutSetting(const std::string& name, std::string value);
  // A line of the action kAdministered.
  void Audit(const std::string& actor, std::string cause);
  Timestamp now() const;

 private:
  Ledger& ledger_;
};

// Runs `change` in one transaction and writes what it put: nothing where it put nothing. `now` is
// the time of its audit lines. It may run more than once, as a DecideFn, and starts its captures
// anew. Errors: those of Store::Apply.
Result<void> Administer(Store& store, Timestamp now, Deadline deadline,
                        const std::function<void(Administration&)>& change);

}  // namespace truce

#endif  // TRUCE_REGISTRY_STORE_ADMINISTRATION_H_
