"""The volume of the registry is really full: who runs denies on, who is started again does too."""

import itertools
import subprocess

import pytest

from support.buckets import grant, refused, review
from support.objects import bucket_review
from support.processes import wait_for
from support.truce_process import TruceProcess

MEGABYTES = 48
GRANTS_MAX = 5000
WAIT_SECONDS = 30


class SmallDisk:
    """A file system of its own below `path`."""

    def __init__(self, path):
        path.mkdir()
        self.path = path
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={MEGABYTES}m", "small", str(path)], check=True)

    def fill(self) -> None:
        """To the last page."""
        with open(self.path / "ballast", "ab", buffering=0) as ballast:
            for size in (1 << 20, 4096):
                while True:
                    try:
                        ballast.write(b"x" * size)
                    except OSError:
                        break

    def empty(self) -> None:
        (self.path / "ballast").unlink()

    def remove(self) -> None:
        subprocess.run(["umount", "--lazy", str(self.path)], check=True)


@pytest.fixture
def disk(tmp_path):
    small = SmallDisk(tmp_path / "data")
    yield small
    small.remove()


@pytest.fixture
def truce(tmp_path, disk):
    process = TruceProcess(tmp_path)
    yield process
    process.stop()


def grant_until_full(server, names) -> None:
    with server.reviewer() as reviewer:
        for name in itertools.islice(names, GRANTS_MAX):
            asked = bucket_review(name)
            asked["request"]["userInfo"]["username"] = f"user-{name}"  # each may reserve so many
            status, response = reviewer.review(asked)
            if status == 503:
                return
            assert status == 200 and response["allowed"], response
    raise AssertionError("the disk does not get full")


def test_a_server_that_is_started_on_a_full_disk_refuses_what_is_taken(truce, disk):
    names = (f"bucket-{number}" for number in itertools.count())
    truce.start()
    grant(truce, "first")
    disk.fill()
    grant_until_full(truce, names)
    assert "first" in refused(truce, "first")
    for end in (truce.kill, truce.stop, truce.kill):
        end()
        disk.fill()
        truce.start()
        assert "first" in refused(truce, "first"), "it needs no write"
        grant_until_full(truce, names)
        told = wait_for(lambda: (lambda text: text if "make room" in text else None)(
            truce.metrics_get("/readyz")[1]), WAIT_SECONDS, "what it needs")
        assert "the volume of the data directory" in told, told
    assert "make room" in truce.command("doctor").stdout
    disk.empty()
    wait_for(lambda: review(truce, "after")[0] == 200, WAIT_SECONDS, "a grant once there is room")
    wait_for(lambda: "make room" not in truce.metrics_get("/readyz")[1], WAIT_SECONDS, "nothing is needed")


def test_without_a_reserve_it_waits_for_room_and_says_so(truce, disk):
    truce.start()
    grant(truce, "first")
    truce.kill()
    (disk.path / "reserve").unlink(missing_ok=True)
    for name in ("truce.db-shm", "truce.sock"):
        (disk.path / name).unlink(missing_ok=True)
    disk.fill()
    truce.start(wait_until_ready=False)
    told = wait_for(lambda: (lambda text: text if "make room" in text else None)(
        truce.metrics_get("/readyz")[1]), WAIT_SECONDS, "what it needs")
    assert told.startswith("[-] store: "), told
    assert truce.running and "whoever" not in truce.log.read_text()
    disk.empty()
    truce.wait_until_ready()
    assert "first" in refused(truce, "first")
