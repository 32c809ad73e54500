"""`helm upgrade` of a release under load. One replica: while the new Pod starts, `failurePolicy` decides. With `Fail`
nothing is admitted that Truce did not judge, and nothing is refused but in that gap."""

import os
import time
from pathlib import Path

import pytest

from support.objects import bucket
from support.pod import Pod
from support.processes import wait_for
from support.release import COPY, OWNER, eventually_refused, release  # noqa: F401
from support.truce_process import BINARY
from support.upgrade_load import Load
from support.verdicts import assert_refused, assert_unknown

STORED = 40  # of the creations; the others are dry-runs, so that no limit of a namespace is what is tested
ENOUGH = 20  # of each, before and after


def own(client, number: int):
    return client.create(bucket(f"own-{number}", f"prod-own-{number}"), dry_run=number >= STORED)


def duplicate(client, _number: int):
    return client.create(COPY)


def check(client, number: int):
    return client.create({
        "apiVersion": "truce.dev/v1alpha1", "kind": "OwnershipCheck",
        "metadata": {"name": f"before-{number}", "namespace": "team-a"},
        "spec": {"declarations": [{"type": "s3/Bucket", "name": f"prod-free-{number}"}]},
    }, dry_run=True)


@pytest.mark.rotating(15)
def test_upgrade_under_load(release, user, tmp_path):  # noqa: F811
    """TRUCE_RELEASED is the last release's program, which `make release-test` builds; else today's upgrades itself."""
    release.values["mode"] = "enforce"
    release.values["webhook"] |= {"failurePolicy": "Fail", "acceptSecretInErrors": True}
    release.pod = Pod(tmp_path / "pod", Path(os.environ.get("TRUCE_RELEASED", BINARY)))
    release.install()
    release.start()
    user("team-a").create(OWNER).expect(201)
    eventually_refused(user("team-b"), COPY)

    with Load(user("team-a"), own) as owns, Load(user("team-b"), duplicate) as duplicates, \
            Load(user("team-a"), check) as checks:
        loads = (owns, duplicates, checks)
        wait_for(lambda: all(len(load.outcomes) >= ENOUGH for load in loads), 60, "load before the upgrade")
        gone = time.monotonic()
        # What a changed static setting does: the old Pod ends before the new one opens the volume.
        before = release.template
        release.upgrade(log={"level": "debug"})
        assert release.template != before
        assert release.pod.stop() == 0
        release.pod.take_image(BINARY)
        release.start()
        back = time.monotonic()
        seen = [len(load.outcomes) for load in loads]
        wait_for(lambda: all(len(load.outcomes) >= count + ENOUGH for load, count in zip(loads, seen, strict=True)),
                 60, "load after the upgrade")

    def in_gap(outcome) -> bool:
        return outcome.ended > gone and outcome.began < back

    for outcome in duplicates.outcomes:
        if in_gap(outcome) and outcome.reply.status == 500:
            assert_unknown(outcome.reply)
        else:  # never admitted
            assert_refused(outcome.reply, "prod-artifacts")
    for outcome in (*owns.outcomes, *checks.outcomes):
        if not outcome.reply.ok:
            assert in_gap(outcome), outcome
            assert_unknown(outcome.reply)
    # What was admitted before, is owned after.
    stored = [number for number, outcome in enumerate(owns.outcomes[:STORED]) if outcome.reply.ok]
    for number in stored[:5] + stored[-5:]:
        assert_refused(user("team-b").create(bucket("mine", f"prod-own-{number}"), dry_run=True), f"prod-own-{number}")
