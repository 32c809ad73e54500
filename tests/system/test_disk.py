"""A disk that fails under the registry: the server ends, and the next one has everything."""

import json
import time
from contextlib import suppress
from http.client import HTTPException

import pytest

from support.failing_sync import FailingSync
from support.objects import bucket_review
from support.processes import wait_for
from support.truce_process import TruceProcess

DISK_FAILED = 6
SECONDS_MAX = 30
METRIC = "truce_disk_failure_timestamp_seconds"


@pytest.fixture
def disk(tmp_path):
    return FailingSync(tmp_path)


@pytest.fixture
def truce(tmp_path, disk):
    process = TruceProcess(tmp_path, config={"logFormat": "json"}, env=disk.env)
    yield process
    process.stop()


def test_a_failed_sync_ends_the_server_and_the_next_one_has_every_grant(truce, disk):
    truce.start()
    assert truce.metric(METRIC) == 0
    assert "[ok]   disk: " in truce.command("doctor").stdout
    begin = int(time.time())
    disk.begin()
    granted = []
    with truce.reviewer() as reviewer, suppress(OSError, HTTPException):
        for number in range(1000):  # until the log is moved into the database
            status, response = reviewer.review(bucket_review(f"bucket-{number}"))
            if status != 200:
                break
            assert response["allowed"], response
            granted.append(f"bucket-{number}")
    assert 0 < len(granted) < 1000
    wait_for(lambda: not truce.running, SECONDS_MAX, "the end of the server")
    assert truce.stop() == DISK_FAILED
    lines = [json.loads(line) for line in truce.log.read_text().splitlines() if line[:1] == "{"]
    [failed] = [line for line in lines if line["event"] == "disk failed"]
    assert "truce.db" in failed["message"] and "starts again" in failed["message"]
    disk.end()
    truce.start()
    assert all(truce.state(name) == "reserved" for name in granted)
    assert begin <= truce.metric(METRIC) <= time.time()
    assert "[warn] disk: a sync of the registry failed at 20" in truce.command("doctor").stdout
