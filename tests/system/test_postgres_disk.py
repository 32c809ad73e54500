"""The disk of the registry's PostgreSQL server is really full, and has room again."""

import itertools

import pytest

from support.buckets import grant, refused, review
from support.objects import bucket_review
from support.postgres import Postgres
from support.processes import wait_for
from support.truce_process import TruceProcess

WAIT_SECONDS = 45
DISK_MEGABYTES = 24
GRANTS_MAX = 3000  # the pages that it has are full before


@pytest.fixture
def crowded():
    server = Postgres(small_megabytes=DISK_MEGABYTES)
    yield server
    server.remove()


def test_a_full_disk_makes_grants_unknown_and_nothing_else_until_there_is_room(crowded, tmp_path):
    url = crowded.make_database("truce", "small")
    with TruceProcess(tmp_path, config={"store": url, "storeDurability": "single", "logFormat": "json"}) as server:
        grant(server, "first")
        crowded.fill_small_disk()
        numbers = itertools.count()
        allowed = []
        status = 200
        with server.reviewer() as reviewer:
            while status == 200 and len(allowed) < GRANTS_MAX:
                name = f"bucket-{next(numbers)}"
                asked = bucket_review(name)
                asked["request"]["userInfo"]["username"] = f"user-{len(allowed) // 50}"  # each may reserve so many
                status, response = reviewer.review(asked)
                if status == 200:
                    assert response["allowed"], response
                    allowed.append(name)
        assert status == 503, "neither allowed nor denied"
        assert "No space left on device" in crowded.logs()
        assert "first" in refused(server, "first"), "what is taken is known"
        assert all(server.state(name) == "reserved" for name in allowed[-3:])
        assert server.running and server.metric("truce_server_active") == 1
        assert review(server, "refused-while-full")[0] == 503
        crowded.free_small_disk()
        wait_for(lambda: review(server, "after")[0] == 200, WAIT_SECONDS, "an answer once there is room")
        grant(server, "refused-while-full")
        there = set(crowded.sql("truce", "SELECT name FROM truce.owners").splitlines())
        assert there == {"first", "after", "refused-while-full", *allowed}, "nothing was half written"
