// The fields of a Kubernetes object that identity reads, found in one pass.
#ifndef TRUCE_REGISTRY_IDENTITY_OBJECT_VIEW_H_
#define TRUCE_REGISTRY_IDENTITY_OBJECT_VIEW_H_

#include <string_view>

#include "registry/identity/document.h"

namespace truce {

// Cursors, missing where the object has no such field; valid while the object's Document lives.
struct ObjectView {
  // metadata
  std::string_view name;
  std::string_view ns;
  std::string_view uid;
  std::string_view resource_version;
  std::string_view created;
  Value labels;
  Value annotations;
  Value owner_references;
  Value finalizers;
  bool terminating = false;

  // spec
  Value for_provider;
  Value init_provider;
  Value provider_config;
  Value management_policies;
  std::string_view management_policy;
  std::string_view deletion_policy;
  Value claim_ref;
  Value resource_ref;
  Value resource_refs;
  Value crossplane;

  // status
  Value at_provider;
  Value conditions;

  // The text of an annotation; empty when there is none.
  std::string_view Annotation(std::string_view key) const;
  std::string_view Label(std::string_view key) const;
};

ObjectView ViewObject(Value object);

// The contents of a string; empty for everything else.
std::string_view StringOf(Value value);

}  // namespace truce

#endif  // TRUCE_REGISTRY_IDENTITY_OBJECT_VIEW_H_
