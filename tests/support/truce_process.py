"""The program under test as a process: `truce serve` on free loopback ports."""

from __future__ import annotations

import http.client
import json
import os
import secrets
import signal
import socket
import ssl
import subprocess
from pathlib import Path
from urllib.parse import urlencode

from support.processes import Child, free_port, tail, wait_for

REPOSITORY = Path(__file__).resolve().parents[2]
BINARY = Path(os.environ.get("TRUCE_BINARY", REPOSITORY / "build/release/truce"))

START_SECONDS = 30.0
STOP_SECONDS = 30.0  # Draining included.
FOLLOW_SECONDS = 10.0  # From a stored object to the registry; it takes 0.1 s on an idle machine.

# What the platform team would write: which field of its own kinds names a bucket.
OBJECT_STORAGE_MAPPINGS = [
    {
        "group": "platform.example.org",
        "kind": kind,
        "declares": [
            {
                "type": "s3/Bucket",
                "parts": {"name": "spec.parameters.name"},
                "region": "spec.parameters.region",
            }
        ],
    }
    for kind in ("ObjectStorage", "XObjectStorage")
]


def require_binary() -> None:
    """Raises RuntimeError, saying what to do, when the program has not been built."""
    if not BINARY.exists():
        raise RuntimeError(f"{BINARY} does not exist: build it first (make build)")


class TruceProcess:
    """One server with a directory of its own: configuration, data and log.

    Its ports stay the same when it is started again, as those of a Service do.
    External synchronization; start it from the main thread.
    """

    def __init__(
        self,
        directory: Path,
        config: dict | None = None,
        name: str = "truce",
        kubeconfig: Path | None = None,
        env: dict[str, str] | None = None,
        cluster_id: str = "",
    ):
        """`directory` must exist. `config` is the configuration file's content (None: the mapping
        of the platform's kinds, nothing else). `kubeconfig`: the cluster to follow; none without.
        """
        self.directory = directory
        self.kubeconfig = kubeconfig
        self.env = env
        # Each of its own: the cluster remembers the registry of an id, and another one under the
        # same id means that a registry was lost.
        self.cluster_id = cluster_id or f"e2e-{secrets.token_hex(6)}"
        self.name = name
        self.data = directory / "data"
        self.log = directory / f"{name}.log"
        self._config_file = directory / "truce.yaml"
        self._child: Child | None = None
        self._choose_ports()
        self._api = (config or {}).get("apiAddress", self._api)
        self.write_config(config)

    def __enter__(self) -> "TruceProcess":
        return self.start()

    def __exit__(self, *_) -> None:
        self.stop()

    def write_config(self, config: dict | None) -> None:
        """Replaces the configuration file at once; what a reload covers takes effect. Unless it
        says otherwise, nobody waits for the grace of a drain."""
        if config is None:
            config = {"mappings": OBJECT_STORAGE_MAPPINGS}
        config = {"drainGrace": "0s", **config}
        fresh = self._config_file.with_suffix(".new")
        fresh.write_text(json.dumps(config, indent=2))  # JSON is YAML.
        fresh.replace(self._config_file)

    def start(self, wait_until_ready: bool = True) -> "TruceProcess":
        """Starts it and waits until it is ready; else only until the process exists."""
        require_binary()
        (self.data / "addresses.json").unlink(missing_ok=True)
        self._child = Child(
            self.name,
            [
                str(BINARY), "serve",
                *self._cluster_flags(),
                "--config", str(self._config_file),
                "--data-dir", str(self.data),
                "--admission-address", self._admission,
                "--api-address", self._api,
                "--metrics-address", self._metrics,
                "--probes-address", self._probes,
            ],
            self.log,
            self.env,
        )
        if wait_until_ready:
            self.wait_until_ready()
        return self

    def _choose_ports(self) -> None:
        """Below the ephemeral ones, so that no connection of a parallel test takes one between a
        stop and the next start."""
        self._admission, self._api, self._metrics, self._probes = (
            f"127.0.0.1:{free_port()}" for _ in range(4)
        )

    def wait_until_ready(self, seconds: float = START_SECONDS) -> None:
        child = self._running()
        child.wait_until(self._read_addresses, seconds, "listening")
        child.wait_until(lambda: self.metrics_get("/readyz")[0] == 200, seconds, "ready")

    def stop(self) -> int:
        """SIGTERM and a graceful drain; SIGKILL when that takes too long. Returns the exit code;
        0 when it was not running."""
        if self._child is None:
            return 0
        code = self._child.stop(STOP_SECONDS)
        self._child = None
        return code

    def kill(self) -> None:
        """kill -9."""
        if self._child is not None:
            self._child.kill()
            self._child = None

    def signal(self, number: signal.Signals) -> None:
        self._running().signal(number)

    @property
    def running(self) -> bool:
        return self._child is not None and self._child.exit_code is None

    @property
    def pid(self) -> int:
        return self._running().pid

    @property
    def admission_address(self) -> str:
        return self._admission

    @property
    def admission_url(self) -> str:
        return f"https://{self._admission}/validate"

    @property
    def ca_file(self) -> Path:
        return self.data / "certs" / "ca.crt"

    def logs(self, lines: int = 60) -> str:
        return f"--- {self.log} (last {lines} lines)\n{tail(self.log, lines)}"

    def metrics_get(self, path: str) -> tuple[int, str]:
        """GET on the metrics listener: (status, text); status 0 when nobody answers."""
        connection = http.client.HTTPConnection(self._metrics, timeout=5)
        try:
            connection.request("GET", path)
            response = connection.getresponse()
            return response.status, response.read().decode()
        except OSError:
            return 0, ""
        finally:
            connection.close()

    def metric(self, series: str) -> float:
        """The value of one series as /metrics prints it, 0 when it is not there."""
        for line in self.metrics_get("/metrics")[1].splitlines():
            name, _, value = line.rpartition(" ")
            if name == series:
                return float(value)
        return 0.0

    def operator_get(self, path: str, **parameters: str) -> tuple[int, dict]:
        """GET on the operator socket: (status, parsed body)."""
        connection = _UnixConnection(self.data / "truce.sock")
        try:
            connection.request("GET", f"{path}?{urlencode(parameters)}" if parameters else path)
            response = connection.getresponse()
            return response.status, json.loads(response.read())
        finally:
            connection.close()

    def owner(self, name: str, type_name: str = "s3/Bucket") -> dict:
        """The resource of that name with all that is known of it, {} when nobody has it."""
        found = self.look_up(type=type_name, name=name)
        if not found:
            return {}
        status, whole = self.operator_get(f"/api/v1/resources/{found[0]['id']}")
        return whole if status == 200 else {}

    def look_up(self, **parameters: str) -> list[dict]:
        """What the registry finds."""
        status, body = self.operator_get("/api/v1/resources:lookup", **parameters)
        return body["resources"] if status == 200 else []

    def state(self, name: str, type_name: str = "s3/Bucket") -> str:
        """reserved, held, orphaned or free."""
        return self.owner(name, type_name).get("state", "free")

    def wait_for_state(self, name: str, state: str, seconds: float = FOLLOW_SECONDS) -> dict:
        """The resource, once it is in that state."""
        last = ""

        def is_so() -> bool:
            nonlocal last
            last = self.state(name)
            return last == state

        try:
            wait_for(is_so, seconds, f"{name} {state}")
        except AssertionError as error:
            raise AssertionError(f"{error}; it is {last}") from error
        return self.owner(name)

    def reviewer(self) -> "Reviewer":
        return Reviewer(self._admission, self.ca_file)

    def command(self, *args: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        """Runs a `truce` command beside the server, through its operator socket."""
        return subprocess.run(
            [str(BINARY), *args, "--data-dir", str(self.data)],
            input=stdin,
            capture_output=True,
            text=True,
            timeout=60,
        )

    def _cluster_flags(self) -> list[str]:
        if self.kubeconfig is None:
            return ["--no-cluster"]
        return ["--kubeconfig", str(self.kubeconfig), "--cluster-id", self.cluster_id]

    def _running(self) -> Child:
        if self._child is None:
            raise RuntimeError(f"{self.name} is not running")
        return self._child

    def _read_addresses(self) -> bool:
        try:
            addresses = json.loads((self.data / "addresses.json").read_text())
        except (FileNotFoundError, ValueError):
            return False
        self._admission = addresses["admission"]
        self._api = addresses["api"]
        self._metrics = addresses["metrics"]
        self._probes = addresses["probes"]
        return True


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: Path):
        super().__init__("truce", timeout=10)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(str(self._path))


class Reviewer:
    """Asks the admission port directly, as an API server would, on one keep-alive connection.
    External synchronization."""

    def __init__(self, address: str, ca_file: Path):
        context = ssl.create_default_context(cafile=str(ca_file))
        host, _, port = address.rpartition(":")
        self._connection = http.client.HTTPSConnection(
            host, int(port), timeout=30, context=context
        )
        self.retry_after = ""  # the header of the last answer

    def close(self) -> None:
        self._connection.close()

    def __enter__(self) -> "Reviewer":
        return self

    def __exit__(self, *_) -> None:
        self.close()

    def post(self, body: bytes, path: str = "/validate?timeout=5s") -> tuple[int, dict]:
        """(HTTP status, parsed body or {}). OSError when nobody answers."""
        try:
            self._connection.request("POST", path, body, {"Content-Type": "application/json"})
            response = self._connection.getresponse()
            raw = response.read()
        except (OSError, http.client.HTTPException):
            self._connection.close()
            raise
        self.retry_after = response.headers.get("Retry-After", "")
        try:
            return response.status, json.loads(raw)
        except ValueError:
            return response.status, {}

    def review(self, review: dict) -> tuple[int, dict]:
        """(HTTP status, the `response` of the answer or {})."""
        status, body = self.post(json.dumps(review).encode())
        return status, body.get("response", {})
