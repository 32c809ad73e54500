{{/*
What all Pods of the release share: the server, and those beside it (prepare-store, backup, helm test).
A policy of the cluster that wants a label, a node, a limit or no sidecar wants it of each of them.
*/}}

{{/*
Metadata of a Pod: (dict "root" $ "labels" {…} "annotations" {…} "given" {podLabels, podAnnotations});
labels and annotations are the chart's own, which nothing replaces.
*/}}
{{- define "truce.podMetadata" -}}
{{- $values := .root.Values -}}
{{- $given := default (dict) .given -}}
labels:
  {{- toYaml (merge (dict) .labels (default (dict) $given.podLabels) $values.podLabels $values.commonLabels) | nindent 2 }}
{{- with merge (dict) (default (dict) .annotations) (default (dict) $given.podAnnotations) $values.podAnnotations $values.commonAnnotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* Labels of a Pod beside the server: not those by which the Services find the server. As JSON. */}}
{{- define "truce.besideLabels" -}}
{{- dict "app.kubernetes.io/name" (printf "%s-%s" (include "truce.name" .root) .part) "app.kubernetes.io/instance" .root.Release.Name | toJson -}}
{{- end -}}

{{/* The same on the object of such a Pod, a Job or the Pod itself: (dict "root" $ "part" "test"). */}}
{{- define "truce.besideMetadata" -}}
labels:
  {{- include "truce.labelsOf" (dict "root" .root "own" (include "truce.besideLabels" . | fromJson)) | nindent 2 }}
{{- end -}}

{{/*
On OpenShift the constraints of a namespace give each Pod user and group, and refuse others: those of
this chart's default are left out.
*/}}
{{- define "truce.podSecurityContext" -}}
{{- $context := .Values.podSecurityContext -}}
{{- if .Capabilities.APIVersions.Has "security.openshift.io/v1" -}}
{{- range $name := list "runAsUser" "runAsGroup" "fsGroup" -}}
{{- if eq (toString (get $context $name)) "65532" }}{{ $context = omit $context $name }}{{ end -}}
{{- end -}}
{{- end -}}
{{- toYaml $context -}}
{{- end -}}

{{/* Fields of a Pod's spec. */}}
{{- define "truce.podSpec" -}}
enableServiceLinks: false
{{- with include "truce.podSecurityContext" . }}
securityContext:
  {{- . | nindent 2 }}
{{- end }}
{{- with .Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.runtimeClassName }}
runtimeClassName: {{ . }}
{{- end }}
{{- with .Values.hostAliases }}
hostAliases:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* Of a Pod beside the server, too: which nodes, but not beside whom. */}}
{{- define "truce.besideSpec" -}}
automountServiceAccountToken: false
{{ include "truce.podSpec" . }}
{{- with .Values.dnsPolicy }}
dnsPolicy: {{ . }}
{{- end }}
{{- with .Values.affinity.nodeAffinity }}
affinity:
  nodeAffinity:
    {{- toYaml . | nindent 4 }}
{{- end }}
{{- end -}}

{{/* Fields of a container of Truce's image. */}}
{{- define "truce.container" -}}
image: {{ include "truce.image" . | quote }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
{{- with .Values.securityContext }}
securityContext:
  {{- toYaml . | nindent 2 }}
{{- end }}
# What ends a container, "data directory … cannot be used", shows in `kubectl describe`.
terminationMessagePolicy: FallbackToLogsOnError
{{- end -}}
