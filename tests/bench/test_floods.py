"""What floods cost everybody else. Alone: `cd tests && ../build/venv/bin/python -m pytest
bench/test_floods.py -s`; TRUCE_BENCH_QUICK=1 makes it short. The method stands in DESIGN.md."""

from __future__ import annotations

import http.client
import json
import os
import time
from pathlib import Path

import pytest

from bench import report
from support.pace import pause_until
from support.processes import Beside
from support.truce_process import TruceProcess

QUICK = bool(os.environ.get("TRUCE_BENCH_QUICK"))
SECONDS = 5 if QUICK else 20
MEBIBYTE = 1024 * 1024

# As in report.py: name: (path in the figures, bound, the bound is a minimum).
GATES = {
    "failed-probes": (("probes", "failed"), 0, False),
    "kept-calls-that-failed": (("connects", "kept", "failed"), 0, False),
    "new-calls-under-100-ms": (("connects", "new", "under_100_ms"), 0.99, True),
    "p99-beside-slow-senders-ms": (("slow", "kept", "p99_ms"), 50, False),
    "failed-beside-slow-senders": (("slow", "kept", "failed"), 0, False),
    "peak-of-large-bodies-mib": (("large", "all", "peak_mib"), 256, False),
    "peak-of-the-worst-shape-mib": (("large", "texts", "peak_mib"), 256, False),
    "p99-beside-large-bodies-ms": (("large", "all", "kept", "p99_ms"), 50, False),
    "failed-beside-large-bodies": (("large", "all", "kept", "failed"), 0, False),
}


def pulse(truce: TruceProcess, source: str, rate: int, seconds: float, way: str) -> Beside:
    return Beside("support.pulse", truce.admission_address, truce.ca_file, source, rate, seconds, way)


def probes(truce: TruceProcess) -> dict:
    address = json.loads((truce.data / "addresses.json").read_text())["probes"]
    statuses = []
    with Beside("support.connections", address, "127.0.0.1", 72, 1000, SECONDS + 5, "G"):
        begin = time.monotonic()
        for number in range(2 * SECONDS + 9):
            pause_until(begin + number / 2)
            connection = http.client.HTTPConnection(address, timeout=5)
            try:
                connection.request("GET", "/livez" if number % 2 else "/readyz")
                statuses.append(connection.getresponse().status)
            except OSError:
                statuses.append(0)
            finally:
                connection.close()
    return {"asked": len(statuses), "failed": sum(status != 200 for status in statuses)}


def connects(truce: TruceProcess) -> dict:
    with Beside("support.connections", truce.admission_address, "127.0.0.2", 1600 * SECONDS, 1600,
                SECONDS) as flood, \
            pulse(truce, "127.0.0.1", 50, SECONDS, "kept") as kept, \
            pulse(truce, "127.0.0.3", 10, SECONDS, "new") as new:
        return {"made": int(flood.result()), "kept": json.loads(kept.result()),
                "new": json.loads(new.result())}


def slow_senders(truce: TruceProcess) -> dict:
    """1,000 connections from two addresses that send one byte; who has to go is replaced."""
    with Beside("support.connections", truce.admission_address, "127.0.0.2", 100 * SECONDS, 100,
                SECONDS, "\x16"), \
            Beside("support.connections", truce.admission_address, "127.0.0.3", 100 * SECONDS, 100,
                   SECONDS, "\x16"), \
            pulse(truce, "127.0.0.1", 50, SECONDS, "kept") as kept:
        most = 0.0
        while kept.running:
            most = max(most, truce.metric('truce_http_connections{listener="admission"}'))
            pause_until(time.monotonic() + 0.2)
        return {"connections": most, "kept": json.loads(kept.result())}


def large(folder: Path, shape: str) -> dict:
    with TruceProcess(folder) as truce, \
            Beside("support.large_reviews", truce.admission_address, truce.ca_file, 20, 3, 2_900_000,
                   shape) as flood, \
            pulse(truce, "127.0.0.1", 50, 6, "kept") as kept:
        found = {"answered": json.loads(flood.result()), "kept": json.loads(kept.result())}
        status = Path(f"/proc/{truce.pid}/status").read_text()
        peak = next(line for line in status.splitlines() if line.startswith("VmHWM:"))
        return {**found, "peak_mib": int(peak.split()[1]) * 1024 / MEBIBYTE}


@pytest.fixture(scope="module")
def figures(tmp_path_factory) -> dict:
    with TruceProcess(tmp_path_factory.mktemp("floods")) as truce:
        found = {"probes": probes(truce), "connects": connects(truce), "slow": slow_senders(truce)}
    found["large"] = {name: large(tmp_path_factory.mktemp("large"), shape)
                      for name, shape in (("all", ""), ("texts", "texts"))}
    report.tell(found, GATES, "bench-floods.json")
    return found


@pytest.mark.parametrize("gate", GATES)
def test_gate(figures: dict, gate: str) -> None:
    report.check(figures, GATES, gate)
