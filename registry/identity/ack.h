// ACK (AWS Controllers for Kubernetes): how its objects say what Crossplane's say in other places.
// Everything of this flavour that is no row of the catalogue is here.
#ifndef TRUCE_REGISTRY_IDENTITY_ACK_H_
#define TRUCE_REGISTRY_IDENTITY_ACK_H_

#include <string>
#include <string_view>

#include "registry/base/document.h"
#include "registry/catalogue/catalogue.h"
#include "registry/identity/draft.h"
#include "registry/identity/evidence.h"
#include "registry/identity/parts.h"
#include "registry/identity/values.h"

namespace truce {

// The annotations of a Namespace for ACK's controllers.
struct AckNamespace {
  std::string account;  // 12 digits, or empty
  ConfigDefaults defaults;
  // A digest of all of them (IdentityRules::account_fields); empty: there are none.
  std::string fields;
};
// Of kube-*, where the controllers read none, it says nothing; nor do values that are no account or
// no region.
AckNamespace ReadAckNamespace(Value object);

// Shows an object of ACK in the form in which identity reads objects. Cursors into `object` and
// into this; both must outlive whoever reads `Apply`'s view. Not movable.
class AckObject final {
 public:
  // `defaults`: of its namespace; null: none are known.
  AckObject(Value object, const KindEntry& kind, const ConfigDefaults* defaults);
  AckObject(const AckObject&) = delete;
  AckObject& operator=(const AckObject&) = delete;

  // Lets `view`, of the same object, show fields, external name and status:
  // - Fields stand below spec. While the object is to adopt a resource, the controller takes those
  //   of the annotation adoption-fields first.
  // - The external name is the id by which the controller finds the resource: of a type that is
  //   named by an assigned id the one in status; before that, of any type, the one to be adopted.
  // - The status shows an ARN and that id.
  void Apply(ObjectView& view) const;

  // Lets `view`, of the same object, show the resource that it would make: by the fields below spec
  // alone. Only where may_create().
  void ApplyCreation(ObjectView& view) const;
  // Whether it would create a resource of its spec if the one to be adopted is not there.
  bool may_create() const { return may_create_; }

  // Puts into the draft where the controller works: as status says, else the object's annotation,
  // else its namespace. Without these a flag of the controller decides, and it is not known.
  void ReadRegion(const PartContext& context, Draft& draft) const;
  // Of the credentials that the controller used last, by the status; 12 digits or empty.
  std::string_view account() const { return account_; }
  // Whether the external name is known from the status alone: as such it names (W5), however the
  // controller goes by it.
  bool is_id_observed() const { return is_id_observed_; }
  // By the annotations read-only and deletion-policy: only the very word "delete" deletes; without
  // one the namespace or a flag decides, which delete if nobody says otherwise.
  Intent intent() const { return intent_; }
  // The finalizer: set before anything is created, so an ARN in status is less (a refused object
  // shows one).
  bool is_managed() const { return is_managed_; }
  // That the controller takes its finalizer off a terminating object does not prove a deletion:
  // neither the object nor its namespace says "delete", or it shows nothing by which the controller
  // would look.
  bool is_end_unknown() const { return is_end_unknown_; }
  // It does prove one, and the namespace alone says so.
  bool is_end_by_config() const { return is_end_by_config_; }
  // In words: the annotation adoption-fields cannot be read. Empty: all is well.
  std::string_view finding() const { return finding_; }

 private:
  void ReadAdoption(const ObjectView& view);
  void ReadStatus(Value status, const KindEntry& kind);
  void ReadPolicy(const ObjectView& view, std::string_view group, const ConfigDefaults& defaults);

  Value spec_;
  bool adopts_ = false;
  bool may_create_ = false;
  bool is_id_observed_ = false;
  bool is_managed_ = false;
  bool is_end_unknown_ = true;
  bool is_end_by_config_ = false;
  Intent intent_ = Intent::kDeletes;
  Document adoption_;
  Document shown_;
  std::string_view arn_;
  std::string_view id_;
  std::string_view region_;
  std::string_view account_;
  std::string_view external_name_;
  std::string id_field_;  // "status.vpcID"
  std::string_view finding_;
};

// As ChangedNameField, for an object of ACK.
std::string AckChangedNameField(Value object, Value old_object, const KindEntry& kind);

}  // namespace truce

#endif  // TRUCE_REGISTRY_IDENTITY_ACK_H_
