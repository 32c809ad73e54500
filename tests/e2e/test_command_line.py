"""The command line finds the server: through the API server's service proxy, with a token of its own."""

import http.client
import json
import os
import re
import socket
import subprocess
from urllib.parse import urlsplit

import pytest

from e2e.test_api_callers import make_account, token_of
from support.cluster import PEERS
from support.connect_proxy import ConnectProxy
from support.kube_client import MERGE_PATCH
from support.objects import claim
from support.truce_process import BINARY, OBJECT_STORAGE_MAPPINGS, TruceProcess

NAMESPACE = "truce-system"
SERVICE = "truce-api"


def address_of_this_machine() -> str:
    """One that is not loopback: the API server's proxy goes to no other. Nothing is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(("198.51.100.1", 9))
        return probe.getsockname()[0]


@pytest.fixture
def proxied(follow, user):
    """A server whose API is a Service of the cluster."""
    admin = user("admin")
    truce = follow({"mappings": OBJECT_STORAGE_MAPPINGS, "disclosure": "service",
                    "apiAddress": f"{address_of_this_machine()}:0"})
    host, _, port = json.loads((truce.data / "addresses.json").read_text())["api"].rpartition(":")
    admin.request("POST", "/api/v1/namespaces",
                  {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
    ports = [{"name": "api", "port": int(port)}]
    # No controllers and no kubelet run here: what they would make of a Deployment is written by hand.
    # The proxy goes to addresses of Pods only.
    # Another test may have installed the chart, whose namespace takes restricted Pods only.
    restricted = {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"},
                  "allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": SERVICE},
           "spec": {"automountServiceAccountToken": False, "nodeName": "here",
                    "containers": [{"name": "truce", "image": "truce",
                                    "securityContext": restricted}]}}
    target = {"kind": "Pod", "namespace": NAMESPACE, "name": SERVICE}
    core = f"/api/v1/namespaces/{NAMESPACE}"
    admin.request("POST", f"{core}/serviceaccounts",
                  {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default"}})
    made = []
    for plural, obj in (
        ("pods", pod),
        ("services", {"apiVersion": "v1", "kind": "Service", "metadata": {"name": SERVICE},
                      "spec": {"ports": ports}}),
        ("endpoints", {"apiVersion": "v1", "kind": "Endpoints", "metadata": {"name": SERVICE},
                       "subsets": [{"addresses": [{"ip": host, "targetRef": target}],
                                    "ports": ports}]})):
        admin.request("POST", f"{core}/{plural}", obj).expect(201)
        made.append(f"{core}/{plural}/{SERVICE}")
    running = {"status": {"phase": "Running", "podIP": host, "podIPs": [{"ip": host}]}}
    admin.request("PATCH", f"{core}/pods/{SERVICE}/status", running, MERGE_PATCH).expect(200)
    user("team-a").create(claim("artifacts", "team-a", "prod-artifacts")).expect(201)
    yield truce
    for path in made:  # The endpoints go with their Service.
        admin.request("DELETE", path, {"gracePeriodSeconds": 0})


def run(cluster, *args: str, actor: str = "admin", env: dict | None = None):
    """Far from the server's data directory, with nothing but a kubeconfig."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("TRUCE_")}
    return subprocess.run(
        [str(BINARY), *args], capture_output=True, text=True, timeout=60, cwd="/",
        env=clean | {"KUBECONFIG": str(cluster.kubeconfig(actor))} | (env or {}))


def test_the_server_is_asked_through_the_api_server(cluster, proxied, user):
    admin = user("admin")
    make_account(admin, "team-a", "team-a-owner", "owner")
    make_account(admin, "team-a", "nobody")
    found = run(cluster, "who-owns", "s3/Bucket/prod-artifacts", "--service-account", "team-a/team-a-owner")
    assert found.returncode == 0, found.stderr
    assert "ObjectStorage team-a/artifacts" in found.stdout
    # Through the proxy the caller is the token alone, whatever the kubeconfig's user may do.
    stranger = run(cluster, "who-owns", "s3/Bucket/prod-artifacts", "--service-account", "team-a/nobody")
    assert "(not shown)" in stranger.stdout
    refused = run(cluster, "list", "-n", "team-a", env={"TRUCE_SERVICE_ACCOUNT": "team-a/nobody"})
    assert refused.returncode == 1 and "may not list ownerships" in refused.stderr
    token = token_of(admin, "team-a", "team-a-owner")
    given = run(cluster, "list", "-n", "team-a", "-o", "name", env={"TRUCE_TOKEN": token})
    assert given.stdout == "s3/Bucket/prod-artifacts\n", given.stderr
    proxied.wait_for_state("prod-artifacts", "held")
    released = run(cluster, "release", "s3/Bucket", "prod-artifacts", "--reason", "moved", "--service-account",
                   "team-a/team-a-owner")
    assert released.returncode == 1 and "truce transfer" in released.stderr, released.stderr
    protected = run(cluster, "protect", "s3/Bucket/prod-artifacts", "--reason", "moved", "--service-account",
                    "team-a/team-a-owner")
    assert protected.returncode == 0, protected.stderr
    audit = proxied.command("audit", "-o", "json").stdout
    assert "system:serviceaccount:team-a:team-a-owner (Kubernetes token)" in audit


def test_the_proxy_of_a_kubeconfig(cluster, proxied, user, tmp_path):
    """Commands reach the API server through it, and a server follows the cluster through it."""
    make_account(user("admin"), "team-a", "team-a-owner", "owner")
    config = json.loads(cluster.kubeconfig().read_text())
    reached = config["clusters"][0]["cluster"]
    with ConnectProxy(urlsplit(reached["server"]).port) as proxy:
        reached["proxy-url"] = f"http://{proxy.address}"
        file = tmp_path / "behind-a-proxy.json"
        file.write_text(json.dumps(config))
        found = run(cluster, "who-owns", "s3/Bucket/prod-artifacts", "--service-account", "team-a/team-a-owner",
                    env={"KUBECONFIG": str(file)})
        assert found.returncode == 0 and "ObjectStorage team-a/artifacts" in found.stdout, found.stderr
        by_command = len(proxy.asked)
        assert by_command >= 1
        folder = tmp_path / "behind"
        folder.mkdir()
        server = TruceProcess(folder, {"mappings": OBJECT_STORAGE_MAPPINGS}, kubeconfig=file)
        try:
            server.start()
            server.wait_for_state("prod-artifacts", "held")
        finally:
            server.stop()
        assert len(proxy.asked) > by_command


def make_operator(admin, namespace: str, name: str, rules: list[dict]) -> None:
    """A ServiceAccount with these rights in the whole cluster."""
    make_account(admin, namespace, name)
    rbac = "/apis/rbac.authorization.k8s.io/v1"
    role = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
            "metadata": {"name": name}, "rules": rules}
    binding = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
               "metadata": {"name": name},
               "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name},
               "subjects": [{"kind": "ServiceAccount", "name": name, "namespace": namespace}]}
    for plural, obj in (("clusterroles", role), ("clusterrolebindings", binding)):
        assert admin.request("POST", f"{rbac}/{plural}", obj).status in (201, 409)


def rule(resource: str, verb: str) -> dict:
    return {"apiGroups": ["truce.dev"], "resources": [resource], "verbs": [verb]}


def test_reports_and_commands_from_anywhere(cluster, proxied, user):
    """Each right alone lets its own commands through, and the audit log has each use."""
    admin = user("admin")
    make_operator(admin, "team-a", "reads-reports", [rule("ownerships", "get")])
    make_operator(admin, "team-a", "ends-recovery", [rule("recovery", "update")])
    make_operator(admin, "team-a", "lets-brake-go", [rule("brake", "update")])
    reads, recovery, brake = (["--service-account", f"team-a/{name}"]
                              for name in ("reads-reports", "ends-recovery", "lets-brake-go"))
    for report in (["conflicts"], ["coverage"], ["baseline"], ["baseline", "--names"], ["simulate"],
                   ["recovery"], ["brake"]):
        shown = run(cluster, *report, *reads)
        beside = proxied.command(*report)
        assert shown.returncode == beside.returncode != 3, (report, shown.stderr)
        # But for the times, which are those of the two questions.
        title, same = (re.sub(r"\b2\d{3}-[\d:T.-]+Z", "", each.stdout.partition("\n")[0])
                       for each in (shown, beside))
        assert title == same, report
        for other in (recovery, brake):
            refused = run(cluster, *report, *other)
            assert refused.returncode == 1 and "may not get ownerships" in refused.stderr, report
    start = ["recovery", "start", "--reason", "restored from yesterday"]
    release = ["brake", "release", "--reason", "deleted on purpose"]
    for command, may, others in ((start, recovery, (reads, brake)),
                                 (["recovery", "finish", "--force"], recovery, (reads, brake)),
                                 (release, brake, (reads, recovery))):
        for other in others:
            refused = run(cluster, *command, *other)
            assert refused.returncode == 1 and f"may not update {command[0]}" in refused.stderr
        done = run(cluster, *command, *may)
        assert done.returncode == 0, done.stderr
    lines = json.loads(proxied.command("audit", "--action", "administered", "-o", "json").stdout)["items"]
    by = {(line["actor"].split(" ")[0].rpartition(":")[2], line["cause"]) for line in lines}
    assert {("reads-reports", f"read the report {name}") for name in
            ("conflicts", "coverage", "baseline", "names", "trial", "recovery", "brake")} | {
        ("ends-recovery", "recovery mode: restored from yesterday"),
        ("lets-brake-go", "brake released for 0 objects: deleted on purpose")} <= by
    assert any(who == "ends-recovery" and cause.startswith("recovery mode ended") for who, cause in by)


def test_the_page_is_asked_through_the_api_server(cluster, proxied, user):
    """A browser with nothing but a cookie of `truce page`; what it may see is the account's."""
    make_account(user("admin"), "team-a", "team-a-owner", "owner")
    process = subprocess.Popen(
        [str(BINARY), "page", "--no-browser", "--service-account", "team-a/team-a-owner"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd="/",
        env={"PATH": "/usr/bin:/bin", "KUBECONFIG": str(cluster.kubeconfig("admin"))})
    try:
        line = process.stdout.readline()
        found = re.search(r"http://127[.]0[.]0[.]1:([0-9]+)(/[^ \n]*)", line)
        assert found, line + process.stderr.read()
        page = http.client.HTTPConnection("127.0.0.1", int(found[1]), timeout=30)

        def get(path: str, **headers: str):
            page.request("GET", path, headers=headers)
            answer = page.getresponse()
            return answer.status, answer.read(), answer.headers

        assert get("/api/v1/resources?namespace=team-a")[0] == 403
        entered = get(found[2])
        assert entered[0] == 303
        cookie = {"Cookie": entered[2]["Set-Cookie"].split(";")[0]}
        status, body, _ = get("/api/v1/resources?namespace=team-a", **cookie)
        assert status == 200, body
        assert [item["name"] for item in json.loads(body)["items"]] == ["prod-artifacts"]
        assert get("/api/v1/resources?namespace=team-b", **cookie)[0] == 403
        assert get("/openapi.yaml", **cookie)[1].startswith(b"# The REST API")
        page.close()
    finally:
        process.terminate()
        assert process.wait(timeout=30) == 0
        process.stdout.close()
        process.stderr.close()


def test_kubectl_truce(cluster, proxied, user, tmp_path):
    """The program linked as kubectl-truce is a command of the real kubectl."""
    make_account(user("admin"), "team-a", "team-a-owner", "owner")
    (tmp_path / "kubectl-truce").symlink_to(BINARY)
    found = subprocess.run(
        [str(PEERS / "kubectl"), "truce", "who-owns", "s3/Bucket/prod-artifacts", "--service-account", "team-a/team-a-owner"],
        capture_output=True, text=True, timeout=60, cwd="/", check=False,
        env={"PATH": f"{tmp_path}:/usr/bin:/bin", "KUBECONFIG": str(cluster.kubeconfig("admin"))})
    assert found.returncode == 0, found.stderr
    assert "ObjectStorage team-a/artifacts" in found.stdout


def test_what_stands_in_the_way_is_said(cluster, proxied, user):
    admin = user("admin")
    make_account(admin, "team-a", "nobody")
    nothing = run(cluster, "list")
    assert nothing.returncode == 2 and "--service-account NAMESPACE/NAME" in nothing.stderr
    no_account = run(cluster, "list", "--service-account", "team-a/missing")
    assert no_account.returncode == 1 and "no token of ServiceAccount team-a/missing" in no_account.stderr
    elsewhere = run(cluster, "list", "--service-account", "team-a/nobody", "--via", "team-a/missing")
    assert elsewhere.returncode != 0 and "missing" in elsewhere.stderr
    no_right = run(cluster, "list", "--service-account", "team-a/nobody", actor="team-b")
    assert no_right.returncode == 1 and "bob@example.org" in no_right.stderr
    bad = run(cluster, "list", "--via", "truce-api")
    assert bad.returncode == 2 and "NAMESPACE/NAME" in bad.stderr


def test_forged_fields_are_not_believed(cluster, proxied, user):
    """What a caller writes about himself counts for nothing, through the proxy and beside it."""
    admin = user("admin")
    path = f"/api/v1/namespaces/{NAMESPACE}/services/https:{SERVICE}:api/proxy/api/v1/resources"
    forged = {"X-Remote-User": "system:admin", "X-Remote-Group": "system:masters",
              "X-Forwarded-User": "admin"}
    for fields in ({}, forged, {"X-Truce-Authorization": "Bearer admin"},
                   {"X-Truce-Authorization": "Basic YTpi"}):
        assert admin.request("GET", path, fields=fields).status == 401, fields
