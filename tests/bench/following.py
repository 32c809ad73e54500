"""What following a cluster costs: the first start, events, lag, reviews beside a relist."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import signal
import sqlite3
import statistics
import subprocess
import tempfile
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench import machine, reviews
from bench.stores import Sample
from support.cluster import Cluster
from support.objects import bucket
from support.pace import pause_until
from support.processes import wait_for
from support.truce_process import REPOSITORY, TruceProcess

# A quick look while developing.
QUICK = os.environ.get("TRUCE_BENCH_QUICK") == "1"

SCRIPTED_API = REPOSITORY / "build/release/truce_scripted_api"
REAL_OBJECTS = 2_000 if QUICK else 20_000
SCRIPTED_OBJECTS = 20_000 if QUICK else 200_000
RELISTED_OBJECTS = 2_000 if QUICK else 20_000
EVENT_RATE = 6_000  # a second
EVENT_SECONDS = 3 if QUICK else 10
LAG_RATE = 100  # writes a second
LAG_SECONDS = 3 if QUICK else 20
REVIEW_RATE = 200  # a second
CREATES_A_USER = 50  # of cluster-scoped objects a user may reserve a hundred; nobody writes these
REVIEW_SECONDS = 4 if QUICK else 15
ACCOUNT_IDLE_SECONDS = 2 if QUICK else 15
ACCOUNT_SECONDS = 150.0
FILL_WRITERS = 4
START_SECONDS = 300.0


class ScriptedApi:
    """`truce_scripted_api` with `objects` buckets, bound to the load's processor."""

    def __init__(self, objects: int, queues: int = 0):
        if not SCRIPTED_API.exists():
            raise RuntimeError(f"{SCRIPTED_API} does not exist: build it first (.tools/test.sh release)")
        with machine.bound_to(machine.LOAD_CPU):
            self._process = subprocess.Popen(
                [str(SCRIPTED_API), "--objects", str(objects), "--queues", str(queues)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
        found = json.loads(self._process.stdout.readline())
        self.url, self.kubeconfig = found["url"], Path(found["kubeconfig"])
        self.changes = 0
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        for line in self._process.stdout:
            self.changes = json.loads(line)["changes"]

    def command(self, line: str) -> None:
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()

    def create(self, name: str) -> None:
        """Stores a bucket; returns when it is stored."""
        body = json.dumps(bucket(name, name)).encode()
        request = urllib.request.Request(
            f"{self.url}/apis/s3.aws.upbound.io/v1beta2/buckets",
            body,
            {"Content-Type": "application/json"},
        )
        urllib.request.urlopen(request, timeout=30).close()

    def stop(self) -> None:
        self._process.stdin.close()
        if self._process.wait(30) != 0:
            raise RuntimeError("the scripted API server failed")


class Registry:
    """What has been committed, read beside the server. External synchronization."""

    def __init__(self, data: Path):
        self._database = sqlite3.connect(f"file:{data / 'truce.db'}?mode=ro", uri=True)
        self._last = 0

    def owners(self) -> int:
        query = "SELECT count(*) FROM resources WHERE owned = 1"
        return self._database.execute(query).fetchone()[0]

    def skip(self) -> None:
        self._last = self._database.execute("SELECT max(id) FROM resources").fetchone()[0] or 0

    def new_names(self) -> list[str]:
        """Names of resources held since the last call; they are held from their first row on,
        because nothing was reserved."""
        query = "SELECT id, name FROM resources WHERE id > ? AND state = 'held' ORDER BY id"
        rows = self._database.execute(query, (self._last,)).fetchall()
        if rows:
            self._last = rows[-1][0]
        return [name for _, name in rows]


@contextmanager
def _following(kubeconfig: Path, one_core: bool = False) -> Iterator[tuple[TruceProcess, dict]]:
    """A Truce that has seen the whole cluster, and what its first start cost."""
    directory = Path(tempfile.mkdtemp(prefix="truce-bench-"))
    truce = TruceProcess(directory, kubeconfig=kubeconfig)
    began = time.monotonic()
    if one_core:
        with machine.bound_to(machine.SERVER_CPU):
            truce.start(wait_until_ready=False)
    else:
        truce.start(wait_until_ready=False)
    try:
        truce.wait_until_ready(START_SECONDS)
        cost = {
            "ready_seconds": time.monotonic() - began,
            "cpu_seconds": machine.process_seconds(truce.pid),
            "peak_mib": _peak_bytes(truce.pid) / 2**20,
            "owners": Registry(truce.data).owners(),
        }
        yield truce, cost
    finally:
        truce.stop()
        shutil.rmtree(directory, ignore_errors=True)


def _peak_bytes(pid: int) -> int:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    raise RuntimeError(f"process {pid} has no memory")


def _percentile(values: list[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def _fill(cluster: Cluster, count: int) -> None:
    failed: list[str] = []

    def write(writer: int) -> None:
        with cluster.client("provider") as client:
            for number in range(writer, count, FILL_WRITERS):
                reply = client.create(bucket(f"bench-{number}", f"bench-{number}-prod"))
                if reply.status != 201:
                    failed.append(f"{reply.status}: {reply.message}")
                    return

    writers = [threading.Thread(target=write, args=(i,)) for i in range(FILL_WRITERS)]
    for thread in writers:
        thread.start()
    for thread in writers:
        thread.join()
    if failed:
        raise RuntimeError(failed[0])


def _lag(truce: TruceProcess, create) -> dict:
    """Seconds from a stored object to its ownership in the database, at LAG_RATE. The webhook is
    not asked, so every object is found by the watch alone."""
    stored: dict[str, float] = {}
    count = LAG_RATE * LAG_SECONDS
    run = secrets.token_hex(4)

    def write() -> None:
        began = time.monotonic()
        for number in range(count):
            pause_until(began + number / LAG_RATE)
            name = f"lag-{run}-{number}"
            create(name)
            stored[name] = time.monotonic()

    registry = Registry(truce.data)
    registry.skip()
    writer = threading.Thread(target=write, daemon=True)
    writer.start()
    held: dict[str, float] = {}
    deadline = time.monotonic() + LAG_SECONDS * 3 + 30
    while len(held) < count and time.monotonic() < deadline:
        for name in registry.new_names():
            held[name] = time.monotonic()
        pause_until(time.monotonic() + 0.005)
    writer.join(30)
    lags = [max(0.0, held[name] - stored[name]) for name in stored if name in held]
    return {
        "writes": len(stored),
        "held": len(lags),
        "p50_ms": statistics.median(lags) * 1000,
        "p99_ms": _percentile(lags, 0.99) * 1000,
    }


def real_server() -> dict:
    """The first start on a real kube-apiserver, and the lag behind it."""
    with Cluster() as cluster:
        cluster.apply_crds()
        began = time.monotonic()
        _fill(cluster, REAL_OBJECTS)
        filled = time.monotonic() - began
        with _following(cluster.kubeconfig()) as (truce, cost):
            with cluster.client("provider") as client:
                lag = _lag(truce, lambda name: client.create(bucket(name, name)).expect(201))
            return {"objects": REAL_OBJECTS, "fill_seconds": filled, "start": cost, "lag": lag}


def scripted_start() -> dict:
    api = ScriptedApi(SCRIPTED_OBJECTS)
    try:
        with _following(api.kubeconfig) as (_, cost):
            return {"objects": SCRIPTED_OBJECTS, "start": cost}
    finally:
        api.stop()


def events() -> dict:
    """Status changes at EVENT_RATE, Truce on one core. It keeps up when an object that is created
    behind them is held soon; `per_core` is what its processor time would suffice for."""
    api = ScriptedApi(RELISTED_OBJECTS)
    try:
        with _following(api.kubeconfig, one_core=True) as (truce, _):
            registry = Registry(truce.data)
            registry.skip()
            cpu = machine.process_seconds(truce.pid)
            first, began = api.changes, time.monotonic()
            api.command(f"rate {EVENT_RATE}")
            pause_until(began + EVENT_SECONDS)
            api.create("behind-the-events")
            stored = time.monotonic()
            wait_for(registry.new_names, 60, "the object behind the events to be held")
            lag = time.monotonic() - stored
            api.command("rate 0")
            pause_until(time.monotonic() + 1.5)  # Until the changes are told.
            seconds = machine.process_seconds(truce.pid) - cpu
            changes = api.changes - first
            return {
                "changes": changes,
                "per_second": changes / (stored - began),
                "lag_ms_behind": lag * 1000,
                "cpu_seconds": seconds,
                "per_core": changes / seconds,
            }
    finally:
        api.stop()


class Reviews:
    """Reviews at REVIEW_RATE on one connection: denials and creations in turn."""

    def __init__(self, truce: TruceProcess):
        samples = [Sample(f"o-{i}", f"{i:08x}-uid", f"bench-{i}-prod") for i in range(500)]
        self._denied = reviews.creates_of_taken(samples)
        self._fresh = reviews.fresh_creates()
        self._user = json.loads(self._fresh)["request"]["userInfo"]["username"]
        self._reviewer = truce.reviewer()
        self._created = 0
        self.unknown = 0

    def _body(self, number: int) -> bytes:
        if number % 2 == 0:
            return self._denied[number // 2 % len(self._denied)].encode()
        text = self._fresh.replace("@NAME@", f"fresh-{secrets.token_hex(6)}")
        self._created += 1
        text = text.replace(self._user, f"{self._user}-{self._created // CREATES_A_USER}")
        for mark in ("@OBJECT@", "@REVIEW@"):
            text = text.replace(mark, secrets.token_hex(16))
        return text.encode()

    def times(self, seconds: float) -> list[float]:
        times: list[float] = []
        began = time.monotonic()
        for number in range(int(REVIEW_RATE * seconds)):
            pause_until(began + number / REVIEW_RATE)
            body = self._body(number)
            start = time.monotonic()
            status, _ = self._reviewer.post(body)
            times.append(time.monotonic() - start)
            self.unknown += status != 200
        return times

    def run(self, seconds: float) -> dict:
        times = self.times(seconds)
        return {
            "reviews": len(times),
            "p50_ms": statistics.median(times) * 1000,
            "p99_ms": _percentile(times, 0.99) * 1000,
        }


def beside_relist() -> dict:
    """Reviews while nothing else happens, and while all objects are listed again and again."""
    api = ScriptedApi(RELISTED_OBJECTS)
    try:
        with _following(api.kubeconfig) as (truce, _):
            load = Reviews(truce)
            load.run(1)
            idle = load.run(REVIEW_SECONDS)
            over = threading.Event()

            def relist() -> None:
                while not over.wait(1.0):
                    api.command("relist")

            thread = threading.Thread(target=relist, daemon=True)
            cpu = machine.process_seconds(truce.pid)
            thread.start()
            beside = load.run(REVIEW_SECONDS)
            over.set()
            thread.join()
            return {
                "objects": RELISTED_OBJECTS,
                "idle": idle,
                "beside_relist": beside,
                "cpu_seconds_beside": machine.process_seconds(truce.pid) - cpu,
                "p99_ratio": beside["p99_ms"] / idle["p99_ms"],
                "unknown": load.unknown,
            }
    finally:
        api.stop()


def _brought(truce: TruceProcess, account: str) -> bool:
    """All portions of the account of ProviderConfig "prod" are through."""
    database = sqlite3.connect(f"file:{truce.data / 'truce.db'}?mode=ro", uri=True)
    try:
        rows = database.execute("SELECT brought FROM provider_configs WHERE name = 'prod'").fetchall()
    finally:
        database.close()
    return any(account in value for (value,) in rows)


def _beside_account(truce: TruceProcess, api: ScriptedApi, load: Reviews, account: str) -> dict:
    """Reviews from the moment when ProviderConfig "prod" has a role in `account`, for
    ACCOUNT_SECONDS or until everything under it is declared there."""
    began = time.monotonic()
    api.command(f"account {account}")
    times: list[float] = []
    while not _brought(truce, account) and time.monotonic() - began < ACCOUNT_SECONDS:
        times += load.times(0.25)
    return {"seconds": time.monotonic() - began, "times": times}


def beside_accounts() -> dict:
    """Reviews without and with 20,000 objects of one ProviderConfig declared anew: its account
    becomes known, then it is another one."""
    api = ScriptedApi(500, RELISTED_OBJECTS)
    try:
        with _following(api.kubeconfig) as (truce, _):
            load = Reviews(truce)
            load.run(1)
            rounds = []
            for account in ("1" * 12, "2" * 12):
                idle = load.times(ACCOUNT_IDLE_SECONDS)
                rounds.append((idle, _beside_account(truce, api, load, account)))
                if account == "1" * 12 and not _brought(truce, account):
                    raise RuntimeError(f"account {account} is not through in {ACCOUNT_SECONDS} s")
            p99 = [
                (_percentile(idle, 0.99) * 1000, _percentile(beside["times"], 0.99) * 1000)
                for idle, beside in rounds
            ]
            return {
                "objects": RELISTED_OBJECTS,
                "seconds": [beside["seconds"] for _, beside in rounds],
                "reviews_beside": [len(beside["times"]) for _, beside in rounds],
                "p99_ms_idle_and_beside": p99,
                "p99_ratio": max(beside / idle for idle, beside in p99),
                "unknown": load.unknown,
            }
    finally:
        api.stop()


PARTS = {
    "accounts": beside_accounts,
    "real": real_server,
    "scripted": scripted_start,
    "events": events,
    "relist": beside_relist,
}


def figures() -> dict:
    """All of it, each part told as soon as it is measured."""
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    found = {"machine": machine.description(), "quick": QUICK}
    for name, measure in PARTS.items():
        found[name] = measure()
        print(f"{name}: {json.dumps(found[name], indent=2)}", flush=True)
    return found
