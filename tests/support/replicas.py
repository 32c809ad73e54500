"""Several replicas of one server behind a Service, on one registry in PostgreSQL, and creations through the API."""

from __future__ import annotations

import itertools
import subprocess
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from support.forwarder import Forwarder
from support.kube_client import Client
from support.objects import bucket
from support.postgres import Postgres, url_of
from support.processes import wait_for
from support.truce_process import TruceProcess
from support.verdicts import PREFIX

WAIT_SECONDS = 60
PACE_SECONDS = 0.06  # between the calls of one client
LOADS = itertools.count()
DRAIN = "1s"  # which Kubernetes needs to tell everybody that a Pod ends


def databases() -> list[Postgres]:
    """A primary and its synchronous standby, with an empty database `truce`."""
    pair = Postgres.with_standby()
    pair[0].require_standby()
    return pair


def certificate(directory: Path) -> tuple[Path, Path]:
    """One for all replicas, as a Secret would hold it: certificate, which is its own authority, and key."""
    files = directory / "tls.crt", directory / "tls.key"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                    "-subj", "/CN=truce", "-addext", "subjectAltName=IP:127.0.0.1", "-days", "2",
                    "-keyout", files[1], "-out", files[0]], check=True, capture_output=True)
    return files


class Replicas:
    """Three, each with a folder of its own. External synchronization; start them from the main thread."""

    def __init__(self, directory: Path, pair: Sequence[Postgres], kubeconfigs: Sequence[Path | None]):
        self.ca_file, key = certificate(directory)
        config = {"store": url_of(list(pair)), "storeDurability": "replicated",
                  "tlsCertFile": str(self.ca_file), "tlsKeyFile": str(key), "drainGrace": DRAIN, "logFormat": "json",
                  "mode": "enforce", "reservationCap": 1000000}
        self.servers: list[TruceProcess] = []
        for number, kubeconfig in enumerate(kubeconfigs):
            own = directory / f"replica-{number}"
            own.mkdir()
            self.servers.append(TruceProcess(own, config=config, name=f"replica-{number}", kubeconfig=kubeconfig))
            self.servers[-1].cluster_id = self.servers[0].cluster_id
            self.servers[-1].start(wait_until_ready=False)
        for server in self.servers:
            server.wait_until_ready(WAIT_SECONDS)
        self._service = Forwarder(*(server.admission_address for server in self.servers))
        self.url = f"https://127.0.0.1:{self._service.port}/validate"

    def remove(self) -> None:
        for server in self.servers:
            server.kill()
        self._service.stop()

    def leaders(self) -> list[TruceProcess]:
        return [server for server in self.servers if server.running and server.metric("truce_watcher_leader") == 1]

    def restart(self, server: TruceProcess) -> None:
        """As a rollout does it: new connections go elsewhere, then it ends; they come when it is ready again."""
        self._service.remove(server.admission_address)
        assert server.stop() == 0
        server.start()
        self._service.add(server.admission_address)

    def logs(self) -> str:
        return "\n".join(server.logs() for server in self.servers)


class ApiLoad:
    """Creations of buckets through the API until it is ended, by each client on a thread of its own: half of the names
    by all of them, the others by one."""

    def __init__(self, clients: Sequence[Client]):
        self._names = f"load-{next(LOADS)}"
        self.granted: list[str] = []
        self.denied = 0
        self.unknown: list[str] = []  # what the API server said
        self.longest_silence = 0.0  # seconds in which nobody got a verdict
        self._verdict_at = time.monotonic()
        self._lock = threading.Lock()
        self._ending = threading.Event()
        self._threads = [threading.Thread(target=self._run, args=each) for each in enumerate(clients)]
        for thread in self._threads:
            thread.start()

    def grow(self, by: int = 50) -> None:
        """Until so many more are granted."""
        wanted = len(self.granted) + by
        wait_for(lambda: len(self.granted) >= wanted, WAIT_SECONDS, "grants under load")

    def forget_silence(self) -> None:
        with self._lock:
            self.longest_silence = 0.0

    def end(self) -> None:
        self._ending.set()
        for thread in self._threads:
            thread.join(WAIT_SECONDS)

    def _run(self, number: int, client: Client) -> None:
        for count in itertools.count():
            if self._ending.wait(PACE_SECONDS):
                return
            name = f"{self._names}-{count % 2 and number}-{count}"
            reply = client.create(bucket(f"{name}-{number}", name))
            with self._lock:
                if reply.ok or reply.message.startswith(PREFIX):
                    now = time.monotonic()
                    self.longest_silence = max(self.longest_silence, now - self._verdict_at)
                    self._verdict_at = now
                    self.granted += [name] if reply.ok else []
                    self.denied += not reply.ok
                    continue
                self.unknown.append(reply.message)

    def __str__(self) -> str:
        return (f"{len(self.granted)} granted, {self.denied} denied, {len(self.unknown)} unknown, at most "
                f"{self.longest_silence:.2f} s without a verdict")
