"""The charts `truce-check` and `truce-presync` as `helm lint` and `helm template` see them, under Helm 3
and 4: the mode that fits the cluster, what is asked, and values that mean nothing."""

import json
import re
import shutil

import pytest
import yaml

from support.helm import CHARTS, VERSIONS, Helm, all_of, the

KIND = ("--api-versions", "truce.dev/v1alpha1/OwnershipCheck")
VALUES = {"appName": "a", "objectStorage": {"x": {"name": "my-bucket"}}}
DECLARATION = {"type": "s3/Bucket", "name": "my-bucket"}
CHECK = "truce-check"


@pytest.fixture(scope="module")
def charts(tmp_path_factory):
    """The charts with their dependencies fetched: {name: folder}."""
    copy = tmp_path_factory.mktemp("charts")
    shutil.copytree(CHARTS, copy / "charts")
    found = {
        "example": copy / "charts/truce-check/examples/my-service",
        "presync": copy / "charts/truce-presync",
    }
    for folder in found.values():
        Helm(4, copy).expect("dependency", "build", folder)
    return found


@pytest.fixture(params=VERSIONS, ids=lambda version: f"helm{version}")
def helm(request, tmp_path):
    return Helm(request.param, tmp_path)


def render(helm: Helm, chart, values: dict, *args: str):
    return helm.run("template", "svc", chart, "--namespace", "team-a", "--values", "-", *args,
                    stdin=json.dumps(values))


def objects(helm: Helm, chart, values: dict, *args: str) -> list[dict]:
    done = render(helm, chart, values, *args)
    assert done.returncode == 0, done.stderr
    return [obj for obj in yaml.safe_load_all(done.stdout) if obj]


def asked_by_job(job: dict) -> list[dict]:
    text = job["spec"]["template"]["metadata"]["annotations"]["truce.dev/manifests"]
    return [obj for obj in yaml.safe_load_all(text) if obj]


def test_they_lint(helm, charts):
    for chart in charts.values():
        values = {"manifests": "a: b"} if chart == charts["presync"] else {}
        report = helm.expect("lint", "--strict", chart, "--values", "-", stdin=json.dumps(values))
        assert "WARNING" not in report and "ERROR" not in report


def test_the_mode_fits_the_cluster(helm, charts):
    chart = charts["example"]
    without = objects(helm, chart, {})
    assert {obj["kind"] for obj in without} == {"Job", "Bucket", "ConfigMap"}
    with_kind = objects(helm, chart, {}, *KIND)
    assert {obj["kind"] for obj in with_kind} == {"OwnershipCheck", "Bucket", "ConfigMap"}
    # Said outright it is so whatever the cluster has.
    assert the(objects(helm, chart, {CHECK: {"mode": "job"}}, *KIND), "Job")
    assert the(objects(helm, chart, {CHECK: {"mode": "admission"}}), "OwnershipCheck")
    off = objects(helm, chart, {CHECK: {"enabled": False}}, *KIND)
    assert {obj["kind"] for obj in off} == {"Bucket", "ConfigMap"}


def test_it_is_a_hook_of_who_deploys(helm, charts):
    for mode, kind in (("admission", "OwnershipCheck"), ("job", "Job")):
        for deployer, expected in (
            ("argocd", {"argocd.argoproj.io/hook": "PreSync",
                        "argocd.argoproj.io/hook-delete-policy": "BeforeHookCreation",
                        "argocd.argoproj.io/sync-wave": "-100"}),
            ("helm", {"helm.sh/hook": "pre-install,pre-upgrade,pre-rollback",
                      "helm.sh/hook-delete-policy": "before-hook-creation",
                      "helm.sh/hook-weight": "-100"}),
        ):
            values = {CHECK: {"mode": mode, "deployer": deployer}}
            metadata = the(objects(helm, charts["example"], values), kind)["metadata"]
            assert metadata["annotations"] == expected
            assert metadata["name"] == "svc-ownership-check"
            assert metadata["namespace"] == "team-a"


def test_the_jobs_pod_is_as_the_cluster_wants_it(helm, charts):
    job_values = {
        "podLabels": {"team": "a", "app.kubernetes.io/name": "mine"},
        "podAnnotations": {"linkerd.io/inject": "disabled", "truce.dev/manifests": "mine"},
        "hostAliases": [{"ip": "10.1.2.3", "hostnames": ["truce.example.org"]}],
        "securityContext": {"runAsUser": None, "fsGroup": 1000650001},
    }
    labels = {"cost-centre": "42", "app.kubernetes.io/part-of": "mine"}
    annotations = {"argocd.argoproj.io/sync-wave": "7"}
    check = {"mode": "job", "labels": labels, "annotations": annotations, "job": job_values}
    for chart, values in (("example", {CHECK: check}), ("presync", {**check, "declarations": [DECLARATION]})):
        done = render(helm, charts[chart], values)
        assert done.returncode == 0, done.stderr
        job = the(all_of(done.stdout), "Job")
        assert labels.items() <= job["metadata"]["labels"].items()
        assert job["metadata"]["annotations"]["argocd.argoproj.io/sync-wave"] == "7"
        pod = job["spec"]["template"]
        assert {"cost-centre": "42", "team": "a"}.items() <= pod["metadata"]["labels"].items()
        assert pod["metadata"]["annotations"]["linkerd.io/inject"] == "disabled"
        assert asked_by_job(job) and "mine" != pod["metadata"]["annotations"]["truce.dev/manifests"]
        assert pod["spec"]["hostAliases"] == job_values["hostAliases"]
        assert pod["spec"]["securityContext"] == {
            "runAsNonRoot": True, "runAsGroup": 65532, "fsGroup": 1000650001,
            "seccompProfile": {"type": "RuntimeDefault"}}
        quiet = {**values, "job": {}} if chart == "presync" else {CHECK: {"mode": "job"}}
        done = render(helm, charts[chart], quiet, "--api-versions", "security.openshift.io/v1")
        found = the(all_of(done.stdout), "Job")
        assert set(found["spec"]["template"]["spec"]["securityContext"]) == {"runAsNonRoot", "seccompProfile"}


def test_what_is_asked(helm, charts):
    rule = {"values": ["appName", "objectStorage"], "mapping": "charts"}
    values = {**VALUES, CHECK: {**rule, "declarations": [DECLARATION]}}
    rendered = objects(helm, charts["example"], values, *KIND)
    check = the(rendered, "OwnershipCheck")
    assert check["spec"] == {
        "service": "my-service",
        "declarations": [DECLARATION],
        # Helm merges maps: the example's own bucket is among its values still.
        "values": {"appName": "a", "objectStorage": {
            **yaml.safe_load((charts["example"] / "values.yaml").read_text())["objectStorage"],
            "x": {"name": "my-bucket"}}},
        "mapping": "charts",
        "manifests": [obj for obj in rendered if obj["kind"] == "Bucket"],
    }
    assert len(check["spec"]["manifests"]) == 2
    job = the(objects(helm, charts["example"], {**values, CHECK: {**values[CHECK], "mode": "job"}}),
              "Job")
    asked = asked_by_job(job)
    assert [obj["kind"] for obj in asked] == ["Bucket", "Bucket", "OwnershipCheck"]
    without = {key: value for key, value in check["spec"].items() if key != "manifests"}
    assert asked[2]["spec"] == without


def test_the_readmes_steps_as_written(helm, tmp_path):
    """A service of its own, made of the manual's blocks beside the library."""
    shutil.copytree(CHARTS, tmp_path / "charts")
    steps = (CHARTS.parent / "docs/presync.md").read_text().partition("## What runs")[0]
    dependency, line, values, by_rule = re.findall(r"^```(?:yaml)?\n(.*?)^```", steps, re.M | re.S)
    chart = tmp_path / "charts/service"
    (chart / "templates").mkdir(parents=True)
    (chart / "Chart.yaml").write_text(
        f"apiVersion: v2\nname: service\nversion: 1.0.0\n{dependency}")
    (chart / "templates/presync.yaml").write_text(line)
    example = CHARTS / "truce-check/examples/my-service"
    shutil.copy(example / "templates/buckets.yaml", chart / "templates")
    helm.expect("dependency", "build", chart)
    for block, asked in ((values, "manifests"), (by_rule, "mapping")):
        (chart / "values.yaml").write_text(f"{block}{yaml.safe_dump(VALUES)}")
        assert asked in the(objects(helm, chart, {}, *KIND), "OwnershipCheck")["spec"]


def test_kubernetes_own_kinds_are_left_out(helm, charts):
    manifests = "\n---\n".join(map(json.dumps, [
        {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}},
        {"apiVersion": "networking.k8s.io/v1", "kind": "Ingress", "metadata": {"name": "i"}},
        {"apiVersion": "v1", "kind": "List", "items": [
            {"apiVersion": "g.io/v1", "kind": "Claim", "metadata": {"name": "c"}}]},
        {"apiVersion": "s3.services.k8s.aws/v1alpha1", "kind": "Bucket", "metadata": {"name": "b"}},
    ])) + "\n--- # the end\n# nothing\n"
    values = {"manifests": manifests, "mode": "admission"}
    spec = the(objects(helm, charts["presync"], values), "OwnershipCheck")["spec"]
    assert [obj["kind"] for obj in spec["manifests"]] == ["Claim", "Bucket"]


def test_the_ordinary_chart_asks_about_values_as_they_are(helm, charts):
    values = {"values": VALUES, "mapping": "charts", "service": "a"}
    check = the(objects(helm, charts["presync"], values, *KIND), "OwnershipCheck")
    assert check["spec"] == {"service": "a", "values": VALUES, "mapping": "charts"}
    job = the(objects(helm, charts["presync"], values), "Job")
    assert asked_by_job(job)[0]["spec"] == check["spec"]


@pytest.mark.parametrize(
    "values, message",
    [
        ({CHECK: {"modus": "job"}}, "modus"),
        ({CHECK: {"mode": "both"}}, "mode"),
        ({CHECK: {"enabled": "yes"}}, "enabled"),
        ({CHECK: {"templates": "buckets.yaml"}}, "templates"),
        ({CHECK: {"values": {"a": 1}}}, "values"),
        ({CHECK: {"values": ["nope"]}}, "truce-check.values: this chart has no value nope"),
        ({CHECK: {"mapping": "charts"}}, "truce-check.mapping: charts says what values declare"),
        ({CHECK: {"declarations": [{"name": "x"}]}}, "type"),
        ({CHECK: {"declarations": [{**DECLARATION, "account": "7"}]}}, "account"),
        ({CHECK: {"server": {"url": "truce"}}}, "url"),
        ({CHECK: {"job": {"image": 7}}}, "image"),
        ({CHECK: {"templates": [], "manifests": ""}}, "truce-check: nothing to check"),
        ({CHECK: {"manifests": "a: [", "mode": "admission"}}, "is no YAML"),
        ({CHECK: {"manifests": "# " + "x" * 65500, "mode": "job"}}, "an annotation holds 65536"),
    ],
)
def test_values_that_mean_nothing_are_refused(helm, charts, values, message):
    done = render(helm, charts["example"], values)
    assert done.returncode != 0 and not done.stdout
    assert message in done.stderr, done.stderr


def test_the_table_lists_every_value():
    documented = set(
        re.findall(r"^\| `([\w.]+)` \|", (CHARTS / "truce-check/README.md").read_text(), re.M))
    for chart in ("truce-check", "truce-presync"):
        text = (CHARTS / chart / "values.yaml").read_text()
        values = yaml.safe_load(text)
        schema = json.loads((CHARTS / chart / "values.schema.json").read_text())
        # Helm shows a chart the values of the charts it depends on.
        assert set(values) == set(schema["properties"]) - {"global", "truce-check"}
        assert set(values) <= {path.split(".")[0] for path in documented}
