// The policy of an AdmissionService, for what needs no more of a server.
#ifndef TRUCE_TESTS_SUPPORT_SERVICE_POLICY_H_
#define TRUCE_TESTS_SUPPORT_SERVICE_POLICY_H_

#include <memory>

#include "webhook/admission/service.h"
#include "webhook/serve/policy.h"

namespace truce {

class ServicePolicy final : public PolicyView {
 public:
  explicit ServicePolicy(const AdmissionService& service) : service_(service) {}
  std::shared_ptr<const AdmissionPolicy> policy() const override { return service_.policy(); }
  bool ready() const override { return is_ready; }

  bool is_ready = true;

 private:
  const AdmissionService& service_;
};

}  // namespace truce

#endif  // TRUCE_TESTS_SUPPORT_SERVICE_POLICY_H_
