"""The registry follows the cluster: the states of a resource, each by what really happened."""

import pytest

from support.objects import EXTERNAL_NAME, bucket, claim, object_path
from support.provider import finish_deletion, make_real, orphan
from support.truce_process import OBJECT_STORAGE_MAPPINGS
from support.verdicts import assert_refused, assert_unknown

NAME = "prod-artifacts"

# A restart takes no longer than it must.
FAST = {"mappings": OBJECT_STORAGE_MAPPINGS, "drainGrace": "0s"}


@pytest.fixture
def truce(follow):
    return follow(FAST)


def test_a_resource_goes_from_reserved_to_held(truce, user):
    user("team-a").create(bucket("artifacts", NAME)).expect(201)
    # Unless the watch was faster than this question, it is still a promise.
    assert truce.state(NAME) in ("reserved", "held")
    owner = truce.wait_for_state(NAME, "held")
    assert owner["root"]["name"] == "artifacts"
    assert_refused(user("team-b").create(bucket("copy", NAME)), NAME, "artifacts")


def test_a_resource_its_provider_deleted_is_free(truce, user):
    obj = bucket("artifacts", NAME)
    user("team-a").create(obj).expect(201)
    make_real(user("provider"), obj)
    truce.wait_for_state(NAME, "held")
    user("team-a").delete(obj).expect(200)
    assert_refused(user("team-b").create(bucket("copy", NAME)), NAME)
    finish_deletion(user("provider"), obj)
    truce.wait_for_state(NAME, "free")
    user("team-b").create(bucket("copy", NAME)).expect(201)
    truce.wait_for_state(NAME, "held")


def test_a_resource_that_was_never_real_is_free(truce, user):
    obj = bucket("artifacts", NAME)
    user("team-a").create(obj).expect(201)
    truce.wait_for_state(NAME, "held")
    user("team-a").delete(obj).expect(200)
    truce.wait_for_state(NAME, "free")


def test_what_is_deleted_ends_although_truce_is_away(follow, user, cluster):
    """With failurePolicy Fail; what ended without a witness stays orphaned."""
    truce = follow(FAST, failure_policy="Fail")
    team, provider, collector = user("team-a"), user("provider"), user("collector")
    by_provider, by_collector = bucket("by-provider", NAME), bucket("by-collector", "other-artifacts")
    for obj, name in ((by_provider, NAME), (by_collector, "other-artifacts")):
        team.create(obj).expect(201)
        make_real(provider, obj)
        truce.wait_for_state(name, "held")
    # A kind without any object would wait for a command.
    team.create(bucket("stays", "stays-artifacts")).expect(201)
    provider.patch(by_collector, {"metadata": {"finalizers": None}}).expect()
    truce.stop()

    assert_unknown(team.create(bucket("new", "new-artifacts")))
    team.delete(by_provider).expect(200)
    foreground = {"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": "Foreground"}
    team.request("DELETE", object_path(by_collector), foreground).expect(200)
    # What changes more than finalizers waits, as always.
    labelled = {"metadata": {"finalizers": None, "labels": {"a": "b"}}}
    assert_unknown(provider.patch(by_provider, labelled, dry_run=True))
    finish_deletion(provider, by_provider)
    assert collector.get(by_collector).body["metadata"]["finalizers"] == ["foregroundDeletion"]
    collector.patch(by_collector, {"metadata": {"finalizers": None}}).expect()
    for obj in (by_provider, by_collector):
        assert team.get(obj).status == 404

    truce.start()
    # The API server tells the next watch that the provider was Deleting; of the other nobody said so.
    truce.wait_for_state(NAME, "free")
    truce.wait_for_state("other-artifacts", "orphaned")


def test_a_finalizer_stripped_by_a_user_frees_nothing(truce, user):
    obj = bucket("artifacts", NAME)
    user("team-a").create(obj).expect(201)
    make_real(user("provider"), obj)
    user("team-a").delete(obj).expect(200)
    user("team-a").patch(obj, {"metadata": {"finalizers": None}}).expect()
    truce.wait_for_state(NAME, "orphaned")


@pytest.fixture
def orphaned(truce, user):
    """team-a's bucket whose object ended and left it in AWS."""
    obj = bucket("artifacts", NAME)
    obj["spec"]["deletionPolicy"] = "Orphan"
    user("team-a").create(obj).expect(201)
    make_real(user("provider"), obj)
    truce.wait_for_state(NAME, "held")
    user("team-a").delete(obj).expect(200)
    orphan(user("provider"), obj)
    truce.wait_for_state(NAME, "orphaned")
    return obj


def test_an_orphan_is_refused_to_others_and_taken_back_by_its_party(orphaned, truce, user):
    assert_refused(user("team-b").create(bucket("copy", NAME)), NAME)
    user("team-a").create(orphaned).expect(201)
    truce.wait_for_state(NAME, "held")


def test_an_orphan_is_released_by_command(orphaned, truce, user):
    done = truce.command("release", "s3/Bucket", NAME, "--reason", "deleted by hand")
    assert done.returncode == 0, done.stderr
    assert truce.state(NAME) == "free"
    user("team-b").create(bucket("copy", NAME)).expect(201)


def test_a_changed_name_is_held_and_the_old_one_left_orphaned(truce, user):
    obj = bucket("artifacts", NAME)
    user("team-a").create(obj).expect(201)
    make_real(user("provider"), obj)
    truce.wait_for_state(NAME, "held")
    user("team-a").patch(obj, {"metadata": {"annotations": {EXTERNAL_NAME: "other"}}}).expect()
    truce.wait_for_state("other", "held")
    truce.wait_for_state(NAME, "orphaned")


def test_what_happens_at_the_other_api_server_is_seen(truce, user):
    user("team-a", server=1).create(bucket("artifacts", NAME)).expect(201)
    truce.wait_for_state(NAME, "held")
    for server in (0, 1):
        assert_refused(user("team-b", server).create(bucket("copy", NAME)), NAME)
    user("team-a", server=1).delete(bucket("artifacts", NAME)).expect(200)
    truce.wait_for_state(NAME, "free")
    user("team-b", server=0).create(bucket("copy", NAME)).expect(201)


def test_deletion_then_a_new_create_is_refused_for_less_than_a_second(truce, user):
    """The best peer refuses one of 200, for 8.5 ms."""
    owners, others = user("team-a"), user("team-b")
    for number in range(20):
        obj = bucket(f"artifacts-{number}", NAME)
        (owners if number % 2 == 0 else others).create(obj).expect(201)
        (owners if number % 2 == 0 else others).delete(obj).expect(200)
        truce.wait_for_state(NAME, "free", 1.0)
    others.create(claim("artifacts", "team-b", NAME)).expect(201)
