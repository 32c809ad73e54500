"""The server that watches ends in order, and something is deleted before the next one watches."""

import pytest

from e2e.histories import with_role
from e2e.test_leader import (  # noqa: F401
    NEXT_LEADER_SECONDS,
    ONE,
    SEEN_SECONDS,
    hold_jobs,
    jobs_of,
    lead,
    pair,
)
from e2e.test_life_cycles import make_chain
from support.objects import bucket, claim
from support.processes import wait_for
from support.provider import DELETING, SYNCED, finish_deletion, make_real
from support.verdicts import assert_refused


def free_for_others(server, team, name: str) -> None:
    server.wait_for_state(name, "free", NEXT_LEADER_SECONDS + SEEN_SECONDS)
    team.create(bucket(f"copy-of-{name}", name)).expect(201)


@pytest.mark.parametrize("others", [False, True], ids=["the-last-of-its-kind", "one-of-two"])
def test_a_claim_that_was_never_anything_is_free(pair, user, others):  # noqa: F811
    first, second = pair
    made = claim("artifacts", "team-a", "prod-claimed")
    user("team-a").create(made).expect(201)
    second.wait_for_state("prod-claimed", "held", SEEN_SECONDS)
    if others:
        user("team-a").create(claim("other", "team-a", "prod-other")).expect(201)
        second.wait_for_state("prod-other", "held", SEEN_SECONDS)
    assert first.stop() == 0
    user("team-a").delete(made).expect(200)
    free_for_others(second, user("team-b"), "prod-claimed")


def test_a_bucket_that_its_provider_deleted_is_free(pair, user):  # noqa: F811
    first, second = pair
    team, provider = user("team-a"), user("provider")
    gone, stripped = bucket("artifacts", "prod-artifacts"), bucket("stripped", "prod-stripped")
    for obj, name in ((gone, "prod-artifacts"), (stripped, "prod-stripped")):
        team.create(obj).expect(201)
        make_real(provider, obj)
        second.wait_for_state(name, "held", SEEN_SECONDS)
    assert first.stop() == 0
    team.delete(gone).expect(200)
    finish_deletion(provider, gone)
    team.delete(stripped).expect(200)
    team.patch(stripped, {"metadata": {"finalizers": []}}).expect(200)
    free_for_others(second, user("team-b"), "prod-artifacts")
    second.wait_for_state("prod-stripped", "orphaned", SEEN_SECONDS)
    assert_refused(user("team-b").create(bucket("copy", "prod-stripped")), "prod-stripped")


def test_a_claim_with_all_below_it(pair, user):  # noqa: F811
    first, second = pair
    mine, made, obj = make_chain(second, user)
    assert first.stop() == 0
    core = user("crossplane")
    user("team-a").delete(mine).expect(200)
    core.delete(made).expect(200)
    core.delete(obj).expect(200)
    finish_deletion(user("provider"), obj)
    for above in (made, mine):
        core.patch(above, {"metadata": {"finalizers": None}})
    free_for_others(second, user("team-b"), "prod-artifacts")


def test_who_is_put_back_owns_what_was(pair, user):  # noqa: F811
    first, second = pair
    team, obj = user("team-a"), bucket("artifacts", "prod-artifacts")
    team.create(obj).expect(201)
    make_real(user("provider"), obj)
    second.wait_for_state("prod-artifacts", "held", SEEN_SECONDS)
    assert first.stop() == 0
    team.delete(obj).expect(200)
    team.patch(obj, {"metadata": {"finalizers": []}}).expect(200)
    team.create(obj).expect(201)
    lead(second, team)
    second.wait_for_state("prod-artifacts", "held", SEEN_SECONDS)
    assert_refused(user("team-b").create(bucket("copy", "prod-artifacts")), "prod-artifacts")


@pytest.mark.slow(35)
def test_a_queue_that_is_being_deleted_is_free_in_the_end(pair, user, postgres, database):  # noqa: F811
    """Its name lies in an account: its provider must have deleted it there, whoever watched when it began."""
    first, second = pair
    mine = hold_jobs(second, user)
    kept = "SELECT count(*) > 0 FROM truce.provider_configs WHERE name = 'one' AND uid <> ''"
    postgres.wait_for_sql(database, kept, SEEN_SECONDS, "the registry to be told")
    first.kill()
    user("team-a").delete(mine).expect(200)
    user("provider").patch_status(mine, {"conditions": [SYNCED, DELETING]}).expect(200)
    lead(second, user("team-a"))
    assert_refused(user("team-b").create(jobs_of("theirs", "one")), "jobs")
    user("provider").patch(mine, {"metadata": {"finalizers": None}}).expect(200)
    wait_for(lambda: second.state("jobs", "sqs/Queue") == "free", SEEN_SECONDS, "jobs free")
    user("team-b").create(jobs_of("theirs", "one")).expect(201)


@pytest.mark.rotating(14)
def test_a_provider_config_that_is_edited_while_nobody_watches_is_no_secret(pair, user):  # noqa: F811
    """Reviews go by the account that was told last, for a minute at most; what that let in is a conflict, and the next
    one is refused."""
    first, second = pair
    hold_jobs(second, user)
    first.kill()
    user("admin").patch(with_role("two", ONE), {"spec": with_role("two", ONE)["spec"]}).expect(200)
    user("team-b").create(jobs_of("theirs", "two")).expect(201)
    wait_for(lambda: second.metric("truce_watcher_leader") == 1, NEXT_LEADER_SECONDS, "the next leader")
    wait_for(lambda: "theirs" in second.command("conflicts").stdout, 2 * SEEN_SECONDS, "the conflict")
    [owner] = [each for each in second.look_up(type="sqs/Queue", name="jobs") if each["account"] == ONE]
    assert owner["root"]["name"] == "mine" and owner["contested"], owner
    assert_refused(user("team-b").create(jobs_of("again", "two")), "jobs")
