"""`truce serve` as a process: listeners, files, failures at start, reload, end."""

import contextlib
import json
import re
import signal
import socket
import sqlite3
import stat
import subprocess
import threading
import time

import pytest

from support.objects import bucket_review
from support.shifted_clock import ShiftedClock
from support.truce_process import BINARY, Reviewer, TruceProcess

OK, USAGE, CANNOT_RUN = 0, 2, 5


def wait_for(condition, seconds: float = 15.0):
    """Polls until `condition()` is true; the last value."""
    end = time.monotonic() + seconds
    while not (value := condition()) and time.monotonic() < end:
        threading.Event().wait(0.05)
    return value


def log_lines(truce) -> list[dict]:
    """The whole ones: the server writes them a moment after what they tell."""
    lines = truce.log.read_text().splitlines(keepends=True)
    return [json.loads(line) for line in lines if line.startswith("{") and line.endswith("\n")]


def events(truce, event: str) -> list[dict]:
    return [line for line in log_lines(truce) if line["event"] == event]


def serve(cli, *args):
    return cli("serve", "--no-cluster", "--admission-address", "127.0.0.1:0", "--api-address",
               "127.0.0.1:0", "--metrics-address", "127.0.0.1:0", "--probes-address",
               "127.0.0.1:0", *args)


def test_health_metrics_and_files(truce):
    truce.start()
    assert truce.metrics_get("/livez") == (200, "ok\n")
    status, report = truce.metrics_get("/readyz")
    assert status == 200 and "[+] store: ok" in report
    status, metrics = truce.metrics_get("/metrics")
    assert status == 200
    assert re.search(r'^truce_build_info\{version="[0-9.]+"\} 1$', metrics, re.M)
    assert 'truce_admission_reviews_total{operation="CREATE",verdict="denied"} 0' in metrics
    addresses = json.loads((truce.data / "addresses.json").read_text())
    assert set(addresses) == {"admission", "api", "metrics", "probes"}
    assert all(re.fullmatch(r"127\.0\.0\.1:[1-9][0-9]*", a) for a in addresses.values())
    secret = truce.data / "admission.secret"
    assert re.fullmatch(r"[0-9a-f]{32}\s*", secret.read_text())
    for name in ("admission.secret", "truce.sock"):
        assert stat.S_IMODE((truce.data / name).stat().st_mode) == 0o600, name
    assert stat.S_IMODE(truce.data.stat().st_mode) == 0o700
    assert truce.ca_file.exists()
    assert wait_for(lambda: len(events(truce, "listening")) == 5)
    listening = {line["listener"]: line["address"] for line in events(truce, "listening")}
    assert listening["admission"] == f"https://{addresses['admission']}/validate"
    assert set(listening) == {"admission", "api", "metrics", "probes", "operator"}


@pytest.mark.slow(25)
def test_no_clock_replaces_the_authority(tmp_path):
    """A caller that was given the first one verifies every leaf that follows it, once the clock is right again."""
    clock = ShiftedClock(tmp_path)
    day = 24 * 3600
    with TruceProcess(tmp_path, config={"logFormat": "json"}, env=clock.env) as truce:
        authority = truce.ca_file.read_bytes()
        (given := tmp_path / "given.crt").write_bytes(authority)

        def is_served() -> bool:
            with contextlib.suppress(OSError), Reviewer(truce.admission_address, given) as caller:
                return caller.review(bucket_review("artifacts"))[0] == 200
            return False

        leaf = truce.data / "certs/tls.crt"
        for ahead in (-3 * day, 20 * 365 * day):
            before = leaf.read_bytes()
            clock.advance(ahead)
            assert wait_for(lambda: leaf.read_bytes() != before), ahead  # noqa: B023
            assert truce.ca_file.read_bytes() == authority
            clock.advance(-ahead)
            assert wait_for(is_served), ahead
        assert truce.ca_file.read_bytes() == authority
        assert not events(truce, "authority replaced")


def test_clean_end_on_sigterm_and_sigint(tmp_path):
    for number in (signal.SIGTERM, signal.SIGINT):
        directory = tmp_path / number.name
        directory.mkdir()
        truce = TruceProcess(directory, config={"logFormat": "json", "drainGrace": "0s"}).start()
        truce.signal(number)
        assert wait_for(lambda: not truce.running)
        assert truce._child.exit_code == OK
        assert not (truce.data / "addresses.json").exists()
        assert events(truce, "stopped")[0]["all_answered"] is True


def test_drain_accepts_until_the_grace_ends_and_closes_connections(truce):
    truce.write_config({"logFormat": "json", "drainGrace": "3s"})
    truce.start()
    truce.signal(signal.SIGTERM)
    assert wait_for(lambda: truce.metrics_get("/readyz")[0] == 503)
    assert "[-] drain" in truce.metrics_get("/readyz")[1]
    with truce.reviewer() as reviewer:
        status, _ = reviewer.post(b"{}")  # Still answered: no review, hence 400.
        assert status == 400
        assert reviewer._connection.sock is None  # The reply closed the connection.
    assert wait_for(lambda: not truce.running)
    assert truce._child.exit_code == OK


ADDRESSES = ("admission-address", "api-address", "metrics-address", "probes-address")


@pytest.mark.parametrize("setting", ADDRESSES)
def test_port_in_use(cli, setting):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        result = cli("serve", "--no-cluster", "--data-dir", "data",
                     *[text for other in ADDRESSES
                       for text in (f"--{other}", f"127.0.0.1:{port if other == setting else 0}")])
    assert result.returncode == CANNOT_RUN
    last = result.stderr.splitlines()[-1]
    assert last.startswith("truce: ") and f"127.0.0.1:{port}" in last
    assert "in use" in last


def test_data_directory_that_cannot_be_used(cli):
    cli.file("file", "")
    for directory in ("file", "file/below", "/proc/truce"):
        result = serve(cli, "--data-dir", directory)
        assert result.returncode == CANNOT_RUN, directory
        assert f"data directory '{directory}' cannot be used: " in result.stderr
        assert len(result.stderr.splitlines()) == 1


def test_second_server_in_one_data_directory(truce, cli):
    truce.start()
    before = (truce.data / "addresses.json").read_text()
    result = serve(cli, "--data-dir", str(truce.data))
    assert result.returncode == CANNOT_RUN
    assert "is in use by another truce serve" in result.stderr
    assert (truce.data / "addresses.json").read_text() == before
    assert truce.metrics_get("/readyz")[0] == 200


@pytest.mark.parametrize("content, word", [("", "cert"), ("not a certificate", "cert")])
def test_bad_certificate_files(cli, content, word):
    pair = (cli.file("tls.crt", content), cli.file("tls.key", content))
    result = serve(cli, "--data-dir", "data", "--tls-cert-file", pair[0], "--tls-key-file", pair[1])
    assert result.returncode == CANNOT_RUN
    assert word in result.stderr.lower()
    assert len(result.stderr.splitlines()) == 1


def test_missing_certificate_files(cli):
    result = serve(cli, "--data-dir", "data", "--tls-cert-file", "tls.crt", "--tls-key-file", "tls.key")
    assert result.returncode == CANNOT_RUN
    assert "tls.crt" in result.stderr
    assert len(result.stderr.splitlines()) == 1


def of_another_program(database):
    database.unlink()
    with contextlib.closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("CREATE TABLE recipes (name TEXT)")


def newer(database):
    with contextlib.closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("PRAGMA user_version = 9999")


def of_a_development_version(database):
    with contextlib.closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("UPDATE migrations SET checksum = 'edited'")


def damaged(database):
    content = bytearray(database.read_bytes())
    for at in range(4096, len(content), 3):
        content[at] ^= 0x5A
    database.write_bytes(content)


def no_file(database):
    database.unlink()
    database.mkdir()


@pytest.mark.parametrize(
    "spoil, words",
    [
        (of_another_program, "of another program"),
        (newer, "run the newer Truce that wrote it"),
        (of_a_development_version, "start with an empty data directory"),
        (damaged, "is damaged"),
        (no_file, "truce.db"),
    ],
)
def test_database_that_cannot_be_opened(truce, cli, spoil, words):
    truce.start()
    assert truce.stop() == 0
    spoil(truce.data / "truce.db")
    result = serve(cli, "--data-dir", str(truce.data))
    assert result.returncode == CANNOT_RUN
    complaints = [line for line in result.stderr.splitlines() if line.startswith("truce: ")]
    assert len(complaints) == 1
    assert words in complaints[0] and "truce.db" in complaints[0]


def test_secret_file_with_other_content_is_refused(cli):
    result = serve(cli, "--data-dir", "data", "--admission-secret-file", cli.file("s", "short"))
    assert result.returncode == USAGE
    assert len(result.stderr.splitlines()) == 1
    assert "short" not in result.stderr.split("s: ", 1)[-1]
    assert "admissionSecretFile" in result.stderr


@pytest.mark.parametrize("path", ["admission.secert", "no-such-folder/admission.secret"])
def test_a_secret_file_that_is_named_is_not_made(cli, path):
    result = serve(cli, "--data-dir", "data", "--admission-secret-file", path)
    assert result.returncode == USAGE
    [line] = result.stderr.splitlines()
    assert "admissionSecretFile" in line and f'"{path}"' in line and "openssl rand -hex 16" in line
    assert not (cli.directory / path).exists()


def test_reload_takes_good_files_and_keeps_the_last_good_one(truce):
    truce.start()
    truce.write_config({"logFormat": "json", "mode": "strict"})
    refused = wait_for(lambda: events(truce, "configuration refused"))
    assert "mode: 'strict' is not allowed" in refused[0]["message"]
    assert truce.metrics_get("/readyz")[0] == 200
    truce.write_config({"logFormat": "json", "mode": "audit", "inFlightMax": 7})
    restart = wait_for(lambda: events(truce, "setting needs a restart"))
    assert [line["key"] for line in restart] == ["inFlightMax"]
    assert events(truce, "configuration loaded")
    assert len(events(truce, "configuration refused")) == 1


def test_a_refused_reload_shows_everywhere_until_it_is_mended(truce):
    metric = 'truce_refused_changes{part="configuration"}'
    good = {"logFormat": "json", "mode": "audit"}
    truce.write_config(good)
    truce.start()
    assert truce.metric(metric) == 0
    assert truce.metric("truce_volume_size_bytes") > truce.metric("truce_volume_available_bytes") > 0
    bucket = {"type": "s3/Buckett", "parts": {"name": "spec.name"}}
    truce.write_config(good | {"mappings": [{"group": "a.example.org", "kind": "A", "declares": [bucket]}]})
    [refused] = wait_for(lambda: events(truce, "configuration refused"))
    assert "no type 's3/Buckett'" in refused["message"]
    assert refused["message"].count("truce.yaml") == 1
    assert wait_for(lambda: truce.metric(metric) == 1)
    told = truce.command("doctor")
    assert told.returncode == 1 and "[FAIL] configuration: " in told.stdout, told.stdout
    assert refused["message"] in told.stdout
    truce.write_config(good)
    assert wait_for(lambda: truce.metric(metric) == 0)
    assert "[ok]   configuration: " in truce.command("doctor").stdout


def test_a_registry_that_was_lost_is_told_and_begun_anew(truce):
    """Without a cluster nobody knows what it had: the server says so at its start, and goes on."""
    truce.start()
    with truce.reviewer() as reviewer:
        assert reviewer.review(bucket_review("lost"))[1]["allowed"]
    truce.stop()
    truce.start()  # which remembers the newest line of the audit log
    truce.stop()
    for file in truce.data.glob("truce.db*"):
        file.unlink()
    truce.start()
    [told] = wait_for(lambda: events(truce, "changes are gone"))
    assert "truce restore" in told["message"]
    # Two rounds of the loop that looks for what is gone.
    for mode in ("warn", "audit"):
        loaded = len(events(truce, "configuration loaded"))
        truce.write_config({"logFormat": "json", "mode": mode})
        assert wait_for(lambda: len(events(truce, "configuration loaded")) > loaded or not truce.running)
    assert truce.running and truce.metrics_get("/readyz")[0] == 200
    assert len(events(truce, "changes are gone")) == 1


def test_one_line_per_decision_and_no_bodies(truce):
    truce.start()
    secret_text = "do-not-log-this-text"
    review = {
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "request": {
            "uid": "11111111-2222-3333-4444-555555555555",
            "kind": {"group": "s3.aws.upbound.io", "version": "v1beta1", "kind": "Bucket"},
            "resource": {"group": "s3.aws.upbound.io", "version": "v1beta1", "resource": "buckets"},
            "name": "logged",
            "operation": "CREATE",
            "userInfo": {"username": "alice\nforged"},
            "object": {
                "apiVersion": "s3.aws.upbound.io/v1beta1",
                "kind": "Bucket",
                "metadata": {"name": "logged", "uid": "u-1", "annotations": {"note": secret_text}},
                "spec": {"forProvider": {"region": "eu-central-1"}},
            },
            "oldObject": None,
            "dryRun": False,
        },
    }
    with truce.reviewer() as reviewer:
        status, response = reviewer.review(review)
    assert status == 200 and response["allowed"] is True
    lines = wait_for(lambda: events(truce, "decision"))
    assert len(lines) == 1
    assert lines[0]["uid"] == review["request"]["uid"]
    assert lines[0]["verdict"] == "allowed"
    assert lines[0]["operation"] == "CREATE"
    assert lines[0]["kind"] == "s3.aws.upbound.io/Bucket"
    assert lines[0]["user"] == "alice\nforged"
    assert "name=logged" in lines[0]["keys"]
    assert secret_text not in truce.log.read_text()
    assert truce.metric('truce_admission_reviews_total{operation="CREATE",verdict="allowed"}') == 1


def test_a_reader_that_goes_away_is_no_crash():
    """`truce types | head -1`: the reader goes away first."""
    types = subprocess.Popen([str(BINARY), "types"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert types.stdout.readline()
    types.stdout.close()
    # All of it may have been written before.
    assert types.wait(20) in (0, 5)
    assert types.stderr.read() == b""
    types.stderr.close()


def test_confirm_and_release_through_the_operator_socket(truce):
    truce.start()
    with truce.reviewer() as reviewer:
        review = bucket_review("socket-bucket")
        assert reviewer.review(review)[1]["allowed"] is True
    confirmed = truce.command("confirm", "Bucket.s3.aws.upbound.io", "socket-bucket")
    assert (confirmed.returncode, confirmed.stdout) == (0, "confirmed 1\n"), confirmed.stderr
    nothing = truce.command("confirm", "Bucket.s3.aws.upbound.io", "other")
    assert nothing.returncode == 1
    assert nothing.stderr.startswith("truce: ")
    released = truce.command("release", "s3/Bucket", "socket-bucket", "--reason", "test")
    assert released.returncode == 0, released.stderr
    assert released.stdout.startswith("released s3/Bucket socket-bucket, was held by ")
    again = truce.command("release", "s3/Bucket", "socket-bucket", "--reason", "test")
    assert again.returncode == 1
