{{/*
The check of this chart's release, as a hook that runs before anything else is touched:
  {{ include "truce-check.presync" . }}
Settings are the values under "truce-check".
*/}}
{{- define "truce-check.presync" -}}
{{- include "truce-check.of" (dict "root" . "check" (index .Values "truce-check")) -}}
{{- end -}}

{{/* The same for settings from elsewhere: (dict "root" $ "check" {…}). */}}
{{- define "truce-check.of" -}}
{{- if .check.enabled -}}
{{- $input := include "truce-check.manifests" . -}}
{{- if not (or $input .check.declarations .check.values) -}}
{{- fail "truce-check: nothing to check; name templates of this chart that declare resources (templates: [bucket.yaml]), or give manifests, values or declarations" -}}
{{- end -}}
{{- if and .check.mapping (not .check.values) -}}
{{- fail (printf "truce-check.mapping: %s says what values declare; name the values (values: [objectStorage])" .check.mapping) -}}
{{- end -}}
{{- include (printf "truce-check.%s" (include "truce-check.mode" .)) (merge (dict "input" $input) .) -}}
{{- end -}}
{{- end -}}

{{/* Argo CD and Helm say which kinds the cluster has. */}}
{{- define "truce-check.mode" -}}
{{- if ne .check.mode "auto" -}}
{{- .check.mode -}}
{{- else if .root.Capabilities.APIVersions.Has "truce.dev/v1alpha1/OwnershipCheck" -}}
admission
{{- else -}}
job
{{- end -}}
{{- end -}}

{{- define "truce-check.name" -}}
{{- default (printf "%s-ownership-check" (.root.Release.Name | trunc 46 | trimSuffix "-")) .check.name -}}
{{- end -}}

{{- define "truce-check.service" -}}
{{- default .root.Release.Name .check.service -}}
{{- end -}}

{{/* One family of annotations: an object with Argo CD's is no hook of Helm's. */}}
{{- define "truce-check.metadata" -}}
name: {{ include "truce-check.name" . }}
namespace: {{ .root.Release.Namespace }}
{{- $labels := dict "app.kubernetes.io/name" "truce-check" "app.kubernetes.io/instance" .root.Release.Name "app.kubernetes.io/part-of" (include "truce-check.service" .) "app.kubernetes.io/managed-by" .root.Release.Service }}
labels:
  {{- toYaml (merge (dict) .check.labels $labels) | nindent 2 }}
{{- /* The last check stays for who looks: no policy of deletion removes a failed one. */}}
{{- $hook := dict "argocd.argoproj.io/hook" "PreSync" "argocd.argoproj.io/hook-delete-policy" "BeforeHookCreation" "argocd.argoproj.io/sync-wave" (toString .check.wave) }}
{{- if eq .check.deployer "helm" }}
{{- $hook = dict "helm.sh/hook" "pre-install,pre-upgrade,pre-rollback" "helm.sh/hook-delete-policy" "before-hook-creation" "helm.sh/hook-weight" (toString .check.wave) }}
{{- end }}
annotations:
  {{- toYaml (merge (dict) .check.annotations $hook) | nindent 2 }}
{{- end -}}

{{/*
What is checked: the chart's own templates, rendered, and text; nothing when all of it is empty, as
when a template is switched off.
*/}}
{{- define "truce-check.manifests" -}}
{{- $root := .root -}}
{{- $parts := list -}}
{{- range .check.templates -}}
{{- $parts = append $parts (include (printf "%s/%s" $root.Template.BasePath .) $root | trim) -}}
{{- end -}}
{{- $parts = append $parts (trim .check.manifests) -}}
{{- range compact $parts }}
---
{{ trimPrefix "---" . | trim }}
{{- end -}}
{{- end -}}
