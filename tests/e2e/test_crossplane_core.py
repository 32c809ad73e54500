"""Truce in front of a real Crossplane core: what it composes is owned by the claim, and what a refusal
does to it is what users see."""

import time

import pytest

from support.crossplane import ControlPlane
from support.objects import claim
from support.processes import wait_for
from support.storm import StormWatch

pytestmark = [pytest.mark.peer("crossplane"), pytest.mark.slow(30)]

NAME = "prod-artifacts"
SECONDS = 30.0  # From a claim to what a busy machine makes of it.
WATCHED_SECONDS = 105.0
HEALED_SECONDS = 90.0


@pytest.fixture(scope="module")
def plane(tmp_path_factory):
    with ControlPlane(tmp_path_factory.mktemp("core")) as plane:
        yield plane


@pytest.fixture(scope="module")
def first(plane):
    """team-a's claim, its bucket composed by the core."""
    wanted = claim("artifacts", "team-a", NAME, labels={"app.kubernetes.io/part-of": "service-a"})
    with plane.client("team-a") as client:
        stored = client.create(wanted).expect(201).body
    plane.truce.wait_for_state(NAME, "held", SECONDS)
    return stored


@pytest.fixture
def second(plane, first):
    """team-b's claim of the same bucket, with the watch that saw it come; gone after the test."""
    watch = StormWatch(plane)
    with plane.client("team-b") as client:
        stored = client.create(claim("artifacts", "team-b", NAME)).expect(201).body
    plane.wait_for_composite(stored)
    yield stored, watch
    plane.delete_claim(stored)


def test_what_the_core_composes_is_owned_by_the_claim(plane, first):
    composite = plane.wait_for_composite(first)
    owner = plane.truce.owner(NAME)
    root = owner["root"]
    assert (root["kind"], root["namespace"], root["name"]) == (
        "ObjectStorage", "team-a", "artifacts")
    assert owner["service"] == "service-a"
    assert not owner["contested"]
    queue = (composite["metadata"]["name"], "sqs/Queue")
    wait_for(lambda: plane.truce.state(*queue) == "held", SECONDS, "its queue held")
    assert plane.truce.owner(*queue)["root"] == root


def test_a_refused_bucket_shows_at_the_claim_and_the_composite(plane, second):
    stored, _ = second
    composite = plane.wait_for_composite(stored)
    for obj, component in (
        (stored, "truce"), (composite, "truce"), (composite, "compositeresource")):
        event, *_ = wait_for(
            lambda: plane.events_about(obj, component), SECONDS, f"{component} at {obj['kind']}")
        for mention in (NAME, "team-a/artifacts", "service-a"):
            assert mention in event["message"], event
    root = plane.truce.owner(NAME)["root"]
    assert root["namespace"] == "team-a"


def test_a_refusal_is_no_storm_and_hides_no_other(plane, second, record_property):
    """Without late answers and rule rerolled-names it is tried 70 to 130 times in 30 seconds."""
    stored, watch = second
    other = claim("copy", "team-a", NAME)
    with plane.client("team-a") as client:
        other = client.create(other).expect(201).body
    wait_for(lambda: plane.events_about(other, "truce"), SECONDS, "another team's Event")
    composite = plane.wait_for_composite(stored)
    told = wait_for(lambda: refusal_at(plane, stored), SECONDS, "its composite told")
    for mention in ("[rerolled-names]", NAME, "team-a/artifacts", "service-a"):
        assert mention in told
    storm = watch.storm_of(stored, WATCHED_SECONDS)
    plane.delete_claim(other)
    print(storm)
    record_property("storm", str(storm))
    assert storm.refused and composite
    assert storm.refused_between(0, 60) <= 20, storm
    assert storm.refused_between(60, WATCHED_SECONDS) <= 2, storm
    # Both have counted what the audit log tells of.
    assert storm.denied >= len(storm.refused)
    assert storm.rejected >= len(storm.refused)


def test_it_heals_by_itself_once_the_name_is_free(plane, first, second):
    """The last one: team-a's claim goes, and what was composed of it, which no provider made."""
    stored, _ = second
    wait_for(lambda: refusal_at(plane, stored), SECONDS, "its composite told")
    references = plane.wait_for_composite(first)["spec"]["resourceRefs"]
    plane.delete_claim(first)
    with plane.client() as client:
        for reference in references:
            client.delete({**reference, "metadata": {"name": reference["name"]}}).expect()
    root_of = lambda: plane.truce.owner(NAME).get("root", {}).get("namespace")
    wait_for(lambda: root_of() != "team-a", SECONDS, "the name free")
    free = time.monotonic()
    wait_for(lambda: root_of() == "team-b",
             HEALED_SECONDS, "composed")
    print(f"healed {time.monotonic() - free:.0f} s after the name was free")


def refusal_at(plane, stored) -> str:
    """What the composite of a claim says of an update that Truce refused; empty: nothing."""
    conditions = plane.composite_of(stored).get("status", {}).get("conditions", [])
    texts = [each.get("message", "") for each in conditions if each["type"] == "Synced"]
    return next((text for text in texts if "rerolled-names" in text), "")
