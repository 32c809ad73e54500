"""The server chart as `helm lint` and `helm template` see it, under Helm 3 and 4."""

import hashlib
import json
import os
import re
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest
import yaml

from support.helm import SERVER_CHART, VERSIONS, Helm, all_of, is_hook, the, value_files
from support.truce_process import BINARY
from support.webhook_registration import CHANGES_A_DECLARATION, ENDS_A_DELETION

REPOSITORY = Path(__file__).resolve().parents[2]
GOLDEN = REPOSITORY / "tests/golden/chart-truce.yaml"
PATH_SECRET = "0123456789abcdef0123456789abcdef"
MINIMUM = {"admission": {"pathSecret": PATH_SECRET}}
ENDPOINTS = {
    "declarations": "/validate", "finalizers": "/validate", "deletions": "/validate-deletion", "status": "/validate-status",
    "checks": "/validate-check", "policies": "/validate-policy",
    "compositions": "/validate-composition",
}


def secret_of(endpoint: str) -> str:
    """As Truce computes it (webhook/wire/endpoints.cc); the end of a deletion is told as a declaration is."""
    endpoint = "declarations" if endpoint == "finalizers" else endpoint
    return hashlib.sha256(f"{PATH_SECRET}/{endpoint}".encode()).hexdigest()[:32]


matrix = pytest.mark.parametrize("values", value_files(), ids=lambda path: path.stem)


@pytest.fixture(params=VERSIONS, ids=lambda version: f"helm{version}")
def helm(request, tmp_path):
    return Helm(request.param, tmp_path)


@pytest.fixture
def helm4(tmp_path):
    return Helm(4, tmp_path)


def with_minimum(**more) -> dict:
    return {**MINIMUM, **more}


@matrix
def test_it_lints(helm, values):
    report = helm.expect("lint", "--strict", SERVER_CHART, "--values", values)
    assert "WARNING" not in report and "ERROR" not in report


def test_it_lints_without_values(helm):
    helm.expect("lint", SERVER_CHART)


@pytest.mark.peer("helm3")
@matrix
def test_both_helms_render_the_same_every_time(tmp_path, values):
    """A chart that makes secrets while rendering is out of step with itself at once."""
    renderings = [Helm(version, tmp_path).objects(values) for version in (3, 3, 4, 4)]
    by_name = [
        sorted(objects, key=lambda obj: (obj["kind"], obj["metadata"]["name"]))
        for objects in renderings
    ]
    assert by_name[0] == by_name[1] == by_name[2] == by_name[3]


@matrix
def test_every_object_has_its_namespace_and_labels(helm4, values):
    given = yaml.safe_load(values.read_text())
    namespace = given.get("namespaceOverride", "truce-system")
    extra = {obj["kind"] for obj in given.get("extraObjects", [])}
    cluster_scoped = {
        "ValidatingWebhookConfiguration", "ClusterRole", "ClusterRoleBinding",
        "CustomResourceDefinition",
    }
    for obj in helm4.objects(values):
        if obj["kind"] in extra and obj["metadata"]["name"].endswith("-more"):
            continue
        expected = None if obj["kind"] in cluster_scoped else namespace
        if obj["kind"] in ("Role", "RoleBinding", "Lease"):
            # The Lease is where there is one per cluster; Truce's own Secret is beside it.
            own = obj["metadata"]["name"].endswith("-self")
            closed = not given.get("rbac", {}).get("kubeSystem", True)
            expected = namespace if own or closed else "kube-system"
        assert obj["metadata"].get("namespace") == expected, obj["kind"]
        labels = obj["metadata"]["labels"]
        assert labels["app.kubernetes.io/instance"] == "truce"
        assert given.get("commonLabels", {}).items() <= labels.items()


def test_the_default_rendering(helm4):
    """Golden: everything, but for the list of groups. UPDATE_GOLDEN=1 writes it anew."""
    rendered = helm4.render(SERVER_CHART / "ci/default-values.yaml")
    shown = re.sub(r"(\n +- [a-z0-9]+\.(aws(\.m)?\.(upbound|crossplane)\.io|services\.k8s\.aws))+", "\n<groups>", rendered)
    shown = re.sub(r"[ \t]+$", "", shown, flags=re.MULTILINE)
    if os.environ.get("UPDATE_GOLDEN"):
        GOLDEN.write_text(shown)
    assert GOLDEN.read_text() == shown


def test_the_table_lists_every_value():
    documented = set(re.findall(r"^\| `([\w.]+)` \|", (SERVER_CHART / "README.md").read_text(), re.M))

    def leaves(value, path=""):
        if path in documented or not isinstance(value, dict):
            yield path
            return
        for key, inner in value.items():
            yield from leaves(inner, f"{path}.{key}" if path else key)

    values = yaml.safe_load((SERVER_CHART / "values.yaml").read_text())
    assert set(leaves(values)) == documented


def test_values_and_schema_know_the_same_keys():
    values = yaml.safe_load((SERVER_CHART / "values.yaml").read_text())
    schema = json.loads((SERVER_CHART / "values.schema.json").read_text())

    def compare(value, part, path):
        if "properties" not in part or not value:
            return
        assert part["additionalProperties"] is False, path
        assert set(value) == set(part["properties"]) - {"global"}, path
        for key, inner in value.items():
            compare(inner, part["properties"][key], f"{path}.{key}")

    compare(values, {**schema, "$defs": {}}, "values")


@matrix
def test_the_configuration_is_one_that_truce_takes(helm4, values, tmp_path):
    """By `truce config`, with the arguments that the container gets."""
    objects = helm4.objects(values)
    config = tmp_path / "truce.yaml"
    config.write_text(the(objects, "ConfigMap", the(objects, "Deployment")["metadata"]["name"])
                      ["data"]["truce.yaml"])
    container = the(objects, "Deployment")["spec"]["template"]["spec"]["containers"][0]
    args = [str(config) if arg == "/etc/truce/truce.yaml" else arg for arg in container["args"]]
    done = subprocess.run([BINARY, "config", *args], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert not done.stderr, done.stderr


def test_numbers_and_texts_stay_what_they_were(helm4):
    objects = helm4.objects(SERVER_CHART / "ci/everything-values.yaml")
    config = yaml.safe_load(the(objects, "ConfigMap", "truce")["data"]["truce.yaml"])
    assert config["inFlightBytesMax"] == 134217728 and type(config["inFlightBytesMax"]) is int
    assert config["reservationCap"] == 1000000 and type(config["reservationCap"]) is int
    assert config["providerConfigs"] == [{"name": "prod", "account": "012345678901"}]


def test_what_a_running_server_takes_over_does_not_restart_it(helm4):
    """The Pod template changes with what needs a restart, and only then; which settings take effect
    without one is Truce's to say."""
    def template(values: dict) -> dict:
        return the(helm4.objects(values), "Deployment")["spec"]["template"]

    base = template(MINIMUM)
    policy = {"disclosure": "taken", "typeModes": {"s3/Bucket": "off"}, "reservationCap": 7}
    assert template(with_minimum(mode="enforce", config=policy)) == base
    other_secret = {"admission": {"pathSecret": "f" * 32}}
    assert template(other_secret) == base
    for static in ({"connectionsMax": 64}, {"inFlightMax": 5}, {"drainGrace": "3s"}):
        assert template(with_minimum(config=static)) != base, static
    assert template(with_minimum(clusterId="other")) != base


def test_the_webhook_configuration(helm4):
    hook = the(helm4.objects(MINIMUM), "ValidatingWebhookConfiguration")
    assert [entry["name"] for entry in hook["webhooks"]] == [
        f"{name}.truce.dev" for name in ENDPOINTS
    ]
    declarations, finalizers, deletions, status, checks, policies, compositions = hook["webhooks"]
    assert compositions["failurePolicy"] == "Ignore"
    assert compositions["rules"][0]["resources"] == ["compositions"]
    assert status["failurePolicy"] == "Ignore" and "namespaceSelector" not in status
    assert status["rules"] == [{**declarations["rules"][0], "operations": ["UPDATE"],
                                "resources": ["*/status"]}]
    assert (checks["failurePolicy"], policies["failurePolicy"]) == ("Fail", "Ignore")
    for (name, path), entry in zip(ENDPOINTS.items(), hook["webhooks"]):
        assert entry["clientConfig"]["service"]["path"] == f"{path}/{secret_of(name)}"
    [condition] = declarations["matchConditions"]
    assert condition["expression"] == CHANGES_A_DECLARATION
    assert finalizers["matchConditions"] == ENDS_A_DELETION
    assert "matchConditions" not in deletions
    assert finalizers["rules"] == [{**declarations["rules"][0], "operations": ["UPDATE"]}]
    assert declarations["rules"][0]["operations"] == ["CREATE", "UPDATE"]
    assert deletions["rules"][0]["operations"] == ["DELETE"]
    for entry in (declarations, finalizers, deletions):
        assert entry["failurePolicy"] == "Ignore"
        # Subresources are never asked about.
        assert entry["rules"][0]["resources"] == ["*"]
        [excluded] = entry["namespaceSelector"]["matchExpressions"]
        assert excluded["key"] == "kubernetes.io/metadata.name"
        assert excluded["values"] == ["kube-system", "truce-system"]


def conditions(helm: Helm, **config) -> dict[str, str]:
    hook = the(helm.objects(with_minimum(config=config)), "ValidatingWebhookConfiguration")
    status = next(entry for entry in hook["webhooks"] if entry["name"] == "status.truce.dev")
    return {each["name"]: each["expression"] for each in status.get("matchConditions", [])}


def test_statuses_are_guarded_from_all_but_providers_and_restorers(helm4):
    shown = conditions(helm4, providers=["oidc:o'neil\\x", "a.b*c"], restorers=[])
    assert shown == {"not-providers": "!request.userInfo.username.matches("
                                      r"'(?s)^(?:oidc:o\'neil\\\\x|a\\.b.*c)$')"}
    assert list(conditions(helm4)) == ["not-providers", "not-restorers"]
    off = helm4.objects(with_minimum(webhook={"statusGuard": {"enabled": False}}))
    names = [entry["name"] for entry in the(off, "ValidatingWebhookConfiguration")["webhooks"]]
    assert "status.truce.dev" not in names
    for objects, guarded in ((off, False), (helm4.objects(MINIMUM), True)):
        config = yaml.safe_load(the(objects, "ConfigMap")["data"]["truce.yaml"])
        assert config["statusGuard"] is guarded


def test_failure_policy_is_for_declarations_only(helm4):
    hook = the(
        helm4.objects(with_minimum(webhook={"failurePolicy": "Fail", "acceptSecretInErrors": True,
                                            "ownershipChecks": {"enabled": True}})),
        "ValidatingWebhookConfiguration",
    )
    policies = {entry["name"]: entry["failurePolicy"] for entry in hook["webhooks"]}
    assert policies == {
        "declarations.truce.dev": "Fail",
        "finalizers.truce.dev": "Ignore",
        "deletions.truce.dev": "Ignore",
        "status.truce.dev": "Ignore",
        "checks.truce.dev": "Fail",
        "policies.truce.dev": "Ignore",
        "compositions.truce.dev": "Ignore",
    }


def test_the_manuals_registration_is_the_charts(helm4):
    """Of the server outside the cluster: the same entries ask about the same requests."""
    manual = (REPOSITORY / "docs/outside-the-cluster.md").read_text()
    registered = yaml.safe_load(manual.split("kubectl apply -f - <<EOF\n")[1].split("\nEOF\n")[0])
    rendered = the(helm4.objects(MINIMUM), "ValidatingWebhookConfiguration")
    charts = {entry["name"]: entry for entry in rendered["webhooks"]}
    for entry in registered["webhooks"]:
        chart = charts[entry["name"]]
        for key in ("matchConditions", "failurePolicy", "sideEffects", "matchPolicy"):
            assert entry.get(key) == chart.get(key), (entry["name"], key)


def role_of_truce(objects: list[dict]) -> dict:
    """Not that of those who ask it (rbac.checks)."""
    roles = [obj for obj in objects if obj["kind"] == "ClusterRole"]
    [role] = [role for role in roles if role["metadata"]["name"] == "truce-system-truce"]
    return role


def test_groups_of_mappings_are_judged_and_read(helm4):
    objects = helm4.objects(SERVER_CHART / "ci/everything-values.yaml")
    hook = the(objects, "ValidatingWebhookConfiguration")
    role = role_of_truce(objects)
    for groups in (hook["webhooks"][0]["rules"][0]["apiGroups"], role["rules"][0]["apiGroups"]):
        assert groups == sorted(set(groups))
        assert {"composites.example.org", "platform.example.org", "s3.aws.upbound.io",
                "apps.example.org"} <= set(groups)


def test_rights_are_few(helm4):
    """No Secrets, no writes beyond Events, own status, old checks, questions about callers and one
    Lease; and none at all for a server without a cluster."""
    alone = helm4.objects(
        with_minimum(watchCluster=False, certificates={"mode": "certManager"}))
    kinds = {obj["kind"] for obj in alone}
    assert not kinds & {"ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"}
    objects = helm4.objects(MINIMUM)
    roles = [obj for obj in objects if obj["kind"] in ("ClusterRole", "Role")
             and not obj["metadata"]["name"].endswith("checks")]  # of those who deploy
    rules = [rule for role in roles for rule in role["rules"]]
    of_secrets = [rule for rule in rules if "secrets" in rule["resources"]]
    assert of_secrets == [{"verbs": ["get", "patch"], "apiGroups": [""], "resources": ["secrets"],
                           "resourceNames": ["truce-self"]}]
    writes = set()
    for rule in rules:
        assert "*" not in rule["verbs"]
        assert "*" not in rule["apiGroups"]
        for resource in rule["resources"]:
            for verb in set(rule["verbs"]) - {"get", "list", "watch"}:
                writes.add(f"{verb} {resource}")
    own = ["ownershipchecks", "declarationmappings", "namingpolicies", "ownershipgrants"]
    assert writes == {
        "create events", "patch events", "delete ownershipchecks",
        "create tokenreviews", "create subjectaccessreviews",
        "patch leases",
        "patch secrets", "patch validatingwebhookconfigurations",  # its own, by name
        *(f"patch {kind}/status" for kind in own),
    }
    template = the(objects, "Deployment")["spec"]["template"]["spec"]
    assert template["automountServiceAccountToken"] is True
    without = the(alone, "Deployment")["spec"]["template"]["spec"]
    assert without["automountServiceAccountToken"] is False


def backup_of(objects: list[dict]) -> dict:
    return the(objects, "CronJob", "truce-backup")["spec"]["jobTemplate"]["spec"]["template"]


def test_copies_are_taken_by_who_may_nothing_else(helm4):
    """No role of the chart has backups by default; the CronJob's account has them and nothing more."""
    default = helm4.objects(MINIMUM)
    resources = {resource for obj in default if "rules" in obj for rule in obj["rules"] or []
                 for resource in rule.get("resources", [])}
    assert "backups" not in resources and "CronJob" not in {obj["kind"] for obj in default}
    objects = helm4.objects(with_minimum(backup={"enabled": True, "keep": 3}))
    [role] = [obj for obj in objects if obj["kind"] == "ClusterRole" and "backup" in obj["metadata"]["name"]]
    assert role["rules"] == [{"verbs": ["get"], "apiGroups": ["truce.dev"], "resources": ["backups"]}]
    [binding] = [obj for obj in objects if obj["kind"] == "ClusterRoleBinding"
                 and obj["roleRef"]["name"] == role["metadata"]["name"]]
    account = the(objects, "ServiceAccount", "truce-backup")
    assert binding["subjects"] == [{"kind": "ServiceAccount", "name": "truce-backup",
                                    "namespace": account["metadata"]["namespace"]}]
    pod = backup_of(objects)
    assert pod["spec"]["serviceAccountName"] == "truce-backup"
    assert pod["spec"]["automountServiceAccountToken"] is False
    selector = the(objects, "Service", "truce")["spec"]["selector"]
    assert not selector.items() <= pod["metadata"]["labels"].items(), "no Service leads to it"
    [container] = pod["spec"]["containers"]
    assert container["args"] == ["backup", "/backups", "--keep", "3"]
    [token, authority] = [volume for volume in pod["spec"]["volumes"]
                          if volume["name"] == "truce"][0]["projected"]["sources"]
    assert token["serviceAccountToken"]["audience"] == "truce"
    assert authority["secret"] == {"name": "truce-self", "items": [{"key": "ca.crt", "path": "ca.crt"}]}
    claim = the(objects, "PersistentVolumeClaim", "truce-backup")
    assert claim["metadata"]["annotations"]["helm.sh/resource-policy"] == "keep"
    existing = helm4.objects(with_minimum(backup={"enabled": True, "persistence": {"existingClaim": "mine"}}))
    assert [obj["metadata"]["name"] for obj in existing if obj["kind"] == "PersistentVolumeClaim"] == ["truce"]
    assert backup_of(existing)["spec"]["volumes"][0]["persistentVolumeClaim"] == {"claimName": "mine"}


def test_a_copy_is_given_to_a_command(helm4, tmp_path):
    objects = helm4.objects(SERVER_CHART / "ci/everything-values.yaml")
    pod = backup_of(objects)["spec"]
    assert not [obj for obj in objects if obj["kind"] == "PersistentVolumeClaim"
                and "backup" in obj["metadata"]["name"]]
    [copy], [send] = pod["initContainers"], pod["containers"]
    assert copy["args"] == ["backup", "/backups/registry.db"]
    assert send["args"] == ["aws", "s3", "cp", "-", "s3://backups/truce.db"]
    # As a shell runs it: the command reads the copy, with its words as they stand.
    (tmp_path / "registry.db").write_text("the copy")
    script = [part.replace("/backups", str(tmp_path)) for part in send["command"]]
    done = subprocess.run([*script, "sh", "-c", 'printf "%s|" "$@"; cat', "x", "a b", "$HOME"],
                          capture_output=True, text=True, check=True)
    assert done.stdout == "a b|$HOME|the copy"
    images = {container["image"] for container in (copy, send)}
    assert "registry.example.org/tools/aws:2" in images and len(images) == 2


# What a policy of a cluster may want of a Pod, and where its database is.
SHARED = {
    "commonLabels": {"cost-centre": "42", "app.kubernetes.io/part-of": "platform",
                     "app.kubernetes.io/component": "all", "app.kubernetes.io/name": "other"},
    "commonAnnotations": {"linkerd.io/inject": "enabled", "kubectl.kubernetes.io/default-container": "other"},
    "podAnnotations": {"linkerd.io/inject": "disabled"},
    "podLabels": {"team": "platform"},
    "nodeSelector": {"kubernetes.io/arch": "amd64"},
    "tolerations": [{"key": "dedicated", "operator": "Equal", "value": "platform", "effect": "NoSchedule"}],
    "affinity": {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [
        {"weight": 1, "preference": {"matchExpressions": [{"key": "zone", "operator": "Exists"}]}}]}},
    "resources": {"limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"cpu": "1", "memory": "1Gi"}},
    "hostAliases": [{"ip": "10.1.2.3", "hostnames": ["db-1"]}],
    "imagePullSecrets": [{"name": "registry"}],
    "runtimeClassName": "gvisor",
    "podSecurityContext": {"runAsUser": 1000650001},
}
DATABASE = {"type": "postgres", "url": "postgres://a@h:6432/d", "password": {"existingSecret": "s"},
            "prepare": {"enabled": True, "url": "postgres://b@h:6432/d", "existingSecret": "s"}}


def pods_of(objects: list[dict]) -> dict[str, dict]:
    """Metadata and spec of each Pod that the objects make, by its container."""
    found = []
    for obj in objects:
        template = obj["spec"] if obj["kind"] in ("Deployment", "Job", "CronJob") else None
        if obj["kind"] == "CronJob":
            template = template["jobTemplate"]["spec"]
        if template or obj["kind"] == "Pod":
            found.append(template["template"] if template else obj)
    ours = {"truce", "ready", "prepare-store", "copy"}

    def name(pod: dict) -> str:
        containers = pod["spec"].get("initContainers", []) + pod["spec"]["containers"]
        return next(each["name"] for each in containers if each["name"] in ours)

    return {name(pod): pod for pod in found}


@pytest.mark.parametrize("store", [DATABASE, {}], ids=["postgres", "sqlite"])
def test_what_all_pods_share(helm4, store):
    more = {"store": store} if store else {"backup": {"enabled": True, "podLabels": {"team": "backups"}}}
    objects = all_of(helm4.render(with_minimum(**SHARED, **more)))
    pods = pods_of(objects)
    assert set(pods) == {"truce", "ready", "prepare-store" if store else "copy"}
    selector = the(objects, "Service", "truce")["spec"]["selector"]
    for name, pod in pods.items():
        labels, annotations, spec = pod["metadata"]["labels"], pod["metadata"]["annotations"], pod["spec"]
        assert labels["cost-centre"] == "42" and annotations["linkerd.io/inject"] == "disabled", name
        assert labels["team"] == ("backups" if name == "copy" else "platform")
        assert (selector.items() <= labels.items()) == (name == "truce"), "the Services find the server alone"
        for field in ("nodeSelector", "tolerations", "affinity", "hostAliases", "imagePullSecrets",
                      "runtimeClassName"):
            assert spec[field] == SHARED[field], (name, field)
        assert spec["securityContext"]["runAsUser"] == 1000650001
        assert spec["securityContext"]["fsGroup"] == 65532
        [container] = spec["containers"]
        assert container["securityContext"]["readOnlyRootFilesystem"] is True
        if name != "copy":
            assert container["resources"] == SHARED["resources"], name
    assert pods["truce"]["metadata"]["annotations"]["kubectl.kubernetes.io/default-container"] == "truce"
    # What makes them, too.
    for obj in objects:
        metadata = obj["metadata"]
        assert metadata["labels"]["cost-centre"] == "42", obj["kind"]
        assert metadata["labels"]["app.kubernetes.io/part-of"] == "platform"
        assert "linkerd.io/inject" in metadata["annotations"], obj["kind"]
        if obj["kind"] == "CronJob":
            inner = obj["spec"]["jobTemplate"]["metadata"]
            assert inner["labels"]["cost-centre"] == "42" and "linkerd.io/inject" in inner["annotations"]


def test_a_pod_beside_the_server_keeps_away_from_nobody(helm4):
    """Of the server's affinity that to nodes: beside other Pods a short one may not fit."""
    term = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"a": "b"}}}
    apart = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    pods = pods_of(all_of(helm4.render(with_minimum(affinity=apart, store=DATABASE))))
    assert pods["truce"]["spec"]["affinity"] == apart
    assert "affinity" not in pods["prepare-store"]["spec"] and "affinity" not in pods["ready"]["spec"]


@matrix
def test_no_key_stands_twice(helm4, values):
    given = yaml.safe_load(values.read_text())
    assert all_of(helm4.render(values))
    labels = {"app.kubernetes.io/part-of": "mine", "app.kubernetes.io/component": "mine", "release": "mine",
              "grafana_dashboard": "2", "app.kubernetes.io/instance": "mine"}
    annotations = {"truce.dev/static-configuration": "mine",
                   "cert-manager.io/inject-ca-from": "mine", "helm.sh/resource-policy": "mine"}
    colliding = {"commonLabels": labels, "podLabels": labels, "commonAnnotations": annotations,
                 "podAnnotations": annotations,
                 "webhook": {**given.get("webhook", {}), "annotations": annotations}}
    objects = all_of(helm4.render({**given, **colliding}))
    for obj in objects:
        assert obj["metadata"].get("labels", {}).get("app.kubernetes.io/instance", "truce") == "truce", obj["kind"]
    annotations = pods_of(objects)["truce"]["metadata"]["annotations"]
    assert annotations["truce.dev/static-configuration"] != "mine"


USER_AND_GROUPS = ("runAsUser", "runAsGroup", "fsGroup")


@pytest.mark.parametrize("how", ["detected", "null"])
def test_openshift_gives_user_and_groups(helm, how):
    nothing = {"podSecurityContext": dict.fromkeys(USER_AND_GROUPS)} if how == "null" else {}
    flags = ["--api-versions", "security.openshift.io/v1"] if how == "detected" else []
    rendered = helm.expect("template", "truce", SERVER_CHART, "--values", "-", *flags,
                           stdin=json.dumps(with_minimum(store=DATABASE, **nothing)))
    pods = pods_of(all_of(rendered))
    assert set(pods) == {"truce", "ready", "prepare-store"}
    for name, pod in pods.items():
        context = pod["spec"]["securityContext"]
        assert not set(USER_AND_GROUPS) & set(context) and context["runAsNonRoot"] is True, name
    if how == "detected":
        # A user of one's own is meant.
        given = {"runAsUser": 1000650001}
        rendered = helm.expect("template", "truce", SERVER_CHART, "--values", "-", *flags,
                               stdin=json.dumps(with_minimum(podSecurityContext=given)))
        context = pods_of(all_of(rendered))["truce"]["spec"]["securityContext"]
        assert context["runAsUser"] == 1000650001 and "fsGroup" not in context


def test_nothing_is_in_kube_system_where_it_is_closed(helm4):
    for closed in (False, True):
        objects = helm4.objects(with_minimum(**({"rbac": {"kubeSystem": False}} if closed else {})))
        there = {obj["kind"] for obj in objects if obj["metadata"].get("namespace") == "kube-system"}
        assert there == (set() if closed else {"Lease", "Role", "RoleBinding"})
        config = yaml.safe_load(the(objects, "ConfigMap")["data"]["truce.yaml"])
        assert config.get("leaseNamespace") == ("truce-system" if closed else None)
        assert the(objects, "Lease")["metadata"]["namespace"] == ("truce-system" if closed else "kube-system")


@pytest.mark.parametrize("policy, host", [
    ("", "0.0.0.0"), ("SingleStack", "0.0.0.0"), ("PreferDualStack", "[::]"), ("RequireDualStack", "[::]")])
def test_it_listens_on_the_families_of_its_services(helm4, policy, host):
    objects = helm4.objects(with_minimum(service={"ipFamilyPolicy": policy}))
    config = yaml.safe_load(the(objects, "ConfigMap")["data"]["truce.yaml"])
    assert {config[f"{part}Address"].rpartition(":")[0] for part in (
        "admission", "api", "metrics", "probes")} == {host}
    assert the(objects, "Service", "truce")["spec"].get("ipFamilyPolicy", "") == policy


def test_room_for_pods_of_a_priority(helm4):
    assert "ResourceQuota" not in {obj["kind"] for obj in helm4.objects(MINIMUM)}
    values = with_minimum(priorityClassName="system-cluster-critical", priorityClassQuota=True)
    quota = the(helm4.objects(values), "ResourceQuota")["spec"]
    assert quota == {"hard": {"pods": "3"}, "scopeSelector": {"matchExpressions": [
        {"scopeName": "PriorityClass", "operator": "In", "values": ["system-cluster-critical"]}]}}


# Who is above whom: each holds what the one before holds.
PEOPLE = {"reader": "view", "sharer": "edit", "operator": "admin"}


def test_roles_for_people(helm4):
    def roles(**values) -> dict[str, dict]:
        return {obj["metadata"]["name"].removeprefix("truce-system-truce-"): obj
                for obj in helm4.objects(with_minimum(**values)) if obj["kind"] == "ClusterRole"}

    def rights(role: dict) -> set[tuple[str, str]]:
        assert all(rule["apiGroups"] == ["truce.dev"] for rule in role["rules"])
        return {(verb, name) for rule in role["rules"] for verb in rule["verbs"] for name in rule["resources"]}

    made, given = roles(rbac={"people": "roles"}), roles(rbac={"people": "aggregated"})
    assert not {*PEOPLE, "break-glass"} & set(roles()), "by default nobody's rights change"
    before = set()
    for name, of in PEOPLE.items():
        key = f"rbac.authorization.k8s.io/aggregate-to-{of}"
        assert key not in made[name]["metadata"]["labels"]
        assert given[name]["metadata"]["labels"][key] == "true"
        assert made[name]["rules"] == given[name]["rules"]
        assert rights(made[name]) > before, name
        before = rights(made[name])
        assert not [right for right in before if right[1] == "overrides"], "would let a tenant take any name"
    # Every right of the API is somebody's to give.
    needed = {(verb, f"{resource}/{sub}" if sub else resource) for resource, sub, verb in re.findall(
        r'\{"(ownerships|audit|overrides|imports|findings|recovery|brake)", "(\w*)", "(\w+)", ',
        "".join(path.read_text() for path in (REPOSITORY / "webhook").rglob("*.cc")))}
    assert len(needed) > 12 and needed <= before | rights(made["break-glass"]), needed
    labels = given["break-glass"]["metadata"]["labels"]
    assert not [key for key in labels if "aggregate" in key]


def test_every_rule_is_explained():
    lines = (SERVER_CHART / "templates/rbac.yaml").read_text().splitlines()
    rules = [number for number, line in enumerate(lines) if line.startswith("  - verbs:")]
    assert len(rules) > 10
    for number in rules:
        # Its own comment, or that of the rule before it.
        before = lines[number - 1]
        assert before.startswith("  # ") or before.startswith("    "), lines[number]


def test_the_services(helm4):
    objects = helm4.objects(MINIMUM)
    ports = {
        port["name"]: port["containerPort"]
        for port in the(objects, "Deployment")["spec"]["template"]["spec"]["containers"][0]["ports"]
    }
    labels = the(objects, "Deployment")["spec"]["template"]["metadata"]["labels"]
    for name, part in (("truce", "admission"), ("truce-api", "api"), ("truce-metrics", "metrics")):
        service = the(objects, "Service", name)["spec"]
        assert service["selector"].items() <= labels.items()
        assert service["ports"][0]["targetPort"] == part and part in ports
        assert service.get("publishNotReadyAddresses", False) == (part == "admission")


def test_the_pod_of_helm_test_gets_no_traffic(helm4):
    objects = list(yaml.safe_load_all(helm4.render(MINIMUM)))
    [test] = [obj for obj in objects if obj and is_hook(obj)]
    selector = the([o for o in objects if o], "Service", "truce")["spec"]["selector"]
    assert not selector.items() <= test["metadata"]["labels"].items()


def test_names_stay_short_enough(helm4):
    done = helm4.expect(
        "template", "r" * 53, SERVER_CHART, "--values", "-", stdin=json.dumps(MINIMUM)
    )
    for obj in filter(None, yaml.safe_load_all(done)):
        assert len(obj["metadata"]["name"]) <= 63


def test_the_package_holds_what_installing_needs(helm, tmp_path):
    helm.expect("package", SERVER_CHART, "--destination", tmp_path)
    [package] = tmp_path.glob("truce-*.tgz")
    with tarfile.open(package) as archive:
        names = set(archive.getnames())
    assert {"truce/values.schema.json", "truce/files/catalogue-groups.yaml", "truce/README.md"} <= names
    assert not any(name.startswith("truce/ci/") for name in names)
    assert helm.objects(MINIMUM, chart=package)


@pytest.mark.parametrize("keep", [True, False])
def test_kinds_of_truce_are_upgraded_with_the_chart(helm4, tmp_path, keep):
    chart = tmp_path / "chart"
    shutil.copytree(SERVER_CHART, chart, ignore=shutil.ignore_patterns("crds"))
    (chart / "files/crds").mkdir()
    source = REPOSITORY / "tests/e2e/crds/sqs.yaml"
    shutil.copy(source, chart / "files/crds")
    crd = the(helm4.objects(with_minimum(crds={"keep": keep}), chart), "CustomResourceDefinition")
    assert crd["spec"] == yaml.safe_load(source.read_text())["spec"]
    assert crd["metadata"]["labels"]["app.kubernetes.io/instance"] == "truce"
    kept = crd["metadata"].get("annotations") or {}
    assert (kept.get("helm.sh/resource-policy") == "keep") is keep
    without = helm4.objects(with_minimum(crds={"install": False}), chart)
    assert not [obj for obj in without if obj["kind"] == "CustomResourceDefinition"]


def test_the_volume_outlives_the_release(helm4):
    claim = the(helm4.objects(MINIMUM), "PersistentVolumeClaim")
    assert claim["metadata"]["annotations"]["helm.sh/resource-policy"] == "keep"
    given = the(helm4.objects(with_minimum(persistence={"keep": False})), "PersistentVolumeClaim")
    assert "annotations" not in given["metadata"]


def test_a_registry_for_trials_is_a_file_in_memory(helm):
    objects = helm.objects(with_minimum(store={"type": "memory"}, backup={"enabled": True}))
    config = yaml.safe_load(the(objects, "ConfigMap")["data"]["truce.yaml"])
    assert (config["store"], config["dataDir"]) == ("sqlite", "/var/lib/truce")
    volumes = {volume["name"]: volume for volume in the(objects, "Deployment")["spec"]["template"]["spec"]["volumes"]}
    assert volumes["data"] == {"name": "data", "emptyDir": {"medium": "Memory", "sizeLimit": "512Mi"}}
    claims = [obj["metadata"]["name"] for obj in objects if obj["kind"] == "PersistentVolumeClaim"]
    assert claims == ["truce-backup"], "the copies' alone"


@pytest.mark.parametrize("mode", ["off", "audit", "warn", "enforce"])
def test_the_notes_say_what_to_do_next(helm4, mode):
    # Helm 3 asks a cluster even for this; test_chart_install.py installs with both.
    done = helm4.expect(
        "install", "truce", SERVER_CHART, "--namespace", "truce-system", "--dry-run=client",
        "--values", "-", stdin=json.dumps(with_minimum(mode=mode)),
    )
    notes = done.split("NOTES:")[1]
    assert f'"{mode}"' in notes
    assert "kubectl delete validatingwebhookconfiguration truce" in notes
    assert "truce baseline" in notes
    last = notes.split("Uninstall in this order")[1]
    places = [last.index(word) for word in ("webhook", "helm uninstall", "delete crd", "delete pvc")]
    assert places == sorted(places)
    next_mode = {"off": "audit", "audit": "warn", "warn": "enforce", "enforce": "failurePolicy=Fail"}
    assert next_mode[mode] in notes


@pytest.mark.parametrize("values", value_files(), ids=lambda path: path.stem)
def test_the_notes_print_commands_that_can_be_copied(helm4, values):
    done = helm4.expect("install", "truce", SERVER_CHART, "--namespace", "truce-system", "--dry-run=client",
                        "--values", values)
    notes = done.split("NOTES:")[1]
    commands = re.findall(r"^     (\S.*)$", notes, re.M)
    assert len(commands) >= 5
    for command in commands:
        shown = subprocess.run(["bash", "-n", "-c", command], capture_output=True, text=True)
        assert shown.returncode == 0 and "…" not in command and not re.search(r"\b[A-Z]{4,}\b(?!=)", command.replace(
            "$CHART", "")), command
    given = yaml.safe_load(values.read_text())
    assert ("WARNING: clusterId=local" in notes) == (given.get("clusterId", "local") == "local")
    fails = given.get("webhook", {}).get("failurePolicy") == "Fail"
    assert ("WARNING: webhook.failurePolicy=Fail with one replica" in notes) == fails


def test_a_server_outside_the_cluster(helm4):
    values = SERVER_CHART / "ci/existing-secret-values.yaml"
    hook = the(helm4.objects(values), "ValidatingWebhookConfiguration")
    urls = [entry["clientConfig"]["url"] for entry in hook["webhooks"]]
    base = "https://truce.example.org:8443"
    assert urls == [f"{base}{path}/{secret_of(name)}" for name, path in ENDPOINTS.items()]
    for entry in hook["webhooks"]:
        assert "service" not in entry["clientConfig"] and entry["clientConfig"]["caBundle"]


def test_exclusions_are_conditions_of_declarations_and_deletions(helm4):
    objects = helm4.objects(SERVER_CHART / "ci/everything-values.yaml")
    hook = the(objects, "ValidatingWebhookConfiguration")
    declarations, finalizers, deletions, status, checks, policies, compositions = hook["webhooks"]
    assert finalizers["matchConditions"] == ENDS_A_DELETION + declarations["matchConditions"][1:]
    assert [each["name"] for each in status["matchConditions"]] == ["not-providers", "not-restorers"]
    instance = {"group": "== 'rds.aws.m.upbound.io'", "kind": "== 'Instance'"}
    fields = [f"has(request.kind.{name}) && request.kind.{name} {value}"
              for name, value in instance.items()]
    fields += ["has(request.name) && request.name.startsWith('truce-')",
               "has(request.namespace) && request.namespace == 'platform'"]
    user = "request.userInfo.username"
    account = "system:serviceaccount:crossplane-system:provider-kubernetes-"
    excluded = [f"!({' && '.join(fields)})",
                f"!(has({user}) && {user}.startsWith('{account}'))"]
    conditions = [each["expression"] for each in declarations["matchConditions"]]
    assert len(conditions) == 4 and conditions[0] == CHANGES_A_DECLARATION
    assert [each["expression"] for each in deletions["matchConditions"]] == conditions[1:3]
    assert conditions[1:3] == excluded, conditions
    assert "drill" in conditions[3]
    assert len(compositions["matchConditions"]) == 1 and "namespaceSelector" not in compositions
    for entry in (checks, policies):
        assert "matchConditions" not in entry and "namespaceSelector" not in entry
    [selector] = declarations["namespaceSelector"]["matchExpressions"]
    assert selector["values"] == ["kube-system", "truce-system", "sandbox"]


def test_every_value_of_the_pod_reaches_its_place(helm4):
    path = SERVER_CHART / "ci/everything-values.yaml"
    given = yaml.safe_load(path.read_text())
    deployment = the(helm4.objects(path), "Deployment")
    template = deployment["spec"]["template"]
    pod, container = template["spec"], template["spec"]["containers"][0]
    same = ("priorityClassName", "nodeSelector", "tolerations", "affinity", "dnsPolicy",
            "hostAliases", "imagePullSecrets", "initContainers")
    for name in same:
        assert pod[name] == given[name], name
    [spread] = pod["topologySpreadConstraints"]
    selector = spread.pop("labelSelector")["matchLabels"]
    assert spread == given["topologySpreadConstraints"][0]
    assert selector == deployment["spec"]["selector"]["matchLabels"]
    assert pod["containers"][1:] == given["extraContainers"]
    assert pod["volumes"][-1] == given["extraVolumes"][0]
    assert container["volumeMounts"][-1] == given["extraVolumeMounts"][0]
    assert container["args"][-2:] == given["extraArgs"]
    assert container["env"] == given["extraEnv"]
    assert container["envFrom"] == given["extraEnvFrom"]
    for name, value in {**given["podLabels"], **given["commonLabels"]}.items():
        assert template["metadata"]["labels"][name] == value
    for name, value in {**given["podAnnotations"], **given["commonAnnotations"]}.items():
        assert template["metadata"]["annotations"][name] == value
    assert given["deploymentAnnotations"].items() <= deployment["metadata"]["annotations"].items()
    assert container["image"].startswith("registry.example.org/platform/truce@sha256:")
    for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
        assert container[probe]["httpGet"]["port"] == "probes"
    assert container["securityContext"]["readOnlyRootFilesystem"] is True
    assert deployment["spec"]["strategy"] == {"type": "Recreate"}


def test_several_replicas(helm4):
    """None is away in a rollout, none stands beside another one while there is room; nothing is kept in the Pod."""
    path = SERVER_CHART / "ci/replicas-values.yaml"
    objects = helm4.objects(path)
    deployment = the(objects, "Deployment")
    assert deployment["spec"]["replicas"] == 3
    assert deployment["spec"]["strategy"] == {
        "type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 0, "maxSurge": 1}}
    pod = deployment["spec"]["template"]["spec"]
    selector = deployment["spec"]["selector"]
    assert pod["topologySpreadConstraints"] == [
        {"maxSkew": 1, "topologyKey": key, "whenUnsatisfiable": "ScheduleAnyway", "labelSelector": selector,
         "matchLabelKeys": ["pod-template-hash"]}
        for key in ("topology.kubernetes.io/zone", "kubernetes.io/hostname")]
    assert "publishNotReadyAddresses" not in the(objects, "Service", "truce")["spec"], "the ready ones answer"
    assert the(objects, "PodDisruptionBudget")["spec"]["maxUnavailable"] == 1
    assert "PersistentVolumeClaim" not in {obj["kind"] for obj in objects}
    given = yaml.safe_load(path.read_text())
    # Each may come to watch the cluster, so all may what one alone may.
    alone = helm4.objects({**given, "replicaCount": 1})
    assert [obj for obj in objects if "rules" in obj] == [obj for obj in alone if "rules" in obj] != []
    mine = [{"maxSkew": 2, "topologyKey": "rack", "whenUnsatisfiable": "DoNotSchedule"}]
    other = the(helm4.objects({**given, "topologySpreadConstraints": mine, "hostNetwork": True}), "Deployment")
    assert other["spec"]["strategy"]["rollingUpdate"] == {"maxUnavailable": 1, "maxSurge": 0}
    assert other["spec"]["template"]["spec"]["topologySpreadConstraints"] == [{**mine[0], "labelSelector": selector}]


def test_the_objects_around_the_pod(helm4):
    path = SERVER_CHART / "ci/everything-values.yaml"
    objects = helm4.objects(path)
    labels = the(objects, "Deployment")["spec"]["template"]["metadata"]["labels"]
    budget = the(objects, "PodDisruptionBudget")["spec"]
    assert budget["maxUnavailable"] == 1
    assert budget["selector"]["matchLabels"].items() <= labels.items()
    monitor = the(objects, "ServiceMonitor")["spec"]
    metrics = the(objects, "Service", "truce-metrics")
    assert monitor["selector"]["matchLabels"].items() <= metrics["metadata"]["labels"].items()
    assert the(objects, "PrometheusRule")["metadata"]["labels"]["release"] == "prometheus"
    [dashboard] = [obj for obj in objects if obj["kind"] == "ConfigMap"
                   and obj["metadata"].get("labels", {}).get("grafana_dashboard") == "1"]
    assert json.loads(next(iter(dashboard["data"].values())))["panels"]
    assert the(objects, "ConfigMap", "truce-more")["data"] == {"note": "of truce"}


def test_the_url_of_a_webhook_comes_from_a_secret(helm4):
    objects = helm4.objects(with_minimum(notify={"existingSecret": "chat", "form": "json"}))
    config = yaml.safe_load(the(objects, "ConfigMap", "truce")["data"]["truce.yaml"])
    assert (config["notifyUrlFile"], config["notifyForm"]) == ("/etc/truce-notify/url", "json")
    pod = the(objects, "Deployment")["spec"]["template"]["spec"]
    [volume] = [each for each in pod["volumes"] if each["name"] == "notify"]
    assert volume["secret"]["secretName"] == "chat"
    [mount] = [each for each in pod["containers"][0]["volumeMounts"] if each["name"] == "notify"]
    assert mount == {"name": "notify", "mountPath": "/etc/truce-notify", "readOnly": True}
    config = yaml.safe_load(the(helm4.objects(MINIMUM), "ConfigMap", "truce")["data"]["truce.yaml"])
    assert "notifyUrlFile" not in config and "notifyForm" not in config


def test_the_network_policy(helm4):
    optional = {"NetworkPolicy", "PodDisruptionBudget", "ServiceMonitor", "PrometheusRule"}
    assert not optional & {obj["kind"] for obj in helm4.objects(MINIMUM)}, "off by default"

    def policy(**values) -> dict:
        values["networkPolicy"] = {"enabled": True, **values.get("networkPolicy", {})}
        objects = helm4.objects(with_minimum(**values))
        spec = the(objects, "NetworkPolicy")["spec"]
        labels = the(objects, "Deployment")["spec"]["template"]["metadata"]["labels"]
        assert spec["podSelector"]["matchLabels"].items() <= labels.items()
        assert spec["policyTypes"] == ["Ingress", "Egress"]
        return spec

    spec = policy()
    reviews, api, metrics = spec["ingress"]
    # No selector matches an API server: the path's secret protects the port.
    assert reviews == {"ports": [{"port": "admission"}]}
    assert api == {"ports": [{"port": "api"}], "from": [{"podSelector": {}}]}
    assert metrics == {"ports": [{"port": "metrics"}], "from": [{"namespaceSelector": {}}]}
    names, server = spec["egress"]
    assert {each["port"] for each in names["ports"]} == {53}
    assert [each["port"] for each in server["ports"]] == [443, 6443] and "to" not in server
    block = [{"ipBlock": {"cidr": "192.0.2.0/24"}}]
    spec = policy(networkPolicy={"admissionFrom": block, "apiServerTo": block})
    assert spec["ingress"][0]["from"] == spec["egress"][1]["to"] == block
    unwatched = {"watchCluster": False, "certificates": {"mode": "certManager"}}
    # API servers drop an empty list: it would be a difference at each apply.
    assert "egress" not in policy(**unwatched)
    names, webhook = policy(**unwatched, notify={"existingSecret": "chat"})["egress"]
    assert names["ports"][0]["port"] == 53 and webhook == {"ports": [{"port": 443, "protocol": "TCP"}]}

    def database(url: str, **network) -> list[int]:
        store = {"type": "postgres", "url": url, "password": {"existingSecret": "s"}}
        egress = policy(store=store, networkPolicy=network)["egress"]
        return [each["port"] for each in egress[-1]["ports"]]

    assert database("postgres://a@h/d") == [5432]
    assert database("postgres://a@h:6432/d?sslmode=require") == [6432]
    assert database("postgresql://a@h-1:6432,h-2,[fd00::1]:6433,[fd00::2]/d") == [6432, 5432, 6433]
    assert database("postgres://a@h/d?port=6432&x=1") == [6432]
    assert database("postgres://a@h:6432/d", storePorts=[7000]) == [7000]
