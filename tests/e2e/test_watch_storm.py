"""Truce killed in the middle of a storm: its registry is what a new one would find."""

import json
import os
import threading

import pytest

from support.objects import bucket, queue
from support.processes import wait_for
from support.provider import DELETING, SYNCED
from support.shifted_clock import ShiftedClock
from support.truce_process import TruceProcess

OPERATIONS = int(os.environ.get("TRUCE_STORM_OPERATIONS", "2000"))
WRITERS = 8
KILLS = 3
SETTLE_SECONDS = 60.0


class Writer(threading.Thread):
    """Creates objects and deletes every second one, half of those as a provider would. What it
    creates again under the name of another owner may be refused; nothing else may fail."""

    def __init__(self, client, number: int, done: list[int]):
        super().__init__(daemon=True)
        self._client = client
        self._number = number
        self._done = done
        self.failed: list[str] = []

    def run(self) -> None:
        try:
            step = 0
            while self._done[self._number] < OPERATIONS // WRITERS:
                self._life(step)
                step += 1
        except Exception as error:  # Shown by the main thread.
            self.failed.append(repr(error))

    def _life(self, step: int) -> None:
        name = f"{self._number}-{step}"
        if step % 5 == 4:
            obj = queue(f"queue-{name}", f"queue-{name}")
        else:
            # A few names are wanted by all writers.
            external = f"wanted-{step % 10}" if step % 3 == 0 else f"bucket-{name}"
            obj = bucket(f"bucket-{name}", external)
        if not self._do(self._client.create(obj), 201, 403).ok or step % 2 == 0:
            return
        if step % 4 == 1:
            self._do(self._client.patch(obj, {"metadata": {"finalizers": ["test/hold"]}}), 200)
            self._client.delete(obj).expect()
            self._do(self._client.patch_status(obj, {"conditions": [SYNCED, DELETING]}), 200)
            self._do(self._client.patch(obj, {"metadata": {"finalizers": None}}), 200)
        else:
            self._do(self._client.delete(obj), 200)

    def _do(self, reply, *good: int):
        self._done[self._number] += 1
        if reply.status not in good:
            self.failed.append(f"{reply.status}: {json.dumps(reply.body)[:500]}")
        return reply


def owners_of(truce: TruceProcess) -> dict[str, tuple]:
    """What is owned: type and name → root, and who declares it."""
    done = truce.command("list", "-o", "json", "--limit", "100000")
    assert done.returncode == 0, done.stderr
    owners = {}
    for item in json.loads(done.stdout)["items"]:
        root = item["root"]
        owners[f"{item['type']}/{item['name']}"] = (
            root["kind"], root.get("namespace", ""), root["name"], item["state"]
        )
    return owners


def living(client) -> dict[str, tuple]:
    """The same, by what the API server holds."""
    owners = {}
    for api_version, kind, type_name in (
        ("s3.aws.upbound.io/v1beta2", "Bucket", "s3/Bucket"),
        ("sqs.aws.upbound.io/v1beta1", "Queue", "sqs/Queue"),
    ):
        for item in client.list(api_version, kind).expect().body["items"]:
            name = item["spec"]["forProvider"].get("name") or item["metadata"]["annotations"].get(
                "crossplane.io/external-name"
            )
            owners.setdefault(f"{type_name}/{name}", set()).add(item["metadata"]["name"])
    return owners


@pytest.mark.rotating(19)
def test_killed_in_a_storm_it_knows_what_a_new_one_finds(follow, cluster, user, tmp_path):
    clock = ShiftedClock(tmp_path)
    truce = follow(
        {"drainGrace": "0s", "reservationCap": 100000}, failure_policy="Ignore", env=clock.env
    )
    done = [0] * WRITERS
    writers = [
        Writer(user("team-a", number % cluster.api_servers), number, done)
        for number in range(WRITERS)
    ]
    for writer in writers:
        writer.start()
    for kill in range(1, KILLS + 1):
        wait_for(lambda: sum(done) > OPERATIONS * kill // (KILLS + 1), 120, "the storm goes on")
        truce.kill()
        truce.start()
    for writer in writers:
        writer.join(120)
        assert not writer.is_alive() and writer.failed == []
    alive = living(user("admin"))
    # What was admitted, stored and deleted while nobody looked is asked for when its time is over.
    clock.advance(200)
    wait_until_settled(truce, alive)
    other = follow({"drainGrace": "0s"}, failure_policy="")
    rebuilt = owners_of(other)
    recorded = owners_of(truce)
    # What ended unseen is left orphaned in the one that knew it; all else is equal.
    held = {name: owner for name, owner in recorded.items() if owner[-1] == "held"}
    assert set(held) == set(rebuilt) == set(alive)
    for name, owner in rebuilt.items():
        if len(alive[name]) == 1:  # Of two that were admitted while it was down the first stays.
            assert held[name] == owner
        assert held[name][2] in alive[name]
    assert {owner[-1] for owner in recorded.values()} <= {"held", "orphaned"}
    assert truce.metric("truce_conflicts") == other.metric("truce_conflicts")


def wait_until_settled(truce: TruceProcess, alive: dict) -> None:
    wrong = {}

    def settled() -> bool:
        wrong.clear()
        wrong.update(unsettled(truce, alive))
        return not wrong

    try:
        wait_for(settled, SETTLE_SECONDS, "every living object is held")
    except AssertionError as error:
        raise AssertionError(f"{len(wrong)} differ: {dict(list(wrong.items())[:5])}") from error


def unsettled(truce: TruceProcess, alive: dict) -> dict:
    """What is not yet what it will be."""
    owners = owners_of(truce)
    wrong = {name: owner for name, owner in owners.items() if owner[-1] == "reserved"}
    wrong.update({name: owners.get(name) for name in alive if owners.get(name, "?")[-1] != "held"})
    wrong.update({n: o for n, o in owners.items() if o[-1] == "held" and n not in alive})
    return wrong
