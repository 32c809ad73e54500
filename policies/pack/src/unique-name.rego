# The simple uniqueness check: another object in Gatekeeper's cache (sync configuration) has the same
# name in AWS. Only within one type, without account and region, and two creates at once both pass:
# Truce's webhook is the one that is free of races.

violation[{"msg": msg}] {
  judged
  other := same[_]
  msg := sprintf("name %q of %s is taken by %s", [name, rule.type, other])
}

same[text] {
  other := data.inventory.cluster[_][_][_]
  is_same(other)
  text := other.metadata.name
}

same[text] {
  other := data.inventory.namespace[ns][_][_][_]
  is_same(other)
  text := sprintf("%s/%s", [ns, other.metadata.name])
}

is_same(other) {
  group := split(other.apiVersion, "/")[0]
  r := names[sprintf("%s.%s", [other.kind, replace(group, ".aws.m.upbound.io", ".aws.upbound.io")])]
  r.type == rule.type
  cased(name_in(other, r), r) == name
  not is_self(other)
}

is_self(other) {
  other.metadata.name == input.review.object.metadata.name
  other.kind == input.review.kind.kind
  other.apiVersion == input.review.object.apiVersion
  namespace_of(other) == namespace_of(input.review.object)
}

namespace_of(obj) = ns {
  ns := obj.metadata.namespace
}

namespace_of(obj) = "" {
  not obj.metadata.namespace
}
