"""What only the watch can show, told where people look: findings, Events, commands, metrics."""

import json

import pytest

from support.objects import (
    COMPOSITION_RESOURCE_NAME,
    bucket,
    claim,
    claim_labels,
    composite,
    controller_reference,
    object_reference,
)
from support.kube_client import Client
from support.processes import wait_for
from support.provider import finish_deletion, make_real
from support.truce_process import OBJECT_STORAGE_MAPPINGS, TruceProcess
from support.verdicts import assert_refused
from support.webhook_registration import CHECKS, CONFIGURATION

NAME = "prod-artifacts"
FAST = {"mappings": OBJECT_STORAGE_MAPPINGS, "drainGrace": "0s"}
LOOK_SECONDS = 15.0  # Detectors look every 10 s.
WEBHOOK = (
    "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/" + CONFIGURATION
)


def findings(truce: TruceProcess, rule: str) -> list[dict]:
    status, body = truce.operator_get("/api/v1/findings", rule=rule)
    assert status == 200, body
    return body["items"]


def wait_for_finding(truce: TruceProcess, rule: str, subject: str) -> dict:
    def find():
        return [item for item in findings(truce, rule) if subject in item["subject"]]

    return wait_for(find, LOOK_SECONDS, f"finding {rule} about {subject}")[0]


def warnings_about(client: Client, obj: dict) -> list[dict]:
    """The Warning Events of Truce about `obj`, which has its uid."""
    namespace = obj["metadata"].get("namespace", "default")
    listed = client.request("GET", f"/api/v1/namespaces/{namespace}/events").expect()
    return [
        event
        for event in listed.body["items"]
        if event["involvedObject"].get("uid") == obj["metadata"]["uid"]
        and event["type"] == "Warning"
        and "truce" in json.dumps(event["source"]) + event.get("reportingComponent", "")
    ]


def test_a_provider_that_no_setting_names_is_named_from_its_second_object_on(follow, user):
    """As with IRSA and a service account of one's own name: each deletion leaves an orphan."""
    truce = follow(FAST)
    irsa, team = user("argocd"), user("team-a")
    for name in ("one", "two"):
        assert not findings(truce, "unmatched-provider")
        obj = bucket(name, name)
        team.create(obj).expect(201)
        make_real(irsa, obj)
        team.delete(obj).expect(200)
        finish_deletion(irsa, obj)
        wait_for(lambda: truce.state(name) == "orphaned", LOOK_SECONDS, f"{name} is orphaned")
    account = "system:serviceaccount:argocd:argocd-application-controller"
    finding = wait_for_finding(truce, "unmatched-provider", account)
    assert f'add "{account}" to the setting providers' in finding["remedy"], finding


def test_the_author_of_a_claim_learns_why_its_resource_was_refused(follow, user):
    follow(FAST)
    user("team-a").create(bucket("artifacts", NAME)).expect(201)
    crossplane, admin = user("crossplane"), user("admin")
    owner = user("team-b").create(claim("other", "team-b", "other-bucket")).expect(201).body
    xr = crossplane.create(composite("other-x7k2p", "other-bucket", owner)).expect(201).body
    crossplane.patch(owner, {"spec": {"resourceRef": object_reference(xr)}}).expect()
    composed = bucket(
        "other-x7k2p-aaaaa",
        NAME,
        annotations={COMPOSITION_RESOURCE_NAME: "bucket"},
        labels={**claim_labels(owner), "crossplane.io/composite": xr["metadata"]["name"]},
        ownerReferences=[controller_reference(xr)],
    )
    crossplane.patch(xr, {"spec": {"resourceRefs": [object_reference(composed)]}}).expect()
    for _ in range(3):  # Crossplane tries again and again; it is told once.
        reply = crossplane.apply(composed, manager="apiextensions.crossplane.io/composed/0a1b")
        assert_refused(reply, NAME, code=422)
    for obj in (owner, xr):
        (event,) = wait_for(
            lambda: warnings_about(admin, obj), LOOK_SECONDS, f"an Event on {obj['kind']}"
        )
        assert NAME in event["message"] and "artifacts" in event["message"], event


@pytest.mark.rotating(20)
def test_calls_that_aws_refuses_are_told_of(follow, user):
    """By conditions, as upjet writes them, and by an Event where the condition tells nothing."""
    truce, admin = follow(FAST), user("admin")
    text = ("observe failed: operation error S3: GetBucketTagging, https response error StatusCode: "
            "503, RequestID: {}, api error SlowDown: Please reduce your request rate.")
    refused = {"type": "Synced", "status": "False", "reason": "ReconcileError",
               "lastTransitionTime": "2026-11-21T12:00:00Z"}
    for name in ("one", "two"):
        stored = user("team-a").create(bucket(name, f"prod-{name}")).expect(201).body
        condition = {**refused, "message": text.format(name)}
        user("provider").patch_status(stored, {"conditions": [condition]}).expect()
    found = wait_for_finding(truce, "throttled-api", "s3/GetBucketTagging")
    assert "GetBucketTagging of S3" in found["cause"] and "SlowDown" in found["cause"], found
    assert "2 objects" in found["evidence"], found
    third = user("team-a").create(bucket("three", "prod-three")).expect(201).body
    truce.wait_for_state("prod-three", "held")
    event = {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": "three.1", "namespace": "default"},
        "involvedObject": {**object_reference(third), "uid": third["metadata"]["uid"]},
        "reason": "CannotObserveExternalResource",
        "type": "Warning",
        "message": text.format("three"),
    }
    admin.request("POST", "/api/v1/namespaces/default/events", event).expect(201)
    wait_for(lambda: "3 objects" in findings(truce, "throttled-api")[0]["evidence"],
             LOOK_SECONDS, "the Event counted")


def test_a_broken_registration_is_told_of(follow, cluster, user):
    truce, admin = follow(FAST, failure_policy=""), user("admin")
    # At the start there was none.
    cluster.register_webhook(truce.admission_url, truce.ca_file, own_kinds=True)
    wait_for(lambda: findings(truce, "webhook-configuration") == [], LOOK_SECONDS, "nothing wrong")
    wait_for(
        lambda: all("no-webhook" not in item["subject"] for item in findings(truce, "not-covered")),
        LOOK_SECONDS,
        "coverage knows it too",
    )
    good = admin.request("GET", WEBHOOK).expect().body["webhooks"]
    without_authority = json.loads(json.dumps(good))
    del without_authority[0]["clientConfig"]["caBundle"]
    admin.request(
        "PATCH", WEBHOOK, {"webhooks": without_authority}, "application/merge-patch+json"
    ).expect()
    found = wait_for_finding(truce, "webhook-configuration", "truce/")
    assert "CA" in found["cause"] + found["evidence"], found
    admin.request(
        "PATCH", WEBHOOK, {"webhooks": good}, "application/merge-patch+json"
    ).expect()
    wait_for(lambda: findings(truce, "webhook-configuration") == [], LOOK_SECONDS, "mended")
    for part, subject, mark in (
        ({"failurePolicy": "Ignore"}, "truce/failure-policy/checks.truce.dev", "[FAIL]"),
        (None, "truce/ownershipchecks/missing", "[warn]"),
    ):
        hooks = [hook if hook["name"] != CHECKS else part and hook | part for hook in good]
        admin.request("PATCH", WEBHOOK, {"webhooks": [hook for hook in hooks if hook]},
                      "application/merge-patch+json").expect()
        found = wait_for_finding(truce, "webhook-configuration", subject)
        assert found["remedy"], found
        assert f"{mark} webhook-configuration: {found['cause']}" in truce.command("doctor").stdout
    cluster.unregister_webhook()
    found = wait_for_finding(truce, "webhook-configuration", "truce/missing")
    assert "asks Truce nothing" in found["cause"]
    assert "NOT PROTECTED" in truce.command("coverage").stdout
    assert truce.metric('truce_findings{rule="webhook-configuration",mode="enforce"}') == 1


def update_event(obj: dict, count: int) -> dict:
    """What a provider's event recorder holds after `count` writes to the cloud resource."""
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": f"{obj['metadata']['name']}.1", "namespace": "default"},
        "involvedObject": {
            "apiVersion": obj["apiVersion"],
            "kind": obj["kind"],
            "name": obj["metadata"]["name"],
            "uid": obj["metadata"]["uid"],
        },
        "reason": "UpdatedExternalResource",
        "type": "Normal",
        "message": "Successfully requested update of external resource",
        "source": {"component": "managed/bucket.s3.aws.upbound.io"},
        "count": count,
        "firstTimestamp": "2026-11-21T12:00:00Z",
        "lastTimestamp": f"2026-11-21T12:{count:02}:00Z",
    }


@pytest.mark.rotating(11)
def test_a_tag_war_is_seen_while_it_runs(follow, cluster, user):
    admin = user("admin")
    sides = []
    for name in ("one", "two"):
        stored = admin.create(bucket(name, NAME)).expect(201).body
        make_real(user("provider"), stored)
        sides.append(stored)
    lone = admin.create(bucket("lone", "lone-bucket")).expect(201).body
    truce = follow(FAST)
    for count in (1, 2, 3, 4):
        for obj in (*sides, lone):
            event = update_event(obj, count)
            reply = admin.create(event) if count == 1 else admin.patch(event, event)
            reply.expect()
    found = wait_for_finding(truce, "tag-war", NAME)
    assert {obj["name"] for obj in found["objects"]} == {"one", "two"}, found
    assert len(findings(truce, "tag-war")) == 1
    for obj in sides:
        wait_for(lambda: warnings_about(admin, obj), LOOK_SECONDS, "an Event on each")
    assert warnings_about(admin, lone) == []
    done = truce.command("conflicts", "-o", "json")
    assert done.returncode == 1, done.stderr  # A conflict: the answer is no.
    (conflict,) = json.loads(done.stdout)["items"]
    assert conflict["war"]["writes"] >= 4
    for obj in (*sides, lone):
        admin.request(
            "DELETE", f"/api/v1/namespaces/default/events/{obj['metadata']['name']}.1"
        ).expect()


def test_kinds_outside_of_the_rules_are_not_protected(follow, user):
    truce, admin = follow(FAST), user("admin")

    def coverage() -> dict:
        done = truce.command("coverage", "--all", "-o", "json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    wait_for(lambda: coverage()["protectedKinds"] == coverage()["kinds"], LOOK_SECONDS, "all")
    hooks = admin.request("GET", WEBHOOK).expect().body["webhooks"]
    for rule in hooks[0]["rules"]:
        rule["apiGroups"].remove("sqs.aws.upbound.io")
    admin.request(
        "PATCH", WEBHOOK, {"webhooks": hooks}, "application/merge-patch+json"
    ).expect()
    shown = wait_for(
        lambda: (lambda now: now if now["protectedKinds"] < now["kinds"] else None)(coverage()),
        LOOK_SECONDS,
        "a kind less",
    )
    assert any("Queue" in gap["subject"] for gap in shown["gaps"]), shown
    assert truce.command("coverage", "--all", "--fail-on-warn").returncode == 4
    found = wait_for_finding(truce, "webhook-configuration", "truce/rule/")
    assert "sqs" in json.dumps(found), found
