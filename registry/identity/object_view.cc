#include "registry/identity/object_view.h"

namespace truce {
namespace {

void ViewMetadata(Value metadata, ObjectView& view) {
  if (!metadata.is_object()) return;
  for (Value field = metadata.first(); field.exists(); field = metadata.next(field)) {
    const std::string_view key = field.key();
    if (key == "name") {
      view.name = StringOf(field);
    } else if (key == "namespace") {
      view.ns = StringOf(field);
    } else if (key == "uid") {
      view.uid = StringOf(field);
    } else if (key == "labels") {
      view.labels = field;
    } else if (key == "annotations") {
      view.annotations = field;
    } else if (key == "resourceVersion") {
      view.resource_version = StringOf(field);
    } else if (key == "creationTimestamp") {
      view.created = StringOf(field);
    } else if (key == "deletionTimestamp") {
      view.terminating = !field.empty();
    } else if (key == "ownerReferences") {
      view.owner_references = field;
    } else if (key == "finalizers") {
      view.finalizers = field;
    }
  }
}

void ViewSpec(Value spec, ObjectView& view) {
  if (!spec.is_object()) return;
  for (Value field = spec.first(); field.exists(); field = spec.next(field)) {
    const std::string_view key = field.key();
    if (key == "forProvider") {
      view.for_provider = field;
    } else if (key == "initProvider") {
      view.init_provider = field;
    } else if (key == "providerConfigRef") {
      view.provider_config = field;
    } else if (key == "managementPolicies") {
      view.management_policies = field;
    } else if (key == "managementPolicy") {
      view.management_policy = StringOf(field);
    } else if (key == "deletionPolicy") {
      view.deletion_policy = StringOf(field);
    } else if (key == "claimRef") {
      view.claim_ref = field;
    } else if (key == "resourceRef") {
      view.resource_ref = field;
    } else if (key == "resourceRefs") {
      view.resource_refs = field;
    } else if (key == "crossplane") {
      view.crossplane = field;
    }
  }
}

}  // namespace

std::string_view StringOf(Value value) {
  return value.is_string() ? value.text() : std::string_view();
}

std::string_view ObjectView::Annotation(std::string_view key) const {
  return StringOf(annotations.Child(key));
}

std::string_view ObjectView::Label(std::string_view key) const {
  return StringOf(labels.Child(key));
}

ObjectView ViewObject(Value object) {
  ObjectView view;
  if (!object.is_object()) return view;
  for (Value field = object.first(); field.exists(); field = object.next(field)) {
    if (field.key() == "metadata") {
      ViewMetadata(field, view);
    } else if (field.key() == "spec") {
      ViewSpec(field, view);
    } else if (field.key() == "status") {
      view.at_provider = field.Child("atProvider");
      view.conditions = field.Child("conditions");
    }
  }
  return view;
}

}  // namespace truce
