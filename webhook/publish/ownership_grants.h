// OwnershipGrants: shares, protections and hand-overs declared in Git (OwnershipGrant), brought
// about in the registry. An object speaks for its namespace only: it is void while another party
// owns the resource. An agreement ends when its object no longer declares it or is deleted.
#ifndef TRUCE_WEBHOOK_PUBLISH_OWNERSHIP_GRANTS_H_
#define TRUCE_WEBHOOK_PUBLISH_OWNERSHIP_GRANTS_H_

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "policies/policy.h"
#include "registry/base/guarded.h"
#include "registry/ownership/declared_grant.h"
#include "registry/ownership/terms.h"
#include "webhook/api/rest/queries.h"
#include "webhook/publish/own_object.h"

namespace truce {

// References must outlive the handler.
struct OwnershipGrantPorts {
  Store& store;
  const Clock& clock;
  const InForce<AdmissionPolicy>& policy;
  std::string cluster;
};

// One OwnershipGrant as a grant about a resource that is still to be found.
struct ReadGrant {
  ResourceFilter resource;
  DeclaredGrant grant;
};
// Errors: kInvalidArgument: "PATH: what is wrong; how to mend it".
Result<ReadGrant> ReadOwnershipGrant(const OwnObject& object, const std::string& cluster,
                                     const AdmissionPolicy& policy);

// For one thread at a time.
class OwnershipGrants final : public OwnHandler {
 public:
  explicit OwnershipGrants(OwnershipGrantPorts ports)
      : ports_(std::move(ports)), queries_(ports_.store) {}

  std::vector<ServedKind> kinds() const override;
  // Gives no verdicts while the registry cannot be read.
  std::vector<OwnVerdict> Take(std::span<const OwnObject> objects) override;
  void SetComplete() override { complete_ = true; }
  std::optional<std::chrono::milliseconds> again() const override;
  bool is_for_all() const override { return false; }

 private:
  // The agreements that an actor may have given; no id: unknown, and nothing is taken back.
  using Living = std::map<std::string, std::optional<ResourceId>>;

  Result<std::vector<OwnVerdict>> TakeEach(std::span<const OwnObject> objects,
                                           const AdmissionPolicy& policy, Living& living);
  Result<OwnVerdict> TakeOne(const OwnObject& object, const AdmissionPolicy& policy,
                             Living& living);
  Result<std::optional<ResourceId>> ResourceFor(const ReadGrant& read,
                                                const AdmissionPolicy& policy) const;
  Result<void> TakeBackAll(const Living& living, const AdmissionPolicy& policy);
  Result<void> Write(const ResourceId& id, const AdmissionPolicy& policy,
                     const std::function<void(Ledger&)>& act);

  const OwnershipGrantPorts ports_;
  const IdSource ids_ = RandomIds();
  const RegistryQueries queries_;
  bool complete_ = false;          // all objects were listed once
  bool works_ = false;             // the registry answered the last time
  bool ended_ = false;             // something that was given was taken back this time
  std::optional<Living> settled_;  // what there was when all was taken back the last time
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_PUBLISH_OWNERSHIP_GRANTS_H_
