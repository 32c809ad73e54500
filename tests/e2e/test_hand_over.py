"""Ownership changes hands: never two managers, never a lost resource. Each run is what a team would
type, on the real API server; the provider's part is played in the order of a real one's writes."""

import re
import shlex

import pytest

from e2e.test_lineage import compose, composed_bucket, render
from support.objects import (bucket, bucket_policy, claim, community_bucket,
                             namespaced_bucket)
from support.processes import wait_for
from support.provider import make_real, orphan
from support.verdicts import PREFIX, assert_refused
from support.webhook_registration import CONFIGURATION

NAME = "prod-artifacts"
RESOURCE = f"s3/Bucket/{NAME}"
OBSERVE = {"spec": {"managementPolicies": ["Observe"]}}
DONE, MISSING, WARNINGS = 0, 1, 4


@pytest.fixture
def run(follow):
    """Truce following the cluster, and its command line beside it: (truce, function)."""
    truce = follow()

    def command(*args: str, code: int = DONE) -> str:
        result = truce.command(*args)
        assert result.returncode == code, (args, result.stdout, result.stderr)
        return result.stdout

    return truce, command


def owned_by(truce, namespace: str, name: str) -> bool:
    root = truce.owner(NAME).get("root", {})
    return (root.get("namespace", ""), root.get("name")) == (namespace, name)


def successor_of(obj: dict) -> dict:
    return {"metadata": {"annotations": {"truce.dev/transfer-to": obj}}}


def real(user, actor: str, obj: dict) -> dict:
    stored = user(actor).create(obj).expect(201).body
    make_real(user("provider"), stored)
    return stored


def let_go(user, actor: str, obj: dict) -> None:
    """Deleted by its team under a policy that keeps the bucket, and let go of by the provider."""
    user(actor).patch(obj, {"spec": {"deletionPolicy": "Orphan"}}).expect()
    user(actor).delete(obj).expect()
    orphan(user("provider"), obj)


def test_hand_over_to_another_team(run, user):
    truce, command = run
    old = real(user, "team-a", namespaced_bucket("artifacts", "team-a", NAME))
    truce.wait_for_state(NAME, "held")
    new = namespaced_bucket("artifacts", "team-b", NAME)
    assert_refused(user("team-b").create(new), NAME)
    offer = ("transfer", RESOURCE, "--to", "team-b", "--reason", "team-b runs it")
    assert "[todo] 2. namespace team-b accepts" in command(*offer)
    ident = command("transfer", "-o", "name").strip()
    assert_refused(user("team-b").create(new), NAME)  # An offer gives nothing yet.
    accepted = command("transfer", "--accept", ident, "--successor", "Bucket/team-b/artifacts")
    assert '[todo] 3. set spec.managementPolicies: ["Observe"] on Bucket' in accepted
    assert_refused(user("team-b").create(new), "Observe")  # Never two managers.
    command("transfer", RESOURCE, code=MISSING)
    user("team-a").patch(old, OBSERVE).expect()
    wait_for(lambda: truce.command("transfer", RESOURCE).returncode == DONE, 20, "nothing missing")
    assert_refused(user("team-b").create(namespaced_bucket("x", "team-b", NAME)), NAME)
    user("team-b").create(new).expect(201)
    assert owned_by(truce, "team-b", "artifacts")
    assert command("transfer", "-o", "name") == ""
    history = command("audit", "--action", "transferred")
    assert "team-b/artifacts" in history


def test_helm_renames_a_release(run, user):
    """The new object comes before the old one goes; both are of one namespace, so nobody needs to
    accept."""
    truce, command = run
    old = real(user, "team-a", namespaced_bucket("release-1-files", "team-a", NAME))
    new = namespaced_bucket("release-2-files", "team-a", NAME)
    assert_refused(user("team-a").create(new), NAME)
    command("transfer", RESOURCE, "--to", "team-a", "--successor", "Bucket/team-a/release-2-files",
            "--reason", "renamed")
    user("team-a").patch(old, OBSERVE).expect()
    wait_for(lambda: truce.command("transfer", RESOURCE).returncode == DONE, 20, "nothing missing")
    user("team-a").create(new).expect(201)
    user("team-a").delete(old).expect()
    orphan(user("provider"), old)
    assert owned_by(truce, "team-a", "release-2-files")


def test_a_claim_moves_between_namespaces(run, user, cluster):
    """With everything that is composed of it; the bucket itself is only let go of. Its owner runs
    the command that the denial prints."""
    truce, command = run
    crossplane = user("crossplane")
    old = user("team-a").create(claim("files", "team-a", NAME)).expect(201).body
    xr = compose(crossplane, old, "h9fnb")
    made = render(crossplane, xr, composed_bucket(xr, old, "files-h9fnb-dkspn")).expect(201).body
    make_real(user("provider"), made)
    truce.wait_for_state(NAME, "held")
    new = claim("files", "team-b", NAME)
    text = assert_refused(user("team-b").create(new), NAME, "team-a/files")
    [printed] = re.findall(r"`kubectl ([^`]+)`", text)
    done = cluster.kubectl(*shlex.split(printed), user="team-a")
    assert done.returncode == 0, done.stderr
    assert_refused(user("team-b").create(new), NAME, "team-a/files")
    wait_for(lambda: truce.command("transfer", RESOURCE).returncode == MISSING, 20, "steps")
    steps = command("transfer", RESOURCE, code=MISSING)
    assert "[done] 1. the owner offers it to ObjectStorage/team-b/files" in steps
    assert "[todo]" in steps and "keeps the resource" in steps
    let_go(user, "crossplane", made)
    for actor, obj in (("team-a", old), ("crossplane", xr)):
        user(actor).delete(obj).expect()
        crossplane.patch(obj, {"metadata": {"finalizers": None}}).expect()
    truce.wait_for_state(NAME, "orphaned")
    assert_refused(user("team-b").create(claim("other", "team-b", NAME)), NAME)
    stored = user("team-b").create(new).expect(201).body
    assert owned_by(truce, "team-b", "files")
    xr = compose(crossplane, stored, "r2ln7")
    render(crossplane, xr, composed_bucket(xr, stored, "files-r2ln7-pmkxl")).expect(201)


def test_the_printed_command_names_another_successor_than_before(run, user, cluster):
    """The first one never came. Whoever comes next reads a command that works, too."""
    truce, command = run
    real(user, "team-a", namespaced_bucket("artifacts", "team-a", NAME))
    truce.wait_for_state(NAME, "held")
    for name in ("one", "two"):
        text = assert_refused(user("team-b").create(namespaced_bucket(name, "team-b", NAME)), NAME)
        [printed] = re.findall(r"`kubectl ([^`]+)`", text)
        done = cluster.kubectl(*shlex.split(printed), user="team-a")
        assert done.returncode == 0, (printed, done.stderr)
        offer = f"[done] 1. the owner offers it to Bucket/team-b/{name}"
        wait_for(lambda: offer in truce.command("transfer", RESOURCE).stdout, 20, offer)


def test_a_conflict_ends_by_the_printed_commands(follow, user, cluster):
    """The owner hands over to the other one and only observes; nobody deletes anything."""
    truce = follow({"mode": "warn"})
    real(user, "team-a", namespaced_bucket("artifacts", "team-a", NAME))
    truce.wait_for_state(NAME, "held")
    real(user, "team-b", namespaced_bucket("files", "team-b", NAME))

    def printed() -> list[str]:
        return re.findall(r"`kubectl ([^`]+)`", truce.command("conflicts", "-o", "wide").stdout)

    hand_over, observe = wait_for(printed, 20, "the conflict")
    assert hand_over.endswith("truce.dev/transfer-to=Bucket/team-b/files")
    # "then take the next steps with the objects of Bucket team-a/artifacts"
    for command in (hand_over, observe.replace("files -n team-b", "artifacts -n team-a")):
        done = cluster.kubectl(*shlex.split(command), user="team-a")
        assert done.returncode == 0, done.stderr
    wait_for(lambda: owned_by(truce, "team-b", "files"), 20, "another owner")
    assert printed() == []


def test_from_cluster_scoped_to_namespaced(run, user):
    truce, _ = run
    old = real(user, "team-a", bucket("artifacts", NAME))
    new = namespaced_bucket("artifacts", "team-a", NAME)
    assert_refused(user("team-a").create(new), NAME)
    user("team-a").patch(old, successor_of("Bucket/team-a/artifacts")).expect()
    assert_refused(user("team-a").create(new), "Observe")
    let_go(user, "team-a", old)
    wait_for(lambda: truce.owner(NAME).get("state") == "orphaned", 20, "between the two")
    assert_refused(user("team-b").create(namespaced_bucket("x", "team-b", NAME)), NAME)
    user("team-a").create(new).expect(201)
    assert owned_by(truce, "team-a", "artifacts")


def test_from_community_to_upjet(run, user):
    truce, _ = run
    old = real(user, "team-a", community_bucket("files", NAME))
    new = bucket("artifacts", NAME)
    assert_refused(user("team-a").create(new), NAME)
    user("team-a").patch(old, successor_of("Bucket/artifacts")).expect()
    let_go(user, "team-a", old)
    wait_for(lambda: truce.owner(NAME).get("state") == "orphaned", 20, "between the two")
    assert_refused(user("team-b").create(namespaced_bucket("x", "team-b", NAME)), NAME)
    user("team-a").create(new).expect(201)
    assert owned_by(truce, "", "artifacts")


def test_a_share_lets_an_attachment_in(run, user):
    _, command = run
    user("team-a").create(namespaced_bucket("artifacts", "team-a", NAME)).expect(201)
    policy = bucket_policy("theirs", bucket=NAME)
    policy["apiVersion"] = "s3.aws.m.upbound.io/v1beta1"
    policy["metadata"]["namespace"] = "team-b"
    policy["spec"]["providerConfigRef"] = {"kind": "ProviderConfig", "name": "default"}
    assert_refused(user("team-b").create(policy), "truce share")
    command("share", RESOURCE, "--with", "team-b", "--level", "attach", "--for", "90d",
            "--reason", "ticket 4711")
    user("team-b").create(policy).expect(201)
    ident = command("share", RESOURCE, "-o", "name").strip()
    command("share", "--end", ident, "--reason", "done")
    user("team-b").patch(policy, {"metadata": {"labels": {"a": "b"}}}).expect()


def test_a_protected_bucket_is_not_deleted(follow, user):
    truce = follow({})
    old = user("team-a").create(namespaced_bucket("artifacts", "team-a", NAME)).expect(201).body
    assert truce.command("protect", RESOURCE, "--reason", "customer data").returncode in (DONE, WARNINGS)
    wait_for(lambda: truce.command("protect", RESOURCE).returncode == DONE, 20,
             "the webhook configuration to be seen")
    reply = user("team-a").delete(old)
    assert reply.status == 403 and "which is protected: customer data" in reply.message
    assert not reply.message.startswith(PREFIX)  # It is the entry for deletions that refuses.
    assert truce.command("protect", RESOURCE, "--off", "--reason", "moved").returncode == DONE
    user("team-a").delete(old).expect()


def test_a_mark_that_protects_nothing_is_told(follow, user):
    truce = follow()
    user("team-a").create(namespaced_bucket("artifacts", "team-a", NAME)).expect(201)
    path = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/" + CONFIGURATION
    user("admin").request("DELETE", path).expect()

    def told() -> str:
        result = truce.command("protect", RESOURCE, "--reason", "customer data")
        return result.stdout if result.returncode == WARNINGS else ""

    text = wait_for(told, 20, "the missing configuration to be seen")
    assert "but its deletion would not be refused" in text
    assert f'"{CONFIGURATION}" does not exist' in text
