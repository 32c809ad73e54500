"""Who may ask the REST API: real ServiceAccount tokens, real roles, and an API server that is gone."""

import base64
import json
import os
import subprocess
import time
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, utils

from support.api_client import ApiClient
from support.objects import bucket, claim, queue
from support.processes import wait_for
from support.truce_process import BINARY, OBJECT_STORAGE_MAPPINGS, TruceProcess
from system.test_client_certificates import Authority
from system.test_client_certificates import ask as ask_by_certificate

pytestmark = pytest.mark.slow(3)

TERRAFORM = Path(__file__).parents[1] / "system" / "outside" / "terraform.json"
RELEASE = {"reason": "moved"}
RIGHTS = {
    "reader": [{"apiGroups": ["truce.dev"], "resources": ["ownerships"], "verbs": ["get", "list"]}],
    "owner": [
        {"apiGroups": ["truce.dev"], "resources": ["ownerships"], "verbs": ["get", "list", "update"]},
        {"apiGroups": ["truce.dev"], "resources": ["ownerships/release"], "verbs": ["create"]},
    ],
}
RBAC = "/apis/rbac.authorization.k8s.io/v1"


def make_account(client, namespace: str, name: str, rights: str = "") -> None:
    """A ServiceAccount with the rights in its own namespace; none: no rights at all."""
    path = f"/api/v1/namespaces/{namespace}/serviceaccounts"
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": name}}
    assert client.request("POST", path, account).status in (201, 409)
    if not rights:
        return
    role = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role",
            "metadata": {"name": name}, "rules": RIGHTS[rights]}
    binding = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding",
               "metadata": {"name": name},
               "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": name},
               "subjects": [{"kind": "ServiceAccount", "name": name, "namespace": namespace}]}
    for plural, obj in (("roles", role), ("rolebindings", binding)):
        reply = client.request("POST", f"{RBAC}/namespaces/{namespace}/{plural}", obj)
        assert reply.status in (201, 409), reply.body


def token_of(client, namespace: str, name: str, audience: str = "truce") -> str:
    path = f"/api/v1/namespaces/{namespace}/serviceaccounts/{name}/token"
    wish = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest",
            "spec": {"audiences": [audience], "expirationSeconds": 600}}
    return client.request("POST", path, wish).expect(201).body["status"]["token"]


def expired(cluster, token: str) -> str:
    """The same token, its time over, signed with the API server's own key."""
    def part(value: bytes) -> str:
        return base64.urlsafe_b64encode(value).rstrip(b"=").decode()

    head, body, _ = token.split(".")
    claims = json.loads(base64.urlsafe_b64decode(body + "=="))
    claims |= {"iat": claims["iat"] - 7200, "nbf": claims["nbf"] - 7200, "exp": claims["iat"] - 3600}
    signed = f"{head}.{part(json.dumps(claims).encode())}"
    file = cluster.directory / "credentials" / "service-account.key"
    key = serialization.load_pem_private_key(file.read_bytes(), password=None)
    r, s = utils.decode_dss_signature(key.sign(signed.encode(), ec.ECDSA(hashes.SHA256())))
    return f"{signed}.{part(r.to_bytes(32, 'big') + s.to_bytes(32, 'big'))}"


def client_of(truce: TruceProcess, token: str) -> ApiClient:
    address = json.loads((truce.data / "addresses.json").read_text())["api"]
    return ApiClient(address, truce.ca_file, token)


@pytest.fixture
def accounts(cluster, user):
    """Two teams' ServiceAccounts, and one without any right."""
    admin = user("admin")
    make_account(admin, "team-a", "team-a-owner", "owner")
    make_account(admin, "team-b", "team-b-owner", "owner")
    make_account(admin, "team-a", "nobody")
    return admin


@pytest.fixture
def served(follow, user, accounts):
    """A server that follows the cluster, with a bucket of team-a."""
    truce = follow({"mappings": OBJECT_STORAGE_MAPPINGS, "disclosure": "service"})
    user("team-a").create(claim("artifacts", "team-a", "prod-artifacts")).expect(201)
    return truce


def ask(truce, token: str, path: str = "/api/v1/resources", **parameters):
    return client_of(truce, token).get(path, **parameters)


def lookup(truce, token: str) -> dict:
    found = ask(truce, token, "/api/v1/resources:lookup", type="s3/Bucket", name="prod-artifacts")
    assert found.status == 200, found.body
    return found.json["resources"][0]


def test_a_proxy_that_signs_people_in(follow, cluster, user, tmp_path):
    """Whom oauth2-proxy names, by its certificate, is a user of the cluster with their rights; nobody
    else is believed."""
    authority = Authority(tmp_path, "proxies")
    truce = follow({"mappings": OBJECT_STORAGE_MAPPINGS, "apiClientCA": str(authority.file),
                    "apiProxyNames": ["oauth2-proxy"], "disclosure": "taken"})
    user("team-a").create(claim("artifacts", "team-a", "prod-artifacts")).expect(201)
    admin = user("admin")
    role = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": {"name": "people-read"},
            "rules": RIGHTS["owner"]}
    binding = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding", "metadata": {"name": "people-read"},
               "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "people-read"},
               "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": "oidc:team-a"}]}
    for plural, obj in (("roles", role), ("rolebindings", binding)):
        assert admin.request("POST", f"{RBAC}/namespaces/team-a/{plural}", obj).status in (201, 409)
    proxy, stranger = authority.give("oauth2-proxy"), authority.give("mallory")
    path = "/api/v1/resources?namespace=team-a"

    def call(certificate, groups: str = "oidc:team-a", name: str = "ann@example.org", where: str = path, **more):
        return ask_by_certificate(truce, where, certificate, X_Forwarded_User=name, X_Forwarded_Groups=groups, **more)

    wait_for(lambda: call(proxy)[0] == 200, 30, "the role in effect")
    [one] = call(proxy)[1]["items"]
    assert one["name"] == "prod-artifacts"
    assert call(proxy, groups="oidc:team-b")[0] == 403
    assert call(proxy, where="/api/v1/resources?namespace=team-b")[0] == 403
    # A browser could be led to send what changes something.
    release = {"method": "POST", "body": RELEASE, "If_Match": "*", "where": f"/api/v1/resources/{one['id']}:release"}
    assert call(proxy, **release)[0] == 403
    # Forgers: no certificate, another's, and one of another authority.
    other = Authority(tmp_path, "others").give("oauth2-proxy")
    for forger in (None, stranger, other):
        assert call(forger)[0] in (0, 401), forger
    for name in ("", "system:admin", "system:serviceaccount:team-a:default"):
        assert call(proxy, name=name)[0] == 401, name
    assert call(proxy, groups="system:masters")[0] == 401


def test_tokens_that_are_no_good(served, cluster, accounts):
    good = token_of(accounts, "team-a", "team-a-owner")
    assert lookup(served, good)["redacted"] is False
    elsewhere = token_of(accounts, "team-a", "team-a-owner", "https://kubernetes.default.svc")
    for bad in (elsewhere, expired(cluster, good), good[:-8] + "AAAAAAAA", "not-a-token"):
        refused = ask(served, bad, namespace="team-a")
        assert refused.status == 401, refused.body
        assert refused.headers["WWW-Authenticate"] == "Bearer"
    make_account(accounts, "team-a", "short-lived")
    deleted = token_of(accounts, "team-a", "short-lived")
    path = "/api/v1/namespaces/team-a/serviceaccounts/short-lived"
    accounts.request("DELETE", path).expect()
    wait_for(lambda: ask(served, deleted, namespace="team-a").status == 401, 30,
             "the token of a deleted account refused")


@pytest.mark.rotating(12)  # over a minute: so long an answer about rights is believed
def test_only_who_speaks_for_a_namespace_asks_in_its_name(served, accounts):
    """I8, for service accounts without any role, for people, and for metrics."""
    def check(caller: ApiClient, namespace: str):
        return caller.call("POST", "/api/v1/checks", {
            "items": [claim("copy", namespace, "prod-artifacts")]})

    own = client_of(served, token_of(accounts, "team-a", "nobody"))
    other = client_of(served, token_of(accounts, "team-b", "team-b-owner"))
    told = check(own, "team-a")
    assert told.status == 200 and b"artifacts" in told.body, told.body
    stranger = check(other, "team-a")
    assert stranger.status == 403, stranger.body
    assert b"create checks in namespace team-a" in stranger.body, stranger.body
    own_question = check(other, "team-b")
    assert own_question.status == 200, own_question.body
    assert b"declared by" not in own_question.body, own_question.body  # the level is "service"
    granted = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role",
               "metadata": {"name": "asks"}, "rules": [
                   {"apiGroups": ["truce.dev"], "resources": ["checks"], "verbs": ["create"]}]}
    binding = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding",
               "metadata": {"name": "asks"},
               "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "asks"},
               "subjects": [{"kind": "ServiceAccount", "name": "team-b-owner", "namespace": "team-b"}]}
    for plural, obj in (("roles", granted), ("rolebindings", binding)):
        made = accounts.request("POST", f"{RBAC}/namespaces/team-a/{plural}", obj)
        assert made.status in (201, 409), made.body
    try:
        wait_for(lambda: check(other, "team-a").status == 200, 30, "the grant in effect")
    finally:
        for plural in ("roles", "rolebindings"):
            accounts.request("DELETE", f"{RBAC}/namespaces/team-a/{plural}/asks").expect()
    status, metrics = served.metrics_get("/metrics")
    assert status == 200 and "team-a" not in metrics and "artifacts" not in metrics


IN_POD = """
mount --make-rprivate /
mount --bind "$1/hosts" /etc/hosts
mount -t tmpfs secrets /run
mkdir -p /run/secrets/truce.dev
mount --bind "$1" /run/secrets/truce.dev
shift
exec env -i KUBERNETES_SERVICE_HOST=10.0.0.1 TRUCE_VIA=truce-system/truce-api:8444 "$@"
"""


def test_a_command_in_a_pod_finds_the_server(follow, user, accounts, tmp_path):
    """By the Service's name, with the mounted token and authority, nothing else said."""
    server = {"apiAddress": "127.0.0.77:8444", "serverNames": ["truce-api.truce-system.svc"]}
    truce = follow({"mappings": OBJECT_STORAGE_MAPPINGS, **server})
    user("team-a").create(claim("artifacts", "team-a", "prod-artifacts")).expect(201)
    (tmp_path / "hosts").write_text("127.0.0.77 truce-api.truce-system.svc\n")
    (tmp_path / "ca.crt").write_text(truce.ca_file.read_text())
    token = tmp_path / "token"
    token.write_text(token_of(accounts, "team-a", "team-a-owner"))
    apart = ["unshare", "--mount"] if os.geteuid() == 0 else ["unshare", "--map-root-user", "--mount"]

    def in_pod(*arguments: str):
        return subprocess.run([*apart, "bash", "-euc", IN_POD, "bash", str(tmp_path), str(BINARY), *arguments],
                              capture_output=True, text=True, timeout=60, check=False)

    found = in_pod("who-owns", "s3/Bucket/prod-artifacts", "-o", "json")
    assert found.returncode == 0, found.stderr
    assert json.loads(found.stdout)["items"][0]["root"]["namespace"] == "team-a"
    assert in_pod("list", "-n", "team-b").returncode == 1, "no right there"
    token.write_text("not-a-token")
    refused = in_pod("who-owns", "s3/Bucket/prod-artifacts")
    assert refused.returncode != 0 and "token" in refused.stderr
    (tmp_path / "ca.crt").unlink()
    unknown = in_pod("who-owns", "s3/Bucket/prod-artifacts")
    assert unknown.returncode == 3 and "certificate is not accepted" in unknown.stderr, unknown.stderr


def test_rights_hold_in_their_namespace_only(served, accounts):
    mine = token_of(accounts, "team-a", "team-a-owner")
    theirs = token_of(accounts, "team-b", "team-b-owner")
    nobody = token_of(accounts, "team-a", "nobody")
    resource = lookup(served, mine)
    assert ask(served, mine, namespace="team-a").status == 200
    assert ask(served, mine).status == 403
    assert ask(served, theirs, namespace="team-a").status == 403
    assert ask(served, mine, "/api/v1/audit").status == 403
    release = f"/api/v1/resources/{resource['id']}:release"
    for token in (theirs, nobody):
        refused = client_of(served, token).call("POST", release, RELEASE, {"If-Match": "*"})
        assert refused.status == 403, refused.body
        assert "may not create ownerships/release in the namespace that it belongs to" in refused.json["detail"]
        assert ask(served, token, f"/api/v1/resources/{resource['id']}").json["redacted"] is True
    wait_for(lambda: lookup(served, mine)["state"] == "held", 30, "the claim seen")
    lives = client_of(served, mine).call("POST", release, RELEASE, {"If-Match": "*"})
    assert lives.status == 409 and "--force" in lives.json["remedy"], lives.body
    protect = f"/api/v1/resources/{resource['id']}:protect"
    done = client_of(served, mine).call("POST", protect, RELEASE, {"If-Match": "*"})
    assert done.status == 200, done.body
    status, audit = served.operator_get("/api/v1/audit", action="administered")
    assert status == 200
    actor = "system:serviceaccount:team-a:team-a-owner (Kubernetes token) from 127.0.0.1"
    assert [line["actor"] for line in audit["items"]] == [actor]


@pytest.mark.parametrize("disclosure, shown", [
    ("full", {"type", "name", "service", "contact", "root", "redacted"}),
    ("service", {"type", "name", "service", "contact", "redacted"}),
    ("taken", {"type", "name", "redacted"}),
])
def test_what_a_stranger_learns(follow, user, accounts, disclosure, shown):
    truce = follow({"mappings": OBJECT_STORAGE_MAPPINGS, "disclosure": disclosure})
    user("team-a").create(claim("artifacts", "team-a", "prod-artifacts")).expect(201)
    nobody = token_of(accounts, "team-a", "nobody")
    # Whether the name alone tells which resource is meant says nothing of its owner.
    assert set(lookup(truce, nobody)) == shown | {"certain"}
    denied = user("team-b").create(claim("mine", "team-b", "prod-artifacts"))
    assert denied.status == 403
    assert ("team-a" in denied.message) == (disclosure != "taken"), denied.message


def test_an_api_server_that_is_gone_lets_nobody_in(own_cluster, tmp_path):
    with own_cluster.client("admin") as admin:
        make_account(admin, "team-a", "team-a-owner", "owner")
        known, fresh = (token_of(admin, "team-a", "team-a-owner") for _ in range(2))
    truce = TruceProcess(tmp_path, {"mappings": OBJECT_STORAGE_MAPPINGS},
                         kubeconfig=own_cluster.kubeconfig("admin"))
    with truce:
        assert ask(truce, known, namespace="team-a").status == 200
        own_cluster.stop_api_server(0)
        for token, parameters in ((fresh, {"namespace": "team-a"}), (known, {"namespace": "team-b"})):
            begin = time.monotonic()
            refused = ask(truce, token, **parameters)
            assert refused.status == 503, refused.body
            assert refused.headers["Retry-After"]
            assert time.monotonic() - begin < 15


def test_what_terraform_keeps_is_not_adopted(follow, user):
    truce = follow()
    done = truce.command("import", str(TERRAFORM), "--source", "terraform:network",
                         "--service", "network", "--apply")
    assert done.returncode == 0, done.stderr
    for actor, obj in (("team-a", claim("logs", "team-a", "flow-logs")), ("team-b", bucket("b", "flow-logs"))):
        denied = user(actor).create(obj)
        assert denied.status == 403 and "network" in denied.message, denied.body
    user("team-a").create(claim("other", "team-a", "other-logs")).expect(201)


def test_doctor_of_a_healthy_installation(follow, user):
    truce = follow()
    user("team-a").create(claim("other", "team-a", "other-logs")).expect(201)
    looked = truce.command("doctor", "-o", "json")
    items = json.loads(looked.stdout)["items"]
    failed = [each for each in items if each["state"] == "failed"]
    assert not failed and looked.returncode == 0, failed
    states = {each["name"]: each["state"] for each in items}
    for name in ("version", "store", "readiness", "cluster", "time", "permissions", "reachability",
                 "xrd-groups"):
        assert states[name] == "ok", items


def test_doctor_names_providerconfigs_without_account(follow, user):
    truce = follow({"providerConfigs": [{"name": "stage", "account": "111111111111"}]})
    for name, config in (("one", "default"), ("two", "default"), ("three", "stage")):
        obj = queue(name, name)
        obj["spec"]["providerConfigRef"] = {"name": config}
        user("team-a").create(obj).expect(201)

    def accounts() -> dict:
        items = json.loads(truce.command("doctor", "-o", "json").stdout)["items"]
        return next((each for each in items if each["name"] == "accounts"), {})

    # The registry is passed over every two minutes; the start of the watch is one of them.
    assert accounts()["state"] in ("ok", "warning")
    assert truce.stop() == 0
    truce.start()
    told = wait_for(lambda: accounts().get("state") == "warning" and accounts(), 30, "the finding")
    assert "ProviderConfig.aws.upbound.io default (2 resources)" in told["what"], told
    assert "stage" not in told["what"] and "equal names only warn" in told["what"], told
    assert "providerConfigs" in told["remedy"]


def test_doctor_names_what_is_missing(follow, user, cluster):
    truce = follow(failure_policy="")
    wait_for(lambda: "does not exist" in truce.command("doctor").stdout, 30, "the finding")
    looked = truce.command("doctor")
    assert "[warn] reachability" in looked.stdout
    assert "webhook-configuration: The ValidatingWebhookConfiguration" in looked.stdout
