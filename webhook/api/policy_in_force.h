// PolicyInForce: by which policy reviews are judged now.
#ifndef TRUCE_WEBHOOK_API_POLICY_IN_FORCE_H_
#define TRUCE_WEBHOOK_API_POLICY_IN_FORCE_H_

#include <memory>

namespace truce {

struct AdmissionPolicy;

// Port. Thread-safe; never blocks.
class PolicyInForce {
 public:
  virtual ~PolicyInForce() = default;
  // One immutable snapshot; null before the server listens.
  virtual std::shared_ptr<const AdmissionPolicy> policy() const = 0;
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_API_POLICY_IN_FORCE_H_
