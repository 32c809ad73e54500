# What every template of the pack reads of an object.

object := input.review.object

kind := sprintf("%s.%s", [input.review.kind.kind, replace(input.review.kind.group, ".aws.m.upbound.io", ".aws.upbound.io")])

rule := names[kind]

annotation(obj, key) = value {
  value := obj.metadata.annotations[key]
  value != ""
}

# The name in AWS, as the object gives it.
name_in(obj, r) = value {
  not r.field
  value := annotation(obj, "crossplane.io/external-name")
}

name_in(obj, r) = value {
  not r.field
  not annotation(obj, "crossplane.io/external-name")
  value := obj.metadata.name
}

name_in(obj, r) = value {
  value := obj.spec.forProvider[r.field]
}

name_in(obj, r) = value {
  not obj.spec.forProvider[r.field]
  value := obj.spec.initProvider[r.field]
}

cased(value, r) = out {
  r.lower
  out := lower(value)
}

cased(value, r) = value {
  not r.lower
}

name := cased(name_in(object, rule), rule)

observed {
  object.spec.managementPolicies == ["Observe"]
}

# A name that stays was judged when it came.
stays {
  input.review.operation == "UPDATE"
  name_in(input.review.oldObject, rule) == name_in(object, rule)
}

judged {
  name != ""
  not observed
  not stays
}

lookup(obj, key, fallback) = value {
  value := obj[key]
}

lookup(obj, key, fallback) = fallback {
  not has_key(obj, key)
}

has_key(obj, key) {
  _ = obj[key]
}
