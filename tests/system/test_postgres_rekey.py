"""A registry of thousands in PostgreSQL comes to a version that makes other keys: in parts, in a time in proportion to
its size, and whoever comes next after an end in the middle does what is left."""

import os
import time

import pytest

from support.buckets import grant, refused, review
from support.many_buckets import fill

# More by REKEYED=100000, for a figure.
OWNERSHIPS = int(os.environ.get("REKEYED", "4000"))
PART = 1000
START_SECONDS = 20
SECONDS_PER_THOUSAND = 2  # 0.3 where nothing else runs
OTHER_KEYS = "type\tspace\ns3/Bucket\ts3/Bucketry\n"
NAMES_OF_ACCOUNTS = "type\tscope\ns3/Bucket\taccount\n"
IN_THE_MIDDLE = "SELECT count(*) = 1 FROM pg_stat_activity WHERE wait_event = 'PgSleep'"


@pytest.fixture
def versions(postgres, database, servers, tmp_path):
    """A server of each version; the registry is the former one's."""
    types = tmp_path / "types.tsv"
    types.write_text(OTHER_KEYS)
    old = servers(store=postgres.url(database))
    new = servers(store=postgres.url(database), types=str(types))
    old.start()
    grant(old, "name")
    fill(postgres, database, OWNERSHIPS)
    return old, new


def spaces(postgres, database) -> dict[str, int]:
    """How many keys begin with which word."""
    counts = postgres.sql(database, "SELECT split_part(key, '|', 1), count(*) FROM truce.resources GROUP BY 1")
    return {space: int(count) for space, count in (line.split("|") for line in counts.splitlines())}


def test_time_and_memory_are_in_proportion_and_other_versions_stand_aside_meanwhile(postgres, database, versions,
                                                                                   record_property):
    old, new = versions
    before = time.monotonic()
    new.start(wait_until_ready=False)
    new.wait_until_ready(START_SECONDS + SECONDS_PER_THOUSAND * OWNERSHIPS / 1000)
    seconds = time.monotonic() - before
    status = open(f"/proc/{new.pid}/status").read().splitlines()
    peak = next(int(line.split()[1]) for line in status if line.startswith("VmHWM:")) / 1024
    record_property("seconds", round(seconds, 1))
    record_property("peak_mib", round(peak))
    print(f"{OWNERSHIPS} ownerships: ready after {seconds:.1f} s, at most {peak:.0f} MiB")
    assert spaces(postgres, database) == {"s3/Bucketry": OWNERSHIPS + 1}
    assert review(old, "n1", "other")[0] == 503
    for name in ("name", "n1", f"n{OWNERSHIPS}"):
        assert name in refused(new, name)


@pytest.mark.parametrize("next_one", ["the same", pytest.param("the former", marks=pytest.mark.rotating(17))])
def test_who_comes_after_an_end_in_the_middle_leaves_every_key_its_own(postgres, database, versions, next_one):
    old, new = versions
    assert old.stop() == 0
    everything = ("SELECT count(*), count(DISTINCT r.public_id), count(DISTINCT o.name) FROM truce.owners o "
                  "JOIN truce.resources r ON r.id = o.resource")
    before = postgres.sql(database, everything)
    # It sleeps in the third part.
    postgres.sql(database, """
        CREATE FUNCTION truce.sleep() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
          IF (SELECT count(*) FROM truce.resources WHERE key LIKE 's3/Bucketry|%') > 2000 THEN
            PERFORM pg_sleep(600);
          END IF;
          RETURN NEW;
        END $$;
        CREATE TRIGGER sleeps BEFORE INSERT ON truce.audit FOR EACH ROW EXECUTE FUNCTION truce.sleep()""")
    new.start(wait_until_ready=False)
    postgres.wait_for_sql(database, IN_THE_MIDDLE, START_SECONDS, "the middle")
    assert set(spaces(postgres, database)) == {"s3/Bucket", "s3/Bucketry"}
    assert review(new, "n1", "other")[0] == 503
    new.kill()
    postgres.sql(database, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'PgSleep'")
    postgres.sql(database, "DROP TRIGGER sleeps ON truce.audit")
    follower, space = (new, "s3/Bucketry") if next_one == "the same" else (old, "s3/Bucket")
    # The lease of who was killed runs out first.
    follower.start(wait_until_ready=False)
    follower.wait_until_ready(2 * START_SECONDS + SECONDS_PER_THOUSAND * OWNERSHIPS / 1000)
    assert spaces(postgres, database) == {space: OWNERSHIPS + 1}
    assert postgres.sql(database, everything) == before
    for name in ("name", "n1", f"n{OWNERSHIPS}"):
        assert name in refused(follower, name)


@pytest.mark.parametrize("store", ["postgres", "sqlite"])
def test_what_was_recorded_without_an_account_keeps_its_name_where_names_get_accounts(postgres, database, servers,
                                                                                    tmp_path, store):
    types = tmp_path / "types.tsv"
    types.write_text(NAMES_OF_ACCOUNTS)
    kept = {"store": postgres.url(database), "storeDurability": "single"} if store == "postgres" else {}
    server = servers()
    server.write_config(kept)
    server.start()
    grant(server, "name")
    assert server.stop() == 0
    server.write_config({**kept, "types": str(types)})
    server.start()
    assert "name" in refused(server, "name")
    grant(server, "another")
    assert "another" in refused(server, "another")
