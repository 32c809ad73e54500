"""The server chart as installed by the real Helm, with Truce started as its Pod would be: same
arguments, files, user, rights and read-only root file system.

No kubelet and no kube-proxy run. `support/pod.py` stands in for the one; for the other the admission
Service is pointed at this machine, so that the API server still finds Truce by the Service's name,
and checks its certificate against it.
"""

from __future__ import annotations

import base64
import json
import os
from datetime import datetime, timedelta, timezone

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from support.helm import NAMESPACE, SERVER_CHART, VERSIONS, Helm
from support.objects import bucket
from support.pod import Account, Pod
from support.processes import free_port, wait_for
from support.truce_process import BINARY, OBJECT_STORAGE_MAPPINGS, TruceProcess
from support.verdicts import assert_refused

SERVICE_NAME = f"truce.{NAMESPACE}.svc"
REGISTRATION = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/truce"

OWNER = bucket("artifacts", "prod-artifacts", labels={"app.kubernetes.io/part-of": "service-a"})
COPY = bucket("copy", "prod-artifacts")


class Authority:
    """A certificate authority of the platform team."""

    def __init__(self):
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._certificate = self._sign("platform", self._key.public_key(), 3650, is_ca=True)
        self.pem = self._certificate.public_bytes(serialization.Encoding.PEM).decode()

    def secret(self, name: str, days: int) -> dict:
        """A kubernetes.io/tls Secret with a fresh certificate of the Service."""
        key = ec.generate_private_key(ec.SECP256R1())
        certificate = self._sign(SERVICE_NAME, key.public_key(), days, is_ca=False)
        return {
            "apiVersion": "v1", "kind": "Secret", "type": "kubernetes.io/tls",
            "metadata": {"name": name, "namespace": NAMESPACE},
            "stringData": {
                "tls.crt": certificate.public_bytes(serialization.Encoding.PEM).decode(),
                "tls.key": key.private_bytes(
                    serialization.Encoding.PEM,
                    serialization.PrivateFormat.PKCS8,
                    serialization.NoEncryption(),
                ).decode(),
            },
        }

    def _sign(self, name: str, public_key, days: int, is_ca: bool) -> x509.Certificate:
        now = datetime.now(timezone.utc)
        issuer = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "platform")])
        return (
            x509.CertificateBuilder()
            .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]))
            .issuer_name(issuer)
            .public_key(public_key)
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - timedelta(minutes=5))
            .not_valid_after(now + timedelta(days=days))
            .add_extension(x509.BasicConstraints(ca=is_ca, path_length=None), critical=True)
            .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
            .sign(self._key, hashes.SHA256())
        )


class Release:
    """The chart as installed in the cluster, and Truce as its Pod."""

    def __init__(self, cluster, helm: Helm, directory):
        self.cluster = cluster
        self.helm = helm
        self.authority = Authority()
        self.ports = [free_port() for _ in range(4)]
        self.pod = Pod(directory / "pod", BINARY)
        # Only asked: the Pod is what runs.
        self.server = TruceProcess(directory, {}, "asked")
        self.server._metrics = f"127.0.0.1:{self.ports[2]}"
        self.server._probes = f"127.0.0.1:{self.ports[3]}"
        self.values = {
            # What the cluster adds has a test of its own.
            "watchCluster": False,
            "admission": {"pathSecret": os.urandom(16).hex()},
            "certificates": {
                "mode": "existingSecret",
                "existingSecret": {"name": "truce-certificate"},
                "caBundle": self.authority.pem,
            },
            "config": {"mappings": OBJECT_STORAGE_MAPPINGS, "drainGrace": "1s"},
            "listen": dict(zip(("admissionPort", "apiPort", "metricsPort", "probesPort"),
                               self.ports)),
            "service": {"admission": {"port": self.ports[0]}, "metrics": {"port": self.ports[2]}},
            "webhook": {
                "timeoutSeconds": 30,  # A busy machine is not what is tested.
                "exclude": [
                    {"group": "s3.aws.upbound.io", "kind": "Bucket", "name": "truce-*"},
                    {"namespace": "team-b", "user": "alice@*"},
                ]
            },
        }

    def read(self, kind: str, name: str) -> dict:
        done = self.cluster.kubectl("get", kind, name, "-n", NAMESPACE, "-o", "json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def apply(self, obj: dict) -> None:
        done = self.cluster.kubectl("apply", "-f", "-", stdin=obj)
        assert done.returncode == 0, done.stderr

    def install_with(self, *objects: dict) -> str:
        """With objects that the release expects in its namespace."""
        self.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
        for obj in objects:
            self.apply(obj)
        return self.install()

    def install(self) -> str:
        self.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
        self.apply(self.authority.secret("truce-certificate", days=30))
        # The shared cluster has the CRDs already.
        printed = self._helm("install", "--take-ownership")
        self.follow()
        return printed

    def upgrade(self, **values) -> None:
        for key, value in values.items():
            self.values[key] = {**self.values.get(key, {}), **value} if isinstance(value, dict) else value
        self._helm("upgrade", *self._forced())
        self.follow()

    def upgrade_reusing(self) -> None:
        """With the values of the installed release, and these."""
        self._helm("upgrade", "--reset-then-reuse-values", *self._forced())
        self.follow()

    def follow(self) -> None:
        """What kubelet and kube-proxy do after a change: the volumes, and the way to the Pod."""
        self.template = self.read("Deployment", "truce")["spec"]["template"]
        self.pod.mount(self.template, self.read, self._account())
        done = self.cluster.kubectl(
            "patch", "service", "truce", "-n", NAMESPACE, "--patch", json.dumps(
                {"spec": {"type": "ExternalName", "externalName": "localhost", "clusterIP": None,
                          "clusterIPs": None}}),
        )
        assert done.returncode == 0, done.stderr

    def clean_up(self) -> None:
        """Removes what it left in the cluster, the registry too."""
        self.pod.kill()
        self.helm.run("uninstall", "truce", "--namespace", NAMESPACE)
        self.cluster.reset()
        kubectl = self.cluster.kubectl
        # The next release has another registry: to this one's Lease it would be a restored backup.
        kubectl("delete", "lease", "truce-local", "truce-prod-1", "-n", "kube-system",
                "--ignore-not-found")
        # Its finalizer waits for a controller that does not run here.
        free = json.dumps({"metadata": {"finalizers": None}})
        kubectl("patch", "pvc", "truce", "-n", NAMESPACE, "--type=merge", f"--patch={free}")
        kubectl("delete", "secret,pvc", "--all", "-n", NAMESPACE, "--wait=false")

    def _account(self) -> Account | None:
        if not self.values["watchCluster"]:
            return None
        done = self.cluster.kubectl("create", "token", "truce", "-n", NAMESPACE)
        assert done.returncode == 0, done.stderr
        kubeconfig = json.loads(self.cluster.kubeconfig().read_text())
        kubeconfig["users"][0]["user"]["token"] = done.stdout.strip()
        file = self.pod.directory / "account.json"
        file.write_text(json.dumps(kubeconfig))
        file.chmod(0o644)
        server = kubeconfig["clusters"][0]["cluster"]
        authority = base64.b64decode(server["certificate-authority-data"]).decode()
        host, _, port = server["server"].removeprefix("https://").rpartition(":")
        return Account(done.stdout.strip(), authority, host, int(port), file)

    def start(self) -> None:
        child = self.pod.start()
        child.wait_until(lambda: self.server.metrics_get("/readyz")[0] == 200, 30, "ready")

    def uninstall(self) -> None:
        self.helm.expect("uninstall", "truce", "--namespace", NAMESPACE)

    def logs(self) -> str:
        return self.pod.logs()

    def _forced(self) -> list[str]:
        """The stand-in for kube-proxy has changed the Service, which Helm 4 takes for a conflict."""
        return ["--force-conflicts"] if self.helm.version == 4 else []

    def _helm(self, verb: str, *flags: str) -> str:
        return self.helm.expect(
            verb, "truce", SERVER_CHART, "--namespace", NAMESPACE, "--values", "-", *flags,
            stdin=json.dumps(self.values),
        )


both_helms = pytest.mark.parametrize(
    "release", VERSIONS, indirect=True, ids=lambda version: f"helm{version}"
)


@pytest.fixture
def release(request, cluster, tmp_path):
    """The chart, not yet installed. Whatever the test leaves in the cluster is removed."""
    helm = Helm(getattr(request, "param", 4), tmp_path / "helm", cluster.kubeconfig())
    release = Release(cluster, helm, tmp_path)
    yield release
    release.clean_up()


def eventually_refused(client, obj: dict):
    """A registration takes effect asynchronously, a changed configuration within seconds."""
    reply = wait_for(
        lambda: next((r for r in [client.create(obj, dry_run=True)] if not r.ok), None),
        30, "a refusal",
    )
    assert_refused(reply, "prod-artifacts")


def eventually_admitted(client, obj: dict):
    wait_for(lambda: client.create(obj, dry_run=True).ok, 30, "an admission")
