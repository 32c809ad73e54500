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

// Shows an object of ACK in the form in which identity reads objects. Cursors into `object` and
// into this; both must outlive whoever reads `Apply`'s view. Not movable.
class AckObject final {
 public:
  AckObject(Value object, const KindEntry& kind);
  AckObject(const AckObject&) = delete;
  AckObject& operator=(const AckObject&) = delete;

  // Lets `view`, of the same object, show fields, external name and status:
  // - Fields stand below spec. While the object is to adopt a resource, the controller takes those
  //   of the annotation adoption-fields first.
  // - The external name is the id by which the controller finds the resource: of a type that is
  //   named by an assigned id the one in status; before that, of any type, the one to be adopted.
  // - The status shows an ARN and that id.
  void Apply(ObjectView& view) const;

  // Puts into the draft where the controller works: as status says, else the object's annotation.
  // Without these its namespace or a flag of the controller decides, and it is not known.
  void ReadRegion(const PartContext& context, Draft& draft) const;
  // Of the credentials that the controller used last, by the status; 12 digits or empty.
  std::string_view account() const { return account_; }
  // Whether the external name is known from the status alone: as such it names (W5), however the
  // controller goes by it.
  bool is_id_observed() const { return is_id_observed_; }
  // The finalizer: set before anything is created, so an ARN in status is less (a refused object
  // shows one).
  bool is_managed() const { return is_managed_; }
  // That the controller takes its finalizer off a terminating object does not prove a deletion: the
  // object itself does not say "delete", or shows nothing by which the controller would look.
  bool is_end_untold() const { return is_end_untold_; }
  // In words: the annotation adoption-fields cannot be read. Empty: all is well.
  std::string_view finding() const { return finding_; }

 private:
  void ReadAdoption(const ObjectView& view);
  void ReadStatus(Value status, const KindEntry& kind);

  Value spec_;
  bool adopts_ = false;
  bool is_id_observed_ = false;
  bool is_managed_ = false;
  bool is_end_untold_ = true;
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

// By the annotations read-only and deletion-policy: only the very word "delete" deletes; without
// one the namespace or a flag decides, which delete if nobody says otherwise.
Intent AckIntentOf(const ObjectView& view);

// As ChangedNameField, for an object of ACK.
std::string AckChangedNameField(Value object, Value old_object, const KindEntry& kind);

}  // namespace truce

#endif  // TRUCE_REGISTRY_IDENTITY_ACK_H_
