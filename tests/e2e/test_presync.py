"""The check before the deployment on a real API server: what chart truce-check renders, an
OwnershipCheck or a Job, holds Argo CD's own sync engine before anything of the service is touched,
and says what it may not have.

No kubelet runs: the Job's container is run as a process with its command, environment and token.
"""

import json
import shutil
import subprocess
import tempfile
from datetime import datetime, timezone
from pathlib import Path

import pytest
import yaml

from support.cluster import REPOSITORY
from support.helm import NAMESPACE, VERSIONS, Helm
from support.job import JobRun
from support.objects import namespaced_bucket
from support.processes import wait_for
from support.release import COPY, OWNER, eventually_refused, release  # noqa: F401
from support.sync_engine import Outcome, Sync
from support.truce_process import BINARY, OBJECT_STORAGE_MAPPINGS

pytestmark = pytest.mark.slow(4.5)

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
    process = follow(
        {"mode": "enforce", "mappings": OBJECT_STORAGE_MAPPINGS, "drainGrace": "0s"},
        failure_policy="")
    cluster.register_webhook(process.admission_url, process.ca_file, own_kinds=True)
    helm = Helm(4, process.directory)
    checks = [obj for obj in helm.objects({}) if obj["metadata"]["name"].endswith("-checks")]
    accounts = [
        {"apiVersion": "v1", "kind": "ServiceAccount",
         "metadata": {"name": "default", "namespace": namespace}}
        for namespace in ("team-a", "team-b")
    ]
    done = cluster.kubectl("apply", "-f", "-", stdin=[*checks, *accounts])
    assert done.returncode == 0 and len(checks) == 1, done.stderr
    yield process
    cluster.kubectl("delete", "clusterrole", f"{NAMESPACE}-truce-checks")
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

    def run(self, job: dict) -> JobRun:
        directory = Path(tempfile.mkdtemp(dir=self.directory))
        return JobRun(self.cluster, job, directory).run()

    def begin_sync(self, bucket: str, mode: str = "admission") -> Sync:
        """A sync by Argo CD's engine."""
        directory = Path(tempfile.mkdtemp(dir=self.directory)) / "sync"
        sync = Sync(self.cluster.kubeconfig("argocd"), self.name, self.namespace, directory)
        return sync.begin(self.render(bucket, mode))

    def sync(self, bucket: str) -> Outcome:
        """Synced to its end by Argo CD's engine, in mode admission."""
        return self.begin_sync(bucket).end(self.collect_garbage)

    def collect_garbage(self) -> None:
        """What the cluster's garbage collector does with what Argo CD deletes in the foreground."""
        with self.cluster.client() as client:
            for api, kind in (("truce.dev/v1alpha1", "OwnershipCheck"), ("batch/v1", "Job")):
                for item in client.list(api, kind, self.namespace).expect().body["items"]:
                    if "foregroundDeletion" in item["metadata"].get("finalizers", []):
                        client.patch({"apiVersion": api, "kind": kind, **item},
                                     {"metadata": {"finalizers": None}})

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

    def finish(self, job: dict, run: JobRun) -> None:
        """What the Job controller writes when the Job's container has ended so."""
        now = datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")

        def condition(kind: str, reason: str = "", message: str = "") -> dict:
            return {"type": kind, "status": "True", "reason": reason, "message": message,
                    "lastProbeTime": now, "lastTransitionTime": now}

        status = {"startTime": now, "uncountedTerminatedPods": {}}
        if run.code == 0:
            status |= {"succeeded": 1, "completionTime": now, "conditions": [
                condition("SuccessCriteriaMet"), condition("Complete")]}
        else:
            rules = job["spec"]["podFailurePolicy"]["rules"]
            rule = next(number for number, rule in enumerate(rules) if "onExitCodes" in rule)
            assert run.code not in rules[rule]["onExitCodes"]["values"]
            why = ("PodFailurePolicy", f"Container check for pod {self.namespace}/check failed with "
                   f"exit code {run.code} matching FailJob rule at index {rule}")
            status |= {"failed": 1, "conditions": [
                condition("FailureTarget", *why), condition("Failed", *why)]}
        with self.cluster.client() as client:
            client.patch_status(job, status).expect()


@pytest.fixture(scope="module")
def argocd(cluster):
    """Argo CD's controller as its installation makes it: the cluster's administrator."""
    name = "argocd-application-controller"
    binding = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
               "metadata": {"name": name},
               "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole",
                           "name": "cluster-admin"},
               "subjects": [{"kind": "ServiceAccount", "name": name, "namespace": "argocd"}]}
    done = cluster.kubectl("apply", "-f", "-", stdin=binding)
    assert done.returncode == 0, done.stderr
    yield
    cluster.kubectl("delete", "clusterrolebinding", name)


@pytest.fixture
def service(cluster, truce_with_api, argocd, example, tmp_path):
    return lambda namespace: Service(cluster, truce_with_api, example, namespace, tmp_path)


def tell(first: Service, second: Service) -> None:
    """A syncs; B's sync of the same bucket fails before anything of it exists; B renames the bucket
    and syncs."""
    done = first.sync("shared-prod-artifacts")
    assert done.phase == "Succeeded" and len(first.objects()) == 2, done
    check = done.row("OwnershipCheck")
    assert (check["syncPhase"], check["hookPhase"]) == ("PreSync", "Succeeded"), done

    done = second.sync("shared-prod-artifacts")
    assert done.phase == "Failed", done
    assert [row["syncPhase"] for row in done.resources] == ["PreSync"], done
    for message in (done.message, done.row("OwnershipCheck")["message"]):
        for part in ('admission webhook "checks.truce.dev" denied the request',
                     'S3 bucket "shared-prod-artifacts" is owned by service "service-of-team-a"',
                     "Choose another name", "[duplicate-ownership]"):
            assert part in message, done
    assert second.objects() == set()

    done = second.sync("other-prod-artifacts")
    assert done.phase == "Succeeded" and done.row("Bucket")["status"] == "Synced", done
    assert len(second.objects()) == 2
    # A's own later syncs are no conflict.
    first.log_level = "debug"
    done = first.sync("shared-prod-artifacts")
    assert done.phase == "Succeeded" and len(first.objects()) == 2, done
    assert "warning" not in done.row("OwnershipCheck")["message"], done


def test_a_sync_fails_before_anything_is_touched_and_goes_on_with_another_name(service):
    tell(service("team-a"), service("team-b"))


@pytest.mark.rotating(13)
def test_the_same_with_the_chart_as_installed(release, cluster, user, argocd, example, tmp_path):  # noqa: F811
    """With the chart's webhook configuration, rights, certificates and Pod."""
    for given in ("certificates", "admission"):
        release.values.pop(given)
    release.values |= {"mode": "enforce", "watchCluster": True}
    release.install()
    release.start()
    user("team-a").create(OWNER).expect(201)
    eventually_refused(user("team-b"), COPY)
    services = [Service(cluster, None, example, namespace, tmp_path)
                for namespace in ("team-a", "team-b")]
    try:
        tell(*services)
    finally:
        for each in services:
            cluster.kubectl("delete", "configmap", "--all", "-n", each.namespace, "--wait=false")


def test_without_the_kind_nothing_is_touched(cluster, argocd, example, tmp_path):
    """Nor does the command line take an API server without it for one that said yes."""
    service = Service(cluster, None, example, "team-b", tmp_path)
    done = cluster.kubectl("delete", "crd", "ownershipchecks.truce.dev", "--wait")
    assert done.returncode == 0, done.stderr
    try:
        done = service.begin_sync("shared-prod-artifacts").end()
        asked = subprocess.run(
            [BINARY, "check", "--admission", "--kubeconfig", cluster.kubeconfig()],
            input=service.render("shared-prod-artifacts", "admission"),
            capture_output=True, text=True, timeout=60)
    finally:
        cluster.apply_crds()
    assert done.phase == "Failed", done
    assert "not found" in done.row("OwnershipCheck")["message"], done
    assert service.objects() == set()
    assert asked.returncode == 1 and "is Truce installed there?" in asked.stderr, asked


def test_a_check_that_nobody_judged_does_not_pass(cluster, service):
    cluster.unregister_webhook()
    one = service("team-a")
    done = one.sync("shared-prod-artifacts")
    assert done.phase == "Failed", done
    assert "webhook configuration is missing" in done.row("OwnershipCheck")["message"], done
    assert one.objects() == set()


def test_a_service_whose_conflict_is_recorded_is_warned_and_not_frozen(
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

    assert first.sync("shared-prod-artifacts").phase == "Succeeded"
    wait_for(lambda: not refuses(), 60, "mode warn")
    done = second.sync("shared-prod-artifacts")
    assert done.phase == "Succeeded" and len(second.objects()) == 2, done
    truce_with_api.write_config({**config, "mode": "enforce"})
    wait_for(refuses, 60, "mode enforce")

    second.log_level = "debug"
    done = second.sync("shared-prod-artifacts")
    assert done.phase == "Succeeded" and len(second.objects()) == 2, done
    warned = 'warning: S3 bucket "shared-prod-artifacts" is owned by service "service-of-team-a"'
    assert warned in done.row("OwnershipCheck")["message"], done
    settings = cluster.kubectl("get", "configmap", "-n", "team-b", "-o", "json").stdout
    assert "debug" in settings


def test_a_job_refuses_before_anything_is_touched_and_goes_on_with_another_name(service):
    first, second = service("team-a"), service("team-b")

    def sync(one: Service, bucket: str) -> tuple[JobRun, Outcome]:
        """A sync in mode job, with what a kubelet and the Job controller do."""
        syncing = one.begin_sync(bucket, "job")
        ended = []

        def controllers() -> None:
            one.collect_garbage()
            job = one.job()
            if job and not job.get("status") and not job["metadata"].get("deletionTimestamp"):
                ended.append(one.run(job))
                one.finish(job, ended[-1])

        done = syncing.end(controllers)
        assert len(ended) == 1
        return ended[0], done

    run, done = sync(first, "my-service-prod-artifacts")
    assert run.code == 0 and done.phase == "Succeeded" and len(first.objects()) == 2, done

    run, done = sync(second, "my-service-prod-artifacts")
    assert run.code == 1, run.output
    for text in (run.message, run.output):
        assert 'S3 bucket "my-service-prod-artifacts" is owned by service "service-of-team-a"' in text
    assert done.phase == "Failed" and second.objects() == set(), done
    assert "exit code 1" in done.row("Job")["message"], done
    assert [row["syncPhase"] for row in done.resources] == ["PreSync"], done

    run, done = sync(second, "service-b-prod-artifacts")
    assert run.code == 0 and done.phase == "Succeeded" and len(second.objects()) == 2, done


@pytest.mark.parametrize("version", VERSIONS)
def test_a_rollback_is_checked(cluster, truce_with_api, example, user, tmp_path, version):
    """To names that others have taken since. Flux mends a failed upgrade by the same action of Helm's library."""
    helm = Helm(version, tmp_path / "helm", cluster.kubeconfig())
    release = ("svc", "--namespace", "team-a")

    def deploy(verb: str, bucket: str, level: str) -> None:
        values = {"logLevel": level, "truce-check": {"deployer": "helm", "mode": "admission"},
                  "objectStorage": {"artifacts": None, level: {"name": bucket, "region": "eu-west-1"}}}
        helm.expect(verb, release[0], example, *release[1:], "--values", "-", stdin=json.dumps(values))

    def settings() -> dict:
        done = cluster.kubectl("get", "configmap", *release, "-o", "json")
        return json.loads(done.stdout)["data"]

    try:
        deploy("install", "first-prod-artifacts", "info")
        deploy("upgrade", "second-prod-artifacts", "debug")
        taker = namespaced_bucket("taker", "team-b", "first-prod-artifacts")
        wait_for(lambda: user("team-b").create(taker).ok, 60, "the first name free")
        done = helm.run("rollback", *release, "1")
        assert done.returncode != 0
        for part in ("pre-rollback", 'S3 bucket "first-prod-artifacts" is owned by', "[duplicate-ownership]"):
            assert part in done.stderr, done.stderr
        assert settings() == {"logLevel": "debug", "debug": "second-prod-artifacts"}, "nothing is touched"

        # Helm takes the release for one that is being rolled back until its record of that is gone. (Helm 3 cannot
        # roll back to what runs: the refused revision does not name it.)
        done = cluster.kubectl("delete", "secret", "--namespace", "team-a", "-l",
                               "owner=helm,name=svc,status=pending-rollback")
        assert done.returncode == 0 and "deleted" in done.stdout, done.stdout + done.stderr
        assert '"deployed"' in helm.expect("list", "--namespace", "team-a", "-o", "json")
        user("team-b").delete(taker).expect()
        truce_with_api.wait_for_state("first-prod-artifacts", "free")
        helm.expect("rollback", *release, "1")
        assert settings() == {"logLevel": "info", "info": "first-prod-artifacts"}
    finally:
        helm.run("uninstall", *release)


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


@pytest.mark.parametrize("version", VERSIONS)
def test_the_job_is_restricted_and_complete(cluster, truce_with_api, example, tmp_path, version):
    """By the API server: its schema, and Pod Security of a restricted namespace."""
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {
        "name": "restricted", "labels": {"pod-security.kubernetes.io/enforce": "restricted"}}}
    account = {"apiVersion": "v1", "kind": "ServiceAccount",
               "metadata": {"name": "default", "namespace": "restricted"}}
    done = cluster.kubectl("apply", "-f", "-", stdin=[namespace, account])
    assert done.returncode == 0, done.stderr
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
