{{/*
The OwnershipCheck: its creation is refused when Truce would refuse the objects. It needs no image, no
token and no rights in the service's namespace; the one who deploys must be allowed to create it.
*/}}
{{- define "truce-check.admission" -}}
{{- $objects := (include "truce-check.objects" . | fromJson).objects -}}
apiVersion: truce.dev/v1alpha1
kind: OwnershipCheck
metadata:
  {{- include "truce-check.metadata" . | nindent 2 }}
spec:
  {{- include "truce-check.question" . | nindent 2 }}
  {{- with $objects }}
  manifests:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end -}}

{{/* What is asked besides manifests. */}}
{{- define "truce-check.question" -}}
service: {{ include "truce-check.service" . | quote }}
{{- with .check.declarations }}
declarations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with (include "truce-check.values" . | fromJson).values }}
values:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .check.mapping }}
mapping: {{ . }}
{{- end }}
{{- end -}}

{{/* The values that are asked about: of the library those of the chart that are named. */}}
{{- define "truce-check.values" -}}
{{- $values := .check.values -}}
{{- if kindIs "slice" $values -}}
{{- $values = dict -}}
{{- range .check.values -}}
{{- if not (hasKey $.root.Values .) -}}
{{- fail (printf "truce-check.values: this chart has no value %s" .) -}}
{{- end -}}
{{- $_ := set $values . (index $.root.Values .) -}}
{{- end -}}
{{- end -}}
{{- dict "values" $values | toJson -}}
{{- end -}}

{{/*
The manifests as objects. Kubernetes' own kinds declare no cloud resource, and may be Secrets: they
are left out.
*/}}
{{- define "truce-check.objects" -}}
{{- $objects := list -}}
{{- range regexSplit "(?m)^---[^\n]*$" .input -1 -}}
{{- $object := fromYaml . -}}
{{- if and (hasKey $object "Error") (not (hasKey $object "kind")) -}}
{{- fail (printf "truce-check: a document of what is checked is no YAML: %s" $object.Error) -}}
{{- end -}}
{{- $items := list $object -}}
{{- if hasKey $object "items" -}}
{{- $items = $object.items -}}
{{- end -}}
{{- range $items -}}
{{- $group := regexFind "^[^/]*/" (default "" .apiVersion) | trimSuffix "/" -}}
{{- if and (contains "." $group) (not (hasSuffix ".k8s.io" $group)) (not (hasPrefix "truce.dev" $group)) -}}
{{- $objects = append $objects . -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- dict "objects" $objects | toJson -}}
{{- end -}}
