"""Truce in front of a real Crossplane core: what it composes is owned by the claim, and what a refusal
does to it is what users see."""

import pytest

from support.crossplane import ControlPlane
from support.objects import claim
from support.processes import wait_for
from support.storm import StormWatch

pytestmark = pytest.mark.peer("crossplane")

NAME = "prod-artifacts"
SECONDS = 30.0  # From a claim to what a busy machine makes of it.
STORM_SECONDS = 30.0


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


def test_how_often_a_refused_bucket_is_tried_again(plane, second, record_property):
    stored, watch = second
    storm = watch.storm_of(stored, STORM_SECONDS)
    print(storm)
    record_property("storm", str(storm))
    # Both have counted what the audit log tells of.
    assert storm.refused
    assert storm.denied >= len(storm.refused)
    assert storm.rejected >= len(storm.refused)
