"""The race that a check against a cache loses: simultaneous declarations of one bucket by different
objects through two API servers. Exactly one is admitted in every round, never two, never none.
"""

import pytest

from support.objects import EXTERNAL_NAME, bucket, claim, namespaced_bucket
from support.race import Racers, Tally
from support.verdicts import assert_refused

pytestmark = pytest.mark.slow(5)

CREATE_ROUNDS_OF_2 = 300
CREATE_ROUNDS_OF_8 = 100
UPDATE_ROUNDS = 100
SEQUENTIAL_ROUNDS = 200


@pytest.fixture
def racers(cluster, user):
    """A function that gives a crew spread over both API servers, half of it team-a's."""

    def crew(size: int) -> Racers:
        return Racers(
            [
                user("team-a" if number % 4 < 2 else "team-b", server=number % cluster.api_servers)
                for number in range(size)
            ]
        )

    return crew


@pytest.fixture
def show(capsys):
    """Prints a tally past pytest's capturing: it is the point of the test."""

    def show(tally: Tally) -> None:
        with capsys.disabled():
            print(f"\n  {tally}", flush=True)

    return show


def contender(number: int, bucket_name: str) -> dict:
    """The number-th object that declares a bucket: every kind that can, each under its own name."""
    name = f"{bucket_name}-{number}"
    return [
        bucket(name, bucket_name),
        namespaced_bucket(name, "team-b", bucket_name),
        claim(name, "team-a", bucket_name),
        bucket(name, bucket_name, version="v1beta1"),
    ][number % 4]


def judge(replies, bucket_name: str) -> None:
    """Every loser was refused by Truce and told the winner's name."""
    winners = [reply for reply in replies if reply.ok]
    if len(winners) != 1:
        return  # The tally fails the test, after all rounds are counted.
    for reply in replies:
        if not reply.ok:
            assert_refused(reply, bucket_name, winners[0].name)


@pytest.mark.parametrize("size, rounds", [(2, CREATE_ROUNDS_OF_2), (8, CREATE_ROUNDS_OF_8)])
def test_simultaneous_creates(truce, racers, show, size, rounds):
    tally = Tally(f"{size} simultaneous creates")
    with racers(size) as crew:
        for number in range(rounds):
            name = f"race-{size}-{number}"
            # Shifted, so that every pair of kinds meets, in either order.
            objects = [contender(racer + number, name) for racer in range(size)]
            replies = crew.run([lambda client, obj=obj: client.create(obj) for obj in objects])
            tally.add(replies)
            judge(replies, name)
    show(tally)
    assert tally.admitted_once == rounds, str(tally)


def test_simultaneous_updates_to_one_free_name(truce, user, racers, show):
    tally = Tally("2 simultaneous updates to one free name")
    client = user("team-a")
    with racers(2) as crew:
        for number in range(UPDATE_ROUNDS):
            name = f"free-{number}"
            pair = [bucket(f"one-{number}"), namespaced_bucket(f"two-{number}", "team-b")]
            for obj in pair:
                client.create(obj).expect(201)
            patch = {"metadata": {"annotations": {EXTERNAL_NAME: name}}}
            replies = crew.run([lambda client, obj=obj: client.patch(obj, patch) for obj in pair])
            tally.add(replies)
            judge(replies, name)
    show(tally)
    assert tally.admitted_once == UPDATE_ROUNDS, str(tally)


def test_a_create_sent_after_the_firsts_201(truce, user, cluster, show):
    """No cache lag: what one API server has acknowledged, the other one's next request meets."""
    tally = Tally("a create sent after the other one's 201")
    first, second = user("team-a", server=0), user("team-b", server=cluster.api_servers - 1)
    for number in range(SEQUENTIAL_ROUNDS):
        name = f"after-{number}"
        replies = [
            first.create(bucket(f"{name}-first", name)).expect(201),
            second.create(bucket(f"{name}-second", name)),
        ]
        tally.add(replies)
        judge(replies, name)
    show(tally)
    assert tally.admitted_once == SEQUENTIAL_ROUNDS, str(tally)
