"""A real Crossplane core at healthy work, every guard enforced: thirty claims, churn, two revisions of the
Composition, a restart of the core. Nothing is refused, warned of or found."""

import pytest

from support.crossplane import ControlPlane
from support.objects import claim
from support.processes import wait_for

pytestmark = [pytest.mark.peer("crossplane"), pytest.mark.slow(18)]

CLAIMS = 30
SECONDS = 60.0
GUARDS = ("claim-binding", "claim-takeover", "orphaning-update", "restored-delete", "restored-twin")
CONFIG = {
    "rules": {rule: {"mode": "enforce"} for rule in GUARDS},
    # What is composed outlives its claim here. One place more: the last one would warn.
    "quotas": [{"type": "s3/Bucket", "namespace": "team-*", "max": CLAIMS + 12, "warnAt": 100}],
}
COMPOSITION = {"apiVersion": "apiextensions.crossplane.io/v1", "kind": "Composition",
               "metadata": {"name": "objectstorage"}}


@pytest.fixture(scope="module")
def plane(tmp_path_factory):
    with ControlPlane(tmp_path_factory.mktemp("healthy"), CONFIG) as plane:
        plane.cluster.register_webhook(
            plane.truce.admission_url, plane.truce.ca_file, compositions=True)
        yield plane


def named(number: int) -> dict:
    return claim(f"c{number}", "team-a", f"files-{number}")


def said(truce) -> dict[str, float]:
    """Every review that was not simply allowed, and every finding of a rule, with its count."""
    out = {}
    for line in truce.metrics_get("/metrics")[1].splitlines():
        name, _, value = line.rpartition(" ")
        refused = name.startswith("truce_admission_reviews_total") and 'verdict="allowed"' not in name
        if (refused or name.startswith("truce_admission_findings_total")) and float(value):
            out[name] = float(value)
    return out


def composed(client, kind: str) -> dict[str, list[dict]]:
    """What is composed, by composite; Crossplane takes the labels off what it is about to delete."""
    version = "s3.aws.upbound.io/v1beta2" if kind == "Bucket" else "sqs.aws.upbound.io/v1beta1"
    out: dict[str, list[dict]] = {}
    for item in client.list(version, kind).expect().body["items"]:
        owner = item["metadata"].get("labels", {}).get("crossplane.io/composite", "")
        out.setdefault(owner, []).append(item)
    return out


def wait_for_composed(client, kind: str, names: set[str]) -> None:
    """Until each of these claims has one of the kind, and nobody else living has."""
    def claims() -> set[str]:
        composites = client.list("platform.example.org/v1alpha1", "XObjectStorage").expect()
        have = composed(client, kind)
        return {item["spec"]["claimRef"]["name"] for item in composites.body["items"]
                if len(have.get(item["metadata"]["name"], [])) == 1}

    wait_for(lambda: claims() == names, SECONDS, f"a {kind} of each of {len(names)} claims")


def test_nothing_is_said_of_healthy_work(plane):
    with plane.client() as admin, plane.client("team-a") as team:
        warnings = []
        for number in range(CLAIMS):
            warnings += team.create(named(number)).expect(201).warnings
        names = {f"c{number}" for number in range(CLAIMS)}
        wait_for_composed(admin, "Queue", names)
        # Churn: some change, some go, others come.
        for number in range(10):
            change = {"metadata": {"labels": {"changed": "yes"}},
                      "spec": {"parameters": {"region": "eu-west-1"}}}
            warnings += team.patch(named(number), change).expect().warnings
        for number in range(10, 20):
            warnings += team.delete(named(number)).expect().warnings
        for number in range(CLAIMS, CLAIMS + 10):
            warnings += team.create(named(number)).expect(201).warnings
        names = {f"c{number}" for number in (*range(10), *range(20, CLAIMS + 10))}
        wait_for_composed(admin, "Bucket", names)
        # A revision that changes what is composed, and one that drops the queues.
        bucket, queue = admin.get(COMPOSITION).expect().body["spec"]["resources"]
        tagged = {**bucket, "base": {**bucket["base"], "spec": {
            **bucket["base"]["spec"], "forProvider": {"region": "us-west-2", "tags": {"a": "b"}}}}}
        for resources in ([tagged, queue], [tagged]):
            warnings += admin.patch(COMPOSITION, {"spec": {"resources": resources}}).expect().warnings
            wait_for(lambda: sum(item["spec"]["forProvider"].get("tags") == {"a": "b"}
                                 for items in composed(admin, "Bucket").values() for item in items)
                     >= len(names), SECONDS, "the tag on each bucket")
        left = admin.list("platform.example.org/v1alpha1", "XObjectStorage").expect().body["items"]
        living = {item["metadata"]["name"] for item in left}
        wait_for(lambda: not living & set(composed(admin, "Queue")), SECONDS, "no queue of the living")
        plane.restart_core()
        warnings += team.create(named(CLAIMS + 10)).expect(201).warnings
        wait_for_composed(admin, "Bucket", names | {f"c{CLAIMS + 10}"})
    assert warnings == []
    assert said(plane.truce) == {}
    found = plane.truce.operator_get("/api/v1/findings")[1]["items"]
    # Of the tests' registration, which has not all entries, two detectors rightly tell.
    of_setup = ("not-covered", "webhook-configuration")
    assert [item for item in found if item["rule"] not in of_setup] == []
