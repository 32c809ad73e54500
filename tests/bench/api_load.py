"""What the REST API costs: lookups and pages of a large registry, and reviews beside them."""

from __future__ import annotations

import hashlib
import json
import os
import statistics
import subprocess
import threading
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from bench import machine
from bench.following import Reviews
from bench.load import Load, measure
from bench.servers import Nginx, Truce
from bench.stores import WORK, Templates

QUICK = os.environ.get("TRUCE_BENCH_QUICK") == "1"

OWNERSHIPS = 50_000 if QUICK else 1_000_000
CONNECTIONS = 16
ROUNDS = 1 if QUICK else 3
SECONDS = 2 if QUICK else 3
REVIEW_SECONDS = 4 if QUICK else 15
PACED_CONNECTIONS = 11  # each waits 10 ms between two requests: about 1,000 a second
PACED_MS = 10
TOKEN = "benchmark-token-0000001"


@dataclass(frozen=True)
class Listener:
    """One port of a server, as `measure` wants it."""

    url: str
    pid: int


def _file(name: str, lines: list[str]) -> Path:
    path = WORK / f"api-{name}.txt"
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def _paths(truce: Truce) -> dict[str, Path]:
    buckets = [sample.bucket for sample in truce.samples]
    lookup = "/api/v1/resources:lookup?"
    return {
        "name": _file("name", [f"{lookup}type=s3/Bucket&name={quote(name)}" for name in buckets]),
        "arn": _file("arn", [f"{lookup}arn={quote(f'arn:aws:s3:::{name}', safe='')}"
                             for name in buckets]),
        "page": _file("page", ["/api/v1/resources?limit=100"]),
    }


def _start(templates: Templates) -> Truce:
    tokens = WORK / "api-tokens"
    tokens.write_text(f"{hashlib.sha256(TOKEN.encode()).hexdigest()} viewer bench\n")
    return Truce(templates, OWNERSHIPS, {"apiTokenFile": str(tokens)})


def _api_of(truce: Truce) -> Listener:
    addresses = json.loads((truce.process.data / "addresses.json").read_text())
    return Listener(f"https://{addresses['api']}", truce.pid)


def _compared(api: Listener, nginx: Nginx, paths: dict[str, Path]) -> dict:
    """Rates beside nginx's own with a static reply, in the same rounds."""
    runs: dict[str, list] = {name: [] for name in ("nginx", "name", "arn")}
    ratios: dict[str, list[float]] = {"name": [], "arn": []}
    for _ in range(ROUNDS):
        static = measure(nginx, Load("paths", paths["name"], (TOKEN,)), CONNECTIONS, SECONDS)
        runs["nginx"].append(static)
        for name, of in ratios.items():
            run = measure(api, Load("paths", paths[name], (TOKEN,)), CONNECTIONS, SECONDS)
            runs[name].append(run)
            of.append(run.rate / static.rate)
    return {
        name: {
            "rate": statistics.median(run.rate for run in each),
            "cpu_us": statistics.median(run.cpu_us for run in each),
            "p50_ms": statistics.median(run.p50_ms for run in each),
            "p99_ms": statistics.median(run.p99_ms for run in each),
            "disturbed": sum(run.disturbed for run in each),
            **({"rate_ratio": statistics.median(ratios[name])} if name in ratios else {}),
        }
        for name, each in runs.items()
    }


def _beside(truce: Truce, api: Listener, load: Load, connections: int) -> dict:
    """Reviews alone, then beside the load; what the load was answered."""
    with machine.bound_to(machine.LOAD_CPU):
        return _measured_beside(Reviews(truce.process), api, load, connections)


def _measured_beside(reviews: Reviews, api: Listener, load: Load, connections: int) -> dict:
    reviews.run(1)
    idle = reviews.run(REVIEW_SECONDS)
    found: dict = {}

    def drive() -> None:
        ended = subprocess.run(
            ["wrk", "-t1", f"-c{connections}", f"-d{REVIEW_SECONDS + 1}s", "--timeout", "10s", "-s",
             str(Path(__file__).parent / "load.lua"), api.url, "--", load.mode, str(load.bodies),
             *load.more],
            capture_output=True, text=True, timeout=REVIEW_SECONDS + 60, check=False)
        for line in ended.stdout.splitlines():
            if line.startswith("RESULT "):
                found.update(json.loads(line.removeprefix("RESULT ")))

    thread = threading.Thread(target=drive)
    thread.start()
    beside = reviews.run(REVIEW_SECONDS)
    thread.join()
    return {
        "idle": idle,
        "beside": beside,
        "p99_ratio": beside["p99_ms"] / idle["p99_ms"],
        "unknown": reviews.unknown,
        "api_requests": found["requests"],
        "api_rate": found["requests"] / found["seconds"],
        "api_failed": found["failed"],
    }


def figures() -> dict:
    """All of it."""
    machine.require_two_cpus()
    awake = machine.keep_awake()
    WORK.mkdir(parents=True, exist_ok=True)
    truce = _start(Templates())
    nginx = None
    try:
        nginx = Nginx(truce.certificates)
        api, paths = _api_of(truce), _paths(truce)
        found = {"machine": machine.description(), "quick": QUICK, "ownerships": OWNERSHIPS}
        found["lookup"] = _compared(api, nginx, paths)
        page = measure(api, Load("paths", paths["page"], (TOKEN,)), 1, SECONDS)
        found["page"] = {"p50_ms": page.p50_ms, "p99_ms": page.p99_ms, "cpu_us": page.cpu_us,
                         "disturbed": page.disturbed}
        paced = Load("paths", paths["name"], (TOKEN, str(PACED_MS)))
        found["paced"] = _beside(truce, api, paced, PACED_CONNECTIONS)
        flood = Load("paths", paths["name"], (TOKEN,))
        found["flood"] = _beside(truce, api, flood, 64)
        return found
    finally:
        if nginx is not None:
            nginx.stop()
        truce.stop()
        if awake is not None:
            awake.close()
