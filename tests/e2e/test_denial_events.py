"""`denialEvents`: who is refused sees an Event in the namespace of the object; off unless asked for, and bounded."""

import json
import time

from support.objects import claim, namespaced_bucket
from support.processes import wait_for
from support.truce_process import OBJECT_STORAGE_MAPPINGS
from support.verdicts import assert_refused

NAME = "prod-artifacts"
CONFIG = {"mappings": OBJECT_STORAGE_MAPPINGS}
SECONDS = 30
BURST, PER_SECOND, REFUSED = 50, 2, 150  # as webhook/findings/event_queue.h says
EVENTS = "/api/v1/namespaces/{}/events?fieldSelector=reason%3DOwnershipRefused"
HEARD, FLOOD = "told-of", "told-of-"  # the cluster is others', too


def told(client, namespace: str) -> list[dict]:
    events = client.request("GET", EVENTS.format(namespace)).expect().body["items"]
    return [each for each in events if each["involvedObject"]["name"].startswith(HEARD)]


def test_a_denial_is_an_event_in_the_namespace_of_the_object(follow, user):
    truce = follow(CONFIG | {"denialEvents": True})
    admin, team_b = user("admin"), user("team-b")
    user("team-a").create(claim("artifacts", "team-a", NAME)).expect(201)
    truce.wait_for_state(NAME, "held")  # A denial before says that Truce has not seen the owner yet.
    assert_refused(team_b.create(claim(HEARD, "team-b", NAME), dry_run=True), NAME)
    text = assert_refused(team_b.create(claim(HEARD, "team-b", NAME)), NAME)
    [event] = wait_for(lambda: told(admin, "team-b"), SECONDS, "the Event")
    about = event["involvedObject"]
    assert (about["kind"], about["namespace"], about["name"]) == ("ObjectStorage", "team-b", HEARD)
    assert event["type"] == "Warning" and event["message"].startswith("CREATE refused: ")
    assert text.splitlines()[0] in event["message"], event
    # The same again is no other Event, and of a flood no more is told than the rate lets through.
    assert_refused(team_b.create(claim(HEARD, "team-b", NAME)), NAME)
    begin = time.monotonic()
    for number in range(REFUSED):
        assert_refused(team_b.create(namespaced_bucket(f"{FLOOD}{number}", "team-b", NAME)), NAME)
    wait_for(lambda: len(told(admin, "team-b")) > 10, SECONDS, "Events of the flood")
    count = len(told(admin, "team-b"))
    assert count <= BURST + PER_SECOND * (time.monotonic() - begin) + 1
    assert len([each for each in told(admin, "team-b") if each["involvedObject"]["name"] == HEARD]) == 1
    assert told(admin, "team-a") == []
    truce.stop()


def test_it_is_off_unless_it_is_asked_for(follow, user):
    truce = follow(CONFIG)
    user("team-a").create(claim("artifacts", "team-a", NAME)).expect(201)
    assert_refused(user("team-b").create(claim("unheard", "team-b", NAME)), NAME)
    wait_for(lambda: json.loads(truce.command("denials", "-o", "json").stdout)["items"], SECONDS, "the denial to be noted")
    truce.stop()
    assert "unheard" not in json.dumps(told(user("admin"), "team-b"))
