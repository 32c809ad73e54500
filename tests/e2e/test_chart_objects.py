"""Every object that the server chart renders, as a real API server takes it: strict validation,
admission and Pod Security included, in dry runs."""

import json
import shutil
from pathlib import Path

import pytest
import yaml

from support.helm import CHARTS, NAMESPACE, SERVER_CHART, Helm, all_of, is_hook, the, value_files
from support.processes import wait_for

pytestmark = pytest.mark.slow(1.7)

CRDS = Path(__file__).resolve().parent / "chart/crds"
NAMESPACES = (NAMESPACE, "platform-ownership")
MINIMUM = {"admission": {"pathSecret": "0123456789abcdef0123456789abcdef"}}
# The strictest that Kubernetes has: it refuses Pods that do not keep to it.
RESTRICTED = {"pod-security.kubernetes.io/enforce": "restricted"}


def make(client, obj: dict) -> None:
    reply = client.create(obj)
    assert reply.status in (201, 409), reply.body


def account_of(namespace: str, name: str) -> dict:
    return {"apiVersion": "v1", "kind": "ServiceAccount",
            "metadata": {"name": name, "namespace": namespace}}


@pytest.fixture(scope="module")
def namespaces(cluster):
    """The namespaces that the charts go into, and the kinds of other products."""
    done = cluster.kubectl("apply", "-f", str(CRDS))
    assert done.returncode == 0, done.stderr
    established = cluster.kubectl("wait", "--for=condition=established", "-f", str(CRDS))
    assert established.returncode == 0, established.stderr
    with cluster.client() as client:
        for name in NAMESPACES:
            # Applied: another test may have made it, without the labels.
            client.apply({"apiVersion": "v1", "kind": "Namespace",
                          "metadata": {"name": name, "labels": RESTRICTED}}).expect()
            # Pods are refused without their accounts; no controller makes the default one.
            for account in ("default", "truce", "ownership"):
                make(client, account_of(name, account))
    yield
    # Helm installs nothing over an account that it did not make.
    with cluster.client() as client:
        for name in NAMESPACES:
            for account in ("truce", "ownership"):
                client.delete(account_of(name, account))


@pytest.fixture
def helm(tmp_path):
    # Both Helms render the same objects (test_chart_render.py).
    return Helm(4, tmp_path)


def dry_run(cluster, objects: list[dict]):
    return cluster.kubectl(
        "apply", "--server-side", "--dry-run=server", "--validate=strict", "-o", "name", "-f", "-",
        stdin=[obj for obj in objects if obj["kind"] != "ServiceAccount"],
    )


@pytest.mark.parametrize("values", value_files(), ids=lambda path: path.stem)
def test_the_api_server_takes_every_object(cluster, namespaces, helm, values):
    rendered = [obj for obj in yaml.safe_load_all(helm.render(values)) if obj]
    for account in (obj for obj in rendered if obj["kind"] == "ServiceAccount"):
        account["metadata"]["name"] += "-fresh"  # the real one stands already, for the Pods
        done = cluster.kubectl("create", "--dry-run=server", "--validate=strict", "-f", "-", stdin=account)
        assert done.returncode == 0, done.stderr
    done = dry_run(cluster, rendered)
    assert done.returncode == 0, done.stderr
    assert "Warning" not in done.stderr, done.stderr
    expected = [obj for obj in rendered if obj["kind"] != "ServiceAccount"]
    assert len(done.stdout.split()) == len(expected)


@pytest.mark.parametrize("values", value_files(), ids=lambda path: path.stem)
def test_the_pods_are_restricted(cluster, namespaces, helm, values):
    """A Deployment is only warned about; its Pod is refused."""
    rendered = [obj for obj in yaml.safe_load_all(helm.render(values)) if obj]
    deployment = the([obj for obj in rendered if not is_hook(obj)], "Deployment")
    template = deployment["spec"]["template"]
    pods = [obj for obj in rendered if obj["kind"] == "Pod"] + [{
        "apiVersion": "v1", "kind": "Pod", "spec": template["spec"],
        "metadata": {**template["metadata"], "name": "of-the-deployment",
                     "namespace": deployment["metadata"]["namespace"]},
    }]
    for pod in pods:
        done = cluster.kubectl("create", "--dry-run=server", "--validate=strict", "-f", "-", stdin=pod)
        assert done.returncode == 0 and not done.stderr, done.stderr


def policy(name: str, rules: list[dict], *validations: tuple[str, str]) -> list[dict]:
    """A policy of the cluster and its binding, about the namespace of the charts."""
    api = "admissionregistration.k8s.io/v1"
    selector = {"matchLabels": {"kubernetes.io/metadata.name": NAMESPACE}}
    return [
        {"apiVersion": api, "kind": "ValidatingAdmissionPolicy", "metadata": {"name": name}, "spec": {
            "failurePolicy": "Fail",
            "matchConstraints": {"namespaceSelector": selector, "resourceRules": rules},
            "validations": [{"expression": text, "message": message} for text, message in validations]}},
        {"apiVersion": api, "kind": "ValidatingAdmissionPolicyBinding", "metadata": {"name": name},
         "spec": {"policyName": name, "validationActions": ["Deny"]}},
    ]


def in_range(field: str) -> tuple[str, str]:
    """What OpenShift's constraints ask of a Pod: none, or one of the namespace's."""
    path = f"object.spec.securityContext.{field}"
    return (f"!has({path}) || ({path} >= 1000650000 && {path} < 1000660000)", "must be in the ranges")


POLICIES = {
    "labels-wanted": (
        policy("labels-wanted", [{"apiGroups": ["", "batch", "apps"], "apiVersions": ["v1"], "operations": ["CREATE"],
                                  "resources": ["pods", "jobs", "cronjobs", "deployments"]}],
               ("has(object.metadata.labels) && 'cost-centre' in object.metadata.labels", "label is missing")),
        {"commonLabels": {"cost-centre": "42"}}, {"labels": {"cost-centre": "42"}}, ()),
    "openshift-range": (
        policy("openshift-range", [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"],
                                    "resources": ["pods"]}], in_range("runAsUser"), in_range("fsGroup")),
        {}, {}, ("--api-versions", "security.openshift.io/v1")),
}


@pytest.mark.parametrize("name", POLICIES)
def test_what_a_cluster_wants_of_pods_all_of_them_have(cluster, namespaces, helm, tmp_path, name):
    """Every Pod, and every object that makes one: the server's chart, and the check's Job."""
    objects, values, of_check, flags = POLICIES[name]
    database = {"type": "postgres", "url": "postgres://a@h/d", "password": {"existingSecret": "s"},
                "prepare": {"enabled": True, "url": "postgres://b@h/d", "existingSecret": "s"}}

    def rendered(chart: Path, given: dict) -> list[dict]:
        return all_of(helm.expect("template", "truce", chart, "--namespace", NAMESPACE, "--values", "-",
                                  *flags, stdin=json.dumps(given)))

    shutil.copytree(CHARTS, tmp_path / "charts")
    presync = tmp_path / "charts/truce-presync"
    helm.expect("dependency", "build", presync)
    declared = [{"type": "s3/Bucket", "name": "my-bucket"}]
    makers = [obj for given in ({"store": database}, {"backup": {"enabled": True}})
              for obj in rendered(SERVER_CHART, {**MINIMUM, **values, **given})
              if obj["kind"] in ("Deployment", "Job", "CronJob", "Pod")]
    makers += rendered(presync, {"mode": "job", "declarations": declared, **of_check})
    pods = []
    for obj in list(makers):
        template = obj
        while "template" not in template and "jobTemplate" in template.get("spec", {}):
            template = template["spec"]["jobTemplate"]
            makers.append({"apiVersion": "batch/v1", "kind": "Job", "spec": template["spec"], "metadata": {
                **template.get("metadata", {}), "name": "of-cron", "namespace": NAMESPACE}})
        template = template["spec"].get("template", template)
        pods.append({"apiVersion": "v1", "kind": "Pod", "spec": {**template["spec"], "serviceAccountName": "default"},
                     "metadata": {**template["metadata"], "name": "one", "namespace": NAMESPACE}})
    assert len(pods) == 7 and len(makers) == 8
    bare = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "bare", "namespace": NAMESPACE},
            "spec": the(rendered(SERVER_CHART, MINIMUM), "Pod")["spec"] | {"securityContext": {
                "runAsNonRoot": True, "runAsUser": 65532, "seccompProfile": {"type": "RuntimeDefault"}}}}

    def create(obj: dict):
        return cluster.kubectl("create", "--dry-run=server", "--validate=strict", "-f", "-", stdin=obj)

    assert cluster.kubectl("apply", "-f", "-", stdin=objects).returncode == 0
    try:
        wait_for(lambda: create(bare).returncode != 0, 30, "the policy in effect")
        for obj in makers + pods:
            done = create(obj)
            assert done.returncode == 0, (obj["kind"], done.stderr)
    finally:
        cluster.kubectl("delete", "-f", "-", stdin={"apiVersion": "v1", "kind": "List", "items": objects})


def differs(wanted, live, path: str = "") -> list[str]:
    """Where what was rendered is not what the API server keeps, as who compares both sees it."""
    if isinstance(wanted, dict) and isinstance(live, dict):
        return [line for key, value in wanted.items()
                for line in differs(value, live.get(key, "nothing"), f"{path}.{key}")]
    if isinstance(wanted, list) and isinstance(live, list) and len(wanted) == len(live):
        return [line for number, value in enumerate(wanted)
                for line in differs(value, live[number], f"{path}[{number}]")]
    return [] if wanted == live else [f"{path}: rendered {wanted!r}, kept {live!r}"]


@pytest.mark.parametrize("values", value_files(), ids=lambda path: path.stem)
def test_no_value_is_a_difference_at_each_apply(cluster, namespaces, helm, values):
    for obj in all_of(helm.render(values)):
        if obj["kind"] == "ServiceAccount":
            obj["metadata"]["name"] += "-fresh"
        done = cluster.kubectl("apply", "--server-side", "--dry-run=server", "-o", "json", "-f", "-", stdin=obj)
        assert done.returncode == 0, done.stderr
        if obj["kind"] == "Pod":  # a bare one gets tolerations of the cluster's own, and is a hook, never compared
            obj["spec"].pop("tolerations", None)
        assert not differs(obj, json.loads(done.stdout)), obj["kind"]


def test_the_readmes_pod_of_a_downgrade_is_restricted(cluster, namespaces):
    text = (SERVER_CHART.parents[1] / "docs/operate.md").read_text().split("## Downgrade")[1].split("EOF")[1]
    pod = yaml.safe_load(text.removeprefix("\n"))
    done = cluster.kubectl("create", "-n", NAMESPACE, "--dry-run=server", "--validate=strict", "-f",
                           "-", stdin=pod)
    assert done.returncode == 0 and not done.stderr, done.stderr


def test_a_weaker_pod_would_be_refused(cluster, namespaces, helm):
    """The test above is worth something."""
    weaker = {**MINIMUM, "securityContext": {"allowPrivilegeEscalation": True}}
    template = the(helm.objects(weaker), "Deployment")["spec"]["template"]
    pod = {"apiVersion": "v1", "kind": "Pod", "spec": template["spec"],
           "metadata": {"name": "weaker", "namespace": NAMESPACE}}
    done = cluster.kubectl("create", "--dry-run=server", "-f", "-", stdin=pod)
    assert done.returncode != 0 and "violates PodSecurity" in done.stderr


def test_an_unknown_field_would_be_refused(cluster, namespaces, helm):
    objects = helm.objects(MINIMUM)
    the(objects, "Service", "truce")["spec"]["publishNotReady"] = True
    done = dry_run(cluster, objects)
    assert done.returncode != 0 and "publishNotReady" in done.stderr


def test_the_account_may_do_what_it_needs_and_nothing_else(cluster, namespaces, helm):
    """By the API server's own authorizer, with the chart's roles in place."""
    kinds = ("ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding")
    objects = [
        obj for obj in helm.objects(MINIMUM) if obj["kind"] in kinds
    ]
    assert len(objects) == 7
    applied = cluster.kubectl("apply", "-f", "-", stdin=objects)
    assert applied.returncode == 0, applied.stderr
    account = f"system:serviceaccount:{NAMESPACE}:truce"

    def may(*question: str) -> bool:
        done = cluster.kubectl("auth", "can-i", f"--as={account}", *question)
        return done.stdout.strip() == "yes"

    try:
        wait_for(lambda: may("list", "buckets.s3.aws.upbound.io", "-A"), 20, "the roles in effect")
        for question in (
            "watch buckets.s3.aws.m.upbound.io -A",
            "get providerconfigs.aws.upbound.io",
            "list customresourcedefinitions.apiextensions.k8s.io",
            "get namespaces/kube-system",
            "create events -n team-a",
            "create tokenreviews.authentication.k8s.io",
            "create subjectaccessreviews.authorization.k8s.io",
            "get validatingwebhookconfigurations/truce",
            "patch validatingwebhookconfigurations/truce",
            f"get secrets/truce-self -n {NAMESPACE}",
            f"patch secrets/truce-self -n {NAMESPACE}",
            "get leases.coordination.k8s.io/truce-local -n kube-system",
            "patch leases.coordination.k8s.io/truce-local -n kube-system",
            "list leases.coordination.k8s.io/truce-local -A",
            "delete ownershipchecks.truce.dev -n team-a",
            "patch ownershipchecks.truce.dev --subresource=status -n team-a",
            "patch declarationmappings.truce.dev --subresource=status",
        ):
            assert may(*question.split()), question
        for question in (
            "get secrets -A",
            f"get secrets -n {NAMESPACE}",
            f"get secrets/truce-tls -n {NAMESPACE}",
            "get configmaps -A",
            "list pods -A",
            "create buckets.s3.aws.upbound.io",
            "patch buckets.s3.aws.upbound.io",
            "delete buckets.s3.aws.upbound.io",
            f"create secrets -n {NAMESPACE}",
            f"list secrets -n {NAMESPACE}",
            "get secrets/truce-self -n kube-system",
            "patch validatingwebhookconfigurations/other",
            "create validatingwebhookconfigurations",
            "get validatingwebhookconfigurations/other",
            "create leases.coordination.k8s.io -n kube-system",
            f"create leases.coordination.k8s.io -n {NAMESPACE}",
            "patch leases.coordination.k8s.io/kube-scheduler -n kube-system",
            "get leases.coordination.k8s.io/kube-scheduler -n kube-system",
            "list leases.coordination.k8s.io -A",
            "create ownershipchecks.truce.dev -n team-a",
            "patch ownershipchecks.truce.dev -n team-a",
            "patch declarationmappings.truce.dev",
            "create clusterrolebindings",
            "impersonate users",
        ):
            assert not may(*question.split()), question
    finally:
        removed = cluster.kubectl("delete", "-f", "-", stdin=json.dumps(
            {"apiVersion": "v1", "kind": "List", "items": objects}))
        assert removed.returncode == 0, removed.stderr
