{{/*
The Job. It needs nothing that the deployment makes: the default service account, whose own token is
not mounted, a token for Truce alone, and its input as annotations of its Pod.
*/}}
{{- define "truce-check.job" -}}
{{- $input := .input -}}
{{- if or .check.declarations .check.values -}}
{{- $input = printf "%s\n---\n%s" $input (include "truce-check.asked" .) -}}
{{- end -}}
{{- if gt (len $input) 65536 -}}
{{- fail (printf "truce-check: what is checked has %d bytes, an annotation holds 65536; name fewer templates or values, or use mode admission" (len $input)) -}}
{{- end -}}
apiVersion: batch/v1
kind: Job
metadata:
  {{- include "truce-check.metadata" . | nindent 2 }}
spec:
  backoffLimit: 0
  activeDeadlineSeconds: {{ .check.job.activeDeadlineSeconds }}
  ttlSecondsAfterFinished: {{ .check.job.ttlSecondsAfterFinished }}
  podFailurePolicy:
    rules:
      # A node that goes away says nothing about the check.
      - action: Ignore
        onPodConditions:
          - type: DisruptionTarget
      - action: FailJob
        onExitCodes:
          containerName: check
          operator: NotIn
          values: [0]
  template:
    metadata:
      {{- $labels := dict "app.kubernetes.io/name" "truce-check" "app.kubernetes.io/instance" .root.Release.Name }}
      labels:
        {{- toYaml (merge (dict) .check.job.podLabels .check.labels $labels) | nindent 8 }}
      {{- $annotations := dict "truce.dev/manifests" $input }}
      {{- with .check.server.caBundle }}{{ $_ := set $annotations "truce.dev/authorities" . }}{{ end }}
      annotations:
        {{- toYaml (merge $annotations .check.job.podAnnotations) | nindent 8 }}
    spec:
      restartPolicy: Never
      automountServiceAccountToken: false
      enableServiceLinks: false
      {{- with include "truce-check.securityContext" . }}
      securityContext:
        {{- . | nindent 8 }}
      {{- end }}
      {{- with .check.job.hostAliases }}
      hostAliases:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with .check.job.imagePullSecrets }}
      imagePullSecrets:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with .check.job.nodeSelector }}
      nodeSelector:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with .check.job.tolerations }}
      tolerations:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      containers:
        - name: check
          image: {{ .check.job.image | quote }}
          imagePullPolicy: {{ .check.job.imagePullPolicy }}
          command: [/usr/local/bin/truce, check]
          args:
            - --file=/etc/truce-check/manifests.yaml
            - --on-unreachable={{ .check.server.onUnreachable }}
            - --timeout={{ .check.server.timeoutSeconds }}
          env:
            - name: TRUCE_SERVER
              value: {{ .check.server.url | quote }}
            - name: TRUCE_NAMESPACE
              value: {{ .root.Release.Namespace | quote }}
            - name: TRUCE_TOKEN_FILE
              value: /var/run/truce/token
            {{- if .check.server.caBundle }}
            - name: TRUCE_CA_FILE
              value: /etc/truce-check/authorities.pem
            {{- end }}
          # What is written to /dev/termination-log, else the end of the log, is the Job's message.
          terminationMessagePolicy: FallbackToLogsOnError
          securityContext:
            allowPrivilegeEscalation: false
            readOnlyRootFilesystem: true
            capabilities: {drop: [ALL]}
          {{- with .check.job.resources }}
          resources:
            {{- toYaml . | nindent 12 }}
          {{- end }}
          volumeMounts:
            - name: input
              mountPath: /etc/truce-check
              readOnly: true
            - name: token
              mountPath: /var/run/truce
              readOnly: true
      volumes:
        - name: input
          downwardAPI:
            items:
              - path: manifests.yaml
                fieldRef:
                  fieldPath: metadata.annotations['truce.dev/manifests']
              {{- if .check.server.caBundle }}
              - path: authorities.pem
                fieldRef:
                  fieldPath: metadata.annotations['truce.dev/authorities']
              {{- end }}
        - name: token
          projected:
            sources:
              - serviceAccountToken:
                  path: token
                  audience: {{ .check.server.audience | quote }}
                  expirationSeconds: 600
{{- end -}}

{{/* Declarations and values as a document beside the manifests. */}}
{{- define "truce-check.asked" -}}
apiVersion: truce.dev/v1alpha1
kind: OwnershipCheck
metadata:
  name: {{ include "truce-check.name" . }}
spec:
  {{- include "truce-check.question" . | nindent 2 }}
{{- end -}}

{{/* On OpenShift a namespace gives its Pods user and group, and refuses others: the defaults are left out. */}}
{{- define "truce-check.securityContext" -}}
{{- $context := .check.job.securityContext -}}
{{- if .root.Capabilities.APIVersions.Has "security.openshift.io/v1" -}}
{{- range $name := list "runAsUser" "runAsGroup" "fsGroup" -}}
{{- if eq (toString (get $context $name)) "65532" }}{{ $context = omit $context $name }}{{ end -}}
{{- end -}}
{{- end -}}
{{- toYaml $context -}}
{{- end -}}
