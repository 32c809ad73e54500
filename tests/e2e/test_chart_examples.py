"""The examples of the server chart are what the chart takes, and render what docs/clusters.md promises of them."""

import os
import re
import shlex
import subprocess

import pytest
import yaml

from support.cluster import PEERS
from support.helm import NAMESPACE, SERVER_CHART, Helm, the

pytestmark = pytest.mark.slow(1.8)

EXAMPLES = SERVER_CHART / "examples"
PAGE = SERVER_CHART.parents[1] / "docs/clusters.md"
ROOT = SERVER_CHART.parents[1]
# `helm install` and `upgrade` as `helm template`, which keeps the words of a page's former command, as
# --reset-then-reuse-values does.
HELM = """
shift
words=() now=()
[ ! -f words ] || mapfile -t words < words
for word in "$@"; do [[ "$word" == --reset-then-reuse-values || "$word" == --create-namespace ]] || now+=("$word"); done
printf '%s\\n' "${now[@]:2}" >> words
exec {helm} template "${now[@]}" "${words[@]}"
"""
CHART = yaml.safe_load((SERVER_CHART / "Chart.yaml").read_text())


@pytest.fixture
def helm(tmp_path):
    return Helm(4, tmp_path)


@pytest.fixture
def rendered(helm):
    """The objects that a file of values gives."""
    return lambda name: helm.objects(EXAMPLES / "values" / name)


def test_every_file_of_values_is_rendered_and_in_the_page(helm):
    files = sorted((EXAMPLES / "values").glob("*.yaml"))
    assert len(files) == 6
    for file in files:
        assert helm.objects(file), file
        assert f"(../charts/truce/examples/values/{file.name})" in PAGE.read_text(), file.name


def test_eks_shares_the_nodes_network(rendered):
    objects = rendered("eks-overlay.yaml")
    pod = the(objects, "Deployment")["spec"]["template"]["spec"]
    assert pod["hostNetwork"] and pod["dnsPolicy"] == "ClusterFirstWithHostNet"
    ports = {port["name"]: port["containerPort"] for port in pod["containers"][0]["ports"]}
    assert ports == {"admission": 8443, "api": 18444, "metrics": 18080, "probes": 18081}
    config = yaml.safe_load(the(objects, "ConfigMap", "truce")["data"]["truce.yaml"])
    assert config["metricsAddress"] == "0.0.0.0:18080"
    # Without it nothing of that.
    pod = the(rendered("gke-private.yaml"), "Deployment")["spec"]["template"]["spec"]
    assert "hostNetwork" not in pod and "dnsPolicy" not in pod


def test_gke_opens_the_port_of_the_container(rendered):
    pod = the(rendered("gke-private.yaml"), "Deployment")["spec"]["template"]["spec"]
    [port] = [port["containerPort"] for port in pod["containers"][0]["ports"] if port["name"] == "admission"]
    assert f"--allow tcp:{port}" in PAGE.read_text()


def test_a_zonal_volume_is_given_up_soon_and_restored_from_a_snapshot(helm, rendered):
    pod = the(rendered("zonal-volume.yaml"), "Deployment")["spec"]["template"]["spec"]
    assert [toleration["tolerationSeconds"] for toleration in pod["tolerations"]] == [30, 30]
    snapshot = yaml.safe_load((EXAMPLES / "volume-snapshot.yaml").read_text())
    claim = the(rendered("zonal-volume.yaml"), "PersistentVolumeClaim")
    assert snapshot["spec"]["source"]["persistentVolumeClaimName"] == claim["metadata"]["name"]
    assert snapshot["metadata"]["namespace"] == claim["metadata"]["namespace"] == NAMESPACE
    # The page's own command.
    [command] = [block for block in re.findall(r"^helm upgrade [^`]*", PAGE.read_text(), re.M) if "dataSource" in block]
    settings = [word for word in shlex.split(command.replace("\\\n", " ")) if "dataSource" in word]
    flags = [part for setting in settings for part in ("--set", setting)]
    shown = helm.expect("template", "truce", SERVER_CHART, "--namespace", NAMESPACE, *flags)
    restored = the([obj for obj in yaml.safe_load_all(shown) if obj], "PersistentVolumeClaim")
    assert restored["spec"]["dataSource"] == {
        "apiGroup": snapshot["apiVersion"].partition("/")[0], "kind": snapshot["kind"],
        "name": snapshot["metadata"]["name"]}


def test_tokens_of_iam_are_there_before_truce_reads_them(rendered):
    objects = rendered("rds-iam.yaml")
    pod = the(objects, "Deployment")["spec"]["template"]["spec"]
    [first] = pod["initContainers"]
    truce = pod["containers"][0]
    config = yaml.safe_load(the(objects, "ConfigMap", "truce")["data"]["truce.yaml"])
    assert first["restartPolicy"] == "Always" and config["storePasswordFile"] in first["startupProbe"]["exec"]["command"]
    host = next(each["value"] for each in first["env"] if each["name"] == "HOST")
    assert f"@{host}:5432/" in config["store"]
    [volume] = {mount["name"] for mount in first["volumeMounts"]}
    [mount] = [mount for mount in truce["volumeMounts"] if mount["name"] == volume]
    assert config["storePasswordFile"].startswith(mount["mountPath"] + "/") and mount["readOnly"]


def test_the_api_has_an_ingress_or_a_route(rendered):
    objects = rendered("ingress-nginx.yaml")
    service = the(objects, "Service", "truce-api")
    ingress = the(objects, "Ingress")
    [rule] = ingress["spec"]["rules"]
    assert rule["host"] == "truce.example.org"
    backend = rule["http"]["paths"][0]["backend"]["service"]
    assert backend["name"] == "truce-api"
    assert backend["port"]["name"] in {port["name"] for port in service["spec"]["ports"]}
    assert ingress["metadata"]["annotations"]["nginx.ingress.kubernetes.io/backend-protocol"] == "HTTPS"

    objects = rendered("gateway.yaml")
    route, policy = the(objects, "HTTPRoute"), the(objects, "BackendTLSPolicy")
    assert route["spec"]["hostnames"] == ["truce.example.org"]
    [backend] = route["spec"]["rules"][0]["backendRefs"]
    assert backend["port"] in {port["port"] for port in the(objects, "Service", backend["name"])["spec"]["ports"]}
    # A name of the certificate, and the target that the route has.
    config = yaml.safe_load(the(objects, "ConfigMap", "truce")["data"]["truce.yaml"])
    assert policy["spec"]["validation"]["hostname"] in config["serverNames"]
    assert policy["spec"]["targetRefs"][0]["name"] == backend["name"]


def test_flux_and_argo_cd_give_values_that_the_chart_takes(helm):
    documents = list(yaml.safe_load_all((EXAMPLES / "flux/helmrelease.yaml").read_text()))
    release, repository = the(documents, "HelmRelease"), the(documents, "OCIRepository")
    assert release["spec"]["chartRef"] == {"kind": "OCIRepository", "name": repository["metadata"]["name"]}
    assert repository["spec"]["ref"]["semver"] == ".".join(CHART["version"].split(".")[:2]) + ".x"
    application = yaml.safe_load((EXAMPLES / "argocd/application.yaml").read_text())
    assert application["spec"]["source"]["targetRevision"] == CHART["version"]
    helm_values = application["spec"]["source"]["helm"]["valuesObject"]
    for values in (release["spec"]["values"], helm_values):
        objects = helm.objects(values)
        pod = the(objects, "Deployment")["spec"]["template"]["spec"]
        assert pod["containers"][0]["image"].startswith("registry.example.org/platform/truce:")
    webhook = the(helm.objects(helm_values), "ValidatingWebhookConfiguration")
    assert webhook["metadata"]["annotations"]["argocd.argoproj.io/sync-wave"] == "1"
    for ignored in application["spec"]["ignoreDifferences"]:
        the(objects, ignored["kind"], ignored["name"])


def installations() -> list[tuple[str, str]]:
    """The blocks of the documents that install or upgrade the chart."""
    pages = [ROOT / "README.md", SERVER_CHART / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    return [(page.name, block) for page in pages
            for block in re.findall(r"^```\w*\n(.*?)^```", page.read_text(), re.M | re.S)
            if re.search(r"^helm (install|upgrade) truce charts/truce", block, re.M)]


@pytest.mark.parametrize("page, block", installations())
def test_an_installation_of_the_documents_renders(page, block, tmp_path):
    """With all that it sets; kubectl and the other programs do nothing here."""
    programs = tmp_path / "bin"
    programs.mkdir()
    (tmp_path / "charts").symlink_to(SERVER_CHART.parent)
    scripts = dict.fromkeys(("kubectl", "gcloud", "truce", "psql", "make"),
                            "cat >/dev/null; echo '-----BEGIN CERTIFICATE----- MA== -----END CERTIFICATE-----'")
    scripts["helm"] = HELM.replace("{helm}", str(PEERS / "helm4"))
    for name, script in scripts.items():
        (programs / name).write_text(f"#!/usr/bin/env bash\n{script}\n")
        (programs / name).chmod(0o755)
    done = subprocess.run(
        ["bash", "-euc", block], cwd=tmp_path, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL,
        env=os.environ | {"PATH": f"{programs}:{os.environ['PATH']}", "HOME": str(tmp_path), "TMPDIR": str(tmp_path)})
    assert done.returncode == 0, done.stderr
    assert "kind: Deployment" in done.stdout, (page, done.stdout)


def test_the_page_names_values_that_exist():
    values = set(re.findall(r"^\| `([\w.]+)` \|", (SERVER_CHART / "README.md").read_text(), re.M))
    named = set(re.findall(r"`((?:[a-z]+[A-Z]?\w*\.)+[A-Za-z]+)`", PAGE.read_text()))
    for name in named:
        assert name in values or name.startswith("config."), name


def test_chart_yaml_is_what_artifact_hub_reads():
    assert CHART["icon"].startswith("data:image/svg+xml;base64,")
    annotations = CHART["annotations"]
    kinds = yaml.safe_load(annotations["artifacthub.io/crds"])
    present = {}
    for file in (SERVER_CHART / "files/crds").glob("*.yaml"):
        crd = yaml.safe_load(file.read_text())
        present[crd["metadata"]["name"]] = (crd["spec"]["names"]["kind"], crd["spec"]["versions"][0]["name"])
    assert {kind["name"]: (kind["kind"], kind["version"]) for kind in kinds} == present
    examples = yaml.safe_load(annotations["artifacthub.io/crdsExamples"])
    assert {example["kind"] for example in examples} <= {kind for kind, _ in present.values()}
