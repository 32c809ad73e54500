"""Findings as PolicyReport and Report objects, as Policy Reporter reads them."""

import json
import time

import pytest

from e2e.test_watch_findings import FAST
from support.objects import bucket, claim
from support.processes import wait_for

NO_TEAM = "default"  # a namespace without findings
LOOK_SECONDS = 60.0  # A look each 10 s, a round of writing each 30 s.
REFERENCE = {name: {"type": "string"} for name in ("apiVersion", "kind", "namespace", "name", "uid")}
KINDS = {
    "wgpolicyk8s.io": ("v1alpha2", "PolicyReport", "ClusterPolicyReport"),
    "openreports.io": ("v1alpha1", "Report", "ClusterReport"),
}
# Both groups' schema of a result; of the severities only those that every version has.
RESULT = {
    "type": "object",
    "required": ["policy"],
    "properties": {
        **{name: {"type": "string"} for name in ("source", "policy", "rule", "category", "message")},
        "severity": {"type": "string", "enum": ["high", "low", "medium"]},
        "result": {"type": "string", "enum": ["pass", "fail", "warn", "error", "skip"]},
        "scored": {"type": "boolean"},
        "resources": {"type": "array", "items": {"type": "object", "properties": REFERENCE}},
        "properties": {"type": "object", "additionalProperties": {"type": "string"}},
        "timestamp": {
            "type": "object",
            "required": ["seconds", "nanos"],
            "properties": {"seconds": {"type": "integer", "format": "int64"},
                           "nanos": {"type": "integer", "format": "int32"}},
        },
    },
}
COUNTS = ("pass", "fail", "warn", "error", "skip")


def definition(group: str, version: str, kind: str) -> dict:
    plural = kind.lower() + "s"
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {
            "group": group,
            "scope": "Cluster" if kind.startswith("Cluster") else "Namespaced",
            "names": {"kind": kind, "listKind": kind + "List", "plural": plural, "singular": kind.lower()},
            "versions": [{
                "name": version, "served": True, "storage": True,
                "schema": {"openAPIV3Schema": {
                    "type": "object",
                    "properties": {
                        "summary": {"type": "object", "properties": {name: {"type": "integer"} for name in COUNTS}},
                        "results": {"type": "array", "items": RESULT},
                    },
                }},
            }],
        },
    }


@pytest.fixture
def served(cluster, user):
    """A function that has the API servers serve the two kinds of a group, until the test ends."""
    admin = user("admin")
    servers = [user("admin", server=number) for number in range(cluster.api_servers)]
    made = []

    def serve(group: str) -> None:
        version, *kinds = KINDS[group]
        for kind in kinds:
            made.append(definition(group, version, kind))
            admin.create(made[-1]).expect(201)
        for kind in kinds:
            path = f"/apis/{group}/{version}/{kind.lower()}s"
            wait_for(lambda: admin.request("GET", path).status == 200, 30, f"{kind} served")

    yield serve
    for each in made:
        servers[0].delete(each).expect()
    # Who starts next must not be told of what is about to go.
    for group in {each["spec"]["group"] for each in made}:
        for server in servers:
            wait_for(lambda: all(each["name"] != group for each in server.request("GET", "/apis").expect().body["groups"]),
                     60, f"{group} gone from an API server")


def report(admin, group: str, namespace: str) -> dict | None:
    version, namespaced, cluster = KINDS[group]
    path = f"/apis/{group}/{version}"
    path += f"/namespaces/{namespace}/{namespaced.lower()}s/truce" if namespace else f"/{cluster.lower()}s/truce"
    reply = admin.request("GET", path)
    return reply.body if reply.status == 200 else None


def wait_until_gone(admin, group: str, namespace: str) -> None:
    left = []

    def is_gone() -> bool:
        left[:] = [report(admin, group, namespace)]
        return left == [None]

    try:
        wait_for(is_gone, LOOK_SECONDS, f"the report of {namespace} gone")
    finally:
        assert left == [None], f"a report is still there: {left[0]['results']}"


def as_policy_reporter_reads(body: dict) -> list[dict]:
    """What Policy Reporter takes of a report: each result has what its lists and messages show."""
    out = []
    for result in body["results"]:
        assert result["source"] and result["policy"] and result["rule"] and result["message"]
        assert isinstance(result["scored"], bool)
        out.append(result)
    counts = {name: sum(result["result"] == name for result in out) for name in COUNTS}
    assert body["summary"] == counts
    return out


@pytest.mark.rotating(33)  # rounds of writing, half a minute apart
@pytest.mark.parametrize("group", KINDS)
def test_conflicts_stand_in_a_report_of_each_namespace(group, served, follow, user):
    served(group)
    admin = user("admin")
    admin.create(claim("files", "team-a", "team-bucket")).expect(201)
    made = int(time.time())  # creationTimestamp has whole seconds: team-b's is younger
    wait_for(lambda: int(time.time()) > made, 5, "the next second")
    admin.create(claim("files", "team-b", "team-bucket")).expect(201)
    for name in ("three", "four"):
        admin.create(bucket(name, "platform-bucket")).expect(201)
    truce = follow({**FAST, "policyReports": "auto", "disclosure": "service"})

    def conflicts(namespace: str) -> list[dict]:
        body = report(admin, group, namespace)
        return [result for result in as_policy_reporter_reads(body) if result["policy"] == "ownership-conflict"] if body else []

    (of_team_b,) = wait_for(lambda: conflicts("team-b"), LOOK_SECONDS, "the report of team-b")
    assert [(each["kind"], each["namespace"], each["name"]) for each in of_team_b["resources"]] == [
        ("ObjectStorage", "team-b", "files")]
    assert (of_team_b["result"], of_team_b["severity"]) == ("warn", "medium")
    # Below full disclosure a namespace's report names no other owner.
    assert "team-a" not in json.dumps(report(admin, group, "team-b")["results"])
    (of_cluster,) = wait_for(lambda: conflicts(""), LOOK_SECONDS, "the cluster's report")
    assert {each["name"] for each in of_cluster["resources"]} == {"three", "four"}
    assert truce.metric('truce_policy_reports_total{outcome="failed"}') == 0

    # What ends goes, and what a former run left too.
    admin.delete(claim("files", "team-b", "team-bucket")).expect()
    wait_until_gone(admin, group, "team-b")
    assert truce.stop() == 0
    version, namespaced, _ = KINDS[group]
    left = {"apiVersion": f"{group}/{version}", "kind": namespaced,
            "metadata": {"name": "truce", "namespace": NO_TEAM}, "results": [{"policy": "old"}]}
    path = f"/apis/{group}/{version}/namespaces/{NO_TEAM}/{namespaced.lower()}s"
    admin.request("POST", path, left).expect(201)
    other = {**left, "metadata": {"name": "somebody-elses", "namespace": NO_TEAM}}
    admin.request("POST", path, other).expect(201)
    truce.start()
    wait_until_gone(admin, group, NO_TEAM)
    admin.request("GET", f"{path}/somebody-elses").expect()


def test_without_the_kinds_nothing_is_written(follow, user):
    user("admin").create(claim("files", "team-a", "team-bucket")).expect(201)
    truce = follow({**FAST, "policyReports": "auto"})
    assert truce.metric('truce_policy_reports_total{outcome="failed"}') == 0
