"""Bad values of the server chart fail at `helm template`, and the message has their path."""

import pytest

from support.helm import SERVER_CHART, VERSIONS, Helm

MINIMUM = {"admission": {"pathSecret": "0123456789abcdef0123456789abcdef"}}
CERTIFICATE = "-----BEGIN CERTIFICATE-----\nMA==\n-----END CERTIFICATE-----\n"

REPLICAS = {"replicaCount": 2, "certificates": {"mode": "certManager"},
            "store": {"type": "postgres", "url": "postgres://truce@db/truce"}}


@pytest.fixture(params=VERSIONS, ids=lambda version: f"helm{version}")
def helm(request, tmp_path):
    return Helm(request.param, tmp_path)


# path as Helm shows it, values
WRONG = [
    ("/mode", {"mode": "strict"}),
    ("/mode", {"mode": True}),
    ("/clusterId", {"clusterId": "Prod_1"}),
    ("/replicaCount", {"replicaCount": "one"}),
    ("/webhook/failurePolicy", {"webhook": {"failurePolicy": "fail"}}),
    ("/webhook/timeoutSeconds", {"webhook": {"timeoutSeconds": 31}}),
    ("/webhook/timeoutSeconds", {"webhook": {"timeoutSeconds": "5s"}}),
    ("/webhook/mappedGroups", {"webhook": {"mappedGroups": "platform.example.org"}}),
    ("/webhook/mappedGroups/0", {"webhook": {"mappedGroups": ["*"]}}),
    ("/webhook/xrdGroups/0", {"webhook": {"xrdGroups": ["Platform.example.org"]}}),
    ("/webhook/url", {"webhook": {"url": "http://truce.example.org"}}),
    ("/webhook/exclude/0", {"webhook": {"exclude": [{}]}}),
    ("/webhook/exclude/0", {"webhook": {"exclude": [{"label": "x"}]}}),
    ("/webhook/exclude/0/name", {"webhook": {"exclude": [{"name": "x' || true || '"}]}}),
    ("/webhook/exclude/0/name", {"webhook": {"exclude": [{"name": "a*b"}]}}),
    ("/admission/pathSecret", {"admission": {"pathSecret": "short"}}),
    ("/certificates/mode", {"certificates": {"mode": "none"}}),
    ("/certificates/caBundle", {"certificates": {"caBundle": "ca.crt"}}),
    ("/store/type", {"store": {"type": "mysql"}}),
    ("/store/url", {"store": {"type": "postgres", "url": "mysql://truce@db/truce"}}),
    ("/backup/schedule", {"backup": {"schedule": "every night"}}),
    ("/backup/keep", {"backup": {"keep": 0}}),
    ("/backup/command", {"backup": {"command": "aws s3 cp"}}),
    ("/persistence/size", {"persistence": {"size": "2 GB"}}),
    ("/persistence/accessModes/0", {"persistence": {"accessModes": ["ReadOnlyMany"]}}),
    ("/image/digest", {"image": {"digest": "latest"}}),
    ("/listen/admissionPort", {"listen": {"admissionPort": 0}}),
    ("/resources", {"resources": "small"}),
    ("/podLabels/team", {"podLabels": {"team": 1}}),
    ("/config/disclosure", {"config": {"disclosure": "none"}}),
    ("/config/typeModes/s3~1Bucket", {"config": {"typeModes": {"s3/Bucket": "on"}}}),
    ("/config/providerConfigs/0/account",
     {"config": {"providerConfigs": [{"name": "prod", "account": 123456789012}]}}),
    ("/config/reservationTTL", {"config": {"reservationTTL": "soon"}}),
    ("/config/overrides/0", {"config": {"overrides": [{"name": "x"}]}}),
]

UNKNOWN = [
    ("", "modes", {"modes": "audit"}),
    ("/webhook", "failurepolicy", {"webhook": {"failurepolicy": "Fail"}}),
    ("/image", "name", {"image": {"name": "truce"}}),
    ("/service/admission", "nodePort", {"service": {"admission": {"nodePort": 1}}}),
    ("/config", "dataDir", {"config": {"dataDir": "/elsewhere"}}),
    ("/config", "mode", {"config": {"mode": "enforce"}}),
    ("/config", "mapings", {"config": {"mapings": []}}),
    ("/certificates/certManager/issuerRef", "nmae",
     {"certificates": {"certManager": {"issuerRef": {"nmae": "x"}}}}),
]

# What no schema can tell: the beginning of the message, and a word of what to do.
IMPOSSIBLE = [
    ("admission.pathSecret: ", "openssl rand -hex 16",
     {"admission": {"pathSecret": ""}, "certificates": {"mode": "certManager"}}),
    ("admission.pathSecret: ", "openssl rand -hex 16",
     {"admission": {"pathSecret": ""}, "webhook": {"url": "https://truce.example.org"}}),
    ("webhook.failurePolicy: ", "webhook.acceptSecretInErrors=true",
     {"webhook": {"failurePolicy": "Fail"}}),
    ("admission.clientCA.names: ", "common name",
     {"admission": {"clientCA": {"existingSecret": "authority"}}}),
    ("store.url: ", "postgres://USER@HOST:PORT/NAME", {"store": {"type": "postgres"}}),
    ("store.url: ", "store.password.existingSecret",
     {"store": {"type": "postgres", "url": "postgres://truce:hidden@db/truce"}}),
    ("store.url: ", "store.password.existingSecret",
     {"store": {"type": "postgres", "url": "postgres://truce@db/truce?password=hidden"}}),
    ("store.url: ", "no user or no database", {"store": {"type": "postgres", "url": "postgres://db/truce"}}),
    ("store.url: ", "remove it, or set store.type", {"store": {"url": "postgres://truce@db/truce"}}),
    ("store.password: ", "remove the others",
     {"store": {"type": "postgres", "url": "postgres://truce@db/truce",
                "password": {"existingSecret": "s", "command": ["aws"]}}}),
    ("store.prepare: ", "existingSecret",
     {"store": {"type": "postgres", "url": "postgres://truce@db/truce", "prepare": {"enabled": True}}}),
    ("replicaCount: ", "set 1, or store.type postgres", {"replicaCount": 2}),
    ("certificates.mode: ", "set certManager, or existingSecret",
     {**REPLICAS, "certificates": {"caBundle": CERTIFICATE}}),
    ("admission.pathSecret: ", "for all",
     {**REPLICAS, "admission": {"pathSecret": ""}, "webhook": {"enabled": False}}),
    ("config.auditExportDir: ", "remove it", {**REPLICAS, "config": {"auditExportDir": "/audit"}}),
    ("podDisruptionBudget.maxUnavailable: ", "set 1",
     {**REPLICAS, "podDisruptionBudget": {"maxUnavailable": 0}}),
    ("certificates.mode: ", "webhook.enabled=false", {"watchCluster": False}),
    ("certificates.caBundle: ", "remove the value", {"certificates": {"caBundle": CERTIFICATE}}),
    ("certificates.existingSecret.name: ", "name the Secret",
     {"certificates": {"mode": "existingSecret", "caBundle": CERTIFICATE}}),
    ("certificates.caBundle: ", "publiclyTrusted",
     {"certificates": {"mode": "existingSecret", "existingSecret": {"name": "mine"}}}),
    ("podDisruptionBudget.maxUnavailable: ", "set 1",
     {"podDisruptionBudget": {"enabled": True, "maxUnavailable": 0}}),
    ("backup.enabled: ", "beside the server",
     {"backup": {"enabled": True}, "watchCluster": False, "certificates": {"caBundle": CERTIFICATE}}),
    ("backup.enabled: ", "backup.enabled=false", {"backup": {"enabled": True}, "store": {"type": "postgres", "url": "postgres://truce@db/truce"}}),
    ("listen.host: ", "takes both", {"listen": {"host": "0.0.0.0"}, "service": {"ipFamilyPolicy": "RequireDualStack"}}),
    ("priorityClassQuota: ", "system-cluster-critical", {"priorityClassQuota": True}),
    ("backup.image: ", "name it", {"backup": {"enabled": True, "command": ["cat"]}}),
    ("backup.command: ", "remove backup.image", {"backup": {"enabled": True, "image": "busybox"}}),
]


@pytest.mark.parametrize("path, values", WRONG, ids=lambda part: part if isinstance(part, str) else "")
def test_a_wrong_value_is_refused_with_its_path(helm, path, values):
    assert f"at '{path}" in helm.refusal({**MINIMUM, **values})


@pytest.mark.parametrize("path, key, values", UNKNOWN, ids=lambda part: part if isinstance(part, str) else "")
def test_an_unknown_key_is_refused_with_its_path(helm, path, key, values):
    refusal = helm.refusal({**MINIMUM, **values})
    assert f"at '{path}': additional properties '{key}' not allowed" in refusal


@pytest.mark.parametrize("begin, remedy, values", IMPOSSIBLE, ids=[each[0] for each in IMPOSSIBLE])
def test_what_cannot_work_is_refused_with_the_way_out(helm, begin, remedy, values):
    refusal = helm.refusal({**MINIMUM, **values})
    assert begin in refusal and remedy in refusal


def test_an_older_kubernetes_is_refused(helm):
    done = helm.run("template", "truce", SERVER_CHART, "--kube-version", "1.29.0")
    assert done.returncode != 0
    assert "requires kubeVersion: >=1.30" in done.stderr
