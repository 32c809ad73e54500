"""Servers that follow no cluster answer beside each other on one registry in PostgreSQL, as if they were one."""

import itertools
import json
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from support import objects
from support.buckets import grant, refused, review
from support.name_load import NameLoad, declaration
from support.processes import wait_for
from support.shifted_clock import ShiftedClock
from support.truce_process import TruceProcess
from system.test_api import creation

ROUNDS = 200
SECOND = 10  # what is looked for each second, on a busy machine
EXCHANGE = 40  # what is exchanged every ten
WAITING = 45  # a lease, on a busy machine
LEASE = 15
LABELS = {"app.kubernetes.io/part-of": "payments"}


@pytest.fixture
def pair(postgres, database, servers):
    made = [servers(store=postgres.url(database)) for _ in range(2)]
    for server in made:
        server.start()
    return made


@pytest.mark.parametrize("racers", [2, 8])
def test_of_creations_of_one_name_through_two_servers_exactly_one_is_allowed(postgres, database, pair, racers):
    start = threading.Barrier(racers)
    allowed = [0] * ROUNDS

    def race(racer: int) -> list[bool]:
        outcomes = []
        with pair[racer % 2].reviewer() as reviewer:
            for number in range(ROUNDS):
                start.wait(60)
                status, response = reviewer.review(declaration(f"name-{number}", racer))
                assert status == 200, "neither allowed nor denied"
                outcomes.append(response["allowed"])
        return outcomes

    with ThreadPoolExecutor(racers) as crew:
        for outcomes in crew.map(race, range(racers)):
            for number, was_allowed in enumerate(outcomes):
                allowed[number] += was_allowed
    assert allowed == [1] * ROUNDS
    assert postgres.sql(database, "SELECT count(*) FROM truce.owners") == str(ROUNDS)
    for server in pair:
        assert server.metric("truce_server_active") == 1


def test_the_last_place_of_a_quota_is_taken_once_through_two_servers(postgres, database, servers):
    quotas = [{"type": "s3/Bucket", "namespace": f"team-{number}", "max": 1} for number in range(ROUNDS)]
    made = [servers(store=postgres.url(database), quotas=quotas, mode="enforce") for _ in range(2)]
    for server in made:
        server.start()
    start = threading.Barrier(2)

    def race(racer: int) -> list[bool]:
        outcomes = []
        with made[racer].reviewer() as reviewer:
            for number in range(ROUNDS):
                bucket = objects.namespaced_bucket(f"b-{racer}", f"quota-{number}-{racer}", f"team-{number}")
                start.wait(60)
                status, response = reviewer.review(creation(bucket))
                assert status == 200, response
                outcomes.append(response["allowed"])
        return outcomes

    with ThreadPoolExecutor(2) as crew:
        one, other = crew.map(race, range(2))
    assert [a + b for a, b in zip(one, other)] == [1] * ROUNDS


def test_what_one_granted_the_other_finds_denies_and_lists(pair):
    one, other = pair
    with one.reviewer() as reviewer:
        for name in ("first", "second"):
            obj = objects.bucket(name, f"payments-{name}", labels=LABELS)
            assert reviewer.review(creation(obj))[1]["allowed"]
    owner = other.owner("payments-first")
    assert owner["state"] == "reserved" and owner == one.owner("payments-first")
    assert other.look_up(resource=owner["id"]) == one.look_up(resource=owner["id"]) != []
    assert other.look_up(name="PAYMENTS-FIRST", type="s3/Bucket") == one.look_up(name="PAYMENTS-FIRST", type="s3/Bucket")
    assert other.look_up(resource="Bucket/first") == one.look_up(resource="Bucket/first") != []
    for path, parameters in (("/api/v1/resources", {"service": "payments"}), ("/api/v1/services", {}),
                             ("/api/v1/resources", {"name": "payments-second"}),
                             ("/api/v1/audit", {"id": owner["id"]}), ("/api/v1/matrix", {})):
        answers = [server.operator_get(path, **parameters) for server in pair]
        assert answers[0] == answers[1] and answers[0][0] == 200, path
        assert answers[0][1].get("items") or answers[0][1]["rows"], path
    # A list goes on at the other server.
    status, page = one.operator_get("/api/v1/resources", limit="1")
    assert status == 200 and page["nextCursor"]
    status, rest = other.operator_get("/api/v1/resources", limit="1", cursor=page["nextCursor"])
    assert status == 200, rest
    assert "payments-first" in refused(other, "payments-first")
    assert {item["name"] for item in page["items"] + rest["items"]} == {"payments-first", "payments-second"}


def test_overrides_hold_at_both_servers_within_a_second_or_so(pair):
    one, other = pair
    grant(one, "taken")
    refused(other, "taken")
    made = one.command("override", "--name", "taken", "--for", "2h", "--reason", "incident", "-o", "name")
    assert made.returncode == 0, made.stderr
    wait_for(lambda: review(other, "taken", "another")[1]["allowed"], SECOND, "the override at the other server")
    assert "name taken" in other.command("override").stdout
    ended = other.command("override", "--end", made.stdout.strip())
    assert ended.returncode == 0, ended.stderr
    tries = itertools.count()  # what was allowed once is allowed again
    wait_for(lambda: not review(one, "taken", f"try-{next(tries)}")[1]["allowed"], SECOND, "its end at the first")


@pytest.mark.slow(12)
def test_denials_and_the_trial_are_counted_over_both_servers(postgres, database, servers):
    config = {"rules": {"naming-convention": {"mode": "warn"}}}
    one, other = made = [servers(store=postgres.url(database), **config) for _ in range(2)]
    for server in made:
        server.start()
    grant(one, "taken")
    wrong = (objects.bucket(f"three-{n}", f"payments-testing-bucket-{n}", labels=LABELS) for n in itertools.count())

    def counts(server: TruceProcess) -> tuple[list[int], list[int]]:
        denials = server.operator_get("/api/v1/denials")[1]["items"]
        trials = json.loads(server.command("simulate", "-o", "json").stdout or "[]")
        return ([item["count"] for item in denials],
                [sum(item["count"] for item in trials if item["name"].startswith("three-"))])

    for server, times in ((one, 2), (other, 3)):
        for _ in range(times):
            refused(server, "taken")
            with server.reviewer() as reviewer:
                assert reviewer.review(creation(next(wrong)))[1]["allowed"]
    for server in made:
        wait_for(lambda server=server: counts(server) == ([5], [5]), EXCHANGE, "what the other one counted")
    # Counted once, however often it is exchanged, and kept by what is in the registry.
    refused(one, "taken")
    assert one.stop() == 0
    wait_for(lambda: counts(other) == ([6], [5]), EXCHANGE, "what came before its end")
    one.start()
    wait_for(lambda: counts(one) == ([6], [5]), EXCHANGE, "the same after its restart")


def wait_until_it_waits(server: TruceProcess) -> None:
    wait_for(lambda: server.data.joinpath("addresses.json").exists(), WAITING, "listening")
    wait_for(lambda: "is active on the registry's database" in server.metrics_get("/readyz")[1], WAITING, "the reason")


def test_a_server_that_follows_a_cluster_waits_for_those_that_follow_none(postgres, database, servers, scripted_api):
    follows = servers(scripted_api, store=postgres.url(database))
    first, alone = (servers(store=postgres.url(database), clusterId=follows.cluster_id) for _ in range(2))
    first.start()
    grant(first, "name")
    follows.start(wait_until_ready=False)
    wait_until_it_waits(follows)
    assert review(follows, "name", "other")[0] == 503
    first.stop()  # It was the last of those that share, so it gives the registry back.
    follows.wait_until_ready(LEASE)
    assert "name" in refused(follows, "name")
    alone.start(wait_until_ready=False)
    wait_until_it_waits(alone)
    assert review(alone, "name", "other")[0] == 503, "who follows no cluster does not answer beside one that does"


@pytest.mark.slow(10)
def test_clocks_that_are_apart_are_told(postgres, database, servers, tmp_path):
    clock = ShiftedClock(tmp_path)
    server = servers(store=postgres.url(database))
    server.env = clock.env
    server.start()
    assert abs(server.metric("truce_store_clock_difference_seconds")) < 2
    assert "clocks" not in server.command("doctor").stdout
    clock.advance(120)
    wait_for(lambda: server.metric("truce_store_clock_difference_seconds") < -118, WAITING, "the next look")
    shown = server.command("doctor").stdout
    assert "the clock of the registry's database is 120 s behind this server's" in shown and "NTP" in shown
    wait_for(lambda: "clocks are apart" in server.log.read_text(), WAITING, "a line of the log")
    clock.advance(-240)
    wait_for(lambda: server.metric("truce_store_clock_difference_seconds") > 118, WAITING, "the next look")
    assert "120 s ahead of this server's" in server.command("doctor").stdout


@pytest.mark.parametrize("kills", [20, pytest.param(200, marks=pytest.mark.rotating(48))])
def test_when_one_of_two_is_killed_under_load_the_other_answers_and_nothing_is_lost(postgres, database, pair, kills):
    load = NameLoad(pair)
    try:
        for _ in range(kills):
            load.grow(0)
            pair[0].kill()
            load.grow(1)
            pair[0].start()
    finally:
        load.end()
    assert load.unknown[0] > 0 and load.unknown[1] == 0, "unknown is only what was asked of the one that died"
    granted = load.allowed[0] + load.allowed[1]
    assert len(granted) == len(set(granted)), "a name with two managers"
    names = set(postgres.sql(database, "SELECT split_part(key, 'name=', 2) FROM truce.resources").split())
    assert set(granted) <= names
    # What was written and whose answer died with its server: one for each of its clients and kill.
    assert len(names - set(granted)) <= 2 * kills
