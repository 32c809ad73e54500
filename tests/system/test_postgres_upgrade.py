"""Two versions that make other keys of the same resources come to one registry in PostgreSQL: one after the other, in
either order, and never two managers of one resource."""

import signal
import time

import pytest

from support.buckets import grant, refused, review
from support.name_load import NameLoad
from support.processes import wait_for

WAIT_SECONDS = 60
CANNOT_RUN = 5
SILENCE_SECONDS = 15  # a lease; here it is two or three
# Other keys for all buckets.
OTHER_KEYS = "type\tspace\ns3/Bucket\ts3/Bucketry\n"


def readiness(server) -> str:
    return server.metrics_get("/readyz")[1]


@pytest.fixture
def make(postgres, database, servers, tmp_path):
    """Two servers of each version."""
    types = tmp_path / "types.tsv"
    types.write_text(OTHER_KEYS)
    return lambda kubeconfig=None: [[servers(kubeconfig, store=postgres.url(database), **more) for _ in range(2)]
                                    for more in ({}, {"types": str(types)})]


@pytest.fixture
def versions(make):
    return make()


def wait_until_aside(server) -> None:
    wait_for(lambda: "takes over the registry" in readiness(server), WAIT_SECONDS, "standing aside")


def spaces(postgres, database) -> set[str]:
    """First words of the keys."""
    return set(postgres.sql(database, "SELECT DISTINCT split_part(key, '|', 1) FROM truce.resources").splitlines())


@pytest.mark.slow(6)
@pytest.mark.parametrize("follows", [False, True], ids=["alone", "cluster"])
@pytest.mark.parametrize("order", [1, -1], ids=["newer", "older"])
def test_a_version_with_other_keys_takes_over_under_load_and_no_name_has_two_managers(
        postgres, database, make, scripted_api, order, follows, record_property):
    old, new = make(scripted_api if follows else None)[::order]
    for server in old:
        server.start()
    load = NameLoad(old)
    try:
        load.grow(0)
        load.grow(1)
        before = spaces(postgres, database)
        for server in new:
            server.start(wait_until_ready=False)
        for server in new:
            server.wait_until_ready(WAIT_SECONDS)
        places = [load.add(server) for server in new]
        for place in places:
            load.grow(place)
        for server in old:
            wait_until_aside(server)
            assert review(server, "late", "late")[0] == 503
            assert server.metric("truce_server_active") == 0
            assert server.running, "an orchestrator ends it once the new ones are ready"
            assert server.stop() == 0
        for place in places:
            load.grow(place)
    finally:
        load.end()
    record_property("seconds_unknown", round(load.longest_silence, 2))
    print(f"no server knew an answer for {load.longest_silence:.2f} s")
    granted = [name for allowed in load.allowed for name in allowed]
    assert len(granted) == len(set(granted)), "a name with two managers"
    assert postgres.sql(database, "SELECT name FROM truce.owners GROUP BY name HAVING count(*) > 1") == ""
    after = spaces(postgres, database)
    assert len(before) == len(after) == 1 and before != after, "all keys are the new version's"
    assert load.longest_silence < SILENCE_SECONDS


def test_a_roll_back_in_the_middle_is_a_take_over_like_any(versions):
    (old, again), (new, _) = versions
    old.start()
    grant(old, "name")
    new.start()
    assert "name" in refused(new, "name")
    grant(new, "other")
    again.start()
    wait_until_aside(new)
    assert "other" in refused(again, "other")
    assert "name" in refused(again, "name")
    # Others have re-keyed what it believes to know.
    wait_for(lambda: not old.running, WAIT_SECONDS, "the end of who stood aside for a version that is gone")
    assert old.stop() == CANNOT_RUN
    old.start()
    assert "other" in refused(old, "other")


@pytest.mark.slow(19)
def test_who_stood_aside_answers_again_when_the_new_one_goes_before_it_had_the_registry(postgres, database, versions):
    (first, second), (new, _) = versions
    for server in (first, second):
        server.start()
    grant(first, "name")
    # One of the old ones stands still, so the new one waits.
    postgres.sql(database, "INSERT INTO truce.replicas SELECT 'of another machine', word, announced - interval '1 s', epoch, "
                           "clock_timestamp() + interval '1 h' FROM truce.replicas LIMIT 1")
    new.start(wait_until_ready=False)
    for server in (first, second):
        wait_until_aside(server)
        assert review(server, "name", "other")[0] == 503
    assert "is active on the registry's database" in readiness(new)
    new.kill()
    for server in (first, second):
        server.wait_until_ready(WAIT_SECONDS)
        assert "name" in refused(server, "name")


def test_who_crashes_after_it_had_the_registry_leaves_it_to_the_former_ones(postgres, database, versions, record_property):
    former, (new, _) = versions
    for server in former:
        server.start()
    grant(former[0], "name")
    before = spaces(postgres, database)
    new.start()
    grant(new, "other")
    new.kill()
    killed = time.monotonic()
    for server in former:
        # An orchestrator starts it again.
        wait_for(lambda: not server.running, WAIT_SECONDS, "the end of who made the former keys")
        assert server.stop() == CANNOT_RUN
        server.start(wait_until_ready=False)
    for server in former:
        server.wait_until_ready(WAIT_SECONDS)
    record_property("seconds_unknown", round(time.monotonic() - killed, 1))
    print(f"answered again {time.monotonic() - killed:.1f} s after the crash")
    for server in former:
        assert "name" in refused(server, "name") and "other" in refused(server, "other")
    assert spaces(postgres, database) == before


def test_who_stood_still_while_a_backup_of_before_it_was_restored_writes_nothing(postgres, database, servers, tmp_path):
    """The lease of the restored database begins again where it was: a later one must not be taken for the one of then."""
    types = []
    for number in range(3):
        types.append(tmp_path / f"types-{number}.tsv")
        types[-1].write_text(f"type\tspace\ns3/Bucket\ts3/Bucket{number}\n")
    first, second, still, third = (servers(store=postgres.url(database), types=str(types[number])) for number in (0, 1, 1, 2))
    first.start()
    grant(first, "name")
    assert first.stop() == 0
    backup = postgres.dump(database)
    second.start()
    still.start()
    assert "name" in refused(still, "name")
    assert second.stop() == 0
    still.signal(signal.SIGSTOP)
    try:
        postgres.sql("postgres", f"DROP DATABASE {database} WITH (FORCE)")
        postgres.make_database(database)
        postgres.sql(database, backup)
        third.start()
        assert "name" in refused(third, "name")
        grant(third, "other")
    finally:
        still.signal(signal.SIGCONT)
    # What it calls free by its own keys is not.
    for name in ("name", "other"):
        assert review(still, name, "again")[0] == 503
    wait_for(lambda: not still.running, WAIT_SECONDS, "the end of who stood still")
    assert still.stop() == CANNOT_RUN
    assert spaces(postgres, database) == {"s3/Bucket2"}
    assert postgres.sql(database, "SELECT name FROM truce.owners GROUP BY name HAVING count(*) > 1") == ""
