"""Several servers follow one cluster, on one registry in PostgreSQL: whoever watches it, what happens there is seen, and
every server judges by it."""

import pytest

from e2e.histories import by, with_role
from support.objects import bucket, queue
from support.processes import wait_for
from support.provider import finish_deletion, make_real
from support.truce_process import OBJECT_STORAGE_MAPPINGS
from support.verdicts import assert_refused

NEXT_LEADER_SECONDS = 30  # a lease, and a busy machine
SEEN_SECONDS = 20
ONE, TWO = "111111111111", "222222222222"


@pytest.fixture
def pair(cluster, follow, postgres, database):
    """The leader, and another one, to which the API servers send reviews."""
    config = {"mappings": OBJECT_STORAGE_MAPPINGS, "store": postgres.url(database), "storeDurability": "single"}
    # Not before the first one is started has it a cluster id.
    first = follow(config, failure_policy="")
    second = follow(config, failure_policy="", cluster_id=first.cluster_id)
    assert first.metric("truce_watcher_leader") == 1 and second.metric("truce_watcher_leader") == 0
    cluster.register_webhook(second.admission_url, second.ca_file, "Fail")
    return first, second


def lead(server, team) -> None:
    """Until it watches, and has seen what is there."""
    wait_for(lambda: server.metric("truce_watcher_leader") == 1, NEXT_LEADER_SECONDS, "the next leader")
    team.create(bucket("a-sign", "a-sign")).expect(201)
    # Its start reads every kind from API servers that four tests at once keep busy.
    server.wait_for_state("a-sign", "held", NEXT_LEADER_SECONDS + SEEN_SECONDS)


@pytest.mark.slow(18)
def test_what_is_deleted_is_free_whoever_watches(pair, user):
    first, second = pair
    for number in range(2):
        name = f"prod-artifacts-{number}"
        obj = bucket(f"artifacts-{number}", name)
        user("team-a").create(obj).expect(201)
        make_real(user("provider"), obj)
        second.wait_for_state(name, "held", SEEN_SECONDS)
        assert_refused(user("team-b").create(bucket("copy", name)), name)
        user("team-a").delete(obj).expect(200)
        finish_deletion(user("provider"), obj)
        second.wait_for_state(name, "free", SEEN_SECONDS)
        user("team-b").create(bucket(f"copy-{number}", name)).expect(201)
        if number == 0:
            first.kill()
            lead(second, user("team-a"))


def jobs_of(name: str, config: str) -> dict:
    return by(config, queue(name, "jobs"))


def hold_jobs(server, user) -> dict:
    """ProviderConfigs `one` and `two` of two accounts; team-a's queue `jobs` is held in the first."""
    for name, account in (("one", ONE), ("two", TWO)):
        user("admin").create(with_role(name, account)).expect(201)
    mine = jobs_of("mine", "one")
    wait_for(lambda: user("team-a").create(mine).ok, SEEN_SECONDS, "the accounts at the server that is asked")
    make_real(user("provider"), mine)
    wait_for(lambda: server.state("jobs", "sqs/Queue") == "held", SEEN_SECONDS, "jobs held")
    return mine


def test_an_edited_provider_config_is_judged_by_at_the_server_that_does_not_watch(pair, user):
    _, second = pair
    admin, team = user("admin"), user("team-b")
    hold_jobs(second, user)
    theirs = jobs_of("theirs", "two")
    wait_for(lambda: team.create(theirs).ok, SEEN_SECONDS, "the other account's queue")
    team.delete(theirs).expect(200)
    admin.patch(with_role("two", ONE), {"spec": with_role("two", ONE)["spec"]}).expect(200)

    def refused() -> bool:
        answer = team.create(theirs, dry_run=True)
        return not answer.ok and "jobs" in str(answer.body)

    wait_for(refused, SEEN_SECONDS, "the edit at the server that does not watch")
    assert_refused(team.create(theirs), "jobs")
