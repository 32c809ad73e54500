"""A real Crossplane core 1.20 on a real API server, with Truce in front, in a network of their own.

    with ControlPlane(directory) as plane:
        plane.client("team-a").create(claim("artifacts", "team-a", "prod-artifacts")).expect(201)

The core listens on all addresses, hence the network. Providers, package runtimes and Kubernetes' own
controllers do not run: what is composed stays as it was composed, and outlives its composite.
"""

from __future__ import annotations

import contextlib
import json
import urllib.request
from pathlib import Path

from support.audit_log import AuditLog
from support.cluster import ACTORS, CRDS, OWN_CRDS, PEERS, REPOSITORY, Cluster, openssl
from support.kube_client import Client
from support.objects import object_path
from support.own_network import own_network
from support.processes import Child, free_port, wait_for
from support.truce_process import TruceProcess

CORE_CRDS = PEERS.parent / "crossplane-crds"
# Its claims' kind, its composites' and what they are made of.
DEFINITIONS = REPOSITORY / "tests/e2e/crossplane/objectstorage.yaml"
AUDITED_GROUPS = ["platform.example.org", "s3.aws.upbound.io", "sqs.aws.upbound.io"]

START_SECONDS = 60.0


class ControlPlane:
    """External synchronization; start it from the main thread. While it lives, this thread is in
    its network."""

    def __init__(self, directory: Path, config: dict | None = None):
        """`directory` must exist. `config`: Truce's; without one it has no mapping of the platform's
        kinds, so a claim passes and what it composes is refused."""
        self._directory = directory
        self.audit = AuditLog(directory, AUDITED_GROUPS)
        self.cluster = Cluster(flags=self.audit.flags)
        self.truce = TruceProcess(
            directory, config or {}, kubeconfig=self.cluster.kubeconfig("admin")
        )
        self._core: Child | None = None
        self._undo = contextlib.ExitStack()

    def __enter__(self) -> "ControlPlane":
        with contextlib.ExitStack() as undo:
            undo.enter_context(own_network())
            undo.push(self.cluster)
            self.cluster.start()
            self.cluster.apply(CRDS / "s3.yaml", CRDS / "sqs.yaml", OWN_CRDS, CORE_CRDS)
            self._let_the_core_do_everything()
            undo.callback(self._stop_core)
            self.start_core()
            self._define()
            undo.enter_context(self.truce)
            self.cluster.register_webhook(self.truce.admission_url, self.truce.ca_file)
            self._undo = undo.pop_all()
        return self

    def __exit__(self, *error) -> None:
        self._undo.__exit__(*error)

    def client(self, user: str = "admin") -> Client:
        return self.cluster.client(user)

    def logs(self, lines: int = 40) -> str:
        core = f"--- core (last {lines} lines)\n{self._core.tail(lines)}" if self._core else ""
        return "\n".join([self.cluster.logs(), self.truce.logs(), core])

    def start_core(self) -> None:
        """Starts it and waits until it is ready."""
        probes = free_port()
        self._core = Child(
            "crossplane",
            [
                str(PEERS / "crossplane"), "core", "start",
                "--namespace", "crossplane-system",
                "--xpkg-cache-dir", str(self._directory / "packages"),
            ],
            self._directory / "crossplane.log",
            {
                "KUBECONFIG": str(self.cluster.kubeconfig("crossplane")),
                "ENABLE_WEBHOOKS": "false",
                "METRICS_PORT": str(free_port()),
                "HEALTH_PROBE_PORT": str(probes),
                "TLS_CLIENT_CERTS_DIR": str(self._certificates()),
            },
        )
        self._core.wait_until(lambda: _is_ready(probes), START_SECONDS, "ready")

    def restart_core(self) -> None:
        """As an upgrade does; its processes end in order."""
        self._stop_core()
        self.start_core()

    def composite_of(self, claim_object: dict) -> dict:
        """The composite that a claim is bound to, {} while there is none."""
        with self.client() as client:
            bound = client.get(claim_object).body.get("spec", {}).get("resourceRef")
            if not bound:
                return {}
            found = client.get({**bound, "metadata": {"name": bound["name"]}})
            return found.body if found.ok else {}

    def wait_for_composite(self, claim_object: dict) -> dict:
        return wait_for(lambda: self.composite_of(claim_object), START_SECONDS, "a composite")

    def events_about(self, obj: dict, component: str) -> list[dict]:
        """The Warning Events about `obj`, which has its uid, by who reports them ("truce", or a
        part of Crossplane's name of a controller)."""
        namespace = obj["metadata"].get("namespace", "default")
        with self.client() as client:
            listed = client.request("GET", f"/api/v1/namespaces/{namespace}/events").expect()
        return [
            event
            for event in listed.body["items"]
            if event["involvedObject"].get("uid") == obj["metadata"]["uid"]
            and event["type"] == "Warning"
            and component in json.dumps(event["source"])
        ]

    def delete_claim(self, claim_object: dict) -> None:
        """Deletes it and waits until the core has ended it and its composite."""
        composite = self.composite_of(claim_object)
        with self.client() as client:
            client.delete(claim_object)
            for obj in (claim_object, composite):
                if obj:
                    wait_for(
                        lambda: client.get(obj).status == 404,
                        START_SECONDS,
                        f"{object_path(obj)} ended",
                    )

    # Inside

    def _stop_core(self) -> None:
        if self._core is not None:
            self._core.stop()

    def _certificates(self) -> Path:
        """What it would show to functions; it does not start without."""
        folder = self._directory / "certificates"
        if not folder.exists():
            folder.mkdir()
            openssl(
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
                "-nodes", "-days", "2", "-subj", "/CN=crossplane",
                "-keyout", str(folder / "tls.key"), "-out", str(folder / "tls.crt"),
            )
            (folder / "ca.crt").write_bytes((folder / "tls.crt").read_bytes())
        return folder

    def _let_the_core_do_everything(self) -> None:
        binding = {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRoleBinding",
            "metadata": {"name": "crossplane"},
            "roleRef": {
                "apiGroup": "rbac.authorization.k8s.io",
                "kind": "ClusterRole",
                "name": "cluster-admin",
            },
            "subjects": [
                {
                    "apiGroup": "rbac.authorization.k8s.io",
                    "kind": "User",
                    "name": ACTORS["crossplane"].user,
                }
            ],
        }
        with self.client() as client:
            client.create(binding).expect(201)

    def _define(self) -> None:
        """Gives the definitions to the core and waits until it serves their claims."""
        self.cluster.apply(DEFINITIONS)
        with self.client() as client:
            for kind in ("XObjectStorage", "ObjectStorage"):
                wait_for(
                    lambda: client.list("platform.example.org/v1alpha1", kind).ok,
                    START_SECONDS,
                    f"{kind} served",
                )


def _is_ready(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz", timeout=2) as response:
            return response.status == 200
    except OSError:  # An answer that says no is one too.
        return False
