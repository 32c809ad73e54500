"""What a webhook adds to a write at a real API server: no webhook, the smallest one in Go, Truce. Alone: `cd tests &&
../build/venv/bin/python -m pytest bench/test_through_api.py -s`; TRUCE_BENCH_QUICK=1 makes it short. The method stands
in DESIGN.md."""

from __future__ import annotations

import json
import os
import shutil
import ssl
import statistics
import time
from pathlib import Path
from typing import BinaryIO

import pytest

from bench import machine, report, reviews
from bench.servers import settle
from bench.stores import WORK
from support.cluster import PEERS, Cluster
from support.kube_client import Client, Reply
from support.processes import Child, free_port, wait_for
from support.truce_process import TruceProcess
from support.webhook_registration import configuration

QUICK = os.environ.get("TRUCE_BENCH_QUICK") == "1"
WRITES = 100 if QUICK else 1000  # of each kind, behind each webhook
UPDATED = 50  # objects that are updated in turn; the first round of them is the warm-up
START_SECONDS = 60.0

WEBHOOKS = ("none", "go", "truce")
KINDS = ("update", "dry_run", "create")
SYNC_BYTES = 4096
LABEL = "example.org/webhook"  # decides which webhook an object passes

# As in report.py: name: (path in the figures, bound, the bound is a minimum). p50 of a write, less that without a
# webhook: Truce's in units of the Go webhook's, or milliseconds more than it.
GATES = {
    "update": (("update", "ratio"), 1.0, False),
    "dry-run": (("dry_run", "ratio"), 1.0, False),
    "creation-ms": (("create", "more_ms"), 1.0, False),
}


def bucket(name: str, webhook: str) -> dict:
    """As Argo CD creates it."""
    recorded = reviews.recorded("kubectl-apply-csa-create-1.create.bucket")["request"]
    thing = json.loads(json.dumps(recorded["object"]).replace(recorded["name"], f"{name}-{webhook}"))
    for member in ("uid", "creationTimestamp", "generation", "managedFields"):
        thing["metadata"].pop(member)
    thing["metadata"]["labels"][LABEL] = webhook
    return thing


class Writer:
    """Writes buckets, one at a time, on one connection. External synchronization."""

    def __init__(self, client: Client):
        self._client = client
        self._count = 0
        for number in range(UPDATED):
            for webhook in WEBHOOKS:
                client.create(bucket(f"updated-{number}", webhook)).expect(201)

    def write(self, kind: str, webhook: str) -> float:
        """Milliseconds."""
        self._count += 1
        updated = bucket(f"updated-{self._count % UPDATED}", webhook)
        patch = {"metadata": {"labels": {"example.org/revision": f"r{self._count}"}}}
        created = bucket(f"created-{self._count}", webhook)
        began = time.perf_counter()
        if kind == "update":
            reply = self._client.patch(updated, patch)
        else:
            reply = self._client.create(created, dry_run=kind == "dry_run")
        seconds = time.perf_counter() - began
        reply.expect()
        return seconds * 1000


class GoWebhook:
    """With the certificate of `certificates`."""

    def __init__(self, certificates: Path):
        port = free_port()
        self.url = f"https://127.0.0.1:{port}/validate"
        self._child = Child(
            "go-webhook", [str(PEERS / "go-webhook"), f"127.0.0.1:{port}", str(certificates / "tls.crt"),
                           str(certificates / "tls.key")], WORK / "go-webhook.log")
        self._child.wait_until(lambda: _listens(port), START_SECONDS, "listening")

    def stop(self) -> None:
        self._child.stop()


def _listens(port: int) -> bool:
    try:
        ssl.get_server_certificate(("127.0.0.1", port), timeout=5)
        return True
    except OSError:
        return False


def _register(cluster: Cluster, urls: dict[str, str], ca_file: Path) -> None:
    """Each webhook for the objects with its name."""
    whole = configuration("", ca_file, "Fail", "marker.truce.dev")
    declarations = whole["webhooks"][0]
    whole["webhooks"] = [
        {
            **declarations,
            "name": f"{name}.truce.dev",
            "clientConfig": {**declarations["clientConfig"], "url": url},
            "objectSelector": {"matchLabels": {LABEL: name}},
        }
        for name, url in urls.items()
    ]
    with cluster.client() as client:
        client.create(whole).expect(201)


def _dry_run(client: Client, webhook: str) -> Reply:
    return client.create(bucket("probe", webhook), dry_run=True)


def _sync(file: BinaryIO) -> float:
    """Milliseconds that the disk takes to keep what is appended: most of what a durable grant adds."""
    began = time.perf_counter()
    file.write(bytes(SYNC_BYTES))
    os.fdatasync(file.fileno())
    return (time.perf_counter() - began) * 1000


def _measured(cluster: Cluster, truce: TruceProcess) -> dict[str, dict[str, list[float]]]:
    """Milliseconds of writes by kind and webhook, and of syncs of the disk between them."""

    def asked() -> float:
        return sum(truce.metric(f'truce_admission_reviews_total{{operation="{operation}",verdict="allowed"}}')
                   for operation in ("CREATE", "UPDATE"))

    times: dict = {kind: {name: [] for name in WEBHOOKS} for kind in KINDS}
    times["create"]["sync"] = []
    with cluster.client("argocd") as client, truce, open(truce.directory / "sync", "wb", buffering=0) as file:
        settle(truce.pid)
        go = GoWebhook(truce.ca_file.parent)
        writer = Writer(client)
        _register(cluster, {"go": go.url, "truce": truce.admission_url}, truce.ca_file)
        wait_for(lambda: _dry_run(client, "truce").ok and asked() > 0, START_SECONDS, "the webhooks in effect")
        before = asked()
        for kind in KINDS:
            for number in range(UPDATED + WRITES):
                # In turn, so that what disturbs disturbs all alike.
                for webhook in WEBHOOKS[number % 3:] + WEBHOOKS[:number % 3]:
                    milliseconds = writer.write(kind, webhook)
                    if number >= UPDATED:
                        times[kind][webhook].append(milliseconds)
                if kind == "create":
                    times[kind]["sync"].append(_sync(file))
        assert asked() - before == len(KINDS) * (UPDATED + WRITES)
        go.stop()
        assert not _dry_run(client, "go").ok, "the Go webhook was not asked"
    return times


def figures_of(times: dict[str, dict[str, list[float]]]) -> dict:
    found = {}
    for kind, each in times.items():
        p50 = {name: statistics.median(values) for name, values in each.items()}
        adds = {name: p50[name] - p50["none"] for name in WEBHOOKS[1:]}
        found[kind] = {"p50_ms": p50, "adds_ms": adds, "ratio": adds["truce"] / adds["go"],
                       "more_ms": adds["truce"] - adds["go"]}
    return found


@pytest.fixture(scope="module")
def figures() -> dict:
    directory = WORK / "through-api"
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    described = machine.description()
    with Cluster() as cluster:
        cluster.apply_crds()
        times = _measured(cluster, TruceProcess(directory, {}))
    found = {"machine": described, "writes": WRITES, **figures_of(times)}
    report.tell(found, GATES, "bench-through-api.json")
    return found


@pytest.mark.parametrize("gate", GATES)
def test_gate(figures: dict, gate: str) -> None:
    report.check(figures, GATES, gate)
