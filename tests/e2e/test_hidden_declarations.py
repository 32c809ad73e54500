"""What an API server stores is judged and found, whatever else the object holds: numbers of 2^64 and
above as Go writes them, depth, millions of values, long texts, keys that stand twice."""

from __future__ import annotations

import json

import pytest

from support.objects import bucket, claim, collection_path, namespaced_bucket, object_path
from support.processes import wait_for
from support.truce_process import FOLLOW_SECONDS, OBJECT_STORAGE_MAPPINGS
from support.verdicts import assert_refused

NAME = "prod-artifacts"
FAST = {"mappings": OBJECT_STORAGE_MAPPINGS, "drainGrace": "0s"}

# etcd takes 1.5 MiB, the API server nesting to 10,000 levels.
FILLINGS = {
    "2-64": "18446744073709551616",
    "1e20": "1e20",
    "long-negative": "-9223372036854775809",
    "1e300": "1e300",
    "small-fraction": "[1e-7, 0.1, -0.0, 123456789012345678901234567890]",
    "deep-lists": "[" * 1500 + "]" * 1500,
    "deep-objects": '{"a":' * 9900 + "1" + "}" * 9900,
    "many-numbers": "[" + "7," * 700_000 + "7]",
    "many-texts": "[" + '"",' * 400_000 + '""]',
    "many-objects": "[" + "{}," * 400_000 + "{}]",
    "long-text": '"' + "\\u003c\\n" * 100_000 + '"',
}
OBJECTS = {
    "managed": lambda name: bucket(name, NAME),
    "namespaced": lambda name: namespaced_bucket(name, "team-b", NAME),
    "claim": lambda name: claim(name, "team-b", NAME),
}


def body_of(obj: dict, filling: str) -> bytes:
    """The object with the filling before and behind what it declares, and with a key twice."""
    text = json.dumps(obj)
    inner = '"forProvider": {' if '"forProvider": {' in text else '"parameters": {'
    assert inner in text
    text = text.replace(inner, inner + '"twice": 1, "twice": 2, "zzz": %s, ' % filling, 1)
    return text.encode()


@pytest.fixture
def owned(truce, user):
    return user("team-a").create(bucket("artifacts", NAME)).expect(201)


@pytest.mark.parametrize("kind", OBJECTS)
@pytest.mark.parametrize("filling", FILLINGS)
def test_nothing_that_an_api_server_takes_hides_a_declaration(owned, user, kind, filling):
    duplicate = OBJECTS[kind](f"copy-{filling}")
    reply = user("team-b").request("POST", collection_path(duplicate),
                                   body_of(duplicate, FILLINGS[filling]))
    assert_refused(reply, NAME, "artifacts")


def test_what_was_stored_unseen_is_found_and_can_be_changed_and_deleted(follow, user):
    """Before Truce comes, by its first list; beside it, by the watch."""
    team = user("team-b")

    def store(when: str) -> list[dict]:
        objects = []
        for filling, text in FILLINGS.items():
            obj = bucket(f"{when}-{filling}", f"{when}-{filling}")
            team.request("POST", collection_path(obj), body_of(obj, text)).expect(201)
            objects.append(obj)
        return objects

    before = store("before")
    truce = follow(FAST, failure_policy="")
    beside = store("beside")
    for obj in before + beside:
        name = obj["metadata"]["name"]
        wait_for(lambda: truce.owner(name).get("root", {}).get("name") == name, FOLLOW_SECONDS,
                 f"{name} is owned")
    assert truce.metric('truce_findings{rule="unread-object",mode="warn"}') == 0


@pytest.mark.parametrize("filling", FILLINGS)
def test_the_owner_changes_and_deletes_its_own(truce, user, filling):
    """Under failurePolicy Fail no verdict would be a refusal."""
    team = user("team-a")
    obj = bucket(f"own-{filling}", f"own-{filling}")
    team.request("POST", collection_path(obj), body_of(obj, FILLINGS[filling])).expect(201)
    team.patch(obj, {"metadata": {"labels": {"tier": "gold"}, "finalizers": ["a.example.org/b"]}}).expect()
    team.delete(obj).expect(200)
    team.patch(obj, {"metadata": {"finalizers": None}}).expect()
    assert user("team-b").request("GET", object_path(obj)).status == 404
