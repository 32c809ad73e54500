"""Who calls the REST API by a client certificate, and who does not by one."""

import datetime
import http.client
import json
import ssl

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from support import objects
from support.truce_process import OBJECT_STORAGE_MAPPINGS, TruceProcess
from system.test_api import creation

NOW = datetime.datetime.now(datetime.timezone.utc)
DAY = datetime.timedelta(days=1)


class Authority:
    """Signs certificates of clients, and of servers."""

    def __init__(self, folder, name: str):
        self._folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        self._certificate = self._sign(self._name, self._key, NOW + DAY, is_authority=True)
        self.file = folder / f"{name}.crt"
        self.file.write_bytes(self._certificate.public_bytes(serialization.Encoding.PEM))

    def give(self, name: str, until=NOW + DAY, is_server: bool = False):
        """A file with the certificate and the key of `name`; a server's is its host."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        certificate = self._sign(subject, key, until, is_authority=False, host=name if is_server else "")
        file = self._folder / f"{self.file.stem}-{name}-{until.timestamp():.0f}.pem"
        file.write_bytes(
            certificate.public_bytes(serialization.Encoding.PEM)
            + key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8,
                                serialization.NoEncryption()))
        return file

    def _sign(self, subject, key, until, is_authority: bool, host: str = ""):
        usage = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH if host else ExtendedKeyUsageOID.CLIENT_AUTH])
        builder = (x509.CertificateBuilder().subject_name(subject).issuer_name(self._name)
                   .public_key(key.public_key()).serial_number(x509.random_serial_number())
                   .not_valid_before(NOW - 2 * DAY).not_valid_after(until)
                   .add_extension(x509.BasicConstraints(is_authority, None), critical=True))
        if not is_authority:
            builder = builder.add_extension(usage, critical=False)
        if host:
            builder = builder.add_extension(x509.SubjectAlternativeName([x509.DNSName(host)]), critical=False)
        return builder.sign(self._key, hashes.SHA256())


@pytest.fixture
def served(tmp_path):
    """A server that knows ann as an admin and eve as a viewer, with one bucket."""
    trusted = Authority(tmp_path, "trusted")
    config = {"mappings": OBJECT_STORAGE_MAPPINGS, "apiClientCA": str(trusted.file),
              "apiClients": ["ann=admin", "eve=viewer"]}
    with TruceProcess(tmp_path, config) as truce:
        with truce.reviewer() as reviewer:
            claim = objects.claim("one", "team-a", "prod-one")
            assert reviewer.review(creation(claim))[1]["allowed"]
        yield truce, trusted


def ask(truce, path: str, certificate=None, method: str = "GET", body: dict | None = None,
        **fields: str) -> tuple[int, dict]:
    """(status, parsed body); status 0 when TLS itself refuses."""
    address = json.loads((truce.data / "addresses.json").read_text())["api"]
    context = ssl.create_default_context(cafile=str(truce.ca_file))
    if certificate is not None:
        context.load_cert_chain(certificate)
    host, _, port = address.rpartition(":")
    connection = http.client.HTTPSConnection(host, int(port), timeout=20, context=context)
    data = json.dumps(body) if body is not None else None
    headers = {"Content-Type": "application/json"} if body is not None else {}
    try:
        connection.request(method, path, data,
                           headers | {name.replace("_", "-"): text for name, text in fields.items()})
        response = connection.getresponse()
        return response.status, json.loads(response.read())
    except (ssl.SSLError, ConnectionError, http.client.HTTPException):
        return 0, {}
    finally:
        connection.close()


def test_roles_of_client_certificates(served):
    truce, trusted = served
    ann, eve = trusted.give("ann"), trusted.give("eve")
    for each in (ann, eve):
        status, page = ask(truce, "/api/v1/resources", each)
        assert (status, len(page["items"])) == (200, 1)
    release = f"/api/v1/resources/{page['items'][0]['id']}:release"
    given = {"method": "POST", "body": {"reason": "gone"}, "If_Match": "*"}
    assert ask(truce, release, eve, **given)[0] == 403
    assert ask(truce, "/api/v1/audit", eve)[0] == 403
    assert ask(truce, release, ann, **given)[0] == 200
    lines = ask(truce, "/api/v1/audit", ann)[1]["items"]
    assert lines[0]["actor"] == "ann (client certificate) from 127.0.0.1"


def test_certificates_that_are_no_good(served, tmp_path):
    truce, trusted = served
    assert ask(truce, "/api/v1/resources")[0] == 401
    stranger = Authority(tmp_path, "stranger").give("ann")
    expired = trusted.give("ann", NOW - DAY)
    for bad in (trusted.give("mallory"), stranger, expired):
        assert ask(truce, "/api/v1/resources", bad)[0] in (0, 401), bad
    # A token that is no good never counts as none.
    ann = trusted.give("ann")
    for field in ("Authorization", "X_Truce_Authorization"):
        assert ask(truce, "/api/v1/resources", ann, **{field: "Bearer wrong-token-0000001"})[0] == 401
    both = {"Authorization": "Bearer a", "X_Truce_Authorization": "Bearer a"}
    assert ask(truce, "/api/v1/resources", ann, **both)[0] == 401
