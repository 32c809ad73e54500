{{/* Combinations that no schema can tell; each message begins with the value's path. */}}
{{- define "truce.validate" -}}
{{- $v := .Values -}}
{{- if eq $v.store.type "postgres" -}}
{{- if not $v.store.url -}}
{{- fail "store.url: store.type is postgres, so name the database: postgres://USER@HOST:PORT/NAME" -}}
{{- end -}}
{{- range $path, $url := dict "store.url" $v.store.url "store.prepare.url" $v.store.prepare.url -}}
{{- if regexMatch "^postgres(ql)?://[^/@]*:[^/]*@|[?&](ssl)?password=" $url -}}
{{- fail (printf "%s: holds a password, which the release and the Pod would show; remove it, and give it in a Secret (%s)" $path (eq $path "store.url" | ternary "store.password.existingSecret" "store.prepare.existingSecret")) -}}
{{- end -}}
{{- if and $url (not (regexMatch "^postgres(ql)?://[^/@]+@[^/@]*/[^/?]+" $url)) -}}
{{- fail (printf "%s: names no user or no database; write postgres://USER@HOST:PORT/NAME" $path) -}}
{{- end -}}
{{- end -}}
{{- if gt (len (compact (list $v.store.password.existingSecret $v.store.password.file (join "" $v.store.password.command)))) 1 -}}
{{- fail "store.password: one of existingSecret, file and command says where it comes from; remove the others" -}}
{{- end -}}
{{- if and $v.store.prepare.enabled (not (and $v.store.prepare.url $v.store.prepare.existingSecret)) -}}
{{- fail "store.prepare: the Job needs url, with a user who may make tables, and existingSecret with its password" -}}
{{- end -}}
{{- else if $v.store.url -}}
{{- fail (printf "store.url: is for store.type postgres, and it is %s; remove it, or set store.type" $v.store.type) -}}
{{- end -}}
{{- if include "truce.several" . -}}
{{- if ne $v.store.type "postgres" -}}
{{- fail (printf "replicaCount: the %s store allows one replica: two would not know of each other's ownerships; set 1, or store.type postgres" $v.store.type) -}}
{{- end -}}
{{- if eq $v.certificates.mode "selfManaged" -}}
{{- fail "certificates.mode: several replicas need one certificate and one secret in the path of reviews, and each would make its own with selfManaged; set certManager, or existingSecret, and admission.pathSecret (docs/postgresql.md, Several replicas)" -}}
{{- end -}}
{{- if $v.config.auditExportDir -}}
{{- fail "config.auditExportDir: several replicas would each export a part, into a folder of its own Pod; remove it and read the table truce.audit, or set replicaCount=1" -}}
{{- end -}}
{{- if and (include "truce.pathNeedsSecret" .) (not $v.admission.pathSecret) (not $v.admission.existingSecret) -}}
{{- fail "admission.pathSecret: each replica would make a secret of its own for the paths, and refuse reviews that carry another one's; set 32 hex digits for all and keep them, for example --set-string admission.pathSecret=$(openssl rand -hex 16), or name a Secret (admission.existingSecret)" -}}
{{- end -}}
{{- end -}}
{{- if and (or $v.podDisruptionBudget.enabled (include "truce.several" .)) (lt (int $v.podDisruptionBudget.maxUnavailable) 1) -}}
{{- fail "podDisruptionBudget.maxUnavailable: 0 forbids every eviction, so drains of nodes hang; set 1" -}}
{{- end -}}
{{- if and $v.priorityClassQuota (not $v.priorityClassName) -}}
{{- fail "priorityClassQuota: is for the Pods of priorityClassName, which is empty; set it, for example system-cluster-critical" -}}
{{- end -}}
{{- if eq $v.certificates.mode "existingSecret" -}}
{{- if not $v.certificates.existingSecret.name -}}
{{- fail "certificates.existingSecret.name: certificates.mode is existingSecret, so name the Secret" -}}
{{- end -}}
{{- end -}}
{{- if and $v.admission.clientCA.existingSecret (not $v.admission.clientCA.names) -}}
{{- fail "admission.clientCA.names: name the certificate that your API server shows (its subject's common name or a DNS name): without names every certificate of that authority could send reviews, with the cluster's own every kubelet's" -}}
{{- end -}}
{{- if and (contains "DualStack" $v.service.ipFamilyPolicy) $v.listen.host (ne $v.listen.host "[::]") -}}
{{- fail (printf "listen.host: %s is of one family, and service.ipFamilyPolicy is %s; remove listen.host, or set [::], which takes both" $v.listen.host $v.service.ipFamilyPolicy) -}}
{{- end -}}
{{- $ports := list -}}
{{- range $part := list "admissionPort" "apiPort" "metricsPort" "probesPort" -}}
{{- $port := int (get $v.listen $part) -}}
{{- if has $port $ports -}}
{{- fail (printf "listen.%s: %d is the port of another listener; give each its own" $part $port) -}}
{{- end -}}
{{- $ports = append $ports $port -}}
{{- end -}}
{{- if and $v.ingress.enabled (not $v.ingress.host) (not $v.publicURL) -}}
{{- fail "ingress.host: name the host, or set publicURL" -}}
{{- end -}}
{{- if and $v.httpRoute.enabled (not $v.httpRoute.hostnames) (not $v.publicURL) -}}
{{- fail "httpRoute.hostnames: name a host, or set publicURL" -}}
{{- end -}}
{{- if and $v.httpRoute.enabled (not $v.httpRoute.parentRefs) -}}
{{- fail "httpRoute.parentRefs: name the Gateway that the route belongs to, as [{name: public, namespace: gateways}]" -}}
{{- end -}}
{{- if $v.backup.enabled -}}
{{- if not $v.watchCluster -}}
{{- fail "backup.enabled: without watchCluster nobody vouches for the token of the CronJob; take copies with `truce backup` beside the server" -}}
{{- end -}}
{{- if eq $v.store.type "postgres" -}}
{{- fail "backup.enabled: the postgres store has no file to copy; set backup.enabled=false" -}}
{{- end -}}
{{- if and $v.backup.command (not $v.backup.image) -}}
{{- fail "backup.image: backup.command runs in an image of yours, so name it" -}}
{{- end -}}
{{- if and $v.backup.image (not $v.backup.command) -}}
{{- fail "backup.command: backup.image is for a command that takes the copy; name it, or remove backup.image" -}}
{{- end -}}
{{- end -}}
{{- if $v.webhook.enabled -}}
{{- $writesPath := and (include "truce.keepsItself" .) (not $v.webhook.url) (not $v.admission.existingSecret) -}}
{{- if and (include "truce.pathNeedsSecret" .) (not $v.admission.pathSecret) (not $writesPath) -}}
{{- fail "admission.pathSecret: reviews need a secret in their path: set 32 hex digits and keep them, for example --set-string admission.pathSecret=$(openssl rand -hex 16)" -}}
{{- end -}}
{{- if and (eq $v.webhook.failurePolicy "Fail") (include "truce.pathNeedsSecret" .) (not $v.webhook.acceptSecretInErrors) -}}
{{- fail "webhook.failurePolicy: with Fail the API server shows the whole path, with its secret, to everybody whose request fails while Truce cannot be reached, and whoever has it writes reservations: let the API server show a client certificate (admission.clientCA) or a token (admission.bearer), or accept it with webhook.acceptSecretInErrors=true (docs/roll-out.md, Ignore or Fail)" -}}
{{- end -}}
{{- if and (eq $v.certificates.mode "existingSecret") (not $v.certificates.caBundle) (not $v.certificates.publiclyTrusted) -}}
{{- fail "certificates.caBundle: the API server must know who signed the certificate: give the authorities as PEM (--set-file certificates.caBundle=ca.crt), or set certificates.publiclyTrusted" -}}
{{- end -}}
{{- if and (include "truce.keepsItself" .) $v.certificates.caBundle -}}
{{- fail "certificates.caBundle: with certificates.mode selfManaged Truce writes its authority itself; remove the value" -}}
{{- end -}}
{{- if and (eq $v.certificates.mode "selfManaged") (not $v.watchCluster) (not $v.certificates.caBundle) -}}
{{- fail "certificates.mode: without watchCluster Truce cannot publish the authority that it makes itself: set watchCluster, or install with webhook.enabled=false, read ca.crt from the Pod, then give it as certificates.caBundle (docs/install.md, Without following the cluster); or use certManager or existingSecret" -}}
{{- end -}}
{{- end -}}
{{- end -}}
