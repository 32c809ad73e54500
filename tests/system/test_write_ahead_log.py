"""A server was killed, and its registry's write-ahead log is not as it left it: the next one says so and only warns."""

import json
import subprocess

import pytest

from support.buckets import grant, refused
from support.truce_process import TruceProcess

GRANTS = 6
HEADER_BYTES = 32
FRAME_BYTES = 24 + 4096


def frames_of(log) -> int:
    return (log.stat().st_size - HEADER_BYTES) // FRAME_BYTES


def lose_frame(log, number: int) -> None:
    with open(log, "r+b") as file:
        file.seek(HEADER_BYTES + number * FRAME_BYTES)
        file.write(bytes(FRAME_BYTES))


def forget_index(log) -> None:
    """As a power cut does, or a copy of the files."""
    log.with_name("truce.db-shm").unlink()


def cut_hole(log):
    lose_frame(log, frames_of(log) // 2)


def cut_hole_without_index(log):
    cut_hole(log)
    forget_index(log)


def lose_the_last_change(log):
    lose_frame(log, frames_of(log) - 1)


def empty(log):
    log.write_bytes(b"")
    forget_index(log)


def remove(log):
    log.unlink()
    forget_index(log)


WAYS = [cut_hole, cut_hole_without_index, lose_the_last_change, empty, remove]


def granted_and_killed(server) -> None:
    for number in range(GRANTS):
        grant(server, f"bucket-{number}")
    server.kill()


def losses(server) -> list[str]:
    """As its log tells them; what it has told is taken out."""
    lines = [json.loads(line) for line in server.log.read_text().splitlines() if line[:1] == "{"]
    server.log.write_text("")
    return [line["message"] for line in lines if line["event"] == "changes are gone"]


@pytest.fixture
def server(tmp_path, scripted_api):
    """Of a cluster; not started yet."""
    process = TruceProcess(tmp_path, config={"logFormat": "json"}, kubeconfig=scripted_api)
    yield process
    process.stop()


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_a_log_that_lost_acknowledged_changes_is_told_and_only_warned_upon(server, way):
    server.start()
    assert server.stop() == 0
    server.start()
    granted_and_killed(server)
    assert losses(server) == []
    way(server.data / "truce.db-wal")
    server.start()
    told = losses(server)
    assert any(f"write-ahead log {server.data}/truce.db-wal" in text for text in told), told
    assert server.metric("truce_recovery_mode") == 1
    assert "write-ahead log" in server.command("recovery").stdout
    assert "refusals: recovery mode" in server.metrics_get("/readyz?verbose")[1]
    assert "[warn] refusals: recovery mode" in server.command("doctor").stdout
    # It is told once; recovery mode lasts until somebody ends it.
    assert server.stop() == 0
    server.start()
    assert losses(server) == []
    assert server.metric("truce_recovery_mode") == 1


@pytest.mark.parametrize("way", [cut_hole, remove], ids=lambda way: way.__name__)
def test_without_a_cluster_it_is_told(truce, way):
    truce.start()
    granted_and_killed(truce)
    way(truce.data / "truce.db-wal")
    truce.start()
    assert any("write-ahead log" in text and "without a cluster" in text for text in losses(truce))


def test_a_copy_of_such_a_registry_is_made_with_a_warning(truce, tmp_path):
    truce.start()
    granted_and_killed(truce)
    whole = truce.command("backup", str(tmp_path / "whole.db"))
    assert whole.returncode == 0 and "write-ahead log" not in whole.stderr, whole
    cut_hole(truce.data / "truce.db-wal")
    lacking = truce.command("backup", str(tmp_path / "lacking.db"))
    assert lacking.returncode == 0 and "write-ahead log" in lacking.stderr, lacking
    truce.start()
    assert losses(truce) != []


def read_by_sqlite(server, tmp_path):
    del tmp_path
    subprocess.run(["python3", "-c",
                    "import sqlite3, sys; sqlite3.connect(f'file:{sys.argv[1]}?mode=ro', uri=True).execute("
                    "'SELECT count(*) FROM resources').fetchone()", str(server.data / "truce.db")], check=True)


def copied(server, tmp_path):
    assert server.command("backup", str(tmp_path / "copy.db")).returncode == 0


def restored(server, tmp_path):
    copied(server, tmp_path)
    done = server.command("restore", str(tmp_path / "copy.db"))
    assert done.returncode == 0, done.stderr


def ended(server, tmp_path):
    del tmp_path
    server.start()
    assert server.stop() == 0
    assert not (server.data / "truce.db-wal").exists()


def killed_again(server, tmp_path):
    del tmp_path
    server.start()
    server.kill()


def without_mark(server, tmp_path):
    """As a version left it that made none."""
    del tmp_path
    (server.data / "log.mark").unlink()


@pytest.mark.parametrize("then", [read_by_sqlite, copied, restored, ended, killed_again, without_mark],
                         ids=lambda then: then.__name__)
def test_whoever_lost_nothing_is_told_nothing(server, tmp_path, then):
    server.start()
    assert losses(server) == []
    granted_and_killed(server)
    then(server, tmp_path)
    server.start()
    assert losses(server) == []
    assert server.metric("truce_recovery_mode") == 0
    assert "bucket-0" in refused(server, "bucket-0")
