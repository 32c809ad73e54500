"""Until Truce can answer it says so; it never guesses."""

import json
import threading
import time
import uuid
from concurrent.futures import ThreadPoolExecutor

import pytest

from support.kube_client import Client
from support.objects import bucket
from support.truce_process import TruceProcess
from support.verdicts import assert_refused, assert_unknown

MANY = 10_000
SENDERS = 8
RESTARTS_MAX = 5  # Each opens the port some milliseconds before the registry is read.

UNKNOWN = "503 with Retry-After"


def review_of(obj: dict) -> dict:
    """The CREATE review of a cluster-scoped bucket, as the API server sends it."""
    kind = {"group": "s3.aws.upbound.io", "version": "v1beta2", "kind": "Bucket"}
    resource = {"group": "s3.aws.upbound.io", "version": "v1beta2", "resource": "buckets"}
    stored = {**obj, "metadata": {"uid": str(uuid.uuid4()), **obj["metadata"]}}
    return {
        "kind": "AdmissionReview",
        "apiVersion": "admission.k8s.io/v1",
        "request": {
            "uid": str(uuid.uuid4()),
            "kind": kind,
            "resource": resource,
            "requestKind": kind,
            "requestResource": resource,
            "name": obj["metadata"]["name"],
            "operation": "CREATE",
            "userInfo": {"username": "alice@example.org", "groups": ["team-a"]},
            "object": stored,
            "oldObject": None,
            "dryRun": False,
            "options": {"kind": "CreateOptions", "apiVersion": "meta.k8s.io/v1"},
        },
    }


def fill(truce: TruceProcess, count: int) -> None:
    """Gives the registry `count` owners, by the front door."""

    def send(first: int) -> None:
        with truce.reviewer() as reviewer:
            for number in range(first, count, SENDERS):
                obj = bucket(f"owner-{number}", f"bucket-{number}")
                status, response = reviewer.review(review_of(obj))
                assert status == 200 and response["allowed"], response

    with ThreadPoolExecutor(SENDERS) as pool:
        list(pool.map(send, range(SENDERS)))


class Prober:
    """Asks for a taken name without pause and counts the answers, from before the start on."""

    def __init__(self, truce: TruceProcess):
        self._truce = truce
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.answers: dict[str, int] = {}
        self._thread.start()

    def finish(self) -> dict[str, int]:
        self._stop.set()
        self._thread.join(30)
        return self.answers

    def _run(self) -> None:
        number = 0
        while not self._stop.is_set():
            number += 1
            answer = self._ask(number)
            self.answers[answer] = self.answers.get(answer, 0) + 1

    def _ask(self, number: int) -> str:
        obj = bucket(f"duplicate-{number}", f"bucket-{number % MANY}")
        try:
            with self._truce.reviewer() as reviewer:
                status, response = reviewer.review(review_of(obj))
                retry_after = reviewer.retry_after
        except OSError:
            self._stop.wait(0.001)
            return "no connection"
        if status == 200:
            return "allowed" if response["allowed"] else "denied"
        return f"{status} with Retry-After" if retry_after else str(status)


def test_a_restart_with_many_owners_never_gives_one_away(start_truce, cluster, user):
    """The best peer admits duplicates for the 26 s in which it loads this many."""
    truce = start_truce({"drainGrace": "0s"})
    fill(truce, MANY)
    user("team-b").create(bucket("before", "bucket-7")).expect(403)
    client = user("team-b")
    answers = {}
    for _ in range(RESTARTS_MAX):
        answers = restart_under_fire(truce, client)
        print(json.dumps(answers))
        assert set(answers) <= {"no connection", UNKNOWN, "denied"}
        if UNKNOWN in answers:
            break
    assert UNKNOWN in answers, "it never listened before it was ready"
    assert_refused(client.create(bucket("after", "bucket-9999")), "bucket-9999", "owner-9999")


def restart_under_fire(truce: TruceProcess, client: Client) -> dict[str, int]:
    """Stops Truce and starts it again, asked all the while at its port and through the API server,
    until both refuse a duplicate. Returns how often the port gave which answer."""
    assert truce.stop() == 0
    assert_unknown(client.create(bucket("while-down", "bucket-8")))
    prober = Prober(truce)
    truce.start(wait_until_ready=False)
    deadline = time.monotonic() + 30
    while (reply := client.create(bucket("while-starting", "bucket-9"))).status != 403:
        assert_unknown(reply)
        assert time.monotonic() < deadline, "never came up"
    truce.wait_until_ready()
    return prober.finish()


def test_kill_9_loses_no_owner(truce, cluster, user):
    user("team-a").create(bucket("artifacts", "prod-artifacts")).expect(201)
    truce.kill()
    truce.start()
    assert_refused(
        user("team-b").create(bucket("copy", "prod-artifacts")), "prod-artifacts", "artifacts"
    )


@pytest.mark.parametrize("policy", ["Fail", "Ignore"])
def test_without_truce_the_failure_policy_decides(start_truce, user, policy):
    truce = start_truce(None, failure_policy=policy)
    user("team-a").create(bucket("artifacts", "prod-artifacts")).expect(201)
    truce.kill()
    reply = user("team-b").create(bucket("copy", "prod-artifacts"))
    if policy == "Fail":
        assert_unknown(reply)
    else:
        reply.expect(201)


def test_draining_gives_no_wrong_answer(start_truce, cluster, user):
    """Requests during SIGTERM are answered rightly or, when it has gone, not at all."""
    truce = start_truce({"drainGrace": "1s"})
    client, other = user("team-a"), user("team-b")
    client.create(bucket("artifacts", "prod-artifacts")).expect(201)
    stopper = threading.Timer(0.2, lambda: truce.signal(15))
    stopper.start()
    denied = 0
    while truce.running:
        reply = other.create(bucket("copy", "prod-artifacts"))
        if reply.status == 403:
            denied += 1
        else:
            assert_unknown(reply)
    stopper.join()
    assert denied > 10
    assert truce.stop() == 0
