# Rule naming-convention. The constraint's parameters are `spec` of a NamingPolicy; its mode is the
# constraint's enforcementAction (enforce = deny, warn = warn, audit = dryrun).

violation[{"msg": msg}] {
  judged
  covered
  not exempt
  not conforms
  msg := sprintf("name %q of %s does not follow %s", [name, rule.type, form])
}

default naming = {}

naming = input.parameters.naming

default settings = {}

settings = naming.variables

covered {
  naming.types[_] == rule.type
}

covered {
  not naming.types
  rule.word
}

covered {
  not naming.types
  naming.templates[rule.type]
}

form = naming.templates[rule.type]

form = text {
  not own_form
  text := lookup(naming, "template", "{service}-{env}-{type}")
}

own_form {
  naming.templates[rule.type]
}

# Exemptions without labels, services and dates.
exempt {
  e := input.parameters.exemptions[_]
  e.rule == "naming-convention"
  not e.until
  not e.selector
  not e.service
  lookup(e, "type", rule.type) == rule.type
  fits(e, "namespace", lookup(object.metadata, "namespace", ""))
  fits(e, "object", object.metadata.name)
  fits(e, "name", name)
  fits_kind(e)
}

fits(e, key, value) {
  not has_key(e, key)
}

fits(e, key, value) {
  regex.match(sprintf("^%s$", [replace(replace(e[key], ".", "\\."), "*", ".*")]), value)
}

fits_kind(e) {
  not e.kind
}

fits_kind(e) {
  e.kind == input.review.kind.kind
}

fits_kind(e) {
  e.kind == sprintf("%s.%s", [input.review.kind.kind, input.review.kind.group])
}

# The service as the object says; the first that is there.
service_labels := ["argocd.argoproj.io/instance", "app.kubernetes.io/part-of", "app.kubernetes.io/instance"]

services := array.concat(
  [v | v := object.metadata.labels[service_labels[_]]; v != ""],
  [v | v := object.metadata.annotations["meta.helm.sh/release-name"]; v != ""],
)

defaults := {
  "service": "[a-z][a-z0-9]*(-[a-z0-9]+)*",
  "env": "[a-z][a-z0-9]*",
  "team": "[a-z][a-z0-9]*(-[a-z0-9]+)*",
  "region": "[a-z0-9]+(-[a-z0-9]+)*",
  "account": "[a-z0-9]+",
  "suffix": "[a-z0-9]+(-[a-z0-9]+)*",
}

words(variable) = values {
  values := settings[variable].values
}

words(variable) = ["dev", "test", "staging", "prod"] {
  variable == "env"
  not settings.env.values
  not settings.env.pattern
}

source(f) = value {
  value := object.metadata.labels[f.label]
}

source(f) = value {
  value := f.fixed
}

source(f) = value {
  f.declared
  value := services[0]
}

source(f) = value {
  value := captured(f.namespace, object.metadata.namespace)
}

source(f) = value {
  value := captured(f.providerConfig, object.spec.providerConfigRef.name)
}

captured(pattern, text) = value {
  found := regex.find_all_string_submatch_n(sprintf("^(?:%s)$", [pattern]), text, 1)
  value := found[0][1]
}

said(variable) = value {
  values := [v | f := settings[variable].from[_]; v := source(f); v != ""]
  value := values[0]
}

said(variable) = value {
  variable == "service"
  not settings.service.from
  value := services[0]
}

said(variable) = value {
  variable == "region"
  not settings.region.from
  value := object.spec.forProvider.region
}

spelt(variable) = value {
  value := settings[variable].map[said(variable)]
}

spelt(variable) = value {
  value := said(variable)
  not settings[variable].map[value]
}

demanded(variable) = value {
  value := spelt(variable)
  not words(variable)
}

demanded(variable) = value {
  value := spelt(variable)
  words(variable)[_] == value
}

piece(variable) = text {
  text := replace(demanded(variable), ".", "\\.")
}

piece(variable) = text {
  not demanded(variable)
  text := sprintf("(?:%s)", [replace(concat("|", words(variable)), ".", "\\.")])
}

piece(variable) = text {
  not demanded(variable)
  not words(variable)
  text := sprintf("(?:%s)", [lookup(lookup(settings, variable, {}), "pattern", defaults[variable])])
}

word = settings.type.map[rule.type]

word = text {
  not settings.type.map[rule.type]
  text := lookup(rule, "word", "")
}

pattern := sprintf("^%s$", [strings.replace_n({
  "{service}": piece("service"),
  "{env}": piece("env"),
  "{team}": piece("team"),
  "{region}": piece("region"),
  "{account}": piece("account"),
  "{suffix}": piece("suffix"),
  "{type}": word,
  ".": "\\.",
  "+": "\\+",
  "[": "(?:",
  "]": ")?",
}, form)])

stem = trim_suffix(name, ".fifo") {
  rule.fifo
}

stem = name {
  not rule.fifo
}

conforms {
  regex.match(pattern, stem)
  not too_long
}

too_long {
  count(name) > naming.maxLengths[rule.type]
}
