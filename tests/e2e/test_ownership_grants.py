"""OwnershipGrant: shares, protections and hand-overs declared in Git; what is left orphaned is given up."""

import pytest
import yaml

from e2e.test_hand_over import DONE, OBSERVE, let_go, real, run
from support.objects import bucket, bucket_policy, namespaced_bucket
from support.processes import wait_for
from support.verdicts import assert_refused
from support.webhook_registration import DELETIONS

__all__ = ["run"]
NAME = "prod-artifacts"
SECONDS = 60


def grant(name: str, namespace: str = "team-a", **spec) -> dict:
    return {"apiVersion": "truce.dev/v1alpha1", "kind": "OwnershipGrant",
            "metadata": {"name": name, "namespace": namespace},
            "spec": {"resource": {"type": "s3/Bucket", "name": NAME}, **spec}}


def accepted(client, obj: dict, status: str, text: str) -> None:
    """Waits until the condition Accepted says so."""

    def says():
        for one in client.get(obj).expect(200).body.get("status", {}).get("conditions", []):
            if one["type"] == "Accepted" and one["status"] == status and text in one["message"]:
                return one
        return None

    assert wait_for(says, SECONDS, f"{obj['metadata']['name']} Accepted={status}: {text}")


@pytest.mark.parametrize("spec, message", [
    ({}, "says nothing"),
    ({"resource": {"type": "s3/Bucket"}, "shares": [{"namespace": "a", "level": "attach"}]},
     "names nothing"),
    ({"shares": [{"level": "attach"}]}, "name one of namespace and object"),
    ({"shares": [{"namespace": "a", "object": "Bucket.s3.aws.upbound.io/b", "level": "attach"}]},
     "name one of namespace and object"),
    ({"shares": [{"namespace": "a", "level": "own"}]}, "Unsupported value"),
    ({"shares": [{"namespace": "a", "level": "attach", "until": "soon"}]}, "date-time"),
    ({"transferTo": {"namespace": "a", "successor": "x"}}, "should match"),
    ({"protection": {}}, "spec.protection.reason"),
])
def test_the_schema_refuses_with_path_and_remedy(cluster, user, spec, message):
    reply = user().create(grant("bad", **spec), dry_run=True)
    assert reply.status == 422, reply
    assert message in reply.message


@pytest.mark.rotating(10)
def test_a_share_lives_as_long_as_its_object(run, user):
    truce, command = run
    admin = user()
    theft = grant("theft", "team-b", shares=[{"namespace": "team-b", "level": "attach"}])
    admin.create(theft).expect(201)
    accepted(admin, theft, "False", "nobody owns the resource")
    real(user, "team-a", namespaced_bucket("artifacts", "team-a", NAME))
    accepted(admin, theft, "False", "not owned by namespace team-b")
    policy = bucket_policy("theirs", bucket=NAME)
    policy["apiVersion"] = "s3.aws.m.upbound.io/v1beta1"
    policy["metadata"]["namespace"] = "team-b"
    policy["spec"]["providerConfigRef"] = {"kind": "ProviderConfig", "name": "default"}
    assert_refused(user("team-b").create(policy, dry_run=True), NAME)

    share = grant("files", shares=[{"namespace": "team-b", "level": "attach", "reason": "writes"}])
    admin.create(share).expect(201)
    accepted(admin, share, "True", "shared with namespace team-b")
    user("team-b").create(policy, dry_run=True).expect(201)
    assert NAME in command("list", "--shared", "-o", "name")
    assert "team-b" in command("share")

    # What was deleted while nobody looked is noticed.
    truce.stop()
    admin.delete(share).expect()
    truce.start()
    wait_for(lambda: command("list", "--shared", "-o", "name") == "", SECONDS, "taken back")
    assert_refused(user("team-b").create(policy, dry_run=True), NAME)
    admin.delete(theft).expect()


@pytest.mark.rotating(10)
def test_what_protect_prints_protects_from_git(run, user):
    """Applied as it is printed, it does what the command would have done, and ends with its object."""
    truce, command = run
    admin = user()
    stored = real(user, "team-a", namespaced_bucket("artifacts", "team-a", NAME))
    printed = command("protect", NAME, "--reason", "customer data", "-o", "yaml")
    assert truce.command("protect", NAME).returncode == 1, "printing protects nothing"
    mark = yaml.safe_load(printed)
    assert mark["spec"]["protection"] == {"reason": "customer data"}
    admin.create(mark).expect(201)
    accepted(admin, mark, "True", "protected against deletion")
    label = f"OwnershipGrant team-a/{mark['metadata']['name']}"
    wait_for(lambda: truce.command("protect", NAME).returncode == DONE, SECONDS, "the entry for deletions to be seen")
    refused = user("team-a").delete(stored, dry_run=True)
    assert_refused(refused, "customer data", f"remove spec.protection from {label}", webhook=DELETIONS)
    # By command it is taken away for seconds only, and says so.
    lifted = truce.command("protect", NAME, "--off", "--reason", "r")
    assert lifted.returncode == DONE and f"{label} declares it" in lifted.stderr, lifted
    wait_for(lambda: truce.command("protect", NAME).returncode != 1, SECONDS, "protected again")
    # Another namespace's says nothing, and takes nothing away when it goes.
    theft = grant("theft", "team-b", protection={"reason": "mine"})
    admin.create(theft).expect(201)
    accepted(admin, theft, "False", "not owned by namespace team-b")
    admin.delete(theft).expect()
    admin.delete(mark).expect()
    wait_for(lambda: truce.command("protect", NAME).returncode == 1, SECONDS, "no longer protected")
    # What was protected by command is nobody's to take away by an object.
    command("protect", NAME, "--reason", "by hand")
    admin.create(mark).expect(201)
    accepted(admin, mark, "True", "already protected against deletion, by command")
    admin.delete(mark).expect()
    assert "by hand" in truce.command("protect", NAME).stdout
    assert "no longer protected" in command("audit", "--action", "administered")


@pytest.mark.rotating(10)
def test_a_hand_over_is_said_once(run, user):
    truce, command = run
    admin = user()
    old = real(user, "team-a", namespaced_bucket("old", "team-a", NAME))
    moves = grant("moves", transferTo={"namespace": "team-a",
                                       "successor": "Bucket.s3.aws.m.upbound.io/team-a/new"})
    admin.create(moves).expect(201)
    accepted(admin, moves, "True", "offered to namespace team-a")
    new = namespaced_bucket("new", "team-a", NAME)
    assert_refused(user("team-a").create(new), "Observe")
    user("team-a").patch(old, OBSERVE).expect()
    resource = f"s3/Bucket/{NAME}"
    wait_for(lambda: truce.command("transfer", resource).returncode == DONE, SECONDS, "nothing missing")
    stored = user("team-a").create(new).expect(201).body
    accepted(admin, moves, "True", "said once and is not repeated")
    # Made anew, as after a restore: it still stands in the registry that it was said.
    admin.delete(moves).expect()
    admin.create(moves).expect(201)
    accepted(admin, moves, "True", "said once and is not repeated")
    assert stored["metadata"]["name"] == truce.owner(NAME)["root"]["name"]
    admin.delete(moves).expect()


def test_what_is_orphaned_is_released_by_a_plan(run, user):
    truce, command = run
    for name in ("logs", "media"):
        obj = bucket(name, f"prod-{name}")
        real(user, "team-a", obj)
        let_go(user, "team-a", obj)
        truce.wait_for_state(f"prod-{name}", "orphaned", SECONDS)
    real(user, "team-a", bucket("kept", "prod-kept"))
    plan = command("release", "--orphaned", "--type", "s3/Bucket")
    assert "prod-logs" in plan and "prod-media" in plan and "prod-kept" not in plan
    assert "nothing is released yet" in plan
    command("release", "--orphaned", "--type", "s3/Bucket", "--yes", code=2)  # Without a reason.
    done = command("release", "--orphaned", "--type", "s3/Bucket", "--yes", "--reason", "by hand")
    assert "2 of 2 released" in done
    assert (truce.state("prod-logs"), truce.state("prod-kept")) == ("free", "held")
    assert "by hand" in command("audit", "--action", "released")
