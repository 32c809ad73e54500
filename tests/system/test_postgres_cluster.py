"""Servers of one cluster on one registry in PostgreSQL: all answer reviews, one of them watches the cluster for all."""

import signal
import socket
import time

import pytest

from support.buckets import grant, refused, review
from support.processes import wait_for

CANNOT_RUN = 5
LEASE = 15
TAKEN_OVER = 45  # a lease, and a busy machine
SOON = 20
STOOD_STILL = LEASE + 3


@pytest.fixture
def three(postgres, database, servers, scripted_api):
    made = [servers(scripted_api, store=postgres.url(database)) for _ in range(3)]
    for server in made:
        server.start()
    return made


def leads(server) -> bool:
    return server.running and server.metric("truce_watcher_leader") == 1


def leader_of(group):
    leading = [server for server in group if leads(server)]
    assert len(leading) < 2
    return leading[0] if leading else None


def test_all_answer_and_one_watches(three):
    leader = leader_of(three)
    assert leader is not None
    for number, server in enumerate(three):
        grant(server, f"name-{number}")
        for other in three:
            assert f"name-{number}" in refused(other, f"name-{number}")
    name = f"{socket.gethostname()}/{(leader.data / 'server.id').read_text().strip()}"
    for server in three:
        watcher = "this server" if server is leader else f"server {name}"
        wait_for(lambda: f" leader: {watcher} watches the cluster for all\n" in server.command("doctor").stdout,
                 SOON, "doctor names the leader")
        assert server.metric("truce_server_active") == 1
        assert server.metric("truce_view_age_seconds") < SOON


@pytest.mark.slow(16)
def test_when_the_leader_dies_another_one_leads_and_reviews_go_on(three):
    leader = leader_of(three)
    grant(leader, "name")
    leader.kill()
    rest = [server for server in three if server is not leader]
    numbers = iter(range(1_000_000))

    def led() -> bool:
        # Never unknown meanwhile: what the dead one told is good for a minute.
        for server in rest:
            grant(server, f"meanwhile-{next(numbers)}")
            refused(server, "name")
        return leader_of(rest) is not None

    wait_for(led, TAKEN_OVER, "another one leads")
    for server in rest:
        assert server.metrics_get("/readyz")[0] == 200


@pytest.mark.slow(8)
def test_a_leader_that_ends_gives_the_watch_to_the_next_at_once(three):
    leader = leader_of(three)
    leader.stop()
    rest = [server for server in three if server is not leader]
    wait_for(lambda: leader_of(rest) is not None, LEASE - 5, "another one leads, before the lease's end")
    leader.start()
    grant(leader, "name")
    assert not leads(leader)


@pytest.mark.slow(20)
def test_a_leader_that_ends_answers_on_while_it_drains(postgres, database, servers, scripted_api):
    leader, other = (servers(scripted_api, store=postgres.url(database), drainGrace="9s") for _ in range(2))
    leader.start()
    other.start()
    wait_for(lambda: leads(leader), SOON, "it leads")
    grant(leader, "name")
    leader.signal(signal.SIGTERM)
    begun = time.monotonic()
    answered = 0
    while time.monotonic() < begun + 8:
        grant(leader, f"draining-{answered % 500}")  # fewer than reservationBurst
        refused(leader, "name")
        answered += 1
    assert answered > 20
    wait_for(lambda: leads(other), SOON, "the other one leads")
    assert leader.stop() == 0


@pytest.mark.slow(20)
def test_a_leader_that_stood_still_leads_no_longer_and_ends(postgres, database, three):
    leader = leader_of(three)
    rest = [server for server in three if server is not leader]
    leader.signal(signal.SIGSTOP)
    try:
        wait_for(lambda: leader_of(rest) is not None, TAKEN_OVER, "another one leads")
    finally:
        leader.signal(signal.SIGCONT)
    wait_for(lambda: not leader.running, SOON, "the end of the server that lost the watch")
    assert leader.stop() == CANNOT_RUN
    assert "another server has taken over the watch" in leader.log.read_text()
    leader.start()
    grant(leader, "late")
