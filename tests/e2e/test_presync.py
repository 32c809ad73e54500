"""The check before the deployment on a real API server: what chart truce-check renders, an
OwnershipCheck or a Job, holds Argo CD's own sync engine before anything of the service is touched,
and says what it may not have.

No kubelet runs: the Job's container is run as a process with its command, environment and token.
"""

import json
import shutil
import tempfile
from pathlib import Path

import pytest
import yaml

from support.cluster import REPOSITORY
from support.helm import NAMESPACE, Helm
from support.job import JobRun
from support.processes import wait_for
from support.sync_engine import Application
from support.truce_process import OBJECT_STORAGE_MAPPINGS

CHARTS = REPOSITORY / "charts"


@pytest.fixture(scope="module")
def example(tmp_path_factory) -> Path:
    """The example service with its dependency fetched, as its deployment would do."""
    copy = tmp_path_factory.mktemp("charts")
    shutil.copytree(CHARTS, copy / "charts")
    chart = copy / "charts/truce-check/examples/my-service"
    Helm(4, copy).expect("dependency", "build", chart)
    return chart


@pytest.fixture
def truce_with_api(cluster, follow):
    """Truce following the cluster, and the rights and accounts that its chart and the cluster's
    controllers would make."""
    process = follow({"mode": "enforce", "mappings": OBJECT_STORAGE_MAPPINGS}, failure_policy="")
    cluster.register_webhook(process.admission_url, process.ca_file, own_kinds=True)
    helm = Helm(4, process.directory)
    checks = [obj for obj in helm.objects({}) if obj["metadata"]["name"].endswith("-checks")]
    accounts = [
        {"apiVersion": "v1", "kind": "ServiceAccount",
         "metadata": {"name": "default", "namespace": namespace}}
        for namespace in ("team-a", "team-b")
    ]
    done = cluster.kubectl("apply", "-f", "-", stdin=[*checks, *accounts])
    assert done.returncode == 0 and len(checks) == 2, done.stderr
    yield process
    cluster.kubectl("delete", "clusterrole,clusterrolebinding", f"{NAMESPACE}-truce-checks")
    for namespace in ("team-a", "team-b"):
        cluster.kubectl("delete", "job,configmap", "--all", "-n", namespace, "--wait=false")


class Service:
    """The example service of one team."""

    def __init__(self, cluster, truce, chart: Path, namespace: str, directory: Path):
        self.cluster, self.truce, self.chart, self.namespace = cluster, truce, chart, namespace
        self.name = f"service-of-{namespace}"
        self.directory = directory / self.name
        self.directory.mkdir()
        self.log_level = "info"

    def render(self, bucket: str, mode: str = "job") -> str:
        check = {"mode": mode, "service": self.name}
        if mode == "job":
            api = json.loads((self.truce.data / "addresses.json").read_text())["api"]
            authority = (self.truce.data / "certs/ca.crt").read_text()
            check["server"] = {"url": f"https://{api}", "caBundle": authority}
        values = {
            "appName": self.name,
            "logLevel": self.log_level,
            "objectStorage": {"artifacts": {"name": bucket, "region": "eu-west-1"}},
            "truce-check": check,
        }
        return Helm(4, self.directory).expect(
            "template", self.name, self.chart, "--namespace", self.namespace, "--values", "-",
            stdin=json.dumps(values))

    def check(self, bucket: str) -> JobRun:
        """The check as it renders for this bucket, run."""
        jobs = [obj for obj in yaml.safe_load_all(self.render(bucket)) if obj["kind"] == "Job"]
        return self.run(jobs[0])

    def run(self, job: dict) -> JobRun:
        directory = Path(tempfile.mkdtemp(dir=self.directory))
        return JobRun(self.cluster, job, directory).run()

    def sync(self, engine: Application, bucket: str) -> dict[str, str]:
        """Synced by Argo CD's engine, in mode admission: what became of each resource."""
        engine.sync(self.render(bucket, "admission"))
        return engine.result()

    def deploy(self, bucket: str) -> str:
        """The check in mode admission, then what a sync does after its hooks. What was warned of."""
        objects = list(yaml.safe_load_all(self.render(bucket, "admission")))
        check = [obj for obj in objects if obj["kind"] == "OwnershipCheck"]
        self.cluster.kubectl(
            "delete", "ownershipcheck", "--all", "-n", self.namespace, "--ignore-not-found")
        done = self.cluster.kubectl("create", "-f", "-", stdin=check)
        assert done.returncode == 0, done.stderr
        self.apply(bucket)
        return done.stderr

    def apply(self, bucket: str) -> None:
        """What a sync does after its hooks."""
        objects = [obj for obj in yaml.safe_load_all(self.render(bucket)) if obj["kind"] != "Job"]
        done = self.cluster.kubectl("apply", "-n", self.namespace, "-f", "-", stdin=objects)
        assert done.returncode == 0, done.stderr

    def objects(self) -> set[str]:
        """What of the service exists, besides its check."""
        done = self.cluster.kubectl(
            "get", "buckets.s3.aws.upbound.io,configmaps", "-n", self.namespace, "-o", "name")
        return {name for name in done.stdout.split() if self.name in name}

    def job(self) -> dict | None:
        done = self.cluster.kubectl(
            "get", "job", f"{self.name}-ownership-check", "-n", self.namespace, "-o", "json",
            "--ignore-not-found")
        return json.loads(done.stdout) if done.stdout.strip() else None


@pytest.fixture(scope="module")
def engine(cluster, tmp_path_factory):
    """Argo CD's engine for an application in team-b's namespace."""
    application = Application(
        "engine", "team-b", tmp_path_factory.mktemp("engine"), cluster.kubeconfig())
    yield application
    application.stop()


@pytest.fixture
def service(cluster, truce_with_api, example, tmp_path):
    return lambda namespace: Service(cluster, truce_with_api, example, namespace, tmp_path)


def test_a_sync_fails_before_anything_is_touched_and_goes_on_with_another_name(
    cluster, service, engine
):
    first, second = service("team-a"), service("team-b")
    first.deploy("shared-prod-artifacts")

    result = second.sync(engine, "shared-prod-artifacts")
    message = next(iter(result.values()))
    assert len(result) == 1 and "OwnershipCheck" in next(iter(result)), result
    for part in ('admission webhook "checks.truce.dev" denied the request',
                 'S3 bucket "shared-prod-artifacts" is owned by service "service-of-team-a"',
                 "since", "Choose another name"):
        assert part in message, message
    assert "-> Failed" in engine.log()
    assert second.objects() == set()

    second.deploy("other-prod-artifacts")
    assert len(second.objects()) == 2
    # A's own later syncs are no conflict.
    first.deploy("shared-prod-artifacts")


def test_without_the_kind_nothing_is_touched(cluster, engine, example, tmp_path):
    service = Service(cluster, None, example, "team-b", tmp_path)
    done = cluster.kubectl("delete", "crd", "ownershipchecks.truce.dev", "--wait")
    assert done.returncode == 0, done.stderr
    try:
        result = service.sync(engine, "shared-prod-artifacts")
    finally:
        cluster.apply_crds()
    assert any("OwnershipCheck" in resource and "not found" in message
               for resource, message in result.items()), result
    assert service.objects() == set()


def test_a_service_whose_conflict_is_recorded_is_not_frozen(
    cluster, service, truce_with_api
):
    first, second = service("team-a"), service("team-b")
    config = {"mappings": OBJECT_STORAGE_MAPPINGS}
    truce_with_api.write_config({**config, "mode": "warn"})
    probe = {"apiVersion": "s3.aws.upbound.io/v1beta1", "kind": "Bucket",
             "metadata": {"name": "probe", "annotations": {
                 "crossplane.io/external-name": "shared-prod-artifacts"}},
             "spec": {"forProvider": {"region": "eu-west-1"}}}

    def refuses() -> bool:
        return cluster.kubectl("create", "--dry-run=server", "-f", "-", stdin=probe).returncode != 0

    first.deploy("shared-prod-artifacts")
    wait_for(lambda: not refuses(), 60, "mode warn")
    second.deploy("shared-prod-artifacts")
    assert len(second.objects()) == 2
    truce_with_api.write_config({**config, "mode": "enforce"})
    wait_for(refuses, 60, "mode enforce")

    second.log_level = "debug"
    assert "Warning: " in second.deploy("shared-prod-artifacts")
    assert len(second.objects()) == 2


def test_a_taken_name_is_refused_before_anything_is_touched(cluster, service, tmp_path):
    first, second = service("team-a"), service("team-b")
    run = first.check("my-service-prod-artifacts")
    assert run.code == 0, run.output
    first.apply("my-service-prod-artifacts")
    assert len(first.objects()) == 2

    engine = Application("engine", "team-b", tmp_path, cluster.kubeconfig())
    try:
        engine.sync(second.render("my-service-prod-artifacts"))
        job = wait_for(second.job, 90, "the Job of the check")
        run = second.run(job)
        assert run.code == 1, run.output
        for text in (run.message, run.output):
            assert 'S3 bucket "my-service-prod-artifacts" is owned by service "service-of-team-a"' in text
        assert "PreSync/-100 hook" in engine.log()
        assert second.objects() == set()
    finally:
        engine.stop()

    # B renames, and goes on; A's own later syncs are no conflict.
    run = second.check("service-b-prod-artifacts")
    assert run.code == 0, run.output
    second.apply("service-b-prod-artifacts")
    run = first.check("my-service-prod-artifacts")
    assert run.code == 0, run.output


def test_truce_away(service, truce_with_api):
    one = service("team-a")
    rendered = one.render("my-service-prod-artifacts")
    job = next(obj for obj in yaml.safe_load_all(rendered) if obj["kind"] == "Job")
    container = job["spec"]["template"]["spec"]["containers"][0]
    container["args"] = [arg.replace("--timeout=60", "--timeout=1") for arg in container["args"]]
    truce_with_api.stop()
    run = one.run(job)
    assert run.code == 3, run.output
    assert "did not answer" in run.output
    container["args"] = [
        arg.replace("unreachable=fail", "unreachable=warn") for arg in container["args"]]
    assert one.run(job).code == 0


def test_the_job_is_restricted_and_complete(cluster, truce_with_api, example, tmp_path):
    """By the API server: its schema, and Pod Security of a restricted namespace."""
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {
        "name": "restricted", "labels": {"pod-security.kubernetes.io/enforce": "restricted"}}}
    account = {"apiVersion": "v1", "kind": "ServiceAccount",
               "metadata": {"name": "default", "namespace": "restricted"}}
    done = cluster.kubectl("apply", "-f", "-", stdin=[namespace, account])
    assert done.returncode == 0, done.stderr
    for version in (3, 4):
        for deployer, hook in (("argocd", "argocd.argoproj.io/hook"), ("helm", "helm.sh/hook")):
            rendered = Helm(version, tmp_path).expect(
                "template", "x", example, "--namespace", "restricted", "--set",
                f"truce-check.deployer={deployer}")
            job = next(o for o in yaml.safe_load_all(rendered) if o and o["kind"] == "Job")
            assert hook in job["metadata"]["annotations"]
            template = job["spec"]["template"]
            pod = {"apiVersion": "v1", "kind": "Pod", "spec": template["spec"],
                   "metadata": {**template["metadata"], "name": "x", "namespace": "restricted"}}
            for obj in (job, pod):
                done = cluster.kubectl(
                    "create", "--dry-run=server", "--validate=strict", "-f", "-", stdin=obj)
                assert done.returncode == 0 and not done.stderr, done.stderr
