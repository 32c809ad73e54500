"""What a changed Composition does to composites that exist is told to whoever changes it; and what Truce
makes of Crossplane's own kinds that it may not read."""

import json

import pytest

from e2e.test_claims import bound, second
from e2e.test_life_cycles import restored, vanish
from e2e.test_lineage import compose, composed_bucket, render
from support.cluster import REPOSITORY, Cluster
from support.objects import claim, object_reference
from support.processes import wait_for
from support.verdicts import assert_refused

KINDS = REPOSITORY / "tests/e2e/crossplane/kinds.yaml"
SECONDS = 60
BUCKET = {"name": "bucket", "base": {"apiVersion": "s3.aws.upbound.io/v1beta2", "kind": "Bucket"}}
USAGE = {"name": "usage", "base": {
    "apiVersion": "apiextensions.crossplane.io/v1beta1", "kind": "Usage",
    "spec": {"of": {"apiVersion": "s3.aws.upbound.io/v1beta2", "kind": "Bucket"}}}}
LOOK = ["get", "list", "watch"]
ALL_BUT_CROSSPLANE = [
    {"apiGroups": ["", "admissionregistration.k8s.io", "apiextensions.k8s.io", "events.k8s.io",
                   "platform.example.org", "s3.aws.upbound.io", "sqs.aws.upbound.io"],
     "resources": ["*"], "verbs": LOOK}]
CROSSPLANE = {"apiGroups": ["apiextensions.crossplane.io"], "resources": ["*"], "verbs": LOOK}
OF_LIFE_CYCLES = {"stale-usage", "deletion-blocked", "composite-not-seen", "claim-twice", "claim-stale",
                  "unreferenced-resource"}
OF_CROSSPLANE = ("/apis/apiextensions.crossplane.io/v1/compositeresourcedefinitions",
                 "/apis/apiextensions.crossplane.io/v1beta1/usages")


@pytest.fixture(scope="module")
def cluster():
    """One of its own, that knows Compositions and Usages."""
    with Cluster() as cluster:
        cluster.apply_crds()
        cluster.apply(KINDS)
        with cluster.client() as client:
            for path in (*OF_CROSSPLANE, "/apis/apiextensions.crossplane.io/v1/compositions"):
                wait_for(lambda: client.request("GET", path).ok, SECONDS, f"{path} served")
        yield cluster


@pytest.fixture
def telling(follow, cluster):
    """Truce, told of changed Compositions."""
    truce = follow()
    cluster.register_webhook(truce.admission_url, truce.ca_file, compositions=True)
    return truce


@pytest.fixture
def composition(user):
    """A function that stores the Composition of the platform's composites with these templates."""
    admin = user()
    wanted = {"apiVersion": "apiextensions.crossplane.io/v1", "kind": "Composition",
              "metadata": {"name": "storage"}}

    def store(*templates: dict, dry_run: bool = False):
        spec = {"compositeTypeRef": {"apiVersion": "platform.example.org/v1alpha1",
                                     "kind": "XObjectStorage"},
                "mode": "Resources", "resources": list(templates)}
        if admin.get(wanted).status == 404:
            return admin.create({**wanted, "spec": spec}).expect(201)
        return admin.patch(wanted, {"spec": spec}, dry_run=dry_run).expect()

    yield store
    admin.delete(wanted)


def composed(user, name: str, usage: bool) -> dict:
    """A claim's composite of one bucket, and of a Usage that protects it."""
    stored = user("team-a").create(claim(name, "team-a", f"{name}-files")).expect(201).body
    crossplane = user("crossplane")
    xr = compose(crossplane, stored, "h9fnb", f"{name}-files")
    made = render(crossplane, xr, composed_bucket(xr, stored, f"{name}-h9fnb-b", f"{name}-files"))
    references = [object_reference(made.expect(201).body)]
    if usage:
        references.append({"apiVersion": "apiextensions.crossplane.io/v1beta1", "kind": "Usage",
                           "name": f"{name}-h9fnb-u"})
    return crossplane.patch(xr, {"spec": {"resourceRefs": references}}).expect().body


def test_who_drops_a_usage_is_told_how_many_composites_have_it(telling, cluster, user, composition):
    for name, usage in (("one", True), ("two", True), ("without", False)):
        composed(user, name, usage)
    composition(BUCKET, USAGE)
    told = ["truce: 2 composites have this Usage; before Crossplane 1.18.2 it stays and blocks Bucket"]
    assert composition(BUCKET, dry_run=True).warnings == told
    # What looks like it and is none: something else changes, the Usage's template changes.
    assert composition({**BUCKET, "patches": []}, USAGE).warnings == []
    changed = json.loads(json.dumps(USAGE))
    changed["base"]["spec"]["replayDeletion"] = True
    assert composition(BUCKET, changed).warnings == []
    patch = json.dumps({"spec": {"resources": [BUCKET]}})
    done = cluster.kubectl("patch", "composition", "storage", "--type", "merge", "-p", patch)
    assert done.returncode == 0 and f"Warning: {told[0]}" in done.stderr, done.stderr
    assert composition(BUCKET, USAGE).warnings == []


def test_without_composites_nothing_is_told(telling, composition):
    composition(BUCKET, USAGE)
    assert composition(BUCKET).warnings == []


def test_while_restored_objects_are_not_adopted_every_change_is_told_so(telling, user, composition):
    xr = composed(user, "back", usage=False)
    admin = user()
    made = admin.get({"apiVersion": "s3.aws.upbound.io/v1beta2", "kind": "Bucket",
                      "metadata": {"name": "back-h9fnb-b"}}).expect().body
    composition(BUCKET, USAGE)
    assert composition(BUCKET).warnings == []
    vanish(admin, made)
    user("velero").create(restored(made)).expect(201)
    told = wait_for(lambda: composition(BUCKET, USAGE, dry_run=True).warnings, SECONDS, "it is told")
    assert told == ["truce: 1 restored object of XObjectStorage is not adopted: what this drops is "
                    "orphaned or deleted"]
    assert xr["spec"]["resourceRefs"][0]["name"] == made["metadata"]["name"]


def test_crossplanes_kinds_that_may_not_be_read_are_told_and_nothing_is_guessed(follow, user, may):
    may(ALL_BUT_CROSSPLANE, OF_CROSSPLANE)
    truce = follow({"mappings": [], "rules": {"claim-binding": {"mode": "enforce"},
                                              "claim-takeover": {"mode": "enforce"}}}, user="truce")

    def unread() -> dict[str, str]:
        gaps = json.loads(truce.command("coverage", "--all", "-o", "json").stdout)["gaps"]
        return {gap["subject"]: gap["why"] for gap in gaps if gap["reason"] == "not-listed"}

    definitions = "CompositeResourceDefinition.apiextensions.crossplane.io"
    usages = "Usage.apiextensions.crossplane.io"
    told = wait_for(lambda: (lambda now: now if {definitions, usages} <= set(now) else None)(unread()),
                    SECONDS, "both in the coverage")
    assert "the kinds of claims and composites are not found" in told[definitions]
    assert "Usages that are left behind are not found" in told[usages]
    assert "orbidden" in told[usages], told
    # Which kinds are claims is not known: nobody is refused, or told a guess.
    made = bound(user)
    theirs = user("team-b").create(second(made)).expect(201)
    assert theirs.warnings == []
    user("team-b").delete(theirs.body).expect()
    rules = {item["rule"] for item in truce.operator_get("/api/v1/findings")[1]["items"]}
    assert "not-covered" in rules and not rules & OF_LIFE_CYCLES, rules
    # The rights come: both are read, and the same claim is refused.
    may([*ALL_BUT_CROSSPLANE, CROSSPLANE], OF_CROSSPLANE)
    wait_for(lambda: not {definitions, usages} & set(unread()), SECONDS, "both are read")

    def refused() -> bool:
        return not user("team-b").create(second(made), dry_run=True).ok

    wait_for(refused, SECONDS, "claims are known")
    assert_refused(user("team-b").create(second(made)), "shared-x7k2q")
    assert truce.running
