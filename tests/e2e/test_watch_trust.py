"""What Truce must not believe: an old registry, another cluster's registry, an API server that does
not let it look."""

import shutil

import pytest

from support.objects import bucket, queue
from support.processes import wait_for
from support.truce_process import OBJECT_STORAGE_MAPPINGS
from support.verdicts import assert_refused, assert_unknown

NAME = "prod-artifacts"
FAST = {"mappings": OBJECT_STORAGE_MAPPINGS, "drainGrace": "0s"}

LOOK = ["get", "list", "watch"]
LOOK_AT_ALL = [{"apiGroups": ["*"], "resources": ["*"], "verbs": LOOK}]
LOOK_AT_ALL_BUT_BUCKETS = [
    {
        "apiGroups": ["", "apiextensions.k8s.io", "sqs.aws.upbound.io", "sqs.services.k8s.aws",
                      "platform.example.org"],
        "resources": ["*"],
        "verbs": LOOK,
    }
]
BACK_OFF_SECONDS = 40.0  # At most 30 s and half as much again between two attempts.


@pytest.mark.rotating(13)
def test_kinds_that_may_not_be_listed_any_more_keep_their_owners(may, follow, user):
    may(LOOK_AT_ALL)
    truce = follow(FAST, user="truce")
    obj = bucket("artifacts", NAME)
    user("team-a").create(obj).expect(201)
    user("team-a").create(bucket("other", "other-bucket")).expect(201)
    user("team-a").create(queue("jobs", "jobs")).expect(201)
    truce.wait_for_state(NAME, "held")
    assert truce.stop() == 0
    may(LOOK_AT_ALL_BUT_BUCKETS)
    truce.start()
    assert truce.state(NAME) == "held"
    assert_refused(user("team-b").create(bucket("copy", NAME)), NAME, "artifacts")
    # Whether anybody else has that name cannot be seen.
    assert_unknown(user("team-b").create(bucket("new", "new-bucket")))
    assert_refused(user("team-b").create(queue("copy", "jobs")), "jobs")
    # A first list of queues that failed is repeated.
    more = queue("more", "more-jobs")
    wait_for(lambda: user("team-b").create(more).ok, BACK_OFF_SECONDS, "queues listed")
    user("team-a").delete(obj).expect(200)
    may(LOOK_AT_ALL)
    truce.wait_for_state(NAME, "orphaned", BACK_OFF_SECONDS)
    # The other group of buckets is listed in its own time.
    new = bucket("new", "new-bucket")
    wait_for(lambda: user("team-b").create(new).ok, BACK_OFF_SECONDS, "both kinds listed")


def test_without_any_right_it_is_not_ready_and_releases_nothing(may, follow, user):
    may(LOOK_AT_ALL)
    user("team-a").create(bucket("artifacts", NAME)).expect(201)
    truce = follow(FAST, user="truce")
    assert truce.stop() == 0
    may([])
    truce.start(wait_until_ready=False)
    status, text = wait_for(
        lambda: (lambda got: got if "orbidden" in got[1] else None)(truce.metrics_get("/readyz")),
        20,
        "the reason in /readyz",
    )
    assert status == 503 and "kube-system" in text, text
    assert_unknown(user("team-b").create(bucket("copy", NAME)))
    may(LOOK_AT_ALL)
    truce.wait_until_ready(BACK_OFF_SECONDS)
    assert truce.state(NAME) == "held"
    assert_refused(user("team-b").create(bucket("copy", NAME)), NAME, "artifacts")


@pytest.mark.parametrize("way", ["restored", "copied", "lost"])
def test_an_old_registry_only_warns_until_somebody_has_looked(follow, user, way):
    user("team-a").create(bucket("artifacts", NAME)).expect(201)
    truce = follow(FAST)
    assert truce.stop() == 0
    backup, copy = truce.directory / "backup", truce.directory / "copy.db"
    if way == "restored":
        shutil.copytree(truce.data, backup, ignore=shutil.ignore_patterns("*.sock"))
    truce.start()
    if way == "copied":  # In the same start as what it lacks.
        made = truce.command("backup", str(copy))
        assert made.returncode == 0, made.stderr
    user("team-a").create(bucket("later", "later-bucket")).expect(201)
    truce.wait_for_state("later-bucket", "held")
    assert truce.stop() == 0
    for entry in truce.data.iterdir():
        if entry.name != "certs":  # Else the webhook's registration would have to change.
            shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
    if way == "restored":
        shutil.copytree(backup, truce.data, dirs_exist_ok=True)
    if way == "copied":
        done = truce.command("restore", str(copy))
        assert done.returncode == 0, done.stderr
    truce.start()
    # What it cannot remember was found.
    assert truce.state("later-bucket") == "held"
    wait_for(lambda: truce.metric("truce_recovery_mode") == 1, 10, "the alert's metric")
    shown = truce.command("recovery")
    assert "recovery" in shown.stdout.lower(), shown
    reply = user("team-b").create(bucket("copy", NAME)).expect(201)
    assert any(NAME in warning for warning in reply.warnings), reply.warnings
    wait_for(
        lambda: truce.command("recovery", "finish").returncode == 0, 20, "recovery finished"
    )
    wait_for(
        lambda: user("team-b").create(bucket("other", NAME), dry_run=True).status == 403,
        10,
        "it denies again",
    )
    assert truce.owner(NAME)["root"]["name"] == "artifacts"


def test_a_second_registry_is_noticed_where_each_has_a_lease_in_its_own_namespace(follow):
    """leaseNamespace: kube-system is closed."""
    where = lambda ns: {**FAST, "leaseNamespace": ns}  # noqa: E731
    first = follow(where("team-a"), failure_policy="", cluster_id="closed-1")
    assert first.metric("truce_recovery_mode") == 0
    second = follow(where("team-b"), failure_policy="", cluster_id="closed-1")
    wait_for(lambda: second.metric("truce_recovery_mode") == 1, 10, "recovery mode of the second")
    assert "Lease team-a/truce-closed-1" in second.command("recovery").stdout
    # Started again each has its own mark, and still sees the other's.
    assert first.stop() == 0
    first.start()
    wait_for(lambda: first.metric("truce_recovery_mode") == 1, 10, "recovery mode of the first")
    assert "Lease team-b/truce-closed-1" in first.command("recovery").stdout
    # Another cluster's registry is nobody's second one.
    other = follow(where("team-b"), failure_policy="", cluster_id="closed-2")
    assert other.metric("truce_recovery_mode") == 0


def test_recovery_names_the_kinds_it_waits_for_and_ends_when_it_says_so(may, follow, user):
    user("team-a").create(bucket("artifacts", NAME)).expect(201)
    may(LOOK_AT_ALL)
    truce = follow(FAST, user="truce")
    may(LOOK_AT_ALL_BUT_BUCKETS)
    assert truce.command("recovery", "start", "--reason", "a drill").returncode == 0
    shown = wait_for(
        lambda: (lambda text: text if "orbidden" in text else None)(
            truce.command("recovery").stdout), 20, "the kind and why")
    assert "waiting  Bucket.s3.aws.upbound.io: it cannot be listed" in shown, shown
    refused = truce.command("recovery", "finish")
    assert refused.returncode != 0 and "which kinds" in refused.stderr, refused
    assert truce.metric("truce_recovery_mode") == 1
    assert "refusals: recovery mode" in truce.metrics_get("/readyz?verbose")[1]
    assert "[warn] refusals: recovery mode" in truce.command("doctor").stdout
    assert "SUSPENDED  recovery mode" in truce.command("coverage").stdout
    copy = bucket("copy", NAME)
    user("team-b").create(copy, dry_run=True).expect(201)
    ended = truce.command("recovery", "finish", "--force")
    # Not a moment later: what it says is true when it says it.
    denied = user("team-b").create(copy, dry_run=True)
    assert ended.returncode == 0 and "conflicts are denied" in ended.stdout, ended
    assert_refused(denied, NAME, "artifacts")
    assert truce.metrics_get("/readyz?verbose")[1].endswith("refusals: mode enforce\n")
