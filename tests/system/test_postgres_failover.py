"""The registry's PostgreSQL primary dies under load and a standby takes over: with a synchronous one nothing that was
acknowledged is lost; with one that was behind, what is lost is noticed."""

import itertools
import re
import threading

import pytest

from support.buckets import grant
from support.name_load import NameLoad
from support.objects import bucket_review
from support.postgres import Postgres, url_of
from support.processes import wait_for
from support.truce_process import TruceProcess

WAIT_SECONDS = 60
CANNOT_RUN = 5
WRITERS = 4


class Load:
    """Creations of buckets by several clients until it is ended; what was allowed, in order."""

    def __init__(self, server: TruceProcess):
        self.allowed: list[str] = []
        self.unknown = 0
        self._server = server
        self._numbers = itertools.count(1)
        self._ending = threading.Event()
        self._threads = [threading.Thread(target=self._run) for _ in range(WRITERS)]
        for thread in self._threads:
            thread.start()

    def end(self) -> None:
        self._ending.set()
        for thread in self._threads:
            thread.join(WAIT_SECONDS)

    def _run(self) -> None:
        with self._server.reviewer() as reviewer:
            while not self._ending.is_set():
                number = next(self._numbers)
                name = f"bucket-{number}"
                asked = bucket_review(name)
                asked["request"]["userInfo"]["username"] = f"user-{number // 50}"  # each may reserve so many
                status, response = reviewer.review(asked)
                assert status in (200, 503), response
                if status == 503:
                    self.unknown += 1
                elif response["allowed"]:
                    self.allowed.append(name)


@pytest.fixture
def pair():
    made = Postgres.with_standby()
    yield made
    for server in made:
        server.remove()


def owned(server: Postgres) -> set[str]:
    return set(server.sql("truce", "SELECT name FROM truce.owners").splitlines())


def detach(primary: Postgres, standby: Postgres) -> None:
    primary.wait_for_sql("postgres", "SELECT replay_lsn = pg_current_wal_lsn() FROM pg_stat_replication",
                         WAIT_SECONDS, "a standby that has it")
    standby.set("primary_conninfo", "")
    primary.wait_for_sql("postgres", "SELECT count(*) = 0 FROM pg_stat_replication", WAIT_SECONDS,
                         "a standby that is behind")


@pytest.fixture
def server(pair, tmp_path, scripted_api):
    """Of a cluster, on that pair; running."""
    config = {"store": url_of(pair), "storeDurability": "single", "logFormat": "json"}
    with TruceProcess(tmp_path, config=config, kubeconfig=scripted_api) as started:
        yield started


@pytest.mark.rotating(12)
def test_a_failover_to_a_synchronous_standby_loses_no_acknowledged_grant(pair, tmp_path):
    primary, standby = pair
    primary.require_standby()
    with TruceProcess(tmp_path, config={"store": url_of(pair), "storeDurability": "required"}) as server:
        load = Load(server)
        try:
            wait_for(lambda: len(load.allowed) >= 100, WAIT_SECONDS, "grants before")
            primary.kill()
            standby.promote()
            # The new primary waits for no standby: nothing is acknowledged until it does.
            pair.append(Postgres.standby_of(standby))
            before, unknown = len(load.allowed), load.unknown
            wait_for(lambda: load.unknown > unknown + WRITERS, WAIT_SECONDS, "answers without a standby")
            assert len(load.allowed) == before
            standby.set("synchronous_standby_names", "*")
            wait_for(lambda: len(load.allowed) >= before + 50, WAIT_SECONDS, "grants after")
        finally:
            load.end()
        there = owned(standby)
        assert [name for name in load.allowed if name not in there] == []
        granted = standby.sql("truce", "SELECT count(*) FROM truce.audit WHERE action = 'granted'")
        assert int(granted) == len(there), "nothing was granted twice"
        assert server.metric("truce_store_missing_changes_total") == 0
        assert server.metric("truce_store_standby") == 1
        assert server.metric("truce_server_active") == 1


@pytest.mark.rotating(9)
def test_a_failover_to_a_standby_that_was_behind_is_noticed(pair, server):
    primary, standby = pair
    grant(server, "early")
    detach(primary, standby)
    with server.reviewer() as reviewer:
        for number in range(20):
            assert reviewer.review(bucket_review(f"late-{number}"))[1]["allowed"]
    primary.kill()
    standby.promote()
    assert owned(standby) == {"early"}, "the control: acknowledged grants are lost"
    wait_for(lambda: not server.running, WAIT_SECONDS, "the end of a server whose database lost changes")
    assert server.stop() == CANNOT_RUN
    log = server.log.read_text()
    missing = re.search(r'"event":"changes are gone".*no longer has (\d+) of the last changes', log)
    assert missing and int(missing[1]) >= 20, log
    # Started anew it warns instead of denying, until somebody has looked.
    server.start()
    assert server.metric("truce_recovery_mode") == 1
    reason = standby.sql("truce", "SELECT value FROM truce.settings WHERE name = 'recovery'")
    assert "failed over to a standby that was behind" in reason
    assert "standby that was behind" in server.command("recovery").stdout


@pytest.mark.rotating(90)
@pytest.mark.parametrize("failovers", [20])
def test_failovers_in_a_row_lose_no_acknowledged_grant_and_grant_no_name_twice(pair, servers, scripted_api, failovers,
                                                                              record_property):
    """Of two servers that follow a cluster: one watches, the other one follows."""
    primary, standby = pair
    # Each has it when it is the primary: nothing is acknowledged without the other one.
    standby.set("synchronous_standby_names", "*")
    primary.require_standby()
    made = [servers(scripted_api, store=url_of(pair), storeDurability="required") for _ in range(2)]
    for server in made:
        server.start()
    load = NameLoad(made)
    try:
        for _ in range(failovers):
            load.grow(0)
            load.grow(1)
            primary.kill()
            standby.promote()
            primary.follow(standby)
            primary, standby = standby, primary
        load.grow(0)
        load.grow(1)
    finally:
        load.end()
    granted = load.allowed[0] + load.allowed[1]
    record_property("longest_silence", round(load.longest_silence, 2))
    print(f"{len(granted)} grants, {sum(load.unknown)} unknown, {load.longest_silence:.2f} s without an answer at most")
    assert len(granted) == len(set(granted)), "a name with two managers"
    assert sorted(set(granted) - owned(primary)) == [], "an acknowledged grant is lost"
    for server in made:
        assert server.running and server.metric("truce_store_missing_changes_total") == 0
        assert server.metric("truce_server_active") == 1
    wait_for(lambda: sum(server.metric("truce_watcher_leader") for server in made) == 1, WAIT_SECONDS, "one watches")


def assert_recovers(server: TruceProcess) -> None:
    assert server.metric("truce_recovery_mode") == 1
    assert "no longer has line" in server.command("recovery").stdout
    log = server.log.read_text()
    assert re.search(r'"event":"changes are gone".*no longer has line \d+ of its audit log', log), log
    # Another start says nothing new, and what is remembered now is there.
    assert server.stop() == 0
    server.log.write_text("")
    server.start()
    assert "changes are gone" not in server.log.read_text()


@pytest.mark.rotating(15)
def test_a_failover_that_lost_changes_while_no_server_ran_is_noticed(pair, server):
    primary, standby = pair
    grant(server, "early")
    detach(primary, standby)
    grant(server, "late")
    assert server.stop() == 0
    primary.kill()
    standby.promote()
    assert owned(standby) == {"early"}, "the control: an acknowledged grant is lost"
    server.start()
    assert_recovers(server)


def test_a_restored_dump_is_noticed(postgres, database, tmp_path, scripted_api):
    config = {"store": postgres.url(database), "storeDurability": "single", "logFormat": "json"}
    with TruceProcess(tmp_path, config=config, kubeconfig=scripted_api) as server:
        grant(server, "early")
        dump = postgres.dump(database)
        grant(server, "late")
        assert server.stop() == 0
        postgres.sql("postgres", f"DROP DATABASE {database}; CREATE DATABASE {database}")
        postgres.sql(database, dump)
        server.start()
        assert_recovers(server)
        incarnations = postgres.sql(database, "SELECT incarnation FROM truce.registry")
        assert int(incarnations) == 2, "the transactions of another database"
