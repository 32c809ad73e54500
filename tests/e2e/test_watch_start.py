"""What Truce finds when it starts on a live cluster, or comes back to one: nothing is refused to
what exists, and the oldest declaration is the owner."""

import contextlib
import json
import sqlite3
from xml.etree import ElementTree

import pytest

from support.objects import (
    COMPOSITION_RESOURCE_NAME,
    MANAGED_FINALIZER,
    bucket,
    claim,
    claim_labels,
    composite,
    controller_reference,
    namespaced_bucket,
    object_reference,
    queue,
)
from support.processes import wait_for
from support.provider import finish_deletion, make_real
from support.truce_process import FOLLOW_SECONDS, OBJECT_STORAGE_MAPPINGS
from support.verdicts import assert_refused

NAME = "prod-artifacts"
FAST = {"mappings": OBJECT_STORAGE_MAPPINGS, "drainGrace": "0s"}


def conflicts_of(truce) -> list[dict]:
    done = truce.command("conflicts", "-o", "json")
    assert done.returncode in (0, 1), done.stderr
    return json.loads(done.stdout)["items"]


def reasons(truce, action: str, bucket_name: str) -> list[str]:
    """Why, as the audit log has it."""
    done = truce.command("audit", "--action", action, "-o", "json")
    assert done.returncode == 0, done.stderr
    lines = json.loads(done.stdout)["items"]
    return [line["cause"] for line in lines if line["key"].endswith(f"name={bucket_name}")]


def test_the_oldest_of_two_is_the_owner_and_both_are_told_of(follow, user):
    """Finding existing duplicates: the best peer shows at most 20, after hours."""
    first, second = bucket("zz-first", NAME), bucket("aa-second", NAME)
    stored = user("team-a").create(first).expect(201).body
    created = stored["metadata"]["creationTimestamp"]
    # creationTimestamp counts whole seconds; a tie is broken by uid.
    wait_for(
        lambda: user("team-b").create(bucket("tick"), dry_run=True).body["metadata"][
            "creationTimestamp"
        ]
        > created,
        3,
        "the next second",
    )
    user("team-b").create(second).expect(201)
    user("team-b").create(queue("jobs", "jobs")).expect(201)
    truce = follow(FAST)
    assert truce.state("jobs", "sqs/Queue") == "held"
    assert truce.owner(NAME)["root"]["name"] == "zz-first"
    assert truce.metric("truce_conflicts") == 1
    (conflict,) = conflicts_of(truce)
    assert {side["root"]["name"]: side["incumbent"] for side in conflict["sides"]} == {
        "zz-first": True,
        "aa-second": False,
    }
    text = truce.command("conflicts", "-o", "wide").stdout
    assert NAME in text and "zz-first" in text and "aa-second" in text
    report = truce.command("baseline")
    assert NAME in report.stdout and "aa-second" in report.stdout, report.stderr
    assert_refused(user("team-b").create(bucket("third", NAME)), NAME, "zz-first")
    # Nothing is refused to what exists.
    for obj in (first, second):
        user("team-a").patch(obj, {"metadata": {"labels": {"tier": "gold"}}}).expect()
    make_real(user("provider"), first)
    user("team-a").delete(first).expect(200)
    finish_deletion(user("provider"), first)
    wait_for(
        lambda: truce.owner(NAME).get("root", {}).get("name") == "aa-second",
        FOLLOW_SECONDS,
        "passed to the other",
    )
    wait_for(lambda: truce.metric("truce_conflicts") == 0, FOLLOW_SECONDS, "no conflict")


def test_the_baseline_is_told_in_the_forms_of_ci(follow, user):
    for team, name in (("team-a", "one"), ("team-b", "two")):
        user(team).create(bucket(name, NAME)).expect(201)
    user("team-b").create(queue("jobs", "jobs")).expect(201)
    truce = follow(FAST)
    done = truce.command("baseline", "-o", "junit")
    assert done.returncode == 1, done.stderr  # There are conflicts.
    root = ElementTree.fromstring(done.stdout)
    assert (root.tag, root.get("failures"), root.get("errors")) == ("testsuites", "1", "0")
    cases = {case.get("name"): case for case in root.iter("testcase")}
    assert set(cases) == {"complete", NAME} and cases["complete"].find("failure") is None
    failure = cases[NAME].find("failure")
    assert failure.get("type") == "ownership-conflict"
    assert "one" in failure.get("message") and "two" in failure.get("message")
    assert "kubectl" in failure.text
    done = truce.command("baseline", "-o", "markdown")
    assert done.returncode == 1, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == f"# Baseline of cluster {truce.cluster_id}"
    (row,) = [line for line in lines if line.startswith("|") and NAME in line]
    assert row.count("|") == 5 and "one" in row and "two" in row
    assert "3 objects" in lines[2], lines[2]


def test_a_claim_its_composite_and_its_bucket_are_one_owner(follow, user):
    crossplane = user("crossplane")
    owner = user("team-a").create(claim("artifacts", "team-a", NAME)).expect(201).body
    xr = crossplane.create(composite("artifacts-h9fnb", NAME, owner)).expect(201).body
    crossplane.patch(owner, {"spec": {"resourceRef": object_reference(xr)}}).expect()
    composed = bucket(
        "artifacts-h9fnb-dkspn",
        NAME,
        annotations={COMPOSITION_RESOURCE_NAME: "bucket"},
        labels={**claim_labels(owner), "crossplane.io/composite": xr["metadata"]["name"]},
        ownerReferences=[controller_reference(xr)],
        finalizers=[MANAGED_FINALIZER],
    )
    crossplane.patch(xr, {"spec": {"resourceRefs": [object_reference(composed)]}}).expect()
    crossplane.create(composed).expect(201)
    truce = follow(FAST)
    found = truce.owner(NAME)
    assert (found["root"]["kind"], found["root"]["name"]) == ("ObjectStorage", "artifacts")
    assert found["state"] == "held" and truce.metric("truce_conflicts") == 0
    assert len(found["declarations"]) == 3
    crossplane.patch(composed, {"metadata": {"labels": {"tier": "gold"}}}).expect()
    reply = user("team-b").create(claim("artifacts", "team-b", NAME))
    assert_refused(reply, NAME, "ObjectStorage", "team-a/artifacts")


@pytest.fixture(params=["webhook removed", "Truce down under Ignore"])
def unseen(request, follow, cluster, user):
    """A function that stores objects unseen by the webhook; afterwards Truce is asked again."""
    truce = follow(FAST, failure_policy="Ignore")
    user("team-a").create(bucket("known", "known-bucket")).expect(201)
    truce.wait_for_state("known-bucket", "held")

    def store(*objects: dict):
        if request.param == "webhook removed":
            cluster.unregister_webhook()
        else:
            truce.kill()
        for obj in objects:
            user("team-b").create(obj).expect(201)
        if not truce.running:
            truce.start()
        cluster.register_webhook(truce.admission_url, truce.ca_file)
        return truce

    return store


def test_what_was_stored_unseen_is_acquired(unseen, user):
    truce = unseen(bucket("artifacts", NAME))
    truce.wait_for_state(NAME, "held")
    assert reasons(truce, "granted", NAME) == ["seen without reservation"]
    assert_refused(user("team-a").create(bucket("copy", NAME)), NAME, "artifacts")


def test_what_was_stored_unseen_beside_an_owner_is_a_conflict(unseen, user):
    truce = unseen(bucket("double", "known-bucket"))
    wait_for(lambda: truce.metric("truce_conflicts") == 1, FOLLOW_SECONDS, "the conflict")
    assert truce.owner("known-bucket")["root"]["name"] == "known"
    (conflict,) = conflicts_of(truce)
    assert {side["root"]["name"] for side in conflict["sides"]} == {"known", "double"}
    assert reasons(truce, "conflict", "known-bucket") == ["seen without reservation"]
    user("team-b").delete(bucket("double", "known-bucket")).expect(200)
    wait_for(lambda: truce.metric("truce_conflicts") == 0, FOLLOW_SECONDS, "no conflict")


def test_what_was_deleted_unseen_is_orphaned_and_never_given_away(follow, user):
    obj = bucket("artifacts", NAME)
    user("team-a").create(obj).expect(201)
    user("team-a").create(bucket("other", "other-bucket")).expect(201)
    truce = follow(FAST, failure_policy="")
    assert (truce.state(NAME), truce.state("other-bucket")) == ("held", "held")
    truce.kill()
    user("team-a").delete(obj).expect(200)
    truce.start()
    truce.wait_for_state(NAME, "orphaned")
    assert truce.state("other-bucket") == "held"


def test_a_kind_whose_objects_are_all_gone_waits_for_a_command(follow, user):
    """An empty list may be a broken one, where the API server tells of no end."""
    obj = bucket("artifacts", NAME)
    user("team-a").create(obj).expect(201)
    truce = follow(FAST, failure_policy="")
    truce.kill()
    user("team-a").delete(obj).expect(200)
    # As if that was longer ago than it remembers.
    with contextlib.closing(sqlite3.connect(truce.data / "truce.db")) as registry, registry:
        assert registry.execute("DELETE FROM watch_positions").rowcount >= 1
    truce.start()
    assert truce.state(NAME) == "held"
    kind = "Bucket.s3.aws.upbound.io"
    assert kind in truce.command("brake").stdout
    wait_for(lambda: truce.metric("truce_brake_frozen_kinds") == 1, 10, "the alert's metric")
    done = truce.command("brake", "release", "--kind", kind, "--reason", "deleted by hand")
    assert done.returncode == 0, done.stderr
    truce.wait_for_state(NAME, "orphaned")


def test_every_kind_that_names_a_bucket_is_found(follow, user):
    user("team-a").create(namespaced_bucket("modern", "team-a", "modern-bucket")).expect(201)
    user("team-b").create(bucket("legacy", "modern-bucket")).expect(201)
    truce = follow(FAST)
    assert truce.metric("truce_conflicts") == 1
