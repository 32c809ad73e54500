"""Three replicas behind a Service, two API servers that ask them, the registry in a PostgreSQL primary with a
synchronous standby: whatever is restarted or dies, each name is granted once and no grant is lost."""

import time

import pytest

from support.objects import bucket
from support.processes import wait_for
from support.race import Racers, Tally
from support.replicas import ApiLoad, Replicas, databases

REPLICAS = 3
WRITERS = 8
NEXT_LEADER_SECONDS = 15 + 15  # a lease, and what a busy machine needs


@pytest.fixture(scope="module")
def pair():
    made = databases()
    yield made
    for server in made:
        server.remove()


@pytest.fixture(scope="module")
def started(cluster, pair, tmp_path_factory):
    """All live again when a test ends."""
    made = Replicas(tmp_path_factory.mktemp("replicas"), pair,
                    [cluster.kubeconfig("admin", number % cluster.api_servers) for number in range(REPLICAS)])
    yield made
    made.remove()


@pytest.fixture
def replicas(cluster, started):
    cluster.register_webhook(started.url, started.ca_file)
    yield started
    cluster.reset()


@pytest.fixture
def clients(cluster, user):
    """A function that gives so many, spread over both API servers."""
    return lambda count: [user("team-a" if number % 4 < 2 else "team-b", server=number % cluster.api_servers)
                          for number in range(count)]


@pytest.fixture
def load(replicas, clients):
    running = ApiLoad(clients(WRITERS))
    yield running
    running.end()


@pytest.fixture
def show(capsys, record_property):
    """Prints past pytest's capturing: the failure card's figures come from here."""

    def show(what: str, outcome) -> None:
        record_property(what, str(outcome))
        with capsys.disabled():
            print(f"\n  {what}: {outcome}", flush=True)

    return show


def assert_nothing_is_lost(load: ApiLoad, database) -> None:
    """Each grant is in the registry, and none was given twice."""
    assert load.granted and load.denied
    assert len(load.granted) == len(set(load.granted)), "a name with two managers"
    there = database.sql("truce", "SELECT split_part(key, 'name=', 2) FROM truce.resources").split()
    assert set(load.granted) <= set(there), "an acknowledged grant is lost"


# 2,000 rounds of each size in four parts, and some at each commit.
@pytest.mark.parametrize("part, rounds", [
    (0, 50), *(pytest.param(part, 500, marks=pytest.mark.rotating(40)) for part in range(1, 5))])
def test_of_simultaneous_creations_of_one_name_exactly_one_is_admitted(replicas, pair, clients, show, part, rounds):
    for size in (2, 8):
        tally = Tally(f"{size} simultaneous creations")
        with Racers(clients(size)) as crew:
            for number in range(rounds):
                name = f"race-{part}-{size}-{number}"
                tally.add(crew.run([lambda client, obj=bucket(f"{name}-{racer}", name): client.create(obj)
                                    for racer in range(size)]))
        show("race", tally)
        assert tally.admitted_once == rounds, str(tally)
    assert all(server.metric("truce_admission_seconds_count") for server in replicas.servers), "one was never asked"
    owners = pair[0].sql("truce", f"SELECT count(*) FROM truce.owners WHERE name LIKE 'race-{part}-%'")
    assert owners == str(2 * rounds)


@pytest.mark.slow(32)
def test_a_rollout_answers_every_call_and_the_leaders_death_costs_what_was_in_flight_on_it(
        replicas, pair, load, show):
    for server in replicas.servers:
        load.grow()
        replicas.restart(server)
    load.grow()
    show("rollout", load)
    assert load.unknown == []
    load.forget_silence()
    [leader] = replicas.leaders()
    leader.kill()
    killed = time.monotonic()
    load.grow(100)
    wait_for(replicas.leaders, NEXT_LEADER_SECONDS, "the next leader")
    show("the next leader", f"after {time.monotonic() - killed:.1f} s")
    load.grow(100)
    load.end()
    show("leader killed", load)
    assert len(load.unknown) <= WRITERS, load.unknown
    assert_nothing_is_lost(load, pair[0])
    leader.start()
    for server in replicas.servers:
        conflicts = server.command("conflicts")
        assert conflicts.returncode == 0, conflicts.stdout + conflicts.stderr


# The last one: the pair is one no more.
@pytest.mark.slow(8)
def test_a_standby_that_takes_over_has_every_grant(replicas, pair, load, show):
    primary, standby = pair
    load.grow()
    primary.kill()
    standby.promote()
    load.grow(200)
    load.end()
    show("fail-over", load)
    show("unknown", sorted(set(load.unknown)))
    assert_nothing_is_lost(load, standby)
