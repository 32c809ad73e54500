"""The REST API of a running server: every operation against schema/openapi.yaml, who may call, and
requests made up from the specification."""

import hashlib
import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from urllib.parse import quote

import pytest

from support import objects
from support.api_client import ApiClient
from support.openapi import SPECIFICATION, Specification
from support.truce_process import OBJECT_STORAGE_MAPPINGS, TruceProcess

TOKENS = {"root": ("admin", "token-of-root-0001"), "eve": ("viewer", "token-of-eve-00002")}
FUZZ_SECONDS = 30  # its own budget for made-up requests
FUZZ_SECONDS_MAX = 400  # with loading and examples, on a busy machine


def creation(obj: dict) -> dict:
    """The review of an object's creation."""
    group, _, version = obj["apiVersion"].partition("/")
    kind = {"group": group, "version": version, "kind": obj["kind"]}
    metadata = obj["metadata"]
    uid = f"uid-of-{metadata.get('namespace', '')}-{metadata['name']}"
    return {
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "request": {
            "uid": "review-of-" + uid,
            "kind": kind,
            "requestKind": kind,
            "name": metadata["name"],
            "namespace": metadata.get("namespace", ""),
            "operation": "CREATE",
            "userInfo": {"username": "ann"},
            "object": obj | {"metadata": metadata | {"uid": uid}},
        },
    }


def wait_for(condition, seconds: float = 15.0) -> bool:
    """Polls until `condition()` is true."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        threading.Event().wait(0.05)
    return True


@pytest.fixture
def api(tmp_path):
    """A server with three buckets and one denial, and a client with the admin's token."""
    tokens = tmp_path / "tokens"
    tokens.write_text("".join(
        f"{hashlib.sha256(token.encode()).hexdigest()} {role} {name}\n"
        for name, (role, token) in TOKENS.items()))
    config = {"mappings": OBJECT_STORAGE_MAPPINGS, "apiTokenFile": str(tokens)}
    with TruceProcess(tmp_path, config) as truce:
        with truce.reviewer() as reviewer:
            for name in ("one", "two", "three"):
                claim = objects.claim(name, "team-a", f"prod-{name}")
                status, response = reviewer.review(creation(claim))
                assert status == 200 and response["allowed"], (status, response, truce.logs())
            stranger = objects.claim("mine", "team-b", "prod-one")
            status, response = reviewer.review(creation(stranger))
            assert status == 200 and not response["allowed"], (status, response, truce.logs())
        address = json.loads((truce.data / "addresses.json").read_text())["api"]
        client = ApiClient(address, truce.ca_file, TOKENS["root"][1])
        client.truce, client.config = truce, config
        yield client


# What only a server that follows a cluster answers.
CLUSTER = {("GET", f"/api/v1/{name}") for name in ("baseline", "brake", "coverage", "names", "recovery")} | {
    ("POST", f"/api/v1/{name}") for name in ("brake/release", "recovery/finish", "recovery/start")}


def without_cluster(api) -> None:
    """What is about a cluster says that none is followed."""
    for method, path in CLUSTER:
        body = {"reason": "r"} if method == "POST" else None
        answer = api.call(method, path, body)
        assert answer.status == 404 and "follows no cluster" in answer.json["detail"], path


def resource_of(api, name: str) -> dict:
    found = api.get("/api/v1/resources:lookup", type="s3/Bucket", name=name).json
    assert not found["free"]
    return found["resources"][0]


def break_glass(api) -> None:
    """An override is audited instead of denied, until it is ended."""
    buckets = {"items": [objects.bucket("x", "prod-two")]}
    wanted = {"name": "prod-two", "until": "2000-01-01T00:00:00Z", "reason": "incident 4711"}
    assert api.call("POST", "/api/v1/overrides", wanted).status == 400
    wanted["until"] = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 3600))
    made = api.call("POST", "/api/v1/overrides", wanted)
    assert made.status == 201
    assert api.get("/api/v1/overrides").json["items"] == [made.json]
    assert api.call("POST", "/api/v1/checks", buckets).json["verdict"] == "allowed"
    assert api.call("DELETE", f"/api/v1/overrides/{made.json['id']}").status == 200
    assert api.call("POST", "/api/v1/checks", buckets).json["verdict"] == "denied"
    audit = api.get("/api/v1/audit", action="administered").json["items"]
    assert ["ended" in line["cause"] for line in audit[:2]] == [True, False]


def quotas(api) -> None:
    """How far they are used, as JSON and for people; in force without a restart."""
    assert api.get("/api/v1/quotas").json == {"items": [], "cut": False, "uncounted": []}
    api.truce.write_config(api.config | {"quotas": [{"type": "s3/Bucket", "namespace": "team-*", "max": 4},
                                                 {"type": "s3/Bucket", "account": "*", "max": 9}]})
    assert wait_for(lambda: api.get("/api/v1/quotas").json["items"])
    used = api.get("/api/v1/quotas", namespace="team-a").json
    assert [(each["in"]["namespace"], each["used"], each["warnsFrom"], each["state"])
            for each in used["items"]] == [("team-a", 3, 4, "free")]
    assert used["items"][0]["awsDefault"]["max"] == 10000
    assert used["uncounted"] == [{"type": "s3/Bucket", "count": 3}]
    assert "3/4" in api.get("/api/v1/quotas", output="text").json["text"]
    assert api.get("/api/v1/quotas", namespace="team-b").json["items"] == []
    assert api.get("/api/v1/quotas", output="xml").status == 400
    api.truce.write_config(api.config)
    assert wait_for(lambda: not api.get("/api/v1/quotas").json["items"])


def agree(api, resource: str) -> None:
    """A share, a hand-over and a protection, each from its begin to its end."""
    say, any_state = {"reason": "agreed"}, {"If-Match": "*"}
    wanted = {"resource": resource, "namespace": "team-b", "reason": "reads it"}
    share = api.call("POST", "/api/v1/shares", {**wanted, "level": "attach"})
    assert share.status == 201 and share.json["state"] == "active"
    at = f"/api/v1/shares/{share.json['id']}"
    assert api.get("/api/v1/shares", to="team-b").json["items"] == [share.json]
    assert api.get(at).headers["ETag"] == share.headers["ETag"]
    assert api.call("DELETE", at).status == 428
    assert api.call("DELETE", at, headers={"If-Match": '"old"'}).status == 412
    assert api.call("DELETE", at, headers={"If-Match": share.headers["ETag"]}).status == 200
    offer = api.call("POST", "/api/v1/transfers", wanted)
    assert offer.status == 201 and [step["done"] for step in offer.json["steps"]][:2] == [True, False]
    at = f"/api/v1/transfers/{offer.json['id']}"
    assert api.get("/api/v1/transfers", resource=resource).json["items"] == [offer.json]
    successor = {"successor": "ObjectStorage/team-b/files"}
    accepted = api.call("POST", at + ":accept", successor, {"If-Match": offer.headers["ETag"]})
    assert accepted.json["state"] == "accepted"
    assert api.get(at).json == accepted.json
    assert api.call("POST", at + ":decline", say, any_state).status == 200
    assert api.get(at).status == 404
    again = api.call("POST", "/api/v1/transfers", wanted).json["id"]
    assert api.call("POST", f"/api/v1/transfers/{again}:withdraw", say, any_state).status == 200
    at = f"/api/v1/resources/{resource}"
    assert api.call("POST", at + ":protect", say, any_state).json["protection"]["reason"] == "agreed"
    assert api.get(at).json["protection"]["by"].startswith("root (static token)")
    assert api.call("POST", at + ":unprotect", say, any_state).json["protection"] is None
    assert api.call("POST", at + ":unprotect", say, any_state).status == 404


def test_every_operation_answers_as_described(api):
    assert api.get("/api/v1/version").json["version"]
    assert api.get("/api/v1/refusals").json == {"mode": "enforce", "suspended": []}
    assert api.get("/openapi.yaml").body.decode() == SPECIFICATION.read_text()
    assert len(api.get("/api/v1/types").json["items"]) > 100
    page = api.get("/api/v1/resources", limit=2).json
    assert len(page["items"]) == 2
    rest = api.get("/api/v1/resources", cursor=page["nextCursor"]).json
    assert len(rest["items"]) == 1
    one = resource_of(api, "prod-one")
    whole = api.get(f"/api/v1/resources/{one['id']}")
    assert whole.json["denials"][0]["object"]["namespace"] == "team-b"
    tag = whole.headers["ETag"]
    unchanged = api.call("GET", f"/api/v1/resources/{one['id']}", headers={"If-None-Match": tag})
    assert unchanged.status == 304
    services = api.get("/api/v1/services").json["items"]
    assert sum(each["ownerships"] for each in services) == 3
    service = api.get("/api/v1/services/" + quote(services[0]["service"], safe=""))
    assert service.json["byState"] == {"reserved": services[0]["ownerships"]}
    assert api.get("/api/v1/overview").json == {
        "ownerships": 3, "byState": {"reserved": 3, "held": 0, "orphaned": 0, "imported": 0}, "conflicts": 0}
    matrix = api.get("/api/v1/matrix").json
    assert matrix["columns"] == [{"name": "s3/Bucket", "count": 3}] and matrix["complete"]
    assert sum(cell["count"] for row in matrix["rows"] for cell in row["cells"]) == 3
    assert api.get("/api/v1/matrix", by="account").json["columns"] == [{"name": "", "count": 3}]
    assert api.get("/api/v1/matrix", account="111122223333").json["rows"] == []
    assert api.get("/api/v1/matrix", by="region").status == 400
    denial = api.get("/api/v1/denials").json["items"][0]
    assert (denial["count"], denial["then"]) == (1, {"outcome": "none", "resource": None})
    assert api.get(f"/api/v1/denials/{denial['id']}").json == denial
    assert api.get("/api/v1/denials/aaaaaaaaaa").status == 404
    chain = api.get(f"/api/v1/lineage/{one['id']}").json
    assert [(each["object"]["name"], each["above"], each["intent"]) for each in chain["objects"]] == [("one", None, "deletes")]
    assert api.get("/api/v1/lineage/aaaaaaaaaaaaa").status == 404
    assert api.get(f"/api/v1/endings/{one['id']}").status == 404
    assert len(api.get("/api/v1/audit").json["items"]) == 3
    lines = api.get("/api/v1/audit", format="ndjson", order="oldest").body.splitlines()
    assert [json.loads(line)["number"] for line in lines] == [1, 2, 3]
    assert api.get("/api/v1/conflicts").json == {"items": []}
    assert api.get("/api/v1/conflicts", output="text").json["count"] == 0
    assert api.get("/api/v1/trial", since="2026-11-21T18:00:00Z").json == {"items": []}
    [use, other] = api.get("/api/v1/audit", action="administered").json["items"]
    assert [use["cause"], other["cause"]] == ["read the report trial", "read the report conflicts"]
    assert api.get("/api/v1/findings").json == {"items": [], "muted": 0}
    assert api.get("/api/v1/mutes").json == {"items": []}
    assert api.get("/api/v1/findings/aaaaaaaaaa").status == 404
    until = {"until": "2100-01-01T00:00:00Z", "reason": "r"}
    assert api.call("POST", "/api/v1/findings/aaaaaaaaaa:mute", until).status == 404
    assert api.call("POST", "/api/v1/findings/aaaaaaaaaa:unmute", {}).status == 404
    states = {each["name"]: each["state"] for each in api.get("/api/v1/doctor").json["items"]}
    assert states == {"store": "ok", "readiness": "ok", "refusals": "ok", "disk": "ok", "configuration": "ok",
                      "certificate": "ok", "cluster": "warning"}
    without_cluster(api)
    assert api.get("/api/v1/backup").body[:15] == b"SQLite format 3"
    break_glass(api)
    quotas(api)
    outside = {"source": "terraform:net",
               "resources": [{"type": "s3/Bucket", "name": "outside"}, {"type": "s3/Bucket", "name": "prod-two"}]}
    plan = api.call("POST", "/api/v1/imports", outside)
    assert (plan.json["counts"]["new"], plan.json["counts"]["conflicting"]) == (1, 1)
    outside |= {"apply": True, "skip": ["conflicting"]}
    assert api.call("POST", "/api/v1/imports", outside).status == 428
    assert api.call("POST", "/api/v1/imports", outside, {"If-Match": plan.headers["ETag"]}).json["applied"]
    assert api.get("/api/v1/imports").json["items"] == [{"source": "terraform:net", "resources": 1}]
    reserved = {"source": "terraform:net", "type": "s3/Bucket", "name": "prod-next", "minutes": 10}
    assert api.call("POST", "/api/v1/reservations", reserved).json["action"] == "reserved"
    del reserved["minutes"]
    assert api.call("POST", "/api/v1/reservations", reserved | {"release": True}).json["action"] == "released"
    whole = api.get("/api/v1/registry", limit=3).json["items"]
    whole += api.get("/api/v1/registry", cursor=api.get("/api/v1/registry", limit=3).json["nextCursor"]).json["items"]
    assert [item["resource"]["name"] for item in whole] == ["outside", "prod-one", "prod-three", "prod-two"]
    check = api.call("POST", "/api/v1/checks", {"items": [objects.bucket("x", "prod-two")]}).json
    assert check["verdict"] == "denied"
    agree(api, one["id"])
    orphaned = api.call("POST", "/api/v1/releases", {"type": "s3/Bucket"})
    assert (orphaned.json["items"], orphaned.json["applied"]) == ([], False)
    assert api.call("POST", "/api/v1/releases", {"reason": "all of them"}).status == 400
    release = f"/api/v1/resources/{one['id']}:release"
    tag = api.get(f"/api/v1/resources/{one['id']}").headers["ETag"]
    assert api.call("POST", release, {"reason": "gone"}).status == 428
    assert api.call("POST", release, {"reason": "gone"}, {"If-Match": '"old"'}).status == 412
    assert api.call("POST", release, {"reason": "gone"}, {"If-Match": tag}).status == 200
    ending = api.get(f"/api/v1/endings/{one['id']}").json
    assert (ending["root"]["name"], ending["action"]) == ("one", "released") and "gone" in ending["cause"]
    last = api.get("/api/v1/audit", limit=1).json["items"][0]
    assert last["actor"] == "root (static token) from 127.0.0.1"
    assert api.get("/api/v1/resources:lookup", name="prod-one").json["free"]
    answered = {(method, path) for method, path, status in api.seen if status < 400}
    # These need a cluster that is followed: e2e/test_findings.py, e2e/test_command_line.py.
    followed = {("GET", "/api/v1/findings/{id}"), ("POST", "/api/v1/findings/{id}:mute"),
                ("POST", "/api/v1/findings/{id}:unmute")} | CLUSTER
    assert answered | followed == set(Specification().operations())
    assert not answered & followed


def test_examples_conform():
    specification = Specification()
    examples = specification.examples()
    assert examples
    for _, schema, value in examples:
        specification.check_value(schema, value)


def test_who_may_call(api):
    one = resource_of(api, "prod-one")
    release = f"/api/v1/resources/{one['id']}:release"
    api.token = ""
    refused = api.get("/api/v1/resources")
    assert refused.status == 401 and refused.headers["WWW-Authenticate"] == "Bearer"
    assert api.get("/api/v1/version").status == 200
    for token in ("wrong-token-0000000001", "a b", "\xe4"):
        api.token = token
        assert api.get("/api/v1/resources").status == 401
    api.token = TOKENS["eve"][1]
    assert api.get("/api/v1/resources").status == 200
    assert api.get("/api/v1/audit").status == 403
    assert api.get("/api/v1/conflicts").status == 200
    assert api.get("/api/v1/backup").status == 403
    for path in ("recovery/start", "recovery/finish", "brake/release"):
        assert api.call("POST", f"/api/v1/{path}", {"reason": "x"}).status == 403, path
    assert api.call("POST", release, {"reason": "x"}, {"If-Match": "*"}).status == 403
    # A token replaced in the file holds without a restart.
    fresh = "token-of-eve-00003"
    tokens = api.truce.directory / "tokens"
    tokens.write_text(f"{hashlib.sha256(fresh.encode()).hexdigest()} auditor eve\n")
    api.token = fresh
    assert wait_for(lambda: api.get("/api/v1/audit").status == 200)
    api.token = TOKENS["eve"][1]
    assert api.get("/api/v1/resources").status == 401


@pytest.mark.parametrize("body", [b"", b"[", b"[" * 100_000, b'{"items":[' + b"{" * 70, b"\xff",
                                  b'{"items": [null]}', b'{"items":[{"a":1}]}'])
def test_bad_bodies(api, body):
    assert api.call("POST", "/api/v1/checks", body).status == 400


def test_checks_are_of_one_mebibyte(api):
    fits = {"items": [objects.bucket("large", "large") | {"data": "x" * 1_000_000}]}
    assert api.call("POST", "/api/v1/checks", fits).json["verdict"] == "allowed"
    # Announced is enough to be refused.
    announced = {"Content-Length": "1048577", "Content-Type": "application/json"}
    assert api.raw("POST", "/api/v1/checks", b"x", announced).status == 413


def test_limits_and_paths(api):
    announced = {"Content-Length": "9000000", "Content-Type": "application/json"}
    assert api.raw("POST", "/api/v1/checks", b"x", announced).status == 413
    for path in ("/api/v1/nothing", "/api/v1/resources/../audit", "/api/v1/resources/%2e%2e/audit",
                 "/api/v1/resources/aaaaaaaaaaaaa/x", "/api/v1/services/"):
        answer = api.raw("GET", path)
        assert answer.status in (400, 404), path
    odd = api.raw("GET", "/api/v1/version", headers={"X-Request-Id": "a b<script>"})
    assert "script" not in odd.headers["X-Request-Id"]
    kept = api.raw("GET", "/api/v1/version", headers={"X-Request-Id": "my-id.1"})
    assert kept.headers["X-Request-Id"] == "my-id.1"


@pytest.mark.rotating(31)
@pytest.mark.timeout(FUZZ_SECONDS_MAX + 60)
def test_requests_made_from_the_specification(api, tmp_path):
    """No 5xx, no answer that is not described, no crash. The seed is in the output."""
    report = tmp_path / "schemathesis.txt"
    seed = os.environ.get("TRUCE_SEED", "1")
    print(f"seed {seed} (TRUCE_SEED)")
    with report.open("w") as out:
        code = subprocess.run(
            [str(Path(sys.executable).parent / "schemathesis"), "run",
             "--url", f"https://{api.address}", "--max-time", str(FUZZ_SECONDS),
             "--header", f"Authorization: Bearer {api.token}",
             "--tls-verify", str(api.truce.ca_file), "--seed", seed, "--max-examples", "20",
             "--checks", "not_a_server_error,response_schema_conformance,content_type_conformance,"
                         "status_code_conformance,response_headers_conformance",
             "--phases", "examples,fuzzing", "--no-color",
             str(SPECIFICATION)],
            stdout=out, stderr=subprocess.STDOUT, timeout=FUZZ_SECONDS_MAX, check=False).returncode
    assert code == 0, f"seed {seed}\n" + report.read_text()[-6000:]
    assert api.truce.running
    assert api.get("/api/v1/version").status == 200
