{{/* Names */}}

{{- define "truce.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 50 | trimSuffix "-" -}}
{{- end -}}

{{/* At most 50 characters, so that suffixes fit into 63. */}}
{{- define "truce.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 50 | trimSuffix "-" -}}
{{- else if contains (include "truce.name" .) .Release.Name -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name (include "truce.name" .) | trunc 50 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "truce.namespace" -}}
{{- default .Release.Namespace .Values.namespaceOverride -}}
{{- end -}}

{{/* Cluster-scoped objects of two releases in two namespaces must differ. */}}
{{- define "truce.clusterName" -}}
{{- printf "%s-%s" (include "truce.namespace" .) (include "truce.fullname" .) | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- define "truce.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "truce.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- default "default" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{- define "truce.webhookName" -}}
{{- default (include "truce.fullname" .) .Values.webhook.name -}}
{{- end -}}

{{- define "truce.admissionService" -}}
{{- include "truce.fullname" . -}}
{{- end -}}

{{- define "truce.tlsSecret" -}}
{{- if eq .Values.certificates.mode "existingSecret" -}}
{{- .Values.certificates.existingSecret.name -}}
{{- else -}}
{{- include "truce.fullname" . }}-tls
{{- end -}}
{{- end -}}

{{/* Truce keeps certificates and webhook configuration itself, in a Secret and by the API. */}}
{{- define "truce.keepsItself" -}}
{{- if and (eq .Values.certificates.mode "selfManaged") .Values.watchCluster }}true{{ end -}}
{{- end -}}

{{- define "truce.ownSecret" -}}
{{- printf "%s-self" (include "truce.fullname" .) -}}
{{- end -}}

{{- define "truce.leaseNamespace" -}}
{{- ternary "kube-system" (include "truce.namespace" .) .Values.rbac.kubeSystem -}}
{{- end -}}

{{- define "truce.pathSecretName" -}}
{{- default (printf "%s-admission" (include "truce.fullname" .)) .Values.admission.existingSecret -}}
{{- end -}}

{{- define "truce.image" -}}
{{- $repository := .Values.image.repository -}}
{{- with .Values.image.registry }}{{ $repository = printf "%s/%s" . $repository }}{{ end -}}
{{- if .Values.image.digest -}}
{{- printf "%s@%s" $repository .Values.image.digest -}}
{{- else -}}
{{- printf "%s:%s" $repository (default .Chart.AppVersion .Values.image.tag) -}}
{{- end -}}
{{- end -}}

{{/* Where all listen. */}}
{{- define "truce.listenHost" -}}
{{- default (ternary "[::]" "0.0.0.0" (contains "DualStack" .Values.service.ipFamilyPolicy)) .Values.listen.host -}}
{{- end -}}

{{/* Several replicas */}}

{{- define "truce.several" -}}
{{- if gt (int .Values.replicaCount) 1 }}true{{ end -}}
{{- end -}}

{{/* Spread of the Pods, as a YAML list. The Pods of one rollout are counted, not those that it replaces. */}}
{{- define "truce.spread" -}}
{{- $given := .Values.topologySpreadConstraints -}}
{{- if and (not $given) (include "truce.several" .) -}}
{{- range list "topology.kubernetes.io/zone" "kubernetes.io/hostname" -}}
{{- $given = append $given (dict "maxSkew" 1 "topologyKey" . "whenUnsatisfiable" "ScheduleAnyway" "matchLabelKeys" (list "pod-template-hash")) -}}
{{- end -}}
{{- end -}}
{{- $own := dict "labelSelector" (dict "matchLabels" (include "truce.selectorLabels" . | fromYaml)) -}}
{{- range $given }}
- {{- toYaml (merge (dict) . $own) | nindent 2 }}
{{- end }}
{{- end -}}

{{/* Metadata */}}

{{- define "truce.selectorLabels" -}}
app.kubernetes.io/name: {{ include "truce.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{/*
Labels of an object, with some of its own: (dict "root" $ "own" {…}). A label of `commonLabels` replaces
the chart's, but not those that something selects by.
*/}}
{{- define "truce.labelsOf" -}}
{{- $root := .root -}}
{{- $own := merge (dict) .own (include "truce.selectorLabels" $root | fromYaml) (dict "app.kubernetes.io/managed-by" $root.Release.Service) -}}
{{- $usual := dict "helm.sh/chart" (printf "%s-%s" $root.Chart.Name $root.Chart.Version | replace "+" "_") "app.kubernetes.io/version" $root.Chart.AppVersion "app.kubernetes.io/part-of" "truce" -}}
{{- toYaml (merge (dict) $own $root.Values.commonLabels $usual) -}}
{{- end -}}

{{- define "truce.labels" -}}
{{- include "truce.labelsOf" (dict "root" . "own" (dict)) -}}
{{- end -}}

{{/* Annotations of an object: (dict "root" $ "own" {…}); nothing when there is none. */}}
{{- define "truce.annotations" -}}
{{- with merge (dict) (default (dict) .own) .root.Values.commonAnnotations -}}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end -}}
{{- end -}}

{{/* What is judged */}}

{{/* Groups of the rules, as JSON: {"groups": [...]}; sorted, without duplicates. */}}
{{- define "truce.groups" -}}
{{- $groups := (include "truce.catalogueGroups" . | fromJson).groups -}}
{{- dict "groups" (concat $groups (include "truce.mappedGroups" . | fromJson).groups .Values.webhook.xrdGroups | uniq | sortAlpha) | toJson -}}
{{- end -}}

{{/* Of managed resources alone. */}}
{{- define "truce.catalogueGroups" -}}
{{- $groups := .Values.webhook.groups -}}
{{- if not $groups -}}
{{- $groups = (.Files.Get "files/catalogue-groups.yaml" | fromYaml).groups -}}
{{- end -}}
{{- dict "groups" ($groups | uniq | sortAlpha) | toJson -}}
{{- end -}}

{{/*
Conditions that leave out the users who may write statuses, one a setting. A pattern becomes a part
of a regular expression, and that a CEL text: the same as Truce makes (publish/status_entry.cc).
*/}}
{{- define "truce.notWriters" -}}
{{- $defaults := .Files.Get "files/status-writers.yaml" | fromYaml -}}
{{- range $setting := list "providers" "restorers" -}}
{{- $patterns := get $defaults $setting -}}
{{- if hasKey $.Values.config $setting }}{{ $patterns = get $.Values.config $setting }}{{ end -}}
{{- $parts := list -}}
{{- range $patterns }}{{ $parts = append $parts (regexQuoteMeta . | replace "\\*" ".*") }}{{ end -}}
{{- if $parts }}
{{- $expression := printf "(?s)^(?:%s)$" (join "|" $parts) | replace "\\" "\\\\" | replace "'" "\\'" }}
- name: not-{{ $setting }}
  expression: {{ printf "!request.userInfo.username.matches('%s')" $expression | quote }}
{{- end }}
{{- end }}
{{- end -}}

{{- define "truce.mappedGroups" -}}
{{- $groups := .Values.webhook.mappedGroups -}}
{{- range .Values.config.mappings -}}
{{- with .group }}{{ $groups = append $groups . }}{{ end -}}
{{- end -}}
{{- dict "groups" ($groups | uniq | sortAlpha) | toJson -}}
{{- end -}}

{{/*
One field of an exclusion: (dict "field" CEL "value" text); the schema lets no quote in. A request
has no namespace when its kind has none: asking for it then is an error, and an error under
failurePolicy Ignore would be an admission.
*/}}
{{- define "truce.excludedField" -}}
has({{ .field }}) &&
{{- if hasSuffix "*" .value }} {{ .field }}.startsWith('{{ trimSuffix "*" .value }}')
{{- else }} {{ .field }} == '{{ .value }}'
{{- end -}}
{{- end -}}

{{- define "truce.exclusions" -}}
{{- range $i, $object := .Values.webhook.exclude }}
{{- $fields := list }}
{{- range $name, $cel := dict "group" "request.kind.group" "kind" "request.kind.kind" "namespace" "request.namespace" "name" "request.name" "user" "request.userInfo.username" }}
{{- with get $object $name }}
{{- $fields = append $fields (include "truce.excludedField" (dict "field" $cel "value" .)) }}
{{- end }}
{{- end }}
- name: exclude-{{ $i }}
  expression: {{ printf "!(%s)" (join " && " $fields) | quote }}
{{- end }}
{{- end -}}

{{/* Reviews need the path's secret unless the API server shows itself otherwise. */}}
{{- define "truce.pathNeedsSecret" -}}
{{- if not (or .Values.admission.clientCA.existingSecret .Values.admission.bearer.existingSecret) }}true{{ end -}}
{{- end -}}

{{/*
clientConfig of an entry: (dict "root" $ "endpoint" "declarations"). Each endpoint's path ends with a
secret of its own, which tells neither another one nor what they follow from (webhook/wire/endpoints.h).
*/}}
{{- define "truce.clientConfig" -}}
{{- $values := .root.Values -}}
{{- $path := get (dict "declarations" "/validate" "deletions" "/validate-deletion" "status" "/validate-status" "checks" "/validate-check" "policies" "/validate-policy" "compositions" "/validate-composition") .endpoint -}}
{{- $written := "" -}}
{{- if $values.admission.pathSecret -}}
{{- $path = printf "%s/%s" $path (printf "%s/%s" $values.admission.pathSecret .endpoint | sha256sum | trunc 32) -}}
{{- else if and (include "truce.keepsItself" .root) (include "truce.pathNeedsSecret" .root) (not $values.webhook.url) -}}
{{- $written = "by Truce" -}}
{{- end -}}
{{- if $values.webhook.url -}}
url: {{ printf "%s%s" (trimSuffix "/" $values.webhook.url) $path | quote }}
{{- else -}}
service:
  name: {{ include "truce.admissionService" .root }}
  namespace: {{ include "truce.namespace" .root }}
  port: {{ $values.service.admission.port }}
  {{- if $written }}
  # path and caBundle are written by Truce itself, never here.
  {{- else }}
  path: {{ $path }}
  {{- end }}
{{- end }}
{{- if and $values.certificates.caBundle (ne $values.certificates.mode "certManager") }}
caBundle: {{ printf "%s\n" (trim $values.certificates.caBundle) | b64enc }}
{{- end }}
{{- end -}}

{{/* Names that the certificate must be valid for, as JSON: {"dns": [...], "addresses": [...]}. */}}
{{- define "truce.serverNames" -}}
{{- $service := printf "%s.%s" (include "truce.admissionService" .) (include "truce.namespace" .) -}}
{{- $api := printf "%s-api.%s" (include "truce.fullname" .) (include "truce.namespace" .) -}}
{{- $names := list (printf "%s.svc" $service) (printf "%s.svc.cluster.local" $service) $service (printf "%s.svc" $api) -}}
{{- with .Values.webhook.url -}}
{{- $names = append $names ((urlParse .).hostname) -}}
{{- end -}}
{{- $dns := list -}}{{- $addresses := list -}}
{{- range concat $names .Values.certificates.extraNames | uniq -}}
{{- if regexMatch "^([0-9]+[.]){3}[0-9]+$|:" . -}}
{{- $addresses = append $addresses (trimAll "[]" .) -}}
{{- else -}}
{{- $dns = append $dns . -}}
{{- end -}}
{{- end -}}
{{- dict "dns" $dns "addresses" $addresses | toJson -}}
{{- end -}}

{{/* Configuration */}}

{{/* Whole numbers stay whole in all that follows: Helm reads 67108864 as 6.7108864e+07. */}}

{{/* Where alerts link to: the server's own pages, unless another place is named. */}}
{{- define "truce.runbookBase" -}}
{{- if .Values.prometheusRule.runbookBase -}}
{{- trimSuffix "/" .Values.prometheusRule.runbookBase -}}
{{- else if .Values.publicURL -}}
{{- printf "%s/runbook" (trimSuffix "/" .Values.publicURL) -}}
{{- end -}}
{{- end -}}

{{- define "truce.reloading" -}}
{{- .Files.Get "files/reloading.yaml" | fromYaml | toJson -}}
{{- end -}}

{{/* What needs a restart to change; its digest is an annotation of the Pod. */}}
{{- define "truce.staticConfig" -}}
{{- $v := .Values -}}
{{- $config := dict "clusterId" $v.clusterId "dataDir" "/var/lib/truce" "store" (eq $v.store.type "postgres" | ternary (include "truce.storeUrl" (dict "root" . "url" $v.store.url)) "sqlite") "logFormat" $v.log.format "logLevel" $v.log.level -}}
{{- range $name, $port := dict "admission" $v.listen.admissionPort "api" $v.listen.apiPort "metrics" $v.listen.metricsPort "probes" $v.listen.probesPort -}}
{{- $_ := set $config (printf "%sAddress" $name) (printf "%s:%d" (include "truce.listenHost" $) (int $port)) -}}
{{- end -}}
{{- $_ := set $config (ternary "inCluster" "noCluster" $v.watchCluster) true -}}
{{- $_ := set $config "webhookConfiguration" (include "truce.webhookName" .) -}}
{{- if not $v.rbac.kubeSystem }}{{ $_ := set $config "leaseNamespace" (include "truce.leaseNamespace" .) }}{{ end -}}
{{- with $v.publicURL }}{{ $_ := set $config "publicURL" . }}{{ end -}}
{{- if ne $v.policyReports.group "off" }}{{ $_ := set $config "policyReports" $v.policyReports.group }}{{ end -}}
{{- if $v.events.denials }}{{ $_ := set $config "denialEvents" true }}{{ end -}}
{{- if $v.notify.existingSecret -}}
{{- $_ := set $config "notifyUrlFile" (printf "/etc/truce-notify/%s" $v.notify.key) -}}
{{- $_ := set $config "notifyForm" $v.notify.form -}}
{{- end -}}
{{- if eq $v.certificates.mode "selfManaged" -}}
{{- $names := include "truce.serverNames" . | fromJson -}}
{{- $_ := set $config "serverNames" (concat $names.dns $names.addresses) -}}
{{- if include "truce.keepsItself" . -}}
{{- $_ := set $config "certificateSecret" (printf "%s/%s" (include "truce.namespace" .) (include "truce.ownSecret" .)) -}}
{{- end -}}
{{- else -}}
{{- $existing := eq $v.certificates.mode "existingSecret" -}}
{{- $_ := set $config "tlsCertFile" (printf "/etc/truce-tls/%s" (ternary $v.certificates.existingSecret.certKey "tls.crt" $existing)) -}}
{{- $_ := set $config "tlsKeyFile" (printf "/etc/truce-tls/%s" (ternary $v.certificates.existingSecret.keyKey "tls.key" $existing)) -}}
{{- end -}}
{{- if or $v.admission.pathSecret $v.admission.existingSecret -}}
{{- $_ := set $config "admissionSecretFile" (printf "/etc/truce-admission/%s" (ternary $v.admission.existingSecretKey "secret" (ne $v.admission.existingSecret ""))) -}}
{{- end -}}
{{- if $v.webhook.acceptSecretInErrors }}{{ $_ := set $config "acceptSecretInErrors" true }}{{ end -}}
{{- if $v.admission.clientCA.existingSecret -}}
{{- $_ := set $config "admissionClientCA" (printf "/etc/truce-client-ca/%s" $v.admission.clientCA.key) -}}
{{- with $v.admission.clientCA.names }}{{ $_ := set $config "admissionClientNames" . }}{{ end -}}
{{- end -}}
{{- if $v.admission.bearer.existingSecret -}}
{{- $_ := set $config "admissionBearerFile" (printf "/etc/truce-bearer/%s" $v.admission.bearer.key) -}}
{{- end -}}
{{- if eq $v.store.type "postgres" -}}
{{- $_ := set $config "storeDurability" $v.store.durability -}}
{{- if $v.store.password.existingSecret -}}
{{- $_ := set $config "storePasswordFile" (printf "/etc/truce-store/%s" $v.store.password.key) -}}
{{- end -}}
{{- with $v.store.password.file }}{{ $_ := set $config "storePasswordFile" . }}{{ end -}}
{{- with $v.store.password.command }}{{ $_ := set $config "storePasswordCommand" . }}{{ end -}}
{{- end -}}
{{- if not $v.config.drainGrace }}{{ $_ := set $config "drainGrace" "15s" }}{{ end -}}
{{- range $key, $value := $v.config -}}
{{- if not (has $key (include "truce.reloading" $ | fromJson).settings) -}}
{{- $_ := set $config $key (ternary (int64 (kindIs "float64" $value | ternary $value 0)) $value (kindIs "float64" $value)) -}}
{{- end -}}
{{- end -}}
{{- toYaml $config -}}
{{- end -}}

{{/* What takes effect without restart. */}}
{{- define "truce.policyConfig" -}}
{{- $config := dict "mode" .Values.mode "statusGuard" (and .Values.webhook.enabled .Values.webhook.statusGuard.enabled) -}}
{{- range $key, $value := .Values.config -}}
{{- if has $key (include "truce.reloading" $ | fromJson).settings -}}
{{- $_ := set $config $key (ternary (int64 (kindIs "float64" $value | ternary $value 0)) $value (kindIs "float64" $value)) -}}
{{- end -}}
{{- end -}}
{{- toYaml $config -}}
{{- end -}}

{{/* A URL of the database, with the authority of its certificate: (dict "root" $ "url" text). */}}
{{- define "truce.storeUrl" -}}
{{- .url -}}
{{- if and .root.Values.store.ca.existingSecret (not (contains "sslrootcert=" .url)) -}}
{{- contains "?" .url | ternary "&" "?" -}}sslrootcert=/etc/truce-store-ca/{{ .root.Values.store.ca.key }}
{{- end -}}
{{- end -}}

{{/*
Ports at which the database is reached, as JSON: {"ports": [...]}: those of the hosts of `store.url`, of
its parameter `port`, else PostgreSQL's own.
*/}}
{{- define "truce.storePorts" -}}
{{- $ports := list -}}
{{- $hosts := regexReplaceAll "^[a-z]+://([^@/]*@)?([^/?]*).*$" .Values.store.url "${2}" -}}
{{- $given := regexFind "[?&]port=[0-9,]+" .Values.store.url | trimAll "?&port=" -}}
{{- range $host := splitList "," $hosts -}}
{{- with regexFind ":[0-9]+$" $host }}{{ $ports = append $ports (trimPrefix ":" . | int) }}{{ else }}{{ if not $given }}{{ $ports = append $ports 5432 }}{{ end }}{{ end -}}
{{- end -}}
{{- range splitList "," $given }}{{ with . }}{{ $ports = append $ports (int .) }}{{ end }}{{ end -}}
{{- dict "ports" (default ($ports | uniq) .Values.networkPolicy.storePorts) | toJson -}}
{{- end -}}

{{/* The Secrets that the container reads, as a YAML list. */}}
{{- define "truce.secretMounts" -}}
{{- if ne .Values.certificates.mode "selfManaged" }}
- {name: tls, mountPath: /etc/truce-tls, secretName: {{ include "truce.tlsSecret" . }}}
{{- end }}
{{- if or .Values.admission.pathSecret .Values.admission.existingSecret }}
- {name: admission, mountPath: /etc/truce-admission, secretName: {{ include "truce.pathSecretName" . }}}
{{- end }}
{{- with .Values.admission.clientCA.existingSecret }}
- {name: client-ca, mountPath: /etc/truce-client-ca, secretName: {{ . }}}
{{- end }}
{{- with .Values.admission.bearer.existingSecret }}
- {name: bearer, mountPath: /etc/truce-bearer, secretName: {{ . }}}
{{- end }}
{{- with .Values.notify.existingSecret }}
- {name: notify, mountPath: /etc/truce-notify, secretName: {{ . }}}
{{- end }}
{{- if eq .Values.store.type "postgres" }}
{{- with .Values.store.password.existingSecret }}
- {name: store, mountPath: /etc/truce-store, secretName: {{ . }}}
{{- end }}
{{- with .Values.store.ca.existingSecret }}
- {name: store-ca, mountPath: /etc/truce-store-ca, secretName: {{ . }}}
{{- end }}
{{- end }}
{{- end -}}
