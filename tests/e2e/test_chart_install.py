"""The server chart installed by the real Helm on a real API server (support/release.py)."""

import json
import os
import subprocess

import pytest
import yaml

from support.cluster import PEERS
from support.helm import NAMESPACE, SERVER_CHART
from support.objects import bucket, claim, composite_definition, namespaced_bucket
from support.processes import wait_for
from support.release import (  # noqa: F401
    COPY,
    OWNER,
    REGISTRATION,
    SERVICE_NAME,
    both_helms,
    eventually_admitted,
    eventually_refused,
    release,
)
from support.truce_process import OBJECT_STORAGE_MAPPINGS
from support.verdicts import assert_refused, assert_unknown

pytestmark = pytest.mark.slow(10)


@both_helms
def test_from_audit_to_enforce(release, user):  # noqa: F811
    """The roll-out as the manual has it, on one running server."""
    notes = release.install()
    assert "kubectl delete validatingwebhookconfiguration truce" in notes
    release.start()
    owner, other = user("team-a"), user("team-b")
    reviews = 'truce_admission_reviews_total{operation="CREATE",verdict="allowed"}'

    def judged():
        assert owner.create(bucket("probe", "probe"), dry_run=True).ok
        return release.server.metric(reviews) > 0

    wait_for(judged, 30, "the webhook in effect")
    owner.create(OWNER).expect(201)

    # audit: counted, not told
    found = 'truce_admission_findings_total{rule="duplicate-ownership",mode="audit"}'

    def counted():
        reply = other.create(COPY, dry_run=True).expect(201)
        assert not reply.warnings
        return release.server.metric(found) > 0

    wait_for(counted, 30, "a finding in mode audit")

    template = release.template
    release.upgrade(mode="warn")
    wait_for(lambda: other.create(COPY, dry_run=True).expect(201).warnings, 30, "a warning")
    release.upgrade(mode="enforce")
    eventually_refused(other, COPY)
    text = assert_refused(other.create(COPY), "prod-artifacts", "service-a")
    assert "Choose another name" in text
    assert release.template == template, "a changed mode would have restarted the Pod"

    # Claims are judged because the chart registers the groups of mappings.
    storage = claim("artifacts", "team-b", "prod-artifacts")
    assert_refused(other.create(storage), "prod-artifacts")
    # What the values exclude, and the release's own namespace, are never asked about.
    other.create(bucket("truce-database-backup", "prod-artifacts")).expect(201)
    other.create(bucket("", "prod-artifacts", generateName="truce-"), dry_run=True).expect(201)
    of_alice = namespaced_bucket("of-alice", "team-b", "prod-artifacts")
    owner.create(of_alice, dry_run=True).expect(201)
    assert_refused(other.create(of_alice), "prod-artifacts")
    own = namespaced_bucket("own", NAMESPACE, "prod-artifacts")
    user("admin").create(own).expect(201)


def test_as_its_pod(release, user):  # noqa: F811
    release.install()
    release.start()
    status = release.pod.status()
    assert status["NoNewPrivs"] == "1" and int(status["CapEff"], 16) == 0
    if os.geteuid() == 0:
        assert status["Uid"].split() == status["Gid"].split() == ["65532"] * 4
        assert status["Groups"].split() == ["65532"]
    if release.pod.isolated:
        assert int(status["CapBnd"], 16) == 0
        for path in ("/", "/etc/truce", "/etc/truce-tls", "/usr/local/bin"):
            assert not release.pod.is_writable(path), path
        for path in ("/var/lib/truce", "/tmp"):
            assert release.pod.is_writable(path), path

    # The script of `helm test`, as its Pod runs it.
    hook = release.helm.expect("get", "hooks", "truce", "--namespace", NAMESPACE)
    container = yaml.safe_load(hook)["spec"]["containers"][0]
    variables = {each["name"]: each["value"] for each in container["env"]}
    assert variables["ADMISSION_HOST"] == SERVICE_NAME
    local = {**variables, "ADMISSION_HOST": "127.0.0.1", "METRICS_HOST": "127.0.0.1"}
    command = [*container["command"], *container["args"]]
    done = subprocess.run(command, env={**os.environ, **local}, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert release.pod.stop() == 0
    done = subprocess.run(command, env={**os.environ, **local}, capture_output=True, text=True)
    assert done.returncode != 0


def test_a_certificate_renewed_in_its_secret(release, user):  # noqa: F811
    release.values["mode"] = "enforce"
    release.install()
    release.start()
    user("team-a").create(OWNER).expect(201)
    eventually_refused(user("team-b"), COPY)
    expiry = "truce_certificate_expiry_timestamp_seconds"
    before = release.server.metric(expiry)
    release.apply(release.authority.secret("truce-certificate", days=60))
    release.follow()
    wait_for(lambda: release.server.metric(expiry) > before, 30, "the new certificate in use")
    assert_refused(user("team-b").create(COPY), "prod-artifacts")


def test_an_authority_made_by_truce_without_a_cluster(release, user):  # noqa: F811
    """certificates.mode selfManaged without watchCluster, in the two steps of the manual."""
    release.values["certificates"] = {"mode": "selfManaged"}
    release.values["mode"] = "enforce"
    webhook = release.values.pop("webhook")
    release.values["webhook"] = {**webhook, "enabled": False}
    notes = release.install()
    assert "cat /var/lib/truce/certs/ca.crt" in notes
    release.start()
    with release.cluster.client() as client:
        assert client.request("GET", REGISTRATION).status == 404
    bundle = release.pod.volume("data") / "certs/ca.crt"
    release.upgrade(webhook={"enabled": True}, certificates={"caBundle": bundle.read_text()})
    user("team-a").create(OWNER).expect(201)
    eventually_refused(user("team-b"), COPY)


def self_managed(release) -> None:
    """The default: no certificate, no secret, no second tool among the values."""
    for given in ("certificates", "admission"):
        release.values.pop(given)
    release.values |= {"mode": "enforce", "watchCluster": True}


def entries(release) -> dict[str, dict]:
    read = release.read("validatingwebhookconfiguration", "truce")
    return {entry["name"]: entry for entry in read["webhooks"]}


@both_helms
def test_certificates_kept_by_truce(release, user):  # noqa: F811
    """Bundle and path are written by Truce with the rights of the chart's roles, repaired within a
    second when they are lost, survive an upgrade, and outlive the volume."""
    self_managed(release)
    release.install()
    assert "caBundle" not in entries(release)["declarations.truce.dev"]["clientConfig"]
    release.start()
    user("team-a").create(OWNER).expect(201)
    eventually_refused(user("team-b"), COPY)
    good = entries(release)
    path = good["declarations.truce.dev"]["clientConfig"]["service"]["path"]
    assert path.startswith("/validate/") and len(path) == len("/validate/") + 32
    guard = good["status.truce.dev"]
    assert guard["clientConfig"]["service"]["path"].startswith("/validate-status/")
    secrets = {entry["clientConfig"]["service"]["path"].rpartition("/")[2] for entry in good.values()}
    # The entry for finalizers sends to the endpoint of declarations.
    assert len(secrets) == len(good) - 1 == 6, "each endpoint has a secret of its own"
    # The chart renders what Truce would write: nobody repairs the other.
    assert [each["name"] for each in guard["matchConditions"]] == ["not-providers", "not-restorers"]

    with release.cluster.client() as client:
        lost = [{"op": "remove", "path": f"/webhooks/{i}/clientConfig/caBundle"} for i in (0, 1)]
        took = client.request(
            "PATCH", REGISTRATION, body=lost, content_type="application/json-patch+json")
        assert took.status == 200, took.body
        wait_for(lambda: entries(release) == good, 3, "the bundle back")
    assert release.server.metric("truce_webhook_repairs_total") >= 2
    assert release.server.metric("truce_self_management_trouble") == 0

    release.upgrade(webhook={"timeoutSeconds": 29})
    assert entries(release)["declarations.truce.dev"]["timeoutSeconds"] == 29
    wait_for(
        lambda: entries(release)["declarations.truce.dev"]["clientConfig"]
        == good["declarations.truce.dev"]["clientConfig"], 5, "bundle and path as they were")
    eventually_refused(user("team-b"), COPY)

    # Another volume: the same authority, certificate and path come from the Secret.
    assert release.pod.stop() == 0
    certificates = release.pod.volume("data") / "certs"
    served = (certificates / "tls.crt").read_text()
    for file in [*certificates.iterdir(), certificates.parent / "admission.secret"]:
        file.unlink()
    release.start()
    assert (certificates / "tls.crt").read_text() == served
    eventually_refused(user("team-b"), COPY)
    log = release.pod.log.read_text().lower()
    assert "forbidden" not in log and "self-management fails" not in log, log


def test_who_fights_truce_for_its_authority_is_named_and_not_fought_in_a_loop(release):  # noqa: F811
    self_managed(release)
    release.install()
    release.start()
    bundle = lambda: entries(release)["declarations.truce.dev"]["clientConfig"].get("caBundle")  # noqa: E731
    good = wait_for(bundle, 10, "the authority published")
    repairs = release.server.metric("truce_webhook_repairs_total")
    injected = [{"op": "add", "path": "/webhooks/0/clientConfig/caBundle", "value": "Zm9v"}]
    with release.cluster.client() as client:

        def inject() -> bool:
            if bundle() == good:
                done = client.request("PATCH", f"{REGISTRATION}?fieldManager=cainjector", body=injected,
                                      content_type="application/json-patch+json")
                assert done.status == 200, done.body
            return release.server.metric("truce_self_management_trouble") == 1

        wait_for(inject, 30, "the fight noticed")
        assert "somebody else (cainjector) keeps writing" in release.pod.log.read_text()
        assert release.server.metric("truce_webhook_repairs_total") <= repairs + 4


def test_groups_of_xrds_and_later_mapping_rules(release, user):  # noqa: F811
    """A group that the chart did not register gets entries of its own, because an XRD or a mapping rule
    that comes later names it, and loses them with both."""
    self_managed(release)
    del release.values["config"]["mappings"]
    release.install()
    release.start()
    name = "mapped-declarations.truce.dev"
    wait_for(lambda: name in entries(release), 30, "an entry of its own, for the XRD")
    assert entries(release)[name]["rules"][0]["apiGroups"] == ["platform.example.org"]
    assert entries(release)["compositions.truce.dev"]["failurePolicy"] == "Ignore"
    user("team-a").create(OWNER).expect(201)
    eventually_refused(user("team-b"), COPY)
    storage = claim("artifacts", "team-b", "prod-artifacts")
    assert user("team-b").create(storage, dry_run=True).ok
    # What a mapping rule that comes later does; the chart would have registered its group.
    file = release.pod.volume("configuration") / "truce.yaml"
    before = file.read_text()
    file.write_text(before + yaml.safe_dump({"mappings": OBJECT_STORAGE_MAPPINGS}))
    wait_for(lambda: not user("team-b").create(storage, dry_run=True).ok, 30, "a refusal")
    refused = user("team-b").create(storage)
    assert refused.message.startswith(f'admission webhook "{name}" denied')
    assert "prod-artifacts" in refused.message
    user().delete(composite_definition()).expect()
    try:
        file.write_text(before)
        wait_for(lambda: name not in entries(release), 30, "the entry gone")
    finally:
        user().create(composite_definition()).expect(201)


def test_it_follows_its_cluster(release, user):  # noqa: F811
    """With the rights of the chart's roles and the token of its account: what exists
    is owned from the first start, a created object is held, and nothing was forbidden."""
    user("team-a").create(OWNER).expect(201)
    release.values |= {"mode": "enforce", "watchCluster": True}
    release.install()
    release.start()
    held = 'truce_ownerships{state="held"}'
    wait_for(lambda: release.server.metric(held) == 1, 30, "the existing bucket held")
    eventually_refused(user("team-b"), COPY)
    user("team-b").create(bucket("mine", "name-of-b")).expect(201)
    wait_for(lambda: release.server.metric(held) == 2, 30, "the new bucket held")
    log = release.pod.log.read_text().lower()
    assert "forbidden" not in log and "cannot be used" not in log, log
    assert "truce/missing" not in log, log


def test_away_under_ignore_and_fail_then_break_glass(release, user):  # noqa: F811
    """The failure card's rows on a server that is away, and the one command."""
    release.values["mode"] = "enforce"
    release.install()
    release.start()
    client = user("team-b")
    user("team-a").create(OWNER).expect(201)
    eventually_refused(client, COPY)
    assert release.pod.stop() == 0

    eventually_admitted(client, COPY)  # failurePolicy Ignore
    release.upgrade(webhook={"failurePolicy": "Fail", "acceptSecretInErrors": True})
    reply = wait_for(
        lambda: next((r for r in [client.create(COPY, dry_run=True)] if not r.ok), None),
        30, "failurePolicy Fail in effect",
    )
    assert_unknown(reply)
    user("team-a").delete(OWNER, dry_run=True).expect(200)  # deletions have Ignore

    done = release.cluster.kubectl("delete", "validatingwebhookconfiguration", "truce")
    assert done.returncode == 0, done.stderr
    eventually_admitted(client, COPY)

    # helm upgrade puts it back; the registry was on the volume.
    release.upgrade()
    release.start()
    eventually_refused(client, COPY)


@both_helms
def test_uninstalled_in_the_right_order(release, user):  # noqa: F811
    release.values["mode"] = "enforce"
    release.values["webhook"] |= {"failurePolicy": "Fail", "acceptSecretInErrors": True}
    release.install()
    release.start()
    user("team-a").create(OWNER).expect(201)
    eventually_refused(user("team-b"), COPY)
    done = release.cluster.kubectl("delete", "validatingwebhookconfiguration", "truce")
    assert done.returncode == 0, done.stderr
    eventually_admitted(user("team-b"), COPY)
    release.uninstall()
    def left() -> list[str]:
        listed = release.cluster.kubectl(
            "get", "deployment,service,configmap,secret,pvc,serviceaccount,pdb,networkpolicy,lease,job,pod",
            "-A", "-l", "app.kubernetes.io/instance=truce", "-o", "name")
        return listed.stdout.split()

    assert left() == ["persistentvolumeclaim/truce"], "the registry outlives the release"
    with release.cluster.client() as client:
        assert client.request("GET", REGISTRATION).status == 404


def readme_block(marker: str) -> str:
    """The commands of docs/install.md below "<!-- run: MARKER -->"."""
    text = (SERVER_CHART.parents[1] / "docs/install.md").read_text()
    return text.split(f"<!-- run: {marker} -->\n```\n")[1].split("```")[0]


def test_the_readme_as_written(release, cluster, user, tmp_path):  # noqa: F811
    """"With a certificate of your own", run as it stands; then Truce is its Pod, and answers by the Service's
    name with the certificate that the commands made."""
    programs = tmp_path / "bin"
    programs.mkdir()
    for name, peer in (("kubectl", "kubectl"), ("helm", "helm4")):
        (programs / name).symlink_to(PEERS / peer)
    environment = {
        **os.environ, "PATH": f"{programs}:{os.environ['PATH']}", "HOME": str(tmp_path),
        "KUBECONFIG": str(cluster.kubeconfig()), "TMPDIR": str(tmp_path),
    }
    # No controller removes a namespace here: another test may have made it.
    commands = readme_block("a certificate of your own").replace(
        "kubectl create namespace truce-system", "kubectl create namespace truce-system || true"
    )
    done = subprocess.run(
        ["bash", "-euc", commands], cwd=SERVER_CHART.parents[1], env=environment,
        capture_output=True, text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    # The ports of this machine instead of those of a Pod's own network.
    release.values = {
        key: release.values[key] for key in ("listen", "service", "config", "watchCluster")
    } | {"mode": "enforce"}
    release.upgrade_reusing()
    release.start()
    user("team-a").create(OWNER).expect(201)
    eventually_refused(user("team-b"), COPY)


def test_uninstalled_nothing_is_left(release, cluster, user):  # noqa: F811
    """By the manual's commands, with the cluster followed and the Lease made."""
    self_managed(release)
    release.install()
    release.start()
    user("team-a").create(OWNER).expect(201)
    eventually_refused(user("team-b"), COPY)
    assert cluster.kubectl("get", "lease", "truce-local", "-n", "kube-system").returncode == 0
    release.pod.stop()
    text = (SERVER_CHART.parents[1] / "docs/operate.md").read_text().split("## Uninstall")[1].split("```")[1]
    commands = [line.split() for line in text.strip().splitlines()]
    assert len(commands) == 6
    kinds = ("deployment,job,pod,service,configmap,secret,pvc,serviceaccount,pdb,networkpolicy,lease,role,rolebinding,"
             "clusterrole,clusterrolebinding,crd,validatingwebhookconfiguration,resourcequota")
    # What the test itself put there, and what other tests need.
    others = ("secret/truce-certificate", "truce-of-tests")
    try:
        for program, *words in commands:
            # No controller takes the claim's finalizer off here.
            unwaited = ["--wait=false"] if "pvc" in words else []
            done = release.helm.run(*words) if program == "helm" else cluster.kubectl(*words, *unwaited)
            assert done.returncode == 0, (words, done.stderr)
        free = json.dumps({"metadata": {"finalizers": None}})
        cluster.kubectl("patch", "pvc", "truce", "-n", NAMESPACE, "--type=merge", f"--patch={free}")
        left = cluster.kubectl("get", kinds, "-A", "-o", "name")
        assert left.returncode == 0, left.stderr
        mine = [name for name in left.stdout.split() if "truce" in name and not name.endswith(others)]
        # Leases of other cluster ids are other tests'.
        assert not [name for name in mine if "lease" not in name or name.endswith("/truce-local")]
    finally:
        cluster.apply_crds()
