// PolicySource: the policy in force: the configuration and what Truce's own objects add to it.
#ifndef TRUCE_WEBHOOK_PUBLISH_POLICY_SOURCE_H_
#define TRUCE_WEBHOOK_PUBLISH_POLICY_SOURCE_H_

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "policies/policy.h"
#include "registry/base/result.h"
#include "webhook/config/config.h"
#include "webhook/config/policy.h"
#include "webhook/publish/own_object.h"

namespace truce {

// A policy and the configuration it was made of: the file's, with the objects applied.
struct EffectivePolicy {
  std::shared_ptr<const AdmissionPolicy> policy;
  std::shared_ptr<const Config> config;
};

// Whether both lead to the same identities, parties and times: recorded kinds need not be read
// again.
bool SaysTheSameOfObjects(Config a, Config b);

// Calls do not overlap. Must not call the source.
using PolicyFn = std::function<void(const EffectivePolicy&)>;

// The policy in force: the configuration must be good by itself. Objects are applied on top of it,
// and the whole is checked before it takes effect. An object that does not fit is refused, alone:
// its last accepted version stays in force while it fits, objects accepted before (also by a server
// before this one: their condition says it) win over new ones, and older objects over younger ones.
// A changed configuration wins over all objects.
//
// Thread-safe. Calls `on_policy`, under the lock, whenever another policy is in force.
class PolicySource final : public OwnHandler {
 public:
  PolicySource(std::shared_ptr<const Catalogue> catalogue, PolicyFn on_policy);

  // Takes over a configuration, with the objects known. Errors: kInvalidArgument: it is bad by
  // itself; nothing changes.
  Result<void> Configure(const Config& config);

  // The verdict about `object` if it came now; changes nothing. kInvalidArgument: as the verdict.
  Result<void> Try(const OwnObject& object) const;

  std::vector<ServedKind> kinds() const override;
  std::vector<OwnVerdict> Take(std::span<const OwnObject> objects) override;

 private:
  using Objects = std::vector<const OwnObject*>;

  Result<EffectivePolicy> Build(const Config& config, const Objects& objects) const;
  std::vector<std::size_t> OrderOf(std::span<const OwnObject> objects) const;
  bool IsInForce(const OwnObject& object) const;
  OwnVerdict Admit(const OwnObject& object, Objects& accepted) const;
  std::vector<OwnVerdict> Apply(std::span<const OwnObject> objects);

  const PolicyFn on_policy_;
  mutable std::mutex mutex_;
  mutable NamedCatalogue types_;               // under mutex_: names once they were needed
  Config config_;                              // under mutex_: without objects
  std::vector<OwnObject> objects_;             // under mutex_: as taken last
  std::map<std::string, OwnObject> in_force_;  // under mutex_: by uid
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_PUBLISH_POLICY_SOURCE_H_
