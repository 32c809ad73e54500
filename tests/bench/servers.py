"""The servers that are compared, each bound to the server's processor."""

from __future__ import annotations

import http.client
import shutil
import sqlite3
import ssl
import time
from dataclasses import astuple, dataclass
from pathlib import Path

from bench import machine
from bench.stores import WORK, Sample, Templates
from support.processes import Child, free_port, wait_for
from support.truce_process import TruceProcess

START_SECONDS = 120.0  # A million ownerships on a busy machine.
IDLE_SECONDS_MAX = 300.0
IDLE_WINDOW_SECONDS = 1.0
IDLE_SHARE_MAX = 0.05  # Of a processor: a server that looks after files and clocks.

_REPLY = (
    '{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":'
    '{"uid":"705ab4f5-6393-11e8-b7cc-42010a800002","allowed":true}}'
)


class Nginx:
    """nginx with the certificate of `certificates`. External synchronization."""

    def __init__(self, certificates: Path):
        directory = WORK / "nginx"
        shutil.rmtree(directory, ignore_errors=True)
        directory.mkdir(parents=True)
        port = free_port()
        text = (Path(__file__).parent / "nginx.conf").read_text()
        for mark, value in (
            ("@DIRECTORY@", str(directory)),
            ("@PORT@", str(port)),
            ("@CERTIFICATES@", str(certificates)),
            ("@REPLY@", _REPLY),
        ):
            text = text.replace(mark, value)
        (directory / "nginx.conf").write_text(text)
        nginx = shutil.which("nginx") or "/usr/sbin/nginx"
        self.url = f"https://127.0.0.1:{port}/validate"
        with machine.bound_to(machine.SERVER_CPU):
            self._child = Child(
                "nginx",
                [nginx, "-p", str(directory), "-c", str(directory / "nginx.conf")],
                directory / "nginx.log",
            )
        self._child.wait_until(lambda: _answers(port), START_SECONDS, "listening")

    @property
    def pid(self) -> int:
        return self._child.pid

    def stop(self) -> None:
        self._child.stop()


def _answers(port: int) -> bool:
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    connection = http.client.HTTPSConnection("127.0.0.1", port, timeout=5, context=context)
    try:
        connection.request("POST", "/validate", b"{}")
        return connection.getresponse().status == 200
    except OSError:
        return False
    finally:
        connection.close()


@dataclass(frozen=True)
class Tally:
    """What a server has done since it started, and what it holds."""

    allowed: int
    denied: int
    unknown: int
    owners: int
    commits: int

    def since(self, before: "Tally") -> "Tally":
        return Tally(*(now - then for now, then in zip(astuple(self), astuple(before))))


class Truce:
    """`truce serve` on a registry of a given size, with its own defaults but for the addresses.
    External synchronization."""

    def __init__(
        self,
        templates: Templates,
        ownerships: int,
        config: dict | None = None,
        name: str | None = None,
        places: frozenset[int] | set[int] = frozenset({machine.SERVER_CPU}),
    ):
        self.ownerships = ownerships
        directory = WORK / f"truce-{name or ownerships}"
        shutil.rmtree(directory, ignore_errors=True)
        directory.mkdir(parents=True)
        self.samples: list[Sample] = templates.copy(ownerships, directory / "data")
        self._process = TruceProcess(directory, config, name="truce")
        self.ready_seconds = self._time_start()
        # Bound before it starts, so that it makes as many threads as suit these processors.
        with machine.bound_to(*places):
            self._process.start(wait_until_ready=False)
        self._process.wait_until_ready(START_SECONDS)
        self.settle()

    def _time_start(self) -> float:
        """Starts and ends it once on every processor, as in production. Seconds until ready."""
        began = time.monotonic()
        self._process.start(wait_until_ready=False)
        self._process.wait_until_ready(START_SECONDS)
        seconds = time.monotonic() - began
        self._process.stop()
        return seconds

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def url(self) -> str:
        return self._process.admission_url

    @property
    def process(self) -> TruceProcess:
        return self._process

    @property
    def certificates(self) -> Path:
        return self._process.data / "certs"

    def seed(self, bodies: list[str]) -> None:
        """Sends reviews that must be allowed."""
        with self._process.reviewer() as reviewer:
            for body in bodies:
                status, answer = reviewer.post(body.encode())
                if status != 200 or not answer["response"]["allowed"]:
                    raise RuntimeError(f"not allowed: {status} {answer}")

    def tally(self) -> Tally:
        owners = self._sum_of("truce_ownerships")
        database = sqlite3.connect(f"file:{self._process.data}/truce.db?mode=ro", uri=True)
        try:
            ((commits,),) = database.execute("SELECT count FROM commits")
        finally:
            database.close()
        allowed, denied, unknown = (
            self._sum_of("truce_admission_reviews_total", verdict=verdict)
            for verdict in ("allowed", "denied", "unknown")
        )
        return Tally(int(allowed), int(denied), int(unknown), int(owners), int(commits))

    def _sum_of(self, family: str, **labels: str) -> float:
        """The sum of all series of a family that carry these labels."""
        wanted = [f'{name}="{value}"' for name, value in labels.items()]
        total = 0.0
        for line in self._process.metrics_get("/metrics")[1].splitlines():
            name, _, value = line.rpartition(" ")
            if name.partition("{")[0] == family and all(label in name for label in wanted):
                total += float(value)
        return total

    def stop(self) -> None:
        self._process.stop()
        shutil.rmtree(self._process.data)

    def logs(self) -> str:
        return self._process.logs()

    def settle(self) -> None:
        settle(self.pid)


def settle(pid: int) -> None:
    """Waits for work in the background: the check of the whole database after the start,
    checkpoints after writes."""
    since, spent = time.monotonic(), machine.process_seconds(pid)

    def idle() -> bool:
        nonlocal since, spent
        now = time.monotonic()
        if now - since < IDLE_WINDOW_SECONDS:
            return False
        before, began = spent, since
        since, spent = now, machine.process_seconds(pid)
        return spent - before < IDLE_SHARE_MAX * (now - began)

    wait_for(idle, IDLE_SECONDS_MAX, "the server is idle")
