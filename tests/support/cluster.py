"""A real Kubernetes API on loopback: etcd and one or two kube-apiservers, up in seconds.

    with Cluster(api_servers=2) as cluster:
        cluster.apply_crds()
        cluster.client("team-a").create(bucket("orders")).expect(201)
        cluster.kubectl("get", "buckets.s3.aws.upbound.io", user="team-b")

There is no kubelet, scheduler or controller manager: nothing composes, provides, garbage-collects
or makes default ServiceAccounts. Tests play those actors with the users below.
"""

from __future__ import annotations

import base64
import json
import os
import re
import secrets
import shutil
import ssl
import subprocess
import tempfile
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path

from support import objects
from support.kube_client import Client
from support.peers import GO
from support.processes import Child, StartError, free_port, tail, wait_for
from support.webhook_registration import CONFIGURATION, MARKER_NAMESPACE, configuration

REPOSITORY = Path(__file__).resolve().parents[2]
PEERS = Path(os.environ.get("PEERS_DIR", REPOSITORY / "build/peers")) / "bin"
CRDS = REPOSITORY / "tests/e2e/crds"
OWN_CRDS = REPOSITORY / "schema/crds"

START_SECONDS = 60.0
START_ATTEMPTS = 3  # Each with new ports: another test run may have taken one in between.
SETTLE_SECONDS = 20.0

# What every start and every registration leaves in an API server's log, and its informational lines.
_NOISE = re.compile(r"^I\d{4} |addrConn\.createTransport|marker-\d+\.truce\.dev")

NAMESPACES = ("team-a", "team-b", "crossplane-system", MARKER_NAMESPACE)


@dataclass(frozen=True)
class Actor:
    """A user of the API by name and groups."""

    user: str
    groups: tuple[str, ...] = ()


def _service_account(namespace: str, name: str) -> Actor:
    return Actor(
        f"system:serviceaccount:{namespace}:{name}",
        ("system:serviceaccounts", f"system:serviceaccounts:{namespace}"),
    )


ACTORS = {
    "ack": _service_account("ack-system", "ack-s3-controller"),
    "admin": Actor("admin", ("system:masters",)),
    "argocd": _service_account("argocd", "argocd-application-controller"),
    "collector": _service_account("kube-system", "generic-garbage-collector"),
    "crossplane": _service_account("crossplane-system", "crossplane"),
    "provider": _service_account("crossplane-system", "provider-aws-s3-abc"),
    "team-a": Actor("alice@example.org", ("team-a",)),
    "team-b": Actor("bob@example.org", ("team-b",)),
    "truce": _service_account("truce-system", "truce"),
    "velero": _service_account("velero", "velero"),
}

# Every other actor may do everything with the custom kinds; these have their own rights.
_OTHER_RIGHTS = ("admin", "truce")


class Cluster:
    """External synchronization, but for clients: each is its own. Start it from the main thread."""

    def __init__(self, api_servers: int = 1, flags: tuple[str, ...] = ()):
        """`flags`: more of the API servers' command line."""
        self._api_servers = api_servers
        self._flags = flags
        # Short: kubectl and Truce keep sockets below it, whose paths end at 108 bytes.
        self.directory = Path(tempfile.mkdtemp(prefix="truce-e2e-"))
        self._tokens = {name: secrets.token_hex(16) for name in ACTORS}
        self._children: list[Child] = []
        self._ports: list[int] = []
        self._etcd_port = 0
        self._markers = 0
        self._marker = ""

    def __enter__(self) -> "Cluster":
        return self.start()

    def __exit__(self, error_type, *_) -> None:
        self.stop(keep_logs=error_type is not None)

    # Life

    def start(self) -> "Cluster":
        """Starts everything and waits until all actors may work. Raises StartError."""
        for attempt in range(1, START_ATTEMPTS + 1):
            try:
                self._start_processes()
                break
            except StartError as error:
                self._stop_processes()
                if attempt == START_ATTEMPTS or "address already in use" not in str(error):
                    raise
        for name in ACTORS:
            for server in range(self._api_servers):
                self._write_kubeconfig(name, server)
        self._make_namespaces_and_roles()
        return self

    def stop(self, keep_logs: bool = False) -> None:
        """Ends every process and removes the directory, but for the logs if asked. Idempotent."""
        self._stop_processes()
        if keep_logs:
            for entry in self.directory.iterdir():
                if entry.is_dir() and entry.name != "logs":
                    shutil.rmtree(entry, ignore_errors=True)
            return
        shutil.rmtree(self.directory, ignore_errors=True)

    def logs(self, lines: int = 20) -> str:
        """The path and the tail of every log, to print when a test failed."""
        parts = [f"logs in {self.directory / 'logs'}"]
        for path in sorted((self.directory / "logs").glob("*.log")):
            telling = [line for line in tail(path, 1000).splitlines() if not _NOISE.search(line)]
            parts.append(f"--- {path.name} (last {lines} telling lines)")
            parts += telling[-lines:]
        return "\n".join(parts)

    # Use

    @property
    def api_servers(self) -> int:
        return self._api_servers

    @property
    def running(self) -> bool:
        """Whether every process lives."""
        return bool(self._children) and all(child.exit_code is None for child in self._children)

    def client(self, user: str = "admin", server: int = 0) -> Client:
        return Client(f"127.0.0.1:{self._ports[server]}", self._ca(server), self._tokens[user])

    def kubeconfig(self, user: str = "admin", server: int = 0) -> Path:
        return self.directory / "kubeconfigs" / f"{user}-{server}.json"

    def kubectl(
        self, *args: str, user: str = "admin", server: int = 0, stdin: str | dict | list = ""
    ) -> subprocess.CompletedProcess[str]:
        """Runs the real kubectl; `stdin` may be text, an object or a list of objects (for -f -).
        Never raises for its exit code."""
        if isinstance(stdin, list):
            stdin = {"apiVersion": "v1", "kind": "List", "items": stdin}
        if isinstance(stdin, dict):
            stdin = json.dumps(stdin)
        return subprocess.run(
            [PEERS / "kubectl", "--kubeconfig", self.kubeconfig(user, server), *args],
            input=stdin,
            capture_output=True,
            text=True,
            timeout=60,
            env={
                "PATH": os.environ.get("PATH", ""),
                "HOME": str(self.directory),
                "KUBECACHEDIR": str(self.directory / "kube-cache"),
            },
        )

    def apply(self, *paths: Path) -> None:
        """Applies files and folders as the administrator; StartError when one is refused."""
        # By the server: CRDs are larger than the annotation of a client-side apply may be.
        files = [part for path in paths for part in ("-f", str(path))]
        done = self.kubectl("apply", "--server-side", *files)
        if done.returncode != 0:
            raise StartError(f"applying {paths}: {done.stderr}")

    def apply_crds(self) -> None:
        """Applies tests/e2e/crds and Truce's own, and waits until every API server serves all.
        Defines the composite of the platform's kinds."""
        self.apply(CRDS, OWN_CRDS)
        for server in range(self._api_servers):
            with self.client("admin", server) as client:
                for kind in objects.CUSTOM_KINDS:
                    wait_for(
                        lambda: client.list(kind.api_version, kind.kind).status == 200,
                        SETTLE_SECONDS,
                        f"{kind.kind} of {kind.group} served",
                    )
        definition = objects.composite_definition()
        with self.client("admin") as client:

            def defined() -> bool:
                return client.create(definition).status in (201, 409)

            wait_for(defined, SETTLE_SECONDS, "the composite's definition")

    def register_webhook(
        self,
        url: str,
        ca_file: Path,
        failure_policy: str = "Fail",
        own_kinds: bool = False,
        statuses: bool = False,
        compositions: bool = False,
    ) -> None:
        """Registers (or changes) the webhook and waits until every API server uses it so."""
        self._markers += 1
        self._marker = f"marker-{self._markers}.truce.dev"
        wanted = configuration(
            url, ca_file, failure_policy, self._marker, own_kinds, statuses, compositions)
        with self.client() as client:
            present = client.get(wanted)
            if present.status == 404:
                client.create(wanted).expect(201)
            else:
                version = present.expect().body["metadata"]["resourceVersion"]
                wanted["metadata"]["resourceVersion"] = version
                client.update(wanted).expect()
        self.wait_for_webhook()

    def stop_api_server(self, number: int) -> None:
        """kill -9, with all its connections."""
        name = f"kube-apiserver-{number}"
        for child in [child for child in self._children if child.name == name]:
            child.kill()
            self._children.remove(child)

    def signal_api_server(self, number: int, signal: int) -> None:
        """SIGSTOP: it takes connections and says nothing; SIGCONT: it goes on."""
        for child in self._children:
            if child.name == f"kube-apiserver-{number}":
                child.signal(signal)

    def start_api_server(self, number: int) -> None:
        """Starts it again at its port. It knows no version from before its start: what became of
        them it must ask etcd."""
        server = self._start_api_server(number)
        server.wait_until(lambda: self._answers(number), START_SECONDS, "ready")

    def compact(self) -> None:
        """Makes etcd forget all history up to now."""
        etcd = f"http://127.0.0.1:{self._etcd_port}/v3/kv"
        now = _post(f"{etcd}/range", {"key": base64.b64encode(b"/").decode()})["header"]
        _post(f"{etcd}/compaction", {"revision": now["revision"], "physical": True})

    def unregister_webhook(self) -> None:
        """Removes the registration and waits until no API server uses it. Idempotent."""
        with self.client() as client:
            client.request(
                "DELETE",
                "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/"
                + CONFIGURATION,
            )
        self._marker = ""
        self.wait_for_webhook()

    def wait_for_webhook(self) -> None:
        """Waits until every API server acts by the last registration (or its removal)."""
        probe = {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": "marker", "namespace": MARKER_NAMESPACE},
        }
        for server in range(self._api_servers):
            with self.client("admin", server) as client:

                def in_effect() -> bool:
                    reply = client.create(probe, dry_run=True)
                    return self._marker in reply.message if self._marker else reply.ok

                wait_for(in_effect, SETTLE_SECONDS, f"webhook in effect at API server {server}")

    def reset(self) -> None:
        """Unregisters the webhook and removes every custom object, whatever its finalizers."""
        self.unregister_webhook()
        with self.client() as client:
            for kind in objects.CUSTOM_KINDS:
                for item in client.list(kind.api_version, kind.kind).expect().body["items"]:
                    obj = {"apiVersion": kind.api_version, "kind": kind.kind, **item}
                    if item["metadata"].get("finalizers"):
                        client.patch(obj, {"metadata": {"finalizers": None}})
                    client.delete(obj)

    # Inside

    def _start_processes(self) -> None:
        for name in ("logs", "kubeconfigs"):
            (self.directory / name).mkdir(exist_ok=True)
        shutil.rmtree(self.directory / "etcd", ignore_errors=True)
        self._write_credentials()
        self._etcd_port = self._start_etcd()
        self._ports = [free_port() for _ in range(self._api_servers)]
        servers = [self._start_api_server(number) for number in range(self._api_servers)]
        for number, server in enumerate(servers):
            server.wait_until(lambda: self._answers(number), START_SECONDS, "ready")

    def _stop_processes(self) -> None:
        for child in reversed(self._children):
            child.signal(15)
        for child in reversed(self._children):
            child.stop()
        self._children.clear()

    def _spawn(self, name: str, argv: list[str]) -> Child:
        log = self.directory / "logs" / f"{name}.log"
        child = Child(name, [str(PEERS / argv[0]), *argv[1:]], log, GO)
        self._children.append(child)
        return child

    def _start_etcd(self) -> int:
        port, peer_port = free_port(), free_port()
        child = self._spawn(
            "etcd",
            [
                "etcd",
                "--data-dir", str(self.directory / "etcd"),
                "--listen-client-urls", f"http://127.0.0.1:{port}",
                "--advertise-client-urls", f"http://127.0.0.1:{port}",
                "--listen-peer-urls", f"http://127.0.0.1:{peer_port}",
                "--initial-advertise-peer-urls", f"http://127.0.0.1:{peer_port}",
                "--initial-cluster", f"default=http://127.0.0.1:{peer_port}",
                # Its disk is thrown away with the test.
                "--unsafe-no-fsync",
                "--log-level", "warn",
            ],
        )
        child.wait_until(lambda: _status(f"http://127.0.0.1:{port}/health") == 200, 30, "healthy")
        return port

    def _start_api_server(self, number: int) -> Child:
        keys = self.directory / "credentials"
        return self._spawn(
            f"kube-apiserver-{number}",
            [
                "kube-apiserver",
                f"--etcd-servers=http://127.0.0.1:{self._etcd_port}",
                "--bind-address=127.0.0.1",
                f"--secure-port={self._ports[number]}",
                # Else it looks for the address of the default route, which a test machine may lack.
                "--advertise-address=192.0.2.1",
                "--endpoint-reconciler-type=none",
                f"--cert-dir={self.directory / f'api-server-{number}'}",
                "--service-account-issuer=https://kubernetes.default.svc",
                f"--service-account-key-file={keys / 'service-account.pub'}",
                f"--service-account-signing-key-file={keys / 'service-account.key'}",
                "--api-audiences=https://kubernetes.default.svc,truce",
                "--authorization-mode=RBAC",
                f"--token-auth-file={keys / 'tokens.csv'}",
                "--service-cluster-ip-range=10.0.0.0/24",
                "--profiling=false",
                *self._flags,
            ],
        )

    def _ca(self, server: int) -> Path:
        return self.directory / f"api-server-{server}" / "apiserver.crt"

    def _answers(self, server: int) -> bool:
        if not self._ca(server).exists():
            return False
        try:
            with self.client("admin", server) as client:
                return client.request("GET", "/readyz").status == 200
        except (OSError, ssl.SSLError):
            return False

    def _write_credentials(self) -> None:
        folder = self.directory / "credentials"
        folder.mkdir(mode=0o700, exist_ok=True)
        key, public = folder / "service-account.key", folder / "service-account.pub"
        openssl("ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", str(key))
        openssl("ec", "-in", str(key), "-pubout", "-out", str(public))
        rows = [
            f'{self._tokens[name]},{actor.user},{name},"{",".join(actor.groups)}"'
            for name, actor in ACTORS.items()
        ]
        tokens = folder / "tokens.csv"
        tokens.write_text("\n".join(rows) + "\n")
        tokens.chmod(0o600)

    def _write_kubeconfig(self, user: str, server: int) -> None:
        authority = base64.b64encode(self._ca(server).read_bytes()).decode()
        path = self.kubeconfig(user, server)
        path.write_text(
            json.dumps(
                {
                    "apiVersion": "v1",
                    "kind": "Config",
                    "clusters": [
                        {
                            "name": "truce-e2e",
                            "cluster": {
                                "server": f"https://127.0.0.1:{self._ports[server]}",
                                "certificate-authority-data": authority,
                            },
                        }
                    ],
                    "users": [{"name": user, "user": {"token": self._tokens[user]}}],
                    "contexts": [
                        {"name": user, "context": {"cluster": "truce-e2e", "user": user}}
                    ],
                    "current-context": user,
                }
            )
        )
        path.chmod(0o600)

    def _make_namespaces_and_roles(self) -> None:
        """Every actor may do everything with the custom kinds: a refusal is Truce's."""
        role = {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRole",
            "metadata": {"name": "declarations"},
            "rules": [
                {
                    "apiGroups": sorted({kind.group for kind in objects.CUSTOM_KINDS}),
                    "resources": ["*"],
                    "verbs": ["*"],
                }
            ],
        }
        binding = {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRoleBinding",
            "metadata": {"name": "declarations"},
            "roleRef": {
                "apiGroup": "rbac.authorization.k8s.io",
                "kind": "ClusterRole",
                "name": "declarations",
            },
            "subjects": [
                {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": actor.user}
                for name, actor in ACTORS.items()
                if name not in _OTHER_RIGHTS
            ],
        }
        with self.client() as client:
            for name in NAMESPACES:
                client.create(
                    {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
                ).expect(201)
            client.create(role).expect(201)
            client.create(binding).expect(201)
        for server in range(self._api_servers):
            for user in ACTORS:
                if user != "truce":
                    self._wait_for_right(user, server)

    def _wait_for_right(self, user: str, server: int) -> None:
        # The authorizer reads roles from a cache; a kind without a CRD answers 404 once allowed.
        path = "/apis/s3.aws.upbound.io/v1beta2/buckets"
        with self.client(user, server) as client:
            wait_for(
                lambda: client.request("GET", path).status in (200, 404),
                SETTLE_SECONDS,
                f"{user} allowed at API server {server}",
            )


def build_peers(peers: tuple[str, ...]) -> None:
    """Builds those of `peers` that are missing or outdated (minutes, once)."""
    done = subprocess.run([REPOSITORY / ".tools/peers.sh", *peers], stdout=subprocess.DEVNULL)
    if done.returncode != 0:
        raise StartError(f"the end-to-end tests need {', '.join(peers)}; see above")


def openssl(*args: str) -> None:
    """Runs the command; StartError with what it says when it fails or is missing."""
    try:
        subprocess.run(["openssl", *args], check=True, capture_output=True, text=True)
    except FileNotFoundError as error:
        raise StartError("the openssl command is missing (Debian package openssl)") from error
    except subprocess.CalledProcessError as error:
        raise StartError(f"openssl {args[0]}: {error.stderr}") from error


def _post(url: str, body: dict) -> dict:
    request = urllib.request.Request(url, json.dumps(body).encode())
    with urllib.request.urlopen(request, timeout=10) as response:
        return json.load(response)


def _status(url: str) -> int:
    try:
        with urllib.request.urlopen(url, timeout=2) as response:
            return response.status
    except urllib.error.HTTPError as error:
        return error.code
    except OSError:
        return 0
